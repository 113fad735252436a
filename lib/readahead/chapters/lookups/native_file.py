"""Which blocks of DuckDB's own file a lookup reads: those of the index on the way, and those in which the rows lie."""

from __future__ import annotations

import functools
import itertools
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from readahead.chapters.lookups import laws
from readahead.datasets import expected, inspect, store
from readahead.datasets.recipe import Recipe
from readahead.models.reads import Segments

INDEX_BYTES_A_ROW = 9
"""Of DuckDB's index on a whole number: a pointer, and a little of the nodes above."""
INDEX_BITS = (8, 16, 24)
"""DuckDB's index is a radix tree that takes eight bits of the key at each step: a leaf for each 256 keys, and so on."""


def blocks_of(columns: Sequence[Segments], rows: Sequence[int] | None = None) -> set[int]:
    """Return the blocks in which a row group lies, or only these rows of it, with all their columns."""
    found: set[int] = set()
    for segments in columns:
        starts, blocks = zip(*segments, strict=True)
        if rows is None or len(blocks) == 1:
            found.update(blocks)
        else:
            found.update(blocks[bisect_right(starts, row) - 1] for row in rows)
    return {block for block in found if block >= 0}  # a column of a single value lies in no block


def index_blocks(recipe: Recipe) -> Sequence[int]:
    """Return the blocks of the index: exactly once the file is built, and before that behind the rows."""
    if store.is_built(recipe):
        return inspect.index_blocks(store.location(recipe))
    first = 1 + max(blocks_of(expected.segments(recipe)[-1]))
    return range(first, first + 1 + recipe.rows * INDEX_BYTES_A_ROW // recipe.block_bytes)


def index_walk(recipe: Recipe, keys: Sequence[int]) -> list[int]:
    """Return blocks of the index, as many as a walk to these keys is expected to read, evenly chosen.

    Only the engine knows which node lies in which block, so nodes are taken to lie at random among the blocks.
    """
    blocks = index_blocks(recipe)
    nodes = sum(len({key >> bits for key in keys}) for bits in INDEX_BITS)
    count = min(len(blocks), round(laws.distinct(len(blocks), nodes)))
    return [blocks[int(place)] for place in np.linspace(0, len(blocks) - 1, count)]


def row_blocks(recipe: Recipe, keys: Sequence[int]) -> list[int]:
    """Return every block in which one of the rows with these keys lies, once."""
    if recipe.effective_order == "key":
        places = np.array(keys)  # keys count from 0
    elif store.is_built(recipe):
        places = np.array(inspect.positions(store.location(recipe), recipe.source.key, keys))
    else:  # rows lie at random
        places = np.random.default_rng(1).choice(recipe.rows, len(keys), replace=False)
    group, row = np.divmod(places, recipe.effective_row_group_rows)
    columns, wanted = expected.segments(recipe), defaultdict[int, list[int]](list)
    for number, one in zip(group.tolist(), row.tolist(), strict=True):
        wanted[number].append(one)
    found = [sorted(blocks_of(columns[number], wanted[number])) for number in sorted(wanted)]
    return list(dict.fromkeys(itertools.chain.from_iterable(found)))


@functools.lru_cache(maxsize=64)
def group_blocks(recipe: Recipe, _built: bool) -> list[set[int]]:  # noqa: FBT001
    """Return the blocks of each row group, kept as long as the file is built, or not."""
    return [blocks_of(columns) for columns in expected.segments(recipe)]
