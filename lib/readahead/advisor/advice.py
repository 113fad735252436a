"""A removal firm's offer. The same goods in other boxes, in another order, with more carriers: each with its price, the
cheapest first, and a word on what it is that takes the time.

Every time here is the schedule's (`models.your_data`), of a layout as it is or as it would be written.
"""

from __future__ import annotations

from collections.abc import Sequence
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
from readahead.models.table_layout import Table, Workload

LADDER = (8_192, 32_768, 122_880, 524_288, 1_048_576)
"""Row-group sizes that are always told."""
ENOUGH = 1.05
"""The least queue depth whose time is within this factor of the best is the one to set."""
MOST_KEYS = 1_000_000
GAP = 1.02
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
        require_range("selectivity", selectivity, low=1e-9, high=1, advice="Give a share, such as 0.1.")
        most = min(MOST_KEYS, survey.table.rows)
        require_range(
            "keys", keys, low=0, high=most, advice="Give rows per lookup, of those there are; 0 for a scan."
        )
        require_range("queue_depth", queue_depth, low=1, high=1024, advice="Give reads in flight, such as 8.")
        require_range("threads", threads, low=0, high=256, advice="Give 0 for all cores but one.")
        if selectivity < 1 and keys:
            raise BadValue(
                f"selectivity={selectivity:g} and keys={keys} must be one or the other: a range, or a lookup of rows."
                " Leave one of them out."
            )
        if (selectivity < 1 or keys) and not survey.by:
            raise BadValue(
                f"selectivity={selectivity:g} and keys={keys} need a column to filter by. Give one with --by COLUMN."
            )
        return cls(
            workload=Workload(selectivity=selectivity, keys=keys),
            queue_depth=queue_depth,
            threads=threads or spare_threads(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that could be done."""

    says: str
    rows: int
    """Of a row group; 0 if it stays as it is."""
    sorted: bool
    queue_depth: int
    seconds: float
    gain: float
    """Today's time over this one's."""
    read_groups: int
    bottleneck: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Everything modeled for one device."""

    device: Device
    costs: Costs
    asked: Asked
    today: Estimate
    today_groups: int
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


def read_groups(plans: list[Reads]) -> int:
    """Return how many row groups are read, rounded over the places where the filter may lie."""
    return round(sum(plan.read_groups for plan in plans) / len(plans))


def advise(survey: Survey, device: Device, asked: Asked, costs: Costs | None = None) -> Advice:
    """Return what could be done about a survey's table on one device, ranked by gain."""
    costs = costs or sample_run.guessed_costs(survey)
    table, workload = survey.table, asked.workload
    bench = _Bench(table=table, device=device, costs=costs, asked=asked)
    now = table_layout.today(table, workload)
    today = table_layout.explained(now, device, bench.window(asked.queue_depth), costs)
    depths = tuple((depth, bench.seconds(now, depth)) for depth in table_layout.DEPTHS)
    least = min(time_s for _, time_s in depths)
    deep = next(depth for depth, time_s in depths if time_s <= least * ENOUGH)
    ladder = [rows for rows in LADDER if rows < 2 * table.rows] or [table_layout.VECTOR_ROWS]
    sizes = tuple(
        (rows, bench.seconds(table_layout.packed(table, workload, rows), asked.queue_depth))
        for rows in ladder
    )
    return Advice(
        device=device,
        costs=costs,
        asked=asked,
        today=today,
        today_groups=read_groups(now),
        work=float(workload.keys) if workload.keys else table.wanted_bytes,
        options=tuple(_ranked(survey, bench, now, deep, today.seconds)),
        sizes=sizes,
        depths=depths,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bench:
    table: Table
    device: Device
    costs: Costs
    asked: Asked

    def window(self, depth: int) -> Window:
        return table_layout.window(depth, self.asked.threads)

    def seconds(self, plans: list[Reads], depth: int) -> float:
        return table_layout.seconds(plans, self.device, self.window(depth), self.costs)

    def best(self, depth: int, *, by_filter: bool | None = None) -> int:
        args = (self.table, self.asked.workload, self.device, self.window(depth), self.costs)
        return search.best_rows(*args, by_filter=by_filter)[0]


def _ranked(survey: Survey, bench: _Bench, now: list[Reads], deep: int, today_s: float) -> Sequence[Option]:
    """Return each change alone, and then all together, fastest first; those that gain nothing are left out."""
    table, workload, depth = bench.table, bench.asked.workload, bench.asked.queue_depth
    usual = max(table_layout.VECTOR_ROWS, table.usual_rows)
    by = survey.named(survey.by).shown if survey.by else ""
    offers: list[tuple[str, list[Reads], int, bool, int]] = []
    if deep != depth:
        offers.append((f"set a queue depth of {deep}", now, 0, False, deep))
    if survey.found.total_files > 1:
        words = f"write the {survey.found.total_files:,} files as one, groups of {usual:,} rows"
        offers.append((words, table_layout.packed(table, workload, usual), usual, False, depth))
    rows = bench.best(depth)
    plan = table_layout.packed(table, workload, rows)
    offers.append((f"row groups of {rows:,} rows", plan, rows, False, depth))
    if workload.filters:
        plan = table_layout.packed(table, workload, usual, by_filter=True)
        offers.append((f"sort by {by}, groups as large as today's", plan, usual, True, depth))
        rows = bench.best(depth, by_filter=True)
        plan = table_layout.packed(table, workload, rows, by_filter=True)
        offers.append((f"sort by {by}, row groups of {rows:,} rows", plan, rows, True, depth))
    rows = bench.best(max(deep, depth), by_filter=workload.filters or None)
    plan = table_layout.packed(table, workload, rows, by_filter=workload.filters or None)
    words = f"{f'sort by {by}, ' if workload.filters else ''}row groups of {rows:,} rows"
    words += f", queue depth {max(deep, depth)}"
    offers.append((words, plan, rows, workload.filters, max(deep, depth)))
    found: dict[str, Option] = {}
    for says, plan, rows, in_order, at in offers:
        told = table_layout.explained(plan, bench.device, bench.window(at), bench.costs)
        gain = today_s / told.seconds
        all_at_once = at != depth and rows  # more change is only offered for more gain
        if all_at_once and told.seconds > min((one.seconds for one in found.values()), default=1e9) / GAP:
            continue
        if gain >= GAP and (at != depth or rows or in_order):
            found.setdefault(
                says.replace(f", queue depth {depth}", ""),
                Option(
                    says=says, rows=rows, sorted=in_order, queue_depth=at, seconds=told.seconds, gain=gain,
                    read_groups=read_groups(plan), bottleneck=told.bottleneck,
                ),
            )  # fmt: skip
    return sorted(found.values(), key=lambda option: option.seconds)
