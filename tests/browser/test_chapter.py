"""A learner works chapters: guesses, looks, answers wrongly, takes the hint, answers rightly, comes back later."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import lab as reading_room
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

    @property
    def cells(self) -> list[reading_room.Cell]:
        """Return the cells it needs."""
        asked, exercise = self.guess[0], self.exercise
        worked = [f'predict("{asked}")', f'reveal("{asked}")', f'exercise("{exercise}")']
        found = reading_room.cells_of(f"{self.chapter}.ipynb", worked)
        return [cell for cell in found if cell["cell_type"] == "code"]


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


def work(walk: Walk, guest: Any) -> None:
    """Guess, look at the answer, and solve the exercise after a mistake."""
    asked, guess = walk.guess
    ask, answer = cell(guest, f'lesson.predict("{asked}")'), cell(guest, f'lesson.reveal("{asked}")')
    ask.locator("input[type=text]").first.wait_for(timeout=60_000)
    assert "Model" not in answer.inner_text()  # nothing is given away before the guess
    fields = ask.locator('input[placeholder="a number and its unit"]')
    assert {field.input_value() for field in fields.all()} == {""}  # no number is suggested
    ask.locator("input[type=text]").first.fill(guess)
    ask.locator("input[type=text]").first.press("Enter")
    ask.locator("button", has_text="Keep my guess").click()
    answer.locator("button", has_text="Show the answer").click()
    guest.wait_until(lambda: "Measured" in answer.inner_text() and "Why." in answer.inner_text(), 60)
    assert guess in answer.inner_text()
    assert "low" in answer.inner_text() or "high" in answer.inner_text()
    guest.screen(f"{walk.chapter}-revealed")

    exercise = cell(guest, f'lesson.exercise("{walk.exercise}")')
    field = exercise.locator("input[type=text]").first
    field.wait_for(timeout=60_000)
    field.fill(walk.wrong[0])
    exercise.locator("button", has_text="Check").click()
    guest.wait_until(lambda: walk.wrong[1] in exercise.inner_text())  # the hint of this very mistake
    guest.screen(f"{walk.chapter}-wrong")
    exercise.locator("button", has_text="Hint").click()
    guest.wait_until(lambda: walk.first_hint in exercise.inner_text())
    field.fill(walk.right)
    exercise.locator("button", has_text="Check").click()
    guest.wait_until(lambda: "Right" in exercise.inner_text())
    guest.screen(f"{walk.chapter}-right")


def expect_again(walk: Walk, guest: Any) -> None:
    """Wait until the guess, the answer and the solved exercise are shown."""
    asked, guess = walk.guess
    answer = cell(guest, f'lesson.reveal("{asked}")')
    guest.wait_until(lambda: guess in answer.inner_text() and "Measured" in answer.inner_text(), 60)
    exercise = cell(guest, f'lesson.exercise("{walk.exercise}")')
    guest.wait_until(lambda: "Right" in exercise.inner_text(), 30)
    guest.screen(f"{walk.chapter}-resumed")


def test_guess_reveal_wrong_hint_right_restart_resume(
    running: Any, open_notebook: Callable[..., Any]
) -> None:
    running.begin("walks.ipynb", [cell for walk in WALKS for cell in walk.cells])
    with open_notebook("walks.ipynb") as guest:
        guest.run_all()
        guest.wait_for_kernel(180)  # a click waits until the cells have run
        for walk in WALKS:
            work(walk, guest)

        old = guest.page.locator("#from-before")
        guest.page.evaluate("document.querySelector('.jp-OutputArea-output').id = 'from-before'")
        guest.restart(and_run=True)
        guest.wait_until(lambda: not old.count(), 60)
        guest.wait_for_kernel()
        for walk in WALKS:
            expect_again(walk, guest)
        assert guest.strangers == []
