"""A few loaders at one bay. Threads that each write batch after batch, into files of their own or into one database, on
an emulated device or on this machine's disk; what they wrote is counted, and removed.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb

from readahead import paths
from readahead.chapters.loading.emulated_writes import WritingFileSystem
from readahead.chapters.loading.laws import LoadCosts
from readahead.devices import Device
from readahead.errors import DataError
from readahead.measure.calibrate import Calibration
from readahead.measure.engine import quoted
from readahead.measure.machine import this_machine
from readahead.measure.sample import Sample
from readahead.running import carried, check, interrupts, stopped, tell
from readahead.storage.emulated import PROTOCOL
from readahead.storage.trace import Read

EMULATED_FILES, FILES, DATABASE = "files, emulated device", "files, this disk", "one database, this disk"
TARGETS = (EMULATED_FILES, FILES, DATABASE)
ROWS_SQL = (
    "SELECT i AS id, hash(i) AS number, i % 97 AS post, (hash(i + 1) % 1000) / 10.0 AS score"
    " FROM range({0}, {1}) made(i)"
)
"""The rows of a batch, the same on every machine."""


@contextmanager
def bay() -> Iterator[Path]:
    """Give a folder beside the datasets, which is removed in any case. Raises `DataError` if there is none to be
    had."""
    folder = paths.work_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        place = Path(tempfile.mkdtemp(prefix="bay-", dir=folder))
    except OSError as error:
        raise DataError(
            f"{folder} cannot be written ({error.strerror or error}). Set READAHEAD_CACHE to a folder that can."
        ) from error
    try:
        check()
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


class _Crew:
    """The loaders of one run, and the list from which they take their batches."""

    def __init__(self, rows: int, commit_rows: int) -> None:
        self._starts = itertools.count(0, commit_rows)
        self._rows, self._commit_rows = rows, commit_rows
        self._lock = threading.Lock()
        self.failed: list[BaseException] = []

    def batches(self) -> Iterator[tuple[int, int]]:
        """Yield (first row, row after the last) until all are given out, somebody failed, or it is stopped."""
        while not self.failed and not stopped():
            with self._lock:
                start = next(self._starts)
            if start >= self._rows:
                return
            yield start, min(self._rows, start + self._commit_rows)


def run_writers(
    target: str,
    device: Device,
    *,
    writers: int,
    commit_rows: int,
    rows: int,
    repeats: int = 3,
    facts: Mapping[str, object] | None = None,
) -> Sample:
    """Measure how long `writers` take to have `rows` rows written for good, in batches of `commit_rows`.

    `target` is one of `TARGETS`; `device` counts for the emulated one only. A batch is a file that is closed, or a
    transaction that is committed. The answer is the rows that were found afterwards. Raises `Cancelled` when asked
    to stop and `DataError` for a disk that is full or cannot be written; nothing written stays in either case.
    """
    filesystem = WritingFileSystem(device)
    seconds, cpu, found = [], [], 0
    reads: tuple[Read, ...] = ()
    for repeat in range(repeats):
        check()
        tell(repeat, repeats, f"run {repeat + 1} of {repeats}, {writers} writing")
        with bay() as folder:
            emulated = target == EMULATED_FILES
            connection = duckdb.connect(str(folder / "table.duckdb") if target == DATABASE else ":memory:")
            try:
                connection.register_filesystem(filesystem)
                if target == DATABASE:
                    connection.execute(f"CREATE TABLE t AS {ROWS_SQL.format(0, 0)}")
                crew = _Crew(rows, commit_rows)
                with interrupts(filesystem.hurry, connection.interrupt):
                    filesystem.fresh()
                    start_s, cpu_s = time.perf_counter(), time.process_time()
                    _load(crew, connection, folder, target, writers)
                    seconds.append(time.perf_counter() - start_s)
                    cpu.append(max(0.0, time.process_time() - cpu_s - filesystem.spun_s))
                check()
                if crew.failed:
                    raise _explained(crew.failed[0], folder)
                reads = filesystem.trace.reads(start_s=start_s) if emulated else ()
                found = _count(connection, folder, target)
            finally:
                connection.unregister_filesystem(PROTOCOL)
                connection.close()
    tell(repeats, repeats, "done")
    return Sample(
        seconds=tuple(seconds),
        cpu_s=tuple(cpu),
        reads=reads,
        bytes_read=0,
        row_groups_scanned=0,
        row_groups_total=0,
        where="emulated device" if target == EMULATED_FILES else "this disk",
        machine=this_machine(),
        settings=dict(facts or {}),
        answer=(found,),
        wrote=True,
    )


def _load(
    crew: _Crew, connection: duckdb.DuckDBPyConnection, folder: Path, target: str, writers: int
) -> None:
    """Let the crew work until there is nothing left."""

    def work(number: int) -> None:
        cursor = connection.cursor()
        try:
            for first, last in crew.batches():
                select = ROWS_SQL.format(first, last)
                if target == DATABASE:
                    cursor.execute(f"INSERT INTO t {select}")
                    continue
                name = quoted(folder / f"{number}-{first}.parquet", emulated=target == EMULATED_FILES)
                cursor.execute(f"COPY ({select}) TO {name} (FORMAT parquet, USE_TMP_FILE false)")
                if target == FILES:
                    _sync(folder / f"{number}-{first}.parquet")
        except (duckdb.Error, OSError) as error:
            crew.failed.append(error)
        finally:
            cursor.close()

    loaders = [
        threading.Thread(target=carried(work), args=(n,), name="readahead-loader") for n in range(writers)
    ]
    for loader in loaders:
        loader.start()
    for loader in loaders:
        loader.join()


def _sync(path: Path) -> None:
    """Make a file safe, and its name: DuckDB writes a Parquet file and does not sync it."""
    for place in (path, path.parent) if os.name == "posix" else (path,):
        descriptor = os.open(place, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _count(connection: duckdb.DuckDBPyConnection, folder: Path, target: str) -> int:
    """Return how many rows are really there."""
    source = "t" if target == DATABASE else f"read_parquet({quoted(folder / '*.parquet')})"
    (count,) = connection.execute(f"SELECT count(DISTINCT id) FROM {source}").fetchall()[0]
    return int(count)


def _explained(error: BaseException, folder: Path) -> DataError:
    said = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return DataError(
        f"A batch could not be written to {folder.parent}: {said}. Free some space, or set READAHEAD_CACHE to another"
        " folder. Nothing of the run was kept."
    )


_FEW_ROWS, _MANY_ROWS, _BATCHES = 100, 4_000, 24
TYPICAL = {
    EMULATED_FILES: LoadCosts(batch_s=1.2e-3, row_s=3e-7, bytes_per_row=13.0),
    FILES: LoadCosts(batch_s=1.0e-3, row_s=3e-7, bytes_per_row=13.0),
    DATABASE: LoadCosts(batch_s=1.0e-3, row_s=3e-7, bytes_per_row=0.0),
}
"""As calibrated on a machine of 2 cores."""
_NONE = Device(name="none", latency_s=0.0, bandwidth_bytes_per_s=1e12, channels=64)


def load_calibration(target: str) -> Calibration[LoadCosts]:
    """Return what one writer takes for short and for long batches on a device that takes nothing.

    On this disk its sync is in the batch.
    """
    return Calibration(
        name=f"load {target}",
        kind=LoadCosts,
        cases=lambda: [
            partial(run_writers, target, _NONE, writers=1, commit_rows=rows, rows=rows * _BATCHES, repeats=5)
            for rows in (_FEW_ROWS, _MANY_ROWS)
        ],
        read_off=partial(_load_costs, target),
        typical=lambda: TYPICAL[target],
        turns=1,
    )


def _load_costs(target: str, samples: Sequence[Sample]) -> LoadCosts:
    few_s, many_s = (sample.median_s / _BATCHES for sample in samples)
    row_s = max(1e-10, (many_s - few_s) / (_MANY_ROWS - _FEW_ROWS))
    size = sum(read.size_bytes for read in samples[-1].reads) / (_MANY_ROWS * _BATCHES)
    return LoadCosts(
        batch_s=max(1e-6, few_s - _FEW_ROWS * row_s),
        row_s=row_s,
        bytes_per_row=size or TYPICAL[target].bytes_per_row,
    )
