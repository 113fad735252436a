"""Raw seconds stay raw; medians, intervals and warnings are ways to look at them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.measure.sample import Sample, steady, this_machine
from readahead.storage.trace import Read

SAMPLE = Sample(
    seconds=(0.10, 0.11, 0.10, 0.12, 0.11), cpu_s=(0.02,) * 5, reads=(), bytes_read=0, row_groups_scanned=0,
    row_groups_total=0, where="emulated device", machine=this_machine(),
)  # fmt: skip


@given(st.lists(st.floats(0.001, 10), min_size=1, max_size=12))
def test_the_median_lies_in_its_interval_and_the_interval_in_the_range(seconds: list[float]) -> None:
    sample = replace(SAMPLE, seconds=tuple(seconds))
    low, high = sample.interval_s()
    assert min(seconds) <= low <= sample.median_s <= high <= max(seconds)


def test_a_steady_sample_leaves_no_doubt() -> None:
    assert SAMPLE.warnings() == ()


@pytest.mark.parametrize(
    ("cpu_s", "count"),
    [([1.0, 1.05, 1.2, 2.0], 2), ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2), ([0.0, 0.0, 0.0], 3), ([3.0], 1)],
    ids=["slowed down", "a third at least", "nothing taken", "one"],
)
def test_repeats_that_took_more_of_the_processor_than_the_least_do_not_count(
    cpu_s: list[float], count: int
) -> None:
    assert steady(cpu_s, quick=True) == count
    assert steady(cpu_s, quick=False) == len(cpu_s)


def test_too_few_and_too_far_apart_are_told_with_numbers_and_advice() -> None:
    assert (
        "Measured 2 times: for a claim, repeat at least 5"
        in replace(SAMPLE, seconds=(0.1, 0.2)).warnings()[0]
    )
    loose = replace(SAMPLE, seconds=(0.10, 0.12, 0.10, 0.14, 0.13)).warnings()
    assert "close other programs, or repeat about" in loose[0]
    wild = replace(SAMPLE, seconds=(0.1, 0.5, 0.1, 0.9, 0.4)).warnings()
    assert "measure again when it is quiet" in wild[0]


def test_a_run_too_fast_to_tell_says_so() -> None:
    assert "too fast to tell" in replace(SAMPLE, seconds=(0.008,) * 5).warnings()[0]


def test_slow_motion_with_a_busy_processor_is_doubted() -> None:
    busy = replace(SAMPLE, time_scale=10.0, cpu_s=(0.5,) * 5)
    assert "its share is understated" in busy.warnings()[-1]


@pytest.mark.parametrize(("ends", "most"), [((1.0, 2.0), 1), ((3.0, 4.0), 2)])
def test_reads_in_flight_are_counted(ends: tuple[float, float], most: int) -> None:
    starts = (0.0, 1.5)
    reads = tuple(
        Read(offset=0, size_bytes=1, thread=0, submitted_s=start, due_s=end, done_s=end)
        for start, end in zip(starts, ends, strict=True)
    )
    assert replace(SAMPLE, reads=reads).max_in_flight == most
