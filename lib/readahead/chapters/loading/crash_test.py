"""A loader that will not come home. It commits batch after batch and says so after each; another process kills it
between
two words and looks at what is left.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import duckdb

from readahead.chapters.loading.writers import ROWS_SQL, bay
from readahead.errors import DataError
from readahead.measure.engine import quoted


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a killed loader left behind."""

    acknowledged_rows: int
    """Of commits that it had told of."""
    found_rows: int
    """In the database, opened again."""
    commit_rows: int


def load(path: str, commit_rows: int) -> None:
    """Load for ever, telling the rows that are committed after each batch."""
    connection = duckdb.connect(path)
    connection.execute(f"CREATE TABLE t AS {ROWS_SQL.format(0, 0)}")
    done = 0
    while True:
        connection.execute(f"INSERT INTO t {ROWS_SQL.format(done, done + commit_rows)}")
        done += commit_rows
        sys.stdout.write(f"{done}\n")
        sys.stdout.flush()


def kill_a_load(commit_rows: int, after_commits: int = 20) -> Left:
    """Start a loader in a process of its own, kill it without warning after so many commits, and count what is there.

    That shows what survives the death of a process. What survives a power cut depends on the disk's own promise, which
    no program can test without pulling the plug.

    Raises `DataError` if the loader ended by itself.
    """
    with bay() as folder:
        path = folder / "victim.duckdb"
        command = [sys.executable, "-m", "readahead.chapters.loading.crash_test", str(path), str(commit_rows)]
        told = 0
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            if process.stdout is None or process.stderr is None:
                raise DataError("The loader cannot be heard. Run make test and report it.")
            for _, line in zip(range(after_commits), process.stdout, strict=False):
                told = int(line)
            process.kill()
            rest = process.stdout.read().split("\n")[:-1]  # what it had said by then
            said = process.stderr.read()
        told = max([told, *map(int, filter(str.isdigit, rest))])
        if not told:
            raise DataError(f"The loader did not begin: {said.strip() or 'it said nothing'}. Run make test.")
        with duckdb.connect() as connection:
            connection.execute(f"ATTACH {quoted(path)} AS left_over")
            (found,) = connection.execute("SELECT count(*) FROM left_over.t").fetchall()[0]
        return Left(acknowledged_rows=told, found_rows=int(found), commit_rows=commit_rows)


if __name__ == "__main__":
    load(sys.argv[1], int(sys.argv[2]))
