"""Runs the same query again and again in DuckDB, on an emulated device or on this machine's own disk, and keeps
everything seen in a `Sample`."""

from __future__ import annotations

import functools
import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import psutil

from readahead.datasets.build import literal
from readahead.devices import Device
from readahead.errors import Cancelled, DataError
from readahead.measure.sample import Sample, this_machine
from readahead.models.schedule import Window
from readahead.running import check, interrupts, turns
from readahead.storage import page_cache
from readahead.storage.emulated import PROTOCOL, REMOTE_PROTOCOL, EmulatedFileSystem, RemoteFileSystem
from readahead.storage.trace import Read

Setting = str | int | bool


def spare_threads() -> int:
    """Return how many threads DuckDB may use while a learner watches: all cores but one."""
    return max(1, this_machine().cores - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How DuckDB is set up for a run."""

    threads: int = field(default_factory=spare_threads)
    queue_depth: int = 8
    """Reads, and row groups, that DuckDB keeps under way."""
    column_gap_bytes: int = 16_384
    """Column chunks with a smaller hole between them are read as one. DuckDB fits it from its own reads
    unless it is pinned, so the number of reads could differ between two runs."""
    more: Mapping[str, Setting] = field(default_factory=dict, hash=False)
    """Any other DuckDB settings, by name."""

    @property
    def window(self) -> Window:
        """Return how many reads and row groups DuckDB keeps under way."""
        return Window.of(self.queue_depth, self.threads, this_machine().cores)

    def values(self) -> dict[str, Setting]:
        """Return every DuckDB setting by name.

        Every worker but one reads for itself beside what is read ahead; for that `async_threads` and `read_ahead_depth`
        are set together: either alone goes flat.
        """
        workers = self.window.threads
        ahead = self.queue_depth - workers + 1
        return {
            "threads": workers,
            "async_threads": ahead,
            "read_ahead_depth": ahead,
            "parquet_prefetch_column_gap": self.column_gap_bytes,
            **self.more,
        }


def set_statements(values: Mapping[str, Setting]) -> list[str]:
    """Return the SQL that puts DuckDB's settings in force."""
    return [
        f"SET {name} = {literal(value) if isinstance(value, str) else str(value).lower()}"
        for name, value in values.items()
    ]


@contextmanager
def engine(
    settings: EngineSettings, filesystem: EmulatedFileSystem | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB in memory with `settings`, reading `dev://` paths through `filesystem`; close it after.

    Raises `DataError` if it could not start all its threads.
    """
    connection = _connect(settings)
    try:
        if filesystem is not None:
            connection.register_filesystem(filesystem)
        connection.execute("PRAGMA enable_profiling = 'no_output'")
        connection.execute("SET enable_progress_bar = false")  # after two seconds it would print among ours
        yield connection
    finally:
        if filesystem is not None:
            connection.unregister_filesystem(filesystem.protocol)
        connection.close()


class _Started(NamedTuple):
    """A DuckDB, and how many threads this process had before."""

    connection: duckdb.DuckDBPyConnection
    threads_before: int


def _start() -> _Started:
    before = psutil.Process().num_threads()
    return _Started(duckdb.connect(), before)


_SHARED: ContextVar[functools._lru_cache_wrapper[_Started] | None] = ContextVar("shared", default=None)


@contextmanager
def one_engine() -> Iterator[None]:
    """Let measurements share one DuckDB while the block runs: to start one takes longer than many a query.

    Each has a connection of its own. Where more is set than `EngineSettings` has fields for, a DuckDB is started still.
    The one to share is not started before it is used: beside it a query that fills all of its memory takes up to a
    quarter less, as seen in scans through the cache.
    """
    shared = functools.cache(_start)
    token = _SHARED.set(shared)
    try:
        yield
    finally:
        _SHARED.reset(token)
        if shared.cache_info().currsize:
            shared().connection.close()


def _connect(settings: EngineSettings) -> duckdb.DuckDBPyConnection:
    """Return a DuckDB with all the threads that it was told to start.

    Where the system refuses one, DuckDB goes on with fewer and does not say so: fewer reads would be in flight than
    the model is told. The refusal may pass, so it is tried again, for about five seconds.
    """
    process, values = psutil.Process(), settings.values()
    shared = None if settings.more else _SHARED.get()
    needed = int(values["threads"]) - 1 + int(values["async_threads"])
    for attempt in range(10):
        check()
        source = (shared or _start)()
        connection = source.connection.cursor() if shared else source.connection
        with ExitStack() as undo:
            if shared:  # its threads would stay, and it is counted anew once others have ended
                undo.callback(shared.cache_clear)
                undo.enter_context(source.connection)
            undo.enter_context(connection)
            for statement in set_statements(values):
                connection.execute(statement)
            started = process.num_threads() - source.threads_before
            if started >= needed:
                undo.pop_all()
                return connection
        time.sleep(0.1 * attempt)
    raise DataError(
        f"DuckDB could start {max(started, 0)} of the {needed} threads that queue depth {settings.queue_depth} needs:"
        " the system gives no more. Close other programs, allow more threads (ulimit -u, or the container's limit of"
        " processes), or choose a smaller queue depth."
    )


def quoted(path: Path | str, *, emulated: bool = False) -> str:
    """Return a path as an SQL string literal."""
    return literal(f"{PROTOCOL}://{path}" if emulated else path)


def profile(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Return DuckDB's own account of its last query by name: an independent check of our trace.

    Row groups, and the rows that scans passed on, are those of the Parquet files, if any were read, and not of small
    tables in memory beside them. An operator is (name, seconds of all threads, rows it passed on), the topmost first.
    """
    told = json.loads(connection.get_profiling_information(format="json"))
    nodes = list(_nodes(told.get("operator", [])))
    scans = [node for node in nodes if "total_row_groups_to_scan" in node]
    files = [node for node in scans if "PARQUET" in str(node.get("extra_info", {}).get("Function", ""))]
    scans = files or scans
    operators = [
        (str(node["type"]), float(node.get("timing", 0.0)), int(node.get("intermediate_rows", 0)))
        for node in nodes
        if "type" in node
    ]
    return {
        "bytes_read": int(told.get("io", {}).get("total_bytes_read", 0)),
        "row_groups": sum(int(node.get("row_groups_scanned", 0)) for node in scans),
        "row_groups_total": sum(int(node["total_row_groups_to_scan"]) for node in scans),
        "rows": sum(int(node.get("intermediate_rows", 0)) for node in scans),
        "cpu_s": sum(seconds for _, seconds, _ in operators),
        "operators": tuple(operators),
    }


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    for node in tree:
        yield node
        yield from _nodes(node.get("children", []))


SETTLED_S = 0.05
"""So long untimed runs go on before the first that counts: the first takes a third more, and those after 50 ms hardly a
hundredth more than those after 70."""
WARM_UPS = 2, 8
"""They are so many at least, and at most."""


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

    def texts(self, *, emulated: bool) -> list[str]:
        """Return the SQL of all queries of one run, with the file's name in place."""
        file = (
            literal(f"{REMOTE_PROTOCOL}://{self.path}")
            if self.remote
            else quoted(self.path, emulated=emulated)
        )
        table = "file.t" if self.native else f"read_parquet({file})"
        return [sql.replace("{table}", table) for sql in (self.sql, *self.more)]


class Stopwatch:
    """Seconds, processor seconds and reads of repeats, on an emulated device if one is given.

    The device's own waiting is not the work's processor time, and how much slower it runs is divided out.
    """

    def __init__(self, filesystem: EmulatedFileSystem | None = None) -> None:
        self.filesystem = filesystem
        self.scale = filesystem.time_scale if filesystem else 1.0
        self.seconds: list[float] = []
        self.cpu_s: list[float] = []
        self.reads: tuple[Read, ...] = ()
        """Of the repeat that took least of the processor: nobody else slowed it down, or least."""

    @contextmanager
    def repeat(self) -> Iterator[None]:
        """Time the block, on a device that has been idle."""
        if self.filesystem:
            self.filesystem.fresh()
        start_s, cpu_s = time.perf_counter(), time.process_time()
        yield
        seconds, cpu_s = time.perf_counter() - start_s, time.process_time() - cpu_s
        self.seconds.append(seconds / self.scale)
        if self.filesystem:
            cpu_s = max(0.0, cpu_s - self.filesystem.spun_s)
            if cpu_s <= min(self.cpu_s, default=math.inf):
                self.reads = self.filesystem.trace.reads(start_s=start_s, time_scale=self.scale)
        self.cpu_s.append(cpu_s)

    def sample(self, **more: Any) -> Sample:
        """Return the repeats as a sample; `more` are its other fields, or others instead of these."""
        found: dict[str, Any] = {
            "seconds": tuple(self.seconds),
            "cpu_s": tuple(self.cpu_s),
            "reads": self.reads,
            "bytes_read": sum(read.size_bytes for read in self.reads),
            "where": "emulated device",
            "time_scale": self.scale,
        }
        return Sample(**found | more)


def once(
    connection: duckdb.DuckDBPyConnection,
    query: Query,
    watch: Stopwatch,
    fetch: Callable[[duckdb.DuckDBPyConnection], Any] = duckdb.DuckDBPyConnection.fetchall,
) -> tuple[Any, Sample]:
    """Run all queries once on an open engine; return what `fetch` makes of the last result, and what `watch` has seen.

    A native file is attached anew, so that nothing of it is in memory.
    """
    emulated = watch.filesystem is not None
    attach = [f"ATTACH {quoted(query.path, emulated=emulated)} AS file (READ_ONLY)"] if query.native else []
    texts, found = query.texts(emulated=emulated), None
    with _undelayed(watch.filesystem):
        for sql in attach:
            connection.execute(sql)
    try:
        with watch.repeat():
            for sql in texts:
                check()
                found = fetch(connection.execute(sql))
        seen = {} if query.more else profile(connection)  # DuckDB's account is of the last query alone
    finally:
        if attach:
            _wait_for_threads()
            connection.execute("DETACH file")
    here = {} if emulated else {"bytes_read": seen.get("bytes_read", 0), "where": "this disk"}
    return found, watch.sample(
        row_groups_scanned=seen.get("row_groups", 0),
        row_groups_total=seen.get("row_groups_total", 0),
        sql=";\n".join(texts),
        setup=(*query.setup, *query.before, *attach),
        profile=seen,
        **here,
    )


PATIENCE_S, LOOK_S = 1.0, 0.0002
"""The longest wait for threads to sleep, and between two looks at them."""
TASKS = Path("/proc/self/task")
"""Where Linux says what each thread of this process does."""


def _wait_for_threads() -> None:
    """Wait until every other thread of this process sleeps, for a second at most. A native file is detached only then.

    A thread of DuckDB may still hold blocks of the file when the query has ended. DuckDB 2.0.0 detaches all the same,
    and crashes when that thread lets go of them: one in 1,500 measurements beside five others on two cores. A system
    that does not say which threads sleep is given 20 ms.
    """
    if not TASKS.is_dir():
        time.sleep(0.02)
        return
    given_up_s = time.perf_counter() + PATIENCE_S
    for _ in range(2):  # one that waits for a lock is awake when it is looked at again
        time.sleep(LOOK_S)
        while _awake() and time.perf_counter() < given_up_s:
            time.sleep(LOOK_S)


def _awake() -> bool:
    """Return whether any thread but this one runs, or could."""
    own = str(threading.get_native_id())
    for task in TASKS.iterdir():
        with suppress(OSError):  # it has ended meanwhile
            if task.name != own and (task / "stat").read_text().rpartition(") ")[2][0] in "RD":
                return True
    return False


def run_emulated(
    query: Query,
    device: Device,
    settings: EngineSettings,
    *,
    fragment_bytes: int = 0,
    time_scale: float = 1.0,
    repeats: int = 3,
    warm_ups: int | None = None,
    delayed_warm_ups: int = 0,
) -> Sample:
    """Measure a query on an emulated device, after untimed runs without delays that warm everything else.

    They are `warm_ups` if given, else as many as it takes to settle, and then `delayed_warm_ups` with delays: the
    system puts new threads on any core, and wakes them later where the thread runs that wakes them. If none are given,
    one more comes before each repeat that follows a delayed run, for planning takes up to 2 ms longer after that.
    Raises `Cancelled` within half a second when asked to stop, and `DataError` for a damaged file.
    """
    kind = RemoteFileSystem if query.remote else EmulatedFileSystem
    filesystem = kind(device, fragment_bytes=fragment_bytes, time_scale=time_scale)
    return _run(
        query,
        settings,
        repeats,
        device.name,
        filesystem,
        warm_ups=warm_ups,
        delayed_warm_ups=delayed_warm_ups,
    )


def run_local(
    query: Query,
    settings: EngineSettings,
    *,
    cold: bool = True,
    repeats: int = 3,
) -> Sample:
    """Measure a query on this machine's own disk.

    A cold run empties the file's page cache before each repeat. Raises `DataError` where the system cannot,
    with the advice to measure warm.
    """
    if cold:
        page_cache.require_evict()
    where = f"this disk, {'cold' if cold else 'warm'}"
    return replace(_run(query, settings, repeats, where, warm_ups=1, cold=cold), where=where)


def _run(
    query: Query,
    settings: EngineSettings,
    repeats: int,
    where: str,
    filesystem: EmulatedFileSystem | None = None,
    *,
    warm_ups: int | None,
    delayed_warm_ups: int = 0,
    cold: bool = False,
) -> Sample:
    """Return the repeats as one sample; its reads, its profile and its answer are those of the steadiest."""
    watch = Stopwatch(filesystem)
    hurry = [filesystem.hurry] if filesystem else []
    with engine(settings, filesystem) as connection, interrupts(*hurry, connection.interrupt):
        try:
            for statement in query.setup:
                connection.execute(statement)
            _settle(connection, query, filesystem, warm_ups)
            for _ in range(delayed_warm_ups):
                once(connection, query, Stopwatch(filesystem))
            for number in turns(repeats, f" on {where}"):
                if (number or delayed_warm_ups) and warm_ups is None:
                    _warm_up(connection, query, filesystem)
                for statement in query.before:
                    connection.execute(statement)
                if cold:
                    page_cache.evict(query.path)
                found = once(connection, query, watch)
                if watch.cpu_s[-1] <= min(watch.cpu_s):
                    rows, sample = found
        except duckdb.Error as error:
            check()
            raise _explained(error, query, settings) from error
    return replace(
        sample,
        seconds=tuple(watch.seconds),
        cpu_s=tuple(watch.cpu_s),
        answer=tuple(rows[0]) if rows else (),
        engine=settings.values(),
    )


def _undelayed(filesystem: EmulatedFileSystem | None) -> AbstractContextManager[None]:
    return filesystem.instant() if filesystem else nullcontext()


def _settle(
    connection: duckdb.DuckDBPyConnection,
    query: Query,
    filesystem: EmulatedFileSystem | None,
    warm_ups: int | None,
) -> None:
    least, most = WARM_UPS if warm_ups is None else (warm_ups, warm_ups)
    settled_s = time.perf_counter() + SETTLED_S
    for number in range(most):
        if number >= least and time.perf_counter() >= settled_s:
            break
        _warm_up(connection, query, filesystem)


def _warm_up(
    connection: duckdb.DuckDBPyConnection, query: Query, filesystem: EmulatedFileSystem | None
) -> None:
    """Run the query untimed, without the device's delays."""
    with _undelayed(filesystem):
        once(connection, query, Stopwatch(filesystem))


def _explained(error: duckdb.Error, query: Query, settings: EngineSettings) -> Exception:
    """Turn DuckDB's error into one that says what to do; a cancelled query counts as cancelled."""
    if isinstance(error, duckdb.InterruptException):
        return Cancelled("The measurement was cancelled. Press Measure to start again.")
    if isinstance(error, duckdb.OutOfMemoryException):
        return DataError(
            f"memory_limit={settings.more.get('memory_limit', 'as it is')} must hold what DuckDB itself needs to read"
            f" {query.path.name}: {str(error).splitlines()[0]} Give more memory, or smaller row groups."
        )
    lines = str(error).splitlines()
    raised = [line for line in lines if re.match(r"\w+: ", line)]  # by the device, below a traceback
    said = (raised or lines)[0].rstrip(".")
    return DataError(
        f"DuckDB could not run the query on {query.path}: {said}."
        " Check the disk. A table that the workbook built may be deleted: it is built again."
    )
