"""Turns executed notebooks into pages that need no kernel and no network.

Each chapter is one page of plain HTML, beside it `book.css`, and `book.js` for guesses and exercises. Formulas become
MathML, and a chart of the learner's own becomes an SVG: nothing is fetched.
"""

from __future__ import annotations

import html
import re
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mistune
import numpy as np
from nbformat import NotebookNode
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from tqdm import tqdm

from readahead import paths
from readahead.book import panel
from readahead.experiments.figure import Axis, Line, Picture
from readahead.panels.chart import chart
from readahead.panels.markup import COLOURS, formula, mathml

_HERE = Path(__file__).parent
BADGE = "Modeled and published; measured on the maker’s machine"
_CALL = re.compile(r"lesson\.(?:predict|reveal|claim|exercise|figure|steps|explore|guesses)\(.*\)")
"""A cell that only shows something of the chapter: it is not the learner's own code."""
_ASKS = re.compile(r"\*\*(?:Predict|Claim|Exercise)\.\*\*")
_CHART, _IN_A_BOX = (
    re.compile(r"<svg [^>]*xmlns:xlink.*?</svg>", re.DOTALL),
    r"<div class='scroll chart'>\g<0></div>",
)
"""A chart, which scrolls by itself where it would be too small to read."""
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
    def number(self) -> str:
        """Return the number of the chapter."""
        return self.stem[:2]


def write(folder: Path, pages: Sequence[Page]) -> None:
    """Write the book into a folder, each file whole and the contents last. Raises `OSError` as the system does."""
    for name in ("book.css", "book.js"):
        paths.write_whole(folder / name, (_HERE / name).read_text(encoding="utf-8"))
    panel.assets(folder)
    for page in tqdm(pages, desc="pages", unit="page", disable=None):
        paths.write_whole(folder / f"{page.stem}.html", chapter_html(page, pages))
    paths.write_whole(folder / "index.html", index_html(pages))


# -- a page ---------------------------------------------------------------------------------------------
def chapter_html(page: Page, pages: Sequence[Page]) -> str:
    """Return the page of one chapter."""
    at = pages.index(page)
    before, after = pages[at - 1] if at else None, pages[at + 1] if at + 1 < len(pages) else None
    failed = (
        f"<p class='failed'>This chapter could not be run. {_text(page.failed)}</p>" if page.failed else ""
    )
    about = (
        f"<p class='about'>Chapter {int(page.number)}, about {page.minutes} minutes. <strong>{BADGE}</strong>"
        f"{_text(measured_on(page.notebook))}. The notebook itself measures on yours.</p>{failed}"
    )
    tools = (
        "<p class='tools'><button type='button' id='open'>Open everything</button> "
        "<button type='button' id='forget'>Forget my guesses and answers</button></p>"
    )
    cells = [_cell(cell) for cell in page.notebook.cells]
    turn = "".join(
        f"<a rel='{rel}' href='{other.stem}.html'>{word}: {_text(other.title)}</a>"
        for rel, word, other in (("prev", "Before", before), ("next", "Next", after))
        if other is not None
    )
    main = f"{cells[0]}{about}{tools}{''.join(cells[1:])}<nav class='turn' aria-label='Chapters beside'>{turn}</nav>"
    return _framed(page.title, main, _contents(pages, page), page.topic)


def index_html(pages: Sequence[Page]) -> str:
    """Return the page of contents."""
    rows = "".join(
        f"<li value='{int(page.number)}'><a href='{page.stem}.html'>{_text(page.title)}</a>"
        f"<span class='minutes'>{page.minutes} min</span>"
        f"{'<p class=failed>This chapter could not be run.</p>' if page.failed else _question(page.notebook)}</li>"
        for page in pages
    )
    dates = {measured_on(page.notebook) for page in pages if not page.failed}
    about = (
        "<h1>Readahead</h1><p class='lead'>How storage I/O decides the throughput of a database.</p>"
        f"<p class='about'><strong>{BADGE}</strong>{_text(dates.pop()) if len(dates) == 1 else ''}.</p>"
        "<p>You guess, and only then is the answer shown. What you write stays in this browser. On your own machine,"
        " with the workbook itself, DuckDB measures every answer anew.</p>"
    )
    return _framed("Readahead", f"{about}<ol class='chapters'>{rows}</ol>", "", "")


def measured_on(notebook: NotebookNode) -> str:
    """Return on which machine and when a copy was executed, as the end of a sentence; nothing of a notebook."""
    machine = notebook.metadata.get("readahead", {}).get("machine")
    if not machine:
        return ""
    day = str(notebook.metadata.get("papermill", {}).get("end_time", ""))[:10]
    return f": {machine['cpu']}, {machine['cores']} cores, {machine['system']}, {day}"


def _contents(pages: Sequence[Page], here: Page) -> str:
    """Return the list of chapters, with the sections of the one that is shown."""
    rows = []
    for page in pages:
        current = " aria-current='page'" if page is here else ""
        heads = re.findall(r"^## (.+)$", _markdown_of(page.notebook), re.MULTILINE) if page is here else []
        inner = "".join(f"<li><a href='#{_anchor(head)}'>{_text(head)}</a></li>" for head in heads)
        link = f"<a href='{page.stem}.html'{current}>{page.number} {_text(page.title)}</a>"
        rows.append(f"<li>{link}{f'<ul>{inner}</ul>' if inner else ''}</li>")
    home = "<p><a href='index.html'>Readahead</a></p>"
    return f"<nav id='contents' aria-label='Contents'>{home}<ul>{''.join(rows)}</ul></nav>"


def _framed(title: str, main: str, contents: str, topic: str) -> str:
    name = f"{title} · Readahead" if contents else title
    to_contents = "<p class='to'><a href='#contents'>Contents</a></p>" if contents else ""
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>{_text(name)}</title><link rel='icon' href='data:,'><link rel='stylesheet' href='book.css'>"
        f"<script src='book.js' defer></script></head><body data-topic='{topic}'>{to_contents}"
        f"<main>{main}</main>{contents}</body></html>\n"
    )


def _question(notebook: NotebookNode) -> str:
    """Return what a chapter asks: the first paragraph below its title."""
    return _markdown(notebook.cells[0].source.split("\n\n")[1]) if "\n\n" in notebook.cells[0].source else ""


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
        shown = panel.moving(shown) if "data-panel=" in shown else shown
        return f"<div class='output scroll'>{_CHART.sub(_IN_A_BOX, shown)}</div>"
    if "application/vnd.plotly.v1+json" in told:
        drawn = _CHART.sub(_IN_A_BOX, _drawn(told["application/vnd.plotly.v1+json"]))
        return f"<div class='output'>{drawn}</div>"
    said = "".join(output.get("text", told.get("text/plain", output.get("evalue", ""))))
    return f"<pre class='output scroll'>{_text(_ANSI.sub('', said))}</pre>"


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
        if url.endswith(".ipynb"):
            url = re.sub(r"^(\d\d_\w+)\.ipynb$", r"\1.html", url)
            return text if url.endswith(".ipynb") else super().link(text, url, title)
        return super().link(text, url, title)


_markdown: Any = mistune.create_markdown(renderer=_Renderer(escape=False), plugins=["math", "table"])


def _markdown_of(notebook: NotebookNode) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def _anchor(words: str) -> str:
    return re.sub(r"\W+", "-", html.unescape(words).casefold()).strip("-")


def _text(words: str) -> str:
    return html.escape(words, quote=False)
