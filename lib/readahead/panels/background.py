"""Runs slow work in a thread, with a progress bar, a Cancel button, and its error in words.

It begins when the cell that started it has ended, and those that wait behind that cell: sliders and other buttons stay
free, and nothing is measured while the notebook works beside it.
"""

from __future__ import annotations

import contextvars
import functools
import html
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from readahead.errors import Cancelled
from readahead.panels.markup import error_box, paragraphs
from readahead.running import Event, alone, check, listening, tell

HERE = Path(__file__).parent
Work = Callable[[], Any]
AT_THE_LEFT = {"description_width": "initial"}
"""The style of a field whose name begins where the lines around it begin."""


class Cells:
    """Knows whether the notebook of IPython's `shell` runs a cell."""

    BETWEEN_S = 0.3
    """So long after a cell the next one may still begin by itself: those of "run all" follow within milliseconds."""

    def __init__(self, shell: Any) -> None:
        in_a_cell = shell.displayhook.exec_result is not None  # and not in what a button calls
        self._ended_s = math.inf if in_a_cell else time.monotonic()
        shell.events.register("pre_run_cell", lambda _: self._end(math.inf))
        shell.events.register("post_run_cell", lambda _: self._end(time.monotonic()))

    def _end(self, moment_s: float) -> None:
        self._ended_s = moment_s

    def wait(self) -> None:
        """Return when none runs. Raises `Cancelled` when asked to stop."""
        if time.monotonic() < self._ended_s:
            tell(0, 1, "waiting for the cells that run …")
        while time.monotonic() < self._ended_s + self.BETWEEN_S:
            check()
            time.sleep(0.02)


@functools.cache
def cells() -> Cells | None:
    """Return the cells of the notebook that this is called in; None where there is none."""
    from IPython import get_ipython

    shell = get_ipython()
    return Cells(shell) if getattr(shell, "kernel", None) else None


def button(description: str, clicked: Callable[[], Any], **more: Any) -> Any:
    """Return a button that calls `clicked`."""
    made = widgets.Button(description=description, **more)
    made.on_click(lambda _: clicked())
    return made


def prose(text: str = "") -> Any:
    """Return a widget that shows HTML in letters as large as the notebook's prose."""
    return widgets.HTML(text, style={"font_size": "var(--jp-content-font-size1)"})


def script(file: Path) -> str:
    """Return a script after make.js: the script of a widget, or of a page in a folder, can load no other."""
    return (HERE / "make.js").read_text("utf-8") + file.read_text("utf-8")


class PrintedWidget(anywidget.AnyWidget):
    """A widget that is its static twin for readers without a kernel."""

    _css = HERE / "panel.css"
    plan = traitlets.Dict().tag(sync=True)
    """What the script has to know once; never changes."""
    twin: Callable[[], str]
    """Returns the twin as HTML, of what is shown now."""

    def _repr_mimebundle_(self, **given: Any) -> Any:
        data: Any = super()._repr_mimebundle_(**given)
        bundle, rest = (data[0], data[1:]) if isinstance(data, tuple) else (data, None)
        bundle = {**bundle, "text/html": self.twin()}
        return bundle if rest is None else (bundle, *rest)


class Worker:
    """Runs one piece of work at a time; a new one stops the one before it.

    `show` is told how far it is: a note, and the share done, or None when nothing runs. `fail` is told an error, or
    None when the work has gone well. Both are called in whatever thread knows.
    """

    def __init__(
        self, show: Callable[[str, float | None], None], fail: Callable[[BaseException | None], None]
    ) -> None:
        self.started = 0
        """How many pieces of work were started."""
        self._show, self._fail = show, fail
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Return whether something runs."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, work: Work, done: Callable[[Any], None]) -> None:
        """Begin `work`; what runs is stopped first. `done` gets the result, in the work's thread."""
        with self._lock:
            self.started += 1
            self._stop.set()
            self._stop = threading.Event()
            cells()  # listens from now on, if nobody has before
            run = (self._run, self._thread, self.started, self._stop, work, done)
            here = contextvars.copy_context()  # so that output goes to the cell that started it
            self._thread = threading.Thread(target=here.run, args=run, daemon=True, name="readahead-work")
            self._show("starting …", 0.0)
            self._thread.start()

    def cancel(self) -> None:
        """Stop what runs; nothing of it is kept."""
        with self._lock:
            if self.busy:
                self._stop.set()
                self._show("cancelling …", 0.0)

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until nothing runs. No thread is left then."""
        while (thread := self._thread) is not None and thread.is_alive():
            thread.join(timeout_s)
            if timeout_s is not None:
                return

    # -- in the thread -------------------------------------------------------------------------------
    def _run(
        self,
        before: threading.Thread | None,
        mine: int,
        stop: threading.Event,
        work: Work,
        done: Callable[[Any], None],
    ) -> None:
        # An exception in a thread is shown nowhere by itself, so every one of them ends here.
        note = ""
        try:
            if before is not None:
                before.join()  # two DuckDBs at once would measure each other
            with listening(lambda event: self._heard(mine, event), stop):
                check()
                if notebook := cells():
                    notebook.wait()
                with alone():
                    result = work()
            self._fail(None)
            done(result)
        except Cancelled:
            note = "cancelled"
        except Exception as error:
            self._fail(error)
            note = "failed"
        if mine == self.started:  # else newer work is being shown
            self._show(note, None)

    def _heard(self, mine: int, event: Event) -> None:
        if mine == self.started:
            self._show(event.note, event.done / event.total if event.total else 0.0)


class Background(Worker):
    """A worker with a view of its own: `widget` is what to display."""

    def __init__(self) -> None:
        super().__init__(self._draw, self._tell)
        self._bar = widgets.FloatProgress(min=0, max=1, value=0, layout=widgets.Layout(width="140px"))
        small = widgets.Layout(width="84px")
        self.cancel_button = button("Cancel", self.cancel, tooltip="Stop measuring", layout=small)
        self._note, self._errors = prose(), prose()
        row = [self._bar, self._note, self.cancel_button]
        self._running = [widgets.HBox(row, layout=widgets.Layout(align_items="center"))]
        self._stopped = [prose(paragraphs("Stopped. Nothing half-measured was kept."))]
        self.widget = widgets.VBox([])
        """Progress and Cancel while something runs; after it what went wrong, or nothing."""

    def _tell(self, error: BaseException | None) -> None:
        self._errors.value = error_box(error)

    def _draw(self, note: str, share: float | None) -> None:
        self._note.value = f"<span role='status'>{html.escape(note)}</span>"
        self._bar.value = share or 0.0
        left = {"cancelled": self._stopped, "failed": [self._errors]}
        shown = self._running if share is not None else left.get(note, [])
        if list(self.widget.children) != shown:
            self.widget.children = shown
