"""A log book at the device's gate: each read that came by, when it was asked for, when the device would
have it ready, and when the engine got it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One read that the engine issued. Times are seconds from the start of the query."""

    offset: int
    size_bytes: int
    thread: int
    """0, 1, 2 … in the order in which threads were first seen."""
    submitted_s: float
    due_s: float
    """When the device has it ready, by its virtual clock."""
    done_s: float
    seeks: int = 0
    """Times the head moved for it."""
