"""Crates on a conveyor. A table is packed in crates of so many rows; each crate costs one trip to fetch, and one worker
unpacks it. Small crates waste trips, large ones leave workers idle, and how small is too small depends on the trip.

Everything here is arithmetic on counts, bytes and times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.errors import require_range
from readahead.units import MiB

LARGEST_GROUP_ROWS = 2**20
"""Rows of a full row group in SQL Server's columnstore."""
DICTIONARY_BYTES = 16 * MiB
"""Where SQL Server closes a row group because a column's dictionary is full (Microsoft, Columnstore index design)."""
VECTOR_ROWS = 2_048
NEAR = 0.1
"""How far from the best time a row-group size may be and still be called sweet."""

Array = NDArray[np.float64]


# -- how many rows get into a group ------------------------------------------------------------------
def rows_per_group(
    new_text_bytes_per_row: float,
    dictionary_bytes: float = DICTIONARY_BYTES,
    largest_rows: int = LARGEST_GROUP_ROWS,
) -> int:
    """Return the rows of a row group that closes when it is full or when its dictionary is: min(2^20, D / text).

    `new_text_bytes_per_row` counts only text not seen before in the group. The rule is SQL Server's, as
    N. Neugebauer observes it in "Clustered Columnstore Indexes – part 50". Raises `BadValue` for negative bytes.
    """
    require_range("new_text_bytes_per_row", new_text_bytes_per_row, low=0, advice="Give bytes, such as 160.")
    if new_text_bytes_per_row * largest_rows <= dictionary_bytes:
        return largest_rows
    return max(1, int(dictionary_bytes / new_text_bytes_per_row))


def groups(rows: int, group_rows: int = LARGEST_GROUP_ROWS) -> int:
    """Return how many row groups hold `rows` rows: the last one may be part full."""
    return -(-int(rows) // int(group_rows))


def dictionary_bytes(rows: float, row_groups: float, new_text_bytes_per_row: float) -> float:
    """Return the dictionary that must have been full, in bytes, if `rows` of such text were cut in `row_groups`."""
    return rows / row_groups * new_text_bytes_per_row


def idle_share(row_groups: ArrayLike, threads: ArrayLike) -> Array:
    """Return the share of the workers' time, 0 to 1, that is lost because a row group is never split among them.

    The groups are worked off in ceil(g / t) waves, of which the last is part empty: 1 − g / (t · ceil(g / t)).
    """
    g, t = np.asarray(row_groups, float), np.asarray(threads, float)
    return np.asarray(1.0 - g / (t * np.ceil(g / t)))


# -- the sweet spot ------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class SweetSpot:
    """The row-group sizes, in rows, at which a scan takes at most `NEAR` longer than at the best of them."""

    smallest_rows: int
    best_rows: int
    largest_rows: int
    seconds: float
    """At the best of them."""


def sizes(low: int = VECTOR_ROWS, high: int = LARGEST_GROUP_ROWS, points: int = 60) -> Array:
    """Return row-group sizes from `low` to `high`, evenly on a log scale, in whole vectors of 2,048 rows."""
    return np.unique(np.round(np.geomspace(low, high, points) / VECTOR_ROWS)) * VECTOR_ROWS


def sweet_spot(rows: ArrayLike, seconds: ArrayLike, near: float = NEAR) -> SweetSpot:
    """Return where a scan is fast, of its times in row groups of so many rows each, the sizes in ascending order.

    Too small: every group pays latency + seek + the engine's cost of a read. Too large: fewer groups than reads in
    flight, and nothing to decode while the last is under way. What lies between is as wide as the device allows.
    """
    size, took = np.asarray(rows, float), np.asarray(seconds, float)
    sweet = size[took <= took.min() * (1.0 + near)]
    return SweetSpot(
        smallest_rows=int(sweet.min()),
        best_rows=int(size[took.argmin()]),
        largest_rows=int(sweet.max()),
        seconds=float(took.min()),
    )
