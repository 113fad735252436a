"""A desk, a shelf, and a cellar. What you used last lies on the desk; when it is full, the paper untouched for longest
goes to the shelf; what is on neither is fetched from the cellar, and most of the day is spent on those stairs.

How often the desk has the paper (its hit ratio), what a look-up takes on average over the tiers, and for how long a
paper should lie on the desk at all. The desk keeps to one rule: what was used least recently goes first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.devices import Device

Array = NDArray[np.float64]
SPILL_LEAST_BYTES = 256 * 1024
"""DuckDB 2.0 spills no cache block shorter than a block of its own: shorter ones are dropped (pull request 24062)."""


# -- who is asked for ------------------------------------------------------------------------------------
def popularity(items: int, skew: float) -> Array:
    """Return the chance that an access asks for each of `items`: 1/k^skew, normed (Zipf 1949; Breslau et al. 1999).

    A skew of 0 is uniform access; 1 is Zipf's own law.
    """
    weights = np.arange(1, items + 1, dtype=float) ** -skew
    return np.asarray(weights / weights.sum())


def accesses(items: int, count: int, skew: float, seed: int = 1) -> list[int]:
    """Return `count` independent accesses to `items`, whose popular ones lie scattered over the table."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(items)
    return [int(item) for item in places[rng.choice(items, count, p=popularity(items, skew))]]


# -- what an LRU cache finds -----------------------------------------------------------------------------
def characteristic_time(chances: Array, capacity: ArrayLike) -> Array:
    """Return after how many accesses an untouched item is dropped: T with sum(1 - exp(-p T)) = C (Che et al. 2002).

    `capacity` is in items; T is infinite where all fit. Bisection on a log scale, for all capacities at once.
    """
    room = np.atleast_1d(np.asarray(capacity, float))
    low, high = np.full(room.shape, -20.0), np.full(room.shape, 60.0)
    for _ in range(60):
        middle = (low + high) / 2
        full = -np.expm1(-np.outer(np.exp(middle), chances)).sum(axis=1) > room
        high, low = np.where(full, middle, high), np.where(full, low, middle)
    return np.where(room >= len(chances), np.inf, np.exp(high))


def che_hit_ratio(chances: Array, capacity: ArrayLike) -> Array:
    """Return the share of independent accesses that an LRU cache of `capacity` items answers.

    Sum of p (1 - exp(-p T)) with Che's T (2002); why it is so close: Fricker, Robert, Roberts (2012).
    """
    age = np.outer(np.minimum(characteristic_time(chances, capacity), 1e300), chances)
    return np.asarray((chances * -np.expm1(-age)).sum(axis=1))


def cyclic_hit_ratio(capacity: ArrayLike, taken: float = 0.0) -> Array:
    """Return the hit ratio of scanning a table again and again, with LRU room for `capacity` of it (a share).

    All or nothing: what is needed next is always what was used longest ago (Mattson et al. 1970). What the engine
    takes from the cache while it scans (`taken`, a share of the table) is lost too, but only that: it drops what the
    scan has passed, and gives the memory back before the next scan reads it again. Seen in DuckDB 2.0.
    """
    room = np.asarray(capacity, float)
    return np.where(room >= 1.0, np.clip(room - taken, 0.0, 1.0), 0.0)


def reuse_bytes(asked: Sequence[int], sizes: Sequence[int], before: Sequence[int] = ()) -> Array:
    """Return, for each access, the bytes of all different items since it was last asked for, its own included.

    An LRU cache with at least so much room has it: one pass tells the hits at every size (stack distance, Mattson,
    Gecsei, Slutz, Traiger 1970). `before` was asked for earlier; infinite for a first time.
    """
    stack: list[int] = []
    found = np.empty(len(asked))
    for number, item in enumerate([*before, *asked], start=-len(before)):
        try:
            place = stack.index(item)
        except ValueError:
            place = -1
        if number >= 0:
            found[number] = sum(sizes[above] for above in stack[: place + 1]) if place >= 0 else math.inf
        if place >= 0:
            stack.pop(place)
        stack.insert(0, item)
    return found


def hit_ratio(reuse: Array, wanted: Array, room_bytes: ArrayLike) -> Array:
    """Return the share of the `wanted` bytes that an LRU cache of each of `room_bytes` has, from `reuse_bytes`."""
    order = np.argsort(reuse, kind="stable")
    found = np.concatenate([[0.0], np.cumsum(wanted[order])])
    return np.asarray(found[np.searchsorted(reuse[order], room_bytes, side="right")] / found[-1])


# -- what the tiers take ---------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCosts:
    """What DuckDB itself takes for a query of one row group, in seconds; calibrated by `calibrate_cache`."""

    query_s: float = 1.8e-3
    """Parsing, planning and answering, with all of it in memory."""
    row_s: float = 80e-9
    """Decoding a row of the wanted columns."""
    read_s: float = 800e-6
    """What a read from the device adds to the device's own time: threads sleep and are woken."""
    read_byte_s: float = 0.5e-9
    """The same, for each byte: it is copied twice on its way in."""
    evict_s: float = 300e-6
    """Making room for an item by dropping others."""
    evict_byte_s: float = 1e-9
    """The same, for each byte."""
    spill_s: float = 700e-6
    """Fetching an item from the spill file, and making room for it by writing others."""
    spill_byte_s: float = 2e-9
    """The same, for each byte."""
    write_s: float = 700e-6
    """Making room for an item from the device by writing others to the spill file."""
    write_byte_s: float = 2e-9
    """The same, for each byte."""
    copy_byte_s: float = 3e-9
    """What a scan takes more for each byte that it puts into the cache: one read after the other, as on a link."""
    recall_byte_s: float = 3e-9
    """What a scan takes for each byte that comes back from the spill file."""


def mean_s(shares: Sequence[float], times_s: Sequence[float]) -> float:
    """Return the average access time over tiers: sum of share x time, the miss-weighted mean of every textbook."""
    return float(np.dot(shares, times_s))


def speed_up(hits: ArrayLike, fast_s: float, slow_s: float) -> Array:
    """Return how many times faster a share of hits makes it than none: slow / (h fast + (1 - h) slow).

    Amdahl's law (1967) with the hits as the part that is sped up.
    """
    share = np.asarray(hits, float)
    return np.asarray(slow_s / (share * fast_s + (1 - share) * slow_s))


def fetch_s(device: Device, size_bytes: float, block_bytes: float, slots: int) -> tuple[float, float]:
    """Return the (waiting, transferring) seconds of fetching an item in blocks, `slots` of them under way at once.

    Every round of requests waits for the latency; the bytes cross one link (Gray & Graefe 1997, a page's cost).
    """
    blocks = max(1, math.ceil(size_bytes / block_bytes))
    rounds = math.ceil(blocks / max(1, min(slots, device.channels)))
    beside = min(blocks, slots, device.channels)
    rate = min(device.bandwidth_bytes_per_s, beside * device.channel_bandwidth_bytes_per_s)
    return rounds * (device.latency_s + device.seek_s), size_bytes / rate


# -- what a cache is worth -------------------------------------------------------------------------------
def break_even_s(
    page_bytes: ArrayLike,
    *,
    drive_price: float,
    reads_per_s: float,
    bytes_per_s: float,
    memory_price_per_byte: float,
) -> Array:
    """Return how rarely a page may be read before memory for it costs more than the drive that reads it again.

    (drive price / pages a second) / (memory price of a page): the five-minute rule (Gray & Putzolu 1987), with a read
    that takes its share of arms and of bandwidth (Gray & Graefe 1997). Prices in one currency.
    """
    page = np.asarray(page_bytes, float)
    busy_s = 1.0 / reads_per_s + page / bytes_per_s
    return np.asarray(drive_price * busy_s / (page * memory_price_per_byte))


def tier_ratio(cold_s: float, warm_s: float) -> float:
    """Return how many times slower the lower tier is, from the same query cold (no hits) and warm (all hits)."""
    return cold_s / warm_s
