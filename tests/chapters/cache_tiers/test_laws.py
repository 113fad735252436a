"""What a cache finds, what its tiers take, and what a page of memory is worth."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.cache_tiers import laws
from readahead.chapters.cache_tiers.cached_case import drawn
from readahead.devices import Device
from readahead.units import KiB, MiB


def kept(asked: list[int], sizes: list[int], room: float, before: list[int]) -> float:
    """Return the hit ratio of a plain cache that drops the least recently used, item by item."""
    cache: OrderedDict[int, int] = OrderedDict()
    hits = 0
    for number, item in enumerate([*before, *asked], start=-len(before)):
        if item in cache:
            hits += sizes[item] * (number >= 0)
            cache.move_to_end(item)
        cache[item] = sizes[item]
        while sum(cache.values()) > room:
            cache.popitem(last=False)
    return hits / sum(sizes[item] for item in asked)


@given(st.integers(2, 40), st.floats(0, 1.5), st.integers(1, 60), st.integers(1, 12))
def test_one_pass_tells_the_hits_of_a_cache_of_any_size(
    items: int, skew: float, count: int, room: int
) -> None:
    asked = list(drawn(items, count, skew))
    sizes = [10] * items
    wanted = np.full(count, 10.0)
    for before in ([], asked):
        reuse = laws.reuse_bytes(asked, sizes, before)
        found = wanted[reuse <= 10 * room].sum() / wanted.sum()
        assert found == pytest.approx(kept(asked, sizes, 10 * room, before))


@given(st.integers(2, 200), st.floats(0, 1.5))
def test_ches_law_grows_with_memory_from_nothing_to_everything(items: int, skew: float) -> None:
    assert laws.popularity(items, skew).sum() == pytest.approx(1)
    hits = [laws.che_hit_ratio(items, skew, capacity) for capacity in np.linspace(0.01, items, 25)]
    assert np.all(np.diff(hits) >= -1e-9)
    assert hits[-1] == pytest.approx(1)
    assert max(hits) <= 1 + 1e-9


def test_uniform_access_hits_as_often_as_there_is_memory() -> None:
    found = [laws.che_hit_ratio(100, 0.0, capacity) for capacity in (25, 50, 75)]
    assert found == pytest.approx([0.25, 0.5, 0.75], abs=1e-6)


@pytest.mark.parametrize("skew", [0.0, 0.7, 1.0, 1.4])
@pytest.mark.parametrize("room", [6, 16, 48])
def test_ches_law_is_within_a_point_of_a_long_replay(skew: float, room: int) -> None:
    asked = drawn(64, 20_000, skew)
    reuse = laws.reuse_bytes(asked[2_000:], [1] * 64, asked[:2_000])
    replayed = np.mean(reuse <= room)
    law = laws.che_hit_ratio(64, skew, room)
    assert law == pytest.approx(replayed, abs=0.01)


def test_a_scan_that_comes_back_finds_nothing_until_it_fits() -> None:
    asked = list(range(20))
    reuse = laws.reuse_bytes(asked, [1] * 20, asked)
    assert [np.mean(reuse <= capacity) for capacity in (10, 19, 20)] == [0, 0, 1]
    assert [laws.cyclic_hit_ratio(capacity) for capacity in (0.5, 0.99, 1.0)] == [0, 0, 1]
    assert laws.cyclic_hit_ratio(1.1, taken=0.3) == pytest.approx(0.8)
    assert [laws.cyclic_hit_ratio(1.1, held=held) for held in (0.09, 0.11)] == [1, 0]


def test_a_cache_drops_what_was_used_longest_ago() -> None:
    steps = laws.lru("abacab", room=2)
    assert [hit for _, hit, _ in steps] == [False, False, True, False, True, False]
    assert [holds for *_, holds in steps][-2:] == [["a", "c"], ["b", "a"]]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40), st.integers(1, 10), st.integers(1, 4))
def test_a_replay_counts_the_hits_of_that_very_run(asked: list[int], room: int, run: int) -> None:
    reuse = laws.reuse_bytes(asked, [1] * 10, asked * (run - 1))
    assert laws.replayed(asked, room, run) == pytest.approx(np.mean(reuse <= room))


def test_a_cache_that_drops_the_last_used_finds_two_thirds_of_a_scan() -> None:
    holds, hits = [], 0
    for item in [0, 1, 2, 3] * 300:
        hits += item in holds
        if item not in holds and len(holds) == 3:
            holds.pop()  # the one used last
        holds = [other for other in holds if other != item] + [item]
    assert hits / 1_200 == pytest.approx(2 / 3, abs=0.01)  # the answer of an exercise


def test_eighty_per_cent_of_hits_is_less_than_five_times_as_fast() -> None:
    assert laws.gain((0, 1), (0.8, 0.2), (1e-3, 50e-3)) == pytest.approx(50 / 10.8)
    assert laws.average_access_s([0.8, 0.2], [1e-3, 50e-3]) == pytest.approx(10.8e-3)
    assert laws.gain((0, 1), (0, 1), (1e-3, 50e-3)) == 1
    assert laws.gain((0, 1), (1, 0), (0.0, 9e-3), own_s=1e-3) == pytest.approx(10)


def test_a_scan_gains_what_it_no_longer_waits_for() -> None:
    assert laws.scan_gain(64, 0, in_flight=2, latency_s=0.02, own_s=0.08) == pytest.approx(9)


def test_a_fetch_waits_once_for_each_round_of_blocks() -> None:
    device = Device(name="far", latency_s=0.01, bandwidth_bytes_per_s=1e8, channels=4)
    whole = laws.fetch_s(device, 1 * MiB, 2 * MiB, slots=8)
    cut = laws.fetch_s(device, 1 * MiB, 128 * KiB, slots=8)
    assert whole == pytest.approx((0.01, MiB / 1e8))
    assert cut == pytest.approx((0.02, MiB / 1e8))


def test_the_five_minute_rule_was_about_five_minutes() -> None:
    then = laws.break_even_s(KiB, drive_price=2_000, reads_per_s=1, memory_price_per_byte=5 / KiB)
    assert 240 < then < 480


@given(st.floats(1, 1e4), st.floats(10, 1e6), st.floats(1e-10, 1e-2))
def test_dearer_memory_keeps_pages_for_a_shorter_time(drive: float, reads: float, memory: float) -> None:
    told = {"drive_price": drive, "reads_per_s": reads}
    dear, long = (laws.break_even_s(page, memory_price_per_byte=memory, **told) for page in (4_096, 65_536))
    cheap = laws.break_even_s(4_096, memory_price_per_byte=memory / 2, **told)
    assert cheap == pytest.approx(2 * dear)
    assert dear >= long
