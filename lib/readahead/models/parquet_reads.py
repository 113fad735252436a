"""The very reads that DuckDB 2.0 will issue to scan a Parquet file.

First the footer, which says where everything lies; then, for each row group, one read per run of wanted column
chunks. Runs with a small hole between them become one read, and a group of which nearly everything is wanted
is read whole. The reads are exact: a test holds them to the trace of the real engine.

One case is left out: for a single key DuckDB compares with `=`, and where the key column is under a twentieth of
the group it reads that first and the rest when a row was found, in two reads instead of one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from readahead.models.reads import Reads, Span, spans_of
from readahead.models.shapes import ColumnChunk, FileShape, RowGroup
from readahead.units import KiB

WHOLE_GROUP_SHARE = 0.95
"""A group is read in one piece when more than this share of its bytes is wanted."""
FOOTER_GUESS_LOW, FOOTER_GUESS_HIGH = 16 * KiB, 256 * KiB


def footer_reads(shape: FileShape) -> list[Span]:
    """Return the reads, one after the other, that fetch the footer.

    DuckDB guesses a thousandth of the file, between 16 and 256 KiB, rounded up to a power of two; if the footer
    is longer than the guess, it is read again at its true length (DuckDB 2.0, parquet_reader.cpp).
    """
    guess = min(max(shape.size_bytes // 1000, FOOTER_GUESS_LOW), FOOTER_GUESS_HIGH)
    guess = min(1 << (guess - 1).bit_length(), shape.size_bytes)
    reads = [(shape.size_bytes - guess, guess)]
    if shape.footer_bytes + 8 > guess:
        reads.append((shape.size_bytes - 8 - shape.footer_bytes, shape.footer_bytes))
    return reads


def group_reads(group: RowGroup, columns: Collection[str], gap_bytes: int) -> list[Span]:
    """Return the reads of one row group for the wanted columns, in file order.

    `gap_bytes` is the longest hole that is read through rather than jumped.
    """
    wanted = sorted((c for c in group.chunks if c.column in columns), key=lambda chunk: chunk.offset)
    if not wanted:
        return []
    if sum(chunk.size_bytes for chunk in wanted) > WHOLE_GROUP_SHARE * group.size_bytes:
        return [_span(sorted(group.chunks, key=lambda chunk: chunk.offset))]
    runs: list[list[ColumnChunk]] = [[wanted[0]]]
    for chunk in wanted[1:]:
        hole = chunk.offset - (runs[-1][-1].offset + runs[-1][-1].size_bytes)
        if hole <= gap_bytes:
            runs[-1].append(chunk)
        else:
            runs.append([chunk])
    return [_span(run) for run in runs]


def scan_reads(shape: FileShape, columns: Collection[str], gap_bytes: int = 16_384) -> Reads:
    """Return the reads of a scan of the wanted columns."""
    groups = [group_reads(group, columns, gap_bytes) for group in shape.row_groups]
    return Reads.of(footer_reads(shape), groups, [group.rows for group in shape.row_groups])


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

    def one(group_rows: int) -> tuple[list[Span], int]:
        chunks, offset = [], 4
        for name, width in widths:
            size = max(1, round(width * group_rows))
            chunks.append(ColumnChunk(column=name, offset=offset, size_bytes=size))
            offset += size
        return group_reads(RowGroup(rows=group_rows, chunks=tuple(chunks)), columns, gap_bytes), offset

    full, end = one(group_rows)
    last, _ = one(left)
    step, footer = end - 4, int(count * footer_bytes_per_group)
    shape = FileShape(size_bytes=end + (count - 1) * step + footer + 12, footer_bytes=footer, row_groups=())
    starts = step * np.arange(count)
    groups = spans_of(full)[None] + np.stack([starts, np.zeros_like(starts)], axis=1)[:-1, None]
    return Reads(
        footer=spans_of(footer_reads(shape)),
        spans=np.concatenate([groups.reshape(-1, 2), spans_of(last) + np.array([starts[-1], 0])]),
        ends=np.append(len(full) * np.arange(1, count), len(full) * (count - 1) + len(last)),
        rows=np.append(np.full(count - 1, group_rows), left),
    )


def _span(run: Sequence[ColumnChunk]) -> Span:
    end = max(chunk.offset + chunk.size_bytes for chunk in run)
    return run[0].offset, end - run[0].offset
