"""A learner works a chapter: guesses, looks, answers wrongly, takes the hint, answers rightly, comes back later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Walk:
    """What a learner does in a chapter, and what should come of it."""

    chapter: str
    guess: tuple[str, str]
    """(prediction, what is guessed)"""
    exercise: str
    wrong: tuple[str, str]
    """(an answer, a piece of the hint of this very mistake)"""
    first_hint: str
    right: str


WALKS = (
    Walk(
        "01_fragments", ("yield", "5 %"), "hole", ("10 ms", "one disk's seek"),
        "How long does reading the hole take?", "0.002 s",
    ),
    Walk(
        "06_index_pages", ("all_leaves", "200×"), "seconds", ("4 ms", "500 stand in line"),
        "how many leave in a second?", "1 s",
    ),
    Walk(
        "10_loading", ("durability", "3×"), "peak", ("128", "127 of them"),
        "one more writer", "21.8",
    ),
)  # fmt: skip


def cell(guest: Any, code: str) -> Any:
    """Return the notebook cell that holds a line of code, scrolled into sight: what is not seen is not painted."""
    found = guest.page.locator(".jp-CodeCell", has_text=code).first
    found.scroll_into_view_if_needed()
    return found


def restart_and_run_all(guest: Any) -> None:
    """Choose Kernel > Restart Kernel and Run All Cells, and agree."""
    page = guest.page
    page.locator(".lm-MenuBar-itemLabel", has_text="Kernel").first.click()
    page.locator(".lm-Menu-itemLabel", has_text="Restart Kernel and Run All Cells").first.click()
    page.locator(".jp-Dialog .jp-mod-accept").click()


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.chapter)
def test_guess_reveal_wrong_hint_right_restart_resume(
    walk: Walk, running: Any, open_notebook: Callable[..., Any]
) -> None:
    name = f"{walk.chapter}.ipynb"
    worked = [f'predict("{walk.guess[0]}")', f'reveal("{walk.guess[0]}")', f'exercise("{walk.exercise}")']
    running.begin(name, only=worked)  # the rest is run by papermill
    with open_notebook(name) as guest:
        page = guest.page
        guest.run_all()
        guest.wait_for_kernel(180)  # a click waits until the cells have run

        asked, guess = walk.guess
        ask, answer = cell(guest, f'lesson.predict("{asked}")'), cell(guest, f'lesson.reveal("{asked}")')
        ask.locator("input[type=text]").first.wait_for(timeout=60_000)
        assert "Model" not in answer.inner_text()  # nothing is given away before the guess
        fields = page.locator('input[placeholder="a number and its unit"]')
        assert {fields.nth(at).input_value() for at in range(fields.count())} == {
            ""
        }  # no number is suggested
        ask.locator("input[type=text]").first.fill(guess)
        ask.locator("input[type=text]").first.press("Enter")
        ask.locator("button", has_text="Keep my guess").click()
        answer.locator("button", has_text="Show the answer").click()
        guest.wait_until(lambda: "Measured" in answer.inner_text() and "Why." in answer.inner_text(), 60)
        assert guess in answer.inner_text()
        assert "low" in answer.inner_text() or "high" in answer.inner_text()
        guest.screen(f"{walk.chapter}-revealed")

        desk = cell(guest, f'lesson.exercise("{walk.exercise}")')
        field = desk.locator("input[type=text]").first
        field.wait_for(timeout=60_000)
        field.fill(walk.wrong[0])
        desk.locator("button", has_text="Check").click()
        guest.wait_until(lambda: walk.wrong[1] in desk.inner_text())  # the hint of this very mistake
        guest.screen(f"{walk.chapter}-wrong")
        desk.locator("button", has_text="Hint").click()
        guest.wait_until(lambda: walk.first_hint in desk.inner_text())
        field.fill(walk.right)
        desk.locator("button", has_text="Check").click()
        guest.wait_until(lambda: "Right" in desk.inner_text())
        guest.screen(f"{walk.chapter}-right")

        restart_and_run_all(guest)
        page.wait_for_timeout(1500)
        guest.wait_for_kernel()
        answer = cell(guest, f'lesson.reveal("{asked}")')
        guest.wait_until(lambda: guess in answer.inner_text() and "Measured" in answer.inner_text(), 60)
        desk = cell(guest, f'lesson.exercise("{walk.exercise}")')
        guest.wait_until(lambda: "Right" in desk.inner_text(), 30)
        guest.screen(f"{walk.chapter}-resumed")
        assert guest.strangers == []
