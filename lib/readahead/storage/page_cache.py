"""The system's memory of files. A file read a moment ago comes from memory, not from the disk, so a claim
about a disk needs a way to make the system forget, and a way to see whether it has."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from pathlib import Path

from readahead.errors import DataError


def can_evict() -> bool:
    """Return whether this system lets a program empty one file's page cache without special rights."""
    return sys.platform == "linux" and hasattr(os, "posix_fadvise")


def require_evict() -> None:
    """Raise `DataError` where only warm runs can be measured, with the advice to do so."""
    if not can_evict():
        raise DataError(
            f"This system ({sys.platform}) gives programs no way to empty the page cache, so a cold run cannot be"
            " measured. Measure warm, or on an emulated device."
        )


def evict(path: Path) -> None:
    """Make the system forget the file's pages, so that the next read comes from the disk.

    Dirty pages cannot be dropped, so the file is written through first.
    """
    require_evict()
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


def cached_share(path: Path) -> float | None:
    """Return the share of the file's pages in memory, from 0 to 1, or None where the system does not tell."""
    size = path.stat().st_size
    if sys.platform != "linux" or size == 0:
        return None
    pages = -(-size // mmap.PAGESIZE)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long)
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    descriptor = os.open(path, os.O_RDONLY)
    try:
        address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            return None
        resident = ctypes.create_string_buffer(pages)
        found = libc.mincore(address, size, resident)
        libc.munmap(address, size)
    finally:
        os.close(descriptor)
    return sum(byte & 1 for byte in resident.raw) / pages if found == 0 else None
