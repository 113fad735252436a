"""The layout of a dataset's file, exactly once it is built; before that, equal row groups of the table's known widths.

A model asks here, so that the same schedule runs on the reads of a file that is there and of one that is not.
"""

from __future__ import annotations

import functools
from collections.abc import Collection

import numpy as np

from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.models.reads import (
    FIRST_BYTE,
    FileShape,
    Ints,
    Reads,
    RowGroup,
    Segments,
    even_group,
    even_reads,
    packed,
    scan_reads,
)

FOOTER_BYTES_A_CHUNK = 80
"""What the footer of a Parquet file says of a column chunk, roughly."""
_WIDTH = {"zstd": 0.70, "snappy": 1.0, "uncompressed": 2.13, "native": 0.75}
"""Bytes of a table against those of the usual Parquet file, compressed with snappy."""


def is_exact(recipe: Recipe) -> bool:
    """Return whether the layout that is told here is that of a Parquet file which is there."""
    return recipe.format == "parquet" and store.is_built(recipe)


def reads(recipe: Recipe, columns: Collection[str], gap_bytes: int) -> Reads:
    """Return the reads of a scan; of a native file as if its rows stood in a Parquet file."""
    return _reads(recipe, tuple(columns), gap_bytes, is_exact(recipe))


@functools.lru_cache(maxsize=512)
def _reads(recipe: Recipe, columns: tuple[str, ...], gap_bytes: int, exact: bool) -> Reads:  # noqa: FBT001
    if exact:
        return scan_reads(inspect.shape(store.location(recipe)), columns, gap_bytes)
    return even_reads(
        _columns(recipe),
        recipe.rows,
        recipe.effective_row_group_rows,
        columns,
        gap_bytes=gap_bytes,
        footer_bytes_per_group=FOOTER_BYTES_A_CHUNK * len(recipe.columns),
    )


def shape(recipe: Recipe) -> FileShape:
    """Return where row groups and column chunks lie."""
    return inspect.shape(store.location(recipe)) if is_exact(recipe) else _shape(recipe)


def group_rows(recipe: Recipe) -> list[int]:
    """Return the rows of each row group of an expected file: all are full but the last."""
    full, count = recipe.effective_row_group_rows, recipe.row_groups
    return [full] * (count - 1) + [recipe.rows - full * (count - 1)]


def _widths(recipe: Recipe) -> tuple[float, ...]:
    share = _WIDTH["native" if recipe.format == "native" else recipe.compression]
    return tuple(share * width for width in recipe.source.widths(recipe.effective_row_group_rows))


def _columns(recipe: Recipe) -> list[tuple[str, float]]:
    return list(zip(recipe.columns, _widths(recipe), strict=True))


@functools.lru_cache(maxsize=128)
def _shape(recipe: Recipe) -> FileShape:
    groups, at, widths = list[RowGroup](), FIRST_BYTE, _columns(recipe)
    for rows in group_rows(recipe):
        groups.append(even_group(widths, rows, at))
        at += groups[-1].size_bytes
    footer = FOOTER_BYTES_A_CHUNK * len(groups) * len(widths)
    return FileShape(size_bytes=at + footer + 8, footer_bytes=footer, row_groups=tuple(groups))


def key_ranges(recipe: Recipe, column: str) -> Ints:
    """Return the smallest and largest value of an integer column, a row for each row group.

    Of a file that is not there: equal slices of the keys if rows lie in their order, and all of them otherwise.
    """
    if is_exact(recipe):
        return inspect.key_ranges(store.location(recipe), column)
    source, every = recipe.source, recipe.source.key_count(recipe.size)
    if column != source.key or recipe.effective_order != "key":
        return np.tile([source.nth_key(0), source.nth_key(every - 1)], (recipe.row_groups, 1))
    ends = recipe.first_row + np.cumsum(group_rows(recipe))
    low = np.concatenate([[recipe.first_row], ends[:-1]])
    keys: Ints = source.nth_key(np.stack([low, ends - 1], axis=1) * every // source.rows[recipe.size])
    return keys


def pages(recipe: Recipe) -> dict[str, int]:
    """Return how many pages a chunk of each column has; expected of a file that is not there: one."""
    return inspect.pages(store.location(recipe)) if is_exact(recipe) else dict.fromkeys(recipe.columns, 1)


def blocks(recipe: Recipe, columns: Collection[str]) -> list[tuple[int, frozenset[int]]]:
    """Return, for each row group of a native file, its rows and the blocks in which these columns lie."""
    groups = zip(group_rows(recipe), segments(recipe, columns), strict=True)
    return [
        (rows, frozenset(block for own in found for _, block in own if block >= 0)) for rows, found in groups
    ]


def segments(recipe: Recipe, columns: Collection[str] = ()) -> list[list[Segments]]:
    """Return, for each row group of a native file, the segments of its columns: of these, or of all."""
    chosen = tuple(columns) or recipe.columns
    if store.is_built(recipe):
        return inspect.segments(store.location(recipe), chosen)
    places = [at for at, name in enumerate(recipe.columns) if name in chosen]
    return [[found[at] for at in places] for found in _segments(recipe)]


@functools.lru_cache(maxsize=128)
def _segments(recipe: Recipe) -> list[list[Segments]]:
    return packed(group_rows(recipe), _widths(recipe), recipe.block_bytes)
