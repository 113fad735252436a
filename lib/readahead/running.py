"""The progress of running work, and whether it was asked to stop.

Who starts something slow says who listens, and what stops it: `with listening(on_event, stop): ...`. Whatever runs
inside calls `tell`, `check` and `interrupts`, however deep it is called. A new thread starts without a listener:
give it a call that is `carried` over. What measures takes its turn: `with alone(): ...`.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from readahead.errors import Cancelled

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """How far the work is."""

    done: int
    total: int
    note: str
    """What is happening, for a person."""


OnEvent = Callable[[Event], None]


Listening = tuple[OnEvent | None, threading.Event | None]
"""Who hears of the work, and what stops it."""
_now: contextvars.ContextVar[Listening] = contextvars.ContextVar("readahead_listening", default=(None, None))
_alone = threading.RLock()


@contextmanager
def listening(on_event: OnEvent | None = None, stop: threading.Event | None = None) -> Iterator[None]:
    """While the block runs, in this thread, send its events to `on_event`, and end it when `stop` is set.

    What stopped it before does so still, where no other `stop` is given.
    """
    token = _now.set((on_event, stop or _now.get()[1]))
    try:
        yield
    finally:
        _now.reset(token)


@contextmanager
def quietly() -> Iterator[None]:
    """While the block runs, tell nobody: it is one step of work that is told of already. It can still be stopped."""
    with listening():
        yield


def carried(call: Callable[P, T]) -> Callable[P, T]:
    """Return `call` as one that other threads may run with this thread's listener and stop."""
    here = contextvars.copy_context()

    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return here.copy().run(call, *args, **kwargs)

    return run


def tell(done: int, total: int, note: str) -> None:
    """Pass an event on if anybody listens."""
    on_event, _ = _now.get()
    if on_event is not None:
        on_event(Event(done=done, total=total, note=note))


def stopped() -> bool:
    """Return whether the work was asked to stop."""
    _, stop = _now.get()
    return stop is not None and stop.is_set()


def check() -> None:
    """Raise `Cancelled` if the work was asked to stop. Ask before every query: an interrupt between two is lost."""
    if stopped():
        raise Cancelled("It was cancelled. Nothing of it was kept; start it again when you like.")


def turns(repeats: int, note: str) -> Iterator[int]:
    """Yield 0, 1, 2 …, telling before each run which it is. Raises `Cancelled` when asked to stop, even in the last."""
    for repeat in range(repeats):
        check()
        tell(repeat, repeats, f"run {repeat + 1} of {repeats}{note}")
        yield repeat
    check()
    tell(repeats, repeats, "done")


@contextmanager
def alone() -> Iterator[None]:
    """Run the block when no other thread is in such a block: two measurements at once would measure each other.

    Raises `Cancelled` when asked to stop before its turn. A block within a block, in one thread, is part of it.
    """
    while not _alone.acquire(timeout=0.02):
        check()
    try:
        yield
    finally:
        _alone.release()


@contextmanager
def interrupts(*cancel: Callable[[], Any]) -> Iterator[None]:
    """While the block runs, call each of `cancel` as soon as it is asked to stop. No thread is left behind."""
    _, stop = _now.get()
    over = threading.Event()

    def watch() -> None:
        while stop and not over.wait(0.02):
            if stop.is_set():  # an interrupt that comes between two queries is lost: repeat it
                for call in cancel:
                    call()

    watcher = threading.Thread(target=watch, name="readahead-stop", daemon=True)
    if stop is not None:
        watcher.start()
    try:
        yield
    except RuntimeError as error:  # so DuckDB calls Ctrl-C
        if str(error) == "Query interrupted":
            raise KeyboardInterrupt from error
        raise
    finally:
        over.set()
        if watcher.is_alive():
            watcher.join()
