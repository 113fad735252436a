"""A list of abbreviations at the front of a book. Where few words come again and again, a number stands for each; where
every word is new, the list is as long as the book and the numbers come on top.

A column chunk of a Parquet file is written with a dictionary of its values, or plainly, value after value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from readahead.errors import require_range

OWN_SHARE = 5
"""DuckDB gives a chunk a dictionary if it needs at most a fifth of its rows (the writer's DICTIONARY_SIZE_LIMIT)."""


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


def distinct(column: Column, rows: float) -> float:
    """Return how many different values `rows` rows are expected to hold.

    Drawn at random from V values they are V(1 − (1 − 1/V)^n) (Cardenas 1975); in order, a share of the rows.
    """
    if column.in_order:
        return min(column.values, rows / column.repeats)
    return (
        float(-column.values * np.expm1(rows * np.log1p(-1.0 / column.values))) if column.values > 1 else 1.0
    )


def chunk_bytes(column: Column, rows: float, most_values: float | None = None) -> float:
    """Return the uncompressed length in bytes of a column chunk of `rows` rows.

    Plain: n · b. With a dictionary of d values: n · ⌈log₂ d⌉ / 8 + d · b (Apache Parquet, Encodings). `most_values`
    is the largest dictionary allowed; None is DuckDB's own rule, a fifth of the rows. Raises `BadValue` for no rows.
    """
    require_range("rows", rows, low=1, advice="Give the rows of a row group, such as 122880.")
    words = distinct(column, rows)
    if words > (rows / OWN_SHARE if most_values is None else most_values):
        return rows * column.value_bytes
    return rows * float(np.ceil(np.log2(max(2.0, words)))) / 8 + words * column.value_bytes


def table_bytes(
    columns: Iterable[Column], rows: int, group_rows: int, most_values: float | None = None
) -> float:
    """Return the uncompressed length in bytes of a table in row groups of `group_rows` rows, without its footer."""
    full, rest = divmod(rows, group_rows)
    groups = [(full, group_rows), (1 if rest else 0, rest)]
    columns = list(columns)
    return sum(
        count * chunk_bytes(column, size, most_values)
        for count, size in groups
        if count
        for column in columns
    )
