"""One workbench, many orders. A new order puts the old one off; the learner sees how far it is, may cancel it,
and is told in words when it fails. The cell that started it has long ended, so that the sliders stay free.
"""

from __future__ import annotations

import contextvars
import html
import threading
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from readahead.errors import Cancelled, ReadaheadError
from readahead.panels import paper, theme
from readahead.running import Event, check, listening

Work = Callable[[], Any]
CANCELLED, FAILED = "cancelled", "failed"


def in_words(error: BaseException) -> str:
    """Return an error as a box: our own as they are, others with their type."""
    said = str(error) if isinstance(error, ReadaheadError) else f"{type(error).__name__}: {error}"
    return paper.box("✗", "That did not work.", paper.words(said), theme.COLOURS["guess"])


class Job:
    """Runs one piece of work at a time in a thread; of several orders the newest wins."""

    def __init__(self, ended: Callable[[str], None] = lambda _: None) -> None:
        self._ended = ended
        """Told how a work ended: '', 'cancelled' or 'failed'."""
        self._lock = threading.Lock()
        self._generation = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.bar = widgets.FloatProgress(min=0, max=1, value=0, layout=widgets.Layout(width="140px"))
        self.bar.layout.visibility = "hidden"
        self.cancel_button = widgets.Button(
            description="Cancel", tooltip="Stop measuring", disabled=True, layout=widgets.Layout(width="84px")
        )
        self.cancel_button.add_class("readahead-cancel")
        self.cancel_button.on_click(lambda _: self.cancel())
        self.note = widgets.HTML()
        self.note.add_class("readahead-note")
        self.errors = widgets.HTML()
        self.errors.add_class("readahead-errors")
        # Its room is kept while nothing runs, so that the chart does not jump.
        self.status = widgets.HBox(
            [self.bar, self.note], layout=widgets.Layout(align_items="center", height="26px")
        )

    @property
    def busy(self) -> bool:
        """Return whether something runs."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, work: Work, done: Callable[[Any], None]) -> None:
        """Begin `work`; what runs is stopped first. `done` gets the result, in the work's thread."""
        with self._lock:
            self._generation += 1
            self._stop.set()
            self._stop = threading.Event()
            before, mine, stop = self._thread, self._generation, self._stop
            here: Any = contextvars.copy_context()  # so that output goes to the cell that started it
            self._thread = threading.Thread(
                target=here.run,
                args=(self._run, before, mine, stop, work, done),
                daemon=True,
                name="readahead-job",
            )
            self._show(mine, "starting …", share=0.0, running=True)
            self._thread.start()

    def cancel(self) -> None:
        """Stop what runs; nothing of it is kept."""
        with self._lock:
            if self.busy:
                self._stop.set()
                self._show(self._generation, "cancelling …", running=True)

    def join(self, timeout_s: float | None = None) -> None:
        """Wait until nothing runs. No thread is left then."""
        while (thread := self._thread) is not None and thread.is_alive():
            thread.join(timeout_s)
            if timeout_s is not None:
                return

    def fail(self, error: BaseException) -> None:
        """Show an error in words."""
        self.errors.value = in_words(error)

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
        said = ""
        try:
            if before is not None:
                before.join()  # two DuckDBs at once would measure each other
            with listening(lambda event: self._heard(mine, event), stop):
                check()
                result = work()
            self.errors.value = ""
            done(result)
        except Cancelled:
            said = CANCELLED
        except Exception as error:
            self.fail(error)
            said = FAILED
        self._show(mine, said, running=False)
        self._ended(said)

    def _heard(self, mine: int, event: Event) -> None:
        share = event.done / event.total if event.total else 0.0
        self._show(mine, event.note, share=share, running=True)

    def _show(self, mine: int, said: str, *, share: float | None = None, running: bool) -> None:
        if mine != self._generation:
            return  # an older order has nothing to say any more
        self.note.value = f"<span role='status' style='color:#5f6b76'>{html.escape(said)}</span>"
        self.cancel_button.disabled = not running
        self.bar.layout.visibility = "visible" if running else "hidden"
        if share is not None:
            self.bar.value = share
