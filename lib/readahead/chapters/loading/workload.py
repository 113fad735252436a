"""How a load is run: the knobs, and the writers or the law that they ask for."""

from __future__ import annotations

import functools
import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from readahead import devices
from readahead.chapters.loading import laws
from readahead.chapters.loading.laws import LoadCosts
from readahead.datasets import store
from readahead.devices import Device
from readahead.errors import DataError
from readahead.experiments.experiment import Experiment, Settings
from readahead.experiments.knobs import experiment
from readahead.measure.calibrate import Calibration, fitted, line
from readahead.measure.run import Stopwatch, quoted
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.running import carried, check, interrupts, stopped, turns
from readahead.storage.emulated import PROTOCOL, EmulatedFileSystem


# -- a device that is written to -------------------------------------------------------------------------
class WritingFileSystem(EmulatedFileSystem):
    """Local files, read and written at the pace of `device`."""

    def fresh(self) -> None:
        """Forget all promises and the trace, and begin the log of writes anew."""
        super().fresh()
        self._written_bytes = 0
        self._place_lock = threading.Lock()

    def open(self, path: str, mode: str = "rb", **more: Any) -> Any:
        """Open a local file for reading or for writing anew. Raises OSError for any other mode."""
        if mode != "wb":
            return super().open(path, mode, **more)
        return WrittenFile(self, Path(self._strip_protocol(path)))

    def delay(self, size_bytes: int) -> None:
        """Let the calling thread wait as long as a write takes that lies behind everything written before."""
        with self._place_lock:
            at = self._written_bytes
            self._written_bytes += size_bytes
        submitted_s, due_s, seeks = self.book(at, size_bytes)
        self.wait_until(due_s)
        self.trace.note(at, size_bytes, submitted_s, due_s, self.clock.now_s(), seeks)


class WrittenFile:
    """A file that is being written; its device delays every write and the sync at its end."""

    closed = False

    def __init__(self, device: WritingFileSystem, path: Path) -> None:
        self._device = device
        self._file = path.open("wb")

    def write(self, data: Any) -> int:
        """Write, and return when the device would have the bytes."""
        count = self._file.write(data)
        self._device.delay(count)
        return count

    def tell(self) -> int:
        """Return how many bytes were written."""
        return self._file.tell()

    def flush(self) -> None:
        """Hand the bytes to the system; the device has them already."""
        self._file.flush()

    def close(self) -> None:
        """Close the file, after the time that the device takes to say that all is safe."""
        if not self.closed:
            self.closed = True
            self._file.close()
            self._device.delay(0)


# -- writers ---------------------------------------------------------------------------------------------
EMULATED_FILES, FILES, DATABASE = "emulated_files", "files", "database"
TARGETS = (EMULATED_FILES, FILES, DATABASE)
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
) -> Sample:
    """Measure how long `writers` take to have `rows` rows written for good, in batches of `commit_rows`.

    `target` is one of `TARGETS`; `device` counts for the emulated one only. A batch is a file that is closed, or a
    transaction that is committed. The answer is the rows that were found afterwards. Raises `Cancelled` when asked
    to stop and `DataError` for a disk that is full or cannot be written; nothing written stays in either case.
    """
    filesystem = WritingFileSystem(device)
    watch, found = Stopwatch(filesystem), 0
    for _ in turns(repeats, f", {writers} writing"):
        with store.work_folder("load") as folder:
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
    return watch.sample(bytes_read=0, where=where, answer=(found,), wrote=True)


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
    source = "t" if target == DATABASE else f"read_parquet({quoted(folder / '*.parquet')})"
    (count,) = connection.execute(f"SELECT count(DISTINCT id) FROM {source}").fetchall()[0]
    return int(count)


def _explained(error: BaseException, folder: Path) -> DataError:
    said = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return DataError(
        f"A batch could not be written to {folder.parent}: {said}. Free some space, or set READAHEAD_CACHE to another"
        " folder. Nothing of the run was kept."
    )


_FEW_ROWS, _MANY_ROWS, _ALL = 100, 10_000, 64
TYPICAL = {
    EMULATED_FILES: LoadCosts(
        batch_s=1.4e-3,
        row_share=0.58,
        share_2=0.75,
        share_4=0.7,
        share_8=0.77,
        share_64=0.96,
        start_s=1.2e-3,
        writer_s=3.5e-5,
        wake_8_s=5e-4,
        wake_32_s=2e-3,
        row_s=6e-8,
        bytes_per_row=14.2,
    ),
    FILES: LoadCosts(batch_s=1e-3, row_s=1e-7, bytes_per_row=16.0),
    DATABASE: LoadCosts(batch_s=1e-3, row_s=1e-7, bytes_per_row=0.0),
}
"""As calibrated on a machine of 2 cores."""
_QUICK = Device(name="quick", latency_s=2e-4, bandwidth_bytes_per_s=1e12, channels=64)
_SLOW, _SLOWER = (_QUICK.but(name="slow", latency_s=waited_s / 2) for waited_s in laws.WAITED_S)


@dataclass(frozen=True, slots=True)
class _Load:
    """A load that the costs are calibrated by."""

    device: Device
    commit_rows: int
    writers: int
    batches: int

    @property
    def waited_s(self) -> float:
        """Return how long each writer waits for the device at least."""
        return self.batches / self.writers * laws.batch_service_s(self.device, 0)

    def told_s(self, costs: LoadCosts) -> float:
        """Return the seconds that the law says."""
        return laws.load_s(
            self.device, costs, writers=self.writers, commit_rows=self.commit_rows, batches=self.batches
        )


_ALONE, _MANY_ALONE = _Load(_QUICK, _FEW_ROWS, 1, 32), _Load(_QUICK, _MANY_ROWS, 1, 16)
_ASKED = [
    _ALONE,
    _MANY_ALONE,
    _Load(_SLOW, _FEW_ROWS, 1, 8),
    _Load(_SLOWER, _FEW_ROWS, 1, 5),
    _Load(_QUICK, _MANY_ROWS, 16, _ALL),
    *(_Load(_QUICK, _FEW_ROWS, writers, _ALL) for writers in laws.MADE_AT_ONCE[1:]),
]


def load_calibration(target: str) -> Calibration[LoadCosts]:
    """Return what one writer takes for short and for long batches on a quick device, for short ones on two slow ones,
    what sixteen take for long ones, and 2, 4, 8 and 64 for short ones: who never waits is quicker than who has waited.

    On this disk one writer alone: its sync is in the batch.
    """
    asked = _ASKED if target == EMULATED_FILES else [_ALONE, _MANY_ALONE]
    return Calibration(
        name=f"load {target}",
        kind=LoadCosts,
        cases=lambda: [
            partial(
                run_writers,
                target,
                load.device,
                writers=load.writers,
                commit_rows=load.commit_rows,
                rows=load.commit_rows * load.batches,
                repeats=1,
            )
            for load in asked
        ],
        read_off=_load_costs if target == EMULATED_FILES else _own_disk_costs,
        typical=lambda: TYPICAL[target],
        turns=4,
    )


def _load_costs(samples: Sequence[Sample]) -> LoadCosts:
    """Fit the costs to what the loads took besides waiting, each taken several times in turn; to how the first begins
    and ends; and to what the last, of many writers, takes longer to end.
    """
    runs = [samples[at :: len(_ASKED)] for at in range(len(_ASKED))]
    begun_s = float(np.median([one.reads[0].submitted_s for one in runs[0]]))
    ended_s, many_ended_s = (float(np.median([_ending_s(one) for one in runs[at]])) for at in (0, -1))
    bytes_per_row = sum(read.size_bytes for read in runs[1][0].reads) / (_MANY_ROWS * _MANY_ALONE.batches)

    def told(costs: LoadCosts) -> list[float]:
        alone_s = costs.start_s + costs.made_s(_FEW_ROWS) + costs.writer_s
        loads_s = [load.told_s(costs) - load.waited_s for load in _ASKED]
        return [*loads_s, alone_s, (_ALL - 1) * costs.writer_s]

    took_s = [
        max(1e-6, float(np.median([one.median_s for one in run])) - load.waited_s)
        for load, run in zip(_ASKED, runs, strict=True)
    ]
    usual = replace(TYPICAL[EMULATED_FILES], bytes_per_row=bytes_per_row)
    return fitted(usual, told, [*took_s, begun_s + ended_s, max(1e-6, many_ended_s - ended_s)])


def _own_disk_costs(samples: Sequence[Sample]) -> LoadCosts:
    """Read the costs off loads of short and of long batches by one writer, in turn."""
    each = zip(samples, itertools.cycle((_ALONE, _MANY_ALONE)), strict=False)
    batch_s, row_s = line([(load.commit_rows, one.median_s / load.batches) for one, load in each])
    return LoadCosts(batch_s=batch_s, row_s=row_s, bytes_per_row=0.0)


def _ending_s(sample: Sample) -> float:
    """Return the seconds from the last write's answer to the end of the run whose reads were kept."""
    return sample.seconds[-1] - max(read.due_s for read in sample.reads)


# -- a loader that is killed -----------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Crash:
    """What a killed loader had reported, and what was found afterwards."""

    reported_rows: int
    """Of commits that it had reported."""
    found_rows: int
    """In the database, opened again."""


_LOADER = """
import sys, duckdb
from readahead.chapters.loading.workload import ROWS_SQL
path, commit_rows, done = sys.argv[1], int(sys.argv[2]), 0
connection = duckdb.connect(path)
connection.execute(f"CREATE TABLE t AS {ROWS_SQL.format(0, 0)}")
while True:
    connection.execute(f"INSERT INTO t {ROWS_SQL.format(done, done + commit_rows)}")
    done += commit_rows
    print(done, flush=True)
"""
"""Loads for ever, and reports the rows that are committed after each batch."""


@functools.cache
def crashed(commit_rows: int, after_commits: int = 20) -> Crash:
    """Start a loader in a process of its own, kill it without warning after so many commits, and count what is there.

    It is killed once, and what it left is kept. Raises `DataError` if the loader ended by itself.
    """
    with store.work_folder("crash") as folder:
        path = folder / "load.duckdb"
        command = [sys.executable, "-c", _LOADER, str(path), str(commit_rows)]
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
    return Crash(reported_rows=reported, found_rows=int(found))


# -- from settings to a load -----------------------------------------------------------------------------
BATCHES = {"tiny": 64, "small": 256, "full": 1_024}
"""How many batches are loaded at each size."""
_VOLUME = devices.device("cloud-volume")


class Loading(Experiment):
    """Batches, writers, and where they write."""

    def device(self, settings: Settings) -> devices.Device:
        """Return the emulated device with the numbers that the sliders say."""
        return _VOLUME.but(latency_s=settings["latency_s"], channels=settings["channels"])

    def rows(self, settings: Settings) -> int:
        """Return how many rows are loaded."""
        return int(BATCHES[settings["size"]] * settings["commit_rows"])

    def costs(self, settings: Settings) -> LoadCosts:
        """Return what was calibrated."""
        return load_calibration(settings["target"]).costs()

    def model(self, settings: Settings) -> Estimate:
        """Return the predicted time; into one database, or on this disk, one batch after the other."""
        costs, batches = self.costs(settings), BATCHES[settings["size"]]
        rows, commit_rows = self.rows(settings), settings["commit_rows"]
        batch_s, row_s = batches * costs.batch_s, rows * costs.row_s
        if settings["target"] != EMULATED_FILES:
            return Estimate(terms_s={"commit": batch_s, "rows": row_s})
        device, writers = self.device(settings), settings["writers"]
        seconds = laws.load_s(device, costs, writers=writers, commit_rows=commit_rows, batches=batches)
        cpu_s = batches * costs.made_s(commit_rows, writers) / writers
        device_s = batches * laws.batch_service_s(device, commit_rows * costs.bytes_per_row)
        shown_s = seconds * cpu_s / (cpu_s + device_s) if seconds > cpu_s * (1 + 1e-9) else seconds
        return Estimate(terms_s={"device": seconds - shown_s, "cpu": shown_s})

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Let the writers write, calibrating a batch first if that was never done."""
        self.ensure_calibrated(settings)
        return run_writers(
            settings["target"],
            self.device(settings),
            writers=settings["writers"],
            commit_rows=settings["commit_rows"],
            rows=self.rows(settings),
            repeats=repeats,
        )

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return the calibration of a batch and a row."""
        return (load_calibration(settings["target"]),)

    def work(self, settings: Settings) -> float:
        """Return the rows."""
        return float(self.rows(settings))

    def unit(self, settings: Settings) -> str:
        """Return rows_per_s."""
        return "rows_per_s"


EXPERIMENT = experiment(Loading, __file__, "Loading: writers, batches, and where they write")
