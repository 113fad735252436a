"""A pencil. Small charts as SVG text: they need no JavaScript, weigh a few kilobytes, stay in a notebook that
is read without a kernel, and carry their sentence as the text that a screen reader speaks.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from readahead import units
from readahead.experiments.picture import Axis, Picture

COLOURS = {
    "guess": "#D55E00", "modeled": "#0072B2", "measured": "#009E73", "published": "#B8860B", "other": "#767676",
}  # fmt: skip
"""Okabe and Ito's colours, which colour-blind readers tell apart; a mark's shape says the same."""
SHAPES = {"guess": "diamond", "modeled": "bar", "measured": "dot", "published": "square", "other": "dot"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One thing on the strip."""

    name: str
    source: str
    """guess, modeled, measured, published or other."""
    value: float
    low: float | None = None
    high: float | None = None


def _frame(width: int, height: int, said: str, body: str) -> str:
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='100%' role='img'"
        f" style='max-width:{width}px;font:12px sans-serif' aria-label='{html.escape(said, quote=True)}'"
        f" fill='currentColor'><title>{html.escape(said)}</title>{body}</svg>"
    )


def _shape(source: str, x: float, y: float, size: float = 6) -> str:
    colour = COLOURS[source]
    shape = SHAPES[source]
    if shape == "diamond":
        corners = f"{x},{y - size - 1} {x + size + 1},{y} {x},{y + size + 1} {x - size - 1},{y}"
        return f"<polygon points='{corners}' fill='{colour}'/>"
    if shape == "bar":
        return f"<rect x='{x - 2:.1f}' y='{y - size - 3:.1f}' width='4' height='{2 * size + 6}' fill='{colour}'/>"
    if shape == "square":
        return (
            f"<rect x='{x - size + 1:.1f}' y='{y - size + 1:.1f}' width='{2 * size - 2}' height='{2 * size - 2}'"
            f" fill='none' stroke='{colour}' stroke-width='2.5'/>"
        )
    return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{size}' fill='{colour}'/>"


def _text(x: float, y: float, said: str, anchor: str = "middle", more: str = "") -> str:
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' {more}>{html.escape(said)}</text>"


def ticks(low: float, high: float, *, log: bool = True, most: int = 8) -> list[float]:
    """Return round places from `low` to `high`: whole decades, finer where there are few of them."""
    if not log:
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


def strip(marks: Sequence[Mark], kind: str, said: str) -> str:
    """Draw marks on one log axis, each on its own line with its name and value. All must be above 0."""
    width, left, right, line = 720, 210, 24, 30
    every = [n for mark in marks for n in (mark.value, mark.low, mark.high) if n is not None and n > 0]
    low, high = _span(every, log=True)
    bottom = 14 + line * len(marks)

    def at(value: float) -> float:
        return left + (width - left - right) * math.log(value / low) / math.log(high / low)

    parts = []
    for place in ticks(low, high):
        x = at(place)
        parts.append(
            f"<line x1='{x:.1f}' x2='{x:.1f}' y1='6' y2='{bottom}' stroke='currentColor' opacity='.15'/>"
        )
        parts.append(_text(x, bottom + 16, units.text(place, kind), more="opacity='.8'"))
    for row, mark in enumerate(marks):
        y = 14 + line * (row + 0.5)
        parts.append(_text(left - 14, y + 4, f"{mark.name}: {units.text(mark.value, kind)}", "end"))
        if mark.low is not None and mark.high is not None and mark.high > mark.low:
            colour = COLOURS[mark.source]
            x1, x2 = at(max(mark.low, low)), at(mark.high)
            parts.append(
                f"<line x1='{x1:.1f}' x2='{x2:.1f}' y1='{y}' y2='{y}' stroke='{colour}' stroke-width='3'/>"
            )
        parts.append(_shape(mark.source, at(mark.value), y))
    return _frame(width, bottom + 26, said, "".join(parts))


def chart(picture: Picture) -> str:
    """Draw a picture's lines with their axes and names."""
    width, height, left, right, top = 720, 380, 86, 16, 14
    bottom = height - 52 - 18 * len(picture.lines)
    points = [point for line in picture.lines for point in line.points]
    xs = [x for x, _ in points] + [place for place in picture.marks.values()]
    x_low, x_high = _span(xs, log=picture.x.log)
    y_low, y_high = _span([y for _, y in points], log=picture.y.log)

    def at(value: float, axis: Axis, low: float, high: float) -> float:
        share = math.log(value / low) / math.log(high / low) if axis.log else (value - low) / (high - low)
        return share

    def across(x: float) -> float:
        return left + (width - left - right) * at(x, picture.x, x_low, x_high)

    def up(y: float) -> float:
        return bottom - (bottom - top) * at(y, picture.y, y_low, y_high)

    faint = "stroke='currentColor' opacity='.15'"
    parts = []
    for place in ticks(x_low, x_high, log=picture.x.log):
        x = across(place)
        parts.append(f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{top}' y2='{bottom}' {faint}/>")
        parts.append(_text(x, bottom + 16, units.text(place, picture.x.kind)))
    for place in ticks(y_low, y_high, log=picture.y.log, most=6):
        y = up(place)
        parts.append(f"<line x1='{left}' x2='{width - right}' y1='{y:.1f}' y2='{y:.1f}' {faint}/>")
        parts.append(_text(left - 8, y + 4, units.text(place, picture.y.kind), "end"))
    for name, place in picture.marks.items():
        x = across(place)
        parts.append(
            f"<line x1='{x:.1f}' x2='{x:.1f}' y1='{top}' y2='{bottom}' stroke='currentColor' stroke-dasharray='4 4'/>"
        )
        parts.append(_text(x + 4, top + 10, name, "start"))
    for row, line in enumerate(picture.lines):
        places = [(across(x), up(y)) for x, y in sorted(line.points)]
        colour = COLOURS[line.source]
        if line.joined and len(places) > 1:
            run = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
            dash = _DASHES[row % len(_DASHES)]
            parts.append(
                f"<polyline points='{run}' fill='none' stroke='{colour}' stroke-width='2' stroke-dasharray='{dash}'/>"
            )
        else:
            parts.extend(_shape(line.source, x, y, 5) for x, y in places)
        y = bottom + 46 + 18 * row
        if line.joined and len(places) > 1:
            parts.append(
                f"<line x1='{left}' x2='{left + 26}' y1='{y - 4}' y2='{y - 4}' stroke='{colour}' stroke-width='2'"
                f" stroke-dasharray='{_DASHES[row % len(_DASHES)]}'/>"
            )
        else:
            parts.append(_shape(line.source, left + 13, y - 4, 5))
        parts.append(_text(left + 34, y, line.name, "start"))
    parts.append(_text(width - right, bottom + 32, picture.x.label, "end"))
    middle = (top + bottom) / 2
    parts.append(_text(14, middle, picture.y.label, more=f"transform='rotate(-90 14 {middle})'"))
    return _frame(width, height, picture.sentence, "".join(parts))


_DASHES = ("none", "7 4", "2 3", "9 3 2 3")
