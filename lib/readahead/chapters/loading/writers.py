"""Writers that each load batch after batch: into files of their own or into one database, on an emulated device or on
this machine's disk. What they wrote is counted, and removed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import duckdb
import numpy as np

from readahead.chapters.loading.emulated_writes import WritingFileSystem
from readahead.chapters.loading.laws import LoadCosts
from readahead.devices import Device
from readahead.errors import DataError
from readahead.measure.calibrate import Calibration
from readahead.measure.run import Stopwatch, quoted, work_folder
from readahead.measure.sample import Sample
from readahead.running import carried, check, interrupts, stopped, turns
from readahead.storage.emulated import PROTOCOL

EMULATED_FILES, FILES, DATABASE = "emulated_files", "files", "database"
TARGETS = {
    EMULATED_FILES: "files, emulated device",
    FILES: "files, this disk",
    DATABASE: "one database, this disk",
}
ROWS_SQL = (
    "SELECT i AS id, hash(i) AS number, i % 97 AS post, (hash(i + 1) % 1000) / 10.0 AS score"
    " FROM range({0}, {1}) made(i)"
)
"""The rows of a batch, the same on every machine."""


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
    watch, found = Stopwatch(filesystem), 0
    for _ in turns(repeats, f", {writers} writing"):
        with work_folder("load-") as folder:
            connection = duckdb.connect(str(folder / "table.duckdb") if target == DATABASE else ":memory:")
            try:
                connection.register_filesystem(filesystem)
                if target == DATABASE:
                    connection.execute(f"CREATE TABLE t AS {ROWS_SQL.format(0, 0)}")
                with interrupts(filesystem.hurry, connection.interrupt), watch.repeat():
                    failed = _load(connection, folder, target, writers, rows, commit_rows)
                check()
                if failed:
                    raise _explained(failed[0], folder)
                found = _count(connection, folder, target)
            finally:
                connection.unregister_filesystem(PROTOCOL)
                connection.close()
    where = "emulated device" if target == EMULATED_FILES else "this disk"
    return watch.sample(bytes_read=0, where=where, settings=dict(facts or {}), answer=(found,), wrote=True)


def _load(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    target: str,
    writers: int,
    rows: int,
    commit_rows: int,
) -> list[Exception]:
    """Let the writers take one batch after the other until none is left, one failed or it is stopped."""
    starts, failed = iter(range(0, rows, commit_rows)), list[Exception]()

    def work(writer: int) -> None:
        cursor = connection.cursor()
        try:
            for first in starts:  # one list for all: taking the next one is a single step
                if failed or stopped():
                    return
                select = ROWS_SQL.format(first, min(rows, first + commit_rows))
                _write_batch(cursor, select, folder / f"{writer}-{first}.parquet", target)
        except (duckdb.Error, OSError) as error:
            failed.append(error)
        finally:
            cursor.close()

    with ThreadPoolExecutor(writers, thread_name_prefix="readahead-writer") as pool:
        list(pool.map(carried(work), range(writers)))
    return failed


def _write_batch(cursor: duckdb.DuckDBPyConnection, select: str, path: Path, target: str) -> None:
    if target == DATABASE:
        cursor.execute(f"INSERT INTO t {select}")
        return
    name = quoted(path, emulated=target == EMULATED_FILES)
    cursor.execute(f"COPY ({select}) TO {name} (FORMAT parquet, USE_TMP_FILE false)")
    if target == FILES:
        _sync(path)


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
            partial(run_writers, target, _NONE, writers=1, commit_rows=rows, rows=rows * _BATCHES, repeats=2)
            for rows in (_FEW_ROWS, _MANY_ROWS)
        ],
        read_off=partial(_load_costs, target),
        typical=lambda: TYPICAL[target],
    )


def _load_costs(target: str, samples: Sequence[Sample]) -> LoadCosts:
    turns = [[s for sample in samples[at::2] for s in sample.seconds] for at in (0, 1)]
    few_s, many_s = (float(np.median(seconds)) / _BATCHES for seconds in turns)
    row_s = max(1e-10, (many_s - few_s) / (_MANY_ROWS - _FEW_ROWS))
    size = sum(read.size_bytes for read in samples[-1].reads) / (_MANY_ROWS * _BATCHES)
    return LoadCosts(
        batch_s=max(1e-6, few_s - _FEW_ROWS * row_s),
        row_s=row_s,
        bytes_per_row=size or TYPICAL[target].bytes_per_row,
    )
