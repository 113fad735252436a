"""Egg boxes. Whoever wants an egg gets the box, and two boxes that stand side by side come in one trip.

DuckDB's own files are read in blocks: the reads of a scan, or of a sample, from the blocks that each part of it needs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from readahead.models.parquet_reads import Span

FILE_HEADER_BYTES = 3 * 4096
"""What comes before the first block of a native DuckDB file."""


def block_reads(
    groups: Sequence[Collection[int]], block_bytes: int, *, ahead: bool, depth: int
) -> list[list[Span]]:
    """Return the reads of a native scan whose row groups lie in these blocks.

    Without read-ahead every block is a read of its own, the first time it is needed. With it, neighbours are one
    read. A deep window asks for a block that two groups share once for each: when the second asks, the first
    has not arrived.
    """
    reads: list[list[Span]] = []
    there: set[int] = set()
    for group in groups:
        wanted = sorted(set(group) - there)
        if not ahead or depth == 1:
            there |= set(wanted)
        runs: list[list[int]] = []
        for block in wanted:
            if ahead and runs and block == runs[-1][-1] + 1:
                runs[-1].append(block)
            else:
                runs.append([block])
        reads.append([(FILE_HEADER_BYTES + run[0] * block_bytes, len(run) * block_bytes) for run in runs])
    return reads
