"""Executed notebooks become pages that fetch nothing; a chapter that failed has a page that says so."""

from __future__ import annotations

import re
import resource
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest

from readahead import paths
from readahead.__main__ import run
from readahead.book.pages import Page, chapter_html, index_html, write
from readahead.chapters import Place, chapter
from readahead.commands import book as command


def cell(kind: str, source: str, *outputs: dict[str, Any]) -> Any:
    made = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
    found = made(source)
    if kind == "code":
        found.outputs = [nbformat.v4.new_output("display_data", data=data) for data in outputs]
    return found


def page(*cells: Any, stem: str = "01_fragments", failed: str = "") -> Page:
    title = cell("markdown", "# Fragments & holes\n\nHow *long*?")
    told = nbformat.v4.new_notebook(cells=[title, *cells])
    told.metadata["papermill"] = {"end_time": "2026-02-03T04:05:06"}
    told.metadata["readahead"] = {"machine": {"cpu": "An <old> one", "cores": 2, "system": "Linux"}}
    return Page(stem=stem, title="Fragments & holes", minutes=49, notebook=told, failed=failed)


class Seen(HTMLParser):
    """The tags of a page, and what it refers to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.places: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.places += [value or "" for name, value in attrs if name in ("href", "src", "srcset", "action")]


def body(*cells: Any) -> str:
    only = page(*cells)
    return chapter_html(only, [only])


def test_markdown_keeps_its_tables_its_folds_and_its_code() -> None:
    told = (
        "| word | means |\n|---|---|\n| a | b |\n\n<details><summary>More</summary>\n\nIt *is*.\n\n</details>"
    )
    shown = body(cell("markdown", told), cell("markdown", "`x < 1`"))
    assert "<div class='scroll'><table>" in shown and "<summary>More</summary>" in shown
    assert "<em>is</em>" in shown and "<code>x &lt; 1</code>" in shown


def test_formulas_become_mathml_and_prices_stay() -> None:
    shown = body(cell("markdown", "It is $B s$, for $5 or $6.\n\n$$\\frac{a}{b}$$"))
    assert shown.count("<math") == 2 and "<mfrac>" in shown
    assert "for $5 or $6" in shown


def test_a_link_leads_to_a_chapter_s_page_and_to_no_notebook_without_one() -> None:
    shown = body(cell("markdown", "[Next](02_read_ahead.ipynb), [the room](class_view.ipynb)"))
    assert '<a href="02_read_ahead.html">Next</a>, the room' in shown and ".ipynb" not in shown


def test_outputs_are_shown_folded_and_text_is_text() -> None:
    output = {"text/html": "<details open><summary>The numbers</summary>9</details>", "text/plain": "no"}
    shown = body(cell("code", "x", output), cell("code", "y", {"text/plain": "a < b \x1b[31mred\x1b[0m"}))
    assert "<details><summary>The numbers" in shown and ">no<" not in shown
    assert "a &lt; b red" in shown


def test_a_chart_of_plotly_s_becomes_an_svg() -> None:
    frame = pytest.importorskip("pandas").DataFrame({"x": [1, 10], "modeled": [2.0, 3.0], "mine": [1.0, 4.0]})
    drawn = pytest.importorskip("plotly.express").line(frame, x="x", y=["modeled", "mine"], log_x=True)
    shown = body(cell("code", "px", {"application/vnd.plotly.v1+json": drawn.to_plotly_json()}))
    assert "<svg" in shown and "modeled, mine along x." in shown


def test_a_page_says_where_it_was_measured_and_refers_to_nothing_outside() -> None:
    pages = [page(), page(stem="02_read_ahead"), page(stem="03_row_groups", failed="A <cell> broke.")]
    first, last = chapter_html(pages[0], pages), chapter_html(pages[2], pages)
    assert "machine</strong>: An &lt;old&gt; one, 2 cores, Linux, 2026-02-03." in first
    assert "Next: Fragments &amp; holes" in first and "Before: " not in first
    assert "Before: " in last and "Next: " not in last and "A &lt;cell&gt; broke." in last
    own = {f"{one.stem}.html" for one in pages} | {"index.html", "book.css", "book.js", "data:,"}
    for text in (first, last, index_html(pages)):
        seen = Seen(text)
        assert {place for place in seen.places if not place.startswith("#")} <= own
        assert not {"iframe", "object", "embed", "img"} & set(seen.tags)
    assert index_html(pages).count("could not be run") == 1 and "How <em>long</em>?" in index_html(pages)


def test_the_contents_are_written_last_and_nothing_stays_half_written(tmp_path: Path) -> None:
    long = page(cell("markdown", "long " * 100_000), stem="02_read_ahead")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))  # as a full disk
    try:
        with pytest.raises(OSError, match=r"02_read_ahead|too large"):
            write(tmp_path, [page(), long])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    found = {file.name for file in tmp_path.iterdir()}
    assert "01_fragments.html" in found and not {"02_read_ahead.html", "index.html"} & found
    assert not [name for name in found if name.endswith(".part")]


# -- the command ----------------------------------------------------------------------------------------
@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the workbook two short chapters, the second of which fails at size tiny; return a folder for the book."""
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for stem, line in (("01_fragments", "print(size)"), ("05_lookups", "1 / (size != 'tiny')")):
        told = page(cell("code", "size = 'small'\nreveal = False"), cell("code", line)).notebook
        told.metadata.clear()
        told.cells[1].metadata["tags"] = ["parameters"]
        nbformat.write(told, folder / f"{stem}.ipynb")
    monkeypatch.setattr(paths, "NOTEBOOKS", folder)
    monkeypatch.setattr(
        command, "CONTENTS", (Place(number=1, topic="fragments"), Place(number=5, topic="lookups"))
    )
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "a book"


def test_a_chapter_that_fails_has_its_page_and_the_others_are_there(
    two: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["book", "--out", str(two), "--size", "tiny"]) == 1
    assert {file.name for file in two.iterdir()} >= {"index.html", "01_fragments.html", "05_lookups.html"}
    bad, good = (
        (two / name).read_text(encoding="utf-8") for name in ("05_lookups.html", "01_fragments.html")
    )
    assert "could not be run" in bad and "ZeroDivisionError" in bad
    assert re.search(r"<pre class='output scroll'>tiny\s*</pre>", good) and "could not be run" not in good
    assert f"about {chapter('fragments').minutes} minutes" in good
    assert "index.html" in capsys.readouterr().out


@pytest.mark.parametrize(("place", "code"), [("a file", 2), ("a file/below", 1)])
def test_a_place_where_no_book_can_be_written_is_told_before_anything_runs(
    place: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a file").write_text("mine", encoding="utf-8")
    assert run(["book", "--out", str(tmp_path / place)]) == code
    assert "a file" in capsys.readouterr().err
    assert (tmp_path / "a file").read_text(encoding="utf-8") == "mine"
