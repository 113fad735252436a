"""A kitchen scale for the processor. The same query with its data in memory and with its data on the disk: what it
costs more from the disk is what the processor pays for input and output (J. Chang, "IO Cost Structure", 2010).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from readahead.measure.calibrate import engine_costs, ensure_costs, keep_costs, saved_costs
from readahead.measure.case import Case
from readahead.measure.engine import EngineSettings
from readahead.measure.run import Query, run_local
from readahead.measure.sample import Sample
from readahead.measure.value import Value
from readahead.models.schedule import Costs
from readahead.running import quietly, tell

REPEATS = 7


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
        doubts=sample.doubts(),
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


def query_costs(case: Case, name: str) -> Costs | None:
    """Return what the engine takes for a query that was weighed under `name`, or None."""
    return saved_costs(case.recipe.table, here=name)


def weigh_query(case: Case, name: str, *, anew: bool = False) -> Costs:
    """Return what the engine takes for the query of `case`: a row's price from a warm run, the rest as for its table.

    Kept under `name`, and measured only if it is not there or is wanted `anew`. Raises `Cancelled` when asked to stop.
    """
    known = query_costs(case, name)
    if known is not None and not anew:
        return known
    base = ensure_costs(case.recipe.table)
    alone = replace(case, engine=replace(case.engine, threads=1))
    sample = alone.measure_here(cold=False, repeats=REPEATS)
    row_s = max(1e-10, (float(np.median(sample.cpu_s)) - base.plan_s) / case.recipe.rows)
    # The table's own price of a row group holds for all of its columns; most of it is the columns'.
    share = len(case.columns or case.recipe.columns) / len(case.recipe.columns)
    # Passing out a read is no matter of columns; with a wide table it cannot be told from decoding.
    dispatch_s = min(base.dispatch_s, engine_costs("comments_narrow").dispatch_s)
    group_s = max(1e-6, base.group_s * share)
    costs = replace(base, row_s=row_s, group_s=group_s, dispatch_s=dispatch_s)
    keep_costs(case.recipe.table, costs, here=name)
    return costs
