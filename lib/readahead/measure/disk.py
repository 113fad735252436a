"""Reads this machine's disk in many sizes, in a row and all over, alone and many in flight, and fits a `Device` to it.

It stands in the catalogue as `this-machine`. The fit uses the same physics as the models: a read occupies a channel
for latency (+ seek, if it does not continue the last) + size / channel bandwidth, and all channels share one link.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import mmap
import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from readahead import paths, units
from readahead.datasets import store
from readahead.devices import THIS_MACHINE, Device
from readahead.errors import DataError
from readahead.running import carried, check, stopped, tell
from readahead.storage import page_cache
from readahead.storage.emulated import pread_for
from readahead.units import KiB, MiB

BLOCKS = (4 * KiB, 16 * KiB, 64 * KiB, 256 * KiB, 1 * MiB, 8 * MiB)
DEPTHS = (1, 2, 4, 8, 16)
SEQUENTIAL, SHUFFLED = "sequential", "shuffled"
SEEK_SHARE = 0.25
"""A disk has a head if a read elsewhere takes this much longer than the next one in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The reads of one block size, depth and order."""

    block_bytes: int
    depth: int
    order: str
    elapsed_s: float
    latencies_s: tuple[float, ...]
    """Of each read, raw."""

    @property
    def reads_per_s(self) -> float:
        """Return the reads finished a second."""
        return len(self.latencies_s) / self.elapsed_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """All cells of one disk."""

    cells: tuple[Cell, ...]
    how: str
    """What the reads went past: cold or warm, in words."""


def probe(
    *,
    file_bytes: int = 256 * MiB,
    seconds_each: float = 0.25,
    blocks: Sequence[int] = BLOCKS,
    depths: Sequence[int] = DEPTHS,
) -> Probe:
    """Read this machine's disk with every block size, depth and order.

    Raises `DataError` when the disk is full or cannot be written, `Cancelled` when asked to stop; the file that is
    read is made for it and removed in any case.
    """
    grid = list(itertools.product((SEQUENTIAL, SHUFFLED), blocks, depths))
    cells = []
    with _file(file_bytes) as path, RawFile(path, max(blocks)) as file:
        for number, (order, block, depth) in enumerate(grid):
            check()
            tell(number, len(grid), f"reading {units.text(block, 'bytes')}, {depth} in flight")
            file.forget()
            cells.append(_cell(file, block, depth, order, seconds_each))
        tell(len(grid), len(grid), "done")
        return Probe(cells=tuple(cells), how=file.how)


@contextmanager
def _file(size_bytes: int) -> Iterator[Path]:
    """Write a file of random bytes beside the datasets, and remove it afterwards."""
    with store.work_folder("probe", paths.cache_dir()) as folder:
        advice = "Free some space or set READAHEAD_CACHE to another disk."
        store.require_room("Reading the disk", 2 * size_bytes, folder.parent, advice)
        generator = random.Random(1)
        with (folder / "random").open("wb") as file:
            for _ in range(0, size_bytes, MiB):
                check()
                file.write(generator.randbytes(min(MiB, size_bytes)))
            file.flush()
            os.fsync(file.fileno())
        yield folder / "random"


def _cell(file: RawFile, block: int, depth: int, order: str, seconds: float) -> Cell:
    """Keep `depth` threads reading for a while; they take their offsets from one list. None reads on afterwards."""
    places = list(range(0, file.size - block + 1, block))
    if order == SHUFFLED:
        random.Random(block).shuffle(places)
    # A second pass over the file would find it in memory where only evicting makes it cold.
    offsets = iter(places) if file.how == EVICTED else itertools.cycle(places)
    over, lock = threading.Event(), threading.Lock()
    found: list[list[float]] = [[] for _ in range(depth)]
    clock = time.perf_counter
    start_s = clock()
    over_s = start_s + seconds

    def read_on(mine: list[float]) -> None:
        while not (over.is_set() or stopped() or (mine and clock() >= over_s)):  # one read at the least
            with lock:
                offset = next(offsets, None)
            if offset is None:
                return
            asked_s = clock()
            file.read_at(offset, block)
            mine.append(clock() - asked_s)

    with ThreadPoolExecutor(depth, thread_name_prefix="readahead-probe") as readers:
        try:
            for reading in [readers.submit(carried(read_on), mine) for mine in found]:
                reading.result()
        except OSError as error:
            raise DataError(
                f"This machine's disk could not read {file.path}: {error.strerror or error}. Check the disk, or set"
                " READAHEAD_CACHE to another one."
            ) from error
        finally:  # Ctrl-C and a read that failed too: all of them end before the file is closed
            over.set()
    elapsed_s = clock() - start_s
    check()
    return Cell(
        block_bytes=block,
        depth=depth,
        order=order,
        elapsed_s=elapsed_s,
        latencies_s=tuple(itertools.chain(*found)),
    )


def _rates(numbers: Sequence[float], channels: int, at: np.ndarray) -> np.ndarray:
    """Return the reads a second that a device sustains: its busy channels over a read's service time, or its link.

    `numbers` are its latency, its seek, and the bandwidths of a channel and of the link; `at` has the block sizes, the
    depths, and whether the reads are shuffled.
    """
    latency_s, seek_s, channel, link = numbers
    block, depth, shuffled = at
    service_s = latency_s + shuffled * seek_s + block / channel
    return np.asarray(np.minimum(np.minimum(depth, channels) / service_s, link / block), float)


def _grid(cells: Sequence[Cell]) -> np.ndarray:
    return np.array([(c.block_bytes, c.depth, c.order == SHUFFLED) for c in cells], float).T


def modeled_reads_per_s(device: Device, cells: Sequence[Cell]) -> list[float]:
    """Return for each cell the rate that the device sustains."""
    rates = device.channel_bandwidth_bytes_per_s, device.bandwidth_bytes_per_s
    return list(_rates((device.latency_s, device.seek_s, *rates), device.channels, _grid(cells)))


def fit(found: Probe) -> Device:
    """Return the device whose rates come closest to the probe's, in the least squares of their logarithms."""
    from scipy.optimize import least_squares

    at = _grid(found.cells)
    measured = np.log([cell.reads_per_s for cell in found.cells])

    def errors(logs: np.ndarray, channels: int) -> np.ndarray:
        return np.asarray(np.log(_rates(np.exp(logs), channels, at)) - measured, float)

    alone = [cell for cell in found.cells if cell.depth == min(at[1])]
    small = min(alone, key=lambda cell: (cell.block_bytes, cell.order == SHUFFLED))
    large = max(alone, key=lambda cell: cell.block_bytes)
    latency_s = float(np.median(small.latencies_s))
    link = max(cell.reads_per_s * cell.block_bytes for cell in found.cells)
    channel = large.block_bytes / max(1e-9, float(np.median(large.latencies_s)) - latency_s)
    low, high = np.log([1e-7, 1e-9, 1e5, 1e5]), np.log([1.0, 1.0, 1e12, 1e12])
    start = np.clip(np.log([latency_s, latency_s * 0.1, channel, link]), low + 1e-6, high - 1e-6)
    best = None
    for channels in range(1, int(max(at[1])) + 1):  # whole numbers are tried one by one, the fewest win a tie
        tried = least_squares(
            errors, start, bounds=(low, high), loss="soft_l1", f_scale=0.1, args=(channels,)
        )
        if best is None or tried.cost < best[0] * (1 - 1e-3) - 1e-9:
            best = tried.cost, channels, tried.x
    assert best is not None
    latency_s, seek_s, channel, link = (float(value) for value in np.exp(best[2]))
    return Device(
        name=THIS_MACHINE,
        latency_s=latency_s,
        seek_s=seek_s if seek_s > SEEK_SHARE * latency_s else 0.0,
        bandwidth_bytes_per_s=link,
        channel_bandwidth_bytes_per_s=min(channel, link),
        channels=best[1],
    )


ALIGNMENT = 4_096
"""O_DIRECT wants offsets, lengths and addresses in multiples of the disk's sector; this serves all."""
EVICTED = "cold: the page cache is emptied before each run"


class RawFile(io.FileIO):
    """A file opened for timing. `how` says in words what its reads go past."""

    def __init__(self, path: Path, largest_bytes: int) -> None:
        self.path = path
        self.size = path.stat().st_size
        self._largest = largest_bytes
        self._mine = threading.local()
        descriptor, self.how = _open(path)
        super().__init__(descriptor)
        self._pread = pread_for(descriptor)

    def read_at(self, offset: int, size_bytes: int) -> int:
        """Read into a buffer of the calling thread and return how many bytes came."""
        if not hasattr(os, "preadv"):
            return len(self._pread(size_bytes, offset))
        buffer = getattr(self._mine, "buffer", None)
        if buffer is None:
            buffer = self._mine.buffer = mmap.mmap(-1, self._largest)  # page-aligned, as O_DIRECT wants
        return os.preadv(self.fileno(), [memoryview(buffer)[:size_bytes]], offset)

    def forget(self) -> None:
        """Empty the page cache of the file where reads do go through it."""
        if self.how == EVICTED:
            page_cache.evict(self.path)


def _open(path: Path) -> tuple[int, str]:
    """Open past the page cache if the file system has that; else empty the cache; else say that it is warm."""
    if hasattr(os, "O_DIRECT") and hasattr(os, "preadv"):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECT)
            try:
                with mmap.mmap(-1, ALIGNMENT) as buffer:
                    os.preadv(descriptor, [buffer], 0)
            except OSError:
                os.close(descriptor)
            else:
                return descriptor, "cold: reads go past the page cache (O_DIRECT)"
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    if page_cache.can_evict():
        return descriptor, EVICTED
    return descriptor, "warm: this system gives no way past the page cache, so this is memory, not the disk"
