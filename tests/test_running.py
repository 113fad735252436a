"""Slow work tells how far it is and can be stopped, by a button or by Ctrl-C, and each thread hears its own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from readahead.errors import Cancelled
from readahead.running import (
    Event,
    alone,
    carried,
    check,
    interrupts,
    listening,
    quietly,
    stopped,
    tell,
    turns,
)


@pytest.mark.parametrize("stop", [None, threading.Event()], ids=["nobody can stop it", "a button"])
def test_ctrl_c_in_a_query_is_ctrl_c(stop: threading.Event | None) -> None:
    with listening(stop=stop):
        with pytest.raises(KeyboardInterrupt), interrupts():
            raise RuntimeError("Query interrupted")  # what DuckDB makes of it
        with pytest.raises(RuntimeError, match="something else"), interrupts():
            raise RuntimeError("something else")


def test_the_button_calls_everybody_once() -> None:
    stop, called = threading.Event(), threading.Event()
    with listening(stop=stop), interrupts(called.set):
        stop.set()
        assert called.wait(30)
    assert not [thread for thread in threading.enumerate() if thread.name == "readahead-stop"]


def test_a_listener_hears_its_block_and_no_other() -> None:
    outer, inner = list[Event](), list[Event]()
    tell(0, 1, "nobody listens")
    with listening(outer.append):
        with listening(inner.append):
            tell(1, 2, "inside")
        tell(2, 2, "outside")
    assert [event.note for event in inner] == ["inside"]
    assert [event.note for event in outer] == ["outside"]


def test_a_quiet_step_tells_nobody_and_can_be_stopped() -> None:
    news, stop = list[Event](), threading.Event()
    with listening(news.append, stop), quietly():
        tell(0, 1, "a step")
        stop.set()
        with pytest.raises(Cancelled, match="Nothing of it was kept"):
            check()
    assert news == []


def test_a_thread_hears_only_what_is_carried_into_it() -> None:
    stop = threading.Event()
    stop.set()
    with listening(stop=stop), ThreadPoolExecutor(2) as pool:
        assert stopped()
        assert not pool.submit(stopped).result()
        assert all(pool.map(carried(stopped), ())) and pool.submit(carried(stopped)).result()
        assert not pool.submit(stopped).result()
    assert not stopped()


def test_turns_tell_which_run_it_is_and_end_when_stopped_even_in_the_last() -> None:
    stop, heard = threading.Event(), []
    with listening(heard.append, stop):
        assert list(turns(2, " here")) == [0, 1]
        assert [(event.done, event.note) for event in heard] == [
            (0, "run 1 of 2 here"),
            (1, "run 2 of 2 here"),
            (2, "done"),
        ]
        started = turns(1, "")
        assert next(started) == 0
        stop.set()
        with pytest.raises(Cancelled):
            next(started)


def test_two_measurements_take_turns_and_who_waits_can_be_stopped() -> None:
    stop, inside = threading.Event(), threading.Event()

    def measure() -> None:
        with listening(stop=stop), alone():
            inside.set()

    with ThreadPoolExecutor(1) as pool:
        with alone(), alone():  # in one thread they are one
            other = pool.submit(measure)
            assert not inside.wait(0.1)
        other.result()
        assert inside.is_set()
        inside.clear()
        with alone():
            other = pool.submit(measure)
            stop.set()
            with pytest.raises(Cancelled):
                other.result()
        assert not inside.is_set()
