"""Times work on an emulated device that is not DuckDB's: plain readers and writers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from readahead.measure.sample import Sample
from readahead.storage.emulated import EmulatedFileSystem
from readahead.storage.trace import Read


class Stopwatch:
    """Seconds, processor seconds and reads of repeats; the device's own waiting is not the work's processor time."""

    def __init__(self, filesystem: EmulatedFileSystem) -> None:
        self.filesystem = filesystem
        self.seconds: list[float] = []
        self.cpu_s: list[float] = []
        self.reads: tuple[Read, ...] = ()
        """Of the last repeat."""

    @contextmanager
    def repeat(self) -> Iterator[None]:
        """Time the block, on a device that has been idle."""
        self.filesystem.fresh()
        start_s, cpu_s = time.perf_counter(), time.process_time()
        yield
        self.seconds.append(time.perf_counter() - start_s)
        self.cpu_s.append(max(0.0, time.process_time() - cpu_s - self.filesystem.spun_s))
        self.reads = self.filesystem.trace.reads(start_s=start_s)

    def sample(self, **more: Any) -> Sample:
        """Return the repeats as a sample; `more` are its other fields, or others instead of these."""
        found: dict[str, Any] = {
            "seconds": tuple(self.seconds),
            "cpu_s": tuple(self.cpu_s),
            "reads": self.reads,
            "bytes_read": sum(read.size_bytes for read in self.reads),
            "where": "emulated device",
        }
        return Sample(**found | more)
