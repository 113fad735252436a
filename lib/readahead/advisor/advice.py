"""Advises on a table's layout and queue depth: what each change would gain on a device, the largest gain first.

Every time here is the schedule's (`models.table_layout`), of a layout as it is or as it would be written.
"""

from __future__ import annotations

from dataclasses import dataclass

from readahead.datasets.survey import Survey
from readahead.devices import Device
from readahead.errors import BadValue, require_range
from readahead.measure import sample_run
from readahead.measure.engine import spare_threads
from readahead.models import search, table_layout
from readahead.models.estimate import Estimate
from readahead.models.reads import Reads
from readahead.models.schedule import Costs, Window
from readahead.models.table_layout import Workload

LADDER = (8_192, 32_768, 122_880, 524_288, 1_048_576)
"""Row-group sizes that are always told."""
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
        if (selectivity < 1 or keys) and not survey.by:
            raise BadValue(
                f"selectivity={selectivity:g} and keys={keys} need a column to filter by. Give one with --by COLUMN."
            )
        workload = Workload(selectivity=selectivity, keys=keys)
        return cls(workload=workload, queue_depth=queue_depth, threads=threads or spare_threads())

    def window(self, depth: int = 0) -> Window:
        """Return what DuckDB keeps under way at a queue depth, or at today's."""
        return table_layout.window(depth or self.queue_depth, self.threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that could be done."""

    says: str
    rows: int = 0
    """Of a row group; 0 if it stays as it is."""
    sorted: bool = False
    """Whether the rows are sorted by the filter's column."""
    queue_depth: int
    seconds: float
    gain: float
    """Today's time over this one's."""
    bottleneck: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Everything modeled for one device."""

    device: Device
    asked: Asked
    today: Estimate
    today_groups: int
    """Row groups that are read, rounded over the places where the filter may lie."""
    work: float
    """Bytes of the wanted columns, or rows of a lookup: throughput is work / seconds."""
    options: tuple[Option, ...]
    """What gains most first."""
    sizes: tuple[tuple[int, float], ...]
    """(rows of a row group, seconds) in the order of today."""
    depths: tuple[tuple[int, float], ...]
    """(queue depth, seconds) of the file as it is."""

    @property
    def unit(self) -> str:
        """Return the kind of the throughput."""
        return "rows_per_s" if self.asked.workload.keys else "bytes_per_s"


def advise(survey: Survey, device: Device, asked: Asked, costs: Costs | None = None) -> Advice:
    """Return what could be done about a survey's table on one device, ranked by gain."""
    costs = costs or sample_run.guessed_costs(survey)
    table, workload = survey.table, asked.workload
    now = table_layout.today(table, workload)
    today = table_layout.explained(now, device, asked.window(), costs)
    ladder = [rows for rows in LADDER if rows < 2 * table.rows] or [table_layout.VECTOR_ROWS]
    layouts = [table_layout.packed(table, workload, rows) for rows in ladder]
    depths = table_layout.DEPTHS
    at_depths = [table_layout.seconds(now, device, asked.window(depth), costs) for depth in depths]
    return Advice(
        device=device,
        asked=asked,
        today=today,
        today_groups=round(sum(plan.read_groups for plan in now) / len(now)),
        work=float(workload.keys) if workload.keys else table.wanted_bytes,
        options=tuple(_ranked(survey, now, today, device, asked, costs, _enough(depths, at_depths))),
        sizes=tuple(
            (rows, table_layout.seconds(plans, device, asked.window(), costs))
            for rows, plans in zip(ladder, layouts, strict=True)
        ),
        depths=tuple(zip(depths, at_depths, strict=True)),
    )


def _enough(depths: tuple[int, ...], seconds: list[float]) -> int:
    """Return the least queue depth that is nearly as fast as the best."""
    return next(d for d, took in zip(depths, seconds, strict=True) if took <= min(seconds) * ENOUGH)


def _ranked(
    survey: Survey, now: list[Reads], today: Estimate, device: Device, asked: Asked, costs: Costs, deep: int
) -> list[Option]:
    """Return each change alone, and then all together, fastest first; those that gain nothing are left out."""
    table, workload, depth = survey.table, asked.workload, asked.queue_depth
    usual = max(table_layout.VECTOR_ROWS, table.usual_rows)
    by = f"sort by {survey.named(survey.by).shown}, " if workload.filters else ""

    def best(at: int, *, in_order: bool = False) -> int:
        window = asked.window(at)
        return search.best_rows(table, workload, device, window, costs, by_filter=in_order or None)[0]

    def offer(says: str, *, rows: int = 0, in_order: bool = False, at: int = depth) -> Option:
        plans = table_layout.packed(table, workload, rows, by_filter=in_order or None) if rows else now
        told = table_layout.explained(plans, device, asked.window(at), costs)
        return Option(
            says=says, rows=rows, sorted=in_order, queue_depth=at, seconds=told.seconds,
            gain=today.seconds / told.seconds, bottleneck=told.bottleneck,
        )  # fmt: skip

    offers = []
    if deep != depth:
        offers.append(offer(f"set a queue depth of {deep}", at=deep))
    if survey.found.total_files > 1:
        files = f"{survey.found.total_files:,}"
        offers.append(offer(f"write the {files} files as one, groups of {usual:,} rows", rows=usual))
    rows = best(depth)
    offers.append(offer(f"row groups of {rows:,} rows", rows=rows))
    if workload.filters:
        offers.append(offer(f"{by}groups as large as today's", rows=usual, in_order=True))
        rows = best(depth, in_order=True)
        offers.append(offer(f"{by}row groups of {rows:,} rows", rows=rows, in_order=True))
    found = [one for one in offers if one.gain >= LEAST_GAIN]
    if deep > depth:
        rows = best(deep, in_order=workload.filters)
        says = f"{by}row groups of {rows:,} rows, queue depth {deep}"
        every = offer(says, rows=rows, in_order=workload.filters, at=deep)
        if every.gain >= LEAST_GAIN * max((one.gain for one in found), default=1.0):
            found.append(every)  # more change is only offered for more gain
    return sorted(found, key=lambda option: option.seconds)
