"""How many rows get into a row group, what a dictionary makes of a column chunk, and which row-group sizes scan fast.

Small row groups waste trips to the device; large ones leave reads and workers idle. How small is too small depends on
what a trip takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.errors import require_range
from readahead.models.reads import distinct
from readahead.units import MiB

LARGEST_GROUP_ROWS = 2**20
"""Rows of a full row group in SQL Server's columnstore."""
DICTIONARY_BYTES = 16 * MiB
"""Where SQL Server closes a row group because a column's dictionary is full (Microsoft, Columnstore index design)."""
VECTOR_ROWS = 2_048
NEAR = 0.1
"""How much longer than the best time a scan may take in a row-group size that still counts as good."""
OWN_SHARE = 5
"""DuckDB gives a chunk a dictionary if it needs at most a fifth of its rows (the writer's DICTIONARY_SIZE_LIMIT)."""

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
    """Return how many row groups hold `rows` rows: ⌈rows / group_rows⌉; the last one may be part full."""
    return -(-int(rows) // int(group_rows))


def dictionary_bytes(rows: float, row_groups: float, new_text_bytes_per_row: float) -> float:
    """Return the dictionary that must have been full, in bytes, if `rows` of such text were cut in `row_groups`."""
    return rows / row_groups * new_text_bytes_per_row


# -- which sizes scan fast -----------------------------------------------------------------------------
def sizes(low: int = VECTOR_ROWS, high: int = LARGEST_GROUP_ROWS, points: int = 60) -> Array:
    """Return row-group sizes from `low` to `high`, evenly on a log scale, in whole vectors of 2,048 rows."""
    return np.unique(np.round(np.geomspace(low, high, points) / VECTOR_ROWS)) * VECTOR_ROWS


def smallest_good(rows: ArrayLike, seconds: ArrayLike, near: float = NEAR) -> float:
    """Return the smallest row-group size whose scan takes at most `near` longer than the fastest.

    `seconds` are the scan's times in row groups of so many `rows` each. Below it every group pays latency, seek and
    the engine's cost of a read; far above it there are fewer groups than reads in flight.
    """
    size, took = np.asarray(rows, float), np.asarray(seconds, float)
    return float(size[took <= took.min() * (1.0 + near)].min())


# -- dictionaries --------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What decides how long a column is."""

    name: str
    value_bytes: float
    """Bytes of a value written plainly; of a text, its letters and four bytes of length."""
    values: float
    """How many different values there are to draw from."""
    in_order: bool = False
    """Whether equal values stand together, so that a group of rows meets only its share of them."""
    repeats: float = 1.0
    """Rows of a value, if they stand together."""


def distinct_values(column: Column, rows: float) -> float:
    """Return how many different values `rows` rows are expected to hold.

    Drawn at random from V values they are V(1 − (1 − 1/V)^n) (Cardenas, 1975); in order, a share of the rows.
    """
    if column.in_order:
        return min(column.values, rows / column.repeats)
    return distinct(column.values, rows)


def chunk_bytes(column: Column, rows: float, most_values: float | None = None) -> float:
    """Return the uncompressed length in bytes of a column chunk of `rows` rows.

    Plain: n · b. With a dictionary of d values: n · ⌈log₂ d⌉ / 8 + d · b (Apache Parquet, Encodings). `most_values`
    is the largest dictionary allowed; None is DuckDB's own rule, a fifth of the rows. Raises `BadValue` for no rows.
    """
    require_range("rows", rows, low=1, advice="Give the rows of a row group, such as 122880.")
    words = distinct_values(column, rows)
    if words > (rows / OWN_SHARE if most_values is None else most_values):
        return rows * column.value_bytes
    return rows * float(np.ceil(np.log2(max(2.0, words)))) / 8 + words * column.value_bytes
