"""What DuckDB 2.0 gives back to the system of the memory that its queries free, and takes again page by page.

It keeps what is freed, and counts it. Once that is a sixteenth of the memory limit, and has no room beside what is in
use, the next allocation gives back all that is free at this moment (`BufferPool::EvictBlocks` and
`BlockAllocator::TryFlushDeallocated`), and the count starts anew. Each page of it that is used again costs a page
fault. So it matters where in a query that moment comes: the buffers that are in use then stay. A little more memory may
thus cost time: the moment comes before the largest buffer in place of behind it.

The buffers are those of comments, of which every column is asked for: sizes and order as DuckDB allocates them, seen
with a library, loaded before it, that notes each `BlockAllocator::AllocateData` and `FreeData`, and after each the page
faults so far. Their names are ours.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from readahead.units import KiB

PAGE_BYTES = 4 * KiB
VECTORS_BYTES = 282_000
"""What a query's vectors take, whatever it reads."""
METADATA = {False: 2.9, True: 1.0}
"""What a local or a remote file's metadata takes in memory, as a multiple of its footer."""
BLOCK_BYTES = 1_400
"""What a block of the cache takes besides its bytes."""
LEAST_FREED = 1 / 16
"""Of the memory limit: less than this is never given back."""
LARGEST = "largest", "second largest"
"""The two buffers that take most of a row group's memory."""
SPLIT = 0.7
"""How often the largest buffer that was given back finds its memory split the next time, and takes new pages again: its
own has gone to smaller buffers, which were given back too."""


class Buffer(NamedTuple):
    """Memory that a query takes, uses in part, and frees at once or when the row group is decoded."""

    name: str
    size_bytes: float
    used_bytes: float
    stays: bool = True


Buffers = tuple[Buffer, ...]


def _decoding(rows: float) -> Iterator[Buffer]:
    """Yield the buffers of a row group, in DuckDB's order."""
    for number, (size_bytes, used_bytes) in enumerate(((8, 6), (16, 8), (8, 4))):
        yield Buffer(f"column {number}", size_bytes * rows, used_bytes * rows)
        yield Buffer("short", 8 * rows, 0, stays=False)
    yield Buffer(LARGEST[0], 256 * rows, 150 * rows)
    yield Buffer(LARGEST[1], 64 * rows, 64 * rows, stays=False)
    yield Buffer("short", 8 * rows, 2 * rows, stays=False)
    yield Buffer("short", 4 * rows, rows, stays=False)
    yield Buffer("last", 32, 0, stays=False)


def _pieces(name: str, count: int, size_bytes: float) -> Buffers:
    return tuple(Buffer(f"{name} {n}", size_bytes, 0.3 * size_bytes) for n in range(count))


def buffers(rows: float, copied_bytes: float, *, scan: bool, alone: bool = True) -> tuple[Buffers, ...]:
    """Return what a query of a row group takes, or a scan for one of its row groups; each tuple is freed at its end.

    What is copied before it is decoded is copied by another thread, unless this one is `alone`.
    """
    copy = (Buffer("copy", copied_bytes, copied_bytes * alone),) * (copied_bytes > 0)
    decoding = (*copy, *_decoding(rows))
    if scan:  # its vectors stay from one row group to the next
        return (decoding,)
    answer = _pieces("answer", 6, 30_000)
    return (*_pieces("vector", 17, VECTORS_BYTES / 17), *decoding), answer, answer


def most_in_use(taken: Sequence[Buffers]) -> float:
    """Return the bytes that are in use at once, at most, of those that stay."""
    return max(sum(buffer.size_bytes for buffer in part if buffer.stays) for part in taken)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBlocks:
    """What the cache does with its own memory meanwhile, in bytes: each access fetches some and drives some out."""

    fetched_bytes: float = 0.0
    dropped_bytes: float = 0.0
    emptied_bytes: float = 0.0
    """Freed before the first access."""


@functools.lru_cache(maxsize=1024)
def page_faults(
    kinds: Sequence[Sequence[Buffers]],
    which: Sequence[int],
    rooms: Sequence[float],
    blocks: CacheBlocks,
    *,
    limit_bytes: float,
) -> tuple[float, ...]:
    """Return the page faults of each access for memory that was given back.

    `kinds` are the buffers of each kind of access, `which` tells the kind of each, and `rooms` are the bytes that the
    memory limit leaves for them before it.
    """
    least, freed, faults = LEAST_FREED * limit_bytes, blocks.emptied_bytes, list[float]()
    names = {buffer.name for parts in kinds for part in parts for buffer in part}
    away, split, split_at = set[str](), "", -1
    spare_blocks = blocks.emptied_bytes
    for number, (kind, room) in enumerate(zip(which, rooms, strict=True)):
        freed += blocks.dropped_bytes
        pages = max(0.0, blocks.fetched_bytes - spare_blocks) / PAGE_BYTES
        spare_blocks = max(0.0, spare_blocks - blocks.fetched_bytes) + blocks.dropped_bytes
        for part in kinds[kind]:
            in_use, used = 0.0, set[str]()
            for name, size_bytes, used_bytes, stays in part:
                if freed >= least and freed + in_use > room:
                    freed, spare_blocks, away, split = 0.0, 0.0, names - used, ""
                if name in away:
                    pages += used_bytes / PAGE_BYTES
                    away.discard(name)
                    if name == LARGEST[0] or (name == LARGEST[1] and split != LARGEST[0]):
                        split, split_at = name, number + 1
                elif name == split and number == split_at:
                    pages += SPLIT * used_bytes / PAGE_BYTES
                    split = ""
                if stays:
                    in_use += size_bytes
                    used.add(name)
                else:
                    freed += size_bytes
            freed += in_use
        faults.append(pages)
    return tuple(faults)
