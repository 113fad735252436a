"""A kettle. Something slow is put on, the learner sees that it works, may take it off, and is told in words if it boils
over; where nothing is on, nothing is to be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import ipywidgets as widgets

from readahead.panels import paper
from readahead.panels.job import CANCELLED, FAILED, Job

T = TypeVar("T")
Work = Callable[[], T]


class Waiting(Generic[T]):
    """Runs one and the same `work` in a thread; `done` gets what it returns. Its face is empty before and after."""

    def __init__(self, work: Work[T], done: Callable[[T], None]) -> None:
        self._work, self._done = work, done
        self._job = Job(self._ended)
        self.cancel = self._job.cancel_button
        self._row = widgets.HBox([self._job.status, self.cancel])
        self._stopped = widgets.HTML(paper.words("Stopped. Nothing half-measured was kept."))
        self.face = widgets.VBox([])
        self.begun = False
        """Whether it was ever put on."""

    @property
    def busy(self) -> bool:
        """Return whether it is running."""
        return self._job.busy

    def start(self) -> None:
        """Begin, unless it is running."""
        if not self.busy:
            self.begun = True
            self.face.children = [self._row]
            self._job.start(self._work, self._finish)

    def join(self, timeout_s: float | None = None) -> None:
        """Wait for the end of it."""
        self._job.join(timeout_s)

    def _finish(self, found: T) -> None:
        self.face.children = []
        self._done(found)

    def _ended(self, how: str) -> None:
        if how == CANCELLED:
            self.face.children = [self._stopped]
        elif how == FAILED:
            self.face.children = [self._job.errors]
