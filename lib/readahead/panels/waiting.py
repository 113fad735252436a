"""A kettle. Something slow is put on, the learner sees that it works, may take it off, and is told in
words if it boils over. The cell that started it has long ended, so that the sliders stay free.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import ipywidgets as widgets

from readahead.errors import Cancelled, ReadaheadError
from readahead.experiments.experiment import Event, OnEvent
from readahead.panels import paper, theme

T = TypeVar("T")
Work = Callable[[OnEvent, threading.Event], T]


def in_words(error: BaseException) -> str:
    """Return an error as a box: our own as they are, others with their type."""
    said = str(error) if isinstance(error, ReadaheadError) else f"{type(error).__name__}: {error}"
    return paper.box("✗", "That did not work.", paper.words(said), theme.COLOURS["guess"])


class Waiting(Generic[T]):
    """Runs `work` in a thread, one at a time; `done` gets what it returns."""

    def __init__(self, work: Work[T], done: Callable[[T], None]) -> None:
        self._work, self._done = work, done
        self._stop = threading.Event()
        self._bar = widgets.FloatProgress(min=0, max=1, layout=widgets.Layout(width="16em"))
        self._note = widgets.HTML()
        self.cancel = widgets.Button(description="Cancel", tooltip="Stop measuring")
        self.cancel.on_click(lambda _: self._stop.set())
        self._row = widgets.HBox([self._bar, self.cancel, self._note])
        self._said = widgets.HTML()
        self.face = widgets.VBox([])
        self.thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Return whether it is running."""
        return self.thread is not None and self.thread.is_alive()

    def start(self) -> None:
        """Begin, unless it is running."""
        if self.busy:
            return
        self._stop = threading.Event()
        self._bar.value, self._note.value = 0, "Starting …"
        self.face.children = [self._row]
        here: Any = contextvars.copy_context()  # so that output goes to the cell that started it
        self.thread = threading.Thread(target=here.run, args=(self._run,), daemon=True)
        self.thread.start()

    def join(self, timeout_s: float | None = None) -> None:
        """Wait for the end of it."""
        if self.thread is not None:
            self.thread.join(timeout_s)

    def _heard(self, event: Event) -> None:
        self._bar.value = event.done / event.total if event.total else 0
        self._note.value = paper.words(event.note)

    def _run(self) -> None:
        # An exception in a thread is shown nowhere by itself, so every one of them ends here.
        try:
            found = self._work(self._heard, self._stop)
            self.face.children = []
            self._done(found)
        except Cancelled:
            self._said.value = paper.words("Stopped. Nothing half-measured was kept.")
            self.face.children = [self._said]
        except Exception as error:
            self._said.value = in_words(error)
            self.face.children = [self._said]
