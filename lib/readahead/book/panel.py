"""The panel of a page without a kernel: the notebook's panel.js, and in the kernel's place a table of the model."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from readahead import panels, paths, units
from readahead.book.table import Table, any_machine
from readahead.chapters import chapter
from readahead.panels.state import settings_at

_PLACE = re.compile(r'<div data-panel="([^"]+)">')
_BADGE = "Modeled only, no DuckDB here."


def moving(page: str) -> str:
    """Return an output of a notebook that holds a panel, as a page shows it.

    The panel is `<div data-panel="ADDRESS">` around its static twin; ADDRESS is that of its settings, such as
    `lookups?latency_s=0.004`.
    """
    return _PLACE.sub(lambda found: found[0] + _live(html.unescape(found[1])), page)


def _live(address: str) -> str:
    """Return what stands before the static twin: what the panel is here, and the table from which it answers."""
    with any_machine():
        experiment = chapter(address.partition("?")[0]).experiment
        settings = settings_at(experiment, address)
        if "threads" in settings and "threads=" not in address:
            settings["threads"] = 1  # its default is for the cores of this machine
        made = Table(experiment, settings)
    told = json.dumps(made.told, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return (
        "<link rel='stylesheet' href='panel.css'><script src='panel.js' defer></script>"
        f"<div class='readahead-live'><p class='readahead-badge'><strong>{_BADGE}</strong> {_worth(made.errors)}</p>"
        f"<script type='application/json'>{told}</script></div>"
    )


def _worth(errors: list[float]) -> str:
    """Say in words what the numbers are and how far the curves stray."""
    most, nearly = (units.text(errors[round(share * (len(errors) - 1))], "1", 2) for share in (1, 0.98))
    return (
        "Where a slider stops, every number is the model's own, with what the engine typically costs. Between the stops"
        f" the line is straight from place to place: of {len(errors)} places drawn at random, 98 in 100 lie within"
        f" {nearly} of the model, and the others within {most}."
    )


def assets(folder: Path) -> None:
    """Write the files that the panels of all pages share into the folder of the book."""
    paths.write_whole(folder / "panel.js", script())
    paths.write_whole(folder / "panel.css", "".join(_texts("panel.css", "panel.css")))


def script() -> str:
    """Return panel.js and the table's answers as one classic script: a page of a folder may not load modules."""
    panel, answers = _texts("panel.js", "panel_model.js")
    whole = panel.replace("export default { render };\n", "")
    return f"(() => {{\n{whole}\n{answers}\nbegin();\n}})();\n"


def _texts(notebook: str, book: str) -> list[str]:
    """Return a file of the notebook's panel, and what the book adds to it."""
    files = Path(panels.__file__).with_name(notebook), Path(__file__).with_name(book)
    return [file.read_text(encoding="utf-8") for file in files]
