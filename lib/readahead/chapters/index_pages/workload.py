"""How an index of linked pages is inspected, or a part of a DuckDB table is seen: the knobs, and what they ask for.

The index is the lower part of a B-tree: leaf pages, pages above that count them and hold the next one's address, and in
front a page for the map of which page is which. By the links, what is read next comes out of the bytes read. DuckDB has
its own ways to see a part: a file's metadata, row groups chosen by number, TABLESAMPLE, all rows.
"""

from __future__ import annotations

import functools
import random
import struct
import threading
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from readahead.chapters.index_pages import laws
from readahead.chapters.index_pages.laws import DISPATCH_S, PAGE_BYTES, READER_S
from readahead.datasets import expected, inspect, store
from readahead.devices import Device
from readahead.errors import DataError
from readahead.experiments.experiment import Settings
from readahead.experiments.knobs import experiment
from readahead.experiments.steps import NO_COSTS
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure.calibrate import Calibration
from readahead.measure.case import Case
from readahead.measure.run import Query, Stopwatch
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.models.native import native_reads
from readahead.models.reads import Ints, Reads, Span, spans_of
from readahead.models.schedule import Costs, Timeline, Window, asleep_s, simulate, waking
from readahead.models.table_layout import VECTOR_ROWS
from readahead.running import carried, check, interrupts, turns
from readahead.storage.emulated import EmulatedFile, EmulatedFileSystem
from readahead.units import KiB

LIMITED, MAP, SAMPLED, DETAILED, COUNT = "limited", "map", "sampled", "detailed", "count"
INDEX_WAYS = (LIMITED, MAP, SAMPLED, DETAILED, COUNT)
"""The pages above the leaves by their links (LIMITED), the same pages by the map, LIMITED with a sample of the leaves
(SAMPLED) or with all of them (DETAILED); all leaves by the map alone, as COUNT(*) has to."""
SAMPLE_EVERY, SAMPLE_FROM_PAGES = 100, 10_000
"""SAMPLED reads every hundredth leaf page of an index with at least so many, and else all of them (P. Randal)."""
MAGIC = 0x52454144_50414745
READER = replace(NO_COSTS, read_s=READER_S, dispatch_s=DISPATCH_S)
"""What a plain reader takes before it is calibrated: nothing but the time to ask."""
FRONT = struct.Struct("=4q")
NEXT, COUNTED = 2, 3
"""What stands behind the magic and a page's own number: which page is next (in front the first; below 0 none), and how
many leaf pages lie below, or bytes are in use."""


# -- the file of an index --------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class PageIndex:
    """An index of so many leaf pages, with so many of them listed on a page above."""

    leaf_pages: int
    fanout: int

    @property
    def upper_pages(self) -> int:
        """Return how many pages list the leaf pages."""
        return -(-self.leaf_pages // self.fanout)

    @property
    def pages(self) -> int:
        """Return the pages of the file, with the map in front."""
        return 1 + self.upper_pages + self.leaf_pages

    def block(self, page: int, read_bytes: int) -> Span:
        """Return the (offset, size) of the aligned read of `read_bytes` that has a page in it."""
        start = page * PAGE_BYTES // read_bytes * read_bytes
        return start, min(read_bytes, self.pages * PAGE_BYTES - start)


@functools.lru_cache(maxsize=32)
def layout(index: PageIndex) -> tuple[np.ndarray, np.ndarray]:
    """Return (upper pages, leaf pages) in the order of their keys: page splits have put the upper ones anywhere."""
    slots = 1 + np.arange(index.upper_pages) * (index.fanout + 1)
    leaves = np.setdiff1d(np.arange(1, index.pages), slots)
    return np.random.default_rng(16).permutation(slots), leaves


def write(index: PageIndex, path: Path) -> None:
    """Write the file, each page in its place."""
    upper, leaves = layout(index)
    pages = np.zeros((index.pages, PAGE_BYTES // 8), np.int64)
    pages[:, 0], pages[:, 1] = MAGIC, np.arange(index.pages)
    pages[0, NEXT] = upper[0]
    pages[upper, NEXT] = [*upper[1:], -1]
    pages[upper, COUNTED] = index.fanout
    pages[upper[-1], COUNTED] = index.leaf_pages - index.fanout * (len(upper) - 1)
    pages[leaves, COUNTED] = np.random.default_rng(1).integers(2_000, 8_000, len(leaves))
    pages.tofile(path)


def page_in(data: bytes, offset: int, page: int) -> tuple[int, ...]:
    """Return the numbers in front of one page, out of a read that began at `offset`.

    Raises `DataError` if it is not that page.
    """
    at = page * PAGE_BYTES - offset
    if 0 <= at <= len(data) - PAGE_BYTES:
        numbers = FRONT.unpack_from(data, at)
        if numbers[:NEXT] == (MAGIC, page):
            return numbers
    raise DataError(
        f"Page {page} is not among the {len(data)} bytes read at offset {offset}: the file is cut short or damaged."
        " Measure again, so that it is written anew."
    )


# -- one way of reading it -------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """An index read one of the `INDEX_WAYS` on a device."""

    index: PageIndex
    device: Device
    way: str
    read_bytes: int = PAGE_BYTES
    queue_depth: int = 1

    @property
    def bytes_wanted(self) -> int:
        """Return the bytes of the pages that this way is about, without the map."""
        return PAGE_BYTES * sum(map(len, pages_read(self.index, self.way)))

    def estimate(self) -> Estimate:
        """Return the schedule of the exact reads as named terms: the chain one by one, then the rest side by side."""
        linked, known = reads_of(self.index, self.way, self.read_bytes)
        costs, back_s = readers().costs(), 0.0
        parts = [scheduled(self.device, linked, 1, replace(costs, open_s=0.0, close_s=0.0))]
        if len(known):
            parts.append(scheduled(self.device, known, self.queue_depth, self.side_by_side(costs)))
            waited_s = parts[-1].seconds  # by whoever has handed them over
            back_s = costs.wake_s * waking(waited_s, costs.asleep_s)
        names = ("transfer", "seek", "latency")
        device_s = {name: sum(part.terms_s[name] for part in parts) for name in names}
        own_s = sum(part.terms_s["open"] + part.terms_s["engine"] for part in parts)
        return Estimate(terms_s={**device_s, "readers": own_s + back_s})

    def side_by_side(self, costs: Costs) -> Costs:
        """Return the costs of reads side by side: nobody else runs while one is started or takes a page out."""
        more_s = (self.pages_a_read - 1) * costs.row_s
        return replace(
            costs,
            open_s=self.threads * costs.open_s,
            read_s=costs.read_s + more_s,
            dispatch_s=costs.dispatch_s + more_s,
        )

    @property
    def listed(self) -> int:
        """Return how many reads of known pages there are."""
        return len(reads_of(self.index, self.way, self.read_bytes)[1])

    @property
    def threads(self) -> int:
        """Return how many threads make them."""
        return min(self.listed, self.queue_depth)

    @property
    def pages_a_read(self) -> float:
        """Return how many pages are taken out of each of them, on average."""
        return len(pages_read(self.index, self.way)[1]) / self.listed if self.listed else 1.0

    def measure(self, *, repeats: int = 3) -> Sample:
        """Measure how long it takes on the emulated device.

        The answer is the leaf pages counted, and the share in use of those that were read, if any was.

        Raises `Cancelled` when asked to stop, `DataError` if there is no room; the file is removed in any case.
        """
        filesystem = EmulatedFileSystem(self.device)
        watch = Stopwatch(filesystem)
        threads = ThreadPoolExecutor(self.queue_depth, thread_name_prefix="readahead-reader")
        with store.work_folder("index") as folder, threads as pool:
            write(self.index, folder / "pages")
            together = threading.Barrier(self.queue_depth)  # every thread is started before a clock runs
            list(pool.map(lambda _: together.wait(), range(self.queue_depth)))
            with filesystem.open(str(folder / "pages")) as file, interrupts(filesystem.hurry):
                with filesystem.instant():
                    self._inspect(file, pool)
                for _ in turns(repeats, f": {EXPERIMENT.knob('way').text(self.way)}"):
                    with watch.repeat():
                        counted, found = self._inspect(file, pool)
        upper_only = self.way in (LIMITED, MAP)
        used = None if upper_only else float(np.mean(found)) / PAGE_BYTES
        return watch.sample(answer=(counted or (sum(found) if upper_only else len(found)), used))

    def _inspect(self, file: EmulatedFile, pool: ThreadPoolExecutor) -> tuple[int, list[int]]:
        """Return the leaf pages counted along a chain, if there is one, and what each known page counts."""
        first = self._page(file, 0)[NEXT]
        counted = 0 if self.way in (MAP, COUNT) else self._follow(file, first)
        return counted, self._from_list(file, pool)

    def _page(self, file: EmulatedFile, page: int) -> tuple[int, ...]:
        offset, size = self.index.block(page, self.read_bytes)
        file.seek(offset)
        return page_in(file.read(size), offset, page)

    def _follow(self, file: EmulatedFile, page: int) -> int:
        """Follow the addresses from one upper page to the last, and return how many leaf pages they list."""
        leaves = 0
        while page >= 0:
            check()
            read = self._page(file, page)
            leaves, page = leaves + read[COUNTED], read[NEXT]
        return leaves

    def _from_list(self, file: EmulatedFile, pool: ThreadPoolExecutor) -> list[int]:
        """Read known pages in the order of the file, as many reads at once as there are threads.

        Returns what each of them counts.
        """
        jobs, found = iter(pages_of_reads(self.index, self.way, self.read_bytes)), list[int]()

        def fetch() -> None:
            for (offset, size), pages in jobs:  # one list for all: taking the next one is a single step
                check()
                file.seek(offset)
                data = file.read(size)
                found.extend(page_in(data, offset, page)[COUNTED] for page in pages)

        for done in [pool.submit(carried(fetch)) for _ in range(self.threads)]:
            done.result()
        return found


@functools.lru_cache(maxsize=256)
def pages_read(index: PageIndex, way: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the pages that are read by their links, and those that are read by the map."""
    upper, leaves = layout(index)
    sampled = leaves[:: SAMPLE_EVERY if len(leaves) >= SAMPLE_FROM_PAGES else 1]
    listed = {LIMITED: upper[:0], MAP: upper, SAMPLED: sampled}.get(way, leaves)
    return (upper[:0] if way in (MAP, COUNT) else upper), listed


@functools.lru_cache(maxsize=256)
def pages_of_reads(index: PageIndex, way: str, read_bytes: int) -> list[tuple[Span, list[int]]]:
    """Return the exact reads of known pages in the order of the file, and which pages each is for."""
    wanted = defaultdict[Span, list[int]](list)
    for page in pages_read(index, way)[1].tolist():
        wanted[index.block(page, read_bytes)].append(page)
    return sorted(wanted.items())


@functools.lru_cache(maxsize=256)
def reads_of(index: PageIndex, way: str, read_bytes: int) -> tuple[Ints, Ints]:
    """Return the exact reads, as rows of (offset, size): those of a chain, and those that are known beforehand."""
    chain = [index.block(page, read_bytes) for page in (0, *pages_read(index, way)[0].tolist())]
    return spans_of(chain), spans_of([span for span, _ in pages_of_reads(index, way, read_bytes)])


def scheduled(device: Device, spans: Ints, depth: int, costs: Costs = READER) -> Estimate:
    """Return the schedule of reads by plain readers, `depth` of them under way at a time, on the device's own queue."""
    count = len(spans)
    window = Window(slots=depth, depth=1 if depth == 1 else max(1, count), threads=1, own_reads=True)
    nothing = np.zeros(count, np.int64)  # no rows are decoded
    reads = Reads(footer=spans_of([]), spans=spans, ends=np.arange(1, count + 1), rows=nothing)
    return simulate(device, reads, window=window, costs=costs).estimate


# -- what a reader takes on this machine -----------------------------------------------------------------
NEAR = Device(name="near", latency_s=0.5e-3, bandwidth_bytes_per_s=1e11, channels=64)
NAP, FAR = NEAR.but(latency_s=4e-3), NEAR.but(latency_s=12e-3)
PROBES = (
    Inspection(index=PageIndex(leaf_pages=1_024, fanout=16), device=NEAR, way=LIMITED),
    Inspection(index=PageIndex(leaf_pages=512, fanout=64), device=NAP, way=LIMITED),
    Inspection(index=PageIndex(leaf_pages=512, fanout=64), device=FAR, way=LIMITED),
    Inspection(index=PageIndex(leaf_pages=1_024, fanout=64), device=NEAR, way=COUNT, queue_depth=32),
    Inspection(
        index=PageIndex(leaf_pages=4_096, fanout=64),
        device=NEAR,
        way=COUNT,
        queue_depth=32,
        read_bytes=64 * KiB,
    ),
    Inspection(index=PageIndex(leaf_pages=128, fanout=64), device=NEAR, way=COUNT, queue_depth=128),
    Inspection(index=PageIndex(leaf_pages=512, fanout=512), device=NEAR, way=MAP),
)
CHAINS = 3
"""Reads one by one, the first so many, show the reader's own time, and longer ones what waking takes; then many at once
how they take turns, those of many pages what each page takes, one for each thread what it takes to start it, and a
single one what handing over to a thread takes and back."""


@functools.cache
def readers() -> Calibration[Costs]:
    """Return the calibration of plain readers."""
    return Calibration(
        name="index-readers",
        kind=Costs,
        cases=lambda: [functools.partial(probe.measure, repeats=1) for probe in PROBES],
        read_off=reader_costs,
        typical=lambda: READER,
    )


def reader_costs(samples: Sequence[Sample]) -> Costs:
    """Return what the `PROBES` show, turn after turn.

    `row_s` is for each page of a read but the first, `open_s` for each thread that is started, `close_s` for them all.
    """
    took_s = [
        float(np.median([one.median_s for one in samples[at :: len(PROBES)]])) for at in range(len(PROBES))
    ]
    near_s, nap_s, far_s = (
        seconds / len(reads_of(probe.index, probe.way, probe.read_bytes)[0])
        for seconds, probe in zip(took_s, PROBES[:CHAINS], strict=False)
    )
    read_s = max(0.0, near_s - NEAR.latency_s)
    short_s, wake_s = nap_s - NAP.latency_s - read_s, max(1e-9, far_s - FAR.latency_s - read_s)
    slept = asleep_s(NAP.latency_s, short_s / wake_s)
    wake_s /= waking(FAR.latency_s, slept)
    shared = PROBES[CHAINS:]
    turn_s, thread_s, page_s, close_s = np.linalg.solve(
        [(one.listed - 1, one.threads, one.listed * (one.pages_a_read - 1), 1) for one in shared],
        np.array(took_s[CHAINS:]) - 2 * near_s,  # the page in front, and the last read
    ).tolist()
    alone = {"read_s": read_s, "wake_s": wake_s, "asleep_s": slept}
    return replace(NO_COSTS, **alone, dispatch_s=turn_s, open_s=thread_s, row_s=page_s, close_s=close_s)


# -- a part of a table -----------------------------------------------------------------------------------
METADATA, CHOSEN, TABLESAMPLE, TABLE = "metadata", "chosen", "tablesample", "table"
TABLE_WAYS = (METADATA, CHOSEN, TABLESAMPLE, TABLE)
PARQUET, NATIVE = "parquet", "native"
IN_ORDER, SHUFFLED = "key", "shuffled"
"""The comments' key rises with time."""
COLUMNS = ("creation_date", "score")
GROUPS, BLOCK_BYTES, NATIVE_ROWS = 128, 64 * KiB, 122_880
"""Row groups of the Parquet file; blocks and rows in a row group of the native one, which are DuckDB's own."""
SEED = 7
_FIRST_SECONDS, _SECONDS_A_ROW = 1_800, 5
"""Comments lie five seconds apart, each up to an hour late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCase(Case):
    """A query for the share of rows from the first half of the time, asked of a part of the table."""

    way: str
    """One of `TABLE_WAYS`."""
    sample_share: float
    """Of the row groups (CHOSEN) or of the rows (TABLESAMPLE)."""

    @property
    def native(self) -> bool:
        """Return whether the table is a DuckDB file."""
        return self.recipe.format == NATIVE

    @property
    def one_by_one(self) -> bool:
        """Return whether DuckDB asks for nothing before it is done with the last vector: a sample of its own format."""
        return self.native and self.way == TABLESAMPLE

    def chosen(self) -> list[int]:
        """Return the row groups drawn at random: two or more, or nothing could be said of their spread."""
        groups = self.recipe.row_groups
        count = min(groups, max(2, round(self.sample_share * groups)))
        return sorted(random.Random(SEED).sample(range(groups), count))

    @property
    def cluster_rows(self) -> int:
        """Return how many rows are drawn together: a row group, or for TABLESAMPLE a vector."""
        return self.recipe.effective_row_group_rows if self.way == CHOSEN else VECTOR_ROWS

    @property
    def bytes_wanted(self) -> float:
        """Return the bytes that somebody wants of the table: its metadata, all rows, or a share of them."""
        if self.way == METADATA:
            return expected.shape(self.recipe).footer_bytes
        share = 1 if self.way == TABLE else self.sample_share
        return self.recipe.rows * self.recipe.source.bytes_per_row * share

    def query(self) -> Query:
        """Return the query, for a file that is built; it returns rows and early rows of each cluster, as lists."""
        path = store.location(self.recipe)
        if self.way == METADATA:
            return Query(
                sql="SELECT count(*), min(creation_date), max(creation_date) FROM {table}", path=path
            )
        row, size, part = "rowid" if self.native else "file_row_number", self.cluster_rows, ""
        if self.way == CHOSEN:
            ranges = (f"{row} BETWEEN {g * size} AND {(g + 1) * size - 1}" for g in self.chosen())
            part = f" WHERE {' OR '.join(ranges)}"
        elif self.way == TABLESAMPLE:
            part = f" TABLESAMPLE SYSTEM ({100 * self.sample_share:g} PERCENT) REPEATABLE ({SEED})"
        half = self.recipe.rows * _SECONDS_A_ROW // 2 + _FIRST_SECONDS
        early = f"sum((creation_date < TIMESTAMP '2008-08-01' + to_seconds({half}))::INTEGER)"
        sql = (
            "SELECT list(n ORDER BY c), list(early ORDER BY c), sum(score) FROM ("
            f"SELECT {row} // {size} AS c, count(*) AS n, {early} AS early, sum(score) AS score"
            f" FROM {{table}}{part} GROUP BY c)"
        )
        return Query(sql=sql, path=path)

    # -- what the model says -------------------------------------------------------------------------
    def scan(self) -> Reads:
        """Return the exact reads, of a file that is built first if need be."""
        path = self.build()
        if self.one_by_one:
            every = inspect.vectors(path, COLUMNS)
            blocks = [every[vector] for vector in inspect.sampled(path, 100 * self.sample_share, SEED)]
            return native_reads(blocks, [VECTOR_ROWS] * len(blocks), BLOCK_BYTES, self.device, self.window)
        if self.native:
            found = expected.blocks(self.recipe, COLUMNS)
            return native_reads(
                [b for _, b in found], [n for n, _ in found], BLOCK_BYTES, self.device, self.window
            )
        whole = expected.reads(self.recipe, COLUMNS, self.engine.column_gap_bytes)
        if self.way == METADATA:
            return whole.first(0)
        if self.way == CHOSEN:
            return whole.only(np.isin(np.arange(len(whole.rows)), self.chosen()))
        return whole

    @property
    def window(self) -> Window:
        """Return how many reads and row groups are under way: of a sample, one vector at a time."""
        if self.one_by_one:
            return Window(slots=len(COLUMNS), depth=1, threads=1)
        return self.engine.window

    def predict(self, costs: Costs) -> Timeline:
        """Return the schedule of the reads; a native file is attached before the clock runs."""
        return Case.predict(self, replace(costs, open_s=0.0, open_group_s=0.0) if self.native else costs)

    # -- what the answer is worth --------------------------------------------------------------------
    def early_share(self, sample: Sample) -> tuple[float, float]:
        """Return (share of early rows, half the width of its interval) that the clusters of a sample give."""
        rows, early = (list(part or []) for part in sample.answer[:2])  # type: ignore[call-overload]
        return laws.share_of(rows, early, of_groups=self.recipe.rows // self.cluster_rows)


class IndexPages(TableExperiment):
    """Plain readers inspect an index of pages, or DuckDB is asked for a part of a table."""

    def inspection(self, settings: Settings) -> Inspection:
        """Return how the index is inspected, where not DuckDB is asked."""
        return Inspection(
            index=PageIndex(leaf_pages=settings["leaf_pages"], fanout=settings["fanout"]),
            device=self.device(settings),
            way=settings["way"],
            read_bytes=settings["read_bytes"],
            queue_depth=settings["queue_depth"],
        )

    @once
    def case(self, settings: Settings) -> PartCase:
        """Return what DuckDB is asked for; metadata and chosen row groups are those of a Parquet file."""
        plain, way = super().case(settings), settings["way"]
        whole, stored = plain.recipe, PARQUET if way in (METADATA, CHOSEN) else settings["stored"]
        rows = 2 ** round(np.log2(whole.source.rows[whole.size] / GROUPS))
        file = {"format": stored, "order": settings["order"], "block_bytes": BLOCK_BYTES}
        return PartCase(
            recipe=replace(whole, row_group_rows=NATIVE_ROWS if stored == NATIVE else rows, **file),
            device=plain.device,
            engine=plain.engine,
            way=way,
            sample_share=settings["sample_share"],
        )

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return the calibration of plain readers, or of the engine."""
        return (readers(),) if settings["way"] in INDEX_WAYS else super().calibrations(settings)

    # -- the sources ---------------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the exact reads as named terms."""
        if settings["way"] in INDEX_WAYS:
            return self.inspection(settings).estimate()
        return super().model(settings)

    def counts(self, settings: Settings) -> dict[str, float]:
        """Return the reads and bytes of the inspection, or of what DuckDB is asked for."""
        if settings["way"] not in INDEX_WAYS:
            return super().counts(settings)
        asked = self.inspection(settings)
        spans = np.concatenate(reads_of(asked.index, asked.way, asked.read_bytes))
        return {"reads": len(spans), "bytes_read": int(spans[:, 1].sum())}

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Let plain readers inspect the index, or DuckDB the table, on the emulated device."""
        if settings["way"] in INDEX_WAYS:
            readers().ensure()
            return self.inspection(settings).measure(repeats=repeats)
        return super().measure(settings, repeats)

    def work(self, settings: Settings) -> float:
        """Return the bytes that somebody wants."""
        asked = self.inspection if settings["way"] in INDEX_WAYS else self.case
        return float(asked(settings).bytes_wanted)


EXPERIMENT = experiment(IndexPages, __file__, "Reading the index: avoiding bytes is not avoiding time")
