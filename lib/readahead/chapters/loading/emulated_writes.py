"""An emulated device that can also be written to.

What is written goes to a local file at once, and the writer waits until the emulated device would have it: once for the
bytes, and once more when the file is closed, for that is the sync. Writes are traced as reads are, at their place in
the order of writing.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from readahead.storage.emulated import EmulatedFileSystem


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

    def rm(self, path: Any, **_: Any) -> None:
        """Remove a local file."""
        Path(self._strip_protocol(path)).unlink()

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
