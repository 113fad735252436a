"""The made pages are what the code would make, the agendas keep their time, and nothing of the print is left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from readahead import paths, published
from readahead.chapters import chapter
from tools import leaders_guide, pages


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_a_page_is_up_to_date(page) -> None:  # type: ignore[no-untyped-def]
    assert page.read_text(encoding="utf-8") == pages.made(page), "Run: make pages"


def test_every_printed_figure_stands_on_the_page() -> None:
    text = (paths.ROOT / "docs" / "published.md").read_text(encoding="utf-8")
    lost = [
        f.name for topic in published.topics() for f in published.figures(topic) if f"`{f.name}`" not in text
    ]
    assert lost == []


def test_every_exercise_has_its_minutes_and_its_wrong_ideas() -> None:
    text = leaders_guide.questions()
    for topic in leaders_guide.written():
        for exercise in chapter(topic).exercises:
            assert f"**{exercise.id}** ({exercise.shape.minutes} min)" in text
            assert all(f"*{idea.name}*: {idea.hint}" in text for idea in exercise.misconceptions)


@pytest.mark.parametrize("agenda", leaders_guide.SESSIONS, ids=lambda agenda: agenda.key)
def test_an_agenda_keeps_its_time_and_asks_what_there_is(agenda: leaders_guide.Session) -> None:
    assert 0.85 * agenda.minutes <= agenda.planned <= agenda.minutes
    for item in agenda.items:
        for name in item.guesses:
            assert chapter(item.topic).prediction(name)
        for name in item.exercises:
            assert chapter(item.topic).exercise(name)


def run(*arguments: str) -> Result:
    """Call `make pages` with options."""
    return CliRunner().invoke(pages.pages, arguments)


BEGUN, ENDED = pages.BEGIN.format("chapters"), pages.END.format("chapters")


@pytest.mark.parametrize(
    "text", [f"{BEGUN} and the rest", f"the rest {ENDED}", "", f"{ENDED}{BEGUN}", f"{BEGUN}{ENDED}" * 2]
)
def test_a_page_that_lost_a_mark_is_left_as_it_is(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    monkeypatch.setattr(pages, "PAGES", {page: {"chapters": lambda: "new"}})
    ended = run()
    assert ended.exit_code == 1
    assert "once each" in ended.output
    assert page.read_text(encoding="utf-8") == text
    page.unlink()
    ended = run("--check")
    assert ended.exit_code == 1
    assert "cannot be read" in ended.output


def test_a_stale_page_is_told_of_by_the_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before {BEGUN} old {ENDED} after", encoding="utf-8")
    monkeypatch.setattr(pages, "PAGES", {page: {"chapters": lambda: "new"}})
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    assert run("--check").exit_code == 1
    assert run().exit_code == run("--check").exit_code == 0
    assert page.read_text(encoding="utf-8") == f"before {BEGUN}\n\nnew\n\n{ENDED} after"
