"""A treasure hunt, and a shopping list. In the hunt each note says where the next one lies, so nobody can run ahead;
with a list everybody can go at once. Both fetch the same pages.

Plain readers inspect a real file of pages (`datasets.page_index`) through the emulated device's own open and read, as
a database inspects an index. What is read next comes from the bytes that were read, never from what we know.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from readahead import paths
from readahead.chapters.index_pages.laws import COUNT, DETAILED, LIMITED, MAP, leaves_to_sample
from readahead.chapters.index_pages.page_index import PAGE_BYTES, Page, PageIndex, page_in, write
from readahead.devices import Device
from readahead.errors import DataError
from readahead.measure.machine import this_machine
from readahead.measure.sample import Sample
from readahead.models.parquet_reads import Span
from readahead.running import carried, check, interrupts, tell
from readahead.storage.emulated import EmulatedFile, EmulatedFileSystem

_NEWS = 64
"""Pages from one piece of news to the next."""


def run_index(
    index: PageIndex,
    device: Device,
    *,
    way: str,
    read_bytes: int = PAGE_BYTES,
    queue_depth: int = 1,
    repeats: int = 3,
    facts: Mapping[str, object] | None = None,
) -> Sample:
    """Measure how long it takes to inspect an index one of the `INDEX_WAYS`.

    The answer is (share of leaf pages out of order, or None, leaf pages counted, mean share of a leaf page in use, or
    None). Raises `Cancelled` when asked to stop, `DataError` if there is no room; the file goes away in any case.
    """
    filesystem = EmulatedFileSystem(device)
    seconds, cpu = [], []
    with _file(index) as path, filesystem.open(str(path)) as file, _hands(queue_depth) as pool:
        walk = _Walk(index, file, pool, queue_depth, way, read_bytes)
        with interrupts(filesystem.hurry):
            with filesystem.instant():
                walk.run()
            for repeat in range(repeats):
                check()
                tell(repeat, repeats, f"run {repeat + 1} of {repeats}: {way}")
                filesystem.fresh()
                start_s, cpu_s = time.perf_counter(), time.process_time()
                answer = walk.run()
                seconds.append(time.perf_counter() - start_s)
                cpu.append(max(0.0, time.process_time() - cpu_s - filesystem.spun_s))
            check()
        reads = filesystem.trace.reads(start_s=start_s)
    tell(repeats, repeats, "done")
    return Sample(
        seconds=tuple(seconds),
        cpu_s=tuple(cpu),
        reads=reads,
        bytes_read=sum(read.size_bytes for read in reads),
        row_groups_scanned=0,
        row_groups_total=0,
        answer=answer,
        where="emulated device",
        machine=this_machine(),
        settings=dict(facts or {}),
    )


@contextmanager
def _file(index: PageIndex) -> Iterator[Path]:
    """Write the index, and remove it afterwards."""
    folder = paths.work_dir()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(prefix="index-", suffix=".part", dir=folder)
    except OSError as error:
        raise _no_room(folder, index, error) from error
    os.close(number)
    path = Path(name)
    try:
        try:
            write(index, path)
        except OSError as error:
            raise _no_room(folder, index, error) from error
        yield path
    finally:
        path.unlink(missing_ok=True)


def _no_room(folder: Path, index: PageIndex, error: OSError) -> DataError:
    return DataError(
        f"An index of {index.size_bytes:,} bytes could not be written to {folder}: {error.strerror or error}."
        " It needs a folder with room that can be written. Free some space, or set READAHEAD_CACHE to another one."
    )


@contextmanager
def _hands(count: int) -> Iterator[ThreadPoolExecutor]:
    """Keep `count` threads ready, all started before any clock runs."""
    with ThreadPoolExecutor(count, thread_name_prefix="readahead-hand") as pool:
        together = threading.Barrier(count)
        for waiting in [pool.submit(together.wait) for _ in range(count)]:
            waiting.result()
        yield pool


@dataclass(slots=True)
class _Walk:
    """One inspection, to be repeated."""

    index: PageIndex
    file: EmulatedFile
    pool: ThreadPoolExecutor
    depth: int
    way: str
    read_bytes: int

    def run(self) -> tuple[object, ...]:
        """Inspect once and return what was found."""
        front = self._page(0)
        upper, leaves = front.map()
        order: list[np.ndarray] = []
        if self.way == MAP:
            found = self._spread(upper.tolist())
            return None, sum(len(page.listed) for page in found), None
        if self.way != COUNT:
            order = self._follow(front.next)
        fill = None
        if self.way != LIMITED:
            every = leaves if self.way in (COUNT, DETAILED) else leaves[leaves_to_sample(len(leaves))]
            fill = float(np.mean([page.used for page in self._spread(every.tolist())]))
        if not order:
            return None, len(leaves), fill
        keys = np.concatenate(order)
        return float(np.mean(np.diff(keys) < 0)), len(keys), fill

    def _page(self, page: int) -> Page:
        offset, size = self.index.block(page, self.read_bytes)
        self.file.seek(offset)
        return page_in(self.file.read(size), offset, page)

    def _follow(self, page: int) -> list[np.ndarray]:
        """Follow the addresses from one upper page to the last, and return what each lists."""
        found: list[np.ndarray] = []
        while page >= 0:
            if len(found) % _NEWS == 0:
                check()
                tell(len(found), self.index.upper_pages, "following the links")
            read = self._page(page)
            found.append(read.listed)
            page = read.next
        return found

    def _spread(self, pages: Sequence[int]) -> list[Page]:
        """Read known pages in the order of the file, as many reads at once as there are hands."""
        wanted: dict[Span, list[int]] = {}
        for page in pages:
            wanted.setdefault(self.index.block(page, self.read_bytes), []).append(page)
        jobs = iter(sorted(wanted))
        found: list[Page] = []
        check()
        tell(0, len(wanted), "reading by the map")

        def fetch() -> None:
            for offset, size in jobs:  # one list for all: taking the next one is a single step
                check()
                self.file.seek(offset)
                data = self.file.read(size)
                found.extend(page_in(data, offset, page) for page in wanted[offset, size])

        for hand in [self.pool.submit(carried(fetch)) for _ in range(min(len(wanted), self.depth))]:
            hand.result()
        return found
