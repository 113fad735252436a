"""A book whose index was written by sixteen people at once. Every page of the index says which page of it comes next,
and the next one is seldom the one beside it.

The file is a small B-tree level as a database keeps it: leaf pages, above them pages that list them in the order of
their keys, each of which holds the address of the next, and in front a map of which page is which. Whoever follows the
addresses must have a page before it knows the next; whoever reads the map knows them all.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from readahead.errors import DataError, require_range
from readahead.models.parquet_reads import Span

PAGE_BYTES = 8_192
MAGIC = 0x52454144_50414745
FRAGMENTED = 0.4
"""The share of leaf pages that page splits have put elsewhere."""
_HEADER = 4
"""Numbers of eight bytes: the magic, this page's number, a number of its own kind, how many entries."""
_NONE = -1
Numbers = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class PageIndex:
    """An index of so many leaf pages, with so many of them listed on a page above."""

    leaf_pages: int
    fanout: int

    def __post_init__(self) -> None:
        advice = "Give a whole number of pages."
        require_range("leaf_pages", self.leaf_pages, low=2, high=32_768, advice=advice)
        require_range("fanout", self.fanout, low=2, high=622, advice=advice)

    @property
    def upper_pages(self) -> int:
        """Return how many pages list the leaf pages."""
        return -(-self.leaf_pages // self.fanout)

    @property
    def pages(self) -> int:
        """Return the pages of the file, with the map in front."""
        return 1 + self.upper_pages + self.leaf_pages

    @property
    def size_bytes(self) -> int:
        """Return the length of the file."""
        return self.pages * PAGE_BYTES

    def block(self, page: int, read_bytes: int) -> Span:
        """Return the (offset, size) of the aligned read of `read_bytes` that has a page in it."""
        start = page * PAGE_BYTES // read_bytes * read_bytes
        return start, min(read_bytes, self.size_bytes - start)

    def blocks(self, pages: Iterable[int], read_bytes: int) -> list[Span]:
        """Return the reads that have these pages in them, each once, in the order of the file."""
        return sorted({self.block(int(page), read_bytes) for page in pages})


@functools.lru_cache(maxsize=32)
def layout(index: PageIndex) -> tuple[Numbers, Numbers]:
    """Return (upper pages, leaf pages), each the page numbers in the order of their keys; the same every time."""
    rng = np.random.default_rng(16)
    slots = 1 + np.arange(index.upper_pages) * (index.fanout + 1)
    leaves = np.setdiff1d(np.arange(1, index.pages), slots)
    torn = np.flatnonzero(rng.random(len(leaves)) < FRAGMENTED)
    leaves[torn] = leaves[rng.permutation(torn)]
    return rng.permutation(slots), leaves


def write(index: PageIndex, path: Path) -> None:
    """Write the file, each page in its place."""
    upper, leaves = layout(index)
    pages = np.zeros((index.pages, PAGE_BYTES // 8), np.int64)
    pages[:, 0], pages[:, 1] = MAGIC, np.arange(index.pages)
    kinds = np.zeros(index.pages, bool)
    kinds[upper] = True
    room = pages[0, _HEADER:].view(np.uint8)
    bits = np.packbits(kinds)
    room[: len(bits)] = bits
    pages[0, 2:_HEADER] = upper[0], index.pages
    pages[upper, 2] = [*upper[1:], _NONE]
    for number, page in enumerate(upper):
        listed = leaves[number * index.fanout : (number + 1) * index.fanout]
        pages[page, 3] = len(listed)
        pages[page, _HEADER : _HEADER + len(listed)] = listed
    pages[leaves, 3] = np.random.default_rng(1).integers(2_000, 8_000, len(leaves))  # bytes in use
    pages.tofile(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page, as it was read."""

    numbers: Numbers

    @property
    def next(self) -> int:
        """Return the page that comes next in the order of keys, or a number below 0; on the map, the first one."""
        return int(self.numbers[2])

    @property
    def listed(self) -> Numbers:
        """Return the leaf pages that an upper page lists."""
        return self.numbers[_HEADER : _HEADER + int(self.numbers[3])]

    @property
    def used(self) -> float:
        """Return the share of a leaf page that is in use."""
        return int(self.numbers[3]) / PAGE_BYTES

    def map(self) -> tuple[Numbers, Numbers]:
        """Return (upper pages, leaf pages) of the file, in its order, from the page in front."""
        count = int(self.numbers[3])
        kinds = np.unpackbits(self.numbers[_HEADER:].view(np.uint8), count=count)
        return np.flatnonzero(kinds), 1 + np.flatnonzero(kinds[1:] == 0)


def page_in(data: bytes, offset: int, page: int) -> Page:
    """Return one page out of a read that began at `offset`. Raises `DataError` if it is not that page."""
    at = page * PAGE_BYTES - offset
    if 0 <= at <= len(data) - PAGE_BYTES:
        numbers = np.frombuffer(data, np.int64, PAGE_BYTES // 8, at)
        if (int(numbers[0]), int(numbers[1])) == (MAGIC, page):
            return Page(numbers=numbers)
    raise DataError(
        f"Page {page} is not among the {len(data)} bytes read at offset {offset}: the file is cut short or damaged."
        " Measure again, so that it is written anew."
    )
