"""Intervals add up, and never narrow by dividing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.errors import BadValue
from readahead.measure.sample import Value, exactly

amounts = st.floats(min_value=1e-6, max_value=1e6)
widths = st.floats(min_value=1.0, max_value=3.0)


def foggy(median: float, down: float, up: float) -> Value:
    return Value(median=median, low=median / down, high=median * up, repeats=5)


@given(amounts, widths, widths, amounts, widths, widths)
def test_a_ratio_is_at_least_as_foggy_as_each_side(
    a: float, d: float, u: float, b: float, e: float, v: float
) -> None:
    one, other = foggy(a, d, u), foggy(b, e, v)
    ratio = one / other
    assert ratio.median == pytest.approx(a / b)
    assert ratio.high / ratio.median >= max(u, e) * (1 - 1e-9)
    assert ratio.median / ratio.low >= max(d, v) * (1 - 1e-9)
    assert ratio.high / ratio.median <= u * e * (1 + 1e-9)


@given(amounts, widths, widths)
def test_turning_over_twice_changes_nothing(a: float, d: float, u: float) -> None:
    value = foggy(a, d, u)
    back = exactly(1) / (exactly(1) / value)
    assert (back.low, back.median, back.high) == pytest.approx((value.low, value.median, value.high))


def test_exact_numbers_stay_exact_and_say_no_interval() -> None:
    half = exactly(1.0) / exactly(2.0)
    assert (half.low, half.median, half.high, half.repeats) == (0.5, 0.5, 0.5, 0)
    assert half.text("s") == "500 ms"
    assert foggy(1.0, 2.0, 2.0).text("s") == "1 s (500 ms to 2 s)"


def test_repeats_and_warnings_travel_with_the_ratio() -> None:
    one = Value(median=1, low=1, high=1, repeats=9, warnings=("noisy",))
    other = Value(median=1, low=1, high=1, repeats=3, warnings=("noisy",))
    assert ((one / other).repeats, (one / other).warnings) == (3, ("noisy",))
    assert (one / exactly(2)).repeats == 9
    assert (one / other).few and not exactly(1).few


def test_an_interval_must_hold_its_median() -> None:
    with pytest.raises(BadValue, match="must lie from"):
        Value(median=1, low=2, high=3)
    with pytest.raises(BadValue, match="above 0"):
        exactly(0) / exactly(1)
