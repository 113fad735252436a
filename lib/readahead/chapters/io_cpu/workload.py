"""Queries over TPC-H's order lines that take more or less of the processor: every column, one sum, a whole report. And
the processor seconds that one way of running a query takes more than another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from readahead.datasets import expected
from readahead.experiments.experiment import Settings
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure import calibrate
from readahead.measure.case import Case
from readahead.measure.sample import Sample, Value
from readahead.models.schedule import Costs
from readahead.running import quietly, turns

EVERY, SUM, QUERY_1 = "every", "sum", "query_1"
"""Read all; add one column up; TPC-H's query 1, without its filter on a date, which passes nearly every row."""


REPORTS: dict[str, dict[str, Any]] = {
    SUM: {"select": "sum(l_quantity)", "columns": ("l_quantity",)},
    QUERY_1: {
        # Columns in file order: DuckDB joins reads of neighbours as it meets them; runs that meet later stay apart.
        "select": "sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),"
        " sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_extendedprice),"
        " avg(l_discount), count(*), l_returnflag, l_linestatus",
        "columns": ("l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus"),
        "tail": " GROUP BY ALL ORDER BY l_returnflag, l_linestatus",
    },
}
ROW_S = {SUM: 4e-9, QUERY_1: 40e-9}
"""What a row costs on a machine of 2 cores, before this one was calibrated."""


class Reports(TableExperiment):
    """Scans, sums and reports of a Parquet table, each with processor costs of its own."""

    @once
    def case(self, settings: Settings) -> Case:
        """Return the case that these settings describe."""
        return replace(super().case(settings), **REPORTS.get(settings["report"], {}))

    def own_costs(self, settings: Settings) -> calibrate.Calibration[Costs] | None:
        """Return the calibration of a sum or a report."""
        name, usual = settings["report"], self.engine(settings).costs
        if name == EVERY:
            return None
        return calibrate.query(self.case(settings), name, lambda: replace(usual(), row_s=ROW_S[name]))

    def work(self, settings: Settings) -> float:
        """Return the bytes of the columns that the query reads."""
        case = self.case(settings)
        return float(expected.reads(case.recipe, case.columns or case.recipe.columns, 0).data_bytes)


# -- the processor seconds of a query ----------------------------------------------------------------------
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


def cpu_more(dear: Callable[[], Sample], cheap: Callable[[], Sample], share: float = 1.0) -> Value:
    """Return how many more processor seconds one run takes than another, times `share`; never below 0.

    Of a query with its data on the disk and in memory, that is what the processor pays for input and output (J. Chang,
    "IO Cost Structure", 2010). The two are run in turns, so that a machine that slows down slows both, and the median
    of the differences is taken, with the interval that its order statistics give. Raises `Cancelled` when asked to
    stop, and `DataError` where a cold run is asked for that cannot be had.
    """
    more = []
    for _ in turns(PAIRS, ", one way and the other"):
        with quietly():
            more.append((dear().cpu_s[0] - cheap().cpu_s[0]) * share)
    low, middle, high = (max(0.0, sorted(more)[at]) for at in (1, PAIRS // 2, -2))
    return Value(median=middle, low=low, high=high, repeats=PAIRS)
