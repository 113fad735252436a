"""The reads of DuckDB's own files, which are read in blocks: those of a scan or a sample, from the blocks it needs."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence

from readahead.models.reads import Span

FILE_HEADER_BYTES = 3 * 4096
"""What comes before the first block of a native DuckDB file."""


Segments = list[tuple[int, int]]
"""Of one column of a row group: (first row, block), in order of rows."""
AT_ONCE = 5
"""Row groups that DuckDB writes at once, column by column."""


def packed(rows: Sequence[int], widths: Sequence[float], block_bytes: int) -> list[list[Segments]]:
    """Return, for each row group and column, its segments, in a native file with columns of so many bytes a row.

    Columns of `AT_ONCE` row groups follow one another; a column that would not fit into what is left of a block begins
    the next one. An approximation: DuckDB also fills the holes it left.
    """
    found: list[list[Segments]] = [[[] for _ in widths] for _ in rows]
    at = 0.0
    for first in range(0, len(rows), AT_ONCE):
        for column, width in enumerate(widths):
            for group in range(first, min(first + AT_ONCE, len(rows))):
                size = max(1.0, rows[group] * width)
                if at % block_bytes + size > block_bytes and at % block_bytes:
                    at += block_bytes - at % block_bytes
                found[group][column] = [
                    (int((block * block_bytes - at) / width) if block * block_bytes > at else 0, block)
                    for block in range(int(at // block_bytes), int((at + size - 1) // block_bytes) + 1)
                ]
                at += size
        at += -at % block_bytes
    return found


def block_span(block: int, block_bytes: int, count: int = 1) -> Span:
    """Return where `count` blocks from this one on lie in the file."""
    return FILE_HEADER_BYTES + block * block_bytes, count * block_bytes


def block_reads(
    groups: Sequence[Collection[int]], block_bytes: int, *, ahead: bool, depth: int
) -> list[list[Span]]:
    """Return the reads of a native scan whose row groups lie in these blocks.

    Without read-ahead every block is a read of its own, the first time it is needed. With it, neighbours are one read,
    and `depth` groups are under way: a block that two of them share is asked for once for each, because when the
    second asks, the first has not arrived.
    """
    reads: list[list[Span]] = []
    there: set[int] = set()
    under_way: deque[list[int]] = deque()
    for group in groups:
        if len(under_way) >= (depth if ahead else 1):
            there |= set(under_way.popleft())
        wanted = sorted(set(group) - there)
        runs: list[list[int]] = []
        for block in wanted:
            if ahead and runs and block == runs[-1][-1] + 1:
                runs[-1].append(block)
            else:
                runs.append([block])
        reads.append([block_span(run[0], block_bytes, len(run)) for run in runs])
        under_way.append(wanted)
    return reads
