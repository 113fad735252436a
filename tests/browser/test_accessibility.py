"""Nobody is shut out: axe-core finds nothing serious in what the workbook shows, in a light and in a dark Lab."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize("name", ["00_start_here.ipynb", "06_index_pages.ipynb"])
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
