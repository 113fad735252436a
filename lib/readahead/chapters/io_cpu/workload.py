"""A mill by a stream. The same grain through more or less demanding stones, with more or less water: DuckDB over
TPC-H's order lines, one sum or a whole report, on a device as fast as one likes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Any

from readahead.datasets import expected
from readahead.experiments.experiment import Knob, Settings
from readahead.experiments.scanning import Scanning
from readahead.measure import calibrate
from readahead.measure.case import Case
from readahead.measure.machine import this_machine
from readahead.measure.run import Query
from readahead.measure.sample import Sample
from readahead.models.schedule import Costs

EVERY, ONE, REPORT = "every column", "one sum", "Query 1"
"""Read all; add one column up; TPC-H's query 1, without its filter on a date, which passes nearly every row."""
_COLUMNS = {
    ONE: ("l_quantity",),
    REPORT: ("l_quantity", "l_extendedprice", "l_discount", "l_tax", "l_returnflag", "l_linestatus"),
}  # fmt: skip
_SELECT = {
    ONE: "sum(l_quantity)",
    # Columns in file order: DuckDB joins reads of neighbours as it meets them, and two runs that meet later stay two.
    REPORT: "sum(l_quantity), sum(l_extendedprice),"
    " sum(l_extendedprice * (1 - l_discount)), sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)),"
    " avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*), l_returnflag, l_linestatus",
}
_TAIL = {REPORT: " GROUP BY ALL ORDER BY l_returnflag, l_linestatus"}
_ROW_S = {ONE: 4e-9, REPORT: 40e-9}
"""A row's price on a machine of 2 cores, before this one was calibrated."""

QUERY = Knob(
    name="report", label="Query", kind="choice", default=EVERY, choices=(EVERY, ONE, REPORT),
    help="TPC-H's Query 1 without its filter on dates: eight aggregates of four columns, grouped by two flags.",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report(Case):
    """A case with what comes after the table's name."""

    tail: str = ""

    def query(self) -> Query:
        """Return the query, with its groups."""
        plain = Case.query(self)
        return replace(plain, sql=plain.sql + self.tail)


class Working(Scanning):
    """The common bench with queries that ask more or less of the processor."""

    def case(self, settings: Settings) -> Case:
        """Return the case that these settings describe."""
        plain, report = super().case(settings), self.value(settings, "report")
        return _Report(
            recipe=plain.recipe,
            device=plain.device,
            engine=plain.engine,
            time_scale=plain.time_scale,
            select=_SELECT.get(report, ""),
            columns=_COLUMNS.get(report, ()),
            tail=_TAIL.get(report, ""),
        )

    def costs(self, settings: Settings) -> Costs:
        """Return what the engine takes for the query, as calibrated or as is usual."""
        if self.value(settings, "report") == EVERY:
            return super().costs(settings)
        return self._query(settings).costs()

    def _query(self, settings: Settings) -> calibrate.Calibration[Costs]:
        report, usual = self.value(settings, "report"), super().costs
        return calibrate.query(
            self.case(settings), report, lambda: replace(usual(settings), row_s=_ROW_S[report])
        )

    def calibrate(self) -> None:
        """Calibrate the engine on the order lines, and each query on it."""
        super().calibrate()
        for report in (ONE, REPORT):
            self._query(self.settings(report=report)).run()

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a query and a bandwidth, and no more workers than this machine has cores."""
        workers = rng.randint(1, this_machine().cores)
        return {**super().draw(rng), "report": self.knob("report").draw(rng), "threads": workers}

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the query in DuckDB, calibrating it first if that was never done."""
        if self.value(settings, "report") != EVERY:
            self._query(settings).ensure()
        return super().measure(settings, repeats)

    def _work(self, case: Case) -> float:
        """Return the bytes of the columns that the query reads."""
        wanted = case.columns or case.recipe.columns
        return float(
            sum(size for group in expected.reads(case.recipe, wanted, 0).groups for _, size in group)
        )
