"""Nobody is shut out: axe-core finds nothing serious in what the workbook shows, in a light and in a dark Lab."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lab as reading_room
import pytest

from readahead.chapters import CONTENTS

axe = pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python")
SCRIPT = Path(axe.__file__).with_name("axe.min.js")
OURS = [".jp-OutputArea-output", ".jp-RenderedHTMLCommon"]  # the rest is JupyterLab's

pytestmark = pytest.mark.browser


SHOWN = (
    "lesson.predict(",
    "lesson.exercise(",
    "lesson.explore(",
    "lesson.steps(",
    "lesson.published(",
    "lesson.guesses(",
    'reveal("drive")',
    'lesson.run(device="object-store", query="scan")',
)


def serious(guest: Any, **only: Any) -> list[str]:
    """Return what axe-core calls serious or critical."""
    found = guest.page.evaluate(
        """async ([include, only]) => (await axe.run({include}, only)).violations
          .filter((one) => ["serious", "critical"].includes(one.impact))
          .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`))""",
        [[[one] for one in OURS], {"resultTypes": ["violations"], **only}],
    )
    return list(found)


def all_chapters() -> list[reading_room.Cell]:
    """Return two cells a chapter, for Lab is slow with many: its prose, and what it asks and shows."""
    found: list[reading_room.Cell] = []
    for place in CONTENTS:
        cells = reading_room.cells_of(place.notebook, SHOWN)
        for kind, between in (("markdown", "\n\n"), ("code", "\n")):
            these = [cell for cell in cells if cell["cell_type"] == kind]
            found.append({**these[0], "source": between.join(cell["source"] for cell in these)})
    for cell in found:
        for old, new in (
            ("measure = True", "measure = False"),
            ("lesson.explore()", "lesson.explore(measure=False)"),
        ):
            cell["source"] = cell["source"].replace(old, new)
    every_line = 'get_ipython().ast_node_interactivity = "all"'
    return [{**found[-1], "id": "first", "source": every_line}, *found]


def test_axe_finds_nothing_serious_in_what_any_chapter_asks_and_shows(
    running: Any, open_notebook: Callable[..., Any]
) -> None:
    cells = all_chapters()
    running.begin("all.ipynb", cells)
    with open_notebook("all.ipynb") as guest:
        page = guest.page
        panels = page.locator(".readahead-panel > .readahead-sliders")
        wrong = page.locator('[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type$="error"]')
        ran = page.locator(".jp-InputPrompt", has_text=re.compile(r"\[\d+\]"))
        page.locator(".jp-CodeCell .cm-content").first.click()
        code = 0
        # one by one: their 5,300 messages at once are more than ZeroMQ keeps for a slow reader
        for cell in cells:
            page.keyboard.press("Shift+Enter")
            code += cell["cell_type"] == "code"
            guest.wait_until(lambda: ran.count() >= code, 180)  # noqa: B023 (called before the next turn)
        assert wrong.all_inner_texts() == []
        guest.wait_until(lambda: panels.count() == len(CONTENTS))

        page.locator('input[aria-label^="Slide from"]').first.press("ArrowRight")
        guess = page.locator('input[placeholder="a number and its unit"]').first
        guest.wait_until(lambda: guess.input_value() != "")
        page.locator("button", has_text="Keep my guess").first.click()
        page.locator("button:enabled", has_text="Show the answer").first.click()
        page.locator("summary", has_text="The law").first.wait_for(timeout=60_000)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        page.locator("button.readahead-pin").first.click()
        guest.wait_until(lambda: page.locator(".readahead-numbers table").count() >= 3)
        page.evaluate(SCRIPT.read_text(encoding="utf-8"))
        assert serious(guest) == []

        page.locator(".lm-MenuBar-itemLabel", has_text="Settings").first.click()
        page.locator(".lm-Menu-itemLabel", has_text="Theme").first.hover()
        page.locator(".lm-Menu-itemLabel", has_text="JupyterLab Dark").first.click()
        guest.wait_until(lambda: page.evaluate("document.body.dataset.jpThemeLight") == "false")
        page.wait_for_timeout(500)  # the theme's own transitions
        assert serious(guest, runOnly=["cat.color"]) == []  # a theme changes nothing but colours
        assert guest.strangers == []
