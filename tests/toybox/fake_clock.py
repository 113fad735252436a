"""A clock that a test sets."""

from __future__ import annotations

from collections.abc import Callable


class FakeClock:
    """A clock that a test sets. Waiting moves it forward at once."""

    def __init__(self, now_s: float = 0.0) -> None:
        self._now_s = now_s

    def now_s(self) -> float:
        """Return the time that was set."""
        return self._now_s

    def wait_until(self, due_s: float, hurry: Callable[[], bool] = lambda: False) -> float:
        """Move to `due_s` if it lies ahead and nobody hurries."""
        if not hurry():
            self._now_s = max(self._now_s, due_s)
        return 0.0
