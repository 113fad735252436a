"""The processor seconds of a query: of one sample, and what one way of running it takes more than another.

The same query with its data in memory and with its data on the disk: what it takes more from the disk is what the
processor pays for input and output (J. Chang, "IO Cost Structure", 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from readahead.measure.engine import EngineSettings
from readahead.measure.run import Query, run_local
from readahead.measure.sample import Sample
from readahead.measure.value import Value
from readahead.running import quietly, tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One way to run a query on this machine's own disk."""

    engine: EngineSettings
    cold: bool = False
    """Whether the operating system forgets the file before."""


def cpu_value(sample: Sample, share: float = 1.0) -> Value:
    """Return the median processor seconds of a sample, times `share`, with the quarters around it."""
    told = np.asarray(sample.cpu_s) * share
    low, middle, high = np.quantile(told, (0.25, 0.5, 0.75))
    return Value(
        median=float(middle),
        low=float(low),
        high=float(high),
        repeats=len(told),
        warnings=sample.warnings(),
    )


PAIRS = 9
"""Of so many differences the second smallest and the second largest hold the median in 96 of 100 cases."""


def cpu_more(query: Query, dear: Run, cheap: Run, share: float = 1.0) -> Value:
    """Return how many more processor seconds a query takes in one way than in another, times `share`; never below 0.

    The two are run in turns, so that a machine that slows down slows both, and the median of the differences is
    taken, with the interval that its order statistics give. Raises `Cancelled` when asked to stop, and `DataError`
    where a cold run is asked for that cannot be had.
    """
    more = []
    for turn in range(PAIRS):
        tell(turn, PAIRS, f"turn {turn + 1} of {PAIRS}, one way and the other")
        with quietly():
            both = [run_local(query, way.engine, cold=way.cold, repeats=1) for way in (dear, cheap)]
        first, second = (sample.cpu_s[0] for sample in both)
        more.append((first - second) * share)
    tell(PAIRS, PAIRS, "done")
    low, middle, high = (max(0.0, sorted(more)[at]) for at in (1, PAIRS // 2, -2))
    return Value(median=middle, low=low, high=high, repeats=PAIRS)
