"""Crates on a conveyor: how many there are, who idles, and where the sweet spot lies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.row_groups import laws
from readahead.devices import device
from readahead.errors import BadValue
from readahead.models.scan import Layout, scan_times
from readahead.models.schedule import Costs, Window

TABLE = Layout(rows=36_585_420, row_group_rows=2_048, bytes_per_row=76.7)
ONE = Window(slots=1, depth=1, threads=1)
COSTS = Costs()


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


def test_nobody_idles_when_groups_come_in_whole_waves() -> None:
    assert laws.idle_share([8, 16], 8) == pytest.approx([0, 0])
    assert laws.idle_share(1, 8) == pytest.approx(7 / 8)
    assert laws.idle_share(9, 8) == pytest.approx(7 / 16)


@given(count=st.integers(1, 10_000), threads=st.integers(1, 256))
def test_more_than_half_is_lost_only_below_one_wave(count: int, threads: int) -> None:
    idle = float(laws.idle_share(count, threads))
    assert -1e-12 <= idle < 1
    assert count < threads or idle < 0.5


@pytest.mark.parametrize("name", ["nvme", "object-store", "usb-disk", "cloud-volume"])
def test_no_size_beats_the_sweet_spot(name: str) -> None:
    chosen = device(name)
    spot = laws.sweet_spot(chosen, TABLE, ONE, COSTS)
    assert spot.smallest_rows <= spot.best_rows <= spot.largest_rows
    for rows in (2_048, 16_384, 131_072, 1_048_576):
        seconds = float(scan_times(chosen, replace(TABLE, row_group_rows=rows), ONE, COSTS).seconds)
        assert seconds >= spot.seconds * (1 - 1e-9)
        if rows < spot.smallest_rows:
            assert seconds > spot.seconds * (1 + laws.NEAR)


def test_the_sweet_spot_moves_by_orders_of_magnitude_with_the_latency() -> None:
    near, far = device("nvme"), device("object-store")
    one = laws.smallest_good_rows(near, [near.latency_s, far.latency_s], TABLE, ONE, COSTS)
    assert one[1] / one[0] > 20
    many = Window(slots=32, depth=32, threads=1)
    deep = laws.smallest_good_rows(near, [near.latency_s, far.latency_s], TABLE, many, COSTS)
    assert deep[1] / deep[0] < one[1] / one[0]


def test_a_slower_answer_never_asks_for_smaller_groups() -> None:
    latencies = np.geomspace(20e-6, 0.05, 40)
    rows = laws.smallest_good_rows(device("nvme"), latencies, TABLE, ONE, COSTS)
    assert (np.diff(rows) >= 0).all()


def test_one_search_and_many_agree() -> None:
    far = device("object-store")
    spot = laws.sweet_spot(far, TABLE, ONE, COSTS)
    assert laws.smallest_good_rows(far, [far.latency_s], TABLE, ONE, COSTS) == [spot.smallest_rows]
