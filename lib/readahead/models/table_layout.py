"""The same household, moved into other boxes. What lies in the boxes and what is fetched from them stays; how many go
into one box, in which order they are packed and how many carriers walk at once is changed, on paper.

A `Table` is what the metadata of any file tells. Each `Plan` is a list of reads, timed by the exact schedule
(`models.schedule.simulate`), so that a file as it is and a file that does not exist yet are judged by one clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from readahead.devices import Device
from readahead.models.estimate import Estimate
from readahead.models.parquet_reads import Span, even_reads
from readahead.models.schedule import Costs, Window, explain, simulate

VECTOR_ROWS = 2_048
LARGEST_ROWS = 4 * 2**20
MOST_GROUPS = 8_000
"""Row groups that one schedule goes through; of a file with more the first so many stand for all."""
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
GAP_BYTES = 16_384

PLACES = 7
GOLDEN = 0.618033988749895
"""Steps of this length spread evenly over a circle, however many are taken (Weyl, 1916)."""

Range = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """What the arithmetic must know of a table, one file or many."""

    group_rows: tuple[int, ...]
    """Rows of each row group today, in file order."""
    group_spans: tuple[tuple[Span, ...], ...]
    """The reads of each row group today, for the wanted columns."""
    footers: tuple[Span, ...]
    """The reads of all footers, one after the other."""
    widths: tuple[tuple[str, float], ...]
    """Compressed bytes of a row in each column, wanted or not, in file order."""
    wanted: frozenset[str]
    ranges: tuple[Range, ...] = ()
    """Smallest and largest value of the filter's column in each row group, as ranks from 0 to 1; empty if unknown."""
    footer_bytes_per_group: float = 350.0

    @property
    def rows(self) -> int:
        """Return the rows of all row groups."""
        return sum(self.group_rows)

    @property
    def wanted_bytes(self) -> float:
        """Return the compressed bytes of the wanted columns."""
        return self.rows * sum(width for name, width in self.widths if name in self.wanted)

    @property
    def usual_rows(self) -> int:
        """Return the rows of a middling row group today."""
        return int(np.median(self.group_rows))


def first(table: Table, rows: int) -> Table:
    """Return the table's first row groups: as many as are needed for so many rows."""
    many = int(np.searchsorted(np.cumsum(table.group_rows), rows)) + 1
    return replace(
        table,
        group_rows=table.group_rows[:many],
        group_spans=table.group_spans[:many],
        footers=table.footers[: max(1, len(table.footers) * many // len(table.group_rows))],
        ranges=table.ranges[:many],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What is asked of the table."""

    selectivity: float = 1.0
    """Share of the rows, from 0 to 1, that a range on the filter's column keeps."""
    keys: int = 0
    """Rows looked up by random values of the filter's column; 0 for a scan."""
    place: float | None = None
    """Where the range lies in the column, from 0 to 1 for its lowest and highest place; None for anywhere."""

    @property
    def places(self) -> tuple[float, ...]:
        """Return the places of the range whose mean is told: one alone could meet the row groups' ends by luck."""
        if self.keys or self.selectivity >= 1 or self.place is not None:
            return (0.5 if self.place is None else self.place,)
        return tuple((0.5 + n * GOLDEN) % 1.0 for n in range(PLACES))

    @property
    def filters(self) -> bool:
        """Return whether a row group could be skipped at all."""
        return self.keys > 0 or self.selectivity < 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The reads of one query over one layout."""

    footers: tuple[Span, ...]
    groups: tuple[tuple[Span, ...], ...]
    """Of each row group, in order; empty if it is skipped."""
    rows: tuple[int, ...]
    keys: int = 0

    @property
    def read_groups(self) -> int:
        """Return how many row groups are read."""
        return sum(bool(spans) for spans in self.groups)

    @property
    def read_rows(self) -> int:
        """Return how many rows are decoded."""
        return sum(count for count, spans in zip(self.rows, self.groups, strict=True) if spans)


# -- which row groups a filter leaves ------------------------------------------------------------------
def kept(ranges: Sequence[Range], workload: Workload, place: float = 0.5, seed: int = 1) -> list[bool]:
    """Return which row groups must be read: their smallest and largest value do not rule the filter out.

    A range filter lies at a place of the column; keys are drawn evenly from it. All are in ranks.
    """
    if not workload.filters:
        return [True] * len(ranges)
    low, high = np.array(ranges, float).reshape(-1, 2).T
    if workload.keys:
        drawn = np.sort(np.random.default_rng(seed).random(workload.keys))
        at = np.searchsorted(drawn, low)
        found = (at < len(drawn)) & (drawn[np.minimum(at, len(drawn) - 1)] <= high)
    else:
        start = place * (1.0 - workload.selectivity)
        found = (low <= start + workload.selectivity) & (high >= start)
    return [bool(one) for one in found]


def in_order(group_rows: Sequence[int]) -> list[Range]:
    """Return the ranges of a column by which the rows are sorted: each group has its own slice."""
    ends = np.cumsum(group_rows) / max(1, sum(group_rows))
    return list(zip([0.0, *ends[:-1].tolist()], (ends - 1e-12).tolist(), strict=True))


def skippable(ranges: Sequence[Range], selectivity: float) -> float:
    """Return the share of row groups, 0 to 1, that a range of this selectivity rules out, wherever it lies.

    A group of width w meets a random range of width s with a chance of at most min(1, (w + s) / (1 - s)), less at the
    ends of the column; what is not met is counted here at 41 places of the range.
    """
    if not ranges:
        return 0.0
    low, high = np.array(ranges, float).reshape(-1, 2).T
    starts = np.linspace(0.0, 1.0 - selectivity, 41)[:, None]
    return float(np.mean((low > starts + selectivity) | (high < starts)))


# -- layouts ------------------------------------------------------------------------------------------------
def today(table: Table, workload: Workload) -> list[Plan]:
    """Return the reads as the files lie, one plan for each place of the filter."""
    ranges = table.ranges or ((0.0, 1.0),) * len(table.group_rows)
    return [
        Plan(
            footers=table.footers,
            groups=tuple(
                spans if keep else ()
                for spans, keep in zip(table.group_spans, kept(ranges, workload, place), strict=True)
            ),
            rows=table.group_rows,
            keys=workload.keys,
        )
        for place in workload.places
    ]


def packed(table: Table, workload: Workload, rows: int, *, by_filter: bool | None = None) -> list[Plan]:
    """Return the plans of one file with row groups of `rows` rows. `by_filter` sorts it by the filter's column.

    By default the order stays: a range in the new groups is as wide as one in today's groups was, or wider.
    """
    reads = even_reads(
        table.widths,
        table.rows,
        min(rows, table.rows),
        table.wanted,
        gap_bytes=GAP_BYTES,
        footer_bytes_per_group=table.footer_bytes_per_group,
    )
    ranges = in_order(reads.rows) if by_filter else _rearranged(table, reads.rows)
    return [
        Plan(
            footers=tuple(reads.footer),
            groups=tuple(
                tuple(own) if keep else ()
                for own, keep in zip(reads.groups, kept(ranges, workload, place), strict=True)
            ),
            rows=tuple(reads.rows),
            keys=workload.keys,
        )
        for place in workload.places
    ]


def _rearranged(table: Table, sizes: Sequence[int]) -> list[Range]:
    """Return the ranges of new row groups in the old order: of each, those of the old groups it reaches over.

    A part of an old group is taken to be as wide as the whole: what is inside a group no metadata tells.
    """
    if not table.ranges:
        return [(0.0, 1.0)] * len(sizes)
    low, high = np.array(table.ranges, float).T
    old_ends, new_ends = np.cumsum(table.group_rows), np.cumsum(sizes)
    first = np.searchsorted(old_ends, np.concatenate([[0], new_ends[:-1]]), side="right")
    last = np.minimum(np.searchsorted(old_ends, new_ends - 1, side="right"), len(low) - 1)
    return [
        (float(low[a : b + 1].min()), float(high[a : b + 1].max())) for a, b in zip(first, last, strict=True)
    ]


# -- how long it takes -----------------------------------------------------------------------------------
def window(queue_depth: int, threads: int) -> Window:
    """Return what DuckDB keeps under way with these settings."""
    return Window(slots=queue_depth + threads - 1, depth=queue_depth, threads=threads)


def seconds(plans: Sequence[Plan], device: Device, at: Window, costs: Costs) -> float:
    """Return the mean time of the plans by the exact schedule."""
    return sum(_seconds(plan, device, at, costs) for plan in plans) / len(plans)


def _seconds(plan: Plan, device: Device, at: Window, costs: Costs) -> float:
    """Return the time of one plan; of more than `MOST_GROUPS` groups the first ones stand for all."""
    part = min(1.0, MOST_GROUPS / max(1, len(plan.groups)))
    footers = plan.footers[:MOST_GROUPS]
    told = simulate(
        device,
        footers,
        plan.groups[:MOST_GROUPS],
        plan.rows[:MOST_GROUPS],
        window=at,
        costs=costs,
        keys=plan.keys,
    )
    whole = told.opened_s * max(1.0, len(plan.footers) / max(1, len(footers)))
    return whole + (told.finished_s - told.opened_s) / part


def explained(plans: Sequence[Plan], device: Device, at: Window, costs: Costs) -> Estimate:
    """Return the mean time of the plans as named terms."""
    told = [_explained(plan, device, at, costs) for plan in plans]
    names = [*told[0].terms_s]
    return Estimate(terms_s={name: sum(one.terms_s[name] for one in told) / len(told) for name in names})


def _explained(plan: Plan, device: Device, at: Window, costs: Costs) -> Estimate:
    """Return the time of one plan; of more than `MOST_GROUPS` groups the first ones stand for all."""
    part = min(1.0, MOST_GROUPS / max(1, len(plan.groups)))
    footers = plan.footers[:MOST_GROUPS]
    told = explain(
        device,
        footers,
        plan.groups[:MOST_GROUPS],
        plan.rows[:MOST_GROUPS],
        window=at,
        costs=costs,
        keys=plan.keys,
    )
    terms = {name: value / part for name, value in told.terms_s.items()}
    opened_s = told.terms_s["open"] - costs.close_s
    terms["open"] = opened_s * max(1.0, len(plan.footers) / max(1, len(footers))) + costs.close_s / part
    return Estimate(terms_s=terms)
