"""Advises on a table's layout and queue depth: what each change would gain on a device, the largest gain first.

Every time here is the schedule's (`models.table_layout`), of a layout as it is or as it would be written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from readahead.datasets.survey import Survey
from readahead.devices import Device
from readahead.errors import BadValue, require_range
from readahead.measure import sample_run
from readahead.measure.run import spare_threads
from readahead.models import table_layout
from readahead.models.estimate import Estimate
from readahead.models.schedule import Costs
from readahead.models.table_layout import AS_IT_LIES, Case, Layout, Workload

LADDER = (8_192, 32_768, 122_880, 524_288, 1_048_576)
"""Row-group sizes that are always told."""
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
ENOUGH = 1.05
"""The least queue depth whose time is within this factor of the best is the one to set."""
MOST_KEYS = 1_000_000
LEAST_GAIN = 1.02
"""A change that gains less than this factor is not offered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The workload, with how the engine is set up today."""

    workload: Workload
    queue_depth: int = 8
    threads: int = 1

    @classmethod
    def of(
        cls,
        survey: Survey,
        *,
        selectivity: float = 1.0,
        keys: int = 0,
        queue_depth: int = 8,
        threads: int = 0,
    ) -> Asked:
        """Return a workload, checked.

        Raises `BadValue` for a number out of range, a filter without a column, and a range that is a lookup too.
        """
        most = min(MOST_KEYS, survey.table.rows)
        for name, value, low, high, advice in (
            ("selectivity", selectivity, 1e-9, 1, "Give a share, such as 0.1."),
            ("keys", keys, 0, most, "Give rows per lookup, of those there are; 0 for a scan."),
            ("queue_depth", queue_depth, 1, 1024, "Give reads in flight, such as 8."),
            ("threads", threads, 0, 256, "Give 0 for all cores but one."),
        ):
            require_range(name, value, low=low, high=high, advice=advice)
        if selectivity < 1 and keys:
            raise BadValue(
                f"selectivity={selectivity:g} and keys={keys} must be one or the other: a range, or a lookup of rows."
                " Leave one of them out."
            )
        workload = Workload(selectivity=selectivity, keys=keys)
        if workload.filters and not survey.by:
            raise BadValue(
                f"selectivity={selectivity:g} and keys={keys} need a column to filter by. Give one with --by COLUMN."
            )
        return cls(workload=workload, queue_depth=queue_depth, threads=threads or spare_threads())

    def case(self, survey: Survey, device: Device, costs: Costs) -> Case:
        """Return the workload on a table and a device, to be timed."""
        return Case(
            table=survey.table, workload=self.workload, device=device, costs=costs,
            queue_depth=self.queue_depth, threads=self.threads,
        )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that could be done."""

    says: str
    layout: Layout
    queue_depth: int
    seconds: float
    gain: float
    """Today's time over this one's."""
    bottleneck: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Everything modeled for one device."""

    asked: Asked
    case: Case
    """The table as it lies."""
    today: Estimate
    options: tuple[Option, ...]
    """What gains most first."""
    sizes: tuple[tuple[int, float], ...]
    """(rows of a row group, seconds) in the order of today."""
    depths: tuple[tuple[int, float], ...]
    """(queue depth, seconds) of the file as it is."""

    @property
    def work(self) -> float:
        """Return the bytes of the wanted columns, or the rows of a lookup: throughput is work / seconds."""
        return float(self.case.workload.keys) or self.case.table.wanted_bytes

    @property
    def unit(self) -> str:
        """Return the kind of the throughput."""
        return "rows_per_s" if self.case.workload.keys else "bytes_per_s"


def advise(survey: Survey, device: Device, asked: Asked, costs: Costs | None = None) -> Advice:
    """Return what could be done about a survey's table on one device, ranked by gain."""
    case = asked.case(survey, device, costs or sample_run.guessed_costs(survey))
    today = case.estimate()
    depths = tuple((depth, replace(case, queue_depth=depth).seconds()) for depth in DEPTHS)
    least = min(time_s for _, time_s in depths)
    deep = next(depth for depth, time_s in depths if time_s <= least * ENOUGH)
    ladder = [rows for rows in LADDER if rows < 2 * case.table.rows] or [table_layout.VECTOR_ROWS]
    return Advice(
        asked=asked,
        case=case,
        today=today,
        options=tuple(_ranked(survey, case, deep, today.seconds)),
        sizes=tuple((rows, case.seconds(Layout(rows=rows))) for rows in ladder),
        depths=depths,
    )


def _ranked(survey: Survey, case: Case, deep: int, today_s: float) -> list[Option]:
    """Return each change alone, and then all together, fastest first; those that gain nothing are left out."""
    depth, files, filters = case.queue_depth, survey.found.total_files, case.workload.filters
    usual = max(table_layout.VECTOR_ROWS, case.table.usual_rows)
    order = f"sort by {survey.named(survey.by).shown}, " if filters else ""
    found: list[Option] = []

    def offer(says: str, layout: Layout = AS_IT_LIES, at: int = depth, least: float = LEAST_GAIN) -> None:
        told = replace(case, queue_depth=at).estimate(layout)
        gain = today_s / told.seconds
        if gain >= least:
            found.append(
                Option(
                    says=says, layout=layout, queue_depth=at, seconds=told.seconds, gain=gain,
                    bottleneck=told.bottleneck,
                )
            )  # fmt: skip

    if deep != depth:
        offer(f"set a queue depth of {deep}", at=deep)
    if files > 1:
        offer(f"write the {files:,} files as one, groups of {usual:,} rows", Layout(rows=usual))
    rows = case.best_rows()
    offer(f"row groups of {rows:,} rows", Layout(rows=rows))
    if filters:
        offer(f"{order}groups as large as today's", Layout(rows=usual, in_order=True))
        rows = case.best_rows(in_order=True)
        offer(f"{order}row groups of {rows:,} rows", Layout(rows=rows, in_order=True))
    if deep > depth:  # more change is only offered for more gain
        rows = replace(case, queue_depth=deep).best_rows(in_order=filters)
        more = LEAST_GAIN * max((one.gain for one in found), default=1.0)
        words = f"{order}row groups of {rows:,} rows, queue depth {deep}"
        offer(words, Layout(rows=rows, in_order=filters), deep, more)
    return sorted(found, key=lambda option: option.seconds)
