"""A doctor's hammer for this machine's disk: short knocks of every size, in a row and all over, alone and many at a
time. From the answers comes the device that stands in the catalogue as `this-machine`.

The device is fitted with the same physics that the models use: a read occupies a channel for
latency (+ seek, if it does not continue the last) + size / channel bandwidth, and all channels share one link.
"""

from __future__ import annotations

import itertools
import os
import random
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from readahead import paths, units
from readahead.devices import THIS_MACHINE, Device
from readahead.errors import DataError
from readahead.running import carried, check, stopped, tell
from readahead.storage.raw import RawFile
from readahead.units import KiB, MiB

BLOCKS = (4 * KiB, 16 * KiB, 64 * KiB, 256 * KiB, 1 * MiB, 8 * MiB)
DEPTHS = (1, 2, 4, 8, 16)
ORDERS = ("sequential", "shuffled")
SEEK_SHARE = 0.25
"""A disk has a head if a read elsewhere takes this much longer than the next one in a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knock:
    """One combination, and every answer to it."""

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
    """All answers of one disk."""

    knocks: tuple[Knock, ...]
    how: str
    """What the reads went past: cold or warm, in words."""


def probe(
    *,
    file_bytes: int = 256 * MiB,
    seconds_each: float = 0.25,
    blocks: Sequence[int] = BLOCKS,
    depths: Sequence[int] = DEPTHS,
) -> Probe:
    """Knock at this machine's disk with every block, depth and order.

    Raises `DataError` when the disk is full or cannot be written, `Cancelled` when asked to stop; the file that is
    read is made for it and removed in any case.
    """
    combinations = [(b, d, o) for o in ORDERS for b in blocks for d in depths]
    with _file(file_bytes) as path, RawFile(path, max(blocks)) as file:
        knocks = []
        for number, (block, depth, order) in enumerate(combinations):
            check()
            tell(
                number,
                len(combinations),
                f"reading {units.text(block, 'bytes')}, {depth} in flight",
            )
            file.forget()
            knocks.append(_knock(file, block, depth, order, seconds_each))
        check()
        tell(len(combinations), len(combinations), "done")
        return Probe(knocks=tuple(knocks), how=file.how)


@contextmanager
def _file(size_bytes: int) -> Iterator[Path]:
    """Write a file of random bytes beside the datasets, and remove it afterwards."""
    folder = paths.cache_dir()
    path = folder / f"probe-{random.randrange(16**8):08x}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_room(folder, 2 * size_bytes)
        generator = random.Random(1)
        with path.open("wb") as file:
            for _ in range(0, size_bytes, MiB):
                check()
                file.write(generator.randbytes(min(MiB, size_bytes)))
            file.flush()
            os.fsync(file.fileno())
        yield path
    except OSError as error:
        raise DataError(
            f"{folder} cannot be used: {error.strerror or error}. Set READAHEAD_CACHE to a folder that can be written."
        ) from error
    finally:
        if folder.is_dir():
            path.unlink(missing_ok=True)


def _require_room(folder: Path, need_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < need_bytes:
        raise DataError(
            f"Reading the disk needs {units.text(need_bytes, 'bytes')} in {folder}, and {units.text(free, 'bytes')} is"
            " free. Free some space or set READAHEAD_CACHE to another disk."
        )


def _offsets(size: int, block: int, order: str) -> Iterator[int]:
    """Return the offsets of a run, the first of them again when the file is at its end."""
    places = list(range(0, size - block + 1, block))
    if order == "shuffled":
        random.Random(block).shuffle(places)
    return itertools.cycle(places)


def _knock(file: RawFile, block: int, depth: int, order: str, seconds: float) -> Knock:
    """Keep `depth` threads reading for a while; they take their offsets from one list. None reads on afterwards."""
    over, offsets, lock = threading.Event(), _offsets(file.size, block, order), threading.Lock()
    found: list[list[float]] = [[] for _ in range(depth)]
    clock = time.perf_counter
    start_s = clock()
    over_s = start_s + seconds
    passes = max(1, file.size // block)
    left = itertools.count(passes if file.how.startswith("cold: the page") else 10**9, -1)

    def read_on(mine: list[float]) -> None:
        while not (over.is_set() or stopped() or (mine and clock() >= over_s)):  # one read at the least
            with lock:
                offset, more = next(offsets), next(left)
            if more <= 0:
                return
            asked_s = clock()
            file.read(offset, block)
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
    return Knock(
        block_bytes=block,
        depth=depth,
        order=order,
        elapsed_s=elapsed_s,
        latencies_s=tuple(itertools.chain(*found)),
    )


def modeled_reads_per_s(device: Device, block_bytes: float, depth: float, order: str) -> float:
    """Return the rate the device sustains: its busy channels over a read's service time, or its link."""
    seek_s = device.seek_s if order == "shuffled" else 0.0
    service_s = device.latency_s + seek_s + block_bytes / device.channel_bandwidth_bytes_per_s
    return min(min(depth, device.channels) / service_s, device.bandwidth_bytes_per_s / block_bytes)


def fit(found: Probe) -> Device:
    """Return the device whose rates come closest to the probe's, in the least squares of their logarithms."""
    from scipy.optimize import least_squares

    knocks = found.knocks
    measured = np.log([knock.reads_per_s for knock in knocks])
    block = np.array([knock.block_bytes for knock in knocks], float)
    depth = np.array([knock.depth for knock in knocks], float)
    far = np.array([knock.order == "shuffled" for knock in knocks], float)

    def errors(logs: np.ndarray, channels: int) -> np.ndarray:
        latency_s, seek_s, channel, link = np.exp(logs)
        service_s = latency_s + far * seek_s + block / channel
        rates = np.minimum(np.minimum(depth, channels) / service_s, link / block)
        return np.asarray(np.log(rates) - measured, float)

    alone = [k for k in knocks if k.depth == min(depth)]
    small = min(alone, key=lambda k: (k.block_bytes, k.order == "shuffled"))
    large = max(alone, key=lambda k: k.block_bytes)
    latency_s = float(np.median(small.latencies_s))
    link = max(k.reads_per_s * k.block_bytes for k in knocks)
    channel = large.block_bytes / max(1e-9, float(np.median(large.latencies_s)) - latency_s)
    low, high = np.log([1e-7, 1e-9, 1e5, 1e5]), np.log([1.0, 1.0, 1e12, 1e12])
    start = np.clip(np.log([latency_s, latency_s * 0.1, channel, link]), low + 1e-6, high - 1e-6)
    best = None
    for channels in range(1, int(max(depth)) + 1):  # whole numbers are tried one by one, the fewest win a tie
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


def misfits(device: Device, found: Probe) -> list[tuple[Knock, float, float]]:
    """Return for each knock the modeled rate (reads/s) and modeled / measured."""
    rates = [modeled_reads_per_s(device, k.block_bytes, k.depth, k.order) for k in found.knocks]
    return [(k, rate, rate / k.reads_per_s) for k, rate in zip(found.knocks, rates, strict=True)]
