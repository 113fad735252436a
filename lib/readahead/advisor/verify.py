"""Checks a piece of advice: a sample is written as it lies and as advised, and DuckDB reads both on the device.

The gain is predicted first: the engine is calibrated on a copy of the sample, in memory, and nothing of the second
file is known when its time is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from readahead import units
from readahead.advisor.advice import Advice, advise
from readahead.datasets.survey import Survey
from readahead.measure.run import EngineSettings
from readahead.measure.sample import Sample
from readahead.measure.sample_run import sample_of
from readahead.models.table_layout import AS_IT_LIES, Layout
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
        had = self.measured[0].median_s / self.measured[1].median_s
        yield f"  gain: promised {self.promised:.2f} ×, measured {had:.2f} ×"
        if not self.same_answer:
            yield "The two files gave different answers: believe neither."
        elif abs(had / self.promised - 1) <= HELD:
            yield "The prediction held."
        else:
            doubts = [warning for sample in self.measured for warning in sample.warnings()]
            doubts = doubts or ["measure again on a quiet machine, then trust the measurement."]
            yield "The prediction did not hold: " + "; ".join(doubts)
        yield "The sample is removed; the original was only read."


def verify(seen: Survey, told: Advice, *, here: bool = False, repeats: int = 5) -> Proof:
    """Rewrite a bounded sample in a folder of its own, measure it as it lies and as advised, and remove it.

    Raises `Cancelled` when asked to stop, `DataError` if the sample cannot be written or measured.
    """
    case, device = told.case, told.case.device
    settings = EngineSettings(threads=case.threads, queue_depth=case.queue_depth)
    tell(0, 5, "writing a sample as it lies")
    with sample_of(seen, case.workload, settings, here=here, repeats=repeats) as sample:
        tell(1, 5, "calibrating the engine on it")
        with quietly():
            costs = sample.calibrate()
        lies = sample.lies
        advised = advise(lies, replace(case, table=lies.table, costs=costs[True]))
        says, layout = _chosen(advised)
        middle = replace(advised.case, workload=sample.workload)
        first_s, second_s = (
            replace(middle, costs=costs[one.in_order]).seconds(one) for one in (AS_IT_LIES, layout)
        )
        tell(2, 5, f"writing it again: {says}")
        changed = sample.write(layout)
        tell(3, 5, "measuring it as it lies")
        with quietly():
            before = sample.measure(lies.found.files[0], device)
        tell(4, 5, "measuring it as advised")
        with quietly():
            after = sample.measure(changed, device)
    return Proof(
        rows=lies.table.rows,
        says=says,
        where=before.where if here else f"{device.name}, emulated",
        promised_s=(first_s, second_s),
        measured=(before, after),
        same_answer=before.answer == after.answer,
    )


def _chosen(advised: Advice) -> tuple[str, Layout]:
    """Return the best change of the file alone, in words and as a layout; if none gains, one that should lose."""
    for option in advised.options:
        if option.layout.rows and option.queue_depth == advised.case.queue_depth:
            return option.says, option.layout
    rows = next((rows for rows, _ in advised.sizes if rows >= SLOW_ROWS), advised.sizes[0][0])
    return f"nothing gains, so row groups of {rows:,} rows to see that", Layout(rows=rows)
