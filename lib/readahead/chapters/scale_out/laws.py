"""The laws of one query on several nodes: contention, caches that add up, failover, and the two ways to join."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from readahead.errors import BadValue
from readahead.measure.scalability import capacity as capacity  # noqa: PLC0414 (a law of this chapter and of another)


def contention(speedup: float, nodes: float) -> float:
    r"""Return the contention at which so many nodes are so many times as fast, if there is no crosstalk.

    .. math:: \frac{N / C - 1}{N - 1}

    where N (`nodes`) are C (`speedup`) times as fast as one. Below 0 each node brings something that was short. One
    number from one number: it always fits.

    Source: G. Amdahl, 1967, solved for his serial share; N. J. Gunther, P. Puglia and K. Tomasette, 2015, below 0.
    """
    return (nodes / speedup - 1) / (nodes - 1)


def cached_s(
    nodes: float,
    *,
    data_bytes: float,
    cache_bytes: float,
    cache_bytes_per_s: float,
    device_bytes_per_s: float,
) -> float:
    r"""Return the seconds of a repeated query when every node brings a cache.

    .. math:: \frac{D}{N} \left(\frac{h}{R_c} + \frac{1 - h}{R_d}\right), \quad h = \min(1, N M / D)

    where each of N (`nodes`) has a cache of M (`cache_bytes`), so that all hold a share h of D (`data_bytes`); a cache
    is read at R_c (`cache_bytes_per_s`), a device at R_d (`device_bytes_per_s`). Where the first cache was too small,
    the second node does more than half of the work away.
    """
    hit = min(1.0, nodes * cache_bytes / data_bytes)
    return data_bytes / nodes * (hit / cache_bytes_per_s + (1 - hit) / device_bytes_per_s)


def failover_s(node_s: Sequence[float], *, after_s: float, notice_s: float) -> float:
    r"""Return the seconds of a query whose last node dies: the first does that part too, from the beginning.

    .. math:: \max(t_1, \ldots, t_{N-1}, \max(t_1, a + d) + t_N)

    where t_1 … t_N (`node_s`) are the seconds of each node's part, the last one dies at a (`after_s`), and d
    (`notice_s`) passes until it is noticed. The first node answers one query at a time, so it ends its own part before.
    All may be told in parts of an undisturbed query instead of seconds.
    """
    begins_s = max(node_s[0], after_s + notice_s)
    return max(*node_s[:-1], begins_s + node_s[-1])


def pushed_s(small_bytes: float, nodes: float, *, link_bytes_per_s: float) -> float:
    r"""Return the seconds on the coordinator's link of a small side that is sent whole to each node.

    .. math:: N S / B

    where S (`small_bytes`) goes to N (`nodes`) over a link of B (`link_bytes_per_s`).
    """
    return nodes * small_bytes / link_bytes_per_s


def shuffled_s(small_bytes: float, large_bytes: float, nodes: float, *, link_bytes_per_s: float) -> float:
    r"""Return the seconds on the links when both sides of a join are dealt out by their key.

    .. math:: \frac{S + L (N - 1) / N^2}{B}

    where S (`small_bytes`) crosses the coordinator's link once; each of N (`nodes`) has one part in N of L
    (`large_bytes`) and keeps one part in N of that; all links, of B (`link_bytes_per_s`), work at the same time.
    """
    return (small_bytes + large_bytes * (nodes - 1) / nodes**2) / link_bytes_per_s


def push_gain(small_bytes: float, large_bytes: float, nodes: float) -> float:
    r"""Return how many times as many bytes cross the busiest link if the small side is sent whole and not dealt out.

    .. math:: \frac{N S}{S + L (N - 1) / N^2}

    where S (`small_bytes`) and L (`large_bytes`) are the sides of the join and N (`nodes`) the nodes.
    """
    return pushed_s(small_bytes, nodes, link_bytes_per_s=1) / shuffled_s(
        small_bytes, large_bytes, nodes, link_bytes_per_s=1
    )


def push_limit_bytes(large_bytes: float, nodes: float) -> float:
    r"""Return the size of a small side up to which sending it to all nodes is the cheaper way.

    .. math:: L / N^2

    where L (`large_bytes`) lies on N (`nodes`): N S = S + L (N - 1) / N^2 has this one solution for S. It is by bytes
    alone, not counting memory.
    """
    return large_bytes / nodes**2


def node_gain(before: float, after: float, *, wait_s: float, once_s: float) -> float:
    r"""Return how many times as fast a query is whose slowest node waits less often in a row.

    .. math:: \frac{c + n w}{c + n' w}

    where n (`before`) and n' (`after`) are how often the slowest node waits, one wait after the other, w (`wait_s`) is
    one wait, and c (`once_s`) what is no waiting for the device, such as the way to the coordinator and back.

    Source: G. Amdahl, 1967, with c as the serial part.
    """
    return (once_s + before * wait_s) / (once_s + after * wait_s)


def product_s(facts: Sequence[Sequence[bool]], seconds: Sequence[float], asked: Sequence[bool]) -> float:
    r"""Return a time as a product of factors, which is fitted to other times by least squares.

    .. math:: \log t = \log t_0 + \sum_i x_i \log f_i

    where each x_i says whether a fact holds: of times t (`seconds`) in the rows of `facts`, of the time to return in
    `asked`. What makes a query slower makes it so by the same factor f_i everywhere. Raises `BadValue` if there are
    more factors than times, or two that always come together.
    """
    x = np.column_stack([np.ones(len(facts)), np.asarray(facts, float)])
    if np.linalg.matrix_rank(x) < x.shape[1]:
        raise BadValue(
            f"{len(seconds)} times cannot tell {x.shape[1]} factors apart: some always come together."
            " Give more times, or fewer factors."
        )
    found, *_ = np.linalg.lstsq(x, np.log(np.asarray(seconds, float)), rcond=None)
    return float(np.exp(found[0] + np.dot(found[1:], np.asarray(asked, float))))
