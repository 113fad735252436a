"""An estimate is the sum of its named terms."""

from __future__ import annotations

import pytest

from readahead.models.estimate import Estimate

BILL = Estimate(terms_s={"seek": 0.3, "transfer": 0.1}, overlapped_s={"cpu": 5.0})


def test_overlapped_terms_cost_nothing() -> None:
    assert BILL.seconds == pytest.approx(0.4)


def test_the_largest_term_is_the_bottleneck() -> None:
    assert BILL.bottleneck == "seek"
    assert BILL.share("seek") == pytest.approx(0.75)
    assert BILL.share("nobody") == 0


def test_throughput_is_work_over_time() -> None:
    assert BILL.per_second(40) == pytest.approx(100)
