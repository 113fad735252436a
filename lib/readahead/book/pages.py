"""Turns executed notebooks into pages that need no kernel and no network.

Each chapter is one page of plain HTML, beside it `book.css`, and `book.js` for guesses and exercises. Formulas become
MathML, and a chart of the learner's own becomes an SVG: nothing is fetched.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import mistune
import numpy as np
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from tqdm import tqdm

from readahead import paths, units
from readahead.book.table import Table, any_machine
from readahead.chapters import chapter
from readahead.experiments.figure import Axis, Line, Picture
from readahead.panels.background import HERE as PANELS
from readahead.panels.background import script
from readahead.panels.chart import chart
from readahead.panels.markup import COLOURS, formula, mathml
from readahead.panels.state import settings_at

_HERE = Path(__file__).parent
_CALL = re.compile(r"lesson\.(?:predict|reveal|claim|exercise|figure|steps|explore|guesses)\(.*\)")
"""A cell that only shows something of the chapter: it is not the learner's own code."""
_ASKS = re.compile(r"\*\*(?:Predict|Claim|Exercise)\.\*\*")
_CHART = re.compile(r"<svg [^>]*xmlns:xlink.*?</svg>", re.DOTALL)
_IN_A_BOX = r"<div class='scroll chart'>\g<0></div>"
"""A chart, which scrolls by itself where it would be too small to read."""
_PANEL = re.compile(r'<div data-panel="([^"]+)">')
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A chapter of the book."""

    stem: str
    """Name of its notebook without the ending, and of its page."""
    title: str
    minutes: int
    notebook: NotebookNode
    """The executed copy; of a chapter that failed the notebook itself."""
    failed: str = ""
    """Why it could not be run."""

    @property
    def topic(self) -> str:
        """Return the topic, under which guesses are kept."""
        return self.stem[3:]

    @property
    def number(self) -> int:
        """Return the number of the chapter."""
        return int(self.stem[:2])

    @property
    def measured_on(self) -> str:
        """Return on which machine and when it was executed, as the end of a sentence; nothing of one that failed."""
        told = self.notebook.metadata
        if "readahead" not in told:
            return ""
        machine, day = told["readahead"]["machine"], str(told.get("papermill", {}).get("end_time", ""))[:10]
        return f": {machine['cpu']}, {machine['cores']} cores, {machine['system']}, {day}"


def write(folder: Path, pages: Sequence[Page]) -> None:
    """Write the book into a folder, each file whole and the contents last. Raises `OSError` as the system does."""
    for name, text in assets().items():
        paths.write_whole(folder / name, text)
    for page in tqdm(pages, desc="pages", unit="page", disable=None):
        paths.write_whole(folder / f"{page.stem}.html", chapter_html(page, pages))
    paths.write_whole(folder / "index.html", index_html(pages))


def assets() -> dict[str, str]:
    """Return the files that all pages share. Scripts are classic ones: a page of a folder may not load modules."""
    panel = script(PANELS / "panel.js").replace("export default { render };\n", "")
    style, ours, answers = (
        file.read_text("utf-8")
        for file in (PANELS / "panel.css", _HERE / "panel.css", _HERE / "panel_model.js")
    )
    return {
        "book.css": (_HERE / "book.css").read_text("utf-8"),
        "book.js": script(_HERE / "book.js"),
        "panel.css": style + ours,
        "panel.js": f"(() => {{\n{panel}\n{answers}\nbegin();\n}})();\n",
    }


# -- a page ---------------------------------------------------------------------------------------------
def chapter_html(page: Page, pages: Sequence[Page]) -> str:
    """Return the page of one chapter."""
    cells = [one for one in page.notebook.cells if "injected-parameters" not in one.metadata.get("tags", ())]
    whole = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return _rendered(
        page=page,
        pages=pages,
        cells=[_cell(cell) for cell in cells],
        heads={head: _anchor(head) for head in re.findall(r"^## (.+)$", whole, re.MULTILINE)},
    )


def index_html(pages: Sequence[Page]) -> str:
    """Return the page of contents, with what each chapter asks: the first paragraph below its title."""
    dates = {page.measured_on for page in pages if not page.failed}
    asked = {page.stem: page.notebook.cells[0].source.split("\n\n")[1:2] for page in pages}
    return _rendered(
        pages=pages,
        measured_on=dates.pop() if len(dates) == 1 else "",
        questions={stem: _markdown("".join(said)) for stem, said in asked.items()},
    )


def _rendered(**told: Any) -> str:
    return jinja2.Template((_HERE / "page.html").read_text("utf-8"), autoescape=True).render(told)


# -- a cell ---------------------------------------------------------------------------------------------
def _cell(cell: NotebookNode) -> str:
    """Return a cell with its outputs."""
    if cell.cell_type != "code":
        asks = " class='asks'" if _ASKS.match(cell.source) else ""
        return f"<div{asks}>{_markdown(cell.source)}</div>"
    code = highlight(cell.source, PythonLexer(), HtmlFormatter(nowrap=True))
    call = " call" if _CALL.fullmatch(cell.source) else ""
    outputs = "".join(map(_output, cell.get("outputs", ())))
    if "lesson.sweep(" in cell.source:  # it would give the answer above it away, as a claim or a figure would
        outputs = f"<div data-sweep>{outputs}</div>"
    return f"<pre class='code scroll{call}'><code>{code}</code></pre>{outputs}"


def _output(output: Mapping[str, Any]) -> str:
    """Return one output of a cell."""
    told = output.get("data", {})
    if "text/html" in told:
        shown = "".join(told["text/html"]).replace("<details open>", "<details>")
        shown = moving(shown) if "data-panel=" in shown else shown
        return f"<div class='output scroll'>{_CHART.sub(_IN_A_BOX, shown)}</div>"
    if "application/vnd.plotly.v1+json" in told:
        drawn = _CHART.sub(_IN_A_BOX, _drawn(told["application/vnd.plotly.v1+json"]))
        return f"<div class='output'>{drawn}</div>"
    said = "".join(output.get("text", told.get("text/plain", output.get("evalue", ""))))
    return f"<pre class='output scroll'>{html.escape(_ANSI.sub('', said), quote=False)}</pre>"


def _drawn(figure: Mapping[str, Any]) -> str:
    """Return a line chart of plotly's as SVG."""
    lines = tuple(
        Line(
            name=trace["name"],
            points=list(zip(_numbers(trace["x"]), _numbers(trace["y"]), strict=True)),
            source=trace["name"] if trace["name"] in COLOURS else "other",
        )
        for trace in figure["data"]
    )
    x, y = (
        Axis(label=axis["title"]["text"], kind="count", log=axis.get("type") == "log")
        for axis in (figure["layout"]["xaxis"], figure["layout"]["yaxis"])
    )
    names = ", ".join(line.name for line in lines)
    return chart(Picture(sentence=f"{names} along {x.label}.", x=x, y=y, lines=lines))


def _numbers(packed: Any) -> list[float]:
    """Return plotly's numbers: a list, or bytes with their type."""
    if isinstance(packed, Mapping):
        packed = np.frombuffer(b64decode(packed["bdata"]), packed["dtype"])
    return [float(number) for number in packed]


# -- a panel -------------------------------------------------------------------------------------------
def moving(page: str) -> str:
    """Return an output of a notebook that holds a panel, as a page shows it.

    The panel is `<div data-panel="ADDRESS">` around its static twin; ADDRESS is that of its settings, such as
    `lookups?latency_s=0.004`.
    """
    return _PANEL.sub(lambda found: found[0] + _live(html.unescape(found[1])), page)


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
        "<link rel='stylesheet' href='panel.css'><script src='panel.js' defer></script><div class='readahead-live'>"
        "<p class='readahead-badge'><strong>Modeled only, no DuckDB here.</strong>"
        f" {_worth(made.errors)}</p><script type='application/json'>{told}</script></div>"
    )


def _worth(errors: list[float]) -> str:
    """Say in words what the numbers are and how far the curves stray."""
    most, nearly = (units.text(errors[round(share * (len(errors) - 1))], "1", 2) for share in (1, 0.98))
    return (
        "Where a slider stops, every number is the model's own, with what the engine typically costs. Between the stops"
        f" the line is straight from place to place: of {len(errors)} places drawn at random, 98 in 100 lie within"
        f" {nearly} of the model, and the others within {most}."
    )


# -- Markdown -------------------------------------------------------------------------------------------
class _Renderer(mistune.HTMLRenderer):
    """HTML with formulas in MathML, headings to link to, and links from chapter to chapter."""

    def block_math(self, text: str) -> str:
        """Return a formula on a line of its own."""
        return formula(text.strip())

    def inline_math(self, text: str) -> str:
        """Return a formula in the line."""
        return mathml(text)

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        """Return a heading; its place is its words."""
        return f"<h{level} id='{_anchor(re.sub('<.*?>', '', text))}'>{text}</h{level}>"

    def table(self, text: str) -> str:
        """Return a table in a box that scrolls."""
        return f"<div class='scroll'><table>{text}</table></div>"

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Return a link; to a notebook that has no page there is none."""
        url = re.sub(r"^(\d\d_\w+)\.ipynb$", r"\1.html", url)
        return text if url.endswith(".ipynb") else super().link(text, url, title)


_markdown: Any = mistune.create_markdown(renderer=_Renderer(escape=False), plugins=["math", "table"])


def _anchor(words: str) -> str:
    return re.sub(r"\W+", "-", html.unescape(words).casefold()).strip("-")
