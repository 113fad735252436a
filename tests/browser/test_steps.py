"""A picture to step through: keys, buttons, the scrubber, and less motion for those who ask for it."""

from typing import Any

import pytest

pytestmark = pytest.mark.browser
TAKE_THE_CLOCK = """() => {
  const [set, clear] = [window.setInterval, window.clearInterval];
  window.setInterval = (tick, each_ms) => each_ms === 1800 ? (window.tick = tick, 1e9) : set(tick, each_ms);
  window.clearInterval = (timer) => timer === 1e9 ? (window.tick = null) : clear(timer);
}"""
"""The film of steps.js, which shows each frame for 1,800 ms, moves on when `tick()` is called."""


def test_step_play_and_scrub_by_keyboard(guest: Any) -> None:
    page = guest.page
    guest.wait_for_kernel()
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
    assert told.startswith("Reads: in flight 1 to 8; waiting ")
    page.keyboard.press("Home")
    assert says.inner_text() == first
    page.keyboard.press("End")
    last = count.inner_text()
    assert last.split()[0] == last.split()[2]
    assert picture.get_by_role("button", name="Next").get_attribute("aria-disabled") == "true"

    page.evaluate(TAKE_THE_CLOCK)
    page.keyboard.press("Space")  # from the end it plays from the beginning
    assert count.inner_text().startswith("1 of ")
    page.evaluate("tick()")
    assert count.inner_text().startswith("2 of ")
    page.keyboard.press("Space")
    assert page.evaluate("tick") is None and count.inner_text().startswith("2 of ")
    picture.get_by_role("button", name="Back").press("Enter")
    assert count.inner_text().startswith("1 of ")

    page.emulate_media(reduced_motion="reduce")
    assert not picture.get_by_role("button", name="Play").is_visible()
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.readahead-box')).transitionDuration") == "0s"
    )
    page.keyboard.press("ArrowRight")
    page.emulate_media(reduced_motion="no-preference")
    assert len(guest.sent) == asked  # the kernel was asked for nothing
    assert guest.strangers == []
