"""A signpost at a wrong turn: what was met, what is allowed, what to do.

Every error that a learner can cause is a `ReadaheadError` with those three beats in one message, so
that a notebook, the command line and a panel can all show it as it is.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable


class ReadaheadError(Exception):
    """An error whose message alone is enough to go on."""


class BadValue(ReadaheadError, ValueError):
    """A value out of its range, or of the wrong kind."""


class DataError(ReadaheadError):
    """A file that is missing, damaged, or cannot be written."""


class Cancelled(ReadaheadError):
    """The learner asked to stop. Nothing half-done is kept."""


def require_range(
    name: str, value: float, *, low: float, high: float = math.inf, of: str = "", advice: str = ""
) -> None:
    """Raise `BadValue` unless `value` is a finite number with `low` <= value <= `high`.

    `of` names the thing the value belongs to, `advice` says what to give instead.
    """
    place = f" {of}" if of else ""
    allowed = f"at least {low:g}" if math.isinf(high) else f"from {low:g} to {high:g}"
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not number or not low <= value <= high or abs(value) > sys.float_info.max:
        message = f"{name}={value!r}{place} must be {allowed}."
        raise BadValue(f"{message} {advice}".rstrip())


def require_repeats(repeats: int) -> int:
    """Return how often something is measured. Raises `BadValue` unless it is a whole number from 1 to 100."""
    if isinstance(repeats, bool) or not isinstance(repeats, int) or not 1 <= repeats <= 100:
        raise BadValue(f"repeats={repeats!r} must be a whole number from 1 to 100.")
    return repeats


def require_choice(name: str, value: object, choices: Iterable[object], *, advice: str = "") -> None:
    """Raise `BadValue` unless `value` is one of `choices`."""
    choices = tuple(choices)
    if value not in choices:
        listed = ", ".join(str(choice) for choice in choices)
        raise BadValue(f"{name}={value!r} must be one of: {listed}. {advice}".rstrip())
