"""DuckDB's own read-ahead switches, for Parquet and for its own format: on, off, and half on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from readahead.datasets import expected, store
from readahead.devices import Device
from readahead.experiments.experiment import EMULATED, Settings
from readahead.experiments.knobs import experiment
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure.calibrate import (
    PROBE,
    Calibration,
    Trial,
    by_groups,
    passing_out,
    query,
    trial,
    without_stale_pages,
)
from readahead.measure.case import Case
from readahead.measure.run import Query, Setting
from readahead.measure.sample import Value
from readahead.models.native import blocks_alone, native_reads
from readahead.models.reads import Reads, RowGroup, Span
from readahead.models.schedule import Costs, Timeline, Window, stale_closing_s
from readahead.models.table_layout import VECTOR_ROWS
from readahead.storage.emulated import SPIN_S
from readahead.units import KiB

ON, OFF, ALONE = "on", "off", "alone"
PARQUET, NATIVE = "parquet", "native"
LOCKED = 1.2
"""Where a slot is used again after less than so many times what passing out takes, it waits for the interpreter alone.
In traces of 43 reads of 64 KiB and more, of 55 to 300 us, all are asked for with 16, 32 and 128 at once, and with 8
only 8 to 19, as told."""
SCAN, TWO, LIMIT = "scan", "two", "limit"
BLOCK_BYTES = 64 * KiB
HEADER_READ_BYTES = 256
"""What DuckDB reads of a Parquet page before it knows how long the page is, when it may not read ahead."""
PAGE_HEADER_BYTES, HEADER_OFF_BYTES = 22, 10
"""What of it is the page's header, and by how much a header is longer or shorter than that; the rest is read again."""
GROUPS_A_WORKER = 4
"""Row groups under way for each worker when DuckDB chooses the depth: 64 MiB a worker, 16 MiB a group at least."""
_TWO_COLUMNS = ("id", "user_id")
AWAKE = PROBE.but(name="awake", latency_s=0.75 * SPIN_S)
"""A device that is waited for without sleeping."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AheadCase(Case):
    """A scan, or a query that ends after ten rows, with read-ahead on, off, or by `async_threads` alone."""

    ahead: str = ON
    limit: bool = False

    def query(self) -> Query:
        """Return the query, for a file that is built."""
        if not self.limit:
            return Case.query(self)
        return Query(sql="SELECT * FROM {table} LIMIT 10", path=store.location(self.recipe))

    @property
    def window(self) -> Window:
        """Return the window: without read-ahead each worker has one read under way.

        With `async_threads` alone DuckDB keeps as many row groups under way as its memory rule allows.
        """
        window = self.engine.window
        if self.ahead == ALONE:
            return replace(window, depth=window.threads * GROUPS_A_WORKER)
        if self.ahead == ON:
            return window
        return replace(window, slots=window.threads, depth=window.threads, own_reads=True)

    def scan(self) -> Reads:
        """Return the reads: exact once the file is built. Of ten rows they are those of one window.

        Without read-ahead they are those of the first vector; and a Parquet file's footer is read in two, its last 8
        bytes first.
        """
        recipe, columns, ahead = self.recipe, self.columns or self.recipe.columns, self.ahead != OFF
        if recipe.format == "native":
            return self._blocks(expected.blocks(recipe, columns), ahead=ahead)
        reads = Case.scan(self)
        if not ahead:
            shape, count = expected.shape(recipe), expected.pages(recipe)
            groups = [page_reads(group, columns, count) for group in shape.row_groups]
            end = shape.size_bytes - 8
            footer = [(end, 8), (end - shape.footer_bytes, shape.footer_bytes)]
            pages = sum(len(group) for group in groups) // 2
            reads = replace(Reads.of(footer, groups, reads.rows), moved_bytes=pages * HEADER_OFF_BYTES)
        if not self.limit:
            return reads
        at_once = self.window.slots >= self.window.depth
        return reads.first(self.window.depth) if at_once else self._until_ten_rows(reads)

    def _blocks(self, found: Sequence[tuple[int, Collection[int]]], *, ahead: bool) -> Reads:
        """Return the reads of a native file."""
        if self.limit and not ahead:
            found = [(10, {runs[0][1] for runs in expected.segments(self.recipe)[0]} - {-1})]
        rows, blocks = zip(*found, strict=True)
        if not ahead:
            return Reads.of((), blocks_alone(blocks, BLOCK_BYTES), rows)
        told = native_reads(blocks, rows, BLOCK_BYTES, self.device, self.window)
        return self._until_ten_rows(told) if self.limit else told

    def _until_ten_rows(self, told: Reads) -> Reads:
        """Return the reads of one window; how many of them are asked for before ten rows are there, is open."""
        most, least = told.first(self.window.depth), told.first(1)
        moved_bytes = most.bytes_read - least.bytes_read
        return replace(most, more_reads=most.count - least.count, moved_bytes=moved_bytes)

    def predict(self, costs: Costs) -> Timeline:
        """Return the schedule of the reads."""
        if not self.limit:
            return self.scheduled(self.plan(), costs)
        return _ended_early(self.whole_window(costs), self.window.slots, costs)

    def whole_window(self, costs: Costs) -> Timeline:
        """Return the schedule of a query for ten rows that reads its whole window, one vector of each row group."""
        reads = self.plan()
        some = replace(reads, rows=np.minimum(reads.rows, VECTOR_ROWS))
        beyond = self.recipe.row_groups - len(reads.rows)  # they are opened nevertheless
        opening = replace(costs, open_s=costs.open_s + beyond * costs.open_group_s)
        return self.scheduled(some, opening)


def _ended_early(told: Timeline, slots: int, costs: Costs) -> Timeline:
    """Return the schedule of a query that has its rows with the first row group's first vector.

    Nothing more is asked for then, but DuckDB waits until what is in flight is there. The worker is woken no sooner
    than a slot is that goes on with the next read. And before it can end the query it takes its turn of the lock of
    Python's interpreter, behind every read whose slot was free before: they are asked for meanwhile. Where slots wait
    for nothing but that lock, no read of the window is left by then, see `LOCKED`.
    """
    asked_s, there_s = told.reads_s.T
    in_turn_s = np.sort(asked_s)
    have_s = float(told.groups_s[0, 1]) + costs.read_s
    before = min(len(asked_s), slots + int((there_s <= have_s).sum()))
    again_s = np.diff(in_turn_s[slots - 1 :])
    if len(again_s) and again_s.mean() < LOCKED * costs.dispatch_s:
        before = len(asked_s)
    have_s = max(have_s, float(in_turn_s[before - 1]))
    end_s = max(have_s, float(there_s[asked_s <= have_s].max(initial=0.0)))
    end_s += costs.close_s + stale_closing_s(costs.stale_page_s, costs.stale_early_share, end_s)
    own_s = told.finished_s - sum(told.path_s.values())
    share = (end_s - own_s) / max(1e-12, told.finished_s - own_s)
    path_s, busy_s = (
        {name: share * part_s for name, part_s in of.items()} for of in (told.path_s, told.busy_s)
    )
    return replace(told, finished_s=end_s, path_s=path_s, busy_s=busy_s)


def page_reads(group: RowGroup, columns: Collection[str], pages: Mapping[str, int]) -> list[Span]:
    """Return the reads of a row group page by page: a header, then the page, for each page of each wanted column.

    `pages` says how many pages a column's chunk has (one, and a dictionary where there is one).
    """
    reads: list[Span] = []
    for chunk in group.chunks:
        if chunk.column in columns:
            count = pages[chunk.column]
            share = max(1, (chunk.size_bytes - count * PAGE_HEADER_BYTES) // count)
            for page in range(count):
                at = chunk.offset + page * (PAGE_HEADER_BYTES + share)
                reads += [(at, HEADER_READ_BYTES), (at + PAGE_HEADER_BYTES, share)]
    return reads


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReads:
    """What a worker takes that reads for itself, in seconds."""

    read_s: float = 13e-6
    """From a read's arrival to the next one: nothing is handed over, and nobody woken."""
    awake_s: float = 6e-6
    """The same after a wait so short that the worker stayed awake, see `SPIN_S`."""


def own_read_costs(trials: Sequence[Trial]) -> OwnReads:
    """Return the costs that queries without read-ahead show: a page is asked for as soon as its header is there."""

    def pause_s(device: Device) -> float:
        reads = [one.sample.reads for one in trials if one.case.device == device]
        pairs = chain.from_iterable(map(pairwise, reads))
        after_headers = [
            after.submitted_s - header.due_s
            for header, after in pairs
            if header.size_bytes == HEADER_READ_BYTES
        ]
        return float(np.median(after_headers))

    return OwnReads(read_s=pause_s(PROBE), awake_s=pause_s(AWAKE))


class ReadAhead(TableExperiment):
    """A scan with the engine's read-ahead switches."""

    @once
    def case(self, settings: Settings) -> AheadCase:
        """Return the case that these settings describe, with the switches thrown."""
        plain = super().case({**settings, "format": settings["stored"]})
        ahead, two = settings["read_ahead"], settings["query"] == TWO
        more: dict[str, Setting] = {"read_ahead_depth": -1} if ahead == ALONE else {}
        if settings["stored"] == NATIVE:
            more["storage_block_prefetch"] = "NEVER" if ahead == OFF else "ALWAYS_PREFETCH"
        elif ahead == OFF:
            more["disable_parquet_prefetching"] = True
        return AheadCase(
            recipe=replace(plain.recipe, block_bytes=BLOCK_BYTES),
            device=plain.device,
            engine=replace(plain.engine, column_gap_bytes=settings["column_gap_bytes"], more=more),
            columns=_TWO_COLUMNS if two else (),
            select=", ".join(f"sum({column})" for column in _TWO_COLUMNS) if two else "",
            ahead=ahead,
            limit=settings["query"] == LIMIT,
        )

    def predicted(self, settings: Settings) -> Value:
        """Return the modeled time; its band reaches to a whole window's end if the engine's clock decides what is read.

        In traces of 32 reads at once, of 340 µs each, 27 to 94 of a window's 94 are asked for before the query ends.
        """
        told, case = super().predicted(settings), self.case(settings)
        if not (case.limit and case.plan().more_reads):
            return told
        more_s = case.whole_window(self.costs(settings)).finished_s - told.median
        return replace(told, high=told.high + max(0.0, more_s))

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return those of the engine and of the query, and of a worker that reads for itself."""
        own = (self.own_reads(settings),) if settings["where"] == EMULATED else ()
        return (*super().calibrations(settings), *own)

    def own_reads(self, settings: Settings) -> Calibration[OwnReads]:
        """Return the calibration of a worker that reads for itself, which is the same of any query."""
        asked = {**settings, "stored": PARQUET, "query": LIMIT}
        return Calibration(
            name=f"{self.value(settings, 'dataset')}-own-reads",
            kind=OwnReads,
            cases=lambda: [
                partial(trial, replace(one, device=device))
                for one in self._short_cases(asked)[-1:]
                for device in (PROBE, AWAKE)
            ],
            read_off=own_read_costs,
            typical=OwnReads,
        )

    def own_costs(self, settings: Settings) -> Calibration[Costs] | None:
        """Return the calibration of a query that differs from a scan of a Parquet file; None if it is that.

        Of DuckDB's own format no page has to be unpacked; and ten rows are planned, found and told sooner.
        """
        usual, gap = self.engine(settings), self.knob("column_gap_bytes").default
        stored, asked = settings["stored"], settings["query"]
        if self._apart(settings):
            two = self.case({**settings, "read_ahead": ON, "column_gap_bytes": gap})
            return query(two, TWO, lambda: _decoding(usual.costs(), self._share(settings)))
        if stored == PARQUET and (asked != LIMIT or settings["where"] != EMULATED):
            return None
        cases, read_off = (
            (self._short_cases, limit_costs) if stored == PARQUET else (self._native_cases, native_costs)
        )
        return Calibration(
            name=f"{self.value(settings, 'dataset')}-{stored}-{asked}",
            kind=Costs,
            cases=lambda: [partial(trial, one) for one in cases(settings)],
            read_off=lambda trials: read_off(usual.ensure(), *_by_case(trials, len(cases(settings)))),
            typical=lambda: _decoding(usual.costs(), self._share(settings)),
        )

    def _short_cases(self, settings: Settings) -> list[AheadCase]:
        """Return the query of few row groups and of many, and of few without read-ahead."""
        few = {**settings, "size": "tiny", "row_group_rows": 65_536, "queue_depth": 32, "read_ahead": ON}
        each = few, {**few, "row_group_rows": VECTOR_ROWS}, {**few, "read_ahead": OFF}
        return [replace(self.case(one), device=PROBE) for one in each]

    def _native_cases(self, settings: Settings) -> list[AheadCase]:
        """Return the cases that `native_costs` reads off, in its order."""
        short, asked = self._short_cases(settings), settings["query"]
        all_rows = {**settings, "size": "tiny", "read_ahead": ON, "query": SCAN if asked == LIMIT else asked}
        whole = {**all_rows, "row_group_rows": 1_048_576}
        streamed = {**all_rows, "row_group_rows": VECTOR_ROWS, "queue_depth": 32}
        return [*short, *(replace(self.case(one), device=PROBE) for one in (whole, streamed))]

    def costs(self, settings: Settings) -> Costs:
        """Return what the engine takes: of two columns their share, where they were not calibrated by themselves.

        A native file is opened before the clock runs; its row groups are looked up when the query is planned. Without
        read-ahead a worker reads for itself: nothing is passed out, nor handed over.
        """
        costs, stored = super().costs(settings), settings["stored"]
        if stored == NATIVE:
            costs = replace(costs, open_s=0.0)
        elif not self._apart(settings):
            costs = _decoding(costs, self._share(settings))
        if settings["read_ahead"] != OFF:
            return costs
        begins = "open_s" if stored == PARQUET else "plan_s"
        begun_s = max(0.0, getattr(costs, begins) - costs.asking_s)
        read_s = 0.0
        if settings["where"] == EMULATED:
            own, awake = self.own_reads(settings).costs(), self.case(settings).device.latency_s <= SPIN_S
            read_s = own.awake_s if awake else own.read_s
        return replace(costs, **{begins: begun_s}, read_s=read_s, dispatch_s=0.0, fetch_byte_s=0.0)

    def _apart(self, settings: Settings) -> bool:
        """Return whether two columns are asked for, and calibrated by themselves."""
        return (settings["query"], settings["stored"], settings["where"]) == (TWO, PARQUET, EMULATED)

    def _share(self, settings: Settings) -> float:
        """Return what decoding usually takes, as a share of a scan's of a Parquet file."""
        share = NATIVE_SHARE if settings["stored"] == NATIVE else 1.0
        if settings["query"] == TWO:
            share *= len(_TWO_COLUMNS) / len(self.case(settings).recipe.columns)
        return share


NATIVE_SHARE = 0.5
"""What decoding its own format takes DuckDB, as a share of Parquet's, on a machine of 2 cores."""


def _decoding(costs: Costs, share: float) -> Costs:
    """Return the costs with a share of those of decoding."""
    return replace(
        costs,
        **{
            name: share * getattr(costs, name)
            for name in ("group_s", "row_s", "first_row_s", "fresh_byte_s", "large_byte_s")
        },
    )


def _by_case(trials: Sequence[Trial], count: int) -> list[Sequence[Trial]]:
    """Return the trials of each of so many cases, which come turn after turn."""
    return [without_stale_pages(trials[at::count]) for at in range(count)]


def _close_s(alone: Sequence[Trial], costs: Costs) -> float:
    """Return what the end of a query takes that decodes a vector after its last read."""
    return max(1e-6, float(np.median([one.closing_s() for one in alone])) - costs.decode_s(VECTOR_ROWS))


def limit_costs(usual: Costs, few: Sequence[Trial], many: Sequence[Trial], alone: Sequence[Trial]) -> Costs:
    """Return the costs that a query of ten rows of a Parquet file shows, where they are not those of a scan.

    What planning takes, opening `few` row groups and `many`, and the end of a query without read-ahead, `alone`.
    """
    plan_s = float(np.median([one.planning_s() for one in (*few, *many, *alone)]))
    open_s, open_group_s = by_groups([(one, one.opening_s()) for one in (*few, *many)])
    close_s = _close_s(alone, usual)
    return replace(usual, plan_s=plan_s, open_s=open_s, open_group_s=open_group_s, close_s=close_s)


def native_costs(
    parquet: Costs,
    few: Sequence[Trial],
    many: Sequence[Trial],
    alone: Sequence[Trial],
    whole: Sequence[Trial],
    streamed: Sequence[Trial],
) -> Costs:
    """Return the costs that queries of DuckDB's own format show.

    The first read of `few` row groups and of `many` shows what planning takes; the end of a query without read-ahead,
    `alone`, what closing does; one row group as a `whole` decoding, from its arrival to the answer; and a scan of many,
    `streamed`, what passing out a read does, before any is back, and before slots are used again.
    """
    close_s = _close_s(alone, _decoding(parquet, NATIVE_SHARE))
    copying_s = parquet.copy_byte_s * whole[0].last_read_bytes
    decode_s = np.median([one.closing_s() for one in whole]) - close_s - copying_s
    modeled_s = whole[0].case.predict(parquet).decode_s
    plan_s, group_s = by_groups([(one, one.planning_s()) for one in (*few, *many)])
    dispatch_s = min(parquet.dispatch_s, float(np.median([one.per_read_s() for one in streamed])))
    costs = replace(
        parquet,
        plan_s=plan_s,
        open_group_s=group_s,
        close_s=close_s,
        fetch_byte_s=0.0,  # a block's is in what passing out takes
        **passing_out(dispatch_s, streamed),
    )
    return _decoding(costs, max(0.01, float(decode_s) / modeled_s))


EXPERIMENT = experiment(
    ReadAhead, __file__, "Read-ahead: asking before you need it", calibrated_each=("stored", "query")
)
