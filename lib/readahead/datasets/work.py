"""Runs a query or another program in the background, tells how far it is, and stops it when asked to.

When a call returns, nothing of it is running any more.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import duckdb

from readahead import running
from readahead.running import check

POLL_S = 0.02
"""How long an order to stop may go unheard."""


class Work:
    """One build under way, and how many rows it is about."""

    def __init__(self, rows: int) -> None:
        self.rows = rows
        self._told: tuple[int, str] | None = None

    def tell(self, done: float, note: str) -> None:
        """Pass the progress on if it is news, never less than nothing and never more than all of it."""
        news = (round(max(0, min(done, self.rows))), note)
        if news != self._told:
            self._told = news
            running.tell(news[0], self.rows, note)

    def query(self, connection: duckdb.DuckDBPyConnection, sql: str, note: str) -> list[tuple[object, ...]]:
        """Run one statement and return its rows. Raises what DuckDB raises, or `Cancelled`."""
        check()
        self.tell(0, note)
        answers: list[list[tuple[object, ...]]] = []
        errors: list[Exception] = []
        ended = threading.Event()  # not join: Ctrl-C in it makes a thread that still runs count as dead

        def run() -> None:
            try:
                answers.append(connection.execute(sql).fetchall())
            except Exception as error:  # noqa: BLE001 - carried over to the thread that asked
                errors.append(error)
            finally:
                ended.set()

        worker = threading.Thread(target=run, name="readahead-build", daemon=True)
        worker.start()
        polls = 0
        try:
            while not ended.wait(POLL_S):
                check()
                polls += 1
                if polls % 10 == 0:
                    self.tell(self.rows * connection.query_progress() / 100, note)
        finally:
            # An interrupt that comes before the query has begun is lost: repeat it.
            while not ended.wait(POLL_S):
                connection.interrupt()
            worker.join()
        if errors:
            raise errors[0]
        return answers[0]

    def program(self, command: Sequence[str | Path], log: Path, note: str) -> None:
        """Run another program to its end. Raises `Cancelled`, or OSError with the program's last words."""
        check()
        self.tell(0, note)
        with log.open("w+b") as words, subprocess.Popen(command, stdout=words, stderr=words) as process:
            try:
                while process.poll() is None:
                    check()
                    try:
                        process.wait(POLL_S)
                    except subprocess.TimeoutExpired:
                        continue
            finally:
                process.kill()
                process.wait()
            if process.returncode != 0:
                words.seek(0)
                said = words.read().decode(errors="replace").strip()[-300:]
                name = Path(command[0]).name
                raise OSError(f"{name} ended with code {process.returncode}: {said or 'it said nothing'}")
