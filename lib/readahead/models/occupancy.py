"""How many of so many places random rows fall in."""

from __future__ import annotations

import math


def distinct(places: float, rows: float) -> float:
    r"""Return how many places random rows are expected to fall in, when a row may come twice.

    .. math:: m \left(1 - \left(1 - 1/m\right)^k\right)

    where m (`places`) are pages, row groups or values of a dictionary, and k (`rows`) the rows: a place is missed by
    one row with 1 - 1/m, and by all k of them with (1 - 1/m)^k.

    Source: A. F. Cardenas, Analysis and Performance of Inverted Data Base Structures, 1975.
    """
    if places <= 1:
        return min(float(rows), 1.0)
    return -places * math.expm1(rows * math.log1p(-1.0 / places))
