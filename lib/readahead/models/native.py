"""DuckDB's own file: where the blocks of its columns lie, and the very reads that DuckDB 2.0 will issue to scan it."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from readahead.devices import Device
from readahead.models.queue import DeviceQueue
from readahead.models.reads import Reads, Span
from readahead.models.schedule import Costs, Window

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


def in_runs(numbers: Sequence[int]) -> list[list[int]]:
    """Return ascending numbers cut into runs without a gap."""
    if not numbers:
        return []
    return [run.tolist() for run in np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1)]


def block_span(block: int, block_bytes: int, count: int = 1) -> Span:
    """Return where `count` blocks from this one on lie in the file."""
    return FILE_HEADER_BYTES + block * block_bytes, count * block_bytes


def blocks_alone(groups: Iterable[Collection[int]], block_bytes: int) -> list[list[Span]]:
    """Return the reads of a native scan without read-ahead: each block alone, the first time it is needed."""
    there, reads = set[int](), list[list[Span]]()
    for group in groups:
        reads.append([block_span(block, block_bytes) for block in sorted(set(group) - there)])
        there |= set(group)
    return reads


def blocks_ahead(
    groups: Sequence[Collection[int]], rows: Sequence[int], block_bytes: int, device: Device, window: Window
) -> list[list[Span]]:
    """Return the reads of a native scan with read-ahead, in which neighbours are one read.

    What a row group needs is looked for when a place in the window is free for it. A block that another group has asked
    for, and that is not there yet, is asked for again. How often, the device decides, and here the engine's usual pace.
    """
    queue, free_s, costs = DeviceQueue(device), [0.0] * window.slots, Costs()
    reads, there_s, left_s = list[list[Span]](), dict[int, float](), list[float]()
    for at, group in enumerate(groups):
        now_s = left_s[at - window.depth] if at >= window.depth else 0.0
        runs = in_runs(sorted(block for block in set(group) if there_s.get(block, math.inf) > now_s))
        reads.append([block_span(run[0], block_bytes, len(run)) for run in runs])
        all_s = left_s[-1] if left_s else 0.0
        for run, span in zip(runs, reads[-1], strict=True):
            asked_s = max(now_s, heapq.heappop(free_s)) + costs.read_s
            due_s, _ = queue.book(asked_s, *span)
            heapq.heappush(free_s, due_s)
            there_s |= {block: min(due_s, there_s.get(block, math.inf)) for block in run}
            all_s = max(all_s, due_s)
        left_s.append(all_s + costs.decode_s(rows[at]))
    return reads


def native_reads(
    blocks: Sequence[Collection[int]],
    rows: Sequence[int],
    block_bytes: int,
    device: Device,
    window: Window,
    first: Sequence[Span] = (),
) -> Reads:
    """Return the reads of a native scan of row groups with these blocks and rows, after those that come `first`.

    Of a block that more than one group of a window needs the engine's threads decide too: it may be there for all but
    one, or for none. Then the read around it may end, go on, or be two.
    """
    told = Reads.of(first, blocks_ahead(blocks, rows, block_bytes, device, window), rows)
    asked_at = dict[int, int]()
    wanted = ((at, block) for at, group in enumerate(blocks) for block in set(group))
    most = sum(asked_at.setdefault(block, at) > at - window.depth for at, block in wanted)
    read = int(told.spans[:, 1].sum()) // block_bytes
    more = max(most - read, read - len(asked_at))
    return replace(told, more_reads=more, moved_bytes=more * block_bytes)
