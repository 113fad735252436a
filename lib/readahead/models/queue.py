"""When a device has the bytes of a read ready: a free channel, the seeks, the latency, the transfer, a shared link.

This is all the physics of the workbook's devices. The emulated device books every read that DuckDB issues; the
schedule books every read that a model expects. Time is a number that is passed in, so nothing here waits.

A moment is a row of numbers: its time, and what that time was spent on, along the chain of whatever was waited for
last. Of two moments that must both have come, the later counts, with its own chain: the critical path (J. Kelley and
M. Walker, 1959) is known when the last one comes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from readahead import paths
from readahead.devices import Device
from readahead.errors import require_range


def _folder() -> Path:
    """Return where machine code is kept: beside the built files, for the package may stand where none can be written.

    Numba looks whether a function's own file has changed, but not those of the functions it calls; hence the digest.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return paths.own_dir() / "compiled" / digest.hexdigest()[:12]


os.environ.setdefault("NUMBA_CACHE_DIR", str(_folder()))

try:
    import numba
except (ImportError, OSError):  # not installed, or its compiler cannot be loaded here
    numba = None  # type: ignore[assignment]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return a function over numbers and arrays, compiled at its first call and kept on the disk."""
    if numba is None:
        return function
    quick: Any
    try:
        quick = numba.njit(cache=True)(function)
    except RuntimeError:  # there is no folder to keep it in
        quick = numba.njit(function)
    return quick  # type: ignore[no-any-return]


TIME, SEEK, LATENCY, TRANSFER, ENGINE, CPU = range(6)
"""The places in a moment: when it is, and the seconds of its chain that were spent on each term."""
TERMS = ("seek", "latency", "transfer", "engine", "cpu")

Moment = NDArray[np.float64]
Ints = NDArray[np.int64]


class DeviceState(NamedTuple):
    """A device's numbers, and what it has promised so far, as arrays that compiled code can change."""

    latency_s: float
    seek_s: float
    byte_s: float
    """What a byte occupies its channel."""
    link_byte_s: float
    """What it occupies the link that all channels share."""
    stripe_bytes: int
    """0 if any free channel serves any read."""
    fragment_bytes: int
    free: Moment
    """When each channel is free: a row each."""
    order: Ints
    """The channels, as a heap: the one that is free first stands at the front."""
    heads: Ints
    """The byte at which each channel's head stands; -1 for nowhere."""
    link: Moment
    """When the link is free."""


def state_of(device: Device, fragment_bytes: int = 0, most_reads: int = 2**31) -> DeviceState:
    """Return an idle device. Channels beyond one for each of `most_reads` would never be asked."""
    striped = device.stripe_bytes > 0 and device.channels > 1
    channels = device.channels if striped else min(device.channels, max(1, most_reads))
    share = device.bandwidth_bytes_per_s / (device.channels if striped else 1)
    return DeviceState(
        latency_s=float(device.latency_s),
        seek_s=float(device.seek_s),
        byte_s=1.0 / min(device.channel_bandwidth_bytes_per_s, share),
        link_byte_s=0.0 if striped else 1.0 / device.bandwidth_bytes_per_s,
        stripe_bytes=device.stripe_bytes if striped else 0,
        fragment_bytes=int(fragment_bytes),
        free=np.zeros((channels, len(TERMS) + 1)),
        order=np.arange(channels),
        heads=np.full(channels, -1),
        link=np.zeros(len(TERMS) + 1),
    )


class DeviceQueue:
    """The reads a device has promised, on a virtual clock.

    `fragment_bytes` is the length of the contiguous pieces in which the file lies on the device; moving from
    one piece to the next costs a seek, as does every read that does not begin where the channel's head stands.
    0 means one piece.
    """

    def __init__(self, device: Device, fragment_bytes: int = 0) -> None:
        require_range("fragment_bytes", fragment_bytes, low=0, advice="Give 0 for a file in one piece.")
        self._state = state_of(device, fragment_bytes)

    def book(self, now_s: float, offset: int, size_bytes: int) -> tuple[float, int]:
        """Return when a read submitted at `now_s` has its bytes ready, and how many seeks it costs.

        Reads are booked in the order in which they are submitted (first come, first served).
        """
        found: tuple[float, int] = book_at(self._state, float(now_s), int(offset), int(size_bytes))
        return found


# -- moments ---------------------------------------------------------------------------------------------
@compiled
def put(moment: Moment, other: Moment) -> None:
    """Let a moment be as another."""
    for at in range(CPU + 1):
        moment[at] = other[at]


@compiled
def wait(moment: Moment, other: Moment) -> None:
    """Let a moment be as another if that is later."""
    if other[TIME] > moment[TIME]:
        put(moment, other)


@compiled
def spend(moment: Moment, term: int, seconds: float) -> None:
    """Let so much time pass, spent on a term."""
    moment[TIME] += seconds
    moment[term] += seconds


@compiled
def requeue(order: Ints, moments: Moment) -> None:
    """Move the front of a heap, whose moment has become later, to its place; equal moments go by number.

    A binary heap (J. Williams, Heapsort, 1964) of the rows of `moments`: the earliest stands at the front.
    """
    mover, at = order[0], 0
    while 2 * at + 1 < len(order):
        child = 2 * at + 1
        if child + 1 < len(order) and _before(order[child + 1], order[child], moments):
            child += 1
        if not _before(order[child], mover, moments):
            break
        order[at] = order[child]
        at = child
    order[at] = mover


@compiled
def _before(one: int, other: int, moments: Moment) -> bool:
    return bool(
        moments[one, TIME] < moments[other, TIME]
        or (moments[one, TIME] == moments[other, TIME] and one < other)
    )


# -- the device -------------------------------------------------------------------------------------------
@compiled
def book(device: DeviceState, now: Moment, offset: int, size_bytes: int, due: Moment) -> int:
    """Set `due` to when a read submitted `now` has its bytes ready, and return how many seeks it costs.

    It waits for the first free channel, holds it for latency + seeks + size / channel bandwidth, and its bytes cross
    the link one read after the other.
    """
    if device.stripe_bytes:
        return _book_striped(device, now, offset, size_bytes, due)
    channel = device.order[0]
    seeks = _seeks(device.heads, channel, offset, size_bytes, device.fragment_bytes)
    put(due, device.free[channel])
    wait(due, now)
    spend(due, LATENCY, device.latency_s)
    spend(due, SEEK, seeks * device.seek_s)
    wait(device.link, due)
    spend(device.link, TRANSFER, size_bytes * device.link_byte_s)
    spend(due, TRANSFER, size_bytes * device.byte_s)
    wait(due, device.link)
    put(device.free[channel], due)
    requeue(device.order, device.free)
    return seeks


@compiled
def _book_striped(device: DeviceState, now: Moment, offset: int, size_bytes: int, due: Moment) -> int:
    """Serve each drive's share of the read on that drive; the read is ready with the slowest.

    Stripes lie on the drives in turns (RAID 0; Patterson, Gibson, Katz, 1988). Consecutive stripes of one drive lie
    side by side on it, so a long read is one piece a drive. Each drive has its equal share of the link.
    """
    stripe, drives = device.stripe_bytes, len(device.free)
    touched = min(drives, (offset + size_bytes - 1) // stripe - offset // stripe + 1)
    put(due, now)
    seeks = 0
    for step in range(touched):
        drive = (offset // stripe + step) % drives
        start = on_drive(offset, drive, stripe, drives)
        length = on_drive(offset + size_bytes, drive, stripe, drives) - start
        moves = _seeks(device.heads, drive, start, length, device.fragment_bytes // drives)
        done = device.free[drive]
        wait(done, now)
        spend(done, LATENCY, device.latency_s)
        spend(done, SEEK, moves * device.seek_s)
        spend(done, TRANSFER, length * device.byte_s)
        wait(due, done)
        seeks += moves
    return seeks


@compiled
def on_drive(upto: int, drive: int, stripe: int, drives: int) -> int:
    """Return how many of a file's first `upto` bytes lie on one of its drives."""
    rounds = upto // (stripe * drives)
    rest = upto - rounds * stripe * drives - drive * stripe
    return int(rounds * stripe + min(max(rest, 0), stripe))


@compiled
def _seeks(heads: Ints, channel: int, offset: int, size_bytes: int, fragment_bytes: int) -> int:
    """Count the head's moves for one read and leave the head at its end."""
    end = offset + size_bytes
    moves = int(heads[channel] != offset)
    if fragment_bytes:
        moves += max(0, (end - 1) // fragment_bytes - offset // fragment_bytes)
        moves += int(moves == 0 and offset % fragment_bytes == 0)
    heads[channel] = end
    return moves


@compiled
def book_at(device: DeviceState, now_s: float, offset: int, size_bytes: int) -> tuple[float, int]:
    """Return (due, seeks) of a read, for one who asks for its time alone."""
    now, due = np.zeros(CPU + 1), np.empty(CPU + 1)
    now[TIME] = now_s
    seeks = book(device, now, offset, size_bytes, due)
    return due[TIME], seeks
