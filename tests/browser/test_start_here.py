"""A newcomer's first minutes, in a real JupyterLab in a real Chromium."""

from collections.abc import Callable
from typing import Any

import pytest

KNOBS = ("latency_s", "row_group_rows", "fragment_bytes", "rows_per_lookup")

pytestmark = pytest.mark.browser


def test_run_all_move_every_slider_measure_and_cancel(open_notebook: Callable[..., Any]) -> None:
    with open_notebook("00_start_here.ipynb") as guest:
        page = guest.page
        guest.run_all()
        page.wait_for_selector(".readahead-panel .readahead-line[d]", timeout=60_000, state="attached")
        guest.show_panel()
        guest.wait_until(lambda: guest.dots >= 1, 90)  # the first one may have to build the dataset
        assert "DuckDB measured" in guest.sentence
        guest.screen("start")

        page.locator(".readahead-auto input").uncheck()
        for knob in KNOBS:
            said, drawn = guest.sentence, guest.curve
            guest.handle(knob).focus()
            page.keyboard.press("ArrowLeft")
            guest.wait_until(lambda was=said: guest.sentence != was)
            guest.wait_until(lambda was=drawn: guest.curve != was)
            guest.screen(f"moved-{knob}")
        assert "Rows per lookup" in guest.sentence and "rows/s" in guest.sentence

        page.locator(".readahead-measure").click()  # a second one, where nothing was measured yet
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
