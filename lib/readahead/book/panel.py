"""The panel of a page without a kernel."""

from __future__ import annotations

from pathlib import Path


def moving(html: str) -> str:
    """Return an output of a notebook that holds a panel, as a page shows it.

    The panel is `<div data-panel="ADDRESS">` around its static twin; ADDRESS is that of its settings, such as
    `lookups?latency_s=0.004`.
    """
    return html


def assets(folder: Path) -> None:
    """Write the files that the panels of all pages share into the folder of the book."""
