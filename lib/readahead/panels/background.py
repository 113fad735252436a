"""Runs slow work in a thread, with a progress bar, a Cancel button, and its error in words.

The cell that started it has long ended, so that sliders and other buttons stay free.
"""

from __future__ import annotations

import contextvars
import html
import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from readahead.errors import Cancelled
from readahead.panels.markup import error_box, paragraphs
from readahead.running import Event, check, listening

Work = Callable[[], Any]


def button(description: str, clicked: Callable[[], Any], **more: Any) -> Any:
    """Return a button that calls `clicked`."""
    made = widgets.Button(description=description, **more)
    made.on_click(lambda _: clicked())
    return made


class Background:
    """Runs one piece of work at a time; a new one stops the one before it."""

    def __init__(self) -> None:
        self.started = 0
        """How many pieces of work were started."""
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.bar = widgets.FloatProgress(min=0, max=1, value=0, layout=widgets.Layout(width="140px"))
        self.bar.layout.visibility = "hidden"
        small = widgets.Layout(width="84px")
        self.cancel_button = button(
            "Cancel", self.cancel, tooltip="Stop measuring", disabled=True, layout=small
        )
        self.cancel_button.add_class("readahead-cancel")
        self.note = widgets.HTML()
        self.note.add_class("readahead-note")
        self.errors = widgets.HTML()
        self.errors.add_class("readahead-errors")
        # Its room is kept while nothing runs, so that what is below does not jump.
        self.status = widgets.HBox(
            [self.bar, self.note], layout=widgets.Layout(align_items="center", height="26px")
        )
        self.widget = widgets.VBox([])
        """Progress and Cancel while something runs; after it what went wrong, or nothing."""

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
            run = (self._run, self._thread, self.started, self._stop, work, done)
            here = contextvars.copy_context()  # so that output goes to the cell that started it
            self._thread = threading.Thread(target=here.run, args=run, daemon=True, name="readahead-work")
            self.widget.children = [widgets.HBox([self.status, self.cancel_button])]
            self._show(self.started, "starting …", share=0.0, running=True)
            self._thread.start()

    def cancel(self) -> None:
        """Stop what runs; nothing of it is kept."""
        with self._lock:
            if self.busy:
                self._stop.set()
                self._show(self.started, "cancelling …", running=True)

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until nothing runs. No thread is left then."""
        while (thread := self._thread) is not None and thread.is_alive():
            thread.join(timeout_s)
            if timeout_s is not None:
                return

    def fail(self, error: BaseException) -> None:
        """Show an error in words."""
        self.errors.value = error_box(error)

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
        note, left = "", []
        try:
            if before is not None:
                before.join()  # two DuckDBs at once would measure each other
            with listening(lambda event: self._heard(mine, event), stop):
                check()
                result = work()
            self.errors.value = ""
            done(result)
        except Cancelled:
            note, left = "cancelled", [widgets.HTML(paragraphs("Stopped. Nothing half-measured was kept."))]
        except Exception as error:
            self.fail(error)
            note, left = "failed", [self.errors]
        if mine == self.started:
            self.widget.children = left
        self._show(mine, note, running=False)

    def _heard(self, mine: int, event: Event) -> None:
        share = event.done / event.total if event.total else 0.0
        self._show(mine, event.note, share=share, running=True)

    def _show(self, mine: int, note: str, *, share: float | None = None, running: bool) -> None:
        if mine != self.started:
            return  # newer work is being shown
        self.note.value = f"<span role='status' style='color:#5f6b76'>{html.escape(note)}</span>"
        self.cancel_button.disabled = not running
        self.bar.layout.visibility = "visible" if running else "hidden"
        if share is not None:
            self.bar.value = share
