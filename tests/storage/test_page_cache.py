"""The system can be made to forget a file, and can be asked whether it has."""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from pathlib import Path

import pytest

from readahead.errors import DataError
from readahead.storage import page_cache


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


@pytest.mark.skipif(
    not page_cache.can_evict(), reason="this system gives programs no way to empty the page cache"
)
def test_an_evicted_file_is_cold_and_a_read_one_is_warm(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1_000_000))
    page_cache.evict(path)
    share = cached_share(path)
    if share == 1.0:
        pytest.skip("this file system lives in memory: its pages cannot be dropped")
    assert share == 0.0
    path.read_bytes()
    assert cached_share(path) == 1.0


def test_where_it_cannot_be_done_the_way_out_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    with pytest.raises(DataError, match="Measure warm, or on an emulated device"):
        page_cache.require_evict()
