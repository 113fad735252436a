"""Bounds that bind, commits that are shared, and how many runs settle a difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from readahead.chapters.loading import laws
from readahead.chapters.loading.laws import LoadCosts
from readahead.devices import Device
from readahead.errors import BadValue
from readahead.measure import scalability

SLOW = Device(name="slow", latency_s=0.004, bandwidth_bytes_per_s=1e8, channels=16)
COSTS = LoadCosts(batch_s=1e-3, row_s=3e-7, bytes_per_row=13.0)


MANY = 10_000


def rate(writers: int, commit_rows: int = 500, device: Device = SLOW, costs: LoadCosts = COSTS) -> float:
    """Return the rows a second of many batches."""
    seconds = laws.load_s(device, costs, writers=writers, commit_rows=commit_rows, batches=MANY)
    return MANY * commit_rows / seconds


def test_few_writers_nearly_add_up_and_many_stand_in_line() -> None:
    assert 1.9 * rate(1) < rate(2) < 2 * rate(1)
    assert rate(64) == pytest.approx(rate(32), rel=0.01) == 500 / (1e-3 + 500 * 3e-7)


def test_one_channel_and_a_thin_link_each_bind() -> None:
    single = SLOW.but(channels=1)
    assert rate(16, device=single) == pytest.approx(500 / laws.batch_service_s(single, 6_500), rel=0.01)
    thin = SLOW.but(bandwidth_bytes_per_s=1e5, channel_bandwidth_bytes_per_s=1e5)
    assert rate(64, 10_000, thin) == pytest.approx(1e5 / 13, rel=0.01)


def test_a_writer_that_wakes_late_delays_itself_and_not_a_device_that_has_the_batches_of_others() -> None:
    late, single = replace(COSTS, wake_8_s=5e-3, wake_32_s=5e-3), SLOW.but(channels=1)
    assert rate(16, device=single, costs=late) == pytest.approx(rate(16, device=single), rel=0.01)
    assert rate(1, device=single, costs=late) < 0.9 * rate(1, device=single)


@given(st.integers(1, 64), st.integers(1, 64), st.integers(10, 10_000))
def test_more_writers_never_do_less_and_never_more_than_the_bounds(few: int, many: int, rows: int) -> None:
    few, many = sorted((few, many))
    assert rate(few, rows) <= rate(many, rows) * (1 + 1e-3)
    make_s, wait_s = 1e-3 + rows * 3e-7, laws.batch_service_s(SLOW, rows * 13)
    gain = laws.writers_gain(
        many, make_s=make_s, wait_s=wait_s, channels=16, link_s=rows * 13 / SLOW.bandwidth_bytes_per_s
    )
    assert rate(many, rows) <= rows * gain / (make_s + wait_s) * (1 + 1e-3)


def test_a_round_of_two_writers_is_what_mean_value_analysis_says() -> None:
    """Alone each takes 1 + 2 + 3 s; of two, each finds a station as often taken as the other one is there."""

    def round_s(writers: int, add: float, link_s: float = 0.0) -> float:
        return laws.cycle_s(writers, lambda many: 1 + add * (many - 1), 2.0, 1, link_s, rest_s=3.0)

    assert round_s(1, 1) == round_s(1, 1, link_s=0.6) == pytest.approx(6)
    assert round_s(2, 1) == pytest.approx(3 + 1 * (1 + 1 / 6) + 2 * (1 + 2 / 6))
    assert round_s(2, 0.25) == pytest.approx(3 + 1 * (1 + 0.25 / 6) + 2 * (1 + 2 / 6))  # two cores, or nearly
    more_s = round_s(2, 1, link_s=0.6) - round_s(2, 1)  # half of what crosses is left, and then all of it
    assert more_s == pytest.approx(0.6 * (0.1 / 2 + 0.1))


def test_three_make_batches_at_once_for_a_share_of_the_time_however_few_do_in_the_mean() -> None:
    """On two cores two take no longer than one; of two others both make a batch for a ninth of the time."""
    took_s = {1: 1.0, 2: 1.0, 3: 3.0}
    round_s = laws.cycle_s(3, lambda many: took_s[round(many)], 2.0, 64)
    assert round_s == pytest.approx(2 + 1 * 4 / 9 + 1 * 4 / 9 + 3 * 1 / 9)


@pytest.mark.parametrize("writers", [4, 16, 64])
def test_a_link_that_is_always_busy_takes_a_batch_from_each_writer_in_a_round(writers: int) -> None:
    round_s = laws.cycle_s(writers, lambda many: 1e-3 * many, 1.0, 64, 1.0)
    assert round_s == pytest.approx(writers, rel=0.03)


def test_each_writer_that_makes_one_batch_passes_the_slowest_station_after_the_others() -> None:
    costs = replace(COSTS, row_share=0.5, share_8=0.5, start_s=3e-3, writer_s=1e-4)
    seconds = laws.load_s(SLOW, costs, writers=8, commit_rows=500, batches=8)
    alone_s = 1e-3 + 500 * 3e-7
    assert seconds == pytest.approx(
        alone_s + laws.batch_service_s(SLOW, 6_500) + 7 * 0.5 * alone_s + 3e-3 + 8 * 1e-4, rel=1e-3
    )


def test_a_batch_takes_longer_the_more_are_made_at_once_on_straight_lines() -> None:
    costs = replace(COSTS, row_s=0.0, share_2=0.8, share_4=0.7, share_8=0.75, share_64=0.9)
    batches = (1, 1.5, 3, 4, 8, 36, 64)
    made_ms = [1e3 * costs.made_s(500, many) for many in batches]
    assert made_ms == pytest.approx([1, 1.3, 2.2, 2.8, 6, 31.8, 57.6])
    rates = [rate(writers, costs=costs, device=SLOW.but(latency_s=1e-6)) for writers in (4, 8, 64)]
    assert np.divide(rates[0], rates) == pytest.approx([1, 0.75 / 0.7, 0.9 / 0.7], rel=0.02)


def test_rows_are_made_at_once_on_as_many_cores_as_there_are_and_take_as_long_as_alone_until_then() -> None:
    costs = replace(COSTS, batch_s=0.0, row_s=1e-6, row_share=0.5)
    assert [costs.made_s(1_000, many) for many in (1, 2, 3, 64)] == pytest.approx([1e-3, 1e-3, 1.5e-3, 32e-3])


def test_those_who_wait_for_the_device_do_not_keep_the_others_from_making_batches() -> None:
    """Sixteen without a wait make sixteen at once; while nine of them wait it is seven, and each is ready sooner."""
    costs = replace(COSTS, share_2=0.8, share_4=0.7, share_8=0.75, share_64=0.95)
    near, far = (
        500 / rate(16, costs=costs, device=SLOW.but(latency_s=latency_s, channels=64))
        for latency_s in (1e-6, 4e-3)
    )
    assert far < near


def test_what_waiting_costs_grows_with_the_wait_on_straight_lines_up_to_32_ms() -> None:
    costs = replace(COSTS, wake_8_s=0.4e-3, wake_32_s=2.4e-3)
    woken_ms = [1e3 * costs.woken_s(wait_s) for wait_s in (0.0, 2e-3, 8e-3, 20e-3, 32e-3, 1.0)]
    assert woken_ms == pytest.approx([0, 0.1, 0.4, 1.4, 2.4, 2.4])


def test_nobody_waits_for_a_channel_while_there_is_one_for_each_writer() -> None:
    far = SLOW.but(latency_s=0.02, channels=4)

    def load_s(writers: int, channels: int) -> float:
        device = far.but(channels=channels)
        return laws.load_s(device, COSTS, writers=writers, commit_rows=100, batches=64)

    assert load_s(4, 4) == pytest.approx(load_s(4, 1_000))
    safe_s = laws.batch_service_s(far, 1_300)
    assert 64 * safe_s / 4 < load_s(5, 4) == pytest.approx(64 * safe_s / 4, rel=0.05)


def test_the_device_is_not_busy_before_as_many_batches_are_made_as_it_has_channels_and_one_more() -> None:
    far = SLOW.but(latency_s=0.02, channels=4)
    costs = replace(COSTS, row_share=0.8, share_4=0.8, share_8=0.8, share_64=0.8)
    make_s, safe_s = 0.8 * (1e-3 + 100 * 3e-7), laws.batch_service_s(far, 1_300)
    for writers in (5, 16):
        seconds = laws.load_s(far, costs, writers=writers, commit_rows=100, batches=writers)
        assert seconds == pytest.approx(writers / 4 * safe_s + 5 * make_s)


def test_a_shared_commit_is_cheaper_for_each_row() -> None:
    each = [laws.commit_time_s(1_000, k, commit_s=1e-3, row_s=1e-6) / 1_000 for k in (1, 10, 1_000)]
    assert each == sorted(each, reverse=True)
    assert each[0] == pytest.approx(1e-3 + 1e-6)


def test_half_the_difference_takes_four_times_the_runs() -> None:
    assert laws.runs_to_settle(0.05, 0.05) == 23
    assert laws.runs_to_settle(0.01, 0.05) == pytest.approx(4 * laws.runs_to_settle(0.02, 0.05), rel=0.05)
    assert laws.runs_to_settle(1.0, 1e-6) == 2
    with pytest.raises(BadValue, match="difference"):
        laws.runs_to_settle(0.0, 0.05)


@pytest.mark.parametrize(("difference", "spread"), [(0.05, 0.05), (0.07, 0.021), (0.03, 0.021), (0.2, 0.05)])
def test_the_runs_that_it_names_settle_it_by_a_t_test(difference: float, spread: float) -> None:
    rng, runs = np.random.default_rng(7), laws.runs_to_settle(difference, spread)
    first, second = rng.normal(1, spread, (2, 4_000, runs))
    _, chance = stats.ttest_ind(first, second + difference, axis=1)
    assert np.mean(chance < 0.05) > 0.87  # nine times in ten, and the rest is the formula's rounding


def test_an_interval_of_a_difference_holds_the_truth_as_often_as_it_says() -> None:
    rng, held = np.random.default_rng(3), 0
    for _ in range(800):
        first, second = rng.normal(1.0, 0.02, 5), rng.normal(1.03, 0.05, 8)
        held += abs(laws.difference(first, second) - 0.03) <= laws.half_width(first, second)
    assert 0.93 <= held / 800 <= 0.98


def test_one_run_of_each_settles_nothing_however_far_apart() -> None:
    assert laws.half_width([100.0], [500.0]) == laws.half_width([100.0] * 4, [500.0]) == np.inf
    assert laws.half_width([100.0, 101.0], [500.0, 501.0]) < abs(laws.difference([100.0], [500.0]))


def test_the_universal_scalability_law_has_its_peak_where_it_says() -> None:
    peak = laws.peak(0.05, 0.002)
    assert laws.capacity(peak, 0.05, 0.002) > max(laws.capacity(peak * by, 0.05, 0.002) for by in (0.9, 1.1))
    assert laws.capacity(16, 1.0, 0.0) == 1 and laws.capacity(16, 0.0, 0.0) == 16
    assert laws.capacity(9, 0.05, 0.002) == pytest.approx(float(scalability.capacity(9, 0.05, 0.002)))


def test_sixteen_writers_gain_until_something_is_used_up() -> None:
    assert laws.writers_gain(4, make_s=1e-3, wait_s=8e-3, channels=16) == 4
    assert laws.writers_gain(16, make_s=1e-3, wait_s=8e-3, channels=16) == pytest.approx(9)
    assert laws.writers_gain(16, make_s=1e-3, wait_s=8e-3, channels=2) == pytest.approx(2.25)


def test_the_spread_of_equal_runs_is_nothing() -> None:
    assert laws.spread([1.0, 1.0, 1.0]) == 0
    with pytest.raises(BadValue, match="at least 2.*Run it more often"):
        laws.spread([1.0])
