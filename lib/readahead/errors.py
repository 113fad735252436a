"""Errors that say what was met, what is allowed and what to do.

Every error that a learner can cause is a `ReadaheadError` with those three in one message, so that a notebook, the
command line and a panel can all show it as it is.
"""

from __future__ import annotations

import difflib
import math
import sys
import unicodedata
from collections.abc import Iterable


class ReadaheadError(Exception):
    """An error whose message alone is enough to go on."""

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows of it: the message, and no lines of this library."""
        return [f"{type(self).__name__}: {self}"]


class BadValue(ReadaheadError, ValueError):
    """A value out of its range, or of the wrong kind."""


class DataError(ReadaheadError):
    """A file that is missing, damaged, or cannot be written."""


class Cancelled(ReadaheadError):
    """The learner asked to stop. Nothing half-done is kept."""


def printable(text: str) -> str:
    """Return a text with what a terminal would obey, or could not show, written out as Python writes it."""
    return "".join(
        ascii(letter)[1:-1] if unicodedata.category(letter)[0] == "C" else letter for letter in text
    )


def require_range(
    name: str,
    value: float,
    *,
    low: float,
    high: float = math.inf,
    whole: bool = False,
    of: str = "",
    advice: str = "",
) -> None:
    """Raise `BadValue` unless `value` is a finite number with `low` <= value <= `high`, a whole one if asked.

    `of` names the thing the value belongs to, `advice` says what to give instead.
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    within = number and low <= value <= high and abs(value) <= sys.float_info.max
    if within and not (whole and value != int(value)):
        return
    place, kind = f" {of}" if of else "", "a whole number " if whole else ""
    allowed = f"at least {low:g}" if math.isinf(high) else f"from {low:g} to {high:g}"
    raise BadValue(f"{name}={value!r}{place} must be {kind}{allowed}. {advice}".rstrip())


def require_repeats(repeats: int) -> int:
    """Return how often something is measured. Raises `BadValue` unless it is a whole number from 1 to 100."""
    require_range("repeats", repeats, low=1, high=100, whole=True)
    return int(repeats)


def did_you_mean(said: object, known: Iterable[str]) -> str:
    """Return the question whether the nearest of the known names was meant; nothing if none is near."""
    near = difflib.get_close_matches(str(said), list(known), n=1)
    return f" Did you mean {near[0]}?" if near else ""


def require_choice(name: str, value: object, choices: Iterable[object], *, advice: str = "") -> None:
    """Raise `BadValue` unless `value` is one of `choices`."""
    choices = tuple(choices)
    if value not in choices:
        listed = ", ".join(str(choice) for choice in choices)
        raise BadValue(f"{name}={value!r} must be one of: {listed}. {advice}".rstrip())
