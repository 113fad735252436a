"""The reads that DuckDB will issue, by the rules; `tests/measure/test_case.py` holds them to the real engine."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.models.reads import (
    ColumnChunk,
    FileShape,
    RowGroup,
    even_reads,
    footer_reads,
    group_reads,
    scan_reads,
)

SIZES = st.lists(st.integers(1, 10**6), min_size=1, max_size=8)


def group(sizes: list[int], start: int = 4) -> RowGroup:
    """Return a row group of columns a, b, c … of these sizes, side by side."""
    chunks, at = [], start
    for number, size in enumerate(sizes):
        chunks.append(ColumnChunk(column=chr(97 + number), offset=at, size_bytes=size))
        at += size
    return RowGroup(rows=100, chunks=tuple(chunks))


def test_neighbouring_columns_are_one_read() -> None:
    assert group_reads(group([10, 20, 30, 900_000]), {"b", "c"}, gap_bytes=0) == [(14, 50)]


def test_a_hole_is_read_through_up_to_the_gap_and_jumped_beyond_it() -> None:
    wide = group([10, 100, 10, 900_000])
    assert group_reads(wide, ("a", "c"), gap_bytes=100) == [(4, 120)]
    assert group_reads(wide, ("a", "c"), gap_bytes=99) == [(114, 10), (4, 10)]


def test_a_read_that_a_column_begins_is_asked_for_before_those_of_the_columns_before_it() -> None:
    """c joins what a began, and stays in its place."""
    wide = group([10, 100, 10, 900_000, 10, 900_000])
    for columns, starts in (("aec", [900_124, 4]), ("ea", [4, 900_124]), ("ae", [900_124, 4])):
        assert [offset for offset, _ in group_reads(wide, columns, gap_bytes=100)] == starts


def test_a_group_of_which_nearly_all_is_wanted_is_read_whole() -> None:
    assert group_reads(group([960, 40]), {"a"}, gap_bytes=0) == [(4, 1000)]
    assert group_reads(group([950, 50]), {"a"}, gap_bytes=0) == [(4, 950)]


@given(SIZES, st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True), st.integers(0, 10**6))
def test_every_wanted_byte_is_read_and_exactly_once_if_asked_for_in_the_file_s_order(
    sizes: list, columns: list, gap: int
) -> None:
    whole = group(sizes)
    for order in (columns, sorted(columns)):
        reads = group_reads(whole, order, gap)
        for chunk in whole.chunks:
            inside = [
                at <= chunk.offset and chunk.offset + chunk.size_bytes <= at + length for at, length in reads
            ]
            assert any(inside) or chunk.column not in columns
    ordered = sorted(reads)
    assert all(before[0] + before[1] <= after[0] for before, after in pairwise(ordered))


def test_a_long_footer_is_read_twice() -> None:
    short = FileShape(size_bytes=10**6, footer_bytes=1000, row_groups=())
    long = FileShape(size_bytes=10**6, footer_bytes=20_000, row_groups=())
    assert footer_reads(short.size_bytes, short.footer_bytes) == [(10**6 - 16_384, 16_384)]
    assert footer_reads(long.size_bytes, long.footer_bytes) == [
        (10**6 - 16_384, 16_384),
        (10**6 - 20_008, 20_000),
    ]


def test_a_filter_leaves_only_the_groups_it_cannot_rule_out() -> None:
    groups = tuple(group([10, 10], start=4 + 20 * n) for n in range(3))
    shape = FileShape(size_bytes=10**5, footer_bytes=100, row_groups=groups)
    reads = scan_reads(shape, {"a", "b"}).only(np.array([False, True, False]))
    assert reads.groups == [[], [(24, 20)], []]
    assert (reads.read_groups, reads.data_bytes, reads.count) == (1, 20, 2)


@pytest.mark.parametrize("columns", ["abc", "ac", "ca"])
def test_equal_groups_are_read_as_a_file_with_such_groups_is(columns: str) -> None:
    widths = [("a", 1.0), ("b", 20.0), ("c", 3.0)]
    made = even_reads(widths, 2_500, 1_000, columns, gap_bytes=100, footer_bytes_per_group=80)
    groups, at = [], 4
    for rows in (1_000, 1_000, 500):
        chunks = []
        for name, width in widths:
            chunks.append(ColumnChunk(column=name, offset=at, size_bytes=int(width * rows)))
            at += int(width * rows)
        groups.append(RowGroup(rows=rows, chunks=tuple(chunks)))
    shape = FileShape(size_bytes=at + 240 + 8, footer_bytes=240, row_groups=tuple(groups))
    there = scan_reads(shape, columns, gap_bytes=100)
    assert made.groups == there.groups
    assert made.rows.tolist() == there.rows.tolist()
