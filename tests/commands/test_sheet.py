"""A sheet is checked before it is run, its notebooks run side by side, goes on where it stopped, and ends in a page."""

from __future__ import annotations

import html
import os
import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest

from readahead.__main__ import run
from readahead.commands import sheet as command
from readahead.errors import BadValue, DataError
from readahead.measure.sample import this_machine

CLAIM = {"claim": "warm", "says": "Tea is <warm>.", "verdict": "agrees", "seen": "60 °C."}


def notebook(folder: Path, name: str, *lines: str) -> Path:
    """Write a notebook with the parameter `cups` and some lines of code."""
    made = nbformat.v4.new_notebook()
    made.cells = [nbformat.v4.new_code_cell("cups = 2"), *map(nbformat.v4.new_code_cell, lines)]
    made.cells[0].metadata["tags"] = ["parameters"]
    path = folder / f"{name}.ipynb"
    nbformat.write(made, path)
    return path


@pytest.fixture
def chapters(tmp_path: Path) -> Path:
    """Write a folder of two notebooks: one makes a claim, one can be made to fail."""
    folder = tmp_path / "chapters"
    folder.mkdir()
    notebook(
        folder, "01_tea",
        f"from IPython.display import display, HTML; display(HTML('tea'), metadata={{'readahead': {CLAIM!r}}})",
    )  # fmt: skip
    notebook(folder, "02_pot", "assert cups < 5, 'The pot is full.'")
    return folder


def sheet(tmp_path: Path, text: str, chapters: Path) -> command.Sheet:
    """Write a sheet and load it for these notebooks."""
    path = tmp_path / "our own.yaml"
    path.write_text(text, encoding="utf-8")
    return command.load(str(path), chapters)


def test_the_sheets_of_the_house_fit_its_notebooks() -> None:
    assert {"laptop-ssd", "cloud-volume", "spinning-disk", "object-store", "ci"} <= set(command.names())
    for name in command.names():
        assert len(command.load(name).runs) >= 4


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("- a list", BadValue, "['a list'] is not of type 'object'. A sheet has title: TEXT, common:"),
        ("cups: 3", BadValue, "('cups' was unexpected). A sheet has title"),
        ("notebooks: {03_none: {}}", BadValue, "'03_none' is no notebook. There are: 01_tea, 02_pot"),
        ("notebooks: {01_tea: {sugar: 1}}", BadValue, "sugar"),
        ("notebooks: {01_tea: {cups: many}}", BadValue, "whole number"),
        ("common: {sugar: 1}", BadValue, "no notebook takes 'sugar'"),
        ("common: 3", BadValue, "common: 3 is not of type 'object'"),
        ("title: [", DataError, "cannot be read as a sheet"),
        ("[" * 5_000, DataError, "cannot be read as a sheet"),
        (
            "a: &a [x, x, x, x, x, x, x, x, x]\n"
            + "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in pairwise("abcdefghij"))
            + "only: *j",
            DataError,
            "such as *name, is not taken",
        ),
        (" " * 2_000_000, DataError, "it has more than 1,048,576 bytes"),
        ("title: 2026-13-99", DataError, "cannot be read as a sheet"),
        ("only: 5", BadValue, "only: 5 is not of type 'array'"),
        ("only: 01_tea", BadValue, "only: '01_tea' is not of type 'array'"),
        ("only: [[1]]", BadValue, "only.0: [1] is not of type 'string'"),
        ("only: [{a: 1}]", BadValue, "only.0: {'a': 1} is not of type 'string'"),
        (
            "notebooks: {01_tea: {cups: 2026-01-01}}",
            BadValue,
            "notebooks.01_tea.cups: datetime.date(2026, 1, 1) is not of type",
        ),
        ("common: {cups: [1]}", BadValue, "common.cups: [1] is not of type 'string', 'number'"),
    ],
)
def test_a_sheet_that_cannot_be_run_says_why(
    text: str, error: type[Exception], words: str, tmp_path: Path, chapters: Path
) -> None:
    with pytest.raises(error, match=re.escape(words)):
        sheet(tmp_path, text, chapters)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("command_line", [["sheet"], ["run", "--out", "out"]])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_not_waited_for(
    command_line: list[str], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "a.yaml"
    os.mkfifo(place) if kind == "pipe" else place.symlink_to("/dev/zero")
    assert run([*command_line, str(place)]) == 1
    assert "it is no ordinary file" in capsys.readouterr().err


def test_an_unknown_sheet_lists_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sheet", "organ"]) == 1
    assert "laptop-ssd" in capsys.readouterr().err
    assert run(["sheet"]) == 0
    assert "ci " in capsys.readouterr().out


@pytest.mark.notebook
def test_a_sheet_is_run_and_goes_on_where_it_stopped(
    tmp_path: Path, chapters: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    full = sheet(tmp_path, "common: {cups: 7}", chapters)
    tea, pot = command.run_sheet(full, out, jobs=2)
    assert (tea.state, pot.state) == (command.RAN, command.FAILED)
    assert tea.claims == (CLAIM,)
    assert "The pot is full." in pot.says

    tea, pot = command.run_sheet(full, out, jobs=1)  # the failed one is tried again, the other kept
    assert (tea.state, pot.state) == (command.KEPT, command.FAILED)
    assert tea.claims == (CLAIM,)
    told = re.findall(r"^\d\d_\w+ +(\w[\w ]*) in ", capsys.readouterr().out, re.MULTILINE)
    assert sorted(told) == [command.FAILED, command.FAILED, command.RAN, command.KEPT]

    less = sheet(tmp_path, "common: {cups: 3}", chapters)  # other parameters are another run
    assert [one.state for one in command.run_sheet(less, out, jobs=2)] == [command.RAN] * 2
    (out / "02_pot.ipynb").write_text("{", encoding="utf-8")
    assert [one.state for one in command.run_sheet(less, out, jobs=2)] == [command.KEPT, command.RAN]


@pytest.mark.notebook
@pytest.mark.usefixtures("chapters")
def test_when_it_is_broken_off_no_other_is_begun_and_what_was_finished_stays(
    tmp_path: Path, chapters: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(played: command.Outcome) -> None:
        raise KeyboardInterrupt(played.notebook)

    notebook(chapters, "03_cup")
    score, out = sheet(tmp_path, "title: Tea", chapters), tmp_path / "out"
    with monkeypatch.context() as broken:
        broken.setattr(command, "_line", stop)
        with pytest.raises(KeyboardInterrupt, match="01_tea"):
            command.run_sheet(score, out, jobs=1)
    assert (out / "01_tea.ipynb").exists() and not (out / "03_cup.ipynb").exists()
    assert command.run_sheet(score, out, jobs=1)[0].state == command.KEPT


def test_no_jobs_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sheet", "ci", "--jobs", "0"]) == 2
    assert "0 is not in the range x>=1" in capsys.readouterr().err


def executed(path: Path, **changes: object) -> Path:
    """Write a copy as a run leaves it, with a claim in it."""
    made = nbformat.v4.new_notebook(
        metadata={"readahead": {"digest": "a"}, "papermill": {"duration": 1.5}, **changes}
    )
    cell = nbformat.v4.new_code_cell("x")
    shown = nbformat.v4.new_output("display_data", {"text/html": "tea"}, metadata={"readahead": CLAIM})
    cell.outputs = [shown, nbformat.v4.new_output("stream", text="claim")]
    made.cells = [nbformat.v4.new_markdown_cell("claim"), cell]
    nbformat.write(made, path)
    return path


def test_claims_are_read_from_an_executed_copy_alone(tmp_path: Path) -> None:
    copy = executed(tmp_path / "01_tea.ipynb")
    found = command.Outcome(notebook="01_tea", state=command.RAN, seconds=1.5, claims=(CLAIM,))
    assert command._executed(copy, "a") == found


@pytest.mark.parametrize(
    "damage",
    [
        {"readahead": 5},
        {"readahead": {}},
        {"readahead": {"digest": "b"}},
        {"papermill": {}},
        {"papermill": {"duration": "x"}},
    ],
    ids=str,
)
def test_a_copy_that_does_not_tell_of_this_run_counts_as_none(damage: dict, tmp_path: Path) -> None:
    assert command._executed(executed(tmp_path / "01_tea.ipynb", **damage), "a") is None
    assert command._executed(tmp_path / "02_none.ipynb", "a") is None


class Links(HTMLParser):
    """Collects what a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep every address."""
        self.found += [value for name, value in attrs if name in ("src", "href") and value]


def test_the_page_says_what_happened_and_fetches_nothing() -> None:
    played = [
        command.Outcome(notebook="01_tea", state=command.RAN, seconds=3.2, claims=(CLAIM,)),
        command.Outcome(notebook="02_pot", state=command.FAILED, seconds=1.0, says="The pot is <full>."),
    ]
    made = command.page("Tea & co", played, this_machine())
    assert "1 of 2 notebooks ran through" in made and "Of 1 claims 1 agree" in made
    machine = this_machine()
    assert f"cpu {machine.cpu}, cores {machine.cores}, memory " in html.unescape(made)
    assert "Tea &amp; co" in made and "Tea is &lt;warm&gt;." in made and "The pot is &lt;full&gt;." in made
    links = Links()
    links.feed(made)
    assert links.found == ["01_tea.ipynb"]
