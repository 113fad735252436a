"""Queries over TPC-H's order lines that take more or less of the processor: every column, one sum, a whole report. And
the processor seconds that one way of running a query takes more than another.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from readahead.datasets import expected
from readahead.experiments.experiment import Settings
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure import calibrate
from readahead.measure.case import Case
from readahead.measure.run import EngineSettings, Query, run_local
from readahead.measure.sample import Sample, Value, this_machine
from readahead.models.schedule import Costs
from readahead.running import quietly, tell

EVERY, SUM, QUERY_1 = "every", "sum", "query_1"
"""Read all; add one column up; TPC-H's query 1, without its filter on a date, which passes nearly every row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a query selects."""

    select: str
    columns: tuple[str, ...]
    tail: str = ""
    """What comes after the table's name."""
    row_s: float
    """What a row costs on a machine of 2 cores, before this one was calibrated."""


REPORTS = {
    SUM: Report(select="sum(l_quantity)", columns=("l_quantity",), row_s=4e-9),
    QUERY_1: Report(
        # Columns in file order: DuckDB joins reads of neighbours as it meets them; runs that meet later stay apart.
        select="sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),"
        " sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_extendedprice),"
        " avg(l_discount), count(*), l_returnflag, l_linestatus",
        columns=("l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus"),
        tail=" GROUP BY ALL ORDER BY l_returnflag, l_linestatus",
        row_s=40e-9,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportCase(Case):
    """A case with what comes after the table's name."""

    tail: str = ""

    def query(self) -> Query:
        """Return the query, with its groups."""
        plain = Case.query(self)
        return replace(plain, sql=plain.sql + self.tail)


class Reports(TableExperiment):
    """Scans, sums and reports of a Parquet table, each with processor costs of its own."""

    @once
    def case(self, settings: Settings) -> Case:
        """Return the case that these settings describe."""
        plain, report = super().case(settings), REPORTS.get(settings["report"])
        if report is None:
            return plain
        return ReportCase(
            recipe=plain.recipe,
            device=plain.device,
            engine=plain.engine,
            select=report.select,
            columns=report.columns,
            tail=report.tail,
        )

    def costs(self, settings: Settings) -> Costs:
        """Return what the engine takes for the query, as calibrated or as is usual."""
        plain = settings["report"] == EVERY
        return super().costs(settings) if plain else self._calibration(settings).costs()

    def _calibration(self, settings: Settings) -> calibrate.Calibration[Costs]:
        name, usual = settings["report"], super().costs
        row_s = REPORTS[name].row_s
        return calibrate.query(self.case(settings), name, lambda: replace(usual(settings), row_s=row_s))

    def calibrations(self, settings: Settings) -> Sequence[calibrate.Calibration[Any]]:
        """Return the calibrations of the engine on the order lines, and of the query on it."""
        table = super().calibrations(settings)
        return table if settings["report"] == EVERY else (*table, self._calibration(settings))

    def calibrate(self, settings: Settings | None = None) -> None:
        """Calibrate the engine on the order lines, and each query on it."""
        super().calibrate(self.settings(report=EVERY))
        for name in REPORTS:
            self._calibration(self.settings(report=name)).run()

    def work(self, settings: Settings) -> float:
        """Return the bytes of the columns that the query reads."""
        case = self.case(settings)
        return float(expected.reads(case.recipe, case.columns or case.recipe.columns, 0).data_bytes)

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a query and a bandwidth, and no more workers than this machine has cores."""
        workers = rng.randint(1, this_machine().cores)
        return {**super().draw(rng), "report": self.knob("report").draw(rng), "threads": workers}


# -- the processor seconds of a query ----------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
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


def cpu_more(query: Query, dear: Way, cheap: Way, share: float = 1.0) -> Value:
    """Return how many more processor seconds a query takes in one way than in another, times `share`; never below 0.

    Run with its data on the disk and in memory, that is what the processor pays for input and output (J. Chang, "IO
    Cost Structure", 2010). The two ways are run in turns, so that a machine that slows down slows both, and the median
    of the differences is taken, with the interval that its order statistics give. Raises `Cancelled` when asked to
    stop, and `DataError` where a cold run is asked for that cannot be had.
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
