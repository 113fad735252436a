"""Pages above pages, chains and lists, and what a sample of whole groups knows."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.index_pages import laws
from readahead.chapters.index_pages.laws import READER_S
from readahead.chapters.index_pages.workload import SAMPLED, PageIndex, pages_read, scheduled
from readahead.devices import Device
from readahead.models.reads import spans_of
from readahead.units import KiB

FAR = Device(name="far", latency_s=0.004, bandwidth_bytes_per_s=100e6, channels=64)


@given(st.integers(2, 10**8), st.integers(2, 622))
def test_each_level_lists_the_one_below_and_the_last_is_one_root(leaves: int, entries: int) -> None:
    found = laws.levels(leaves, entries)
    assert found[0] == leaves and found[-1] == 1
    for below, above in itertools.pairwise(found):
        assert above * entries >= below > (above - 1) * entries


@given(st.floats(1, 4000))
def test_a_wider_key_never_fits_more_often(key: float) -> None:
    narrow, wide = (laws.entry_bytes(size, nullable=False) for size in (key, key + 1))
    assert laws.fanout(wide) <= laws.fanout(narrow)
    assert laws.entry_bytes(key, nullable=True) > narrow


def test_a_small_index_is_not_sampled() -> None:
    for leaves, sampled in ((9_999, 9_999), (10_000, 100)):
        assert len(pages_read(PageIndex(leaf_pages=leaves, fanout=40), SAMPLED)[1]) == sampled


@given(st.integers(1, 300), st.sampled_from([8, 16, 64]), st.floats(1e-3, 1e-2), st.floats(2e7, 1e9))
def test_a_chain_is_the_sum_of_its_reads(reads: int, size: int, latency_s: float, bandwidth: float) -> None:
    device = FAR.but(latency_s=latency_s, bandwidth_bytes_per_s=bandwidth)
    spans = spans_of([(n * 64 * KiB, size * KiB) for n in range(reads)])
    law = laws.chain_s(reads, size * KiB, latency_s=latency_s, bandwidth_bytes_per_s=bandwidth)
    assert scheduled(device, spans, 1).seconds == pytest.approx(law, rel=1e-9)


@given(st.integers(20, 300), st.integers(1, 64), st.floats(1e-3, 1e-2), st.floats(2e7, 1e9))
def test_a_list_is_never_slower_than_a_chain_and_its_law_is_near_the_schedule(
    reads: int, depth: int, latency_s: float, bandwidth: float
) -> None:
    device = FAR.but(latency_s=latency_s, bandwidth_bytes_per_s=bandwidth)
    spans = spans_of([(n * 64 * KiB, 16 * KiB) for n in range(reads)])
    exact = scheduled(device, spans, depth).seconds
    assert exact <= scheduled(device, spans, 1).seconds + reads * READER_S
    law = laws.list_s(reads, 16 * KiB, depth, latency_s=latency_s, bandwidth_bytes_per_s=bandwidth)
    wave = latency_s + 16 * KiB / bandwidth + READER_S  # what a last wave that is not full may add
    assert abs(exact - law) <= wave + 0.02 * exact


def test_a_deeper_list_is_never_slower() -> None:
    times = [
        laws.list_s(200, 8 * KiB, depth, latency_s=0.004, bandwidth_bytes_per_s=1e8)
        for depth in range(1, 129)
    ]
    assert times == sorted(times, reverse=True)
    assert times[0] == laws.chain_s(200, 8 * KiB, latency_s=0.004, bandwidth_bytes_per_s=1e8)
    assert times[-1] < times[0] / 10


def test_groups_that_agree_leave_no_doubt_and_groups_that_do_not_leave_much() -> None:
    share, give = laws.share_of([100] * 8, [50] * 8, of_groups=64)
    assert (share, give) == (0.5, 0.0)
    share, give = laws.share_of([100] * 8, [100, 0] * 4, of_groups=64)
    assert share == 0.5
    assert give == pytest.approx(laws.sorted_half_width(8, 64))


def test_one_group_says_nothing_of_the_spread_and_all_of_them_say_everything() -> None:
    assert laws.share_of([100], [40], of_groups=64) == (0.4, math.inf)
    assert laws.share_of([100] * 4, [0, 100, 0, 100], of_groups=4)[1] == 0
    assert math.isnan(laws.share_of([], [], of_groups=64)[0])


@pytest.mark.parametrize("in_order", [True, False])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(in_order: bool) -> None:
    rng = np.random.default_rng(5)
    early = np.arange(64 * 256) < 64 * 256 // 2
    groups = (early if in_order else rng.permutation(early)).reshape(64, 256).sum(axis=1)
    held = 0
    for _ in range(400):
        drawn = rng.choice(64, 16, replace=False)
        share, give = laws.share_of([256] * 16, groups[drawn], of_groups=64)
        held += abs(share - 0.5) <= give
    assert 0.90 <= held / 400 <= 0.99
