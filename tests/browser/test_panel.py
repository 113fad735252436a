"""The panel under a learner's hands: one message a step, typed values, a narrow page, a kernel that goes away."""

import csv
from pathlib import Path
from typing import Any

import psutil
import pytest

pytestmark = pytest.mark.browser

KNOBS = ("latency_s", "row_group_rows", "fragment_bytes", "rows_per_lookup")


def stand(guest: Any, latency: str) -> None:
    """Type a device latency and wait until the panel stands there."""
    field = guest.typed("latency_s")
    field.fill(latency)
    field.press("Enter")
    guest.wait_until(lambda: f"Device latency {latency}:" in guest.sentence)


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


def test_five_hundred_moves_leave_no_memory_behind(guest: Any) -> None:
    """Counted by the browser after it has tidied up: what can still be reached, in the panel and in JupyterLab."""
    inside = guest.page.context.new_cdp_session(guest.page)
    slider, sizes = guest.handle("latency_s"), list[float]()
    slider.focus()
    for moves in (60, 500):  # what is made once is made in the first
        for move in range(moves):
            guest.page.keyboard.down("ArrowRight" if move % 20 < 10 else "ArrowLeft")  # as if it was held
        stand(guest, "4 ms")
        inside.send("HeapProfiler.collectGarbage")
        sizes.append(inside.send("Runtime.getHeapUsage")["usedSize"] / 1e6)
        slider.focus()
    assert sizes[1] - sizes[0] < 20, sizes


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


@pytest.mark.parametrize(("name", "width", "height"), [("phone", 390, 844), ("twice-the-size", 720, 500)])
def test_on_a_phone_and_at_twice_the_size_nothing_is_cut_off(
    guest: Any, name: str, width: int, height: int
) -> None:
    guest.page.set_viewport_size({"width": width, "height": height})
    guest.show_panel()
    guest.page.wait_for_timeout(500)  # drawn anew
    wide = guest.page.evaluate(
        """() => [...document.querySelectorAll('.readahead-panel, .readahead-panel *')].filter(one => {
          const panel = one.closest('.readahead-panel').getBoundingClientRect();
          const box = one.getBoundingClientRect();
          return !one.matches('.readahead-numbers *, .readahead-spoken, .readahead-tip') && box.right > panel.right + 1;
        }).map(one => one.outerHTML.slice(0, 90))"""
    )
    guest.screen(name)
    guest.page.set_viewport_size({"width": 1440, "height": 1000})
    guest.show_panel()
    assert wide == []


def test_hovering_tells_model_and_measurement_at_that_place(guest: Any) -> None:
    page = guest.page
    stand(guest, "1 ms")
    page.locator(".readahead-measure").click()
    guest.wait_until(lambda: "DuckDB measured" in guest.sentence, 90)
    chart = page.locator(".readahead-charts > div > svg").first
    dots = chart.locator(".readahead-dot-measured")

    def both_are_told() -> bool:
        """Point above or below the dot, in the middle of the chart: it may be drawn anew under a mouse that rests."""
        chart.scroll_into_view_if_needed()
        box, dot = chart.bounding_box(), dots.first.bounding_box()
        page.mouse.move(dot["x"], dot["y"])
        page.mouse.move(dot["x"] + dot["width"] / 2, box["y"] + box["height"] / 2)
        told = page.locator(".readahead-tip").first.inner_text()
        return told.startswith("Model: ") and "Measured by DuckDB" in told

    guest.wait_until(both_are_told)


def test_two_settings_are_compared_and_exchanged(guest: Any) -> None:
    page, words = guest.page, guest.page.locator(".readahead-compared").first
    stand(guest, "4 ms")
    page.locator(".readahead-pin").click()
    guest.wait_until(lambda: "A is pinned" in words.inner_text())
    guest.handle("latency_s").focus()
    page.keyboard.press("Home")
    guest.wait_until(lambda: "Device latency 4 ms → 20 µs" in words.inner_text())
    assert page.locator(".readahead-charts .ra-letters text").all_text_contents() == ["A", "B"]
    page.locator(".readahead-swap").click()
    guest.wait_until(lambda: "Device latency 20 µs → 4 ms" in words.inner_text())
    assert guest.typed("latency_s").input_value() == "4 ms"
    page.locator(".readahead-pin").click()
    guest.wait_until(lambda: words.inner_text() == "")


def test_the_chart_its_data_and_its_address_can_be_taken_along(guest: Any) -> None:
    page = guest.page
    stand(guest, "4.1 ms")
    assert "latency_s=0.0041" in page.locator(".readahead-address input").first.input_value()
    with page.expect_download() as picture:
        page.locator(".readahead-png").click()
    made = Path(picture.value.path()).read_bytes()
    assert made.startswith(b"\x89PNG") and len(made) > 10_000
    assert picture.value.suggested_filename == "start_here-latency_s.png"
    with page.expect_download() as data:
        page.locator(".readahead-csv").click()
    head, *lines = csv.reader(Path(data.value.path()).read_text(encoding="utf-8").splitlines())
    assert head[:3] == ["source", "latency_s", "bytes_per_s"] and len(lines) > 60
    assert all(float(y) > 0 for _, _, y, *_ in lines)
    assert guest.strangers == []


def test_every_slider_moves_the_chart_and_a_measurement_can_be_cancelled(guest: Any) -> None:
    page = guest.page
    for knob in KNOBS:
        said, drawn = guest.sentence, guest.curve
        guest.handle(knob).focus()
        page.keyboard.press("ArrowLeft")
        guest.wait_until(lambda was=said: guest.sentence != was)
        guest.wait_until(lambda was=drawn: guest.curve != was)
        guest.screen(f"moved-{knob}")
    assert "Rows per lookup" in guest.sentence and "rows/s" in guest.sentence

    page.locator(".readahead-measure").click()  # where nothing was measured yet
    assert "DuckDB measured" not in guest.sentence
    guest.wait_until(lambda: "DuckDB measured" in guest.sentence, 60)

    guest.handle("latency_s").focus()
    page.keyboard.press("End")  # slow enough to be caught
    guest.wait_until(lambda: "50 ms" in guest.sentence)
    points = guest.dots
    page.locator(".readahead-measure").click()
    guest.wait_until(lambda: page.locator(".readahead-cancel").is_enabled())
    page.locator(".readahead-cancel").click()
    guest.wait_until(lambda: guest.note() == "cancelled", 10)
    assert guest.dots == points and "DuckDB measured" not in guest.sentence
    guest.screen("cancelled")

    assert page.locator(".readahead-errors").inner_text().strip() == ""
    assert guest.strangers == []


def test_a_kernel_that_does_not_answer_is_told_of_and_the_note_goes_with_the_answer(
    guest: Any, running: Any
) -> None:
    started = psutil.Process(running.process.pid).children(recursive=True)
    kernels = [one for one in started if any("ipykernel" in word for word in one.cmdline())]
    assert kernels
    for kernel in kernels:
        kernel.suspend()
    try:
        guest.handle("row_group_rows").focus()
        guest.page.keyboard.press("ArrowLeft")
        guest.wait_until(lambda: "waiting for the kernel" in guest.note())
        guest.page.locator(".readahead-pin").click()
    finally:
        for kernel in kernels:
            kernel.resume()
    guest.wait_until(lambda: "waiting for the kernel" not in guest.note())
    guest.wait_until(lambda: "A is pinned here" in guest.page.locator(".readahead-compared").inner_text())
    guest.page.locator(".readahead-pin").click()
    guest.wait_until(lambda: guest.page.locator(".readahead-compared").inner_text() == "")


def test_with_the_colours_of_the_system_alone_everything_can_be_seen(guest: Any) -> None:
    page = guest.page
    page.emulate_media(forced_colors="active", reduced_motion="reduce")
    seen = page.evaluate(
        """() => {
          const looks = (name) => getComputedStyle(document.querySelector(`.readahead-panel ${name}`));
          const system = (name) => {
            const one = document.body.appendChild(document.createElement("i"));
            one.style.color = name;
            const found = getComputedStyle(one).color;
            one.remove();
            return found;
          };
          return [looks(".readahead-line").stroke, system("LinkText"), looks(".readahead-measure").color,
            system("ButtonText"), looks(".ra-term").stroke, system("CanvasText")];
        }"""
    )
    assert seen[0] == seen[1] and seen[2] == seen[3] and seen[4] == seen[5]
    page.locator(".readahead-measure").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.emulate_media(forced_colors="none", reduced_motion="no-preference")


def test_a_kernel_that_was_restarted_is_told_of_and_the_picture_stays(guest: Any) -> None:
    guest.page.set_viewport_size({"width": 1440, "height": 1000})
    guest.show_panel()
    drawn = guest.curve
    guest.restart(and_run=False)
    guest.wait_until(lambda: "Run this cell again" in guest.note(), 60)
    assert guest.curve == drawn
    guest.wait_for_kernel()
    guest.run_all()
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
