"""The closed form of a lookup: which way each of its numbers moves it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from readahead.chapters.lookups.closed_form import Disks, Table, lookup_s
from readahead.models.schedule import Costs
from readahead.units import KiB

ROWS = np.array([1.0, 5, 10, 25, 26, 50, 100, 1_000])


def seconds(keys: Any = ROWS, *, native: bool = True, step: float = 25, **changes: Any) -> np.ndarray:
    """Return the closed form for a small table on eight disks, with some numbers changed."""
    given = {"latency_s": 0.004, "count": 8.0, "slots": 128.0, "group_rows": 2_048.0, **changes}
    many = np.full(len(keys), 1.0)
    return lookup_s(
        Table(
            rows=262_144, width_bytes=18, row_blocks=6, pieces=many * (5 if native else 1), footers=2, clustered=True,
            group_rows=many * given["group_rows"], block_bytes=many * (16 * KiB if native else 0),
        ),
        Disks(
            latency_s=many * given["latency_s"], rate_bytes_per_s=many * 88e6, link_bytes_per_s=many * 707e6,
            count=many * given["count"], stripe_bytes=256 * KiB,
        ),
        keys=np.asarray(keys, float), step_rows=many * (step if native else 0), neighbours=False,
        slots=many * given["slots"], costs=Costs(),
    )  # fmt: skip


def test_there_is_a_step_where_it_is_put() -> None:
    at_25, at_100 = seconds(), seconds(step=100)
    assert at_25[4] < at_25[3] * 0.7
    assert at_100[4] > at_100[3]
    assert at_100[7] < at_100[6] * 2


def test_more_disks_help_only_past_the_step() -> None:
    one, many = seconds(count=1.0), seconds(count=64.0)
    assert one[:4] == pytest.approx(many[:4])
    assert np.all(many[4:] < one[4:])


def test_more_rows_never_take_less_time_on_one_side_of_the_step() -> None:
    assert np.all(np.diff(seconds(step=10_000)) > 0)
    assert np.all(np.diff(seconds(native=False)) > 0)


@pytest.mark.parametrize("native", [True, False])
def test_a_slower_or_narrower_device_is_never_faster(native: bool) -> None:
    assert np.all(seconds(native=native, latency_s=0.008) > seconds(native=native))
    assert np.all(seconds(native=native, slots=2.0) >= seconds(native=native))


def test_no_keys_read_the_whole_table() -> None:
    whole, few = seconds(np.zeros(1)), seconds(np.array([1.0]))
    assert whole[0] > few[0]
    assert whole[0] == pytest.approx(seconds(np.array([2_000.0]), step=1)[0], rel=0.2)
