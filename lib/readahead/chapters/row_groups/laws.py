"""How many rows get into a row group, what a dictionary makes of a column chunk, and which row-group sizes scan fast.

With small row groups a scan waits for each of them; large ones leave connections and workers idle. How small is too
small depends on how long a read waits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from readahead.errors import require_range
from readahead.models.estimate import query_s as query_s  # noqa: PLC0414 (a law of this chapter and of others)
from readahead.models.estimate import times_as_long as times_as_long  # noqa: PLC0414
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


# -- how many rows get into a group ------------------------------------------------------------------
def rows_per_group(
    new_text_bytes_per_row: float,
    dictionary_bytes: float = DICTIONARY_BYTES,
    largest_rows: int = LARGEST_GROUP_ROWS,
) -> int:
    r"""Return the rows of a row group that closes when it is full or when its dictionary is.

    .. math:: \min(G, \; D / t)

    where G (`largest_rows`) are the rows of a full group, D (`dictionary_bytes`) is the largest dictionary, and t
    (`new_text_bytes_per_row`) the text of a row that was not seen before in the group. Raises `BadValue` for negative
    bytes.

    Source: the rule is SQL Server's, as observed in N. Neugebauer, Clustered Columnstore Indexes – part 50.
    """
    require_range("new_text_bytes_per_row", new_text_bytes_per_row, low=0, advice="Give bytes, such as 160.")
    if new_text_bytes_per_row * largest_rows <= dictionary_bytes:
        return largest_rows
    return max(1, int(dictionary_bytes / new_text_bytes_per_row))


def groups(rows: int, group_rows: int = LARGEST_GROUP_ROWS) -> int:
    r"""Return how many row groups hold so many rows.

    .. math:: \lceil N / g \rceil

    where N (`rows`) are the rows of the table and g (`group_rows`) those of a row group; the last one may be part full.
    """
    return -(-int(rows) // int(group_rows))


def times_as_many(rows: int, cut_rows: int, full_rows: int = LARGEST_GROUP_ROWS) -> float:
    r"""Return how many times as many row groups there are when each is cut before it is full.

    .. math:: \lceil N / c \rceil \; / \; \lceil N / G \rceil

    where N (`rows`) are the rows of the table, c (`cut_rows`) those of a group that is cut, and G (`full_rows`) those
    of a full one.
    """
    return groups(rows, cut_rows) / groups(rows, full_rows)


def dictionary_bytes(rows: float, row_groups: float, new_text_bytes_per_row: float) -> float:
    r"""Return how large the dictionary was that closed the row groups.

    .. math:: (N / m) \, t

    where N (`rows`) were cut into m (`row_groups`), and each row brought t (`new_text_bytes_per_row`).
    """
    return rows / row_groups * new_text_bytes_per_row


# -- which sizes scan fast -----------------------------------------------------------------------------
def sizes(low: int = VECTOR_ROWS, high: int = LARGEST_GROUP_ROWS, points: int = 60) -> np.ndarray:
    """Return row-group sizes from `low` to `high`, evenly on a log scale, in whole vectors of 2,048 rows."""
    return np.unique(np.round(np.geomspace(low, high, points) / VECTOR_ROWS)) * VECTOR_ROWS


def smallest_good(rows: ArrayLike, seconds: ArrayLike, near: float = NEAR) -> float:
    """Return the smallest row-group size whose scan takes at most `near` longer than the fastest.

    `seconds` are the scan's times in row groups of so many `rows` each. Below it every group pays latency, seek and
    the engine's cost of a read; far above it there are fewer groups than reads in flight.
    """
    size, took = np.asarray(rows, float), np.asarray(seconds, float)
    return float(size[took <= took.min() * (1.0 + near)].min())


def good_rows(latency_s: float, *, engine_s: float, row_s: float) -> float:
    r"""Return the fewest rows of a group whose scan, one read at a time, is hardly longer than with the largest groups.

    .. math:: \max\left(v, \; \frac{L + e}{0.1 \, r + 1.1 \, (L + e) / G}\right)

    where a group waits L (`latency_s`) and e (`engine_s`), its rows take r (`row_s`) each to pass and to decode, and G
    and v are the most and the fewest rows of a group. A tenth longer is allowed: (L + e)/g + r = 1.1 ((L + e)/G + r).
    """
    wait_s = latency_s + engine_s
    return max(VECTOR_ROWS, wait_s / (NEAR * row_s + (1 + NEAR) * wait_s / LARGEST_GROUP_ROWS))


def growth(near_latency_s: float, far_latency_s: float, *, engine_s: float, row_s: float) -> float:
    r"""Return how many times larger the smallest good row group becomes when nothing but the latency grows.

    .. math:: \frac{g(L_2)}{g(L_1)}, \quad g(L) = \max\left(v, \; \frac{L + e}{0.1 \, r + 1.1 \, (L + e) / G}\right)

    where L₁ (`near_latency_s`) and L₂ (`far_latency_s`) are the latencies, e (`engine_s`) is the engine's own time for
    a group, r (`row_s`) what a row takes to pass and to decode, and G and v are the most and the fewest rows of a
    group.
    """
    far = good_rows(far_latency_s, engine_s=engine_s, row_s=row_s)
    return far / good_rows(near_latency_s, engine_s=engine_s, row_s=row_s)


def rows_to_write(
    row_bytes: float,
    *,
    latency_s: float,
    dispatch_s: float,
    bandwidth_bytes_per_s: float,
    table_rows: float,
    in_flight: int,
) -> float:
    r"""Return the rows of a row group that is worth writing for a device.

    .. math:: \min\left(\frac{10 \, (L + q d) \, B}{w}, \; \frac{N}{q}\right)

    where a read waits L (`latency_s`) for the device, and for the engine, which hands reads out one after the other in
    d (`dispatch_s`) to q (`in_flight`). B (`bandwidth_bytes_per_s`) is what one read gets, not the link that all share,
    and w (`row_bytes`) are the bytes of a row in the columns that are read: so many rows pass ten times as long as a
    read waits. And N (`table_rows`) must leave a group for each of the q reads.
    """
    wait_s = latency_s + in_flight * dispatch_s
    return min(wait_s * bandwidth_bytes_per_s / NEAR / row_bytes, table_rows / in_flight)


def delivered_bytes_per_s(pages: float, elapsed_s: float, page_bytes: float = 8_192) -> float:
    r"""Return the rate at which a drive delivered a table.

    .. math:: p \, b / t

    where the table has p (`pages`) of b (`page_bytes`) and was read in t (`elapsed_s`), each page once.
    """
    return pages * page_bytes / elapsed_s


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
    is the largest dictionary allowed; None is DuckDB's own rule, a fifth of the rows.
    """
    words = distinct_values(column, rows)
    if words > (rows / OWN_SHARE if most_values is None else most_values):
        return rows * column.value_bytes
    return rows * float(np.ceil(np.log2(max(2.0, words)))) / 8 + words * column.value_bytes


def dictionary_gain(row_bytes: float, in_dictionaries: float, number_bytes: float) -> float:
    r"""Return how many times as long a file is without dictionaries.

    .. math:: \frac{w}{w - d + n}

    where a row takes w (`row_bytes`) written plainly, of which d (`in_dictionaries`) are in columns with few different
    values; with dictionaries these take n (`number_bytes`), the numbers and the row's share of the values.

    Source: Apache Parquet, Encodings.
    """
    return row_bytes / (row_bytes - in_dictionaries + number_bytes)
