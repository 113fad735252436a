"""How many row groups a filter leaves to be read, from the smallest and largest value that a file keeps of each.

These pairs are called zone maps, small materialized aggregates (G. Moerkotte, 1998) or, where they rule out whole
partitions, partition elimination. Which reads never happen is decided when the rows are loaded: in the order of the
filter few row groups hold what is asked for, in random order nearly all.

All shares are of the rows of the table, from 0 to 1; every argument may be an array.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.errors import BadValue

Array = NDArray[np.float64]


def groups_read(groups: ArrayLike, selectivity: ArrayLike, disorder: ArrayLike = 0.0) -> Array:
    """Return the row groups that a range of the sort column touches: m(s + w) + 1, and never more than m.

    `selectivity` is the share of rows in the range, `disorder` how far rows lie from their place at most, from one end
    to the other, as a share of the table. A range as long as s·m groups that begins anywhere touches s·m + 1 of them;
    disorder spreads it by w. An empty range touches nothing. After Moerkotte, "Small Materialized Aggregates" (1998).
    """
    m, s, w = (np.asarray(x, float) for x in (groups, selectivity, disorder))
    return np.where(s > 0, np.minimum(m, m * (s + w) + 1), 0.0)


def place(share: ArrayLike, disorder: ArrayLike) -> Array:
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


def groups_between(groups: ArrayLike, first: ArrayLike, last: ArrayLike, disorder: ArrayLike = 0.0) -> Array:
    """Return the row groups touched by the ranks from `first` to `last`: m(s + w) + 1, with its edges worked out.

    Rows of rank `last` come up to w later, and what is due before 0 or after 1 has crowded into the ends, so that a
    range near an end, or a great disorder, touches less than the plain formula says.
    """
    m, a, b = (np.asarray(x, float) for x in (groups, first, last))
    late = place(b + np.asarray(disorder, float), disorder)
    spread = late - place(a, disorder)
    return np.where(b > a, np.minimum(np.ceil(m), m * spread + 1), 0.0)


def missed_by_all(selectivity: ArrayLike, rows: ArrayLike) -> Array:
    """Return the chance that a row group of `rows` rows in random order holds none that is wanted: (1 − s)^n."""
    s, n = np.asarray(selectivity, float), np.asarray(rows, float)
    return np.asarray((1 - s) ** n)


def label_rules_out(below: ArrayLike, above: ArrayLike, rows: ArrayLike) -> Array:
    """Return the chance that its zone map rules such a group out: every row lies below the range, or every row above.

    `below` and `above` are the shares of the table's rows on either side. What lies in the middle of the values is
    hardly ever ruled out: a zone map knows the ends and not the holes.
    """
    b, a, n = (np.asarray(x, float) for x in (below, above, rows))
    return np.asarray(b**n + a**n)


def both(*shares: ArrayLike) -> Array:
    """Return the share of row groups left by several predicates on independent columns: the product of their shares."""
    left: Array = np.asarray(1.0)
    for share in shares:
        left = left * np.asarray(share, float)
    return np.asarray(left)


def share_left(weights: Sequence[float], shares: Sequence[float]) -> float:
    """Return what a set of queries takes of its former time: the mean of what each still reads, weighted by its time.

    Raises `BadValue` if there are not as many weights as shares, or they add up to nothing.
    """
    if len(weights) != len(shares) or not sum(weights) > 0:
        raise BadValue(f"{len(weights)} weights for {len(shares)} queries. Give one a query, not all 0.")
    return float(np.average(np.asarray(shares, float), weights=np.asarray(weights, float)))


def pays_after(sort_s: float, slow_s: float, fast_s: float) -> float:
    """Return after how many queries an order has earned what it cost to make; infinite if it saves nothing."""
    return sort_s / (slow_s - fast_s) if slow_s > fast_s else float("inf")
