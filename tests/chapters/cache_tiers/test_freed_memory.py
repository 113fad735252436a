"""Which buffers a query finds given back to the system, beside the page faults that the system counts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from readahead.chapters.cache_tiers import freed_memory
from readahead.chapters.cache_tiers.calibration import AMPLE, cell
from readahead.chapters.cache_tiers.freed_memory import (
    LARGEST,
    PAGE_BYTES,
    Buffer,
    CacheBlocks,
    buffers,
    page_faults,
)
from readahead.measure.run import Stopwatch
from readahead.units import KiB, MiB

PAGE = 4 * KiB
ONE = (Buffer("first", 10 * PAGE, 10 * PAGE), Buffer("second", 20 * PAGE, 5 * PAGE, stays=False))
"""A query of two buffers."""
NO_BLOCKS = CacheBlocks()


def faults(room_pages: float, *, blocks: CacheBlocks = NO_BLOCKS, limit_pages: float = 0.0) -> list[float]:
    """Return those of six such queries."""
    rooms = (room_pages * PAGE,) * 6
    return [*page_faults(((ONE,),), (0,) * 6, rooms, blocks, limit_bytes=limit_pages * PAGE)]


def test_what_has_room_stays() -> None:
    assert faults(6 * 30) == [0] * 6


def test_what_was_freed_goes_back_at_the_next_allocation_that_it_leaves_no_room_for() -> None:
    """Each query frees 30 pages. After the second 60 have no room: all go, and both buffers are taken again."""
    assert faults(59) == [0, 0, 15, 0, 15, 0]


def test_a_buffer_in_use_at_that_moment_stays() -> None:
    """With the first in use, 30 + 10 pages have no room: the second alone goes."""
    assert faults(39) == [0, 5, 5, 5, 5, 5]


def test_less_than_a_sixteenth_of_the_limit_is_never_given_back() -> None:
    assert faults(0, limit_pages=16 * 90) == [0, 0, 0, 15, 0, 0]


def test_a_block_of_the_cache_takes_the_memory_of_one_that_was_dropped_unless_that_was_given_back() -> None:
    size = 8 * PAGE
    assert faults(1e9, blocks=CacheBlocks(fetched_bytes=size, emptied_bytes=4 * size)) == [0, 0, 0, 0, 8, 8]
    assert faults(1e9, blocks=CacheBlocks(fetched_bytes=size, dropped_bytes=size)) == [8, 0, 0, 0, 0, 0]
    assert faults(0, blocks=CacheBlocks(fetched_bytes=size, dropped_bytes=size)) == [8 + 15] * 6


@pytest.mark.parametrize(
    ("rows", "allocated_bytes"), [(2_048, 1_473_664), (4_096, 2_257_024), (8_192, 3_845_248)]
)
def test_the_buffers_of_a_query_are_those_of_the_trace(rows: int, allocated_bytes: int) -> None:
    """The bytes that DuckDB 2.0 allocates for a query of one row group, from its trace."""
    parts = buffers(rows, 0.0, scan=False)
    assert sum(one.size_bytes for part in parts for one in part) == pytest.approx(allocated_bytes, rel=0.03)
    copied = sum(one.size_bytes for part in buffers(rows, 1e6, scan=False) for one in part)
    assert copied == sum(one.size_bytes for part in parts for one in part) + 1e6
    [ahead], [alone] = (buffers(rows, 1e6, scan=True, alone=alone) for alone in (False, True))
    assert (ahead[0].used_bytes, alone[0].used_bytes) == (0, 1e6) and ahead[1:] == alone[1:]


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the page faults of this process in each timed run."""
    import resource  # which Windows has not

    seen, repeat = list[int](), Stopwatch.repeat

    @contextmanager
    def counting(watch: Stopwatch) -> Iterator[None]:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        with repeat(watch):
            yield
        seen.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)

    monkeypatch.setattr(Stopwatch, "repeat", counting)
    return seen


@pytest.mark.skipif(sys.platform != "linux", reason="page faults are counted so on Linux")
@pytest.mark.parametrize("scan", [False, True], ids=["queries", "scan"])
@pytest.mark.parametrize(
    ("rows", "share"),
    [(4_096, 1.2), (8_192, 1.02), (8_192, 1.07), (8_192, 1.2), (8_192, 1.5), (8_192, AMPLE), (8_192, 0.5)],
)
def test_as_many_pages_are_taken_again_as_the_system_counts(
    rows: int, share: float, counted: list[int], *, scan: bool
) -> None:
    """To within three tenths, or forty pages, of 0 to 650 for a row group. More memory may cost more of them.

    The least of three runs: now and then a buffer finds its memory split into smaller ones, and takes new pages. Where
    each access drives out another's block the moment may also come, run after run, while the largest buffer is in use.
    """
    case, least = cell(rows=rows, memory=share, scan=scan), list[int]()
    for _ in range(3):
        case.measure(repeats=1)
        least.append(counted[-1])
    largest = next(buffer for buffer in buffers(rows, 0.0, scan=scan)[0] if buffer.name == LARGEST[0])
    stays = largest.used_bytes / PAGE_BYTES if share < 1 else 0.0
    seen = pytest.approx(min(least) / len(case.trace.sizes), rel=0.3, abs=40)
    assert case.page_faults == seen or case.page_faults - stays == seen


def test_a_little_more_memory_may_cost_time() -> None:
    """The moment comes before the largest buffer in place of behind it."""
    fewer, more = (cell(rows=8_192, memory=share, scan=False).page_faults for share in (1.07, 1.2))
    assert fewer < more / 2
    assert cell(rows=8_192, memory=AMPLE, scan=False).page_faults < 10
    assert freed_memory.most_in_use(buffers(8_192, 0.0, scan=True)) < 4 * MiB
