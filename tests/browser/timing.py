"""A stopwatch in the reading room: how long a learner waits. Every function returns raw samples in seconds;
whoever prints them takes the median and the 95th percentile.

`python tests/browser/timing.py` prints them all.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import lab as reading_room

MOVES = 50
NOTEBOOK = "00_start_here.ipynb"

ECHO = """import ipywidgets as widgets

slider, label = widgets.IntSlider(max=1_000), widgets.Label("0")
label.add_class("echo")
slider.observe(lambda change: setattr(label, "value", str(change["new"])), "value")
widgets.VBox([slider, label])"""
"""The yardstick: a bare slider of ipywidgets, whose value the kernel writes into a label."""

_WATCH = """(watched) => {
  if (window.readaheadMoves) return;
  window.readaheadMoves = [];
  let start = null, drawn = false;
  document.addEventListener('keydown', () => { start = performance.now(); drawn = false; }, true);
  new MutationObserver(() => { drawn = start !== null; })
    .observe(document.querySelector(watched), {subtree: true, childList: true, characterData: true});
  const painted = new MessageChannel();
  painted.port1.onmessage = () => {
    if (!drawn) return;
    window.readaheadMoves.push(performance.now() - start);
    start = null;
    drawn = false;
  };
  const frame = () => { painted.port2.postMessage(0); requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
}"""
"""From the key to the end of the frame in which the kernel's answer is painted, whether it is drawn in a frame or
before one; what is watched changes only with that answer."""
_LONG = """() => {
  window.readaheadLong = [];
  new PerformanceObserver((seen) => seen.getEntries().forEach((one) => window.readaheadLong.push(one.duration)))
    .observe({entryTypes: ["longtask"]});
}"""


def echo_s(running: Any, *, moves: int = MOVES) -> list[float]:
    """Return the seconds from a key on a bare slider to the redrawn label, move by move, in a notebook of its own."""
    cell = {
        "cell_type": "code",
        "id": "e",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": ECHO,
    }
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    told = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (running.root / "echo.ipynb").write_text(json.dumps(told), encoding="utf-8")
    with reading_room.visitor(running, "echo.ipynb") as guest:
        guest.run_all()
        guest.page.wait_for_selector(".jp-OutputArea-output .echo", timeout=90_000)
        guest.page.locator(".jp-OutputArea-output .noUi-handle").focus()
        guest.page.evaluate(_WATCH, ".echo")
        for _ in range(moves):
            guest.page.keyboard.press("ArrowRight")
            guest.page.wait_for_timeout(180)
        return [taken_ms / 1e3 for taken_ms in guest.page.evaluate("window.readaheadMoves")]


def long_tasks_s(guest: Any, *, seconds: float = 3.0) -> list[float]:
    """Return how long each task over 50 ms held the page up while a slider was dragged; 0 if there was none."""
    page, box = guest.page, guest.handle("latency_s").bounding_box()
    page.evaluate(_LONG)
    page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2)
    page.mouse.down()
    end_s, place = time.perf_counter() + seconds, 0.0
    while time.perf_counter() < end_s:
        place = (place + 0.01) % 1
        page.mouse.move(box["x"] + 4 + place * (box["width"] - 8), box["y"] + box["height"] / 2)
    page.mouse.up()
    page.wait_for_timeout(500)
    return [taken_ms / 1e3 for taken_ms in page.evaluate("window.readaheadLong")] or [0.0]


@contextmanager
def busy_core() -> Iterator[None]:
    """Keep one core busy."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


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
    guest.wait_for_kernel()  # the cells below the panel may still run
    page.evaluate(_WATCH, ".readahead-sentence")
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
    """Return all samples: ours and a stock Lab, idle, measuring and beside a busy core, each with its yardstick.

    And the requests that left this machine.
    """
    found: dict[str, list[float]] = {}
    strangers: list[str] = []
    for stock in (False, True):
        name = "stock lab" if stock else "make lab"
        with tempfile.TemporaryDirectory() as folder, reading_room.lab(Path(folder), stock=stock) as running:
            found[f"{name}: start to ready"] = [running.ready_s]
            found[f"{name}: echo of a bare slider"] = echo_s(running, moves=moves)
            with reading_room.visitor(running, NOTEBOOK) as guest:
                found[f"{name}: Run All to first chart"] = [opened(guest)]
                found[f"{name}: slider to redraw"] = slider_s(guest, moves=moves)
                if not stock:
                    found[f"{name}: slider to redraw while measuring"] = slider_s(
                        guest, moves=moves, measuring=True
                    )
                    found[f"{name}: Cancel to cancelled"] = cancel_s(guest)
                    found[f"{name}: longest task of a drag"] = [max(long_tasks_s(guest))]
                    with busy_core():
                        found[f"{name}: slider to redraw beside a busy core"] = slider_s(guest, moves=moves)
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
