"""The trace of a device: each read, when it was asked for, when the device has it ready, and when the engine got it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
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


class Trace(list[tuple[int, int, int, float, float, float, int]]):
    """All reads so far. Adding one costs a fraction of a microsecond and needs no lock."""

    def note(
        self, offset: int, size_bytes: int, submitted_s: float, due_s: float, done_s: float, seeks: int = 0
    ) -> None:
        """Add one read of the calling thread. Times are on one clock, whatever its zero."""
        self.append((offset, size_bytes, threading.get_ident(), submitted_s, due_s, done_s, seeks))

    def reads(self, *, start_s: float, time_scale: float = 1.0) -> tuple[Read, ...]:
        """Return the reads in order of submission, with times since `start_s` divided by `time_scale`."""
        lines = sorted(self, key=lambda line: line[3])
        threads = {ident: n for n, ident in enumerate(dict.fromkeys(line[2] for line in lines))}
        return tuple(
            Read(
                offset=offset,
                size_bytes=size,
                thread=threads[ident],
                submitted_s=(submitted - start_s) / time_scale,
                due_s=(due - start_s) / time_scale,
                done_s=(done - start_s) / time_scale,
                seeks=seeks,
            )
            for offset, size, ident, submitted, due, done, seeks in lines
        )


def in_flight(reads: Sequence[Read]) -> tuple[list[float], list[int]]:
    """Return a staircase (seconds, reads under way) over the whole trace."""
    marks = sorted([(r.submitted_s, 1) for r in reads] + [(r.done_s, -1) for r in reads])
    times = [0.0, *(time_s for time_s, _ in marks)]
    return times, list(itertools.accumulate((step for _, step in marks), initial=0))
