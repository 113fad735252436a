"""News from the test stand. Work tells how far it is by calling a function; a progress bar, a panel or a line
of text may listen. Nobody has to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from readahead.errors import Cancelled


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One piece of news."""

    done: int
    total: int
    note: str
    """What is happening, for a person."""


OnEvent = Callable[[Event], None]


def tell(on_event: OnEvent | None, done: int, total: int, note: str) -> None:
    """Pass an event on if anybody listens."""
    if on_event is not None:
        on_event(Event(done=done, total=total, note=note))


def check(stop: threading.Event | None) -> None:
    """Raise `Cancelled` if `stop` is set. Ask before every query: an interrupt between two is lost."""
    if stop is not None and stop.is_set():
        raise Cancelled(
            "The measurement was cancelled. Nothing of it was kept; press Measure to start again."
        )


@contextmanager
def _told() -> Iterator[None]:
    """Give Ctrl-C its name back: DuckDB raises it as a RuntimeError of its own."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise


@contextmanager
def interrupts(stop: threading.Event | None, *cancel: Callable[[], Any]) -> Iterator[None]:
    """While the block runs, call each of `cancel` as soon as `stop` is set. No thread is left behind."""
    with _told(), _watched(stop, cancel):
        yield


@contextmanager
def _watched(stop: threading.Event | None, cancel: Sequence[Callable[[], Any]]) -> Iterator[None]:
    if stop is None:
        yield
        return
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            if stop.wait(0.02):
                while not over.wait(0.02):  # an interrupt that comes between two queries is lost: repeat it
                    for call in cancel:
                        call()
                return

    watcher = threading.Thread(target=watch, name="readahead-stop", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
