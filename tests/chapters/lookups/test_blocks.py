"""Where rows and index lie in DuckDB's own file, held to the file itself."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import numpy as np
import pytest

from readahead.chapters.lookups.workload import blocks_of, index_walk
from readahead.datasets import expected, inspect, store
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
SHUFFLED = replace(RECIPE, order="shuffled")


def test_rows_and_index_share_no_block_and_fill_the_file() -> None:
    path, every = store.path(RECIPE), range(RECIPE.rows)
    rows = set().union(*map(blocks_of, expected.segments(RECIPE)))
    index = index_walk(RECIPE, every, len(every))
    assert len(index) > 1
    assert not rows & set(index)
    assert len(rows) + len(index) <= path.stat().st_size // RECIPE.block_bytes <= len(rows) + len(index) + 4


def test_the_blocks_of_all_rows_are_those_of_the_group() -> None:
    store.path(RECIPE)
    columns = expected.segments(RECIPE)[3]
    assert blocks_of(columns, np.arange(RECIPE.row_group_rows)) == blocks_of(columns)
    one = blocks_of(columns, np.array([7]))
    assert one <= blocks_of(columns)
    assert len(one) >= 1


def test_before_it_is_built_a_file_is_expected_to_be_much_like_it() -> None:
    other, every = replace(RECIPE, row_group_rows=14_336), range(RECIPE.rows)
    rows = set().union(*map(blocks_of, expected.segments(other)))
    store.path(RECIPE)
    there, here = (index_walk(recipe, every, len(every)) for recipe in (other, RECIPE))
    assert not rows & set(there)
    assert len(there) == pytest.approx(len(here), rel=0.15)


@pytest.mark.parametrize("recipe", [RECIPE, SHUFFLED], ids=["in order", "shuffled"])
def test_positions_are_the_engines_own(recipe: Recipe) -> None:
    path, keys = store.path(recipe), recipe.source.some_keys("tiny", 20, 3)
    places = inspect.positions(path, "id", keys)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS file (READ_ONLY)")
        listed = ", ".join(map(str, places))
        found = connection.execute(f"SELECT id FROM file.t WHERE rowid IN ({listed}) ORDER BY 1").fetchall()
    assert [key for (key,) in found] == keys
    assert (places == keys) == (recipe is RECIPE)
