"""The very reads that DuckDB 2.0 will issue to scan a Parquet file, from where the file's parts lie."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from readahead.units import KiB

Ints = NDArray[np.int64]
Span = tuple[int, int]
"""(offset, length) in bytes."""


def spans_of(reads: Sequence[Span] | Ints) -> Ints:
    """Return reads as an array of two columns: offset, length."""
    return np.array(reads, np.int64).reshape(-1, 2)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reads:
    """The reads of a scan: the footer's, one after the other, and those of row groups of so many rows each."""

    footer: Ints
    """(offset, length) of each."""
    spans: Ints
    """The same of all row groups, in file order."""
    ends: Ints
    """For each row group, how many of `spans` there are up to its end: as many as before if it is not read."""
    rows: Ints
    keys: int = 0
    """Rows that are looked up by their keys."""
    probes: Ints = field(default_factory=lambda: spans_of([]))
    """For each row group, the Bloom filter that is asked before it, of length 0 for none; empty if none is asked."""
    late: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """For each row group, how many of its reads come last, when its filters have let a row pass; empty if none do."""
    passed_rows: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    """For each row group, how many of its rows lie in vectors that a filter leaves no row of; empty if that is not told
    of, as where nothing is filtered: of them only what is filtered is decoded, and the rest is passed over."""
    more_reads: int = 0
    """So many reads more or less it may be, and `moved_bytes`, where the engine goes by its clock."""
    moved_bytes: int = 0

    @classmethod
    def of(
        cls, footer: Sequence[Span] | Ints, groups: Sequence[Sequence[Span]], rows: Sequence[int] | Ints
    ) -> Reads:
        """Return the reads of row groups that are lists of (offset, length)."""
        return cls(
            footer=spans_of(footer),
            spans=spans_of([span for spans in groups for span in spans]),
            ends=np.cumsum([len(spans) for spans in groups], dtype=np.int64),
            rows=np.array(rows, np.int64),
        )

    @functools.cached_property
    def counts(self) -> Ints:
        """Return the reads of each row group."""
        return np.diff(self.ends, prepend=0)

    @functools.cached_property
    def sizes(self) -> Ints:
        """Return the bytes that are read of each row group."""
        before = np.append(0, np.cumsum(self.spans[:, 1]))
        return np.diff(before[self.ends], prepend=0)

    @functools.cached_property
    def is_read(self) -> NDArray[np.bool_]:
        """Return whether each row group is read."""
        return self.counts > 0

    @functools.cached_property
    def read_groups(self) -> int:
        """Return how many row groups are read."""
        return int(self.is_read.sum())

    @functools.cached_property
    def count(self) -> int:
        """Return the number of all reads."""
        return len(self.footer) + len(self.spans) + int(np.count_nonzero(self.probes[:, 1]))

    @functools.cached_property
    def data_bytes(self) -> int:
        """Return the bytes of all but the footer."""
        return int(self.spans[:, 1].sum() + self.probes[:, 1].sum())

    @functools.cached_property
    def bytes_read(self) -> int:
        """Return the bytes of all reads."""
        return int(self.footer[:, 1].sum()) + self.data_bytes

    @property
    def listed(self) -> list[Span]:
        """Return every read but the filters as (offset, length), the footer's first."""
        return [(offset, size) for offset, size in (*self.footer.tolist(), *self.spans.tolist())]

    @property
    def groups(self) -> list[list[Span]]:
        """Return the reads of each row group as (offset, length)."""
        spans = [(offset, size) for offset, size in self.spans.tolist()]
        return [spans[end - count : end] for end, count in zip(self.ends, self.counts, strict=True)]

    def only(self, wanted: NDArray[np.bool_]) -> Reads:
        """Return the same with only some row groups read; the others still count as groups."""
        counts = self.counts
        return replace(
            self,
            spans=self.spans[np.repeat(wanted, counts)],
            ends=np.cumsum(np.where(wanted, counts, 0)),
        )

    def first(self, groups: int) -> Reads:
        """Return the same of a file that ends after so many row groups."""
        ends = self.ends[:groups]
        return replace(
            self,
            spans=self.spans[: ends[-1] if len(ends) else 0],
            ends=ends,
            rows=self.rows[:groups],
            probes=self.probes[:groups],
            passed_rows=self.passed_rows[:groups],
        )


def distinct(places: float, rows: float) -> float:
    r"""Return how many places random rows are expected to fall in, when a row may come twice.

    .. math:: m \left(1 - \left(1 - 1/m\right)^k\right)

    where m (`places`) are pages, row groups or values of a dictionary, and k (`rows`) the rows: a place is missed by
    one row with 1 - 1/m, and by all k of them with (1 - 1/m)^k.

    Source: A. F. Cardenas, Analysis and Performance of Inverted Data Base Structures, 1975.
    """
    if places <= 1:
        return min(float(rows), 1.0)
    return -places * math.expm1(rows * math.log1p(-1.0 / places))


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnChunk:
    """One column of one row group: a run of bytes in the file."""

    column: str
    offset: int
    """First byte in the file."""
    size_bytes: int
    """Compressed length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGroup:
    """The unit of a scan: so many rows, one chunk per column, in file order."""

    rows: int
    chunks: tuple[ColumnChunk, ...]

    @property
    def size_bytes(self) -> int:
        """Return the compressed bytes of all columns."""
        return sum(chunk.size_bytes for chunk in self.chunks)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileShape:
    """A Parquet file as a reader sees it."""

    size_bytes: int
    footer_bytes: int
    """Length of the metadata at the end, without its 8 closing bytes."""
    row_groups: tuple[RowGroup, ...]


WHOLE_GROUP_SHARE = 0.95
"""A group is read in one piece when more than this share of its bytes is wanted."""
FOOTER_GUESS_LOW, FOOTER_GUESS_HIGH = 16 * KiB, 256 * KiB


def footer_reads(size_bytes: int, footer_bytes: int) -> list[Span]:
    """Return the reads, one after the other, that fetch the footer of a file.

    DuckDB guesses a thousandth of the file, between 16 and 256 KiB, rounded up to a power of two; if the footer
    is longer than the guess, it is read again at its true length (DuckDB 2.0, parquet_reader.cpp).
    """
    guess = min(max(size_bytes // 1000, FOOTER_GUESS_LOW), FOOTER_GUESS_HIGH)
    guess = min(1 << (guess - 1).bit_length(), size_bytes)
    reads = [(size_bytes - guess, guess)]
    if footer_bytes + 8 > guess:
        reads.append((size_bytes - 8 - footer_bytes, footer_bytes))
    return reads


def group_reads(group: RowGroup, columns: Iterable[str], gap_bytes: int) -> list[Span]:
    """Return the reads of one row group for the wanted columns, which are asked for in this order.

    `gap_bytes` is the longest hole that is read through rather than jumped.
    """
    wanted = _chunks(group, columns)
    if sum(chunk.size_bytes for chunk in wanted) > WHOLE_GROUP_SHARE * group.size_bytes:
        start = min(chunk.offset for chunk in group.chunks)
        return [(start, max(chunk.offset + chunk.size_bytes for chunk in group.chunks) - start)]
    return _merged(wanted, gap_bytes)


def _chunks(group: RowGroup, columns: Iterable[str]) -> list[ColumnChunk]:
    known = {chunk.column: chunk for chunk in group.chunks}
    return [known[column] for column in columns if column in known]


def _merged(chunks: Iterable[ColumnChunk], gap_bytes: int) -> list[Span]:
    """Return the reads of column chunks, as they are asked for: each chunk joins the first read in the file that is
    near enough, or is one of its own, which is asked for before all that were there. Two reads that have come near each
    other through a third chunk stay two (DuckDB 2.0, thrift_tools.hpp).
    """
    reads: list[Span] = []
    for chunk in chunks:
        low, high = chunk.offset, chunk.offset + chunk.size_bytes
        near = [
            at
            for at, (offset, size) in enumerate(reads)
            if low - (offset + size) <= gap_bytes and offset - high <= gap_bytes
        ]
        if near:
            at = min(near, key=reads.__getitem__)
            offset, size = reads[at]
            low, high = min(low, offset), max(high, offset + size)
            reads[at] = low, high - low
        else:
            reads.insert(0, (low, high - low))
    return reads


MATCHES_ENOUGH = 0.9
"""Filters go first once not more than this share of row groups had a row that passed them."""
FIRST_TRIAL, TRIAL, BETWEEN_TRIALS = 25, 10, 30
"""After so many vectors a reader tries its filters in another order for the first time; so many it does, and then its
clock says which order is kept; and after so many it tries again."""


def passes(kept: Sequence[int], filters: int) -> bool:
    """Return whether rows of a row group are left after all of so many filters, see `kept` of `filtered_reads`."""
    return any(left >> (1 << filters) - 1 & 1 for left in kept)


@dataclass(slots=True)
class _Reader:
    """What one of the readers, which take row groups in turns, has seen of the filters."""

    order: list[int]
    """In which it asks them."""
    groups: int = 0
    matched: int = 0
    vectors: int = 0
    emptied: set[int] = field(default_factory=set)
    """The filters after which no row of a vector was left: what is behind one of them is read apart."""

    def pass_through(self, kept: Sequence[int]) -> None:
        """Pass a row group through the filters, vector by vector, now and then in another order.

        Two neighbours change places. DuckDB draws which, and takes the old order again where its clock tells it to;
        here it is each pair in turn, and the new order stays: in 60 runs of 12 queries so many reads came in the mean,
        to within 9 %, as are told so.
        """
        pairs = len(self.order) - 1
        for left in kept:
            asked = 0
            for one in self.order:
                asked |= 1 << one
                if not left >> asked & 1:
                    self.emptied.add(one)
                    break
            self.vectors += 1
            trial, before = divmod(self.vectors - FIRST_TRIAL, BETWEEN_TRIALS)
            if pairs and trial >= 0 and before == 0:
                pair = trial % pairs
                self.order[pair : pair + 2] = self.order[pair : pair + 2][::-1]
        self.groups, self.matched = self.groups + 1, self.matched + passes(kept, len(self.order))

    def parts(self) -> list[list[int]]:
        """Return which filters are read together, in their order."""
        parts: list[list[int]] = [[]]
        for one in self.order:
            parts[-1].append(one)
            if one in self.emptied:
                parts.append([])
        return [part for part in parts if part]

    def moved(self) -> int:
        """Return by how many reads of a row group its filters may differ from what is told: hangs on the clock."""
        count, parts = len(self.order), len(self.parts())
        if count == 2:
            certain = self.vectors < FIRST_TRIAL + TRIAL or len(self.emptied) == count
        else:
            certain = count == 1 or self.vectors < FIRST_TRIAL
        if certain:
            return 0
        return max(count - parts, parts - 1)


def filtered_reads(
    shape: FileShape, found: Reads, columns: Sequence[str], filters: Sequence[str],
    kept: Sequence[Sequence[int]], *,
    gap_bytes: int, depth: int,
) -> Reads:  # fmt: skip
    """Return the reads of `found` when a reader whose groups often have no row that passes reads the filters first.

    `depth` readers take the row groups that are read in turns, and each knows its own past. While more than
    `MATCHES_ENOUGH` of its groups had a row that passed, it reads all columns at once; else the columns of `filters`,
    and the rest only if a row passes. With these it begins where the rest alone counts as the whole group, else with
    all. What comes behind a filter that once left no row of a vector is read apart. Which chunks are joined hangs on
    the order in which they are met, see `_merged`: that of `columns`, or where filters go first, of `filters`.
    `kept` says for each row group and each of its vectors which filters together leave a row: bit `s` for those whose
    own bits are in `s`.
    After 25 vectors a reader tries the filters in another order and keeps the faster one on its clock: `more_reads` and
    `moved_bytes` bound what that may change. Of two that both have left no row, it changes nothing.
    Source: DuckDB 2.0, parquet_reader.cpp, adaptive_filter.cpp and its log ParquetPrefetch.
    """
    readers = [_Reader([*range(len(filters))]) for _ in range(depth)]
    groups, late, more_reads, moved_bytes = found.groups, np.zeros_like(found.ends), 0, 0
    for turn, number in enumerate(np.flatnonzero(found.is_read).tolist()):
        reader, group = readers[turn % depth], shape.row_groups[number]
        others = _chunks(group, (c for c in columns if c not in filters))
        large = sum(c.size_bytes for c in others) > WHOLE_GROUP_SHARE * group.size_bytes
        if filters and reader.matched <= MATCHES_ENOUGH * reader.groups and (reader.groups or large):
            first = [
                read
                for part in reader.parts()
                for read in _merged(_chunks(group, [filters[one] for one in part]), gap_bytes)
            ]
            if moved := reader.moved():
                more_reads += moved
                moved_bytes += sum(size for _, size in first)
            rest = _merged(others, gap_bytes) if passes(kept[number], len(filters)) else []
            groups[number], late[number] = first + rest, len(rest)
        reader.pass_through(kept[number])
    told = Reads.of(found.footer, groups, found.rows)
    late = late if late.any() else told.late
    return replace(told, late=late, more_reads=more_reads, moved_bytes=moved_bytes)


def scan_reads(shape: FileShape, columns: Collection[str], gap_bytes: int = 16_384) -> Reads:
    """Return the reads of a scan of the wanted columns; a test holds them to the trace of the real engine.

    First the footer, which says where everything lies; then, for each row group, one read per run of wanted column
    chunks.
    """
    groups = [group_reads(group, columns, gap_bytes) for group in shape.row_groups]
    footer = footer_reads(shape.size_bytes, shape.footer_bytes)
    return Reads.of(footer, groups, [group.rows for group in shape.row_groups])


FIRST_BYTE = 4
"""Where the first row group of a Parquet file begins, behind the format's mark."""


def even_group(widths: Sequence[tuple[str, float]], rows: int, first_byte: int = FIRST_BYTE) -> RowGroup:
    """Return a row group of columns with so many bytes a row, one behind the other."""
    sizes = [max(1, round(width * rows)) for _, width in widths]
    starts = itertools.accumulate(sizes, initial=first_byte)
    chunks = (
        ColumnChunk(column=name, offset=start, size_bytes=size)
        for (name, _), size, start in zip(widths, sizes, starts, strict=False)
    )
    return RowGroup(rows=rows, chunks=tuple(chunks))


def even_reads(
    widths: Sequence[tuple[str, float]],
    rows: int,
    group_rows: int,
    columns: Collection[str],
    *,
    gap_bytes: int,
    footer_bytes_per_group: float,
) -> Reads:
    """Return the reads of a file that is not there: row groups alike, of columns with so many bytes a row.

    Every row group has `group_rows` rows but the last, which has what is left.
    """
    count = max(1, -(-rows // group_rows))
    left = rows - group_rows * (count - 1)
    group = even_group(widths, group_rows)
    full, last = (group_reads(one, columns, gap_bytes) for one in (group, even_group(widths, left)))
    step, footer = group.size_bytes, int(count * footer_bytes_per_group)
    size = FIRST_BYTE + count * step + footer + 12
    starts = step * np.arange(count)
    groups = spans_of(full)[None] + np.stack([starts, np.zeros_like(starts)], axis=1)[:-1, None]
    return Reads(
        footer=spans_of(footer_reads(size, footer)),
        spans=np.concatenate([groups.reshape(-1, 2), spans_of(last) + np.array([starts[-1], 0])]),
        ends=np.append(len(full) * np.arange(1, count), len(full) * (count - 1) + len(last)),
        rows=np.append(np.full(count - 1, group_rows), left),
    )
