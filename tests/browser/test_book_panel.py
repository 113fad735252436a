"""The panel of a page opened from a folder: no kernel, no server, no network."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from readahead.book import pages
from readahead.book.table import any_machine
from readahead.chapters import chapter
from readahead.panels.state import PanelState, first_knob, sentence, settings_at, static_html

pytestmark = pytest.mark.browser
EXPERIMENT = chapter("loading").experiment
START = EXPERIMENT.settings(size="tiny")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where a page with a panel lies, and nothing else of a book."""
    folder = tmp_path_factory.mktemp("book")
    with any_machine():
        twin = static_html(PanelState(EXPERIMENT, START, first_knob(EXPERIMENT, START)))
    for name, text in pages.assets().items():
        (folder / name).write_text(text, encoding="utf-8")
    head = "<!doctype html><html lang='en'><meta charset='utf-8'><title>Loading</title>"
    head += "<meta name='viewport' content='width=device-width'><link rel='stylesheet' href='book.css'>"
    again = "<script src='panel.js' defer></script>"  # as a second panel on the page brings it
    output = f"<div class='output scroll'>{pages.moving(twin)}</div>"
    page = f"{head}<main><h1>Loading</h1>{output}</main>{again}</html>"
    (folder / "page.html").write_text(page, encoding="utf-8")
    return f"file://{folder}/page.html"


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    """Open it on a phone, and fail if it asks for anything but its own files or says an error."""
    context = chromium.new_context(viewport={"width": 390, "height": 800}, accept_downloads=True)
    opened, wrong = context.new_page(), list[str]()
    opened.on(
        "request",
        lambda asked: (
            wrong.append(asked.url) if not asked.url.startswith(("file:", "data:", "blob:")) else None
        ),
    )
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    opened.goto(address)
    opened.locator(".readahead-panel path.readahead-line[d^=M]").wait_for(state="attached")
    yield opened
    context.close()
    assert wrong == []


def shown(page: Any) -> tuple[dict[str, Any], str]:
    """Return the settings of the address that is shown, and the sentence."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    place = page.locator(".readahead-address input").input_value()
    return settings_at(EXPERIMENT, place), page.locator(".readahead-sentence").inner_text()


def model_says(settings: dict[str, Any], along: str) -> str:
    with any_machine():
        return sentence(PanelState(EXPERIMENT, settings, along)).partition(" Along ")[0]


def test_a_slider_moved_by_keyboard_shows_what_the_model_says(page: Any) -> None:
    settings, said = shown(page)
    assert settings == START and said.startswith(model_says(START, "writers"))
    for knob in ("writers", "commit_rows", "latency_s"):
        slider = page.locator(f".readahead-knob-{knob} input[type=range]")
        slider.focus()
        for key in ("ArrowRight", "ArrowRight", "Home"):
            before = settings
            page.keyboard.press(key)
            settings, said = shown(page)
            assert settings[knob] != before[knob]
            assert said.startswith(model_says(settings, knob))
    assert settings["writers"] == 1 and settings["commit_rows"] == 10
    page.locator(".readahead-knob-target select").select_option("database")
    settings, said = shown(page)
    assert settings["target"] == "database" and model_says(settings, "writers").partition(":")[2] in said


def test_it_says_that_nothing_was_measured_and_offers_no_measurement(page: Any) -> None:
    assert "Modeled only, no DuckDB here." in page.locator(".readahead-badge").inner_text()
    for gone in ("measure", "cancel", "auto", "reads"):
        assert not page.locator(f".readahead-{gone}").first.is_visible()
    assert (
        page.locator(".readahead-live .ra-term").count()
        and not page.get_by_text("DuckDB", exact=True).count()
    )
    assert page.locator("[data-panel] > svg").is_hidden()
    page.emulate_media(media="print")
    assert page.locator("[data-panel] > svg").is_visible()
    assert page.locator(".readahead-live").is_hidden()


def test_pinning_comparing_hovering_and_saving_work_as_in_the_notebook(page: Any) -> None:
    page.locator(".readahead-pin").click()
    page.locator(".readahead-knob-writers input[type=range]").press("End")
    shown(page)
    assert re.match(
        r"From A to B: Writers 4 → 64\. The model: ", page.locator(".readahead-compared").inner_text()
    )
    page.locator(".readahead-swap").click()
    assert shown(page)[0] == START
    page.locator(".readahead-charts > div > svg").first.hover()
    assert page.locator(".readahead-tip").inner_text().startswith("Model: ")
    with page.expect_download() as kept:
        page.locator(".readahead-csv").click()
    assert kept.value.path().read_text(encoding="utf-8").count("\nmodel,") > 10
    chart = page.locator(".readahead-charts > div").first.bounding_box()
    with page.expect_download() as picture:
        page.locator(".readahead-png").click()
    made = picture.value.path().read_bytes()
    width, height = struct.unpack(">II", made[16:24])
    assert made.startswith(b"\x89PNG") and len(made) > 10_000
    assert (
        width == 2 * (math.ceil(chart["width"]) + 32) and height > 2 * chart["height"]
    )  # 16 px of air around
    page.locator(".readahead-live summary", has_text="The numbers").click()
    shown(page)
    assert page.locator(".readahead-live .readahead-numbers table").count() == 2


def test_it_fits_a_phone_and_follows_a_dark_page(page: Any) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paper = "getComputedStyle(document.querySelector('.readahead-panel')).backgroundColor"
    assert page.evaluate(paper) == "rgb(255, 254, 251)"
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.jpThemeLight === 'false'")
    assert page.evaluate(paper) == "rgb(22, 24, 28)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python")
    page.emulate_media(color_scheme=scheme)
    page.locator(".readahead-pin").click()
    page.locator(".readahead-live summary").first.click()
    shown(page)
    page.evaluate(Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({preload: false}).then((told) => told.violations)")
    wrong = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in wrong] == []
