"""Two clocks, one promise. The real one is asked only whether it waited, never how well: that is a benchmark."""

from __future__ import annotations

import ctypes
import sys
import threading

import pytest
from fake_clock import FakeClock

from readahead.storage.emulated import Clock


def test_a_fake_clock_moves_only_when_someone_waits() -> None:
    clock = FakeClock(10.0)
    clock.wait_until(12.0)
    clock.wait_until(11.0)
    assert clock.now_s() == 12.0


def test_who_is_in_a_hurry_does_not_wait() -> None:
    clock = FakeClock()
    clock.wait_until(5.0, lambda: True)
    assert clock.now_s() == 0.0


def test_the_real_clock_does_not_come_back_early() -> None:
    clock = Clock()
    due_s = clock.now_s() + 0.003
    clock.wait_until(due_s)
    assert clock.now_s() >= due_s


def test_a_long_wait_ends_soon_after_someone_hurries() -> None:
    clock, hurry = Clock(), threading.Event()
    waiter = threading.Thread(target=lambda: clock.wait_until(clock.now_s() + 3600, hurry.is_set))
    waiter.start()
    hurry.set()
    waiter.join(timeout=30)
    assert not waiter.is_alive()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux groups the wake-ups of a thread")
def test_who_waits_is_woken_alone() -> None:
    slack_ns: list[int] = []

    def wait() -> None:
        clock, pr_get_timerslack = Clock(), 30
        clock.wait_until(clock.now_s() + 0.003)
        slack_ns.append(ctypes.CDLL(None).prctl(pr_get_timerslack, 0, 0, 0, 0))

    waiter = threading.Thread(target=wait)
    waiter.start()
    waiter.join()
    assert slack_ns == [1]
