"""A second cook in the kitchen. Twice the hands, one order slip, one plate to fill; and, what is forgotten, a second
refrigerator.

What n nodes do to a query: caches that add up, a part that somebody else must do, a join's small side sent to all or
both sides dealt out; and MariaDB's ten printed times as one product. The law of scaling itself is in `scalability`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.errors import BadValue

Array = NDArray[np.float64]


# -- more than hands ---------------------------------------------------------------------------------
def contention(speedup: float, nodes: float) -> float:
    """Return the contention at which `nodes` are `speedup` times as fast: (N / C − 1) / (N − 1), without crosstalk.

    Amdahl's serial share (1967) as `scalability.capacity` has it. Below 0 each node brings something that was short
    (Gunther, Puglia & Tomasette, 2015). One number from one number: it always fits.
    """
    return (nodes / speedup - 1) / (nodes - 1)


def cached_s(
    nodes: ArrayLike,
    *,
    data_bytes: float,
    cache_bytes: float,
    cache_bytes_per_s: float,
    device_bytes_per_s: float,
) -> Array:
    """Return the seconds of a repeated query when every node brings a cache: D/N · (h/Rc + (1 − h)/Rd).

    h = min(1, N·M/D) is the share of D bytes that N caches of M bytes hold. Where the first cache was too small, the
    second does more than half of the work away.
    """
    n = np.asarray(nodes, float)
    hit = np.minimum(1.0, n * cache_bytes / data_bytes)
    return np.asarray(data_bytes / n * (hit / cache_bytes_per_s + (1 - hit) / device_bytes_per_s))


# -- a query on nodes --------------------------------------------------------------------------------
def failover_s(node_s: Sequence[float], coordination_s: float, *, after_s: float, notice_s: float) -> float:
    """Return the seconds of a query whose last node dies: its neighbour does that part too, from the beginning.

    The neighbour is the first node; it answers one question at a time, so it ends its own part first.
    """
    own_s, lost_s = node_s[0], node_s[-1]
    begins_s = max(own_s, after_s + notice_s)
    return max(*node_s[:-1], begins_s + lost_s) + coordination_s


def pushed_s(small_bytes: ArrayLike, nodes: float, *, link_bytes_per_s: float) -> Array:
    """Return the seconds on the user module's link of a small side sent whole to each node: N·S / B."""
    return np.asarray(nodes * np.asarray(small_bytes, float) / link_bytes_per_s)


def shuffled_s(small_bytes: ArrayLike, large_bytes: float, nodes: float, *, link_bytes_per_s: float) -> Array:
    """Return the seconds on the links of both sides dealt out: S / B, and between nodes L(N − 1) / (N²B).

    Each node has L/N of the large side and keeps a share of 1/N of it; all links work at the same time.
    """
    between = large_bytes * (nodes - 1) / nodes**2
    return np.asarray((np.asarray(small_bytes, float) + between) / link_bytes_per_s)


def push_limit_bytes(large_bytes: float, nodes: float) -> float:
    """Return the size of a small side up to which sending it to all is the cheaper way: L / N².

    N·S = S + L(N − 1)/N² has this one solution for N > 1; by bytes alone, not counting memory.
    """
    return large_bytes / nodes**2


# -- what was printed --------------------------------------------------------------------------------
FACTORS = ("sorted", "redundant", "two nodes, cold", "two nodes, warm", "cold", "unsorted cold on two nodes")


def log_linear(facts: Sequence[Sequence[bool]], seconds: Sequence[float]) -> Array:
    """Return the factors of a product fitted to times: base first, then one for each column of `facts`.

    log t = log t₀ + Σ xᵢ log fᵢ by least squares: what makes a query slower makes it so by the same factor
    everywhere. Raises `BadValue` if there are more factors than times, or two that always come together.
    """
    x = np.column_stack([np.ones(len(seconds)), np.asarray(facts, float)])
    if np.linalg.matrix_rank(x) < x.shape[1]:
        raise BadValue(
            f"{len(seconds)} times cannot tell {x.shape[1]} factors apart: some always come together."
            " Give more times, or fewer factors."
        )
    found, *_ = np.linalg.lstsq(x, np.log(np.asarray(seconds, float)), rcond=None)
    return np.asarray(np.exp(found))


def product_s(factors: ArrayLike, facts: Sequence[Sequence[bool]]) -> Array:
    """Return the times that the factors of `log_linear` foretell."""
    logs = np.log(np.asarray(factors, float))
    return np.asarray(np.exp(logs[0] + np.asarray(facts, float) @ logs[1:]))
