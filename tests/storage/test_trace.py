"""The log book and the staircase of reads in flight."""

from __future__ import annotations

from readahead.storage.trace import Trace, in_flight


def test_times_are_told_from_the_start_and_without_slow_motion() -> None:
    trace = Trace()
    trace.note(0, 10, 105.0, 110.0, 111.0)
    (read,) = trace.reads(start_s=100.0, time_scale=5.0)
    assert (read.submitted_s, read.due_s, read.done_s) == (1.0, 2.0, 2.2)


def test_the_staircase_goes_up_and_comes_down_to_none() -> None:
    trace = Trace()
    for start, end in ((0.0, 3.0), (1.0, 2.0), (5.0, 6.0)):
        trace.note(0, 1, start, end, end)
    times, depths = in_flight(trace.reads(start_s=0.0))
    assert list(zip(times, depths, strict=True)) == [
        (0.0, 0), (0.0, 1), (1.0, 2), (2.0, 1), (3.0, 0), (5.0, 1), (6.0, 0),
    ]  # fmt: skip
