"""The bill, laid out as a ruler: which term takes which piece of the predicted time. What happens meanwhile
lies hatched below it, and what DuckDB really took below that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from readahead import units
from readahead.panels import theme
from readahead.panels.chart import tick_texts, ticks
from readahead.panels.curve import assign
from readahead.panels.view import View

MODEL, MEANWHILE, MEASURED = "model", "meanwhile", "DuckDB"
ROWS = (MEASURED, MEANWHILE, MODEL)
"""From the bottom up."""


def bar() -> Any:
    """Return the one trace that all pieces are drawn with."""
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


def pieces(view: View) -> list[tuple[str, str, float, float]]:
    """Return (row, name, start, length) of every piece, in seconds."""
    found: list[tuple[str, str, float, float]] = []
    for row, terms in ((MODEL, view.estimate.terms_s), (MEANWHILE, view.estimate.overlapped_s)):
        start = 0.0
        for name, length in terms.items():
            if length > 0:
                found.append((row, name, start, float(length)))
                start += length
    if view.here is not None:
        found.append((MEASURED, "measured", 0.0, view.here.seconds))
    return found


def draw(trace: Any, axis: Any, view: View) -> None:
    """Bring the bill up to date; call it within a batch."""
    found = pieces(view)
    whole = max(start + length for _, _, start, length in found) * 1.02
    assign(
        trace,
        x=np.array([length for *_, length in found]),
        base=np.array([start for _, _, start, _ in found]),
        y=tuple(row for row, *_ in found),
    )
    # A name is written where it fits: about 8 pixels a letter on a bar of some 380 pixels.
    assign(
        trace,
        text=tuple(_written(name, length, whole) for _, name, _, length in found),
        hovertext=tuple(f"{row}: {name} {units.text(length, 's')}" for row, name, _, length in found),
    )
    assign(trace.marker, color=tuple(_colour(name) for _, name, *_ in found))
    assign(trace.marker.pattern, shape=tuple("/" if row == MEANWHILE else "" for row, *_ in found))
    assign(axis, range=(0.0, whole))
    time_ticks(axis, whole)


def _written(name: str, length: float, whole: float) -> str:
    said = f"{name} {units.text(length, 's')}"
    room = length / whole * 46
    return said if len(said) <= room else name if len(name) <= room else ""


def _colour(name: str) -> str:
    return "#7fcfb5" if name == "measured" else theme.term_colour(name)


def time_ticks(axis: Any, whole: float) -> None:
    """Name round times along an axis from 0 to `whole`, all in one unit."""
    places = tuple(ticks(0.0, whole, log=False))
    if axis.tickvals != places:
        axis.tickvals = places
        axis.ticktext = tick_texts(places, "s", log=False)
