"""A disk with a head, and a file in fragments: DuckDB scans it, or plain readers share it.

Plain readers are threads, each reading its own part of the file in a row, with no engine in between.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from readahead.devices import Device
from readahead.experiments.experiment import Settings
from readahead.experiments.knobs import experiment
from readahead.experiments.table_experiment import TableExperiment
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
class Readers:
    """So many readers of one file on a device, one request of each under way."""

    device: Device
    readers: int
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
        queue, ready_s = DeviceQueue(self.device), [0.0] * self.readers
        for request in range(len(self.part(0))):
            for reader in sorted(range(self.readers), key=ready_s.__getitem__):
                offset = self.part(reader)[request]
                ready_s[reader], _ = queue.book(ready_s[reader], offset, self.request_bytes)
        return max(ready_s)

    def estimate(self) -> Estimate:
        """Return the same as named terms."""
        side_by_side = min(self.device.channels, self.readers)
        transfer_s = self.total_bytes / (side_by_side * self.device.channel_bandwidth_bytes_per_s)
        latency_s = self.total_bytes / self.request_bytes / side_by_side * self.device.latency_s
        seek_s = max(0.0, self.seconds - transfer_s - latency_s)
        return Estimate(terms_s={"seek": seek_s, "latency": latency_s, "transfer": transfer_s})

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


class Fragments(TableExperiment):
    """A scan by DuckDB, or plain readers on one head or with a head each."""

    def readers(self, settings: Settings) -> Readers:
        """Return the plain readers; with several heads, each reader's part lies on a head of its own."""
        heads, count = settings["channels"], settings["readers"]
        device = self.device({**settings, "channels": 1})
        if heads > 1:
            rate, part_bytes = device.channel_bandwidth_bytes_per_s, SHARED_BYTES // count
            device = device.but(channels=heads, stripe_bytes=part_bytes, bandwidth_bytes_per_s=rate * heads)
        return Readers(device=device, readers=count)

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


EXPERIMENT = experiment(Fragments, __file__, "Fragments: what a seek costs")
