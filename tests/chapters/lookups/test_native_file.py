"""Where rows and index lie in DuckDB's own file, held to the file itself."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from readahead.chapters.lookups import native_file
from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.units import KiB

RECIPE = Recipe(
    table="comments_narrow",
    size="tiny",
    format="native",
    row_group_rows=16_384,
    block_bytes=64 * KiB,
    index=True,
)
SHUFFLED = Recipe(
    table="comments_narrow", size="tiny", format="native", row_group_rows=16_384, block_bytes=64 * KiB, index=True,
    order="shuffled",
)  # fmt: skip


def test_groups_hold_all_rows_and_know_their_keys() -> None:
    found = native_file.layout(store.path(RECIPE), "id")
    assert sum(group.rows for group in found.groups) == RECIPE.rows
    assert [(group.low, group.high) for group in found.groups[:2]] == [(0, 16_383), (16_384, 32_767)]


def test_rows_and_index_share_no_block_and_fill_the_file() -> None:
    path = store.path(RECIPE)
    found = native_file.layout(path, "id")
    rows = frozenset().union(*(group.blocks for group in found.groups))
    assert len(rows) == found.data_blocks
    assert not rows & set(found.index_blocks)
    assert len(rows) + len(found.index_blocks) <= path.stat().st_size // RECIPE.block_bytes


def test_the_blocks_of_all_rows_are_those_of_the_group() -> None:
    group = native_file.layout(store.path(RECIPE), "id").groups[3]
    assert group.of_rows(np.arange(group.rows)) == group.blocks
    one = group.of_rows(np.array([7]))
    assert one <= group.blocks
    assert len(one) >= 1
    assert 1 <= group.pieces <= len(group.blocks)


@pytest.mark.parametrize("recipe", [RECIPE, SHUFFLED], ids=["in order", "shuffled"])
def test_positions_are_the_engines_own(recipe: Recipe) -> None:
    path, keys = store.path(recipe), recipe.source.some_keys("tiny", 20, 3)
    places = native_file.positions(path, "id", keys)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS file (READ_ONLY)")
        listed = ", ".join(map(str, places))
        found = connection.execute(f"SELECT id FROM file.t WHERE rowid IN ({listed}) ORDER BY 1").fetchall()
    assert [key for (key,) in found] == keys
    assert (places == keys) == (recipe is RECIPE)
