"""A mechanism, step by step: what is where at each moment, and a sentence that says what happens then.

A chapter offers `STEPS`, a mapping of names to functions `study -> frames`, made from the schedule or from a law. Title
and words stand in `questions.yaml` under the same name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from readahead import units
from readahead.devices import Device
from readahead.errors import BadValue, require_choice
from readahead.models.native import in_runs
from readahead.models.queue import Floats
from readahead.models.reads import Reads
from readahead.models.schedule import Costs, Timeline, Window, simulate

TONES = ("free", "wait", "work", "done", "gone")
"""The states of a box: empty; it waits; it is under way; it is done; it was skipped, dropped, or lost."""
Box = tuple[str, str]
"""What stands in it, and its state."""
NO_COSTS = Costs(**dict.fromkeys(Costs.__slots__, 0.0))
"""An engine that takes no time of its own, so that a picture shows the device alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One moment."""

    says: str
    """What happens, in whole sentences."""
    lanes: Mapping[str, Sequence[Box]]
    """By name: a row of boxes each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """A mechanism in several moments."""

    title: str
    words: Mapping[str, str]
    """What each state that occurs means here, such as work: in flight."""
    frames: Sequence[Frame]

    def __post_init__(self) -> None:
        for frame in self.frames:
            for _, tone in (box for lane in frame.lanes.values() for box in lane):
                require_choice("tone", tone, TONES)
                if tone not in self.words:
                    raise BadValue(
                        f"tone={tone!r} of {self.title!r} has no word. Say in `words` what it means."
                    )

    def told(self, frame: Frame) -> str:
        """Return in words what the boxes of a frame show."""
        lanes = []
        for name, boxes in frame.lanes.items():
            by = {tone: [text for text, its in boxes if its == tone] for _, tone in boxes}
            told = (f"{self.words[tone]} {_all(texts)}".strip() for tone, texts in by.items())
            lanes.append(f"{name}: {'; '.join(told)}.")
        return " ".join(lanes)


def _all(texts: Sequence[str]) -> str:
    """Return what boxes hold: numbers in a row as such, of several empty ones how many there are."""
    if not any(texts):
        return f"× {len(texts)}" if len(texts) > 1 else ""
    return listed(map(int, texts)) if all(text.isdigit() for text in texts) else ", ".join(texts)


def listed(numbers: Iterable[int]) -> str:
    """Return whole numbers in words, such as 1 to 4, 7 and 9."""
    parts: list[str] = []
    for run in in_runs(sorted(numbers)):
        parts += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else map(str, run)
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


# -- a scan ----------------------------------------------------------------------------------------------
def scanned(
    device: Device, reads: int, read_bytes: int, window: Window, open_s: float = 0.0, group_s: float = 0.0
) -> Timeline:
    """Return the schedule of so many equal reads, a row group each, by an engine that takes no other time."""
    listing = Reads.of([], [[(at * read_bytes, read_bytes)] for at in range(reads)], [1] * reads)
    return simulate(device, listing, window=window, costs=replace(NO_COSTS, open_s=open_s, group_s=group_s))


def scan_frames(
    device: Device,
    *,
    reads: int,
    read_bytes: int,
    slots: int,
    depth: int,
    open_s: float = 0.0,
    group_s: float = 0.0,
    lead: str = "",
) -> Iterator[Frame]:
    """Yield the moments of a scan at which anything changes, as the schedule has them.

    Each read is a row group; one worker decodes it in `group_s`, and the engine takes nothing else. A frame shows the
    reads in file order and the slots of the queue; where decoding takes time, also the row groups and the worker. Each
    sentence begins with `lead`.
    """
    done = scanned(device, reads, read_bytes, Window(slots=slots, depth=depth, threads=1), open_s, group_s)
    reads_s, groups_s, opened_s = (
        np.round(when_s, 7) for when_s in (done.reads_s, done.groups_s, done.opened_s)
    )
    queue: list[int | None] = [None] * slots
    worker: list[int | None] = [None]
    opening = [0.0] if opened_s > 0 else []
    for now_s in np.unique(np.concatenate([opening, reads_s.ravel(), groups_s.ravel()])).tolist():
        _move(queue, reads_s, now_s)
        _move(worker, groups_s, now_s)
        lanes = {"Reads": states(reads_s, now_s), "Slots of the queue": _held(queue)}
        if group_s:
            lanes |= {"Row groups": states(groups_s, now_s), "Processor": _held(worker)}
        says = [lead] * bool(lead) + [f"After {units.text(now_s, 's')}:"]
        says += ["The file is opened first: no read can begin before."] * bool(now_s < opened_s)
        says += _told("Read", reads_s[:, 1] == now_s, "arrives", "arrive")
        says += _told("Row group", (groups_s[:, 1] == now_s) & (group_s > 0), "is decoded", "are decoded")
        says += _told("Read", reads_s[:, 0] == now_s, "is submitted", "are submitted")
        if now_s >= opened_s:
            left, under_way = (int((times_s > now_s).sum()) for times_s in (reads_s[:, 0], groups_s[:, 1]))
            if left and None not in queue:
                says.append("Every slot is taken: the other reads wait.")
            elif left:
                says.append(
                    f"The window of {depth} is full: the next read waits until a row group is decoded."
                )
            elif under_way and queue.count(None) == slots:
                says.append("Nothing is left to read.")
            if group_s and under_way and worker == [None]:
                says.append("The processor waits for the device.")
        yield Frame(says=" ".join(says), lanes=lanes)


def _move(places: list[int | None], times_s: Floats, now_s: float) -> None:
    """Let go what ends now, and put what begins now into the first free places."""
    for at in np.flatnonzero(times_s[:, 1] == now_s).tolist():
        if at in places:  # what took no time was never there
            places[places.index(at)] = None
    for at in np.flatnonzero((times_s[:, 0] == now_s) & (times_s[:, 1] > now_s)).tolist():
        places[places.index(None)] = at


def _held(places: Sequence[int | None]) -> list[Box]:
    return [("", "free") if at is None else (str(at + 1), "work") for at in places]


def states(times_s: Floats, now_s: float) -> list[Box]:
    """Return a box for each row of (begin, end): waiting, under way, or done."""
    return [
        (str(at), "done" if end_s <= now_s else "work" if begin_s <= now_s else "wait")
        for at, (begin_s, end_s) in enumerate(times_s.tolist(), 1)
    ]


def _told(thing: str, which: Any, one: str, many: str) -> list[str]:
    """Return a sentence on the things for which `which` holds, or nothing."""
    numbers = (np.flatnonzero(which) + 1).tolist()
    plural = len(numbers) > 1
    return [f"{thing}{'s' * plural} {listed(numbers)} {many if plural else one}."] if numbers else []
