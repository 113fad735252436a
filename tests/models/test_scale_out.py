"""Laws of scaling, and a product that gives back the factors it was made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.errors import BadValue
from readahead.models import scale_out


@given(st.floats(0, 1), st.floats(0, 0.1), st.integers(1, 100))
def test_with_contention_nobody_is_faster_than_its_nodes(alpha: float, beta: float, nodes: int) -> None:
    assert float(scale_out.usl(nodes, alpha, beta)) <= nodes + 1e-9


@given(st.floats(0.01, 1))
def test_amdahls_law_ends_at_one_over_the_serial_share(serial: float) -> None:
    assert float(scale_out.usl(1e9, serial)) == pytest.approx(1 / serial, rel=1e-3)
    assert float(scale_out.usl(2, serial)) == pytest.approx(1 / (serial + (1 - serial) / 2))


@given(st.floats(0.5, 4), st.integers(2, 16))
def test_contention_gives_back_the_speed_up_it_came_from(speedup: float, nodes: int) -> None:
    assert float(scale_out.usl(nodes, scale_out.contention(speedup, nodes))) == pytest.approx(speedup)


def test_a_speed_up_above_the_nodes_is_a_contention_below_nothing() -> None:
    assert scale_out.contention(2.55, 2) < 0 < scale_out.contention(1.65, 2)


@given(st.floats(-0.2, 0.5), st.floats(0, 0.05))
def test_a_fit_finds_both_parameters_again(alpha: float, beta: float) -> None:
    nodes = [1, 2, 4, 8]
    found = scale_out.fit_usl(nodes, scale_out.usl(nodes, alpha, beta).tolist())
    assert found == pytest.approx((alpha, beta), abs=1e-9)


def test_one_node_count_is_too_few_for_two_parameters() -> None:
    with pytest.raises(BadValue, match="cannot tell alpha from beta"):
        scale_out.fit_usl([1, 2, 2], [1, 1.8, 1.9])


def test_caches_that_add_up_make_two_nodes_more_than_twice_as_fast() -> None:
    given = {"data_bytes": 100.0, "cache_bytes_per_s": 10.0, "device_bytes_per_s": 1.0}
    one, two = scale_out.cached_s([1, 2], cache_bytes=60.0, **given)
    assert one / two > 2
    one, two = scale_out.cached_s([1, 2], cache_bytes=100.0, **given)
    assert one / two == pytest.approx(2)


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=8), st.floats(0, 0.1))
def test_a_query_waits_for_its_slowest_node(node_s: list[float], together_s: float) -> None:
    assert scale_out.query_s(node_s, together_s) == max(node_s) + together_s
    assert scale_out.query_s([*node_s, 20.0], together_s) == 20 + together_s


@given(st.floats(0.1, 10), st.floats(0, 1))
def test_a_node_that_dies_costs_its_whole_part_once_more(part_s: float, share: float) -> None:
    took_s = scale_out.failover_s([part_s, part_s], 0.0, after_s=share * part_s, notice_s=0.0)
    assert took_s == pytest.approx(2 * part_s)


@given(st.floats(1e3, 1e12), st.integers(2, 16), st.floats(1e6, 1e10))
def test_at_the_limit_both_ways_to_join_take_as_long(large: float, nodes: int, rate: float) -> None:
    limit = scale_out.push_limit_bytes(large, nodes)

    def gain(size: float) -> float:
        shuffled = float(scale_out.shuffled_s(size, large, nodes, link_bytes_per_s=rate))
        return shuffled / float(scale_out.pushed_s(size, nodes, link_bytes_per_s=rate))

    assert gain(limit) == pytest.approx(1)
    assert gain(limit / 2) > 1 > gain(limit * 2)


def test_a_product_gives_back_its_factors() -> None:
    facts = [[False, False], [True, False], [False, True], [True, True]]
    seconds = scale_out.product_s([10.0, 2.0, 0.5], facts)
    assert seconds.tolist() == pytest.approx([10, 20, 5, 10])
    assert scale_out.log_linear(facts, seconds.tolist()).tolist() == pytest.approx([10, 2, 0.5])


def test_factors_that_always_come_together_are_refused() -> None:
    with pytest.raises(BadValue, match="come together"):
        scale_out.log_linear([[True, True], [False, False], [True, True]], [1.0, 2.0, 3.0])


def test_no_law_minds_arrays() -> None:
    assert scale_out.usl(np.arange(1, 5), 0.1).shape == (4,)
