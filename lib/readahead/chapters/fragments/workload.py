"""A disk with a head, and a file in fragments: DuckDB scans it, or plain readers share it.

Plain readers are threads, each reading its own part of the file in a row, with no engine in between.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.experiments.experiment import Settings
from readahead.experiments.knobs import experiment
from readahead.experiments.table_experiment import TableExperiment
from readahead.measure.calibrate import PROBE, QUICK, Calibration
from readahead.measure.case import Case
from readahead.measure.run import Stopwatch
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.models.queue import DeviceQueue
from readahead.running import carried, check, interrupts, turns
from readahead.storage.emulated import EmulatedFileSystem
from readahead.units import KiB, MiB

SCAN, READERS = "scan", "readers"
REQUEST_BYTES, SHARED_BYTES = 128 * KiB, 16 * MiB
"""What plain readers ask for at a time, and what they read between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderCosts:
    """What plain readers take, in seconds; usual ones before calibration."""

    turn_s: float = 65e-6
    """Of the Python interpreter for each read, while the device works on it; no other reader can go on meanwhile."""
    read_s: float = 15e-6
    """From the arrival of a read to the reader's next request."""


FREE = ReaderCosts(turn_s=0.0, read_s=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """So many readers of one file on a device, one request of each under way."""

    device: Device
    readers: int
    costs: ReaderCosts = FREE
    request_bytes: int = REQUEST_BYTES
    total_bytes: int = SHARED_BYTES

    def part(self, reader: int) -> range:
        """Return where the requests of a reader begin."""
        each = self.total_bytes // self.readers
        requests = max(1, each // self.request_bytes)
        return range(reader * each, reader * each + requests * self.request_bytes, self.request_bytes)

    @property
    def counts(self) -> dict[str, float]:
        """Return the reads and bytes of all of them."""
        reads = self.readers * len(self.part(0))
        return {"reads": reads, "bytes_read": reads * self.request_bytes}

    @property
    def seconds(self) -> float:
        """Return when all are done, their requests booked on the device's queue as they come.

        The requests of all readers meet at the device in turns, so on one head every one of them finds it elsewhere.
        """
        queue, ready_s, free_s = DeviceQueue(self.device), [0.0] * self.readers, 0.0
        for request in range(len(self.part(0))):
            for reader in sorted(range(self.readers), key=ready_s.__getitem__):
                asked_s, offset = max(ready_s[reader], free_s), self.part(reader)[request]
                due_s, _ = queue.book(asked_s, offset, self.request_bytes)
                free_s = asked_s + self.costs.turn_s
                ready_s[reader] = max(due_s, free_s) + self.costs.read_s
        return max(ready_s)

    def estimate(self) -> Estimate:
        """Return the same as named terms."""
        side_by_side = min(self.device.channels, self.readers)
        transfer_s = self.total_bytes / (side_by_side * self.device.channel_bandwidth_bytes_per_s)
        latency_s = self.total_bytes / self.request_bytes / side_by_side * self.device.latency_s
        device_s = replace(self, costs=FREE).seconds
        terms_s = {
            "seek": max(0.0, device_s - transfer_s - latency_s),
            "latency": latency_s,
            "transfer": transfer_s,
            "readers": max(0.0, self.seconds - device_s),
        }
        return Estimate(terms_s=terms_s)

    def measure(self, path: Path, *, repeats: int = 3) -> Sample:
        """Measure how long threads take for the first bytes of a file. Raises `Cancelled` when asked to stop."""
        filesystem = EmulatedFileSystem(self.device)
        watch, threads = Stopwatch(filesystem), ThreadPoolExecutor(self.readers, "readahead-reader")
        with threads, filesystem.open(str(path)) as file, interrupts(filesystem.hurry):

            def read_part(reader: int) -> None:
                for offset in self.part(reader):
                    check()
                    file.seek(offset)
                    file.read(self.request_bytes)

            for _ in turns(repeats, f" with {self.readers} readers"):
                with watch.repeat():
                    list(threads.map(carried(read_part), range(self.readers)))
        return watch.sample()


ONE_READER = Readers(device=PROBE, readers=1, total_bytes=4 * MiB)
EIGHT_READERS = Readers(device=QUICK, readers=8)
"""One reader has the interpreter for itself; eight on so quick a device wait for each other alone."""


@functools.cache
def reader_calibration() -> Calibration[ReaderCosts]:
    """Return the calibration of plain readers."""

    def cases() -> list[Callable[[], Sample]]:
        path = Case(recipe=Recipe(table="comments_narrow", size="small"), device=QUICK).build()
        return [functools.partial(one.measure, path, repeats=1) for one in (ONE_READER, EIGHT_READERS)]

    return Calibration(
        name="file-readers", kind=ReaderCosts, cases=cases, read_off=reader_costs, typical=ReaderCosts
    )


def reader_costs(samples: Sequence[Sample]) -> ReaderCosts:
    """Return what `ONE_READER` and `EIGHT_READERS` show, turn after turn."""
    alone_s, crowd_s = (float(np.median([one.median_s for one in samples[at::2]])) for at in (0, 1))
    alone, crowd = ONE_READER.counts["reads"], EIGHT_READERS.counts["reads"]
    return ReaderCosts(turn_s=crowd_s / crowd, read_s=max(0.0, alone_s - ONE_READER.seconds) / alone)


class Fragments(TableExperiment):
    """A scan by DuckDB, or plain readers on one head or with a head each."""

    def readers(self, settings: Settings) -> Readers:
        """Return the plain readers; with several heads, each reader's part lies on a head of its own."""
        heads, count = settings["channels"], settings["readers"]
        device = self.device({**settings, "channels": 1})
        if heads > 1:
            rate, part_bytes = device.channel_bandwidth_bytes_per_s, SHARED_BYTES // count
            device = device.but(channels=heads, stripe_bytes=part_bytes, bandwidth_bytes_per_s=rate * heads)
        return Readers(device=device, readers=count, costs=reader_calibration().costs())

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return the calibrations of whoever reads: of the engine, or of plain readers."""
        return super().calibrations(settings) if settings["workload"] == SCAN else (reader_calibration(),)

    def model(self, settings: Settings) -> Estimate:
        """Return the scan's estimate, or that of the plain readers."""
        return super().model(settings) if settings["workload"] == SCAN else self.readers(settings).estimate()

    def counts(self, settings: Settings) -> dict[str, float]:
        """Return the reads and bytes of the scan, or of the plain readers."""
        return super().counts(settings) if settings["workload"] == SCAN else self.readers(settings).counts

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Let DuckDB scan, or plain readers read: of a file that is at least small, for a tiny one is too short."""
        if settings["workload"] == SCAN:
            return super().measure(settings, repeats)
        size = "small" if settings["size"] == "tiny" else settings["size"]
        path = self.case({**settings, "size": size}).build()
        return self.readers(settings).measure(path, repeats=repeats)

    def work(self, settings: Settings) -> float:
        """Return the bytes that are read."""
        return super().work(settings) if settings["workload"] == SCAN else float(SHARED_BYTES)


EXPERIMENT = experiment(Fragments, __file__, "Fragments: what a seek costs", calibrated_each=("workload",))
