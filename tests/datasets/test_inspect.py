"""The X-ray agrees with the file: all chunks inside, none over another, nothing left out."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.errors import DataError

CARDS = [
    {"table": "comments_narrow", "row_group_rows": 2_048},
    {"table": "comments", "compression": "zstd"},
    {"table": "lineitem", "row_group_rows": 20_000},
    {"table": "comments_narrow", "order": "score", "compression": "uncompressed"},
]


@pytest.mark.parametrize("card", CARDS)
def test_chunks_fill_the_file_from_the_first_mark_to_the_footer(cache: Path, card: dict[str, object]) -> None:
    recipe = Recipe(size="tiny", **card)  # type: ignore[arg-type]
    path = store.path(recipe)
    shape = inspect.shape(path)
    raw = path.read_bytes()
    assert shape.size_bytes == len(raw)
    assert sum(group.rows for group in shape.row_groups) == recipe.rows
    assert [group.rows for group in shape.row_groups[:-1]] == [recipe.effective_row_group_rows] * (
        recipe.row_groups - 1
    )
    # DuckDB leaves no holes: mark, chunk after chunk, Bloom filters, footer, its length, mark.
    end = 4
    for group in shape.row_groups:
        assert [chunk.column for chunk in group.chunks] == list(recipe.columns)
        for chunk in group.chunks:
            assert chunk.offset == end
            end += chunk.size_bytes
    assert raw[:4] == raw[-4:] == b"PAR1"
    footer, total, filters = duckdb.execute(
        f"SELECT (SELECT footer_size FROM parquet_file_metadata('{path}')),"
        f" (SELECT sum(total_compressed_size) FROM parquet_metadata('{path}')),"
        f" (SELECT coalesce(sum(bloom_filter_length), 0) FROM parquet_metadata('{path}'))"
    ).fetchall()[0]
    assert shape.footer_bytes == footer
    assert end + filters + footer + 8 == len(raw)
    assert sum(group.size_bytes for group in shape.row_groups) == total


def test_a_changed_file_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    for rows in (10, 20):
        duckdb.sql(f"COPY (SELECT i FROM range({rows}) r(i)) TO '{path}' (FORMAT parquet)")
        assert sum(group.rows for group in inspect.shape(path).row_groups) == rows
    assert inspect.shape(path) is inspect.shape(path)


def test_key_ranges_are_those_of_the_rows(cache: Path) -> None:
    path = store.path(Recipe(table="comments_narrow", size="tiny", order="shuffled", row_group_rows=100_000))
    groups = [group.rows for group in inspect.shape(path).row_groups]
    ids = [row[0] for row in duckdb.execute(f"SELECT id FROM '{path}'").fetchall()]
    for rows, (low, high) in zip(groups, inspect.key_ranges(path, "id"), strict=True):
        part, ids = ids[:rows], ids[rows:]
        assert (low, high) == (min(part), max(part))


def test_bloom_filters_lie_where_a_dictionary_was_used(tmp_path: Path) -> None:
    path = tmp_path / "few_and_many.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT (i % 100)::INTEGER AS few, i::INTEGER AS many FROM range(10_000) AS r(i))"
            f" TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 4096)"
        )
    few = inspect.bloom_filters(path, "few")
    assert len(few) == 3 and all(size > 0 and 0 < at < path.stat().st_size for at, size in few)
    assert inspect.bloom_filters(path, "many").tolist() == [[0, 0]] * 3


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"PAR1", "does not end as a Parquet file does"),
        (b"not Parquet at all, by any means", "neither a Parquet file nor a DuckDB database"),
        (b"x" * 50 + b"\xff\xff\xff\x7fPAR1", "does not end as a Parquet file does"),
    ],
)
def test_what_is_not_parquet_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(content)
    with pytest.raises(DataError, match=says):
        inspect.shape(path)


def test_a_file_with_a_broken_footer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1" + b"\x99" * 60 + (50).to_bytes(4, "little") + b"PAR1")
    with pytest.raises(DataError, match="not a Parquet file that DuckDB reads"):
        inspect.shape(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.parquet"):
        inspect.shape(tmp_path / "nothing.parquet")


def test_more_keys_than_the_largest_hash_table_are_never_cut_off() -> None:
    most = inspect.BUCKETS[-1]
    every = {key: key for key in range(most + 1)}
    assert sorted(inspect._hashed(range(most), every)) == list(range(most))
    with pytest.raises(StopIteration):
        inspect._hashed(range(most + 1), every)
