"""Laws of a page's costs and their fit, of the two roofs and of cores."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.io_cpu import laws
from readahead.chapters.io_cpu.page_costs import ROWS, PageCosts, fit
from readahead.errors import BadValue

TRUE = PageCosts(page_s=1e-6, row_s=5e-8, touch_s=4e-8, touched_rows=15.0, load_s=4e-6)


def test_a_fit_finds_the_costs_that_made_the_figures() -> None:
    found = fit(ROWS, TRUE.cpu_s(ROWS), TRUE.cpu_s(ROWS, loaded=True))
    assert found.load_s == pytest.approx(TRUE.load_s, rel=0.01)
    assert found.row_s == pytest.approx(TRUE.row_s, rel=0.02)
    again = found.cpu_s(ROWS, loaded=True)
    assert again == pytest.approx(TRUE.cpu_s(ROWS, loaded=True), rel=0.01)


@given(st.floats(1, 400), st.floats(1, 400))
def test_more_rows_never_cost_less_and_loading_costs_the_same_for_all(few: float, many: float) -> None:
    few, many = sorted((few, many))
    assert TRUE.cpu_s(few) <= TRUE.cpu_s(many)
    more = [float(TRUE.cpu_s(r, loaded=True) - TRUE.cpu_s(r)) for r in (few, many)]
    assert more == pytest.approx([TRUE.load_s] * 2, rel=1e-6)


@given(st.integers(2, 64), st.floats(0.1, 1.0))
def test_contention_is_what_scaling_was_seen_with(cores: int, share: float) -> None:
    factor = 1 + (cores - 1) * share
    sigma = laws.contention(factor, cores)
    assert laws.scaling(cores, sigma) == pytest.approx(factor, rel=1e-9)
    assert laws.cores_for(factor * 1e8, 1e8, sigma) == pytest.approx(cores, rel=1e-6)


def test_no_number_of_cores_reaches_past_the_limit() -> None:
    assert laws.cores_for(100e9, 1e9, 0.05) == float("inf")
    with pytest.raises(BadValue, match="cores"):
        laws.contention(1.0, 1)
    with pytest.raises(BadValue, match="factor"):
        laws.contention(9.0, 8)


def test_the_lower_roof_counts() -> None:
    assert laws.roof_gain(1.0, 5.0, cpu_bytes_per_s=3.0) == 3 and laws.roof_gain(3.0, 5.0, 1.0) == 1
    assert laws.rate_per_core(2e-6) == pytest.approx(8_192 / 2e-6)
