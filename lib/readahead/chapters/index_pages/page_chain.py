"""An index of linked pages: its file, the plain readers that inspect it, and the schedule of their reads.

The file is the lower part of a B-tree: leaf pages, pages above that count them and hold the next one's address, and in
front a page for the map of which page is which. By the links, what is read next comes out of the bytes read.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from readahead.chapters.index_pages.laws import DISPATCH_S, PAGE_BYTES, READER_S, leaves_to_sample
from readahead.datasets import store
from readahead.devices import Device
from readahead.errors import DataError
from readahead.measure.run import Stopwatch
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.models.reads import Ints, Reads, Span, spans_of
from readahead.models.schedule import Costs, Window, simulate
from readahead.running import carried, check, interrupts, tell, turns
from readahead.storage.emulated import EmulatedFile, EmulatedFileSystem

LIMITED, MAP, SAMPLED, DETAILED, COUNT = "limited", "map", "sampled", "detailed", "count"
INDEX_WAYS = {
    LIMITED: "links",
    MAP: "map",
    SAMPLED: "links, 1 leaf in 100",
    DETAILED: "links, all leaves",
    COUNT: "all leaves",
}
"""The pages above the leaves by their links (LIMITED), the same pages by the map, LIMITED with a sample of the leaves
(SAMPLED) or with all of them (DETAILED); all leaves by the map alone, as COUNT(*) has to."""
MAGIC = 0x52454144_50414745
READER = Costs(
    plan_s=0, open_s=0, open_group_s=0, read_s=READER_S, dispatch_s=DISPATCH_S, group_s=0, row_s=0, close_s=0
)
"""What a plain reader takes: nothing but the time to ask."""
NEXT, COUNTED = 2, 3
"""What stands behind the magic and a page's own number: which page is next (in front the first; below 0 none), and how
many leaf pages lie below, or bytes are in use."""
Numbers = np.ndarray


# -- the file --------------------------------------------------------------------------------------------
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
def layout(index: PageIndex) -> tuple[Numbers, Numbers]:
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


def page_in(data: bytes, offset: int, page: int) -> Numbers:
    """Return one page out of a read that began at `offset`. Raises `DataError` if it is not that page."""
    at = page * PAGE_BYTES - offset
    if 0 <= at <= len(data) - PAGE_BYTES:
        numbers = np.frombuffer(data, np.int64, PAGE_BYTES // 8, at)
        if (int(numbers[0]), int(numbers[1])) == (MAGIC, page):
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
        chain, rest = scheduled(self.device, linked, 1), scheduled(self.device, known, self.queue_depth)
        names = {"transfer": "transfer", "seek": "seek", "latency": "latency", "engine": "readers"}
        return Estimate(terms_s={said: chain.terms_s[n] + rest.terms_s[n] for n, said in names.items()})

    def measure(self, *, repeats: int = 3, facts: Mapping[str, object] | None = None) -> Sample:
        """Measure how long it takes on the emulated device; the answer is what `_Reader.run` returns.

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
                reader = _Reader(self, file, pool)
                with filesystem.instant():
                    reader.run()
                for _ in turns(repeats, f": {INDEX_WAYS[self.way]}"):
                    with watch.repeat():
                        answer = reader.run()
        return watch.sample(answer=answer, settings=dict(facts or {}))


@functools.lru_cache(maxsize=256)
def pages_read(index: PageIndex, way: str) -> tuple[Numbers, Numbers]:
    """Return the pages that are read by their links, and those that are read by the map."""
    upper, leaves = layout(index)
    sampled = np.sort(leaves)[leaves_to_sample(len(leaves))]
    listed = {LIMITED: upper[:0], MAP: upper, SAMPLED: sampled}.get(way, leaves)
    return (upper[:0] if way in (MAP, COUNT) else upper), listed


@functools.lru_cache(maxsize=256)
def reads_of(index: PageIndex, way: str, read_bytes: int) -> tuple[Ints, Ints]:
    """Return the exact reads, as rows of (offset, size): those of a chain, and those that are known beforehand."""
    linked, listed = pages_read(index, way)
    chain = [index.block(page, read_bytes) for page in (0, *linked.tolist())]
    known = sorted({index.block(page, read_bytes) for page in listed.tolist()})
    return spans_of(chain), spans_of(known)


def scheduled(device: Device, spans: Ints, depth: int) -> Estimate:
    """Return the schedule of reads by plain readers, `depth` of them under way at a time, on the device's own queue."""
    count = len(spans)
    window = Window(slots=depth, depth=1 if depth == 1 else max(1, count), threads=1)
    nothing = np.zeros(count, np.int64)  # no rows are decoded
    reads = Reads(footer=spans_of([]), spans=spans, ends=np.arange(1, count + 1), rows=nothing)
    return simulate(device, reads, window=window, costs=READER).estimate


@dataclass(slots=True)
class _Reader:
    """One inspection of an open file, to be repeated."""

    asked: Inspection
    file: EmulatedFile
    pool: ThreadPoolExecutor

    def run(self) -> tuple[object, ...]:
        """Inspect once; return the leaf pages counted, and the share in use of those that were read, if any was."""
        way, first = self.asked.way, int(self._page(0)[NEXT])
        counted = 0 if way in (MAP, COUNT) else self._follow(first)
        used = [int(page[COUNTED]) for page in self._from_list(pages_read(self.asked.index, way)[1].tolist())]
        if way in (LIMITED, MAP):
            return counted or sum(used), None
        return counted or len(used), float(np.mean(used)) / PAGE_BYTES

    def _page(self, page: int) -> Numbers:
        offset, size = self.asked.index.block(page, self.asked.read_bytes)
        self.file.seek(offset)
        return page_in(self.file.read(size), offset, page)

    def _follow(self, page: int) -> int:
        """Follow the addresses from one upper page to the last, and return how many leaf pages they list."""
        seen = leaves = 0
        while page >= 0:
            if seen % 64 == 0:  # an event for each page would be more than anybody can show
                check()
                tell(seen, self.asked.index.upper_pages, "following the links")
            read = self._page(page)
            seen, leaves, page = seen + 1, leaves + int(read[COUNTED]), int(read[NEXT])
        return leaves

    def _from_list(self, pages: Sequence[int]) -> list[Numbers]:
        """Read known pages in the order of the file, as many reads at once as there are threads."""
        wanted: dict[Span, list[int]] = {}
        for page in pages:
            wanted.setdefault(self.asked.index.block(page, self.asked.read_bytes), []).append(page)
        jobs = iter(sorted(wanted))
        found: list[Numbers] = []
        check()
        tell(0, len(wanted), "reading by the map")

        def fetch() -> None:
            for offset, size in jobs:  # one list for all: taking the next one is a single step
                check()
                self.file.seek(offset)
                data = self.file.read(size)
                found.extend(page_in(data, offset, page) for page in wanted[offset, size])

        threads = min(len(wanted), self.asked.queue_depth)
        for done in [self.pool.submit(carried(fetch)) for _ in range(threads)]:
            done.result()
        return found
