"""Nobody is shut out: axe-core finds nothing serious in what the workbook shows, in a light and in a dark Lab."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from readahead import paths
from readahead.chapters import CONTENTS

axe = pytest.importorskip("axe_playwright_python", reason="pip install axe-playwright-python")
SCRIPT = Path(axe.__file__).with_name("axe.min.js")
OURS = [".jp-OutputArea-output", ".jp-RenderedHTMLCommon"]  # the rest is JupyterLab's

pytestmark = pytest.mark.browser


def serious(guest: Any) -> list[str]:
    """Return what axe-core calls serious or critical."""
    found = guest.page.evaluate(
        """async (ours) => (await axe.run({include: ours.map((one) => [one])}, {resultTypes: ["violations"]}))
          .violations.filter((one) => ["serious", "critical"].includes(one.impact))
          .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 200)}`))""",
        OURS,
    )
    return list(found)


@pytest.mark.parametrize("name", ["00_start_here.ipynb"])
def test_axe_finds_nothing_serious(name: str, running: Any, open_notebook: Callable[..., Any]) -> None:
    running.begin(name)
    with open_notebook(name) as guest:
        page = guest.page
        guest.run_all()
        guest.wait_for_kernel(180)
        page.locator('input[aria-label^="Slide from"]').first.press("ArrowRight")
        guest.wait_until(
            lambda: page.locator('input[placeholder="a number and its unit"]').first.input_value() != ""
        )
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
        assert serious(guest) == []
        assert guest.strangers == []


def of_all_chapters(shown: tuple[str, ...]) -> str:
    """Return one notebook with the prose of every chapter and the cells that show these, measuring nothing."""
    told = [json.loads((paths.NOTEBOOKS / place.notebook).read_text(encoding="utf-8")) for place in CONTENTS]
    kept = ("open_chapter(", "reveal = ", *shown)
    cells = [
        {**cell, "id": f"cell-{chapter}-{number}", "source": "".join(cell["source"])}
        for chapter, notebook in enumerate(told)
        for number, cell in enumerate(notebook["cells"])
        if cell["cell_type"] != "code" or any(text in "".join(cell["source"]) for text in kept)
    ]
    for cell in cells:
        for old, new in (
            ('size = "small"', 'size = "tiny"'),
            ("measure = True", "measure = False"),
            ("lesson.explore()", "lesson.explore(measure=False)"),
        ):
            cell["source"] = cell["source"].replace(old, new)
    return json.dumps({**told[0], "cells": cells})


def test_axe_finds_nothing_serious_in_what_any_chapter_asks_and_shows(
    running: Any, open_notebook: Callable[..., Any]
) -> None:
    shown = ("lesson.predict(", "lesson.exercise(", "lesson.explore(", "lesson.steps(", "lesson.published(")
    (running.root / "all.ipynb").write_text(of_all_chapters(shown), encoding="utf-8")
    running.root.with_name("progress.json").unlink(missing_ok=True)
    try:
        with open_notebook("all.ipynb") as guest:
            guest.run_all()
            page = guest.page
            panels = page.locator(".readahead-panel > .readahead-sliders")
            wrong = page.locator(
                '[data-mime-type="application/vnd.jupyter.stderr"], [data-mime-type$="error"]'
            )
            guest.wait_until(lambda: panels.count() == len(CONTENTS) or wrong.count(), 180)
            assert wrong.all_inner_texts() == []
            guest.wait_for_kernel(180)
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            page.wait_for_timeout(500)
            page.evaluate(SCRIPT.read_text(encoding="utf-8"))
            assert serious(guest) == []
            assert guest.strangers == []
    finally:
        (running.root / "all.ipynb").unlink()
