"""How often an LRU cache has what is asked for, what an access takes over several tiers, what memory is worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from readahead.devices import Device

Array = NDArray[np.float64]


# -- what an LRU cache finds -----------------------------------------------------------------------------
def popularity(items: int, skew: float) -> Array:
    r"""Return the chance that an access asks for each of some items, the most popular one first.

    .. math:: p_k = \frac{k^{-s}}{\sum_{i=1}^{n} i^{-s}}

    where n (`items`) is their number and s (`skew`) is 0 for uniform access and 1 for Zipf's own law.

    Source: G. Zipf, 1949; for requests to caches L. Breslau and others, 1999.
    """
    weights = np.arange(1, items + 1, dtype=float) ** -skew
    return np.asarray(weights / weights.sum())


def characteristic_time(chances: Array, capacity: float) -> float:
    r"""Return after how many accesses an LRU cache drops an item that nobody asks for; infinite where all items fit.

    .. math:: \sum_i (1 - e^{-p_i T}) = C

    where p (`chances`) are the chances of the items and C (`capacity`) is how many of them fit. T is found by halving,
    on a log scale.

    Source: H. Che, Y. Tung, Z. Wang, 2002.
    """
    if capacity >= len(chances):
        return math.inf
    low, high = 1e-9, 1e26
    for _ in range(60):
        middle = math.sqrt(low * high)
        kept = -np.expm1(-chances * middle).sum()
        low, high = (low, middle) if kept > capacity else (middle, high)
    return high


def che_hit_ratio(items: int, skew: float, capacity: float) -> float:
    r"""Return the share of independent accesses that an LRU cache answers in the long run.

    .. math:: \sum_i p_i \, (1 - e^{-p_i T})

    where p are the chances of n (`items`) items with a `skew`, and T is the characteristic time of a cache with room
    for `capacity` of them.

    Source: H. Che, Y. Tung, Z. Wang, 2002; why it is so close: C. Fricker, P. Robert, J. Roberts, 2012.
    """
    chances = popularity(items, skew)
    return float((chances * -np.expm1(-chances * characteristic_time(chances, capacity))).sum())


def cyclic_hit_ratio(capacity: float, taken: float = 0.0, held: float = 0.0) -> float:
    r"""Return the hit ratio of scanning a table again and again: all or nothing.

    .. math:: 0 \; (C < 1 + h), \qquad C - t \; (C \ge 1 + h), \; \text{at most } 1

    where C (`capacity`) is the room of an LRU cache as a share of the table, and t (`taken`) what the engine takes of
    it while it scans: DuckDB 2.0 drops what the scan has passed, and gives the memory back before the next scan. What
    comes back from a spill folder needs room of its own, h (`held`), for the blocks that are fetched ahead: without it
    each one drives out the next that is needed.

    Source: R. Mattson, J. Gecsei, D. Slutz, I. Traiger, 1970.
    """
    return min(1.0, max(0.0, capacity - taken)) if capacity >= 1 + held else 0.0


def lru(asked: Sequence[Any], room: int) -> list[tuple[Any, bool, list[Any]]]:
    """Return, access by access: what was asked for, whether the cache had it, and what it holds then.

    A cache with `room` for so many items, from the one used last to the one that is dropped next.
    """
    holds: list[Any] = []
    seen = []
    for item in asked:
        hit = item in holds
        holds = [item, *(other for other in holds if other != item)][:room]
        seen.append((item, hit, holds))
    return seen


def replayed(asked: Sequence[int], room: float, run: int = 1) -> float:
    r"""Return the share of accesses that an LRU cache answers when the same accesses come for the so-many-th time.

    .. math:: \frac{1}{k} \left|\{\, i : d_i \le C \,\}\right|

    where k accesses (`asked`) come again and again, and d is how many different items were asked for since the last
    time an item was, itself included: one that is no more than the room C (`room`) is still there. The same holds in
    each run but the first, so what the cache has learned after one run it has learned for good.

    Source: the stack distance of R. Mattson, J. Gecsei, D. Slutz, I. Traiger, 1970.
    """
    steps = lru([*asked] * min(run, 2), int(room))[-len(asked) :]
    return sum(hit for _, hit, _ in steps) / len(asked)


def reuse_bytes(asked: Sequence[int], sizes: Sequence[int], before: Sequence[int] = ()) -> Array:
    """Return, for each access, the bytes of all different items used since the last one to its item, its own included.

    An LRU cache with at least so much room has it: one pass gives the hits at every size. `before` was asked for
    earlier; infinite for a first time.
    """
    stack: list[int] = []  # the item used last comes first
    found: list[float] = []
    for item in [*before, *asked]:
        depth = stack.index(item) + 1 if item in stack else 0
        found.append(sum(sizes[above] for above in stack[:depth]) if depth else math.inf)
        stack = [item, *(other for other in stack if other != item)]
    return np.array(found[len(before) :], float)


# -- what the tiers take ---------------------------------------------------------------------------------
def average_access_s(shares: Sequence[float], times_s: Sequence[float]) -> float:
    r"""Return the average access time over tiers.

    .. math:: \sum_i h_i t_i

    where h (`shares`) is the share of the accesses that each tier answers and t (`times_s`) the time that it takes.
    """
    return float(np.dot(shares, times_s))


def gain(
    before: Sequence[float], after: Sequence[float], times_s: Sequence[float], own_s: float = 0.0
) -> float:
    r"""Return how many times as fast accesses are when other tiers answer them.

    .. math:: \frac{c + \sum_i h_i t_i}{c + \sum_i h'_i t_i}

    where h (`before`) and h' (`after`) are the shares of the accesses that each tier answers, t (`times_s`) is what a
    tier takes for one, and c (`own_s`) what the engine takes for it whatever answers.

    Source: G. Amdahl, 1967, with the accesses of the upper tier as the part that is sped up.
    """
    return (own_s + average_access_s(before, times_s)) / (own_s + average_access_s(after, times_s))


def scan_gain(before: float, after: float, *, in_flight: float, latency_s: float, own_s: float) -> float:
    r"""Return how many times as fast a scan is with fewer reads, if all that they cost is waiting.

    .. math:: \frac{c + n L / q}{c + n' L / q}

    where n (`before`) and n' (`after`) are the reads, q (`in_flight`) of them under way at a time, each of which waits
    for L (`latency_s`); c (`own_s`) is what the engine takes to decode.
    """
    waits_s = latency_s / in_flight
    return (own_s + before * waits_s) / (own_s + after * waits_s)


def fetch_s(device: Device, size_bytes: float, block_bytes: float, slots: int) -> tuple[float, float]:
    """Return the (waiting, transferring) seconds of fetching an item in blocks, `slots` of them under way at once.

    Every round of requests waits for the latency; the bytes cross one link.

    Source: the cost of a page in J. Gray, G. Graefe, 1997.
    """
    blocks = max(1, math.ceil(size_bytes / block_bytes))
    beside = min(blocks, slots, device.channels)
    rate = min(device.bandwidth_bytes_per_s, beside * device.channel_bandwidth_bytes_per_s)
    return math.ceil(blocks / beside) * (device.latency_s + device.seek_s), size_bytes / rate


# -- what a cache is worth -------------------------------------------------------------------------------
def break_even_s(
    page_bytes: float, *, drive_price: float, reads_per_s: float, memory_price_per_byte: float
) -> float:
    r"""Return how rarely a page may be read before memory for it costs more than the drive that reads it again.

    .. math:: \frac{D}{r \, P \, m}

    where D (`drive_price`) is the price of a drive that does r (`reads_per_s`) reads of such pages a second, fewer the
    longer they are; P (`page_bytes`) is the page, and m (`memory_price_per_byte`) the price of memory.

    Source: the five-minute rule of J. Gray and F. Putzolu, 1987; for long pages J. Gray and G. Graefe, 1997.
    """
    return drive_price / (reads_per_s * page_bytes * memory_price_per_byte)
