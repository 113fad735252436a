"""The chart. Along the bottom the knob touched last; upwards the throughput. A line for the model, a ring where
the knob stands now, a dot with its interval for every measurement so far, a star for what was published.

Dots that belong to the line (all other knobs as they stand now) are solid; the others have faded.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from readahead.panels import theme
from readahead.panels.chart import tick_texts, ticks
from readahead.panels.view import Dot, View

LINE, FADED, STARS, RING, DOTS = range(5)
"""The traces, from back to front."""
HEIGHT = 470
_UNIT_WORDS = {"bytes_per_s": "throughput (bytes a second)", "rows_per_s": "throughput (rows a second)"}


def y_ends(view: View) -> tuple[float, float]:
    """Return whole ends for the y axis, so that it stands still while a slider moves."""
    every = [float(view.ys.min()), float(view.ys.max()), view.y]
    every += [end for one in view.dots for end in (one.low, one.high)] + [y for _, y, _ in view.published]
    low, high = min(every), max(every)
    low, high = (
        10 ** (math.floor(math.log10(low / 1.3) * 4) / 4),
        10 ** (math.ceil(math.log10(high * 1.3) * 4) / 4),
    )
    return (low, high) if high / low >= 10 else (high / 10, high)


def figure() -> Any:
    """Return the empty chart. Make it once a panel: a new one per move costs a second."""
    blue, green, gold = theme.COLOURS["modeled"], theme.COLOURS["measured"], theme.COLOURS["published"]
    plain = {"x": [], "y": [], "hoverinfo": "text"}
    bars = {"type": "data", "symmetric": False, "thickness": 2.5, "width": 6}
    traces = [
        go.Scatter(**plain, mode="lines", name="model", line={"color": blue, "width": 3.5}),
        go.Scatter(
            **plain,
            mode="markers",
            name="DuckDB, other settings",
            opacity=0.28,
            marker={"color": green, "size": 9, "symbol": "circle"},
            error_y=bars | {"color": green, "thickness": 1.5, "width": 3},
        ),
        go.Scatter(
            **plain,
            mode="markers",
            name="published",
            marker={"color": gold, "size": 15, "symbol": "star", "line": {"color": "white", "width": 1}},
        ),
        go.Scatter(
            **plain,
            mode="markers",
            name="you are here",
            marker={"color": blue, "size": 24, "symbol": "diamond-open", "line": {"width": 3}},
        ),
        go.Scatter(
            **plain,
            mode="markers",
            name="DuckDB",
            marker={"color": green, "size": 14, "symbol": "circle", "line": {"color": "white", "width": 1.5}},
            error_y=bars | {"color": green},
        ),
    ]
    title = {"font": {"size": 16}, "standoff": 8}
    return theme.widget(
        traces,
        theme.layout(
            height=HEIGHT,
            margin={"l": 116, "r": 34, "t": 44, "b": 62},
            xaxis=theme.axis(type="log", title=title),
            yaxis=theme.axis(type="log", title=title),
            showlegend=True,
            legend={"orientation": "h", "x": 0, "y": 1.005, "yanchor": "bottom", "font": {"size": 13}},
            hovermode="closest",
            shapes=[
                {
                    "type": "line",
                    "yref": "paper",
                    "y0": 0,
                    "y1": 1,
                    "opacity": 0.55,
                    "layer": "below",
                    "line": {"color": blue, "width": 1.5, "dash": "dot"},
                }
            ],
        ),
    )


def assign(thing: Any, **values: Any) -> None:
    """Assign only what changed: every assignment is checked and sent."""
    for name, value in values.items():
        now = thing[name]
        same = np.array_equal(now, value) if isinstance(value, np.ndarray) else now == value
        if not same:
            thing[name] = value


def hover(view: View, one: Dot) -> str:
    """Say everything about one dot."""
    lines = [f"<b>DuckDB, {one.sample.where}</b>", f"{view.y_text(one.throughput)}"]
    lines[1] += f" ({view.y_text(one.low)} to {view.y_text(one.high)}), {len(one.sample.seconds)} runs"
    differs = [
        f"{knob.label}: {knob.text(one.settings[knob.name])}"
        for knob in view.experiment.knobs
        if one.settings[knob.name] != view.settings[knob.name]
    ]
    return "<br>".join(lines + differs)


def _dots(view: View, trace: Any, dots: Sequence[Dot]) -> None:
    ys = np.array([one.throughput for one in dots])
    assign(trace, x=np.array([float(one.settings[view.knob.name]) for one in dots]), y=ys)
    assign(trace, text=tuple(hover(view, one) for one in dots))
    assign(
        trace.error_y,
        array=np.array([one.high for one in dots]) - ys,
        arrayminus=ys - np.array([one.low for one in dots]),
    )


def draw(chart: Any, view: View) -> None:
    """Bring the chart up to date, in one message."""
    low, high = y_ends(view)
    fits = [one for one in view.dots if view.fits(one)]
    others = [one for one in view.dots if not view.fits(one)]
    with chart.batch_update():
        _axes(chart, view, low, high)
        if not (np.array_equal(chart.data[LINE].x, view.xs) and np.array_equal(chart.data[LINE].y, view.ys)):
            assign(chart.data[LINE], x=view.xs, y=view.ys)
            assign(
                chart.data[LINE],
                text=tuple(
                    f"model: {view.y_text(y)} at {view.knob.text(x)}"
                    for x, y in zip(view.xs, view.ys, strict=True)
                ),
            )
        assign(chart.layout.shapes[0], x0=view.x, x1=view.x)
        assign(chart.data[RING], x=np.array([view.x]), y=np.array([view.y]))
        assign(chart.data[RING], text=(f"now: the model expects {view.y_text(view.y)}",))
        _dots(view, chart.data[FADED], others)
        _dots(view, chart.data[DOTS], fits)
        stars = view.published
        assign(chart.data[STARS], x=np.array([x for x, _, _ in stars]), y=np.array([y for _, y, _ in stars]))
        assign(chart.data[STARS], text=tuple(_star(view, figure, y) for _, y, figure in stars))
        for trace, shown in ((FADED, others), (DOTS, fits), (STARS, stars)):
            assign(chart.data[trace], showlegend=bool(shown))


def _star(view: View, published: Any, y: float) -> str:
    who = "<br>".join(html.escape(part) for part in (published.source, published.system, published.device))
    return f"<b>Published: {view.y_text(y)}</b><br>{who}"


def _axes(chart: Any, view: View, low: float, high: float) -> None:
    knob = view.knob
    air = (knob.high / knob.low) ** 0.02
    span = (math.log10(knob.low / air), math.log10(knob.high * air))
    assign(chart.layout.xaxis, range=span)
    across = ticks(knob.low, knob.high, kind=knob.kind)
    plain = knob.kind in ("rows", "count")  # the word stands in the title once, not at every tick
    title = f"{knob.label} (rows)" if knob.kind == "rows" else knob.label
    if chart.layout.xaxis.title.text != title or chart.layout.xaxis.tickvals != tuple(across):
        chart.layout.xaxis.title.text = title
        chart.layout.xaxis.tickvals = tuple(across)
        chart.layout.xaxis.ticktext = tuple(tick_texts(across, "count" if plain else knob.kind, log=True))
    assign(chart.layout.yaxis, range=(math.log10(low), math.log10(high)))
    up = ticks(low, high, most=8)
    if chart.layout.yaxis.tickvals != tuple(up):
        chart.layout.yaxis.tickvals = tuple(up)
        chart.layout.yaxis.ticktext = tuple(tick_texts(up, view.unit, log=True))
    assign(chart.layout.yaxis.title, text=_UNIT_WORDS.get(view.unit, "throughput"))
