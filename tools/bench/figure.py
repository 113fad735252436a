"""A line of the benchmark's report: a value with its aim and its raw samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure with its aim."""

    name: str
    value: float
    unit: str
    """A word to print behind the value: 'of native speed', 'µs', '×'."""
    aim: float | None = None
    """What was aimed at; None for a figure that is only told."""
    at_least: bool = False
    """Whether more is better."""
    samples: Mapping[str, Sequence[float]] = field(default_factory=dict)
    """Raw, in SI units."""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Return whether the aim was met, or None without one."""
        if self.aim is None:
            return None
        return self.value >= self.aim if self.at_least else self.value <= self.aim

    def __str__(self) -> str:
        """Return the line that is printed."""
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        aim = "" if self.aim is None else f"aim {'≥' if self.at_least else '≤'} {self.aim:g}"
        line = f"{self.name:<66} {self.value:>9.3g} {self.unit:<18} {aim:<12} {verdict}"
        return f"{line.rstrip()}{'  ' + self.note if self.note else ''}"
