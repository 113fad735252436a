"""Frames of a scan are the schedule's; words of a frame say what its boxes show."""

import re

import pytest

from readahead.devices import Device
from readahead.errors import BadValue
from readahead.experiments.steps import NO_COSTS, Frame, Steps, listed, scan_frames
from readahead.models.reads import Reads
from readahead.models.schedule import Window, simulate

DEVICE = Device(name="far", latency_s=0.004, bandwidth_bytes_per_s=1e8, channels=4)


def test_numbers_in_words() -> None:
    assert listed([]) == ""
    assert listed([3]) == "3"
    assert listed([2, 1]) == "1 and 2"
    assert listed([1, 2, 3, 5, 6]) == "1 to 3, 5 and 6"


@pytest.mark.parametrize(
    ("slots", "depth", "group_s"), [(1, 1, 0.002), (3, 8, 0.0), (3, 2, 0.003), (8, 8, 0.001)]
)
def test_in_every_frame_as_many_reads_are_in_flight_as_in_the_schedule(
    slots: int, depth: int, group_s: float
) -> None:
    listing = Reads.of([], [[(at * 200_000, 200_000)] for at in range(8)], [1] * 8)
    costs = NO_COSTS.__class__(
        **{name: getattr(NO_COSTS, name) for name in NO_COSTS.__slots__} | {"group_s": group_s}
    )
    done = simulate(DEVICE, listing, window=Window(slots=slots, depth=depth, threads=1), costs=costs)
    frames = list(scan_frames(DEVICE, reads=8, read_bytes=200_000, slots=slots, depth=depth, group_s=group_s))
    assert len(frames) > 4
    moments = sorted({round(float(when), 7) for when in (*done.reads_s.ravel(), *done.groups_s.ravel())})
    for now_s, frame in zip(moments, frames, strict=True):
        begun, ended = (done.reads_s.round(7) <= now_s).T
        in_flight = sum(tone == "work" for _, tone in frame.lanes["Reads"])
        assert in_flight == (begun & ~ended).sum() <= slots
        assert in_flight == sum(tone == "work" for _, tone in frame.lanes["Slots of the queue"])
        if group_s:
            decoded = sum(tone == "done" for _, tone in frame.lanes["Row groups"])
            assert decoded == (done.groups_s[:, 1].round(7) <= now_s).sum()
            assert sum(begun) - decoded <= depth
    assert all(tone == "done" for _, tone in frames[-1].lanes["Reads"])
    assert float(re.findall(r"After ([\d.]+) ms", frames[-1].says)[0]) == pytest.approx(
        1e3 * done.finished_s, rel=0.01
    )


def test_a_frame_is_told_in_words() -> None:
    lanes = {"Queue": [("1", "work"), ("2", "work"), ("", "free"), ("", "free")], "Arm": [("moves", "work")]}
    steps = Steps(
        title="t", words={"work": "in flight", "free": "free"}, frames=[Frame(says="x", lanes=lanes)]
    )
    assert steps.told(steps.frames[0]) == "Queue: in flight 1 and 2; free × 2. Arm: in flight moves."


def test_a_state_without_a_word_is_refused() -> None:
    frame = Frame(says="x", lanes={"Queue": [("1", "gone")]})
    with pytest.raises(BadValue, match="has no word"):
        Steps(title="t", words={"work": "in flight"}, frames=[frame])
    with pytest.raises(BadValue, match="'lost' must be one of"):
        Steps(title="t", words={}, frames=[Frame(says="x", lanes={"Queue": [("1", "lost")]})])
