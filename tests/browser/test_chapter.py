"""A learner works a chapter: guesses, looks, answers wrongly, takes the hint, answers rightly, comes back later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

CHAPTER = "01_fragments.ipynb"


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


def test_guess_reveal_wrong_hint_right_restart_resume(
    running: Any, open_notebook: Callable[..., Any]
) -> None:
    path = running.root / CHAPTER
    path.write_text(
        path.read_text(encoding="utf-8").replace('size = \\"small\\"', 'size = \\"tiny\\"'), encoding="utf-8"
    )
    with open_notebook(CHAPTER) as guest:
        page = guest.page
        guest.run_all()

        ask, answer = cell(guest, 'lesson.predict("yield")'), cell(guest, 'lesson.reveal("yield")')
        ask.locator("input[type=text]").first.wait_for(timeout=60_000)
        assert "Model" not in answer.inner_text()  # the curtain is closed before the guess
        ask.locator("input[type=text]").first.fill("5 %")
        ask.locator("input[type=text]").first.press("Enter")
        ask.locator("button", has_text="Keep my guess").click()
        answer.locator("button", has_text="Show the answer").click()
        guest.wait_until(lambda: "Measured" in answer.inner_text() and "Why." in answer.inner_text(), 60)
        assert "5 %" in answer.inner_text() and "low" in answer.inner_text()
        guest.screen("chapter-revealed")

        desk = cell(guest, 'lesson.exercise("hole")')
        field = desk.locator("input[type=text]").first
        field.wait_for(timeout=60_000)
        field.fill("10 ms")
        desk.locator("button", has_text="Check").click()
        guest.wait_until(lambda: "one disk's seek" in desk.inner_text())  # the hint of this very mistake
        guest.screen("chapter-wrong")
        desk.locator("button", has_text="Hint").click()
        guest.wait_until(lambda: "How long does reading the hole take?" in desk.inner_text())
        field.fill("0.002 s")
        desk.locator("button", has_text="Check").click()
        guest.wait_until(lambda: "Right" in desk.inner_text())
        guest.screen("chapter-right")

        restart_and_run_all(guest)
        page.wait_for_timeout(1500)
        guest.wait_for_kernel()
        answer = cell(guest, 'lesson.reveal("yield")')
        guest.wait_until(lambda: "5 %" in answer.inner_text() and "Measured" in answer.inner_text(), 60)
        desk = cell(guest, 'lesson.exercise("hole")')
        guest.wait_until(lambda: "Right" in desk.inner_text(), 30)
        guest.screen("chapter-resumed")
        assert guest.strangers == []
