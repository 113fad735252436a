"""How many of so many places random rows fall in."""

from __future__ import annotations

import math


def distinct(places: float, rows: float) -> float:
    """Return how many of m places k random rows are expected to fall in: m (1 - (1 - 1/m)^k); rows may repeat.

    A place (a page, a row group, a value of a dictionary) is missed by one row with 1 - 1/m and by all k of them with
    (1 - 1/m)^k (A. F. Cardenas, 1975).
    """
    if places <= 1:
        return min(float(rows), 1.0)
    return -places * math.expm1(rows * math.log1p(-1.0 / places))
