"""A null model takes what fits the other figures best."""

from __future__ import annotations

import numpy as np
import pytest

from readahead.experiments.residual import Residual
from readahead.published import Figure
from tools.null_model import null_model


def figure(value: float, name: str = "one", **more: object) -> Figure:
    """A figure that nobody printed."""
    facts = dict.fromkeys(("printed", "system", "device", "date", "author", "title"), "")
    return Figure(name=name, value=value, unit="s", **facts, **more)  # type: ignore[arg-type]


def test_a_null_model_takes_what_fits_the_other_figures_best() -> None:
    line = [
        Residual(figure(2 + 3 * x, f"t.n{x}", x_value=float(x)), 1.0, "foretold") for x in (1, 2, 5, 9, 20)
    ]
    assert null_model(line) == pytest.approx([2 + 3 * x for x in (1, 2, 5, 9, 20)])
    apart = [
        Residual(figure(value, name), 1.0, "foretold") for name, value in (("a", 1.0), ("b", 4.0), ("c", 2.0))
    ]
    assert null_model(apart) == pytest.approx([8**0.5, 2**0.5, 2.0])
    given = [Residual(figure(value), 1.0, "foretold", base=base) for value, base in ((1.0, 2.0), (6.0, 10.0))]
    assert null_model(given) == pytest.approx([1.2, 5.0])
    assert np.isnan(null_model(apart[:1])[0])
