"""Laws of scaling, and a product that gives back the factors it was made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.scale_out import laws
from readahead.errors import BadValue
from readahead.measure.scalability import capacity


@given(st.floats(0.5, 4), st.integers(2, 16))
def test_contention_gives_back_the_speed_up_it_came_from(speedup: float, nodes: int) -> None:
    assert float(capacity(nodes, laws.contention(speedup, nodes), 0.0)) == pytest.approx(speedup)


def test_a_speed_up_above_the_nodes_is_a_contention_below_nothing() -> None:
    assert laws.contention(2.55, 2) < 0 < laws.contention(1.65, 2)


def test_caches_that_add_up_make_two_nodes_more_than_twice_as_fast() -> None:
    given = {"data_bytes": 100.0, "cache_bytes_per_s": 10.0, "device_bytes_per_s": 1.0}
    gains = [
        laws.cached_s(1, cache_bytes=size, **given) / laws.cached_s(2, cache_bytes=size, **given)
        for size in (60.0, 100.0)
    ]
    assert gains[0] > 2
    assert gains[1] == pytest.approx(2)


@given(st.floats(0.1, 10), st.floats(0, 1))
def test_a_node_that_dies_costs_its_whole_part_once_more(part_s: float, share: float) -> None:
    took_s = laws.failover_s([part_s, part_s], after_s=share * part_s, notice_s=0.0)
    assert took_s == pytest.approx(2 * part_s)


@given(st.floats(1e3, 1e12), st.integers(2, 16), st.floats(1e6, 1e10))
def test_at_the_limit_both_ways_to_join_take_as_long(large: float, nodes: int, rate: float) -> None:
    limit = laws.push_limit_bytes(large, nodes)

    def gain(size: float) -> float:
        shuffled = laws.shuffled_s(size, large, nodes, link_bytes_per_s=rate)
        return shuffled / laws.pushed_s(size, nodes, link_bytes_per_s=rate)

    assert gain(limit) == pytest.approx(1)
    assert gain(limit / 2) > 1 > gain(limit * 2)


def test_a_query_that_waits_half_as_often_is_twice_as_fast_if_it_does_nothing_else() -> None:
    assert laws.node_gain(130, 66, wait_s=0.01, once_s=0.0) == pytest.approx(130 / 66)
    assert laws.node_gain(130, 66, wait_s=0.0, once_s=1.0) == 1


def test_sending_a_side_whole_pays_up_to_the_limit() -> None:
    limit = laws.push_limit_bytes(8e9, 3)
    assert laws.push_gain(limit, 8e9, 3) == pytest.approx(1)
    assert laws.push_gain(limit / 2, 8e9, 3) < 1 < laws.push_gain(limit * 2, 8e9, 3)


def test_a_product_finds_its_factors_in_times_and_tells_a_time_that_it_has_not_seen() -> None:
    facts, seconds = [[False, False], [True, False], [False, True]], [10.0, 20.0, 5.0]
    told = [laws.product_s(facts, seconds, asked) for asked in [*facts, [True, True]]]
    assert told == pytest.approx([10, 20, 5, 10])


def test_factors_that_always_come_together_are_refused() -> None:
    with pytest.raises(BadValue, match="come together"):
        laws.product_s([[True, True], [False, False], [True, True]], [1.0, 2.0, 3.0], [True, True])
