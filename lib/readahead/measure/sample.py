"""The raw seconds, reads and facts of repeated runs. A median and an interval are ways to look at them, and what makes
them doubtful is said in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from readahead import units
from readahead.measure.machine import Machine, this_machine
from readahead.storage.trace import Read, in_flight

FEW = 5
"""Repeats below which no claim is printed."""
MANY = 50
"""Repeats above which repeating is no advice."""
UNSTEADY = 0.10
"""Half-width of the interval, as a share of the median, above which a result carries a warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Repeats of one query on one device."""

    seconds: tuple[float, ...]
    """Elapsed seconds of each repeat, already divided by `time_scale`."""
    cpu_s: tuple[float, ...]
    """Processor seconds of each repeat (all threads), not divided."""
    reads: tuple[Read, ...]
    """Every read of the last repeat, times from its start; empty where the system gives no trace."""
    wrote: bool = False
    """Whether what is listed as reads were writes."""
    bytes_read: int
    row_groups_scanned: int = 0
    row_groups_total: int = 0
    where: str
    """'emulated device', 'this disk, cold' or 'this disk, warm'."""
    machine: Machine = field(default_factory=this_machine)
    settings: Mapping[str, object] = field(default_factory=dict)
    answer: tuple[object, ...] = ()
    """The first row that the query returned: two samples of one query must agree on it."""
    sql: str = ""
    """The query as DuckDB got it."""
    setup: tuple[str, ...] = ()
    """What was run before it, untimed."""
    engine: Mapping[str, str | int | bool] = field(default_factory=dict)
    """DuckDB's settings, by name."""
    profile: Mapping[str, Any] = field(default_factory=dict)
    """What DuckDB says of its last run: bytes_read, row_groups (scanned), row_groups_total, cpu_s, operators."""
    time_scale: float = 1.0
    """The device ran this many times slower, and the seconds were divided by it."""

    @property
    def median_s(self) -> float:
        """Return the median of the repeats."""
        return float(np.median(self.seconds))

    def interval_s(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return the bootstrap interval of the median (percentile method, Efron 1979).

        With fewer than three repeats it is the range of what was seen.
        """
        if len(self.seconds) < 3 or len(set(self.seconds)) == 1:
            return min(self.seconds), max(self.seconds)
        from scipy.stats import bootstrap

        found = bootstrap(
            (np.asarray(self.seconds),),
            np.median,
            confidence_level=confidence,
            n_resamples=999,
            method="percentile",
            rng=np.random.default_rng(0),
        ).confidence_interval
        low = min(
            max(float(found.low), min(self.seconds)), self.median_s
        )  # rounding stays inside what was seen
        return low, max(min(float(found.high), max(self.seconds)), self.median_s)

    @property
    def max_in_flight(self) -> int:
        """Return the largest number of reads that were under way at once."""
        return max(in_flight(self.reads)[1])

    def warnings(self) -> tuple[str, ...]:
        """Return what makes this result doubtful and what to do, in words; nothing if nothing does."""
        said = []
        low, high = self.interval_s()
        width = (high - low) / 2 / self.median_s if self.median_s else 0.0
        if len(self.seconds) < FEW:
            said.append(f"Measured {len(self.seconds)} times: for a claim, repeat at least {FEW} times.")
        elif width > UNSTEADY:
            more = int(np.ceil(len(self.seconds) * (width / UNSTEADY) ** 2))
            cure = f"or repeat about {more} times" if more <= MANY else "and measure again when it is quiet"
            said.append(
                f"The median is only known within ±{units.text(width, '1', 2)}: close other programs, {cure}."
            )
        if self.time_scale > 1 and np.median(self.cpu_s) > 0.3 * self.median_s * self.time_scale:
            said.append(
                f"The device ran {self.time_scale:g} times slower and the processor did not, so its share is"
                " understated: raise the latency to measure without scaling."
            )
        return tuple(said)
