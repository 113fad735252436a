"""The reads of a table as it lies, and of the same rows in other row groups or in another order.

A `Table` is what the metadata of any file tells. The reads of each layout are timed by the same schedule, so that a
file as it is and a file that does not exist yet are judged alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.devices import Device
from readahead.models.estimate import Estimate
from readahead.models.parquet_reads import even_reads
from readahead.models.reads import Ints, Reads
from readahead.models.schedule import Costs, Window, simulate

VECTOR_ROWS = 2_048
LARGEST_ROWS = 4 * 2**20
MOST_GROUPS = 8_000
"""Row groups that a layout is given at most."""
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
GAP_BYTES = 16_384

PLACES = 7
GOLDEN = 0.618033988749895
"""Steps of this length spread evenly over a circle, however many are taken (Weyl, 1916)."""

Range = tuple[float, float]
Ranges = NDArray[np.float64]
"""Smallest and largest value in each row group, as ranks from 0 to 1: a row each."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """What the arithmetic must know of a table, one file or many."""

    reads: Reads
    """The reads of all footers and of each row group today, for the wanted columns."""
    widths: tuple[tuple[str, float], ...]
    """Compressed bytes of a row in each column, wanted or not, in file order."""
    wanted: frozenset[str]
    ranges: tuple[Range, ...] = ()
    """Smallest and largest value of the filter's column in each row group, as ranks from 0 to 1; empty if unknown."""
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
        """Return the rows of a middling row group today."""
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
def kept(ranges: Ranges, workload: Workload, place: float = 0.5, seed: int = 1) -> NDArray[np.bool_]:
    """Return which row groups must be read: their smallest and largest value do not rule the filter out.

    A range filter lies at a place of the column; keys are drawn evenly from it. All are in ranks.
    """
    low, high = ranges.T
    if not workload.filters:
        return np.ones(len(low), bool)
    if workload.keys:
        drawn = np.sort(np.random.default_rng(seed).random(workload.keys))
        at = np.searchsorted(drawn, low)
        return np.asarray((at < len(drawn)) & (drawn[np.minimum(at, len(drawn) - 1)] <= high))
    start = place * (1.0 - workload.selectivity)
    return np.asarray((low <= start + workload.selectivity) & (high >= start))


def in_order(group_rows: ArrayLike) -> Ranges:
    """Return the ranges of a column by which the rows are sorted: each group has its own slice."""
    ends = np.cumsum(group_rows) / max(1, np.sum(group_rows))
    return np.stack([np.concatenate([[0.0], ends[:-1]]), ends - 1e-12], axis=1)


def unknown(groups: int) -> Ranges:
    """Return the ranges of a column that rules no row group out."""
    return np.tile([0.0, 1.0], (groups, 1))


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
def today(table: Table, workload: Workload) -> list[Reads]:
    """Return the reads as the files lie, for each place of the filter."""
    ranges = np.array(table.ranges) if table.ranges else unknown(len(table.reads.rows))
    return _filtered(table.reads, ranges, workload)


def packed(table: Table, workload: Workload, rows: int, *, by_filter: bool | None = None) -> list[Reads]:
    """Return the reads of one file with row groups of `rows` rows. `by_filter` sorts it by the filter's column.

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
    return _filtered(reads, in_order(reads.rows) if by_filter else _rearranged(table, reads.rows), workload)


def _filtered(reads: Reads, ranges: Ranges, workload: Workload) -> list[Reads]:
    """Return what the filter leaves of the reads, for each of its places."""
    asked = replace(reads, keys=workload.keys)
    return [asked.only(kept(ranges, workload, place)) for place in workload.places]


def _rearranged(table: Table, sizes: Ints) -> Ranges:
    """Return the ranges of new row groups in the old order: of each, those of the old groups it reaches over.

    A part of an old group is taken to be as wide as the whole: what is inside a group no metadata tells.
    """
    if not table.ranges:
        return unknown(len(sizes))
    low, high = np.array(table.ranges, float).T
    old_ends, new_ends = np.cumsum(table.reads.rows), np.cumsum(sizes)
    first = np.searchsorted(old_ends, np.concatenate([[0], new_ends[:-1]]), side="right")
    last = np.minimum(np.searchsorted(old_ends, new_ends - 1, side="right"), len(low) - 1)
    return np.array(
        [(low[a : b + 1].min(), high[a : b + 1].max()) for a, b in zip(first, last, strict=True)], float
    )


# -- how long it takes -----------------------------------------------------------------------------------
def window(queue_depth: int, threads: int) -> Window:
    """Return what DuckDB keeps under way with these settings."""
    return Window(slots=queue_depth + threads - 1, depth=queue_depth, threads=threads)


def seconds(plans: Sequence[Reads], device: Device, at: Window, costs: Costs) -> float:
    """Return the mean time of some plans."""
    return explained(plans, device, at, costs).seconds


def explained(plans: Sequence[Reads], device: Device, at: Window, costs: Costs) -> Estimate:
    """Return the mean time of some plans as named terms."""
    told = [simulate(device, plan, window=at, costs=costs).estimate for plan in plans]

    def mean(terms: Sequence[Mapping[str, float]]) -> dict[str, float]:
        return {name: sum(one[name] for one in terms) / len(terms) for name in terms[0]}

    return Estimate(
        terms_s=mean([one.terms_s for one in told]), overlapped_s=mean([one.overlapped_s for one in told])
    )
