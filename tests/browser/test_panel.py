"""The panel under a learner's hands: one message a step, typed values, a narrow page, a kernel that goes away."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.browser

START = "00_start_here.ipynb"


@pytest.fixture(scope="module")
def guest(open_notebook: Callable[..., Any]) -> Iterator[Any]:
    """A visitor before the first panel, nothing being measured: the same one for all tests."""
    with open_notebook(START) as visitor:
        visitor.run_all()
        visitor.page.wait_for_selector(
            ".readahead-panel .readahead-line[d]", timeout=90_000, state="attached"
        )
        visitor.show_panel()
        visitor.page.locator(".readahead-auto input").uncheck()
        if visitor.page.locator(".readahead-cancel").is_enabled():
            visitor.page.locator(".readahead-cancel").click()
        visitor.wait_until(lambda: not visitor.page.locator(".readahead-cancel").is_enabled(), 90)
        yield visitor


def restart(guest: Any, and_run: bool) -> None:
    page = guest.page
    page.locator(".lm-MenuBar-itemLabel", has_text="Kernel").first.click()
    words = "Restart Kernel and Run All Cells" if and_run else "Restart Kernel…"
    page.locator(".lm-Menu-itemLabel", has_text=words).first.click()
    page.locator(".jp-Dialog .jp-mod-accept").click()


def test_a_step_is_one_message_and_one_answer(guest: Any) -> None:
    page = guest.page
    guest.handle("latency_s").focus()
    guest.sent.clear(), guest.answers.clear()
    steps = 12
    for _ in range(steps):
        said = guest.sentence
        page.keyboard.press("ArrowLeft")
        guest.wait_until(lambda was=said: guest.sentence != was)
    turns = [text for text in guest.sent if '"turn"' in text]  # others are of the lesson's own widgets
    answers = [text for text in guest.answers if '"answered"' in text]
    assert len(turns) == steps and len(answers) == steps
    assert max(map(len, answers)) < 12_000


def test_while_it_is_dragged_there_is_never_more_than_one_message_a_step_and_the_newest_wins(
    guest: Any,
) -> None:
    page = guest.page
    box = guest.handle("latency_s").bounding_box()
    page.evaluate(
        "window.steps = 0; document.querySelector('.readahead-knob-latency_s input[type=range]')"
        ".addEventListener('input', () => { window.steps++; })"
    )
    middle = box["y"] + box["height"] / 2
    guest.sent.clear()
    page.mouse.move(box["x"] + box["width"] * 0.9, middle)
    page.mouse.down()
    for step in range(60):
        page.mouse.move(box["x"] + box["width"] * (0.9 - step / 80), middle)
    page.mouse.up()
    text = guest.typed("latency_s").input_value()
    guest.wait_until(lambda: f"Device latency {text}:" in guest.sentence)
    turns = [text for text in guest.sent if '"turn"' in text]
    assert 0 < len(turns) <= page.evaluate("window.steps")
    assert guest.typed("latency_s").input_value() == text  # no late answer has moved it back


def test_a_tick_stands_while_the_kernel_has_not_answered(guest: Any) -> None:
    """Drawing anew, here because the panel gets narrower, does not take it back."""
    ticked = guest.page.evaluate(
        """async () => {
          const box = document.querySelector('.readahead-auto input');
          box.click();
          document.querySelector('.readahead-panel').style.width = '95%';
          for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
          document.querySelector('.readahead-panel').style.width = '';
          return box.checked;
        }"""
    )
    assert ticked
    guest.page.locator(".readahead-auto input").uncheck()


def test_a_slider_shows_its_value_before_the_kernel_answers(guest: Any) -> None:
    """In the very task of the key: value, text and ring are those of the new stop."""
    found = guest.page.evaluate(
        """() => new Promise(done => {
          const knob = document.querySelector('.readahead-knob-latency_s');
          const [range, text] = knob.querySelectorAll('input'), ring = document.querySelector('.readahead-here');
          const before = [text.value, ring.getAttribute('transform')];
          range.value = 5;
          range.dispatchEvent(new Event('input'));
          requestAnimationFrame(() => done([before, [text.value, ring.getAttribute('transform')],
            range.getAttribute('aria-valuetext')]));
        })"""
    )
    before, after, spoken = found
    assert before[0] != after[0] == spoken and before[1] != after[1]


def test_a_typed_value_is_taken_and_a_wrong_one_is_told_in_words(guest: Any) -> None:
    field, errors = guest.typed("latency_s"), guest.page.locator(".readahead-errors").first
    field.fill("4.1 ms")
    field.press("Enter")
    guest.wait_until(lambda: "Device latency 4.1 ms" in guest.sentence)
    field.fill("soon")
    field.press("Enter")
    guest.wait_until(lambda: "That did not work" in errors.inner_text())
    assert field.input_value() == "4.1 ms"
    guest.handle("row_group_rows").focus()
    guest.page.keyboard.press("ArrowLeft")
    guest.wait_until(lambda: errors.inner_text().strip() == "")
    spoken = guest.page.locator(".readahead-spoken[aria-live=polite]").first
    guest.wait_until(lambda: spoken.text_content() == guest.sentence)


def test_the_numbers_open_and_every_control_has_a_name(guest: Any) -> None:
    guest.page.locator("summary", has_text="The numbers").first.click()
    guest.wait_until(lambda: guest.page.locator(".readahead-numbers table").count() == 3)
    nameless = guest.page.evaluate(
        """() => [...document.querySelectorAll('.readahead-panel :is(input, select, button, progress)')].filter(one =>
          !(one.labels?.length || one.getAttribute('aria-label') || one.innerText)).map(one => one.outerHTML)"""
    )
    assert nameless == []


def test_on_a_phone_nothing_is_cut_off(guest: Any) -> None:
    guest.page.set_viewport_size({"width": 390, "height": 844})
    guest.show_panel()
    guest.page.wait_for_timeout(500)  # drawn anew
    wide = guest.page.evaluate(
        """() => [...document.querySelectorAll('.readahead-panel, .readahead-panel *')].filter(one => {
          const panel = document.querySelector('.readahead-panel').getBoundingClientRect();
          const box = one.getBoundingClientRect();
          return !one.matches('.readahead-numbers *, .readahead-spoken, .readahead-tip') && box.right > panel.right + 1;
        }).map(one => one.outerHTML.slice(0, 90))"""
    )
    guest.screen("phone")
    guest.page.set_viewport_size({"width": 1440, "height": 1000})
    guest.show_panel()
    assert wide == []


def test_a_kernel_that_was_restarted_is_told_of_and_the_picture_stays(guest: Any) -> None:
    drawn = guest.curve
    restart(guest, and_run=False)
    guest.wait_until(lambda: "Run this cell again" in guest.note(), 60)
    assert guest.curve == drawn
    guest.wait_for_kernel()
    restart(guest, and_run=True)
    guest.wait_until(
        lambda: guest.page.locator(".readahead-line[d]").count() >= 1 and not guest.note().endswith("again."),
        90,
    )
    guest.show_panel()
    said = guest.sentence
    guest.handle("latency_s").focus()
    guest.page.keyboard.press("ArrowLeft")
    guest.wait_until(lambda: guest.sentence != said)
    assert guest.strangers == []
