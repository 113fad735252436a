"""What a comparison with print is worth: left-out fits against refitted ones, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from readahead.errors import BadValue
from readahead.experiments.residual import Residual, Tally, left_out
from readahead.published import Figure


def figure(value: float, name: str = "one", **more: object) -> Figure:
    """A figure that nobody printed."""
    facts = dict.fromkeys(("printed", "system", "device", "date", "author", "title"), "")
    return Figure(name=name, value=value, unit="s", **facts, **more)  # type: ignore[arg-type]


def test_a_figure_that_is_left_out_is_what_a_new_fit_says_of_it() -> None:
    x, noise = np.array([1.0, 2, 4, 8, 16, 32]), np.array([0.1, -0.05, 0.02, -0.1, 0.07, -0.03])
    seen = 3 * x**0.5 * np.exp(noise)
    found = left_out(lambda p: p[0] * x ** p[1], (2.9, 0.52), seen)
    for n in range(len(x)):
        rest = np.arange(len(x)) != n
        power, log = np.polyfit(np.log(x[rest]), np.log(seen[rest]), 1)
        assert found[n] == pytest.approx(np.exp(log) * x[n] ** power, rel=2e-3)


def test_groups_are_left_out_whole() -> None:
    x, seen = np.array([1.0, 1, 2, 2, 4, 4]), np.array([1.1, 1.2, 2.3, 2.2, 4.1, 4.4])
    found = left_out(lambda p: p[0] * x ** p[1], (1.1, 1.0), seen, groups=x.tolist())
    power, log = np.polyfit(np.log(x[2:]), np.log(seen[2:]), 1)
    assert found[:2] == pytest.approx([np.exp(log)] * 2, rel=2e-3)
    assert found[0] == pytest.approx(found[1])
    assert power != pytest.approx(1.0, abs=0.01)


def test_a_figure_that_alone_fixes_a_parameter_is_not_foretold() -> None:
    found = left_out(lambda p: [p[0], p[0], p[1]], (1.0, 5.0), [1.0, 1.2, 5.5])
    assert np.isnan(found[2])
    assert found[:2] == pytest.approx([1.2, 1.0], rel=1e-3)


def test_only_what_could_have_failed_is_counted() -> None:
    rows = [
        Residual(figure(1.0, "near"), 1.05, "foretold"),
        Residual(figure(1.0, "far"), 1.2, "foretold", "nobody knows"),
        Residual(figure(1.0, "set"), 9.0, "fitted"),
    ]
    tally = Tally(residuals=tuple(rows), identities=(figure(1.0, "sum"),), fitted=("a rate",))
    assert tally.quantile(0.5) == pytest.approx(0.125)  # the middle of two, and not the upper one
    assert tally.within == 0.5 and tally.worst is rows[1] and tally.free == 2
    assert "2 printed figures" in tally.sentence and "20 %" in tally.sentence
    assert "1 fitted; 1 computed from" in tally.sentence
    assert Tally(residuals=tuple(rows[2:])).worst is None


def test_a_misprint_is_no_success_and_a_choice_is_named() -> None:
    for role in ("foretold", "fitted"):
        with pytest.raises(BadValue, match="misprint"):
            Residual(figure(0.0004, corrected=0.0034), 0.0034, role)
    with pytest.raises(BadValue, match="nobody printed"):
        Residual(figure(1.0), 1.0, "assumed")
    with pytest.raises(BadValue, match="role"):
        Residual(figure(1.0), 1.0, "guessed")
