"""How many row groups a filter leaves to be read, from the smallest and largest value that a file keeps of each.

These pairs are called zone maps, small materialized aggregates (G. Moerkotte, 1998) or, where they rule out whole
partitions, partition elimination. Which reads never happen is decided when the rows are loaded: in the order of the
filter few row groups hold what is asked for, in random order nearly all.

All shares are of the rows of the table, from 0 to 1; every argument may be an array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def groups_read(groups: ArrayLike, selectivity: ArrayLike, disorder: ArrayLike = 0.0) -> np.ndarray:
    r"""Return the row groups that a range of the sort column touches.

    .. math:: \min(m, \; m \, (s + w) + 1)

    where m (`groups`) are the row groups, s (`selectivity`) is the share of rows in the range, and w (`disorder`)
    is how far rows lie from their place at most, from one end to the other, as a share of the table. A range that
    begins anywhere touches one more than it fills; an empty one touches nothing.

    Source: G. Moerkotte, Small Materialized Aggregates, 1998.
    """
    m, s, w = (np.asarray(x, float) for x in (groups, selectivity, disorder))
    return np.where(s > 0, np.minimum(m, m * (s + w) + 1), 0.0)


def place(share: ArrayLike, disorder: ArrayLike) -> np.ndarray:
    """Return where in the table, from 0 to 1, lies what is due at `share` (from 0 to 1 + w) when rows are up to w late.

    A row of rank r is put where r + wU would be, U even from 0 to 1; the sum of two even numbers has a trapezium for
    its density, and this is its distribution function. In the middle it is share − w/2; at the ends rows crowd.
    """
    w = np.maximum(np.asarray(disorder, float), 1e-12)
    v = np.clip(np.asarray(share, float), 0, 1 + w)
    area = (v**2 - np.maximum(v - 1, 0) ** 2 - np.maximum(v - w, 0) ** 2 + np.maximum(v - 1 - w, 0) ** 2) / (
        2 * w
    )
    return np.asarray(np.clip(area, 0, 1))


def groups_between(
    groups: ArrayLike, first: ArrayLike, last: ArrayLike, disorder: ArrayLike = 0.0
) -> np.ndarray:
    """Return the row groups touched by the ranks from `first` to `last`: m(s + w) + 1, with its edges worked out.

    Rows of rank `last` come up to w later, and what is due before 0 or after 1 has crowded into the ends, so that a
    range near an end, or a great disorder, touches less than the plain formula says.
    """
    m, a, b = (np.asarray(x, float) for x in (groups, first, last))
    late = place(b + np.asarray(disorder, float), disorder)
    spread = late - place(a, disorder)
    return np.where(b > a, np.minimum(np.ceil(m), m * spread + 1), 0.0)


def share_read(groups: float, first: float, last: float, disorder: float = 0.0) -> float:
    r"""Return the share of the row groups that is read for a range of the sort column.

    .. math:: \frac{\min\left(\lceil m \rceil, \; m \, (F(b + w) - F(a)) + 1\right)}{\lceil m \rceil}

    where m (`groups`) are the row groups, the wanted rows lie from a (`first`) to b (`last`) as shares of the table
    in its order, and w (`disorder`) is how late a row may come. F (`place`) is where a row lies that comes late;
    without disorder, where it belongs, so that F(b) - F(a) is the share that is asked for.

    Source: G. Moerkotte, Small Materialized Aggregates, 1998.
    """
    return float(groups_between(groups, first, last, disorder)) / math.ceil(groups)


def share_holding(selectivity: float, rows: float) -> float:
    r"""Return the share of row groups that hold a wanted row where rows lie in random order: so many at least are read.

    .. math:: 1 - (1 - s)^n

    where s (`selectivity`) is the share of rows that is wanted and n (`rows`) are the rows of a row group.
    """
    return 1.0 - float(missed_by_all(selectivity, rows))


def missed_by_all(selectivity: ArrayLike, rows: ArrayLike) -> np.ndarray:
    r"""Return the chance that a row group in random order holds no row that is wanted.

    .. math:: (1 - s)^n

    where s (`selectivity`) is the share of rows that is wanted and n (`rows`) are the rows of a row group.
    """
    s, n = np.asarray(selectivity, float), np.asarray(rows, float)
    return np.asarray((1 - s) ** n)


def label_rules_out(below: ArrayLike, above: ArrayLike, rows: ArrayLike) -> np.ndarray:
    r"""Return the chance that its zone map rules such a group out: every row lies below the range, or every row above.

    .. math:: b^n + a^n

    where b (`below`) and a (`above`) are the shares of the table's rows on either side of the range, and n (`rows`) are
    the rows of a row group. A zone map knows the ends and not the holes between them.
    """
    b, a, n = (np.asarray(x, float) for x in (below, above, rows))
    return np.asarray(b**n + a**n)


def gaining(shares: Sequence[float]) -> int:
    r"""Return how many of a set of queries read less in an order than without one.

    .. math:: \sum_i [s_i < 1]

    where s (`shares`) is the share of the rows that each query still has to look at.
    """
    return sum(share < 1 for share in shares)


def time_left_s(total_s: float, shares: Sequence[float]) -> float:
    r"""Return the seconds that a set of queries takes when each reads only its share of the rows.

    .. math:: T \, \frac{1}{q} \sum_{i=1}^{q} s_i

    where T (`total_s`) is the time of all q queries before, each as long as the others, and s (`shares`) is the
    share of rows in the years that each asks for.
    """
    return total_s * float(np.mean(shares))


def finer_order(finer: Sequence[float], coarser: Sequence[float]) -> float:
    r"""Return the time of a set of queries in a finer order, as a share of that in a coarser one.

    .. math:: \sum_i f_i \; / \; \sum_i c_i

    where f (`finer`) and c (`coarser`) are the shares of the rows that each query reads in either order, and all
    queries take as long as one another where they read everything.
    """
    return float(np.sum(finer) / np.sum(coarser))


def bytes_ratio(
    footer_bytes: float, data_bytes: float, other_footer_bytes: float, other_data_bytes: float
) -> float:
    r"""Return how many times the bytes are read of one file as of another: a footer, and what it does not rule out.

    .. math:: \frac{F + d}{F' + d'}

    where F (`footer_bytes`, `other_footer_bytes`) grows with the row groups of a file, and d (`data_bytes`,
    `other_data_bytes`) are the wanted columns of the row groups that are left.
    """
    return (footer_bytes + data_bytes) / (other_footer_bytes + other_data_bytes)


def asked_first(row_groups: int, latency_s: float, scan_s: float) -> float:
    r"""Return how many times as long a scan takes when a read is waited for before each row group.

    .. math:: \frac{\max(T, \; m L)}{T}

    where m (`row_groups`) are asked about one after the other, each answer takes L (`latency_s`) in which the reads of
    those before go on, and T (`scan_s`) is the time of the scan without asking: the slower of the two is waited for.

    Source: P. J. Denning and J. P. Buzen, The operational analysis of queueing network models, 1978.
    """
    return max(scan_s, row_groups * latency_s) / scan_s


def pays_after(sort_s: float, slow_s: float, fast_s: float) -> float:
    r"""Return after how many queries an order has earned what it cost to make; infinite if it saves nothing.

    .. math:: \frac{P}{t_1 - t_2}

    where P (`sort_s`) is the price of sorting once, and a query takes t₁ (`slow_s`) before and t₂ (`fast_s`) after.
    """
    return sort_s / (slow_s - fast_s) if slow_s > fast_s else float("inf")
