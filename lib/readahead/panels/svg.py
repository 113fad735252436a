"""A pencil. Small charts as SVG text: they need no JavaScript, weigh a few kilobytes, stay in a notebook that
is read without a kernel, and carry their sentence as the text that a screen reader speaks.
"""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from readahead import units
from readahead.experiments.figure import Axis, Picture
from readahead.panels.theme import COLOURS, SHAPES


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One thing on the strip."""

    name: str
    source: str
    """guess, modeled, measured, published or other."""
    value: float
    low: float | None = None
    high: float | None = None


def frame(width: float, height: float, said: str, body: str) -> str:
    """Return a whole drawing, with the sentence that a screen reader speaks."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='100%' role='img'"
        f" style='max-width:{width}px;font:12px sans-serif' aria-label='{html.escape(said, quote=True)}'"
        f" fill='currentColor'><title>{html.escape(said)}</title>{body}</svg>"
    )


def _tag(name: str, **given: object) -> str:
    """Return one element; `stroke_width=2` is written stroke-width='2', floats with one digit."""
    plain = {key: f"{value:.1f}" if isinstance(value, float) else value for key, value in given.items()}
    said = (f"{key.replace('_', '-')}='{value}'" for key, value in plain.items())
    return f"<{name} {' '.join(said)}/>"


def line(x1: float, y1: float, x2: float, y2: float, **more: object) -> str:
    """Return a stroke."""
    return _tag("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), **more)


def _shape(source: str, x: float, y: float, size: float = 6) -> str:
    colour, shape, side = COLOURS[source], SHAPES[source], size + 1
    if shape == "diamond":
        corners = ((x, y - side), (x + side, y), (x, y + side), (x - side, y))
        return _tag("polygon", points=" ".join(f"{i:.1f},{j:.1f}" for i, j in corners), fill=colour)
    if shape == "bar":
        return _tag("rect", x=x - 2, y=y - size - 3, width=4, height=2 * size + 6, fill=colour)
    if shape == "square":
        inner = {"x": x - size + 1, "y": y - size + 1, "width": 2 * size - 2, "height": 2 * size - 2}
        return _tag("rect", **inner, fill="none", stroke=colour, stroke_width=2.5)
    return _tag("circle", cx=float(x), cy=float(y), r=size, fill=colour)


def text(x: float, y: float, said: str, anchor: str = "middle", more: str = "") -> str:
    """Return a word; `more` is put into the tag as it is."""
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' {more}>{html.escape(said)}</text>"


def ticks(low: float, high: float, *, log: bool = True, most: int = 8, kind: str = "") -> list[float]:
    """Return round places from `low` to `high`: decades, finer where few; for bytes powers of two."""
    if log and kind == "bytes" and high / low >= 4:
        first, last = math.ceil(math.log2(low) - 1e-9), math.floor(math.log2(high) + 1e-9)
        every = max(1, math.ceil((last - first) / most))
        return [2.0**power for power in range(first, last + 1) if power % every == 0]
    if not log:
        if kind == "bytes":
            step = 2.0 ** math.ceil(math.log2((high - low) / 6 or 1))
            return [i * step for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
        step = 10 ** math.floor(math.log10((high - low) / 4 or 1))
        step *= next((f for f in (1, 2, 5, 10) if (high - low) / (step * f) <= 6), 10)
        first = math.ceil(low / step - 1e-9)
        return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]
    decades = math.log10(high / low)
    steps = (1, 2, 5) if decades < 2 else (1, 3) if decades < 3 else (1,)
    every = max(1, math.ceil(decades * len(steps) / most))
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    places = [s * 10.0**p for p in powers for s in steps]
    return [place for place in places if low * (1 - 1e-9) <= place <= high * (1 + 1e-9)][::every]


def _span(values: Sequence[float], *, log: bool) -> tuple[float, float]:
    """Return the ends of an axis, with some air around the values."""
    low, high = min(values), max(values)
    if log:
        air = max((high / low) ** 0.06, 1.5 if high / low < 4 else 1.0)
        return low / air, high * air
    air = (high - low) * 0.06 or abs(high) or 1.0
    return (0.0 if low >= 0 else low - air), high + air


FAINT: dict[str, object] = {"stroke": "currentColor", "opacity": 0.2}
"""The pen of a grid."""
_DASHES = ("none", "7 4", "2 3", "9 3 2 3")


def strip(marks: Sequence[Mark], kind: str, said: str) -> str:
    """Draw marks on one log axis, each on its own line with its name and value. All must be above 0."""
    width, left, right, row_high = 720, 210, 24, 30
    every = [n for mark in marks for n in (mark.value, mark.low, mark.high) if n is not None and n > 0]
    low, high = _span(every, log=True)
    bottom = 14 + row_high * len(marks)

    def at(value: float) -> float:
        return left + (width - left - right) * math.log(max(value, low) / low) / math.log(high / low)

    parts = []
    for place in ticks(low, high, kind=kind):
        parts.append(line(at(place), 6, at(place), bottom, **FAINT))
        parts.append(text(at(place), bottom + 16, units.text(place, kind)))
    for row, mark in enumerate(marks):
        y = 14 + row_high * (row + 0.5)
        parts.append(text(left - 14, y + 4, f"{mark.name}: {units.text(mark.value, kind)}", "end"))
        if mark.low is not None and mark.high is not None and mark.high > mark.low:
            ends = (at(mark.low), y, at(mark.high), y)
            parts.append(line(*ends, stroke=COLOURS[mark.source], stroke_width=3))
        parts.append(_shape(mark.source, at(mark.value), y))
    return frame(width, bottom + 26, said, "".join(parts))


class _Plane:
    """Where a picture's points lie on paper."""

    def __init__(self, picture: Picture, width: int, height: int) -> None:
        self.left, self.right, self.top = 86, width - 16, 30
        self.bottom = height - 52 - 18 * len(picture.lines)
        points = [point for drawn in picture.lines for point in drawn.points]
        self._x, self._y = picture.x, picture.y
        self.x_ends = (
            (0.5, len(picture.x.names) + 0.5)
            if picture.x.names
            else _span([x for x, _ in points] + list(picture.marks.values()), log=picture.x.log)
        )
        self.y_ends = _span([y for _, y in points], log=picture.y.log)

    def across(self, x: float) -> float:
        """Return where `x` stands from the left."""
        return self.left + (self.right - self.left) * _share(x, self._x, *self.x_ends)

    def up(self, y: float) -> float:
        """Return where `y` stands from the top."""
        return self.bottom - (self.bottom - self.top) * _share(y, self._y, *self.y_ends)


def _share(value: float, axis: Axis, low: float, high: float) -> float:
    return math.log(value / low) / math.log(high / low) if axis.log else (value - low) / (high - low)


def chart(picture: Picture) -> str:
    """Draw a picture's lines with their axes and names."""
    width, height = 720, 396
    plane = _Plane(picture, width, height)
    parts = _grid(picture, plane)
    for name, place in picture.marks.items():
        x = plane.across(place)
        parts.append(line(x, plane.top, x, plane.bottom, stroke="currentColor", stroke_dasharray="4 4"))
        parts.append(text(x + 4, plane.top + 10, name, "start"))
    dashes = itertools.cycle(
        _DASHES
    )  # a dash for each joined line, so that lines of one colour can be told apart
    for row, drawn in enumerate(picture.lines):
        places = [(plane.across(x), plane.up(y)) for x, y in sorted(drawn.points)]
        y = plane.bottom + 42 + 18 * row
        if drawn.joined and len(places) > 1:
            pen = {"stroke": COLOURS[drawn.source], "stroke_width": 2, "stroke_dasharray": next(dashes)}
            run = " ".join(f"{i:.1f},{j:.1f}" for i, j in places)
            parts.append(_tag("polyline", points=run, fill="none", **pen))
            parts.append(line(plane.left, y, plane.left + 26, y, **pen))
        else:
            parts.extend(_shape(drawn.source, i, j, 5) for i, j in places)
            parts.append(_shape(drawn.source, plane.left + 13, y, 5))
        parts.append(text(plane.left + 34, y + 4, drawn.name, "start"))
    return frame(width, height, picture.sentence, "".join(parts))


def _ticks(axis: Axis, ends: tuple[float, float], *, most: int = 8) -> list[tuple[float, str]]:
    """Return the places of an axis that get a stroke, each with its words."""
    if axis.names:
        return [(float(place), name) for place, name in enumerate(axis.names, start=1)]
    places = ticks(*ends, log=axis.log, most=most, kind=axis.kind)
    return [(place, axis.said(place) if place else "0") for place in places]


def _are_crowded(names: Sequence[str], width: float) -> bool:
    """Whether names under an axis would run into each other, at 7 px a letter, so that every other one steps down."""
    return bool(names) and 7 * max(len(name) for name in names) > width / len(names)


def _grid(picture: Picture, plane: _Plane) -> list[str]:
    """Draw both axes with their labels."""
    parts: list[str] = []
    steps = 14 if _are_crowded(picture.x.names, plane.right - plane.left) else 0
    for number, (place, said) in enumerate(_ticks(picture.x, plane.x_ends)):
        x = plane.across(place)
        parts.append(line(x, plane.top, x, plane.bottom, **FAINT))
        parts.append(text(x, plane.bottom + 16 + steps * (number % 2), said))
    for place, said in _ticks(picture.y, plane.y_ends, most=6):
        y = plane.up(place)
        parts.append(line(plane.left, y, plane.right, y, **FAINT))
        parts.append(text(plane.left - 8, y + 4, said, "end"))
    parts.append(text(plane.right, plane.bottom + 32 + steps, picture.x.label, "end"))
    parts.append(text(plane.left, plane.top - 14, picture.y.label, "start"))
    return parts
