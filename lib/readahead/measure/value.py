"""A number with its interval: a measurement is a median and how far the truth may be to either side.

A modeled or published number has an interval of no width, so that all three compare alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from readahead import units
from readahead.errors import BadValue
from readahead.measure.sample import FEW, Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A median with its interval, in SI units."""

    median: float
    low: float
    high: float
    repeats: int = 0
    """How often it was measured; 0 for a number that was not."""
    warnings: tuple[str, ...] = ()
    """Why it may be wrong, in words, each with what to do."""

    def __post_init__(self) -> None:
        if not self.low <= self.median <= self.high:
            raise BadValue(
                f"median={self.median:g} must lie from low={self.low:g} to high={self.high:g}."
                " Give the interval that belongs to this median."
            )

    @property
    def few(self) -> bool:
        """Return whether it was measured, but too few times to claim anything."""
        return 0 < self.repeats < FEW

    def text(self, kind: str) -> str:
        """Write it for people, with its interval if it has one: `4.1 ms (4 ms to 4.3 ms)`."""
        said = units.text(self.median, kind)
        if self.low == self.high:
            return said
        return f"{said} ({units.text(self.low, kind)} to {units.text(self.high, kind)})"

    def times(self, factor: float) -> Value:
        """Return it `factor` times as large. Raises `BadValue` for a factor that is not above 0."""
        if not factor > 0:
            raise BadValue(f"factor={factor!r} must be above 0. Give the size of the change, such as 0.5.")
        return replace(self, median=self.median * factor, low=self.low * factor, high=self.high * factor)

    def inverse(self, amount: float = 1.0) -> Value:
        """Return `amount` divided by it: a throughput from a time."""
        return exactly(amount) / self

    def __truediv__(self, other: Value) -> Value:
        """Return the ratio; the intervals' relative widths add as squares, on a log scale (first order).

        Raises `BadValue` unless both are above 0.
        """
        if not (self.low > 0 and other.low > 0):
            raise BadValue(
                f"{self.low:g} / {other.low:g} must both be above 0 to be compared as a ratio."
                " Compare times, sizes or rates that really happened."
            )
        ratio = self.median / other.median
        down = math.hypot(math.log(self.median / self.low), math.log(other.high / other.median))
        up = math.hypot(math.log(self.high / self.median), math.log(other.median / other.low))
        counts = [count for count in (self.repeats, other.repeats) if count]
        return Value(
            median=ratio,
            low=ratio * math.exp(-down),
            high=ratio * math.exp(up),
            repeats=min(counts, default=0),
            warnings=tuple(dict.fromkeys(self.warnings + other.warnings)),
        )


def exactly(number: float) -> Value:
    """Return a number with an interval of no width: modeled, published, or agreed."""
    return Value(median=float(number), low=float(number), high=float(number))


def seconds(sample: Sample) -> Value:
    """Return the time of a sample: its median, interval, repeats and warnings."""
    low, high = sample.interval_s()
    median = sample.median_s
    return Value(
        median=median,
        low=min(low, median),
        high=max(high, median),
        repeats=len(sample.seconds),
        warnings=sample.warnings(),
    )


def value(thing: Value | Sample | float) -> Value:
    """Return whatever is given (a sample's seconds, a plain number) as a `Value`."""
    if isinstance(thing, Value):
        return thing
    return seconds(thing) if isinstance(thing, Sample) else exactly(thing)
