"""Runs a statement or another program so that it tells how far it is and ends as soon as it is asked to stop.

When a call returns, or raises, nothing of it is running any more.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import duckdb

from readahead.running import check, tell

POLL_S = 0.05
"""How long an order to stop may go unheard."""


def query(
    connection: duckdb.DuckDBPyConnection, sql: str, note: str, *, rows: int
) -> list[tuple[object, ...]]:
    """Run one statement about so many rows and return what it answers. Raises what DuckDB raises, or `Cancelled`."""
    check()
    tell(0, rows, note)
    told = 0
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="readahead-build") as pool:
        answer = pool.submit(lambda: connection.execute(sql).fetchall())
        try:
            while not wait([answer], timeout=POLL_S).done:
                check()
                done = round(rows * max(0.0, min(connection.query_progress() / 100, 1.0)))
                if done > told:
                    told = done
                    tell(done, rows, note)
        finally:
            while not wait([answer], timeout=POLL_S).done:
                connection.interrupt()  # again and again: one that comes before the query has begun is lost
        return answer.result()


def program(command: Sequence[str | Path], log: Path, note: str, *, rows: int) -> None:
    """Run another program to its end. Raises `Cancelled`, or OSError with the program's last words."""
    check()
    tell(0, rows, note)
    with log.open("w+b") as words, subprocess.Popen(command, stdout=words, stderr=words) as process:
        try:
            while process.poll() is None:
                check()
                time.sleep(POLL_S)
        finally:
            process.kill()
            process.wait()
        if process.returncode != 0:
            words.seek(0)
            said = words.read().decode(errors="replace").strip()[-300:]
            name = Path(command[0]).name
            raise OSError(f"{name} ended with code {process.returncode}: {said or 'it said nothing'}")
