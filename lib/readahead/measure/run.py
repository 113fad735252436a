"""Runs the same query again and again, on an emulated device or on this machine's own disk, and keeps everything seen
in a `Sample`."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb

from readahead.devices import Device
from readahead.errors import Cancelled, DataError
from readahead.measure.engine import EngineSettings, Profile, engine, profile, quoted
from readahead.measure.machine import this_machine
from readahead.measure.sample import Sample
from readahead.running import check, interrupts, turns
from readahead.storage import page_cache
from readahead.storage.emulated import REMOTE_PROTOCOL, EmulatedFileSystem, RemoteFileSystem
from readahead.storage.trace import Read

WARM_UPS = 2
"""Untimed runs before the first that counts: after one, a short scan still takes up to a third longer than later on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A query over one file. `{table}` in the SQL stands for the file, Parquet or native."""

    sql: str
    path: Path
    setup: tuple[str, ...] = field(default=())
    """Statements to run first, untimed, on the same connection."""
    more: tuple[str, ...] = field(default=())
    """Further queries of the same run, one after another."""
    before: tuple[str, ...] = field(default=())
    """Statements to run before each timed run, untimed."""
    remote: bool = False
    """Whether DuckDB is to take a file of an emulated device for a remote one: only blocks of those may be spilled."""

    @property
    def native(self) -> bool:
        """Return whether the file is a DuckDB database, whose table is called `t`."""
        return self.path.suffix == ".duckdb"

    def text(self, *, emulated: bool) -> str:
        """Return the SQL with the file's name in place."""
        return self.texts(emulated=emulated)[0]

    def texts(self, *, emulated: bool) -> list[str]:
        """Return the SQL of all queries of one run, with the file's name in place."""
        file = (
            quoted(f"{REMOTE_PROTOCOL}://{self.path}")
            if self.remote
            else quoted(self.path, emulated=emulated)
        )
        table = "file.t" if self.native else f"read_parquet({file})"
        return [sql.replace("{table}", table) for sql in (self.sql, *self.more)]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One repeat."""

    seconds: float
    cpu_s: float
    start_s: float
    profile: Profile
    rows: list[tuple[Any, ...]]


_NO_PROFILE = Profile(bytes_read=0, row_groups_scanned=0, row_groups_total=0)
"""Of a run of several queries: DuckDB's account is of the last one alone."""


def _once(connection: duckdb.DuckDBPyConnection, query: Query, *, emulated: bool) -> _Run:
    """Run all queries once, attaching a native file anew so that nothing of it is in memory."""
    if query.native:
        connection.execute(f"ATTACH {quoted(query.path, emulated=emulated)} AS file (READ_ONLY)")
    try:
        texts, rows = query.texts(emulated=emulated), []
        cpu_s, start_s = time.process_time(), time.perf_counter()
        for sql in texts:
            check()
            rows = connection.execute(sql).fetchall()
        seconds, cpu_s = time.perf_counter() - start_s, time.process_time() - cpu_s
        seen = profile(connection) if not query.more else _NO_PROFILE
        return _Run(seconds=seconds, cpu_s=cpu_s, start_s=start_s, profile=seen, rows=rows)
    finally:
        if query.native:
            connection.execute("DETACH file")


def run_emulated(
    query: Query,
    device: Device,
    settings: EngineSettings,
    *,
    fragment_bytes: int = 0,
    time_scale: float = 1.0,
    repeats: int = 3,
    warm_ups: int = WARM_UPS,
    facts: Mapping[str, object] | None = None,
) -> Sample:
    """Measure a query on an emulated device, after `warm_ups` untimed runs without delays that warm everything else.

    Raises `Cancelled` within half a second when asked to stop, and `DataError` for a damaged file.
    """
    kind = RemoteFileSystem if query.remote else EmulatedFileSystem
    filesystem = kind(device, fragment_bytes=fragment_bytes, time_scale=time_scale)
    runs: list[_Run] = []
    waited: list[float] = []
    reads: tuple[Read, ...] = ()
    with engine(settings, filesystem) as connection, interrupts(filesystem.hurry, connection.interrupt):
        try:
            for statement in query.setup:
                connection.execute(statement)
            with filesystem.instant():
                for _ in range(warm_ups):
                    _once(connection, query, emulated=True)
            for _ in turns(repeats, f" on {device.name}"):
                for statement in query.before:
                    connection.execute(statement)
                filesystem.fresh()
                runs.append(_once(connection, query, emulated=True))
                start_s = runs[-1].start_s
                reads = filesystem.trace.reads(start_s=start_s, time_scale=time_scale)
                reads = tuple(read for read in reads if read.submitted_s >= 0)
                waited.append(filesystem.spun_s)
        except duckdb.Error as error:
            check()
            raise _explained(error, query, settings) from error
    sample = _sample(
        runs, reads, spun_s=waited, where="emulated device", time_scale=time_scale, facts=facts or {}
    )
    return replace(sample, **_asked(query, settings, runs[-1].profile, emulated=True))


def run_local(
    query: Query,
    settings: EngineSettings,
    *,
    cold: bool = True,
    repeats: int = 3,
    facts: Mapping[str, object] | None = None,
) -> Sample:
    """Measure a query on this machine's own disk.

    A cold run empties the file's page cache before each repeat. Raises `DataError` where the system cannot,
    with the advice to measure warm.
    """
    if cold:
        page_cache.require_evict()
    where = "this disk, cold" if cold else "this disk, warm"
    runs: list[_Run] = []
    with engine(settings) as connection, interrupts(connection.interrupt):
        try:
            for statement in query.setup:
                connection.execute(statement)
            _once(connection, query, emulated=False)
            for _ in turns(repeats, f" on {where}"):
                if cold:
                    page_cache.evict(query.path)
                runs.append(_once(connection, query, emulated=False))
        except duckdb.Error as error:
            check()
            raise _explained(error, query, settings) from error
    sample = _sample(runs, None, spun_s=[0.0] * repeats, where=where, time_scale=1.0, facts=facts or {})
    return replace(sample, **_asked(query, settings, runs[-1].profile, emulated=False))


def _asked(query: Query, settings: EngineSettings, seen: Profile, *, emulated: bool) -> dict[str, Any]:
    """Return what was asked of DuckDB, and what it says of its last run."""
    told = (
        {}
        if query.more
        else {
            "bytes_read": seen.bytes_read,
            "row_groups": seen.row_groups_scanned,
            "row_groups_total": seen.row_groups_total,
            "cpu_s": sum(seconds for _, seconds, _ in seen.operators),
            "operators": seen.operators,
        }
    )
    attach = f"ATTACH {quoted(query.path, emulated=emulated)} AS file (READ_ONLY)"
    return {
        "sql": ";\n".join(query.texts(emulated=emulated)),
        "setup": (*query.setup, *query.before, *([attach] if query.native else [])),
        "engine": settings.values(),
        "profile": told,
    }


def _explained(error: duckdb.Error, query: Query, settings: EngineSettings) -> Exception:
    """Turn DuckDB's error into one that says what to do; a cancelled query counts as cancelled."""
    if isinstance(error, duckdb.InterruptException):
        return Cancelled("The measurement was cancelled. Press Measure to start again.")
    if isinstance(error, duckdb.OutOfMemoryException):
        return DataError(
            f"memory_limit={settings.more.get('memory_limit', 'as it is')} must hold what DuckDB itself needs to read"
            f" {query.path.name}: {str(error).splitlines()[0]} Give more memory, or smaller row groups."
        )
    return DataError(
        f"DuckDB could not run the query on {query.path}: {error}."
        " Delete the file so that it is built again, or give another."
    )


def _sample(
    runs: list[_Run],
    reads: tuple[Read, ...] | None,
    *,
    spun_s: list[float],
    where: str,
    time_scale: float,
    facts: Mapping[str, object],
) -> Sample:
    """Gather the repeats; `reads` is None where nothing sees them.

    The emulated device's own busy waiting is not the engine's processor time.
    """
    last = runs[-1]
    return Sample(
        seconds=tuple(run.seconds / time_scale for run in runs),
        cpu_s=tuple(max(0.0, run.cpu_s - spun) for run, spun in zip(runs, spun_s, strict=True)),
        reads=reads or (),
        bytes_read=last.profile.bytes_read if reads is None else sum(read.size_bytes for read in reads),
        row_groups_scanned=last.profile.row_groups_scanned,
        row_groups_total=last.profile.row_groups_total,
        answer=tuple(last.rows[0]) if last.rows else (),
        where=where,
        machine=this_machine(),
        settings=dict(facts),
        time_scale=time_scale,
    )
