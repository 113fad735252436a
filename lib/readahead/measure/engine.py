"""Opens DuckDB with the settings of a run, and reads its own account of a query."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from readahead.measure.machine import this_machine
from readahead.storage.emulated import PROTOCOL, EmulatedFileSystem

Setting = str | int | bool


def spare_threads() -> int:
    """Return how many threads DuckDB may use while a learner watches: all cores but one."""
    return max(1, this_machine().cores - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How DuckDB is set up for a run."""

    threads: int = field(default_factory=spare_threads)
    queue_depth: int = 8
    """Sets `async_threads` and `read_ahead_depth` together: either alone goes flat."""
    column_gap_bytes: int = 16_384
    """Column chunks with a smaller hole between them are read as one. DuckDB fits it from its own reads
    unless it is pinned, so the number of reads could differ between two runs."""
    more: Mapping[str, Setting] = field(default_factory=dict, hash=False)
    """Any other DuckDB settings, by name."""

    @property
    def in_flight(self) -> int:
        """Return how many reads DuckDB keeps under way: the asynchronous threads, and every worker but one."""
        return self.queue_depth + self.threads - 1

    def values(self) -> dict[str, Setting]:
        """Return every DuckDB setting by name."""
        return {
            "threads": self.threads,
            "async_threads": self.queue_depth,
            "read_ahead_depth": self.queue_depth,
            "parquet_prefetch_column_gap": self.column_gap_bytes,
            **self.more,
        }

    def statements(self) -> list[str]:
        """Return the SQL that puts these settings in force."""
        return [f"SET {name} = {_literal(value)}" for name, value in self.values().items()]


def _literal(value: Setting) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


@contextmanager
def engine(
    settings: EngineSettings, filesystem: EmulatedFileSystem | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB in memory with `settings`, reading `dev://` paths through `filesystem`; close it after."""
    connection = duckdb.connect()
    try:
        if filesystem is not None:
            connection.register_filesystem(filesystem)
        for statement in settings.statements():
            connection.execute(statement)
        connection.execute("PRAGMA enable_profiling = 'no_output'")
        connection.execute("SET enable_progress_bar = false")  # after two seconds it would print among ours
        yield connection
    finally:
        if filesystem is not None:
            connection.unregister_filesystem(filesystem.protocol)
        connection.close()


def quoted(path: Path | str, *, emulated: bool = False) -> str:
    """Return a path as an SQL string literal."""
    return _literal(f"{PROTOCOL}://{path}" if emulated else str(path))


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What DuckDB says of its own last query."""

    bytes_read: int
    row_groups_scanned: int
    row_groups_total: int
    operators: tuple[tuple[str, float, int], ...] = ()
    """(name, seconds of all threads, rows it passed on) of each operator, the topmost first."""


def profile(connection: duckdb.DuckDBPyConnection) -> Profile:
    """Return DuckDB's own account of the last query: an independent check of our trace.

    Row groups are those of the Parquet files, if any were read, and not of small tables in memory beside them.
    """
    told = json.loads(connection.get_profiling_information(format="json"))
    nodes = list(_nodes(told.get("operator", [])))
    scans = [node for node in nodes if "total_row_groups_to_scan" in node]
    files = [node for node in scans if "PARQUET" in str(node.get("extra_info", {}).get("Function", ""))]
    scans = files or scans
    return Profile(
        bytes_read=int(told.get("io", {}).get("total_bytes_read", 0)),
        row_groups_scanned=sum(int(node.get("row_groups_scanned", 0)) for node in scans),
        row_groups_total=sum(int(node["total_row_groups_to_scan"]) for node in scans),
        operators=tuple(
            (str(node["type"]), float(node.get("timing", 0.0)), int(node.get("intermediate_rows", 0)))
            for node in nodes
            if "type" in node
        ),
    )


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    for node in tree:
        yield node
        yield from _nodes(node.get("children", []))
