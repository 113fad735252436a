"""A file seen from far away: where its row groups lie and how long their column chunks are.

These are the only facts of a file that a model needs. `readahead.datasets.inspect` reads them from a
real file; a model can also make them up for a file that does not exist yet.
"""

from __future__ import annotations

from dataclasses import dataclass


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

    @property
    def rows(self) -> int:
        """Return the rows of all row groups."""
        return sum(group.rows for group in self.row_groups)
