"""A card names what it makes: the same content the same name, another content another name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.datasets.recipe import COMPRESSIONS, FORMATS, SIZES, Recipe
from readahead.datasets.tables import TABLES
from readahead.errors import BadValue
from readahead.models.table_layout import VECTOR_ROWS


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    table = draw(st.sampled_from(sorted(TABLES)))
    form = draw(st.sampled_from(FORMATS))
    indexable = form == "native" and len(TABLES[table].unique) == 1
    return Recipe(
        table=table,
        size=draw(st.sampled_from(SIZES)),
        format=form,
        row_group_rows=draw(st.integers(2_048, 1_048_576)),
        order=draw(st.sampled_from(["key", "shuffled", *TABLES[table].columns])),
        block_bytes=draw(st.sampled_from([16_384, 65_536, 262_144])),
        compression=draw(st.sampled_from(COMPRESSIONS)),
        index=indexable and draw(st.booleans()),
    )


@given(recipes(), recipes())
def test_names_are_equal_exactly_when_the_contents_are(one: Recipe, other: Recipe) -> None:
    assert (one.file_name == other.file_name) == (one.facts == other.facts)


@given(recipes())
def test_row_groups_are_whole_vectors_and_hold_all_rows(recipe: Recipe) -> None:
    rows = recipe.effective_row_group_rows
    assert rows % VECTOR_ROWS == 0
    assert recipe.row_group_rows <= rows < recipe.row_group_rows + VECTOR_ROWS
    assert (recipe.row_groups - 1) * rows < recipe.rows <= recipe.row_groups * rows
    assert recipe.build_bytes > recipe.estimated_bytes > 0


@pytest.mark.parametrize(
    "change",
    [
        {"table": "comments"},
        {"size": "small"},
        {"format": "native"},
        {"row_group_rows": 4_096},
        {"order": "shuffled"},
        {"order": "score"},
        {"compression": "zstd"},
        {"dictionary_values": 1_000},
    ],
)
def test_what_changes_the_bytes_changes_the_name(change: dict[str, object]) -> None:
    recipe = Recipe(table="comments_narrow", size="tiny")
    assert replace(recipe, **change).file_name != recipe.file_name  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"block_bytes": 16_384}, {"index": True}])
def test_what_changes_a_native_file_changes_its_name(change: dict[str, object]) -> None:
    recipe = Recipe(table="comments_narrow", size="tiny", format="native")
    assert replace(recipe, **change).file_name != recipe.file_name  # type: ignore[arg-type]


def test_what_does_not_matter_does_not_show() -> None:
    parquet = Recipe(table="comments_narrow", row_group_rows=2_049)
    assert (
        replace(parquet, block_bytes=16_384, row_group_rows=4_096, order="id").file_name == parquet.file_name
    )
    native = Recipe(table="comments_narrow", format="native")
    assert replace(native, compression="zstd").file_name == native.file_name


def test_a_name_can_be_read() -> None:
    name = Recipe(table="comments_narrow", order="score").file_name
    assert name.startswith("comments_narrow-small-rg122880-score-")
    assert name.endswith(".parquet")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"table": "posts"}, "comments_narrow, comments, lineitem"),
        ({"size": "huge"}, "tiny, small, full"),
        ({"format": "csv"}, "parquet, native"),
        ({"row_group_rows": 2_047}, "from 2048 to 1.04858e\\+06"),
        ({"row_group_rows": 3_000.5}, "whole number"),
        ({"order": "l_tax"}, "shuffled"),
        ({"block_bytes": 5_000}, "16384"),
        ({"compression": "rar"}, "snappy"),
        ({"index": True}, "Give format='native'"),
        ({"dictionary_values": 0}, "from 1 to 1e"),
        ({"disorder": 0.5}, "only a generated table"),
    ],
)
def test_a_wrong_card_says_what_is_allowed(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(BadValue, match=words) as caught:
        Recipe(**{"table": "comments_narrow", **wrong})  # type: ignore[arg-type]
    name, value = next(iter(wrong.items()))
    assert f"{name}={value!r}" in str(caught.value)


def test_the_parts_of_a_table_are_all_of_it_and_have_names_of_their_own() -> None:
    for size in ("tiny", "full"):
        parts = [Recipe(table="comments_narrow", size=size, part=at, parts=3) for at in range(3)]
        assert sum(part.rows for part in parts) == Recipe(table="comments_narrow", size=size).rows
        assert [part.first_row for part in parts[1:]] == [parts[0].rows, parts[0].rows + parts[1].rows]
        assert len({part.file_name for part in parts}) == 3


def test_parts_that_cannot_be_are_refused() -> None:
    with pytest.raises(BadValue, match="part=2"):
        Recipe(table="comments", part=2, parts=2)
    with pytest.raises(BadValue, match="makes it in one run"):
        Recipe(table="lineitem", parts=2)
