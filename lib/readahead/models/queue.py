"""When a device has the bytes of a read ready: a free channel, the seeks, the latency, the transfer, a shared link.

This is all the physics of the workbook's devices. The emulated device books every read that DuckDB issues; the
schedule books every read that a model expects. Time is a number that is passed in, so nothing here waits.

A moment has a time, and what that time was spent on along the chain of whatever was waited for last. Of two moments
that must both have come, the later counts, with its own chain: the critical path (J. Kelley and M. Walker, 1959) is
known when the last one comes.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from readahead import paths
from readahead.devices import Device
from readahead.errors import require_range


def _folder() -> Path:
    """Return where machine code is kept: beside the built files, for the package may stand where none can be written.

    Numba looks whether a function's own file has changed, but not those of the functions it calls, nor whether it is
    to check that every index lies in its array; hence the digest.
    """
    digest = hashlib.sha256(os.environ.get("NUMBA_BOUNDSCHECK", "").encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return paths.own_dir() / "compiled" / digest.hexdigest()[:12]


os.environ.setdefault("NUMBA_CACHE_DIR", str(_folder()))

try:
    import numba
except (ImportError, OSError):  # not installed, or its compiler cannot be loaded here
    numba = None  # type: ignore[assignment]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, *, inline: Literal["never", "always"] = "never") -> Function:
    """Return a function over numbers and arrays, compiled at its first call and kept on the disk.

    What is called for every read is put `inline`, "always": to hand arrays over takes longer than the work.
    """
    if numba is None:
        return function
    quick: Any
    try:
        quick = numba.njit(cache=True, inline=inline)(function)
    except RuntimeError:  # there is no folder to keep it in
        quick = numba.njit(inline=inline)(function)
    return quick  # type: ignore[no-any-return]


inlined = functools.partial(compiled, inline="always")


class Moment(NamedTuple):
    """When something is, and the seconds of its chain that were spent on each term."""

    time_s: float
    seek_s: float = 0.0
    latency_s: float = 0.0
    transfer_s: float = 0.0
    engine_s: float = 0.0
    cpu_s: float = 0.0


TERMS = ("seek", "latency", "transfer", "engine", "cpu")

Floats = NDArray[np.float64]
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
    free: Floats
    """The moment when each channel is free: a row each."""
    order: Ints
    """The channels as a `queue_of`: the one that is free first stands at the front."""
    heads: Ints
    """The byte at which each channel's head stands; -1 for nowhere."""
    link: Floats
    """The moment when the link is free: one row."""


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
        free=np.zeros((channels, len(Moment._fields))),
        order=queue_of(channels),
        heads=np.full(channels, -1),
        link=np.zeros((1, len(Moment._fields))),
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
def load(moments: Floats, row: int) -> Moment:
    """Return the moment in a row."""
    return Moment(
        moments[row, 0], moments[row, 1], moments[row, 2], moments[row, 3], moments[row, 4], moments[row, 5]
    )


@compiled
def put(moments: Floats, row: int, moment: Moment) -> None:
    """Write a moment into a row."""
    for at in range(len(moment)):
        moments[row, at] = moment[at]


@compiled
def later(one: Moment, other: Moment) -> Moment:
    """Return the later of two moments, the first if they are equal."""
    return other if other.time_s > one.time_s else one


@compiled
def spend(
    moment: Moment,
    seek_s: float = 0.0,
    latency_s: float = 0.0,
    transfer_s: float = 0.0,
    engine_s: float = 0.0,
    cpu_s: float = 0.0,
) -> Moment:
    """Return the moment so many seconds later, spent on these terms."""
    return Moment(
        moment.time_s + (seek_s + latency_s + transfer_s + engine_s + cpu_s),
        moment.seek_s + seek_s,
        moment.latency_s + latency_s,
        moment.transfer_s + transfer_s,
        moment.engine_s + engine_s,
        moment.cpu_s + cpu_s,
    )


@compiled
def queue_of(count: int) -> Ints:
    """Return the numbers from 0 as a ring in which they come in turn; its last place says where the front is."""
    return np.append(np.arange(count), 0)


@compiled
def front(order: Ints) -> int:
    """Return the number whose turn it is."""
    return int(order[order[-1]])


@inlined
def requeue(order: Ints, moments: Floats) -> None:
    """Move the front of a queue, whose moment has become later, to its place; equal moments go by number.

    It is looked for from the back, where it mostly is.
    """
    count, at = len(order) - 1, order[-1]
    mover = order[at]
    first = at + 1 if at + 1 < count else 0
    while at != first:
        before = at - 1 if at else count - 1
        if _before(order[before], mover, moments):
            break
        order[at] = order[before]
        at = before
    order[at], order[-1] = mover, first


@inlined
def occupy(order: Ints, moments: Floats, until: Moment) -> None:
    """Keep the front of a queue busy until a moment, later than its own."""
    put(moments, front(order), until)
    requeue(order, moments)


@compiled
def _before(one: int, other: int, moments: Floats) -> bool:
    return bool(moments[one, 0] < moments[other, 0] or (moments[one, 0] == moments[other, 0] and one < other))


# -- the device -------------------------------------------------------------------------------------------
@inlined
def book(device: DeviceState, now: Moment, offset: int, size_bytes: int) -> tuple[Moment, int]:
    """Return when a read submitted `now` has its bytes ready, and how many seeks it costs.

    It waits for the first free channel, holds it for latency + seeks + size / channel bandwidth, and its bytes cross
    the link one read after the other.
    """
    if device.stripe_bytes:
        return _book_striped(device, now, offset, size_bytes)
    channel = front(device.order)
    seeks = _seeks(device.heads, channel, offset, size_bytes, device.fragment_bytes)
    begun = later(load(device.free, channel), now)
    there = spend(begun, latency_s=device.latency_s, seek_s=seeks * device.seek_s)
    crossed = spend(later(load(device.link, 0), there), transfer_s=size_bytes * device.link_byte_s)
    due = later(spend(there, transfer_s=size_bytes * device.byte_s), crossed)
    put(device.link, 0, crossed)
    occupy(device.order, device.free, due)
    return due, seeks


@compiled
def _book_striped(device: DeviceState, now: Moment, offset: int, size_bytes: int) -> tuple[Moment, int]:
    """Serve each drive's share of the read on that drive; the read is ready with the slowest.

    Stripes lie on the drives in turns (RAID 0; Patterson, Gibson, Katz, 1988). Consecutive stripes of one drive lie
    side by side on it, so a long read is one piece a drive. Each drive has its equal share of the link.
    """
    stripe, drives = device.stripe_bytes, len(device.free)
    touched = min(drives, (offset + size_bytes - 1) // stripe - offset // stripe + 1)
    due, seeks = now, 0
    for step in range(touched):
        drive = (offset // stripe + step) % drives
        start = on_drive(offset, drive, stripe, drives)
        length = on_drive(offset + size_bytes, drive, stripe, drives) - start
        moves = _seeks(device.heads, drive, start, length, device.fragment_bytes // drives)
        done = spend(
            later(load(device.free, drive), now),
            latency_s=device.latency_s,
            seek_s=moves * device.seek_s,
            transfer_s=length * device.byte_s,
        )
        put(device.free, drive, done)
        due, seeks = later(due, done), seeks + moves
    return due, seeks


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
    due, seeks = book(device, Moment(now_s, 0.0, 0.0, 0.0, 0.0, 0.0), offset, size_bytes)
    return due.time_s, seeks
