"""A loader that is killed: it reports each commit, another process kills it and counts what is left.

That shows what survives the death of a process. What survives a power cut depends on the disk's own promise, which no
program can test without pulling the plug.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import duckdb

from readahead.chapters.loading.writers import ROWS_SQL
from readahead.errors import DataError
from readahead.measure.run import quoted, work_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """What a killed loader had reported, and what was found afterwards."""

    reported_rows: int
    """Of commits that it had reported."""
    found_rows: int
    """In the database, opened again."""
    commit_rows: int


def load(path: str, commit_rows: int) -> None:
    """Load for ever, reporting the rows that are committed after each batch."""
    connection = duckdb.connect(path)
    connection.execute(f"CREATE TABLE t AS {ROWS_SQL.format(0, 0)}")
    done = 0
    while True:
        connection.execute(f"INSERT INTO t {ROWS_SQL.format(done, done + commit_rows)}")
        done += commit_rows
        sys.stdout.write(f"{done}\n")
        sys.stdout.flush()


def crash_test(commit_rows: int, after_commits: int = 20) -> Crash:
    """Start a loader in a process of its own, kill it without warning after so many commits, and count what is there.

    Raises `DataError` if the loader ended by itself.
    """
    with work_folder("crash-") as folder:
        path = folder / "load.duckdb"
        command = [sys.executable, "-m", "readahead.chapters.loading.crash_test", str(path), str(commit_rows)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            if process.stdout is None or process.stderr is None:
                raise DataError("The loader cannot be heard. Run make test and report it.")
            lines = [line for _, line in zip(range(after_commits), process.stdout, strict=False)]
            process.kill()
            lines += process.stdout.read().split("\n")[:-1]  # what it had reported by then, in whole lines
            said = process.stderr.read()
        reported = max((int(line) for line in lines if line.strip().isdigit()), default=0)
        if not reported:
            raise DataError(f"The loader did not begin: {said.strip() or 'it said nothing'}. Run make test.")
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH {quoted(path)} AS left_over")
            (found,) = connection.execute("SELECT count(*) FROM left_over.t").fetchall()[0]
    return Crash(reported_rows=reported, found_rows=int(found), commit_rows=commit_rows)


if __name__ == "__main__":
    load(sys.argv[1], int(sys.argv[2]))
