"""A run that is stopped, by a button or by Ctrl-C, says so by its name."""

from __future__ import annotations

import threading

import pytest

from readahead.measure.events import interrupts


@pytest.mark.parametrize("stop", [None, threading.Event()], ids=["nobody can stop it", "a button"])
def test_ctrl_c_in_a_query_is_ctrl_c(stop: threading.Event | None) -> None:
    with pytest.raises(KeyboardInterrupt), interrupts(stop):
        raise RuntimeError("Query interrupted")  # what DuckDB makes of it
    with pytest.raises(RuntimeError, match="something else"), interrupts(stop):
        raise RuntimeError("something else")


def test_the_button_calls_everybody_once() -> None:
    stop, called = threading.Event(), threading.Event()
    with interrupts(stop, called.set):
        stop.set()
        assert called.wait(30)
    assert not [thread for thread in threading.enumerate() if thread.name == "readahead-stop"]
