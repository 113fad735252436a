"""One at a time, all at once, and how many places random rows lie in: laws, and dice that are really thrown."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.lookups import laws
from readahead.errors import BadValue

RNG = np.random.default_rng(7)


@pytest.mark.parametrize(("reads", "disks"), [(8, 8), (26, 8), (100, 64), (399, 4), (1_000, 8), (10_000, 8)])
def test_the_fullest_disk_gets_what_thrown_balls_say(reads: int, disks: int) -> None:
    thrown = RNG.multinomial(reads, [1 / disks] * disks, size=20_000).max(axis=1)
    error = thrown.std() / len(thrown) ** 0.5
    assert laws.fullest(reads, disks) == pytest.approx(thrown.mean(), abs=5 * error + 0.022 * thrown.mean())


@given(st.integers(1, 2_000), st.integers(1, 64))
def test_the_fullest_disk_gets_its_share_at_least_and_all_at_most(reads: int, disks: int) -> None:
    got = laws.fullest(reads, disks)
    assert reads / disks * (1 - 1e-9) <= got <= reads
    assert laws.fullest(reads, 1) == reads
    assert laws.fullest(1, disks) == 1
    assert got <= laws.fullest(reads + 1, disks)


@given(st.integers(1, 300), st.integers(1, 64), st.floats(1e-5, 0.05))
def test_a_batch_is_never_slower_than_one_by_one(reads: int, disks: int, service_s: float) -> None:
    assert laws.batch_s(reads, disks, service_s) <= reads * service_s * (1 + 1e-9)
    assert laws.batch_s(reads, disks, service_s, gain=0.1) <= laws.batch_s(reads, disks, service_s)


def test_the_mean_wait_is_what_a_queue_played_out_says() -> None:
    waits = []
    for _ in range(4_000):
        behind = [0] * 8
        for disk in RNG.integers(0, 8, 26):
            behind[disk] += 1
            waits.append(behind[disk])
    assert laws.mean_wait_s(26, 8, 1.0) == pytest.approx(np.mean(waits), rel=0.02)
    assert laws.mean_wait_s(1, 8, 0.004) == 0.004


def test_littles_law_needs_no_distribution() -> None:
    arrive = np.sort(RNG.uniform(0, 100, 5_000))
    stay = RNG.exponential(0.3, 5_000)
    times = np.linspace(0, 100.0, 20_001)
    there = np.searchsorted(arrive, times) - np.searchsorted(np.sort(arrive + stay), times)
    assert laws.in_flight(5_000 / 100, float(stay.mean())) == pytest.approx(there.mean(), rel=0.02)


@pytest.mark.parametrize(("places", "rows"), [(128, 10), (128, 100), (1_000, 1_000), (20, 400)])
def test_cardenas_counts_what_drawn_rows_hit(places: int, rows: int) -> None:
    hits = [np.unique(RNG.integers(0, places, rows)).size for _ in range(2_000)]
    assert laws.distinct(places, rows) == pytest.approx(np.mean(hits), rel=0.01)
    assert laws.spread(places, rows) == pytest.approx(np.std(hits), rel=0.15, abs=0.02)


@given(st.integers(2, 500), st.integers(2, 200), st.integers(1, 300))
def test_yao_lies_between_cardenas_and_everything(places: int, in_place: int, rows: int) -> None:
    every = places * in_place
    exact = laws.distinct_of(places, every, min(rows, every))
    assert laws.distinct(places, min(rows, every)) <= exact * (1 + 1e-6)
    assert exact <= min(places, rows) * (1 + 1e-6)


def test_without_repeats_all_rows_hit_all_places() -> None:
    assert laws.distinct_of(10, 100, 100) == 10
    assert laws.distinct_of(10, 100, 1) == pytest.approx(1)
    assert laws.distinct(1, 5) == 1


def test_no_disks_are_refused() -> None:
    with pytest.raises(BadValue, match="disks=0"):
        laws.fullest(26, 0)


def test_chance_throws_as_the_law_says() -> None:
    assert laws.throw(26, 8, seed=3).sum() == 26
    mean = np.mean([laws.throw(26, 8, seed=seed).max() for seed in range(400)])
    assert laws.fullest(26, 8) == pytest.approx(mean, rel=0.04)
    assert laws.speed_up(1, 64) == 1
    assert laws.speed_up(26, 8) == pytest.approx(26 / mean, rel=0.04)


def test_what_is_not_done_side_by_side_limits_the_gain() -> None:
    assert laws.gain_at_most(1.0, 7.0, 7.0) == pytest.approx(4.0)
    assert laws.gain_at_most(0.0, 7.0, 7.0) == pytest.approx(7.0)
    assert laws.step_gain(143, 28, 0.002, 0.136) == pytest.approx(143 / 96)


def test_the_rule_of_thumb_is_exact_where_every_row_takes_as_long() -> None:
    assert laws.worth_looking_up(scan_s=3.0, lookup_s=0.5, rows=25) == pytest.approx(150)
    assert laws.lookups_per_s(1.04, 0.0041) == pytest.approx(234.5, rel=0.001)
