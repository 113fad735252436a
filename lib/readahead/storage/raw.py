"""Reads of a file past the page cache, where the system allows that, so that what is timed is the disk."""

from __future__ import annotations

import mmap
import os
import threading
from pathlib import Path

from readahead.storage import page_cache
from readahead.storage.descriptor import Descriptor

ALIGNMENT = 4_096
"""O_DIRECT wants offsets, lengths and addresses in multiples of the disk's sector; this serves all."""
EVICTED = "cold: the page cache is emptied before each run"


class RawFile(Descriptor):
    """A file opened for timing. `how` says in words what its reads go past."""

    def __init__(self, path: Path, largest_bytes: int) -> None:
        self.path = path
        self.size = path.stat().st_size
        self._largest = largest_bytes
        self._mine = threading.local()
        descriptor, self.how = _open(path)
        super().__init__(descriptor)

    def read(self, offset: int, size_bytes: int) -> int:
        """Read into a buffer of the calling thread and return how many bytes came."""
        buffer = getattr(self._mine, "buffer", None)
        if buffer is None:
            buffer = self._mine.buffer = mmap.mmap(-1, self._largest)  # page-aligned, as O_DIRECT wants
        if hasattr(os, "preadv"):
            return os.preadv(self._fd, [memoryview(buffer)[:size_bytes]], offset)
        return len(os.pread(self._fd, size_bytes, offset))

    def forget(self) -> None:
        """Empty the page cache of the file where reads do go through it."""
        if self.how == EVICTED:
            page_cache.evict(self.path)


def _open(path: Path) -> tuple[int, str]:
    """Open past the page cache if the file system has that; else empty the cache; else say that it is warm."""
    direct = getattr(os, "O_DIRECT", 0)
    if direct:
        try:
            descriptor = os.open(path, os.O_RDONLY | direct)
            with mmap.mmap(-1, ALIGNMENT) as buffer:
                os.preadv(descriptor, [buffer], 0)
        except OSError:
            pass
        else:
            return descriptor, "cold: reads go past the page cache (O_DIRECT)"
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    if page_cache.can_evict():
        return descriptor, EVICTED
    return descriptor, "warm: this system gives no way past the page cache, so this is memory, not the disk"
