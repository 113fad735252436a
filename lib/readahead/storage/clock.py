"""The clock of the emulated device: an argument, so that a test can own the time."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable

SPIN_S = 80e-6
"""Sleep until this long before the deadline: a plain sleep is 70–90 µs late."""
HOLD_S = 20e-6
"""From SPIN_S to this long before the deadline give way to other threads; then hold on, for who gives way now comes
back late."""
PATIENCE_S = 0.1
"""The longest sleep before asking whether anybody hurries."""

_thread = threading.local()


class Clock:
    """Seconds that only go forward, and a way to let them pass: the machine's own."""

    def now_s(self) -> float:
        """Return the high-resolution counter in seconds."""
        return time.perf_counter()

    def wait_until(self, due_s: float, hurry: Callable[[], bool] = lambda: False) -> float:
        """Sleep until shortly before `due_s`, then look at the clock until it has come, or until `hurry()` is true.

        The answer is the processor time that the waiting took, in seconds.
        """
        left_s = due_s - time.perf_counter()
        if left_s <= 0:
            return 0.0
        _sharpen()
        while left_s > SPIN_S:
            time.sleep(min(left_s - SPIN_S, PATIENCE_S))
            if hurry():
                return 0.0
            left_s = due_s - time.perf_counter()
        before_s = time.thread_time()
        while (left_s := due_s - time.perf_counter()) > 0:
            if left_s > HOLD_S:
                time.sleep(0)
        return time.thread_time() - before_s


def _sharpen() -> None:
    """Ask Linux, once a thread, not to group this thread's wake-ups (its timer slack is 50 µs by default)."""
    if getattr(_thread, "sharp", False):
        return
    _thread.sharp = True
    if sys.platform == "linux":
        pr_set_timerslack = 29
        ctypes.CDLL(None).prctl(pr_set_timerslack, 1, 0, 0, 0)
