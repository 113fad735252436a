"""The room on the wall: what thirty laptops guessed, measured and got wrong, for the leader to talk about. Nobody's
name is shown unless the leader asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from IPython import display as ipython

from readahead import units
from readahead.chapters import chapter, place
from readahead.errors import BadValue
from readahead.experiments.figure import Axis, Line, Picture
from readahead.panels import paper
from readahead.panels.class_results import Room, answered, calibration, read_room
from readahead.panels.picture import painted

display: Callable[..., Any] = ipython.display
HTML: Callable[..., Any] = ipython.HTML


class ClassView:
    """A room that was read, and what can be drawn of it."""

    def __init__(self, room: Room, *, names: bool = False) -> None:
        self.room, self._names = room, names
        count = len(room.learners)
        said = f"**{count} result{'s' if count != 1 else ''}** read, {len(room.skipped)} files skipped."
        self._show(paper.words(said) + (paper.listing(room.skipped) if room.skipped else ""))

    def devices(self) -> None:
        """Show the machines of the room."""
        head = ("Learner", "Processor", "Cores", "Memory", "File system", "System", "Disk")
        rows = [(self._name(number), *learner.machine) for number, learner in enumerate(self.room.learners)]
        self._show(paper.table(head, rows))

    def guesses(self, topic: str) -> None:
        """Draw every guess of a chapter against the truth that its learner saw. Raises `BadValue` if there is none."""
        place(topic)
        names = tuple(asked.id for asked in chapter(topic).predictions)
        lines = []
        for number, learner in enumerate(self.room.learners):
            points = [
                (self._beside(1 + names.index(shot.name), number), shot.guess / shot.truth)
                for shot in learner.shots
                if shot.topic == topic and shot.name in names
            ]
            if points:
                lines.append(Line(name=self._name(number), points=points, source="guess", joined=False))
        if not lines:
            raise BadValue(f"Nobody in this room has a scored guess in {topic!r}. Choose another chapter.")
        whole = Line(name=f"{len(lines)} learners", source="guess", joined=False,
                     points=[point for line in lines for point in line.points])  # fmt: skip
        truth = Line(name="right on", source="measured", points=[(1, 1.0), (len(names), 1.0)])
        high = sum(y > 1 for _, y in whole.points)
        picture = Picture(
            title=f"Guesses in {place(topic).title}",
            sentence=f"{len(whole.points)} guesses, {high} of them too high and {len(whole.points) - high} too low or"
            " right on.",
            x=Axis(label="question", kind="count", log=False, names=names),
            y=Axis(label="guess / truth", kind="times"),
            lines=(*lines, truth) if self._names else (whole, truth),
            marks={},
        )
        self._show(painted(picture))

    def calibration(self) -> None:
        """Draw how far the room's guesses were off, chapter by chapter, and each learner's own beside it."""
        found = calibration(self.room)
        if not found:
            self._show(paper.words("No guess has been scored yet."))
            return
        first, last = found[0], found[-1]
        middle = [(float(number), off) for number, (_, off, _) in enumerate(found, start=1)]
        each = [
            (self._beside(number, learner), off)
            for number, (_, _, offs) in enumerate(found, start=1)
            for learner, off in enumerate(offs)
        ]
        picture = Picture(
            title="Does the room learn to guess?",
            sentence=f"In {place(first[0]).title!r} the room was typically off by {units.text(first[1], 'times')},"
            f" in {place(last[0]).title!r} by {units.text(last[1], 'times')}.",
            x=Axis(
                label="chapter",
                kind="count",
                log=False,
                names=tuple(topic.replace("_", " ") for topic, _, _ in found),
            ),
            y=Axis(label="median factor off", kind="times"),
            lines=(
                Line(name="median of the room", points=middle, source="modeled"),
                Line(name="each learner's own", points=each, source="guess", joined=False),
            ),
            marks={},
        )
        self._show(painted(picture))

    def exercises(self) -> None:
        """Show what was tried, what was right, and the misconception most met: what to talk about first on top."""
        rows = [
            (
                f"{one.topic}: {one.name}", one.question, f"{one.right} of {one.tried}",
                ", ".join(f"{idea} ({count})" for idea, count in one.misconceptions[:2]),
            )
            for one in sorted(answered(self.room), key=lambda one: one.right / one.tried)
        ]  # fmt: skip
        head = ("Exercise", "Question", "Right", "Misconceptions met")
        self._show(paper.table(head, rows) if rows else paper.words("No exercise has been tried yet."))

    # -- inside ------------------------------------------------------------------------------------
    def _beside(self, place: int, number: int) -> float:
        """Return where a learner's mark stands: a little beside the place, so that thirty of them can be told apart."""
        return place + 0.5 * ((number + 0.5) / len(self.room.learners) - 0.5)

    def _name(self, number: int) -> str:
        return self.room.learners[number].name if self._names else f"Learner {number + 1}"

    def _show(self, text: str) -> None:
        display(HTML(text))


def open_class(folder: Path | str, *, names: bool = False) -> ClassView:
    """Read a folder of result files and return the view. Raises `DataError` for a folder without any."""
    return ClassView(read_room(folder), names=names)
