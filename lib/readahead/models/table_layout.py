"""The reads of a table as it lies, and of the same rows in other row groups or in another order; the fastest of these.

A `Table` is what the metadata of any file tells. The reads of each layout are timed by the same schedule, so that a
file as it is and a file that does not exist yet are judged alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.devices import Device
from readahead.models.estimate import Estimate
from readahead.models.reads import Ints, Reads, even_reads
from readahead.models.schedule import Costs, Window, simulate

VECTOR_ROWS = 2_048
"""DuckDB writes row groups in whole vectors of this many rows."""
LARGEST_ROWS = 4 * 2**20
MOST_GROUPS = 8_000
"""Row groups that a layout is given at most."""
GAP_BYTES = 16_384
ALIKE = 0.01
"""Two times nearer than this are the same: the size nearer to today's is then recommended."""

PLACES = 7
GOLDEN = 0.618033988749895
"""Steps of this length spread evenly over a circle, however many are taken (Weyl, 1916)."""

Ranges = NDArray[np.float64]
"""Smallest and largest value in each row group, as ranks from 0 to 1: a row each; no rows if they are unknown."""
UNKNOWN: Ranges = np.empty((0, 2))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """What the arithmetic must know of a table, one file or many."""

    reads: Reads
    """The reads of all footers and of each row group today, for the wanted columns."""
    widths: tuple[tuple[str, float], ...]
    """Compressed bytes of a row in each column, wanted or not, in file order."""
    wanted: frozenset[str]
    ranges: Ranges = field(default_factory=UNKNOWN.copy)
    """Of the filter's column."""
    footer_bytes_per_group: float = 350.0

    @property
    def rows(self) -> int:
        """Return the rows of all row groups."""
        return int(self.reads.rows.sum())

    @property
    def wanted_bytes(self) -> float:
        """Return the compressed bytes of the wanted columns."""
        return self.rows * sum(width for name, width in self.widths if name in self.wanted)

    @property
    def usual_rows(self) -> int:
        """Return the median of the rows of a row group today."""
        return int(np.median(self.reads.rows))


def first(table: Table, rows: int) -> Table:
    """Return the table's first row groups: as many as are needed for so many rows."""
    every = len(table.reads.rows)
    many = min(every, int(np.searchsorted(np.cumsum(table.reads.rows), rows)) + 1)
    part = table.reads.first(many)
    footers = part.footer[: max(1, len(part.footer) * many // every)]
    return replace(table, reads=replace(part, footer=footers), ranges=table.ranges[:many])


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


# -- which row groups a filter leaves ------------------------------------------------------------------
def kept(ranges: Ranges, workload: Workload, place: float = 0.5) -> NDArray[np.bool_]:
    """Return which row groups must be read: their smallest and largest value do not rule the filter out.

    A range filter lies at a place of the column; keys are drawn evenly from it. All are in ranks.
    """
    low, high = ranges.T
    if not workload.filters:
        return np.ones(len(low), bool)
    if workload.keys:
        drawn = np.sort(np.random.default_rng(1).random(workload.keys))
        at = np.searchsorted(drawn, low)
        return np.asarray((at < len(drawn)) & (drawn[np.minimum(at, len(drawn) - 1)] <= high))
    start = place * (1.0 - workload.selectivity)
    return np.asarray((low <= start + workload.selectivity) & (high >= start))


def skippable(ranges: Ranges, selectivity: float) -> float:
    """Return the share of row groups, 0 to 1, that a range of this selectivity rules out, wherever it lies.

    A group of width w meets a random range of width s with a chance of at most min(1, (w + s) / (1 - s)), less at the
    ends of the column; what is not met is counted here at 41 places of the range.
    """
    workload = Workload(selectivity=selectivity)
    return 1.0 - float(np.mean([kept(ranges, workload, place) for place in np.linspace(0.0, 1.0, 41)]))


def sorted_ranges(group_rows: ArrayLike) -> Ranges:
    """Return the ranges of a column by which the rows are sorted: each group has its own slice."""
    ends = np.cumsum(group_rows) / max(1, np.sum(group_rows))
    return np.stack([np.concatenate([[0.0], ends[:-1]]), ends - 1e-12], axis=1)


def _regrouped(table: Table, sizes: Ints) -> Ranges:
    """Return the ranges of new row groups in the old order: of each, those of the old groups it reaches over.

    A part of an old group is taken to be as wide as the whole: what is inside a group no metadata tells.
    """
    low, high = table.ranges.T
    old_ends, new_ends = np.cumsum(table.reads.rows), np.cumsum(sizes)
    first = np.searchsorted(old_ends, np.concatenate([[0], new_ends[:-1]]), side="right")
    last = np.minimum(np.searchsorted(old_ends, new_ends - 1, side="right"), len(low) - 1)
    reached = zip(first, last + 1, strict=True)
    return np.array([(low[a:b].min(), high[a:b].max()) for a, b in reached], float)


# -- layouts and their times ----------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """How the rows are stored."""

    rows: int = 0
    """Of a row group; 0 for the files as they lie."""
    in_order: bool = False
    """Whether they are sorted by the filter's column, in the row groups of one file."""


AS_IT_LIES = Layout()


def plans(table: Table, workload: Workload, layout: Layout) -> list[Reads]:
    """Return the reads that the filter leaves of a layout, for each of its places.

    Where the order stays, a range in the new groups is as wide as one in today's groups was, or wider.
    """
    reads = table.reads
    if layout.rows:
        reads = even_reads(
            table.widths,
            table.rows,
            min(layout.rows, table.rows),
            table.wanted,
            gap_bytes=GAP_BYTES,
            footer_bytes_per_group=table.footer_bytes_per_group,
        )
    if layout.in_order:
        ranges = sorted_ranges(reads.rows)
    elif not len(table.ranges):
        ranges = np.tile([0.0, 1.0], (len(reads.rows), 1))  # no group can be ruled out
    else:
        ranges = _regrouped(table, reads.rows) if layout.rows else table.ranges
    asked = replace(reads, keys=workload.keys)
    return [asked.only(kept(ranges, workload, place)) for place in workload.places]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """A workload on a table, on a device, with the engine set up in one way: what the schedule gives times for."""

    table: Table
    workload: Workload
    device: Device
    costs: Costs
    queue_depth: int = 8
    threads: int = 1

    @property
    def window(self) -> Window:
        """Return what DuckDB keeps under way with these settings."""
        return Window.of(self.queue_depth, self.threads)

    def estimate(self, layout: Layout = AS_IT_LIES) -> Estimate:
        """Return the mean time over the places of the filter, as named terms."""
        return self.timed(plans(self.table, self.workload, layout))

    def timed(self, plans: Sequence[Reads]) -> Estimate:
        """Return the mean time of some plans."""
        told = [simulate(self.device, one, window=self.window, costs=self.costs).estimate for one in plans]

        def mean(terms: Sequence[Mapping[str, float]]) -> dict[str, float]:
            return {name: sum(one[name] for one in terms) / len(terms) for name in terms[0]}

        return Estimate(
            terms_s=mean([one.terms_s for one in told]), overlapped_s=mean([one.overlapped_s for one in told])
        )

    def seconds(self, layout: Layout = AS_IT_LIES) -> float:
        """Return the mean time over the places of the filter."""
        return self.estimate(layout).seconds

    def best_rows(self, *, in_order: bool = False) -> int:
        """Return the row-group size with which the schedule ends first, in rows.

        Every one of `sizes` is timed. Of those that are alike the one nearest to today's is taken.
        """
        told = {rows: self.seconds(Layout(rows=rows, in_order=in_order)) for rows in sizes(self.table)}
        least = min(told.values())
        alike = [rows for rows, time_s in told.items() if time_s <= least * (1 + ALIKE)]
        return min(alike, key=lambda rows: abs(np.log(rows / max(1, self.table.usual_rows))))


def sizes(table: Table, points: int = 160) -> list[int]:
    """Return the row-group sizes worth a thought, in whole vectors, evenly on a log scale."""
    rows = table.rows
    low = max(VECTOR_ROWS, rows / MOST_GROUPS)
    high = max(low, min(LARGEST_ROWS, rows + VECTOR_ROWS))
    found = np.ceil(np.geomspace(low, high, points) / VECTOR_ROWS).astype(int) * VECTOR_ROWS
    return sorted(set(found.tolist()))
