"""A picture to step through: keys, buttons, the scrubber, and less motion for those who ask for it."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_step_play_and_scrub_by_keyboard(running: Any, open_notebook: Callable[..., Any]) -> None:
    running.begin("01_fragments.ipynb", only=["lesson.steps("])
    with open_notebook("01_fragments.ipynb") as guest:
        page = guest.page
        guest.run_all()
        guest.wait_for_kernel()
        page.wait_for_selector(".readahead-steps", timeout=60_000)
        picture = page.locator(".readahead-steps")
        count, says, scrub = (
            picture.locator(part) for part in (".readahead-count", ".readahead-says", "input[type=range]")
        )
        picture.scroll_into_view_if_needed()
        guest.wait_until(count.inner_text)  # what is out of sight is not painted
        first, asked = says.inner_text(), len(guest.sent)
        assert count.inner_text().startswith("1 of ")
        assert picture.get_by_role("button").all_inner_texts() == ["Back", "Play", "Next"]

        scrub.focus()
        page.keyboard.press("ArrowRight")
        guest.wait_until(lambda: count.inner_text().startswith("2 of "))
        assert says.inner_text() != first
        assert says.inner_text() in (scrub.get_attribute("aria-valuetext") or "")
        told = picture.get_by_role("img").get_attribute("aria-label") or ""
        assert told.startswith("The file: ")
        page.keyboard.press("Home")
        assert says.inner_text() == first
        page.keyboard.press("End")
        last = count.inner_text()
        assert last.split()[0] == last.split()[2]
        assert picture.get_by_role("button", name="Next").get_attribute("aria-disabled") == "true"

        page.keyboard.press("Space")  # from the end it plays from the beginning
        guest.wait_until(lambda: count.inner_text().startswith("2 of "), 10)
        page.keyboard.press("Space")
        stands = count.inner_text()
        page.wait_for_timeout(2_500)
        assert count.inner_text() == stands
        picture.get_by_role("button", name="Back").press("Enter")
        assert count.inner_text() != stands

        page.emulate_media(reduced_motion="reduce")
        assert not picture.get_by_role("button", name="Play").is_visible()
        assert (
            page.evaluate("getComputedStyle(document.querySelector('.readahead-box')).transitionDuration")
            == "0s"
        )
        page.keyboard.press("ArrowRight")
        assert len(guest.sent) == asked  # the kernel was asked for nothing
        assert guest.strangers == []
