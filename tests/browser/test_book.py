"""The book, opened from its files in Chromium: guesses, answers and exercises work without a kernel or a network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lab
import nbformat
import pytest
from toybox import CHAPTER, study

from readahead import paths
from readahead.book.pages import Page, write
from readahead.chapters import chapter
from readahead.commands.run import run_notebook
from readahead.questions.answers import Amount, Choice, Order, Several
from readahead.questions.question import Outcome

pytestmark = pytest.mark.browser
TOYBOX = Path(__file__).parents[1] / "toybox"


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book of a real chapter, of one that was not run, and of the toy, which has an exercise of each kind."""
    if reason := lab.why_not():
        pytest.skip(reason)
    folder, pages = tmp_path_factory.mktemp("book"), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("READAHEAD_REPEATS", "1")
        patch.setenv("PYTHONPATH", os.pathsep.join([str(TOYBOX), str(paths.ROOT / "lib")]))
        for path, known in (
            (paths.NOTEBOOKS / "00_start_here.ipynb", chapter("start_here")),
            (TOYBOX / "90_toy.ipynb", CHAPTER),
        ):
            told = run_notebook(path, folder / "run", {"size": "tiny", "reveal": True})
            title = told.cells[0].source.splitlines()[0].removeprefix("# ")
            pages.append(Page(stem=path.stem, title=title, minutes=known.minutes, notebook=told))
    not_run = nbformat.read(paths.NOTEBOOKS / "03_row_groups.ipynb", as_version=4)
    pages.append(Page(stem="03_row_groups", title="Not run", minutes=1, notebook=not_run, failed="Not run."))
    write(folder, pages)
    return folder


@pytest.fixture
def opened(book: Path, chromium: Any) -> Iterator[Any]:
    """Open a page of the book, at some width and in some colours; nothing may be asked of anybody, and nothing fail."""
    with chromium.new_context() as context:
        strangers: list[str] = []

        def visit(name: str, query: str = "", *, width: int = 1200, scheme: Any = "light") -> Any:
            page = context.new_page()
            page.on("request", lambda asked: strangers.append(asked.url))
            page.on("pageerror", lambda error: strangers.append(str(error)))
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            page.goto(f"{(book / name).as_uri()}{query}")
            return page

        yield visit
        assert [one for one in strangers if not one.startswith(("file:", "data:"))] == []


def test_an_answer_waits_for_a_guess_and_the_guess_stays(opened: Any) -> None:
    page = opened("90_toy.html")
    answer, asked = page.locator("[data-reveal=fetch]"), page.locator("[data-predict=fetch]")
    claim = page.locator("[data-claim=model_fits]")
    assert not answer.is_visible() and not claim.is_visible()
    asked.get_by_text("Keep my guess").click()
    assert "Give a guess first" in asked.locator("[role=status]").inner_text() and not answer.is_visible()
    asked.get_by_label("My guess", exact=True).fill("253")
    asked.get_by_label("My guess: unit").select_option("ms")
    asked.get_by_label("Because").fill("<img src=x> it is far")
    asked.get_by_text("Keep my guess").click()
    said = "against the measurement. Your reason: <img src=x> it is far"
    assert answer.is_visible() and claim.is_visible() and said in answer.inner_text()
    assert "was 8.3× high" in answer.inner_text()
    page.reload()
    assert answer.is_visible() and said in answer.inner_text()
    assert asked.get_by_label("My guess", exact=True).input_value() == "253"
    assert not page.locator("[data-reveal=half]").is_visible()
    page.locator("[data-predict=half]").get_by_text("Show it without a guess").click()
    assert page.locator("[data-reveal=half]").is_visible()
    page.get_by_text("Forget my guesses and answers").click()
    answer.wait_for(state="hidden")


def give(place: Any, shape: Any, answer: Any) -> None:
    """Answer an exercise as a reader would."""
    if isinstance(shape, Amount):
        place.get_by_label("Answer", exact=True).fill(repr(answer))
        place.get_by_label("Answer: unit").select_option("B")
    elif isinstance(shape, Order):
        for at, option in enumerate(answer, start=1):
            place.get_by_label(f"Place {at}").select_option(option)
    else:
        for box in place.locator("fieldset input").all():
            picked = [answer] if isinstance(shape, Choice) else answer
            if not isinstance(shape, Choice) or box.input_value() in picked:
                box.set_checked(box.input_value() in picked)
    place.get_by_text("Check", exact=True).click()


def test_exercises_are_checked_as_in_the_notebook(opened: Any) -> None:
    page = opened("90_toy.html")
    kinds = set()
    for asked in CHAPTER.exercises:
        place, shape = page.locator(f"[data-exercise={asked.id}]"), asked.shape
        kinds.add(type(shape))
        for idea in asked.misconceptions:
            example = idea.example(study()) if callable(idea.example) else idea.example
            assert asked.check(example, study()).outcome is Outcome.WRONG
            give(place, shape, shape.read(example))
            told = place.locator("[role=status]").inner_text()
            assert told.startswith("✗ Wrong."), (asked.id, idea.name, told)
        assert place.locator("details").last.get_attribute("open") is None
        hints = place.locator("details").first.locator("li")
        place.get_by_text("Hint", exact=True).click()
        assert [hint.is_visible() for hint in hints.all()][:2] == [True, False]
        give(place, shape, asked.right_answer(study()))
        assert "✓ Right." in place.locator("[role=status]").inner_text()
        assert place.locator("details").last.get_attribute("open") is not None
    assert kinds == {Amount, Choice, Order, Several}
    page.reload()
    assert page.get_by_text("✓ Right.").count() == len(CHAPTER.exercises)


@pytest.mark.parametrize("name", ["index.html", "00_start_here.html"])
def test_a_page_fits_a_phone_and_shuts_nobody_out(name: str, opened: Any) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python")
    for scheme in ("light", "dark"):
        page = opened(name, "?open", width=390, scheme=scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.evaluate(Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
        found = page.evaluate(
            """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
              .filter((one) => ["serious", "critical"].includes(one.impact))
              .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`))"""
        )
        assert found == []


def test_words_for_who_has_a_kernel_are_left_out(opened: Any) -> None:
    told = opened("00_start_here.html", "?open").locator("main").inner_text()
    assert "The line is a model" in told
    left_out = ("Run All Cells", "Rest a slider", "type a value", "Play", "More knobs", "# Parameters")
    assert not [words for words in left_out if words in told]


@pytest.mark.parametrize("name", ["90_toy.html", "03_row_groups.html"])
def test_long_lines_of_code_scroll_in_their_box(name: str, opened: Any) -> None:
    page = opened(name, "?open", width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("pre[tabindex]").count() > 0


def test_everything_is_open_for_a_teacher_and_on_paper(opened: Any) -> None:
    closed = opened("00_start_here.html")
    answer, solution = "[data-reveal=drive] table", "[data-exercise=by_hand] details:last-of-type p"
    assert not closed.locator(answer).first.is_visible() and not closed.locator(solution).first.is_visible()
    closed.emulate_media(media="print")
    assert closed.locator(answer).first.is_visible() and closed.locator(solution).first.is_visible()
    assert not closed.locator("button:visible, form:visible").count()
    teachers = opened("00_start_here.html", "?open")
    assert teachers.locator(answer).first.is_visible() and teachers.locator(solution).first.is_visible()
    assert teachers.locator("[data-panel] svg").first.is_visible() and teachers.locator("math").count() > 3
