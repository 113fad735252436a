"""The seismograph. One line for every read that DuckDB issued: from when it was asked for to when it was there,
at the height of its place in the file, in the colour of its thread. Below it, how many were under way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from readahead import units
from readahead.panels import theme
from readahead.panels.chart import tick_texts, ticks
from readahead.panels.curve import assign
from readahead.panels.terms import time_ticks
from readahead.panels.view import Dot
from readahead.storage.trace import Read, in_flight

COLOURS = len(theme.CYCLE)
MOST = 8_000
"""Reads drawn at most; of more, every second or third one."""


def lines() -> list[Any]:
    """Return the traces: one for each colour of thread."""
    return [
        go.Scatter(
            x=[], y=[], mode="lines", hoverinfo="skip", connectgaps=False, line={"color": colour, "width": 2}
        )
        for colour in theme.CYCLE
    ]


def stairs() -> Any:
    """Return the trace of the reads in flight."""
    ink = theme.COLOURS["modeled"]
    return go.Scatter(
        x=[],
        y=[],
        mode="lines",
        hoverinfo="skip",
        fill="tozeroy",
        fillcolor="rgba(0,114,178,0.18)",
        line={"color": ink, "width": 1.5, "shape": "hv"},
    )


def segments(reads: Sequence[Read], colour: int) -> tuple[np.ndarray, np.ndarray]:
    """Return times and places of the reads of one colour, each read two points and a gap."""
    mine = [read for read in reads if read.thread % COLOURS == colour]
    x, y = np.full(3 * len(mine), np.nan), np.full(3 * len(mine), np.nan)
    x[0::3] = [read.submitted_s for read in mine]
    x[1::3] = [read.done_s for read in mine]
    y[0::3] = y[1::3] = [read.offset + read.size_bytes / 2 for read in mine]
    return x, y


def thinned(reads: Sequence[Read]) -> Sequence[Read]:
    """Return so many reads as can be drawn."""
    return reads[:: -(-len(reads) // MOST)] if len(reads) > MOST else reads


def said(one: Dot | None, *, earlier: bool = False) -> str:
    """Return the heading: what was read, or why nothing is known; `earlier` if the knobs were turned since."""
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


def draw(names: dict[str, Any], one: Dot | None) -> None:
    """Bring the seismograph up to date; call it within a batch. `names` holds its traces and axes."""
    reads = one.sample.reads if one is not None else ()
    drawn = thinned(reads)
    wide = 1.2 if len(drawn) > 400 else 2.5 if len(drawn) > 60 else 5
    for colour, trace in enumerate(names["reads"]):
        x, y = segments(drawn, colour)
        trace.x, trace.y = x, y
        assign(trace.line, width=wide)
    times, depths = in_flight(reads) if reads else ([], [])
    names["flight"].x, names["flight"].y = np.array(times), np.array(depths, float)
    whole = max((read.done_s for read in reads), default=0.0) * 1.02 or 1.0
    end = max((read.offset + read.size_bytes for read in reads), default=1)
    for axis in (names["time"], names["below"]):
        assign(axis, range=(0.0, whole))
    time_ticks(names["below"], whole)
    if not reads:  # an empty sheet has no scale
        for axis in (names["below"], names["place"], names["depth"]):
            assign(axis, tickvals=(), ticktext=())
        return
    places = tuple(ticks(0.0, end, log=False, kind="bytes"))
    texts = tuple(tick_texts(places, "bytes", log=False))
    assign(names["place"], range=(-0.03 * end, 1.03 * end), tickvals=places, ticktext=texts)
    deepest = max(depths, default=1)
    assign(names["depth"], range=(0.0, deepest * 1.15), tickvals=(0, deepest), ticktext=("0", str(deepest)))
