"""Queries over TPC-H's order lines that take more or less of the processor: every column, one sum, a whole report."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from readahead.datasets import expected
from readahead.experiments.experiment import Settings
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure import calibrate
from readahead.measure.case import Case
from readahead.measure.machine import this_machine
from readahead.measure.run import Query
from readahead.measure.sample import Sample
from readahead.models.schedule import Costs

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

    def calibrate(self) -> None:
        """Calibrate the engine on the order lines, and each query on it."""
        super().calibrate()
        for name in REPORTS:
            self._calibration(self.settings(report=name)).run()

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the query in DuckDB, calibrating it first if that was never done."""
        if settings["report"] != EVERY:
            self._calibration(settings).ensure()
        return super().measure(settings, repeats)

    def _work(self, case: Case) -> float:
        """Return the bytes of the columns that the query reads."""
        return float(expected.reads(case.recipe, case.columns or case.recipe.columns, 0).data_bytes)

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a query and a bandwidth, and no more workers than this machine has cores."""
        workers = rng.randint(1, this_machine().cores)
        return {**super().draw(rng), "report": self.knob("report").draw(rng), "threads": workers}
