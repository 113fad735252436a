"""A reading room with a visitor: a real JupyterLab on a copy of the notebooks, and Chromium in it.

Used by the browser tests, by `picture.py` and by `timing.py`. Playwright is imported only when a browser opens.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from readahead import paths

Cell = dict[str, Any]
TOKEN = "a-token-for-the-test"
SCREENS = paths.ROOT / "build" / "screens"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

PATIENCE = 4
"""How many times as long as on a quiet machine a test waits."""


def chromium() -> str | None:
    """Return the browser, from READAHEAD_CHROMIUM or the PATH, or None."""
    named = os.environ.get("READAHEAD_CHROMIUM")
    found = [named, *(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))]
    return next((path for path in found if path and Path(path).exists()), None)


def why_not() -> str:
    """Return why no browser test can run here, or an empty text."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "Playwright is not installed: pip install playwright."
    return "" if chromium() else "No Chromium found: install it, or name it in READAHEAD_CHROMIUM."


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass
class Lab:
    """A running JupyterLab."""

    port: int
    root: Path
    process: subprocess.Popen[bytes]
    ready_s: float
    """Seconds from its start to its first answer."""
    stock: bool
    """Whether it is a plain one, and not ours."""

    def address(self, notebook: str) -> str:
        """Return where a notebook opens, in a workspace of its own."""
        return f"http://127.0.0.1:{self.port}/lab/workspaces/w{time.time_ns()}/tree/{notebook}?token={TOKEN}"

    def begin(self, notebook: str, cells: Sequence[Cell]) -> None:
        """Write a notebook of these cells, and forget what was guessed before."""
        kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
        told = {
            "cells": list(cells),
            "metadata": {"kernelspec": kernel},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (self.root / notebook).write_text(json.dumps(told), encoding="utf-8")
        self.root.with_name("progress.json").unlink(missing_ok=True)


def cells_of(notebook: str, only: Sequence[str]) -> list[Cell]:
    """Return a chapter's prose and those of its cells that open it or hold one of these texts, at its smallest size."""
    told = json.loads((paths.NOTEBOOKS / notebook).read_text(encoding="utf-8"))
    kept = ("open_chapter(", "reveal = ", *only)
    found = [{**cell, "source": "".join(cell["source"])} for cell in told["cells"]]
    for at, cell in enumerate(found):
        cell["id"] = f"{notebook[:2]}-{at}"  # of its own where chapters are put together
        cell["source"] = cell["source"].replace('size = "small"', 'size = "tiny"')
    return [
        cell for cell in found if cell["cell_type"] != "code" or any(text in cell["source"] for text in kept)
    ]


@contextmanager
def lab(folder: Path, *, stock: bool = False, notebooks: Path | None = None) -> Iterator[Lab]:
    """Start a JupyterLab on a copy of the notebooks in `folder`, and end it with all its kernels.

    It is the one that `python -m readahead lab` starts, or with `stock` a plain one.
    """
    root = folder / "notebooks"
    if not root.exists():
        shutil.copytree(notebooks or paths.NOTEBOOKS, root)
    port = free_port()
    own = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    env = {**os.environ, **{name: str(folder / place) for name, place in own.items()}}
    env |= {
        "JUPYTER_TOKEN": TOKEN,
        "READAHEAD_PROGRESS": str(folder / "progress.json"),
        "READAHEAD_RUN": "lab",
    }
    env["PYTHONPATH"] = os.pathsep.join([str(paths.ROOT / "lib"), env.get("PYTHONPATH", "")])
    if stock:
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", f"--ServerApp.root_dir={root}"]
        command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
        command += ["--allow-root"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    else:
        first = min(root.glob("*.ipynb"))
        command = [sys.executable, "-m", "readahead", "lab", "--no-browser", f"--port={port}", str(first)]
    start_s = time.perf_counter()
    with (folder / f"lab-{port}.log").open("wb") as log:
        process = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=folder)
        try:
            _wait(port, process, Path(log.name))
            ready_s = time.perf_counter() - start_s
            yield Lab(port=port, root=root, process=process, ready_s=ready_s, stock=stock)
        finally:
            process.send_signal(signal.SIGTERM)  # ends its kernels too
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(port: int, process: subprocess.Popen[bytes], log: Path, timeout_s: float = 90) -> None:
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status?token={TOKEN}", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise RuntimeError(
        f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-3000:]}"
    )


@dataclass
class Visitor:
    """A Chromium page with a notebook open, and what it asked of other machines."""

    page: Any
    port: int
    strangers: list[str] = field(default_factory=list)
    """Requests that left this machine; there must be none."""
    sent: list[str] = field(default_factory=list)
    """Messages of widgets to the kernel."""
    answers: list[str] = field(default_factory=list)
    """Messages of the kernel to widgets."""

    def run_all(self) -> None:
        """Choose Run > Run All Cells."""
        self.page.locator(".lm-MenuBar-itemLabel", has_text="Run").first.click()
        self.page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()

    def restart(self, *, and_run: bool) -> None:
        """Choose Kernel > Restart Kernel, or Restart Kernel and Run All Cells, and agree."""
        words = "Restart Kernel and Run All Cells" if and_run else "Restart Kernel…"
        self.page.locator(".lm-MenuBar-itemLabel", has_text="Kernel").first.click()
        self.page.locator(".lm-Menu-itemLabel", has_text=words).first.click()
        self.page.locator(".jp-Dialog .jp-mod-accept").click()

    def wait_for_kernel(self, timeout_s: float = 60) -> None:
        """Wait until the kernel is idle, by the server's word: the page says so before it has one."""
        ask = f"http://127.0.0.1:{self.port}/api/sessions?token={TOKEN}"

        def idle() -> bool:
            with urllib.request.urlopen(ask, timeout=10) as reply:
                return any(found["kernel"]["execution_state"] == "idle" for found in json.load(reply))

        self.wait_until(idle, timeout_s, every_s=0.1)
        named = "document.querySelector('.jp-Toolbar-kernelName')?.innerText"
        self.wait_until(lambda: self.page.evaluate(f"({named} || '').startsWith('Python')"), timeout_s)
        self.page.wait_for_selector(
            '.jp-Notebook-ExecutionIndicator[data-status="idle"]', timeout=timeout_s * 1000, state="attached"
        )
        self.page.wait_for_timeout(400)

    def screen(self, name: str, **more: Any) -> Path:
        """Keep a screenshot under build/screens/."""
        SCREENS.mkdir(parents=True, exist_ok=True)
        path = SCREENS / f"{name}.png"
        self.page.screenshot(path=str(path), **more)
        return path

    def show_panel(self) -> None:
        """Scroll so that the panel stands at the top: what is out of sight is not painted."""
        self.page.evaluate("document.querySelector('.readahead-panel').scrollIntoView({block: 'start'})")
        self.page.wait_for_timeout(300)

    # -- the panel -----------------------------------------------------------------------------------
    @property
    def sentence(self) -> str:
        """Return the sentence under the chart."""
        return str(self.page.locator(".jp-OutputArea-output .readahead-sentence").first.inner_text())

    @property
    def curve(self) -> str:
        """Return what the chart draws of the model: the line, and where the ring stands on it."""
        find = "document.querySelector('.readahead-panel .{}').getAttribute('{}')"
        return str(
            self.page.evaluate(
                find.format("readahead-line", "d") + "+" + find.format("readahead-here", "transform")
            )
        )

    @property
    def dots(self) -> int:
        """Return how many measured points are drawn, without the faded ones."""
        return int(self.page.locator(".readahead-charts > div > svg .readahead-dot-measured").count())

    def handle(self, knob: str) -> Any:
        """Return a knob's slider."""
        return self.page.locator(f".readahead-knob-{knob} input[type=range]").first

    def typed(self, knob: str) -> Any:
        """Return the field of a knob into which a value can be typed."""
        return self.page.locator(f".readahead-knob-{knob} input[type=text]").first

    def note(self) -> str:
        """Return what the panel says of the measurement that runs."""
        return str(self.page.locator(".readahead-note").first.inner_text())

    def wait_until(self, what: Any, timeout_s: float = 30, every_s: float = 0.02) -> float:
        """Wait until `what()` is true and return the seconds it took. Raises `TimeoutError`.

        `timeout_s` is for a quiet machine; beside other tests there is more patience.
        """
        start_s = time.perf_counter()
        while time.perf_counter() - start_s < PATIENCE * timeout_s:
            if what():
                return time.perf_counter() - start_s
            self.page.wait_for_timeout(every_s * 1000)
        raise TimeoutError(f"Not within {PATIENCE * timeout_s} s.")


@contextmanager
def browser() -> Iterator[Any]:
    """Start Chromium, without a window."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        started = player.chromium.launch(executable_path=chromium(), headless=True, args=FLAGS)
        try:
            yield started
        finally:
            started.close()


@contextmanager
def visitor(
    running: Lab, notebook: str, *, width: int = 1440, height: int = 1000, scale: float = 1, using: Any = None
) -> Iterator[Visitor]:
    """Open a notebook in Chromium, a new one or the one that is `using`, and wait for its kernel. Ends that kernel."""
    with ExitStack() as ends:
        started = using or ends.enter_context(browser())
        context = started.new_context(viewport={"width": width, "height": height}, device_scale_factor=scale)
        ends.callback(context.close)
        ends.callback(_end_kernels, running.port)
        page = context.new_page()
        guest = Visitor(page=page, port=running.port)
        page.on("request", lambda request: _note(guest, request.url))
        page.on("websocket", lambda socket: _listen(guest, socket))
        page.goto(running.address(notebook))
        page.wait_for_selector(".jp-Notebook", timeout=60_000)
        guest.wait_for_kernel()
        _tidy(page, stock=running.stock)
        yield guest


def _end_kernels(port: int) -> None:
    address = f"http://127.0.0.1:{port}/api/sessions"
    with urllib.request.urlopen(f"{address}?token={TOKEN}", timeout=10) as reply:
        found = [one["id"] for one in json.load(reply)]
    for one in found:
        ended = urllib.request.Request(f"{address}/{one}?token={TOKEN}", method="DELETE")
        with contextlib.suppress(urllib.error.HTTPError):  # it has ended by itself
            urllib.request.urlopen(ended, timeout=30).close()


def _note(guest: Visitor, url: str) -> None:
    if url.startswith(("http", "ws")) and "://127.0.0.1" not in url and "://localhost" not in url:
        guest.strangers.append(url)


def _listen(guest: Visitor, socket: Any) -> None:
    def keep(found: list[str], frame: str | bytes, word: str) -> None:
        text = frame.decode("utf-8", "replace") if isinstance(frame, bytes) else frame
        if word in text:
            found.append(text)

    socket.on("framesent", lambda frame: keep(guest.sent, frame, '"comm_msg"'))
    socket.on("framereceived", lambda frame: keep(guest.answers, frame, '"method": "update"'))


def _tidy(page: Any, *, stock: bool) -> None:
    """Close the file browser and, in a stock Lab, the offer of news, as a learner would."""
    offered = page.locator(".Toastify button", has_text="No")
    if stock and offered.count():
        offered.first.click()
    if page.locator("#jp-left-stack:visible").count():
        page.keyboard.press("Control+b")
