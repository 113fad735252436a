"""The panel's two interactive plots: the throughput along a knob, and where the time goes with what DuckDB read.

Each is made once and brought up to date in one message. The second holds two drawings, since every plot carries its
own five megabytes of JavaScript.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from readahead import units
from readahead.panels import theme
from readahead.panels.chart import tick_texts, ticks
from readahead.panels.state import MeasuredPoint, PanelState
from readahead.published import Figure
from readahead.storage.trace import Read, in_flight

HEIGHT = 470
_BLUE, _GREEN, _GOLD = (theme.COLOURS[name] for name in ("modeled", "measured", "published"))
_UNIT_WORDS = {"bytes_per_s": "throughput (bytes a second)", "rows_per_s": "throughput (rows a second)"}


def assign(thing: Any, **values: Any) -> None:
    """Assign only what changed: every assignment is checked and sent."""
    for name, value in values.items():
        now = thing[name]
        same = np.array_equal(now, value) if isinstance(value, np.ndarray) else now == value
        if not same:
            thing[name] = value


def _set_ticks(axis: Any, places: Sequence[float], kind: str, *, log: bool = False) -> None:
    """Name round places along an axis."""
    assign(axis, tickvals=tuple(places), ticktext=tuple(tick_texts(places, kind, log=log)))


# -- the throughput along one knob ------------------------------------------------------------------
LINE, FADED, PUBLISHED, HERE, MEASURED = range(5)
"""The traces of the curve, from back to front."""


class CurvePlot:
    """The model's line, a ring at the settings, a dot with its interval for every measurement, a star for print.

    Dots that belong to the line (all other knobs as they stand now) are solid; the others have faded.
    """

    def __init__(self) -> None:
        title = {"font": {"size": 16}, "standoff": 8}
        here = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "opacity": 0.55, "layer": "below"}
        self.figure = theme.widget(
            _curve_traces(),
            theme.layout(
                height=HEIGHT,
                margin={"l": 116, "r": 34, "t": 44, "b": 62},
                xaxis=theme.axis(type="log", title=title),
                yaxis=theme.axis(type="log", title=title),
                showlegend=True,
                legend={"orientation": "h", "x": 0, "y": 1.005, "yanchor": "bottom", "font": {"size": 13}},
                hovermode="closest",
                shapes=[{**here, "line": {"color": _BLUE, "width": 1.5, "dash": "dot"}}],
            ),
        )

    def draw(self, state: PanelState) -> None:
        """Bring the plot up to date, in one message."""
        data = self.figure.data
        fits = [one for one in state.points if state.fits(one)]
        others = [one for one in state.points if not state.fits(one)]
        stars = state.published
        with self.figure.batch_update():
            self._draw_axes(state)
            if not (np.array_equal(data[LINE].x, state.xs) and np.array_equal(data[LINE].y, state.ys)):
                places = zip(state.xs, state.ys, strict=True)
                text = tuple(f"model: {state.y_text(y)} at {state.knob.text(x)}" for x, y in places)
                assign(data[LINE], x=state.xs, y=state.ys, text=text)
            assign(self.figure.layout.shapes[0], x0=state.x, x1=state.x)
            now = (f"now: the model expects {state.y_text(state.y)}",)
            assign(data[HERE], x=np.array([state.x]), y=np.array([state.y]), text=now)
            _draw_points(state, data[FADED], others)
            _draw_points(state, data[MEASURED], fits)
            assign(
                data[PUBLISHED],
                x=np.array([x for x, _, _ in stars]),
                y=np.array([y for _, y, _ in stars]),
                text=tuple(_published_text(state, figure, y) for _, y, figure in stars),
            )
            for trace, shown in ((FADED, others), (MEASURED, fits), (PUBLISHED, stars)):
                assign(data[trace], showlegend=bool(shown))

    def _draw_axes(self, state: PanelState) -> None:
        knob, layout = state.knob, self.figure.layout
        air = (knob.high / knob.low) ** 0.02
        assign(layout.xaxis, range=(math.log10(knob.low / air), math.log10(knob.high * air)))
        kind = (
            "count" if knob.kind == "rows" else knob.kind
        )  # the word stands in the title, not at every tick
        assign(layout.xaxis.title, text=f"{knob.label} (rows)" if knob.kind == "rows" else knob.label)
        _set_ticks(layout.xaxis, ticks(knob.low, knob.high, kind=knob.kind), kind, log=True)
        low, high = y_ends(state)
        assign(layout.yaxis, range=(math.log10(low), math.log10(high)))
        assign(layout.yaxis.title, text=_UNIT_WORDS.get(state.unit, "throughput"))
        _set_ticks(layout.yaxis, ticks(low, high), state.unit, log=True)


def _curve_traces() -> list[Any]:
    """Return the empty traces, from back to front."""
    bars = {"type": "data", "symmetric": False, "thickness": 2.5, "width": 6, "color": _GREEN}
    white = {"color": "white", "width": 1.5}

    def marks(name: str, **more: Any) -> Any:
        return go.Scatter(x=[], y=[], hoverinfo="text", mode="markers", name=name, **more)

    return [
        go.Scatter(
            x=[], y=[], hoverinfo="text", mode="lines", name="model", line={"color": _BLUE, "width": 3.5}
        ),
        marks(
            "DuckDB, other settings",
            opacity=0.28,
            marker={"color": _GREEN, "size": 9, "symbol": "circle"},
            error_y=bars | {"thickness": 1.5, "width": 3},
        ),
        marks("published", marker={"color": _GOLD, "size": 15, "symbol": "star", "line": white}),
        marks(
            "you are here",
            marker={"color": _BLUE, "size": 24, "symbol": "diamond-open", "line": {"width": 3}},
        ),
        marks(
            "DuckDB",
            marker={"color": _GREEN, "size": 14, "symbol": "circle", "line": white},
            error_y=bars,
        ),
    ]


def y_ends(state: PanelState) -> tuple[float, float]:
    """Return whole ends for the y axis, so that it stands still while a slider moves."""
    every = [float(state.ys.min()), float(state.ys.max()), state.y]
    every += [end for one in state.points for end in (one.throughput.low, one.throughput.high)]
    every += [y for _, y, _ in state.published]
    low = 10 ** (math.floor(math.log10(min(every) / 1.3) * 4) / 4)
    high = 10 ** (math.ceil(math.log10(max(every) * 1.3) * 4) / 4)
    return (low, high) if high / low >= 10 else (high / 10, high)


def _draw_points(state: PanelState, trace: Any, points: Sequence[MeasuredPoint]) -> None:
    low, ys, high = (
        np.array([getattr(one.throughput, end) for one in points]) for end in ("low", "median", "high")
    )
    xs = np.array([state.x_of(one) for one in points])
    assign(trace, x=xs, y=ys, text=tuple(_point_text(state, one) for one in points))
    assign(trace.error_y, array=high - ys, arrayminus=ys - low)


def _point_text(state: PanelState, one: MeasuredPoint) -> str:
    """Say everything about one measurement."""
    runs = f"{one.throughput.text(state.unit)}, {one.time.repeats} runs"
    lines = [f"<b>DuckDB, {one.sample.where}</b>", runs]
    lines += [
        f"{knob.label}: {knob.text(one.settings[knob.name])}"
        for knob in state.experiment.knobs
        if one.settings[knob.name] != state.settings[knob.name]
    ]
    return "<br>".join(lines)


def _published_text(state: PanelState, figure: Figure, y: float) -> str:
    who = "<br>".join(html.escape(part) for part in (figure.source, figure.system, figure.device))
    return f"<b>Published: {state.y_text(y)}</b><br>{who}"


# -- where the time goes, and what was read ---------------------------------------------------------
MODEL_ROW, HIDDEN_ROW, MEASURED_ROW = "model", "meanwhile", "DuckDB"
MOST_READS = 8_000
"""Reads drawn at most; of more, every second or third one."""
_TERMS, _READS, _FLIGHT = (0.78, 0.935), (0.235, 0.635), (0.075, 0.17)
"""Where the three stand, from the bottom (0) to the top (1)."""


class TimePlot:
    """The terms of the predicted time above, the reads of the newest measurement below."""

    def __init__(self) -> None:
        self.figure = theme.widget(
            [_terms_trace(), *(_reads_trace(colour) for colour in theme.CYCLE), _flight_trace()],
            theme.layout(
                height=HEIGHT,
                margin={"l": 76, "r": 14, "t": 8, "b": 8},
                xaxis=theme.axis(domain=[0, 1], anchor="y", showgrid=False),
                yaxis=theme.axis(
                    domain=_TERMS,
                    anchor="x",
                    showgrid=False,
                    categoryorder="array",
                    categoryarray=(MEASURED_ROW, HIDDEN_ROW, MODEL_ROW),
                    range=(-0.5, 2.5),
                    ticks="",
                    showline=False,
                ),
                xaxis2=theme.axis(domain=[0, 1], anchor="y2", showticklabels=False, ticks=""),
                yaxis2=theme.axis(domain=_READS, anchor="x2"),
                xaxis3=theme.axis(domain=[0, 1], anchor="y3"),
                yaxis3=theme.axis(
                    domain=_FLIGHT, anchor="x3", title={"text": "in<br>flight", "font": {"size": 12}}
                ),
                annotations=[_heading(_TERMS[1] + 0.005), _heading(_READS[1] + 0.015)],
                font={"family": theme.FONT, "size": 13, "color": theme.INK},
            ),
        )
        self.terms, *self.reads, self.flight = self.figure.data
        self._drawn: MeasuredPoint | str | None = "nothing"

    def draw(self, state: PanelState, newest: MeasuredPoint | None) -> None:
        """Bring both up to date, in one message; the reads only when there are new ones."""
        terms_heading, reads_heading = self.figure.layout.annotations
        estimate = state.estimate
        total = f"model {units.text(estimate.seconds, 's')}, mostly {estimate.bottleneck}"
        with self.figure.batch_update():
            assign(terms_heading, text=f"<b>Where the time goes</b>: {total}")
            assign(reads_heading, text=reads_text(newest, earlier=newest is not state.here))
            self._draw_terms(state)
            if newest is not self._drawn:
                self._drawn = newest
                self._draw_reads(newest.sample.reads if newest is not None else ())

    def _draw_terms(self, state: PanelState) -> None:
        found = _terms(state)
        whole = max(start + length for _, _, start, length in found) * 1.02
        assign(
            self.terms,
            x=np.array([length for *_, length in found]),
            base=np.array([start for _, _, start, _ in found]),
            y=tuple(row for row, *_ in found),
            text=tuple(_fitting_text(name, length, whole) for _, name, _, length in found),
            hovertext=tuple(f"{row}: {name} {units.text(length, 's')}" for row, name, _, length in found),
        )
        colours = {"measured": "#7fcfb5"}
        assign(
            self.terms.marker,
            color=tuple(colours.get(name) or theme.term_colour(name) for _, name, *_ in found),
        )
        assign(self.terms.marker.pattern, shape=tuple("/" if row == HIDDEN_ROW else "" for row, *_ in found))
        assign(self.figure.layout.xaxis, range=(0.0, whole))
        _set_ticks(self.figure.layout.xaxis, ticks(0.0, whole, log=False), "s")

    def _draw_reads(self, reads: Sequence[Read]) -> None:
        layout, drawn = self.figure.layout, thinned(reads)
        wide = 1.2 if len(drawn) > 400 else 2.5 if len(drawn) > 60 else 5
        for colour, trace in enumerate(self.reads):
            trace.x, trace.y = segments(drawn, colour)
            assign(trace.line, width=wide)
        times, depths = in_flight(reads) if reads else ([], [])
        self.flight.x, self.flight.y = np.array(times), np.array(depths, float)
        whole = max((read.done_s for read in reads), default=0.0) * 1.02 or 1.0
        assign(layout.xaxis2, range=(0.0, whole))
        assign(layout.xaxis3, range=(0.0, whole))
        if not reads:  # nothing was read: no scale
            for axis in (layout.xaxis3, layout.yaxis2, layout.yaxis3):
                assign(axis, tickvals=(), ticktext=())
            return
        end, deepest = max(read.offset + read.size_bytes for read in reads), max(depths)
        assign(layout.yaxis2, range=(-0.03 * end, 1.03 * end))
        assign(layout.yaxis3, range=(0.0, deepest * 1.15))
        _set_ticks(layout.xaxis3, ticks(0.0, whole, log=False), "s")
        _set_ticks(layout.yaxis2, ticks(0.0, end, log=False, kind="bytes"), "bytes")
        assign(layout.yaxis3, tickvals=(0, deepest), ticktext=("0", str(deepest)))


def _heading(y: float) -> dict[str, Any]:
    place = {"x": 0, "y": y, "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    return {**place, "text": "", "xshift": -66, "showarrow": False, "font": {"size": 14}}


def _terms_trace() -> Any:
    """Return the one trace that all terms are drawn with."""
    return go.Bar(
        x=[],
        y=[],
        base=[],
        orientation="h",
        width=0.72,
        hoverinfo="text",
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        textfont={"size": 13, "color": "black"},
        constraintext="none",
        marker={"line": {"color": "white", "width": 1}, "pattern": {"fgopacity": 0.35, "size": 7}},
    )


def _reads_trace(colour: str) -> Any:
    line = {"color": colour, "width": 2}
    return go.Scatter(
        x=[], y=[], xaxis="x2", yaxis="y2", mode="lines", hoverinfo="skip", connectgaps=False, line=line
    )


def _flight_trace() -> Any:
    line = {"color": _BLUE, "width": 1.5, "shape": "hv"}
    fill = {"fill": "tozeroy", "fillcolor": "rgba(0,114,178,0.18)"}
    return go.Scatter(x=[], y=[], xaxis="x3", yaxis="y3", mode="lines", hoverinfo="skip", line=line, **fill)


def _terms(state: PanelState) -> list[tuple[str, str, float, float]]:
    """Return (row, name, start, length) of every term, in seconds, and of what was measured."""
    found: list[tuple[str, str, float, float]] = []
    for row, terms in ((MODEL_ROW, state.estimate.terms_s), (HIDDEN_ROW, state.estimate.overlapped_s)):
        start = 0.0
        for name, length in terms.items():
            if length > 0:
                found.append((row, name, start, float(length)))
                start += length
    if state.here is not None:
        found.append((MEASURED_ROW, "measured", 0.0, state.here.time.median))
    return found


def _fitting_text(name: str, length: float, whole: float) -> str:
    """Return what can be written on a bar: about 8 pixels a letter, on some 380 pixels for the whole."""
    said, letters = f"{name} {units.text(length, 's')}", length / whole * 46
    return said if len(said) <= letters else name if len(name) <= letters else ""


def reads_text(one: MeasuredPoint | None, *, earlier: bool = False) -> str:
    """Return the heading: what was read, or why nothing is known; `earlier` if a knob was turned since."""
    if one is None:
        return "<b>What DuckDB read</b>: not measured yet"
    reads = one.sample.reads
    if not reads:
        return f"<b>What DuckDB read</b>: {one.sample.where}; single reads are not seen"
    size = units.text(sum(read.size_bytes for read in reads), "bytes")
    verb, what = ("wrote", "writes") if one.sample.wrote else ("read", "reads")
    return (
        f"<b>What DuckDB {verb}</b>{' before' if earlier else ''}: {len(reads):,} {what}, {size}, by thread"
    )


def thinned(reads: Sequence[Read]) -> Sequence[Read]:
    """Return as many reads as can be drawn."""
    return reads[:: -(-len(reads) // MOST_READS)] if reads else reads


def segments(reads: Sequence[Read], colour: int) -> tuple[np.ndarray, np.ndarray]:
    """Return times and places of the reads of one colour, each read two points and a gap."""
    mine = [read for read in reads if read.thread % len(theme.CYCLE) == colour]
    x, y = np.full(3 * len(mine), np.nan), np.full(3 * len(mine), np.nan)
    x[0::3] = [read.submitted_s for read in mine]
    x[1::3] = [read.done_s for read in mine]
    y[0::3] = y[1::3] = [read.offset + read.size_bytes / 2 for read in mine]
    return x, y
