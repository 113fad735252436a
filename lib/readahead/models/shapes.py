"""Where the row groups of a Parquet file lie and how long their column chunks are: all that a model needs of it.

`readahead.datasets.inspect` reads them from a real file, `readahead.datasets.expected` tells them of one that is not
there yet.
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
