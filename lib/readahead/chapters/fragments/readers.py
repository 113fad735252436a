"""Plain threads that share a device, each reading its own part of a file in a row, with no engine in between."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from readahead.devices import Device
from readahead.measure.sample import Sample
from readahead.measure.stopwatch import Stopwatch
from readahead.models.estimate import Estimate
from readahead.models.queue import DeviceQueue
from readahead.running import carried, check, interrupts, tell
from readahead.storage.emulated import EmulatedFileSystem
from readahead.units import KiB, MiB

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

    def measure(self, path: Path, *, repeats: int = 3, facts: Mapping[str, object] | None = None) -> Sample:
        """Measure how long threads take for the first bytes of a file. Raises `Cancelled` when asked to stop."""
        filesystem = EmulatedFileSystem(self.device)
        watch, threads = Stopwatch(filesystem), ThreadPoolExecutor(self.readers, "readahead-reader")
        with threads, filesystem.open(str(path)) as file, interrupts(filesystem.hurry):

            def read_part(reader: int) -> None:
                for offset in self.part(reader):
                    check()
                    file.seek(offset)
                    file.read(self.request_bytes)

            for repeat in range(repeats):
                check()
                tell(repeat, repeats, f"run {repeat + 1} of {repeats} with {self.readers} readers")
                with watch.repeat():
                    list(threads.map(carried(read_part), range(self.readers)))
            check()
        return watch.sample(settings=dict(facts or {}))
