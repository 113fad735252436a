"""DuckDB's own read-ahead switches, for Parquet and for its own format: on, off, and half on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from readahead.datasets import expected, store
from readahead.experiments.experiment import EMULATED, Settings
from readahead.experiments.knobs import experiment
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure.calibrate import MEMORY, PROBE, Calibration, Trial, line, query, trial
from readahead.measure.case import Case
from readahead.measure.run import Query, Setting
from readahead.measure.sample import Value
from readahead.models.native import blocks_alone, native_reads
from readahead.models.reads import Reads, RowGroup, Span
from readahead.models.schedule import Costs, Timeline, Window
from readahead.models.table_layout import VECTOR_ROWS
from readahead.units import KiB

ON, OFF, ALONE = "on", "off", "alone"
PARQUET, NATIVE = "parquet", "native"
SCAN, TWO, LIMIT = "scan", "two", "limit"
BLOCK_BYTES = 64 * KiB
HEADER_READ_BYTES = 256
"""What DuckDB reads of a Parquet page before it knows how long the page is, when it may not read ahead."""
PAGE_HEADER_BYTES, HEADER_OFF_BYTES = 22, 10
"""What of it is the page's header, and by how much a header is longer or shorter than that; the rest is read again."""
GROUPS_A_WORKER = 4
"""Row groups under way for each worker when DuckDB chooses the depth: 64 MiB a worker, 16 MiB a group at least."""
OWN_READ = {NATIVE: 1.0, PARQUET: 0.5}
"""The share of `Costs.read_s` after which a worker that reads for itself goes on, on an emulated device: of Parquet
every other read is but a page's header. Where 55 µs were calibrated, scans of DuckDB's own format took 58 µs more for
each read, and where it were 42, one of Parquet 24 µs."""
_TWO_COLUMNS = ("id", "user_id")


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
        return self.scheduled(some, costs)


def _ended_early(told: Timeline, slots: int, costs: Costs) -> Timeline:
    """Return the schedule of a query that has its rows with the first row group's first vector.

    Nothing more is asked for then, but DuckDB waits until what is in flight is there. The worker is woken no sooner
    than a slot is that goes on with the next read. And before it can end the query it takes its turn of the lock of
    Python's interpreter, behind every read whose slot was free before: they are asked for meanwhile. In traces of 64
    and 128 reads at once, of 70 µs each, no read of the window is left by then.
    """
    asked_s, there_s = told.reads_s.T
    have_s = float(told.groups_s[0, 1]) + costs.read_s
    before = min(len(asked_s), slots + int((there_s <= have_s).sum()))
    have_s = max(have_s, float(np.sort(asked_s)[before - 1]))
    end_s = max(have_s, float(there_s[asked_s <= have_s].max(initial=0.0))) + costs.close_s
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

    def own_costs(self, settings: Settings) -> Calibration[Costs] | None:
        """Return the calibration of two columns; or of DuckDB's own format, where no page has to be unpacked."""
        usual, gap = self.engine(settings), self.knob("column_gap_bytes").default
        if self._apart(settings):
            two = self.case({**settings, "read_ahead": ON, "column_gap_bytes": gap})
            return query(two, TWO, lambda: _decoding(usual.costs(), self._share(settings)))
        if settings["stored"] == PARQUET:
            return None
        return Calibration(
            name=f"{self.value(settings, 'dataset')}-{NATIVE}-{settings['query']}",
            kind=Costs,
            cases=lambda: [partial(trial, one) for one in self._native_cases(settings)],
            read_off=lambda trials: native_costs(usual.ensure(), *(trials[at::4] for at in range(4))),
            typical=lambda: _decoding(usual.costs(), NATIVE_SHARE),
        )

    def _native_cases(self, settings: Settings) -> list[AheadCase]:
        """Return the four cases that `native_costs` reads off, in its order; all but the first are read from memory."""
        asked = settings["query"]
        whole = {**settings, "size": "tiny", "row_group_rows": 1_048_576, "read_ahead": ON, "query": SCAN}
        few = {**whole, "row_group_rows": 65_536, "queue_depth": 32, "query": asked}
        many = {**few, "row_group_rows": VECTOR_ROWS}
        streamed = {**many, "query": SCAN if asked == LIMIT else asked}
        of_memory = [replace(self.case(one), device=MEMORY) for one in (few, many, streamed)]
        return [replace(self.case(whole), device=PROBE), *of_memory]

    def costs(self, settings: Settings) -> Costs:
        """Return what the engine takes: of two columns their share, where they were not calibrated by themselves.

        A native file is opened before the clock runs; its row groups are looked up when the query is planned. Without
        read-ahead a worker reads for itself: nothing is passed out, nor handed over.
        """
        costs = super().costs(settings)
        if settings["read_ahead"] == OFF:
            own = OWN_READ[settings["stored"]] if settings["where"] == EMULATED else 0.0
            costs = replace(costs, read_s=own * costs.read_s, dispatch_s=0.0)
        if settings["query"] == TWO and not self._apart(settings):
            costs = _decoding(costs, self._share(settings))
        return costs if settings["stored"] == PARQUET else replace(costs, open_s=0.0)

    def _apart(self, settings: Settings) -> bool:
        """Return whether two columns are asked for, and calibrated by themselves."""
        return (settings["query"], settings["stored"], settings["where"]) == (TWO, PARQUET, EMULATED)

    def _share(self, settings: Settings) -> float:
        return len(_TWO_COLUMNS) / len(self.case(settings).recipe.columns)


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


def native_costs(
    parquet: Costs,
    whole: Sequence[Trial],
    few: Sequence[Trial],
    many: Sequence[Trial],
    streamed: Sequence[Trial],
) -> Costs:
    """Return the costs that queries of DuckDB's own format show.

    One row group as a `whole` shows what decoding takes, from its arrival to the answer; of `few` row groups and of
    `many` the first read shows what planning takes; and a scan of many, `streamed`, what a read does.
    """
    copying_s = parquet.copy_byte_s * whole[0].last_read_bytes
    decode_s = np.median([one.closing_s() for one in whole]) - parquet.close_s - copying_s
    modeled_s = whole[0].case.predict(parquet).decode_s
    firsts = [(one.case.recipe.row_groups, one.sample.reads[0].submitted_s) for one in (*few, *many)]
    plan_s, group_s = line(firsts)
    read_s = float(np.median([one.per_read_s() for one in streamed]))
    costs = replace(parquet, plan_s=plan_s, open_group_s=group_s, dispatch_s=min(parquet.dispatch_s, read_s))
    return _decoding(costs, max(0.01, float(decode_s) / modeled_s))


EXPERIMENT = experiment(
    ReadAhead, __file__, "Read-ahead: asking before you need it", calibrated_each=("stored", "query")
)
