"""Checks a piece of advice: a sample is written as it lies and as advised, and DuckDB reads both on the device.

The gain is predicted first: the engine is calibrated on a copy of the sample, in memory, and nothing of the second
file is known when its time is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from readahead import units
from readahead.advisor.advice import Advice, Option, advise
from readahead.datasets.survey import Survey, survey
from readahead.measure import rewritten, sample_run
from readahead.measure.engine import EngineSettings
from readahead.measure.sample import Sample
from readahead.models import table_layout
from readahead.running import quietly, tell

HELD = 0.2
"""How far the gain may be from the promised one, as a share, to have held."""
SLOW_ROWS = 8_192
"""If nothing gains, these groups should lose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What was promised of the sample and what was measured."""

    rows: int
    says: str
    """What was changed."""
    where: str
    promised_s: tuple[float, float]
    """Of the sample as it lies, and changed."""
    measured: tuple[Sample, Sample]
    same_answer: bool

    @property
    def promised(self) -> float:
        """Return the gain that was promised."""
        return self.promised_s[0] / self.promised_s[1]

    @property
    def had(self) -> float:
        """Return the gain that was measured."""
        return self.measured[0].median_s / self.measured[1].median_s

    @property
    def held(self) -> bool:
        """Return whether the promise held."""
        return self.same_answer and abs(self.had / self.promised - 1) <= HELD

    def lines(self) -> Iterator[str]:
        """Yield the proof, line by line."""
        yield f"A sample of {self.rows:,} rows, {self.says}; measured on {self.where}"
        names = ("as it lies", "changed")
        for name, told, seen in zip(names, self.promised_s, self.measured, strict=True):
            low, high = seen.interval_s()
            yield (
                f"  {name:<10}  modeled {units.text(told, 's'):>9}  measured {units.text(seen.median_s, 's'):>9}"
                f" ({units.text(low, 's')} to {units.text(high, 's')}), {len(seen.seconds)} runs"
            )
        yield f"  gain: promised {self.promised:.2f} ×, measured {self.had:.2f} ×"
        if not self.same_answer:
            yield "The two files gave different answers: believe neither."
        elif self.held:
            yield "The prediction held."
        else:
            yield "The prediction did not hold: " + "; ".join(self.warnings())
        yield "The sample is removed; the original was only read."

    def warnings(self) -> Iterator[str]:
        """Yield why it may not have held."""
        found = [warning for sample in self.measured for warning in sample.warnings()]
        yield from found or ["measure again on a quiet machine, then trust the measurement."]


def verify(seen: Survey, told: Advice, *, here: bool = False, repeats: int = 5) -> Proof:
    """Rewrite a bounded sample in a folder of its own, measure it as it lies and as advised, and remove it.

    Raises `Cancelled` when asked to stop, `DataError` if the sample cannot be written or measured.
    """
    asked = told.asked
    with rewritten.folder_beside(seen) as folder:
        tell(0, 5, "writing a sample as it lies")
        first = folder / "as-it-lies.parquet"
        rewritten.write(seen, first, group_rows=seen.table.usual_rows, in_order=False)
        lies = survey(str(first), columns=seen.wanted, by=seen.by)
        clause = sample_run.clause(lies, asked.workload)
        runner = sample_run.Runner(
            settings=EngineSettings(threads=asked.threads, queue_depth=asked.queue_depth),
            here=here, repeats=repeats,
        )  # fmt: skip
        tell(1, 5, "calibrating the engine on it")
        with quietly():
            costs = sample_run.calibrate(lies, asked.workload, runner, clause)
        advised = advise(lies, told.device, asked, costs.whole)
        option = _chosen(advised)
        promised = _promised(lies, advised, option, costs)
        tell(2, 5, f"writing it again: {option.says}")
        second = folder / "as-advised.parquet"
        rewritten.write(lies, second, group_rows=option.rows, in_order=option.sorted, rows=lies.table.rows)
        tell(3, 5, "measuring it as it lies")
        with quietly():
            before = runner.measure(sample_run.query(lies, first, clause), told.device)
        tell(4, 5, "measuring it as advised")
        with quietly():
            after = runner.measure(sample_run.query(lies, second, clause), told.device)
    return Proof(
        rows=lies.table.rows,
        says=option.says,
        where=before.where if here else f"{told.device.name}, emulated",
        promised_s=promised,
        measured=(before, after),
        same_answer=before.answer == after.answer,
    )


def _chosen(advised: Advice) -> Option:
    """Return the best change of the file alone; if none gains, one that should lose."""
    depth = advised.asked.queue_depth
    for option in advised.options:
        if option.rows and option.queue_depth == depth:
            return option
    rows, took = next((pair for pair in advised.sizes if pair[0] >= SLOW_ROWS), advised.sizes[0])
    return Option(
        says=f"nothing gains, so row groups of {rows:,} rows to see that", rows=rows,
        queue_depth=depth, seconds=took, gain=advised.today.seconds / took,
    )  # fmt: skip


def _promised(
    lies: Survey, advised: Advice, option: Option, costs: sample_run.SampleCosts
) -> tuple[float, float]:
    """Return the seconds of both layouts with the filter where the query has it: in the middle."""
    asked, in_order = advised.asked, option.sorted
    workload = replace(asked.workload, place=0.5)
    today = table_layout.today(lies.table, workload)
    changed = table_layout.packed(lies.table, workload, option.rows, by_filter=in_order or None)
    return (
        table_layout.seconds(today, advised.device, asked.window(), costs.of(in_order=False)),
        table_layout.seconds(changed, advised.device, asked.window(), costs.of(in_order=in_order)),
    )
