"""The layout of a dataset's file, exactly once it is built; before that, equal row groups of the table's known widths.

A model asks here, so that the same schedule runs on the reads of a file that is there and of one that is not.
"""

from __future__ import annotations

import functools
import itertools
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Sequence

import numpy as np

from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.models.native import Segments, packed
from readahead.models.reads import (
    FIRST_BYTE,
    FileShape,
    Ints,
    Reads,
    RowGroup,
    distinct,
    even_group,
    even_reads,
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
        _widths(recipe),
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


def _widths(recipe: Recipe) -> list[tuple[str, float]]:
    """Return the bytes of a row in each column."""
    share = _WIDTH["native" if recipe.format == "native" else recipe.compression]
    widths = recipe.source.widths(recipe.effective_row_group_rows)
    return [(name, share * width) for name, width in zip(recipe.columns, widths, strict=True)]


@functools.lru_cache(maxsize=128)
def _shape(recipe: Recipe) -> FileShape:
    groups, at, widths = list[RowGroup](), FIRST_BYTE, _widths(recipe)
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
    return packed(group_rows(recipe), [width for _, width in _widths(recipe)], recipe.block_bytes)


# -- a lookup in a native file ------------------------------------------------------------
INDEX_BYTES_A_ROW = 9
"""Of DuckDB's index on a whole number: a pointer, and a little of the nodes above."""
INDEX_BITS = (8, 16, 24)
"""DuckDB's index is a radix tree that takes eight bits of the key at each step: a leaf for each 256 keys, and so on."""


def blocks_of(columns: Sequence[Segments], rows: Sequence[int] | None = None) -> set[int]:
    """Return the blocks in which a row group lies, or only these rows of it, with all their columns."""
    found: set[int] = set()
    for one in columns:
        starts, blocks = zip(*one, strict=True)
        if rows is None or len(blocks) == 1:
            found.update(blocks)
        else:
            found.update(blocks[bisect_right(starts, row) - 1] for row in rows)
    return {block for block in found if block >= 0}  # a column of a single value lies in no block


def index_walk(recipe: Recipe, keys: Sequence[int], most: int) -> list[int]:
    """Return the blocks of the index that are read to look for at most so many of the keys.

    They are exact once the file is built. Before that, nodes are taken to lie at random in blocks behind the rows.
    """
    if store.is_built(recipe):
        return inspect.index_walk(
            store.location(recipe), keys if len(keys) <= most else inspect.searched(keys)[:most]
        )
    nodes = sum(len({key >> bits for key in keys[:most]}) for bits in INDEX_BITS)
    blocks = 1 + recipe.rows * INDEX_BYTES_A_ROW // recipe.block_bytes
    count, first = round(distinct(blocks, nodes)), 1 + max(blocks_of(segments(recipe)[-1]))
    return list(range(first, first + count))


def places(recipe: Recipe, keys: Sequence[int]) -> Ints:
    """Return where the rows with these keys lie in the file, counted from 0; at random before it is built.

    Keys of a table in their order count from 0 too.
    """
    if recipe.effective_order == "key":
        return np.array(keys)
    if store.is_built(recipe):
        return np.array(inspect.positions(store.location(recipe), recipe.source.key, keys))
    return np.random.default_rng(1).choice(recipe.rows, len(keys), replace=False)


def row_blocks(recipe: Recipe, keys: Sequence[int]) -> list[int]:
    """Return every block in which one of the rows with these keys lies, once."""
    group, row = np.divmod(places(recipe, keys), recipe.effective_row_group_rows)
    columns, wanted = segments(recipe), defaultdict[int, list[int]](list)
    for number, one in zip(group.tolist(), row.tolist(), strict=True):
        wanted[number].append(one)
    found = [sorted(blocks_of(columns[number], wanted[number])) for number in sorted(wanted)]
    return list(dict.fromkeys(itertools.chain.from_iterable(found)))
