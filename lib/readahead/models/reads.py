"""What a scan reads, as arrays: offsets and sizes, and which row group each read belongs to."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

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
    def is_read(self) -> NDArray[np.bool_]:
        """Return whether each row group is read."""
        return self.counts > 0

    @functools.cached_property
    def read_groups(self) -> int:
        """Return how many row groups are read."""
        return int(self.is_read.sum())

    @functools.cached_property
    def read_rows(self) -> int:
        """Return how many rows are decoded."""
        return int(self.rows[self.is_read].sum())

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
        )
