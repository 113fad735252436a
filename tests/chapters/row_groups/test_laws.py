"""Row groups: how many there are, and from which size on a scan is fast."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.row_groups import laws
from readahead.errors import BadValue


def test_the_published_row_count_makes_35_groups() -> None:
    assert laws.groups(36_585_420) == 35
    assert laws.groups(2**20) == 1 and laws.groups(2**20 + 1) == 2


@given(text=st.floats(0, 1e5), limit=st.floats(1e3, 1e9))
def test_a_group_closes_at_the_first_of_two_limits(text: float, limit: float) -> None:
    rows = laws.rows_per_group(text, limit)
    assert 1 <= rows <= laws.LARGEST_GROUP_ROWS
    assert rows * text <= limit or rows == 1
    full = rows == laws.LARGEST_GROUP_ROWS
    assert full or (rows + 1) * text > limit * (1 - 1e-9)


def test_negative_text_is_refused_in_words() -> None:
    with pytest.raises(BadValue, match="new_text_bytes_per_row=-1.* must be at least 0"):
        laws.rows_per_group(-1.0)


@given(rows=st.integers(1_000, 10**9), count=st.integers(1, 10_000), text=st.floats(1, 1_000))
def test_the_limit_is_found_again_from_the_groups(rows: int, count: int, text: float) -> None:
    limit = laws.dictionary_bytes(rows, count, text)
    again = laws.rows_per_group(text, limit, largest_rows=10**9)
    assert again == pytest.approx(max(1, rows / count), abs=1.001)


def test_below_the_smallest_good_size_every_scan_is_slower() -> None:
    rows = laws.sizes()
    seconds = 1e9 / rows + rows
    smallest = laws.smallest_good(rows, seconds)
    assert rows[0] < smallest < rows[seconds.argmin()]
    assert np.all((seconds <= seconds.min() * (1 + laws.NEAR)) <= (rows >= smallest))


@given(rows=st.integers(1, 10**6), values=st.floats(1, 1e6), width=st.floats(1, 100))
def test_a_dictionary_pays_by_its_own_rule(rows: int, values: float, width: float) -> None:
    column = laws.Column(name="c", value_bytes=width, values=values)
    words = laws.distinct_values(column, rows)
    assert 0 < words <= min(rows, values) * (1 + 1e-9) + 1e-9 or rows == 1
    plain = laws.chunk_bytes(column, rows, most_values=0)
    assert plain == rows * width
    assert laws.chunk_bytes(column, rows) == plain or words <= rows / laws.OWN_SHARE


@given(latency=st.floats(1e-5, 0.05), engine=st.floats(0, 1e-3), row=st.floats(1e-9, 1e-6))
def test_a_good_group_takes_a_tenth_longer_than_the_largest(
    latency: float, engine: float, row: float
) -> None:
    rows = laws.good_rows(latency, engine_s=engine, row_s=row)
    each, best = ((latency + engine) / n + row for n in (rows, laws.LARGEST_GROUP_ROWS))
    assert each <= best * 1.1 * (1 + 1e-9)
    assert rows == laws.VECTOR_ROWS or each == pytest.approx(1.1 * best)
    assert laws.growth(latency, 2 * latency, engine_s=engine, row_s=row) >= 1


def test_a_read_passes_ten_times_as_long_as_it_waits_or_each_read_has_one_group() -> None:
    numbers = {"latency_s": 0.03, "dispatch_s": 0.0, "bandwidth_bytes_per_s": 90e6, "in_flight": 8}
    rows = laws.rows_to_write(18.2, table_rows=1e9, **numbers)
    assert rows * 18.2 / 90e6 == pytest.approx(10 * 0.03)
    assert laws.rows_to_write(18.2, table_rows=262_144, **numbers) == 262_144 / 8
