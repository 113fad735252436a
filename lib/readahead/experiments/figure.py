"""A figure before it is drawn: its lines, and the table that says the same.

A chapter offers `FIGURES`, a mapping of names to functions `study -> Picture`, or `-> Traces` where the reads
themselves are the lesson; of traces the runs are enough, each with the knobs to change. Title, sentence and axes stand
in `questions.yaml` under the same name; numbers of this run that the sentence tells come from `values`.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from readahead import units
from readahead.errors import BadValue, require_choice
from readahead.experiments.residual import Tally
from readahead.storage.trace import Read, in_flight

SAID = 16
"""Points of a line that its table holds, about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One row of points under one name."""

    name: str
    points: Sequence[tuple[float, float]]
    """(x, y) in SI units."""
    source: str = "modeled"
    """guess, modeled, measured, published or other: sets its colour and mark."""
    joined: bool = True
    """Whether a line runs through the points."""


def curve(name: str, x: Iterable[float], y: Iterable[float], source: str = "modeled") -> Line:
    """Return the line through places along x and what lies there."""
    return Line(name=name, points=[(float(a), float(b)) for a, b in zip(x, y, strict=True)], source=source)


def dots(name: str, points: Iterable[tuple[float, float]], source: str = "measured") -> Line:
    """Return points that no line joins: what was measured or printed."""
    return Line(name=name, points=list(points), source=source, joined=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What runs along one side."""

    label: str
    kind: str
    """A kind of `units.SCALES`."""
    log: bool = True
    names: tuple[str, ...] = ()
    """Words for the places 1, 2, 3 …, where the places are things and no quantities; a point between two of them
    belongs to the nearer one."""

    def said(self, place: float) -> str:
        """Return a place in words."""
        return self.names[round(place) - 1] if self.names else units.text(place, self.kind)


@dataclass(frozen=True, kw_only=True)
class Captioned:
    """A figure whose words stand in `questions.yaml`."""

    title: str = ""
    sentence: str = ""
    """What the chart shows, in one sentence."""
    values: Mapping[str, object] = field(default_factory=dict)
    """What stands for the {names} in the sentence of `questions.yaml`."""


@dataclass(frozen=True, kw_only=True)
class Picture(Captioned):
    """A chart with its words."""

    x: Axis = Axis(label="", kind="", log=False)
    """Where it is not for `questions.yaml` to say, as is y."""
    y: Axis = Axis(label="", kind="", log=False)
    lines: tuple[Line, ...]
    marks: Mapping[str, float] = field(default_factory=dict)
    """Places on the x axis worth a name (the half-speed size, the sweet spot)."""

    def __post_init__(self) -> None:
        if not any(line.points for line in self.lines):
            raise BadValue(f"Picture {self.title!r} needs at least one line with points.")
        for line in self.lines:
            require_choice("source", line.source, ("guess", "modeled", "measured", "published", "other"))
            for point in line.points:
                for axis, number in zip((self.x, self.y), point, strict=True):
                    if not math.isfinite(number) or (axis.log and number <= 0):
                        raise BadValue(
                            f"{axis.label}={number!r} on line {line.name!r} must be finite"
                            f"{' and above 0' if axis.log else ''}. Leave the point out or use log=False."
                        )
                    if axis.names and not 1 <= round(number) <= len(axis.names):
                        raise BadValue(
                            f"{axis.label}={number!r} on line {line.name!r} has no name. Places run from 1 to"
                            f" {len(axis.names)}, one for each of Axis.names."
                        )

    @property
    def head(self) -> tuple[str, ...]:
        """Return the heading of the table."""
        return ("Line", self.x.label, self.y.label)

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Return the table that says what the chart says: (line, x, y), as text.

        Of a line with many points it has some sixteen, and those where another line has a mark.
        """
        marked = {x for line in self.lines if not line.joined for x, _ in line.points}
        told: list[tuple[str, ...]] = []
        for line in self.lines:
            every, last = max(1, len(line.points) // SAID), len(line.points) - 1
            told += [
                (line.name, self.x.said(x), self.y.said(y))
                for number, (x, y) in enumerate(line.points)
                if number % every == 0 or number == last or x in marked
            ]
        return told


@dataclass(frozen=True, kw_only=True)
class Traces(Captioned):
    """The reads of a few runs, one below the other on one clock: when each was asked for, and when it was there."""

    runs: tuple[tuple[str, Sequence[Read]], ...]
    """(name, reads), of samples that have a trace; a run that found everything in memory has none, beside others."""
    what: str = "read"
    """'read' or 'write': what each of them is."""

    def __post_init__(self) -> None:
        if not any(reads for _, reads in self.runs):
            raise BadValue(
                f"No run of {self.title!r} has reads to draw. Only the emulated device keeps a trace; give a sample"
                " that was measured on it, and that does not find everything in memory."
            )

    @property
    def head(self) -> tuple[str, ...]:
        """Return the heading of the table."""
        what = self.what
        return (
            "Run",
            f"{what}s",
            "bytes",
            f"median {what}",
            "most in flight",
            "mean in flight",
            "last byte after",
        )

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Return the table that says what the chart says, as text."""
        return [(name, *_told(reads)) for name, reads in self.runs]


def _told(reads: Sequence[Read]) -> tuple[str, ...]:
    if not reads:
        return "0", "0 B", "", "0", "0", ""
    sizes = [read.size_bytes for read in reads]
    last_s = max(read.done_s for read in reads)
    waited_s = sum(read.done_s - read.submitted_s for read in reads)
    return (
        units.text(len(reads), "count"),
        units.text(sum(sizes), "bytes"),
        units.text(statistics.median(sizes), "bytes"),
        units.text(max(in_flight(reads)[1]), "count"),
        f"{waited_s / last_s:.1f}",
        units.text(last_s, "s"),
    )


Drawing = Picture | Traces | Tally
"""Whatever a chapter's figure may be."""


def captioned(drawing: Drawing, words: Mapping[str, Any]) -> Drawing:
    """Return the figure with the words of `questions.yaml`: title, axes, and the sentence with its values for {names}.

    Raises `BadValue` if a name has no value, or if no sentence is given at all.
    """
    if words and isinstance(drawing, Captioned):
        try:
            filled = words["sentence"].format_map(drawing.values)
            sentence = re.sub(r"(?<=\d)%", " %", filled)  # as `units.text` writes it
        except (KeyError, ValueError, IndexError) as error:
            raise BadValue(
                f"The sentence of figure {words['title']!r} asks for {error}, and the figure has"
                f" {', '.join(drawing.values) or 'no values'}. Give it in Picture(values=...)."
            ) from error
        told: dict[str, Any] = {side: Axis(**words[side]) for side in ("x", "y") if side in words}
        drawing = replace(drawing, title=words["title"], sentence=sentence, **told)
    if not drawing.sentence.strip():
        raise BadValue("A figure needs its sentence. Write it in questions.yaml under figures, by its name.")
    return drawing
