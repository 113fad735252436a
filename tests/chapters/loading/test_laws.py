"""Bounds that bind, commits that are shared, and how many runs settle a difference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.loading import laws
from readahead.chapters.loading.laws import LoadCosts
from readahead.devices import Device
from readahead.errors import BadValue

SLOW = Device(name="slow", latency_s=0.004, bandwidth_bytes_per_s=1e8, channels=16)
COSTS = LoadCosts(batch_s=1e-3, row_s=3e-7, bytes_per_row=13.0)


def rate(writers: float, commit_rows: float = 500, device: Device = SLOW) -> float:
    """Return the rows a second."""
    return laws.rows_per_s(device, COSTS, writers=writers, commit_rows=commit_rows)


def test_few_writers_add_up_and_many_stand_in_line() -> None:
    assert rate(2) == pytest.approx(2 * rate(1))
    assert rate(64) == rate(32) == pytest.approx(500 / (1e-3 + 500 * 3e-7))


def test_one_channel_and_a_thin_link_each_bind() -> None:
    single = SLOW.but(channels=1)
    assert rate(16, device=single) == pytest.approx(500 / laws.batch_service_s(single, 6_500))
    thin = SLOW.but(bandwidth_bytes_per_s=1e5, channel_bandwidth_bytes_per_s=1e5)
    assert rate(64, 10_000, thin) == pytest.approx(1e5 / 13)


@given(st.integers(1, 64), st.integers(1, 64), st.integers(10, 10_000))
def test_more_writers_never_do_less_by_these_bounds(few: int, many: int, rows: int) -> None:
    few, many = sorted((few, many))
    assert rate(few, rows) <= rate(many, rows) * (1 + 1e-9)


def test_a_shared_commit_is_cheaper_for_each_row() -> None:
    each = [laws.commit_time_s(1_000, k, commit_s=1e-3, row_s=1e-6) / 1_000 for k in (1, 10, 1_000)]
    assert each == sorted(each, reverse=True)
    assert each[0] == pytest.approx(1e-3 + 1e-6)


def test_half_the_difference_takes_four_times_the_runs() -> None:
    assert laws.runs_to_settle(0.05, 0.05) == 22
    assert laws.runs_to_settle(0.01, 0.05) == pytest.approx(4 * laws.runs_to_settle(0.02, 0.05), rel=0.05)
    with pytest.raises(BadValue, match="difference"):
        laws.runs_to_settle(0.0, 0.05)


def test_the_runs_that_it_names_settle_it() -> None:
    rng, runs = np.random.default_rng(7), laws.runs_to_settle(0.05, 0.05)
    draws = rng.normal(0, 0.05, (4_000, 2, runs))
    apart = (draws[:, 0].mean(axis=1) + 0.05) - draws[:, 1].mean(axis=1)
    seen = np.mean(apart > 1.96 * 0.05 * np.sqrt(2 / runs))
    assert seen == pytest.approx(0.9, abs=0.04)


def test_the_range_of_five_is_tippetts() -> None:
    assert laws.expected_range(5) == pytest.approx(2.326, abs=0.002)
    assert laws.spread([1.0, 1.0, 1.0]) == 0
