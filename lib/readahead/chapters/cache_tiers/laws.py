"""How often a cache has what is asked for, what an access takes on average over several tiers, and how long a page is
worth its memory. The cache drops what was used least recently (LRU).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from readahead.devices import Device

Array = NDArray[np.float64]


# -- what an LRU cache finds -----------------------------------------------------------------------------
def popularity(items: int, skew: float) -> Array:
    """Return the chance that an access asks for each of `items`: 1/k^skew for the k-th, divided by their sum.

    A skew of 0 is uniform access; 1 is Zipf's own law (Zipf 1949; Breslau et al. 1999).
    """
    weights = np.arange(1, items + 1, dtype=float) ** -skew
    return np.asarray(weights / weights.sum())


def characteristic_time(chances: Array, capacity: float) -> float:
    """Return after how many accesses an untouched item is dropped: T with sum(1 - exp(-p T)) = C (Che et al. 2002).

    p are the `chances`, C is the `capacity` in items; T is infinite where all fit. T is found by halving, on a log
    scale.
    """
    if capacity >= len(chances):
        return math.inf
    low, high = 1e-9, 1e26
    for _ in range(60):
        middle = math.sqrt(low * high)
        kept = -np.expm1(-chances * middle).sum()
        low, high = (low, middle) if kept > capacity else (middle, high)
    return high


def che_hit_ratio(chances: Array, capacity: float) -> float:
    """Return the share of independent accesses that an LRU cache of `capacity` items answers: sum(p (1 - exp(-p T))).

    T is Che's `characteristic_time` (2002); why it is so close: Fricker, Robert, Roberts (2012).
    """
    kept = -np.expm1(-chances * characteristic_time(chances, capacity))
    return float((chances * kept).sum())


def cyclic_hit_ratio(capacity: float, taken: float = 0.0) -> float:
    """Return the hit ratio of scanning a table again and again, with LRU room for `capacity` of it (a share).

    All or nothing: what is needed next is always what was used longest ago (Mattson et al. 1970). What the engine
    takes from the cache while it scans (`taken`, a share of the table) is lost too, but only that: it drops what the
    scan has passed, and gives the memory back before the next scan reads it again. Seen in DuckDB 2.0.
    """
    return min(1.0, max(0.0, capacity - taken)) if capacity >= 1 else 0.0


def reuse_bytes(asked: Sequence[int], sizes: Sequence[int], before: Sequence[int] = ()) -> Array:
    """Return, for each access, the bytes of all different items since it was last asked for, its own included.

    An LRU cache with at least so much room has it: one pass tells the hits at every size (stack distance, Mattson,
    Gecsei, Slutz, Traiger 1970). `before` was asked for earlier; infinite for a first time.
    """
    stack: list[int] = []  # the item used last comes first
    found = []
    for item in [*before, *asked]:
        depth = stack.index(item) + 1 if item in stack else 0
        found.append(sum(sizes[above] for above in stack[:depth]) if depth else math.inf)
        stack = [item, *stack[: max(0, depth - 1)], *stack[depth:]]
    return np.array(found[len(before) :], float)


def hit_ratio(reuse: Array, wanted: Array, capacity_bytes: float) -> float:
    """Return the share of the `wanted` bytes that an LRU cache of `capacity_bytes` has, from `reuse_bytes`."""
    return float(wanted[reuse <= capacity_bytes].sum() / wanted.sum())


# -- what the tiers take ---------------------------------------------------------------------------------
def average_access_s(shares: Sequence[float], times_s: Sequence[float]) -> float:
    """Return the average access time over tiers: sum of share x time, the miss-weighted mean of every textbook."""
    return float(np.dot(shares, times_s))


def speed_up(hits: float, fast_s: float, slow_s: float) -> float:
    """Return how many times faster a share of hits makes it than none: slow / (h fast + (1 - h) slow).

    Amdahl's law (1967) with the hits as the part that is sped up.
    """
    return slow_s / average_access_s((hits, 1 - hits), (fast_s, slow_s))


def fetch_s(device: Device, size_bytes: float, block_bytes: float, slots: int) -> tuple[float, float]:
    """Return the (waiting, transferring) seconds of fetching an item in blocks, `slots` of them under way at once.

    Every round of requests waits for the latency; the bytes cross one link (Gray & Graefe 1997, a page's cost).
    """
    blocks = max(1, math.ceil(size_bytes / block_bytes))
    beside = min(blocks, slots, device.channels)
    rate = min(device.bandwidth_bytes_per_s, beside * device.channel_bandwidth_bytes_per_s)
    return math.ceil(blocks / beside) * (device.latency_s + device.seek_s), size_bytes / rate


# -- what a cache is worth -------------------------------------------------------------------------------
def break_even_s(
    page_bytes: float,
    *,
    drive_price: float,
    reads_per_s: float,
    bytes_per_s: float,
    memory_price_per_byte: float,
) -> float:
    """Return how rarely a page may be read before memory for it costs more than the drive that reads it again.

    (drive price / pages a second) / (memory price of a page): the five-minute rule (Gray & Putzolu 1987), with a read
    that takes its share of arms and of bandwidth (Gray & Graefe 1997). Prices in one currency.
    """
    busy_s = 1.0 / reads_per_s + page_bytes / bytes_per_s
    return drive_price * busy_s / (page_bytes * memory_price_per_byte)
