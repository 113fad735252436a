"""A kitchen scale for the processor. The same query with its data in memory and with its data on the disk: what it costs
more from the disk is what the processor pays for input and output (J. Chang, "IO Cost Structure", 2010).
"""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np

from readahead.measure.calibrate import ensure_costs, keep_costs, saved_costs
from readahead.measure.case import Case
from readahead.measure.events import OnEvent
from readahead.measure.sample import Sample
from readahead.measure.value import Value
from readahead.models.schedule import Costs

REPEATS = 7


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


def cpu_more(dear: Sample, cheap: Sample, share: float = 1.0) -> Value:
    """Return how many more processor seconds `dear` took than `cheap`, times `share`; never below 0.

    The interval is that of two medians whose quarters add up as independent errors do.
    """
    a, b = cpu_value(dear, share), cpu_value(cheap, share)
    middle = max(0.0, a.median - b.median)
    below = float(np.hypot(a.median - a.low, b.high - b.median))
    above = float(np.hypot(a.high - a.median, b.median - b.low))
    return Value(
        median=middle,
        low=max(0.0, middle - below),
        high=middle + above,
        repeats=min(a.repeats, b.repeats),
        doubts=tuple(dict.fromkeys((*a.doubts, *b.doubts))),
    )


def query_costs(case: Case, name: str) -> Costs | None:
    """Return what the engine takes for a query that was weighed under `name`, or None."""
    return saved_costs(case.recipe.table, here=name)


def weigh_query(
    case: Case,
    name: str,
    *,
    on_event: OnEvent | None = None,
    stop: threading.Event | None = None,
) -> Costs:
    """Return what the engine takes for the query of `case`: a row's price from a warm run, the rest as for its table.

    Kept under `name`, and measured only if it is not there. Raises `Cancelled` when `stop` is set.
    """
    known = query_costs(case, name)
    if known is not None:
        return known
    base = ensure_costs(case.recipe.table, on_event=on_event, stop=stop)
    alone = replace(case, engine=replace(case.engine, threads=1))
    sample = alone.measure_here(cold=False, repeats=REPEATS, on_event=on_event, stop=stop)
    row_s = max(1e-10, (float(np.median(sample.cpu_s)) - base.plan_s) / case.recipe.rows)
    # The table's own price of a row group holds for all of its columns; most of it is the columns'.
    share = len(case.columns or case.recipe.columns) / len(case.recipe.columns)
    costs = replace(base, row_s=row_s, group_s=max(1e-6, base.group_s * share))
    keep_costs(case.recipe.table, costs, here=name)
    return costs
