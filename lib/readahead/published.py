"""The clippings: figures that others printed, each with who, when, on what.

One CSV a topic, `data/published/<topic>.csv`. A value is in SI units; `printed` is what stood on the page.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One published number."""

    name: str
    value: float
    unit: str
    printed: str
    system: str
    device: str
    date: str
    author: str
    title: str
    note: str = ""
    """If the figure disagrees with its neighbours: why."""
