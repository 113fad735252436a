"""An estimate is the sum of its named terms."""

from __future__ import annotations

import pytest

from readahead.models.estimate import Estimate

ESTIMATE = Estimate(terms_s={"seek": 0.3, "transfer": 0.1}, overlapped_s={"cpu": 5.0})


def test_overlapped_terms_cost_nothing() -> None:
    assert ESTIMATE.seconds == pytest.approx(0.4)


def test_the_largest_term_is_the_bottleneck() -> None:
    assert ESTIMATE.bottleneck == "seek"
    assert ESTIMATE.share("seek") == pytest.approx(0.75)
    assert ESTIMATE.share("nobody") == 0


def test_an_estimate_is_written_with_its_terms() -> None:
    terms_s = {"open": 0.002, "seek": 0.0, "latency": 0.04}
    assert str(Estimate(terms_s=terms_s)) == "42 ms: open 2 ms, latency 40 ms"
    hidden = Estimate(terms_s=terms_s, overlapped_s={"cpu": 0.03, "seek": 0.0})
    assert str(hidden) == "42 ms: open 2 ms, latency 40 ms; meanwhile cpu 30 ms"
