"""A librarian with one desk, asked for many books in a row. Queries run one after another on a single connection, so
that what the first one fetched is there for the next: DuckDB's external file cache at work.

`measure.run` opens a connection for each sample and starts afresh; here the memory limit and the spill folder stay in
force from run to run. A file under the remote scheme counts as remote, which is what DuckDB asks of a block it spills.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from readahead import paths, units
from readahead.devices import Device
from readahead.errors import Cancelled, DataError
from readahead.measure.engine import EngineSettings, Setting, engine
from readahead.measure.machine import this_machine
from readahead.measure.sample import Sample
from readahead.running import check, interrupts, tell
from readahead.storage.emulated import EmulatedFileSystem, RemoteFileSystem

EMPTY, WARM = "empty", "warm"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """How much memory there is, how long a block of the cache may be, and where blocks go that do not fit."""

    memory_limit_bytes: int
    block_bytes: int
    spill: bool = False
    """Whether evicted blocks go to a folder of this machine's disk instead of nowhere."""

    def settings(self, folder: Path) -> dict[str, Setting]:
        """Return DuckDB's settings.

        Without validation: DuckDB caches nothing of a file that changed within the last seconds, so that a table just
        built would be read anew by every query.
        """
        return {
            "memory_limit": f"{self.memory_limit_bytes}B",
            "temp_directory": str(folder),
            "external_file_cache_spill": self.spill,
            "cache_local_files": True,
            "external_file_cache_local_max_block_size": self.block_bytes,
            "external_file_cache_remote_max_block_size": self.block_bytes,
            "validate_external_file_cache": "NO_VALIDATION",
            "parquet_metadata_cache": True,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedSample(Sample):
    """A sample of runs on one connection, with what the cache held."""

    wanted_bytes: int
    """What the queries of one run asked for."""
    device_bytes: tuple[int, ...]
    """What reached the device in each run, by the trace."""
    cached_bytes: int
    """What lay in memory after the last run, by DuckDB's own account."""
    spilled_bytes: int
    """What lay in the spill folder then."""

    @property
    def hit_ratio(self) -> float:
        """Return the share of the wanted bytes that never reached the device."""
        return 1.0 - sum(self.device_bytes) / (len(self.device_bytes) * self.wanted_bytes)


def run_cached(
    sql: Sequence[str],
    path: Path,
    device: Device,
    settings: EngineSettings,
    cache: Cache,
    *,
    wanted_bytes: int,
    runs_before: int = 1,
    repeats: int = 3,
    facts: Mapping[str, object] | None = None,
) -> CachedSample:
    """Run the queries one after another, `runs_before` times without delays and then `repeats` times on the clock.

    `{table}` in the SQL stands for the file. With `runs_before` of 0 the cache is emptied before each timed run.
    Raises `Cancelled` soon after it is asked to stop, and `DataError` when DuckDB cannot run with so little memory. The
    spill folder is removed in any case.
    """
    filesystem = RemoteFileSystem(device) if cache.spill else EmulatedFileSystem(device)
    queries = [one.replace("{table}", f"read_parquet('{filesystem.protocol}://{path}')") for one in sql]
    paths.work_dir().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="spill-", dir=paths.work_dir()) as folder:
        own = EngineSettings(
            threads=settings.threads,
            queue_depth=settings.queue_depth,
            column_gap_bytes=settings.column_gap_bytes,
            more={**settings.more, **cache.settings(Path(folder))},
        )
        with (
            engine(own, filesystem) as connection,
            interrupts(filesystem.hurry, connection.interrupt),
        ):
            desk = _Desk(connection, filesystem, queries)
            try:
                with filesystem.instant():
                    desk.open_file()
                    for number in range(runs_before):
                        tell(0, repeats, f"filling the cache: run {number + 1} of {runs_before}")
                        desk.run()
                for repeat in range(repeats):
                    tell(repeat, repeats, f"run {repeat + 1} of {repeats} on {device.name}")
                    if runs_before == 0:
                        desk.clear()
                    desk.run()
                check()
                held, spilled = desk.held()
            except duckdb.Error as error:
                check()
                raise _explained(error, path, cache) from error
    tell(repeats, repeats, "done")
    timed = desk.runs[-repeats:]
    return CachedSample(
        seconds=tuple(run.seconds for run in timed),
        cpu_s=tuple(run.cpu_s for run in timed),
        reads=timed[-1].reads,
        bytes_read=timed[-1].device_bytes,
        row_groups_scanned=0,
        row_groups_total=0,
        where="emulated device",
        machine=this_machine(),
        settings=dict(facts or {}),
        answer=timed[-1].answer,
        wanted_bytes=wanted_bytes,
        device_bytes=tuple(run.device_bytes for run in timed),
        cached_bytes=held,
        spilled_bytes=spilled,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """All queries once."""

    seconds: float
    cpu_s: float
    device_bytes: int
    reads: tuple[Any, ...]
    answer: tuple[object, ...]


class _Desk:
    """One connection and what has passed over it."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, filesystem: EmulatedFileSystem, queries: Sequence[str]
    ) -> None:
        self._connection, self._filesystem = connection, filesystem
        self._queries = queries
        self.runs: list[_Run] = []

    def open_file(self) -> None:
        """Read the footer, so that no run pays for it: its metadata stays in memory."""
        check()
        table = self._queries[0].split("read_parquet(", 1)[1].split(")", 1)[0]
        self._connection.execute(f"SELECT count(*) FROM read_parquet({table})").fetchall()

    def clear(self) -> None:
        """Empty the cache, but not the metadata."""
        for word in ("false", "true"):
            self._connection.execute(f"SET enable_external_file_cache = {word}")

    def run(self) -> None:
        """Run all queries once, and keep what was seen."""
        self._filesystem.fresh()
        answer: tuple[object, ...] = ()
        cpu_s, start_s = time.process_time(), time.perf_counter()
        for query in self._queries:
            check()
            rows = self._connection.execute(query).fetchall()
            answer = tuple(rows[0])
        seconds, cpu_s = time.perf_counter() - start_s, time.process_time() - cpu_s
        reads = self._filesystem.trace.reads(start_s=start_s)
        self.runs.append(
            _Run(
                seconds=seconds,
                cpu_s=max(0.0, cpu_s - self._filesystem.spun_s),
                device_bytes=sum(read.size_bytes for read in reads),
                reads=reads,
                answer=answer,
            )
        )

    def held(self) -> tuple[int, int]:
        """Return the bytes that the cache has in memory and in the spill folder, as DuckDB counts them."""
        found = self._connection.execute(
            "SELECT memory_usage_bytes, temporary_storage_bytes FROM duckdb_memory()"
            " WHERE tag = 'EXTERNAL_FILE_CACHE'"
        ).fetchall()
        return (int(found[0][0]), int(found[0][1])) if found else (0, 0)


def _explained(error: duckdb.Error, path: Path, cache: Cache) -> Exception:
    """Turn DuckDB's error into one that says what to do."""
    if isinstance(error, duckdb.InterruptException):
        return Cancelled("The measurement was cancelled. Press Measure to start again.")
    if isinstance(error, duckdb.OutOfMemoryException):
        return DataError(
            f"memory_limit={units.text(cache.memory_limit_bytes, 'bytes')} must hold what DuckDB itself needs to"
            f" read {path.name}: {str(error).splitlines()[0]} Give more memory, or smaller row groups."
        )
    return DataError(
        f"DuckDB could not run the queries on {path}: {error}. Delete the file so that it is built again."
    )


def workspace_bytes(group_rows: int, *, remote: bool) -> int:
    """Return what DuckDB 2.0 takes of the memory limit for itself while it reads one row group of comments.

    A part for the query, and a part for each row of the row group. Read off `duckdb_memory()` at row groups of 2,048 to
    8,192 rows; the same on every machine, and a test holds the size of the cache to it.
    """
    base, row = (650_000, 400) if remote else (580_000, 330)
    return base + group_rows * row


def taken_bytes(group_rows: int, jobs: int) -> int:
    """Return what a scan takes besides, while it runs, for the other row groups that read-ahead keeps ready."""
    return 255 * group_rows * (jobs - 1)
