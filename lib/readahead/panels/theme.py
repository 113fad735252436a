"""Colours, marks and fonts of all charts, and how the plotly ones look.

Colour-blind readers can tell the colours apart, and beside each stands a mark or a dash that says the same, so that a
chart printed in grey loses nothing. Fonts are those of the reader's own machine: nothing is fetched.
"""

from __future__ import annotations

from typing import Any

COLOURS = {
    "guess": "#D55E00",
    "modeled": "#0072B2",
    "measured": "#009E73",
    "published": "#B8860B",
    "other": "#767676",
}
"""Okabe and Ito's colours (2008), the yellow darkened so that it can be read on white."""
SHAPES = {"guess": "diamond", "modeled": "bar", "measured": "dot", "published": "square", "other": "dot"}
"""What a mark looks like in a static chart."""

TERMS = {
    "seek": "#D55E00",
    "latency": "#E69F00",
    "transfer": "#56B4E9",
    "cpu": "#009E73",
    "engine": "#CC79A7",
    "open": "#999999",
}
"""The colours of the terms of an estimate that every chapter meets."""
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#767676", "#8C6D1F")
"""Colours for things without a meaning of their own, such as threads."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"
INK, GRID, PAPER = "#1f2933", "#e6eaee", "#ffffff"


def term_colour(name: str) -> str:
    """Return the colour of a term: its own, or one that its name always gets."""
    return TERMS.get(name) or CYCLE[sum(map(ord, name)) % len(CYCLE)]


def axis(**more: Any) -> dict[str, Any]:
    """Return an axis as every plotly chart has it."""
    plain: dict[str, Any] = {
        "showgrid": True,
        "gridcolor": GRID,
        "zeroline": False,
        "linecolor": "#9aa5b1",
        "showline": True,
        "ticks": "outside",
        "tickcolor": "#9aa5b1",
        "ticklen": 5,
        "automargin": False,
        "fixedrange": True,
    }
    return {**plain, **more}


def layout(**more: Any) -> dict[str, Any]:
    """Return a layout as every plotly chart has it."""
    plain: dict[str, Any] = {
        "font": {"family": FONT, "size": 14, "color": INK},
        "paper_bgcolor": PAPER,
        "plot_bgcolor": PAPER,
        "hoverlabel": {"font": {"family": FONT, "size": 13}, "align": "left"},
        "showlegend": False,
        "dragmode": False,
        "autosize": True,
        "template": "none",
    }
    return {**plain, **more}


def widget(traces: list[Any], plan: dict[str, Any]) -> Any:
    """Return a live figure that fills its place and shows no buttons. A new one costs a second: keep it."""
    import plotly.graph_objects as go  # takes a second: only who draws pays

    figure = go.FigureWidget(traces, plan)
    figure._config = {**figure._config, "responsive": True, "displayModeBar": False}
    return figure
