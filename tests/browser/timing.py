"""A stopwatch in the reading room: how long a learner waits. Every function returns raw samples in seconds;
whoever prints them takes the median and the 95th percentile.

`python tests/browser/timing.py` prints them all.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import lab as reading_room

MOVES = 50
NOTEBOOK = "00_start_here.ipynb"

_WATCH = """(() => {
  if (window.readaheadMoves) return;
  window.readaheadMoves = [];
  let start = null;
  document.addEventListener('keydown', () => { start = performance.now(); }, true);
  new MutationObserver(() => {
    if (start === null) return;
    const since = start;
    start = null;
    requestAnimationFrame(() => window.readaheadMoves.push(performance.now() - since));
  }).observe(document.querySelector('.readahead-sentence'), {subtree: true, childList: true, characterData: true});
})()"""
"""From the key to the frame after the kernel's answer is drawn; the sentence changes only with that answer."""


def opened(guest: Any) -> float:
    """Run all cells and return the seconds until the first chart is drawn."""
    start_s = time.perf_counter()
    guest.run_all()
    guest.page.wait_for_selector(".readahead-panel .readahead-line[d]", timeout=90_000, state="attached")
    taken_s = time.perf_counter() - start_s
    guest.show_panel()
    guest.wait_until(lambda: guest.dots >= 1, 120)
    return taken_s


def slider_s(guest: Any, *, moves: int = MOVES, measuring: bool = False) -> list[float]:
    """Return the seconds from a key on the latency slider to the redrawn chart, move by move.

    With `measuring`, DuckDB measures all the while.
    """
    page = guest.page
    box = page.locator(".readahead-auto input")
    box.uncheck()
    page.evaluate(_WATCH)
    guest.handle("latency_s").focus()
    page.keyboard.press("Home" if not measuring else "End")
    page.wait_for_timeout(500)
    page.evaluate("window.readaheadMoves.length = 0")
    for move in range(moves):
        if measuring and not page.locator(".readahead-cancel").is_enabled():
            page.locator(".readahead-measure").click()
            guest.wait_until(lambda: page.locator(".readahead-cancel").is_enabled())
            guest.handle("latency_s").focus()
            page.wait_for_timeout(200)
        page.keyboard.press("ArrowLeft" if measuring or move % 50 >= 45 else "ArrowRight")
        page.wait_for_timeout(180)
    return [taken_ms / 1e3 for taken_ms in page.evaluate("window.readaheadMoves")]


def cancel_s(guest: Any, *, times: int = 5) -> list[float]:
    """Return the seconds from a click on Cancel to the word 'cancelled'."""
    page = guest.page
    page.locator(".readahead-auto input").uncheck()
    guest.handle("latency_s").focus()
    page.keyboard.press("End")
    watch = """() => new Promise(done => {
      const note = document.querySelector('.readahead-note'), start = performance.now();
      const look = () => note.innerText.trim() === 'cancelled' && done(performance.now() - start);
      new MutationObserver(look).observe(note, {subtree: true, childList: true, characterData: true});
      document.querySelector('.readahead-cancel').click();
    })"""
    found = []
    for _ in range(times):
        guest.wait_until(lambda: not page.locator(".readahead-cancel").is_enabled(), 60)
        page.locator(".readahead-measure").click()
        guest.wait_until(lambda: guest.note().startswith("run"), 60)
        page.wait_for_timeout(60)
        found.append(page.evaluate(watch) / 1e3)
    return found


def everything(*, moves: int = MOVES) -> dict[str, list[float]]:
    """Return all samples: ours and a stock Lab, idle and measuring, and the requests that left this machine."""
    found: dict[str, list[float]] = {}
    strangers: list[str] = []
    for stock in (False, True):
        name = "stock lab" if stock else "make lab"
        with tempfile.TemporaryDirectory() as folder, reading_room.lab(Path(folder), stock=stock) as running:
            found[f"{name}: start to ready"] = [running.ready_s]
            with reading_room.visitor(running, NOTEBOOK) as guest:
                found[f"{name}: Run All to first chart"] = [opened(guest)]
                found[f"{name}: slider to redraw"] = slider_s(guest, moves=moves)
                if not stock:
                    found[f"{name}: slider to redraw while measuring"] = slider_s(
                        guest, moves=moves, measuring=True
                    )
                    found[f"{name}: Cancel to cancelled"] = cancel_s(guest)
                strangers += guest.strangers
    found["requests off the machine"] = [float(len(strangers))]
    return found


def main() -> None:
    """Print every sample's count, median, 95th percentile and largest."""
    import numpy as np

    for name, samples in everything().items():
        p50, p95 = np.percentile(samples, [50, 95])
        print(f"{name:42} n={len(samples):3}  p50 {p50:7.3f}  p95 {p95:7.3f}  max {max(samples):7.3f}")


if __name__ == "__main__":
    main()
