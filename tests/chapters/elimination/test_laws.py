"""Boxes and labels: laws of what order leaves to be read, and the formulas held to rows that really lie so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.elimination import laws

SHARE = st.floats(0.001, 1.0)


@given(st.integers(1, 10_000), SHARE, SHARE, st.floats(0, 1))
def test_asking_for_more_or_keeping_less_order_never_reads_less(m: int, s: float, t: float, w: float) -> None:
    low, high = sorted((s, t))
    assert laws.groups_read(m, low, w) <= laws.groups_read(m, high, w) <= m
    assert laws.groups_read(m, s, 0) <= laws.groups_read(m, s, w)


def test_a_range_of_the_middle_touches_what_the_plain_formula_says() -> None:
    assert float(laws.groups_read(1_000, 0.03, 0.02)) == pytest.approx(51)
    assert float(laws.groups_between(1_000, 0.4, 0.43, 0.02)) == pytest.approx(51)
    assert float(laws.groups_read(1_000, 0.0)) == 0
    assert float(laws.groups_between(10, 0.5, 0.5)) == 0


@pytest.mark.parametrize("late", [0.0, 0.01, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("first", [0.0, 0.3, 0.9])
def test_the_formula_counts_the_labels_of_rows_that_came_late(late: float, first: float) -> None:
    rows, groups = 200_000, 100
    rng = np.random.default_rng(1)
    rank = np.arange(rows) / rows
    lying = rank[np.argsort(rank + late * rng.random(rows), kind="stable")].reshape(groups, -1)
    low, high = lying.min(axis=1), lying.max(axis=1)
    touched = int(np.sum((low < first + 0.05) & (high >= first)))
    told = float(laws.groups_between(groups, first, first + 0.05, late))
    assert abs(told - touched) <= max(1.5, 0.05 * touched)


def test_rows_in_random_order_have_the_chance_that_is_counted() -> None:
    rng = np.random.default_rng(2)
    values = rng.random((20_000, 30))
    inside = (values > 0.6) & (values < 0.63)
    assert float(np.mean(~inside.any(axis=1))) == pytest.approx(float(laws.missed_by_all(0.03, 30)), abs=0.02)
    few = values[:, :3]
    ruled = np.mean((few < 0.6).all(axis=1) | (few > 0.63).all(axis=1))
    assert float(ruled) == pytest.approx(float(laws.label_rules_out(0.6, 0.37, 3)), abs=0.02)


def test_the_time_left_is_the_mean_share_of_the_whole() -> None:
    assert laws.time_left_s(100, [0.2, 1.0, 1.0, 1.0]) == pytest.approx(80)
    assert laws.finer_order([0.1, 0.3], [0.2, 0.6]) == pytest.approx(0.5)


def test_an_order_that_saves_nothing_never_pays() -> None:
    assert laws.pays_after(10, 3, 1) == 5
    assert laws.pays_after(10, 1, 3) == float("inf")
