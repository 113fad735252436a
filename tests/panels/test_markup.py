"""What others wrote is shown as it is: it neither runs in the browser nor breaks the page."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest

from readahead.errors import DataError
from readahead.panels import class_view
from readahead.panels.markup import error_box, paragraphs, plain

EVIL = "<img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """Collects the tags of a page, and what would run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.runs: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.runs += [name for name, value in attrs if name.startswith("on") or name in ("href", "src")]


@pytest.mark.parametrize(
    "evil", [rf"\text{{{EVIL}}}", r"\text{&lt;script&gt;}", r"\href{javascript:alert(1)}{x}"]
)
def test_a_formula_holds_no_script(evil: str) -> None:
    tags = Tags(paragraphs(f"one ${evil}$ two"))
    assert "math" in tags.seen and not tags.seen & {"img", "script", "a"} and tags.runs == []


def test_a_formula_keeps_its_signs() -> None:
    assert "<mo>&lt;</mo>" in paragraphs("$a < b$") and "<mo>·</mo>" in paragraphs(r"$a \cdot b$")


@pytest.mark.parametrize("name", [r"$\frac$", f"$\\text{{{EVIL}}}$", "a*b*c `d` **e**"])
def test_a_name_in_an_error_is_only_a_name(name: str) -> None:
    for page in (plain(name), error_box(DataError(f"{name} is not there.")), error_box(KeyError(name))):
        tags = Tags(page)
        assert not tags.seen & {"img", "math", "em", "strong", "code"} - {"strong"} and tags.runs == []
    assert "a*b*c `d` **e**" in plain("a*b*c `d` **e**")


@pytest.mark.parametrize("name", [r"$\frac$", f"$\\text{{{EVIL}}}$"])
def test_the_name_of_a_result_runs_nothing_in_the_leader_s_notebook(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(class_view, "show", shown.append)
    class_view.ClassView(class_view.ClassResults(books={}, skipped=(f"{name}.json is no result.",)))
    assert not Tags("".join(shown)).seen & {"img", "math"} and name.split("<", maxsplit=1)[0] in shown[0]
