"""Colours, marks and fonts of all charts; panel.css has those of the panel, for a light and for a dark page.

Colour-blind readers can tell the colours apart, and beside each stands a mark or a dash that says the same, so that a
chart printed in grey loses nothing. Fonts are those of the reader's own machine: nothing is fetched.
"""

from __future__ import annotations

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

TERMS = ("seek", "latency", "transfer", "cpu", "engine", "open")
"""The terms of an estimate that every chapter meets, and that have a colour of their own."""
CYCLE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#767676", "#8C6D1F")
"""Colours for things without a meaning of their own, such as threads."""

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif"


def term_key(name: str) -> str:
    """Return what the colour of a term is called in panel.css: its own, or one that its name always gets."""
    return name if name in TERMS else f"c{sum(map(ord, name)) % len(CYCLE)}"
