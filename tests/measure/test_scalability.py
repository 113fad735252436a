"""The law of many workers, found again from what it made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.errors import BadValue
from readahead.measure import scalability
from readahead.measure.scalability import Law

COUNTS = (1, 2, 4, 8, 16, 32)


@given(st.floats(1, 1e6), st.floats(0, 0.5), st.floats(0, 0.02))
def test_a_fit_finds_the_law_that_made_the_rates(alone: float, contention: float, crosstalk: float) -> None:
    true = Law(alone=alone, contention=contention, crosstalk=crosstalk)
    found = scalability.fit(COUNTS, true(COUNTS).tolist())
    assert found(COUNTS) == pytest.approx(true(COUNTS), rel=1e-6)


def test_nobody_is_helped_past_the_peak() -> None:
    law = Law(alone=100, contention=0.05, crosstalk=0.01)
    before, at, after = law([law.peak * 0.8, law.peak, law.peak * 1.2])
    assert at > before and at > after
    assert Law(alone=1, contention=0.1, crosstalk=0).peak == float("inf")


def test_costs_are_never_negative_and_a_superlinear_curve_is_fitted_as_linear() -> None:
    found = scalability.fit(COUNTS, [n**1.1 for n in COUNTS])
    assert found.contention == found.crosstalk == 0


def test_the_band_holds_the_law_and_narrows_with_steadier_repeats() -> None:
    law, rng = Law(alone=1_000, contention=0.05, crosstalk=0.004), np.random.default_rng(1)

    def width(scatter: float) -> float:
        samples = [(float(law(n)) * rng.normal(1, scatter, 9)).tolist() for n in COUNTS]
        low, high = scalability.band(scalability.fits(COUNTS, samples), COUNTS)
        assert np.all(low <= high)
        return float(np.mean((high - low) / law(COUNTS)))

    assert width(0.01) < 0.5 * width(0.1)


def test_too_few_counts_are_refused() -> None:
    with pytest.raises(BadValue, match="at least 4"):
        scalability.fit((1, 2, 2, 4), (1, 2, 2, 3))


@given(st.lists(st.floats(1e-3, 1e6), min_size=len(COUNTS), max_size=len(COUNTS)))
def test_whatever_a_busy_machine_measured_the_law_is_finite(rates: list[float]) -> None:
    found = scalability.fit(COUNTS, rates)
    assert found.contention >= 0 and found.crosstalk >= 0
    assert np.all(np.isfinite(found(COUNTS))) and np.all(found(COUNTS) > 0)
    assert found.alone <= 2.0001 * max(np.array(rates) / COUNTS)
