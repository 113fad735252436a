"""Runs on one connection: what stays from run to run, what is left behind, and how they end early."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest

from readahead import paths
from readahead.chapters.cache_tiers.cached_case import (
    FILE_BLOCK,
    Access,
    AccessTrace,
    CachedCase,
    QueryCosts,
    ScanCosts,
)
from readahead.chapters.cache_tiers.calibration import (
    AMPLE,
    QUERIES,
    QUERY_CELLS,
    READING,
    SCAN_CELLS,
    SCANS,
    cell,
    query_cells,
    scan_cells,
)
from readahead.chapters.cache_tiers.chapter import EXPERIMENT
from readahead.chapters.cache_tiers.workload import SCAN
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.errors import Cancelled
from readahead.measure.calibrate import Calibration
from readahead.measure.run import EngineSettings, engine
from readahead.models.reads import RowGroup
from readahead.models.schedule import Costs
from readahead.running import Event, listening
from readahead.storage.emulated import EmulatedFileSystem, RemoteFileSystem
from readahead.units import KiB, MiB

only_linux_tells = pytest.mark.skipif(
    not Path("/proc/self/io").exists(), reason="only Linux tells what a process reads"
)
RECIPE = Recipe(table="comments", size="tiny", row_group_rows=8_192)
FAR = Device(name="far", latency_s=0.002, bandwidth_bytes_per_s=1e9, channels=8)


def one_by_one(groups: Sequence[RowGroup], memory_share: float) -> AccessTrace:
    """Return queries for each of the row groups in turn."""
    return AccessTrace(
        rows=tuple(group.rows for group in groups),
        sizes=tuple(group.size_bytes for group in groups),
        queries=0,
        skew=0.0,
        memory_share=memory_share,
    )


def held(case: CachedCase) -> tuple[int, int, int]:
    """Return the bytes in memory and in the spill folder after one run, by DuckDB's own account, and its files."""
    filesystem = (RemoteFileSystem if case.remote else EmulatedFileSystem)(case.device)
    with store.work_folder("spill") as folder:
        own = replace(case.engine, more=case.settings(str(folder)))
        with engine(own, filesystem) as connection, filesystem.instant():
            for sql in case.query().texts(emulated=True):
                connection.execute(sql).fetchall()
            [found] = connection.execute(
                "SELECT memory_usage_bytes, temporary_storage_bytes FROM duckdb_memory()"
                " WHERE tag = 'EXTERNAL_FILE_CACHE'"
            ).fetchall()
            files = len([*folder.glob("*.block")])
    return int(found[0]), int(found[1]), files


def bytes_read(case: CachedCase) -> float:
    """Return the bytes that this process reads for one run, by the system's own count: the spill folder among them."""
    process = psutil.Process()
    read = [process.io_counters().read_chars]
    for repeats in (1, 4):
        case.measure(repeats=repeats)
        read.append(process.io_counters().read_chars)
    once, more = np.diff(read)
    return float(more - once) / 3


def usual_reads(case: CachedCase) -> int:
    """Return how many reads a run sends: the middle of five, as one run whose thread waits for a core may differ."""
    return sorted(len(case.measure(repeats=1).reads) for _ in range(5))[2]


@pytest.fixture(scope="module")
def case() -> CachedCase:
    """Return queries for the first eight row groups, with room for all of them."""
    groups = inspect.shape(store.path(RECIPE)).row_groups[:8]
    trace = one_by_one(groups, memory_share=2)
    return CachedCase(
        recipe=RECIPE,
        device=FAR,
        engine=EngineSettings(threads=1, column_gap_bytes=1 * MiB),
        trace=trace,
        block_bytes=1 * MiB,
        remote=False,
        run=2,
    )


def small(case: CachedCase) -> CachedCase:
    """Return the same with room for three row groups, and a folder for those that do not fit."""
    return replace(case, remote=True, trace=replace(case.trace, memory_share=3 / 8))


def test_what_one_run_fetched_is_there_for_the_next(case: CachedCase) -> None:
    cold = replace(case, run=1).measure(repeats=2)  # the second begins with an empty cache as well
    warm = case.measure(repeats=2)
    assert cold.bytes_read == sum(case.trace.sizes)
    assert (warm.bytes_read, warm.reads) == (0, ())
    assert cold.answer == warm.answer == small(case).measure(repeats=1).answer


@pytest.mark.parametrize("rows", [2_048, 4_096, 8_192])
@pytest.mark.parametrize("remote", [False, True])
def test_the_cache_is_as_large_as_it_was_asked_to_be(case: CachedCase, rows: int, remote: bool) -> None:
    recipe = replace(RECIPE, row_group_rows=rows)
    trace = one_by_one(inspect.shape(store.path(recipe)).row_groups, memory_share=0.5)
    in_memory, spilled, files = held(replace(case, recipe=recipe, trace=trace, remote=remote))
    assert files == pytest.approx(spilled / np.mean(trace.sizes), abs=1)  # each block has one of its own
    assert abs(in_memory - trace.capacity_bytes) <= 1.5 * max(trace.sizes)
    assert (spilled > 0) == (remote and rows > 2_048)  # shorter blocks are dropped


@pytest.mark.parametrize(("rows", "depth"), [(2_048, 1), (2_048, 8), (8_192, 1), (8_192, 8)])
def test_a_scan_finds_what_the_law_says_as_soon_as_memory_has_room_for_all_and_little_before(
    rows: int, depth: int
) -> None:
    less, whole = (cell(rows=rows, memory=share, scan=True, depth=depth, run=3) for share in (0.95, 1.0))
    groups = len(whole.trace.sizes)
    assert usual_reads(whole) == pytest.approx(groups * whole.shares()[2], abs=2)
    assert less.shares()[2] == 1
    assert usual_reads(less) > groups / 2  # on a busy machine some are found by luck


@pytest.mark.parametrize(("depth", "lent"), [(1, 2), (2, 1), (3, 0)])
def test_a_scan_of_a_remote_file_leaves_to_the_cache_the_room_of_copies_that_it_does_not_need(
    depth: int, lent: int
) -> None:
    """Short row groups, which never go to the spill folder: the scan finds all of them in memory, or reads most."""
    fits, less = (
        cell(rows=2_048, memory=1 - short / 128, scan=True, depth=depth, run=3, spills=True)
        for short in (lent, lent + 2)
    )
    blocks = tuple(size + FILE_BLOCK for size in fits.trace.sizes)
    fits, less = (replace(one, trace=replace(one.trace, sizes=blocks)) for one in (fits, less))
    assert fits.shares()[2] < 0.1 and less.shares()[2] == 1
    assert usual_reads(fits) < 64 < usual_reads(less)


def test_a_block_from_the_spill_folder_takes_as_long_whatever_its_length(case: CachedCase) -> None:
    spilled = small(case)
    short = replace(spilled, trace=replace(spilled.trace, sizes=tuple(n // 2 for n in spilled.trace.sizes)))
    halves = replace(spilled, block_bytes=-(-max(spilled.trace.sizes) // 2))
    took_s = [found.access_s() for found in (spilled, short, halves)]
    once, less, twice = (one.disk_s - one.memory_s for one in took_s)
    assert once == pytest.approx(less) == pytest.approx(QueryCosts().spill_s)
    assert twice == pytest.approx(2 * once, rel=0.02)


@only_linux_tells
@pytest.mark.parametrize("share", [0.15, 0.3, 0.5])
def test_with_a_row_group_its_neighbour_that_came_first_is_fetched_from_the_spill_folder(
    share: float,
) -> None:
    case = cell(rows=8_192, memory=share, scan=False, spills=True, queries=96)
    blocks = bytes_read(case) / np.mean(case.trace.sizes) / 96
    assert blocks == pytest.approx(case.recalled_blocks, rel=0.1)
    assert case.shares()[1] < 0.75 * blocks  # of what is asked for itself, that is all
    assert replace(case, remote=False).recalled_blocks == 0
    in_pieces = replace(case, block_bytes=512 * KiB)  # the last one is too short for the folder
    assert in_pieces.recalled_blocks == pytest.approx(case.shares()[1], abs=0.01)


def test_no_neighbour_is_fetched_from_the_spill_folder_before_it_is_there() -> None:
    case = cell(rows=8_192, memory=0.5, scan=False, spills=True, groups=4)
    first, again = (replace(case, run=run).recalled_blocks for run in (1, 2))
    assert (first, again) == (0, 1)


def test_a_query_that_has_waited_long_takes_longer_by_its_share_and_one_from_memory_does_not(
    case: CachedCase,
) -> None:
    costs = replace(QueryCosts(), cold_share=0.5, group_s=0.0, read_byte_s=0.0, fault_s=0.0)

    def took_s(latency_s: float) -> Access:
        far = replace(case, run=1, query_costs=costs, device=case.device.but(latency_s=latency_s))
        return far.access_s()

    near, far, further = (took_s(latency_s) for latency_s in (0.0, 36e-3, 360e-3))
    more_s = far.device_s["cpu"] - near.device_s["cpu"]
    assert more_s == pytest.approx(0.5 * (near.own_s + near.device_s["cpu"]))
    assert further.device_s["cpu"] - near.device_s["cpu"] == pytest.approx(10**0.8 * more_s)
    assert (far.own_s, far.memory_s, far.disk_s) == (near.own_s, near.memory_s, near.disk_s)


def test_a_long_footer_takes_no_room_from_the_cache(case: CachedCase) -> None:
    recipe = replace(RECIPE, size="small", row_group_rows=2_048)
    shape = inspect.shape(store.path(recipe))
    trace = one_by_one(shape.row_groups[:32], memory_share=0.75)
    assert shape.footer_bytes > 4 * max(trace.sizes)
    in_memory, *_ = held(replace(case, recipe=recipe, trace=trace))
    assert abs(in_memory - trace.capacity_bytes) <= 1.5 * max(trace.sizes)


def test_room_for_all_spills_nothing(case: CachedCase) -> None:
    assert held(replace(case, remote=True))[1] == 0
    assert held(small(case))[1] > 0


def test_it_can_be_cancelled_and_leaves_nothing(
    case: CachedCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "work_dir", lambda: tmp_path)  # other tests spill into the usual one meanwhile
    stop = threading.Event()
    news: list[Event] = []

    def listen(event: Event) -> None:
        news.append(event)
        if event.note.startswith("run 2"):
            stop.set()

    with pytest.raises(Cancelled), listening(listen, stop):
        small(case).measure(repeats=50)
    assert any(event.note.startswith("run 2") for event in news)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("asked", "run", "reads"), [(32, 1, 0), (32, 2, 1), (32, 3, 1), (31, 2, 0)])
def test_the_end_of_the_last_row_group_is_read_anew_where_all_else_is_in_the_folder(
    case: CachedCase, asked: int, run: int, reads: int
) -> None:
    """It lies in a block of the file that was read with the footer, and alone is too short for the folder."""
    trace = one_by_one(inspect.shape(store.path(RECIPE)).row_groups[:asked], memory_share=0.3)
    spilled = replace(case, trace=trace, remote=True, run=run)
    assert spilled.shared == reads
    assert usual_reads(spilled) == (asked if run == 1 else reads)
    waited_s = spilled.estimate(Costs()).terms_s["latency"]
    assert waited_s == pytest.approx(FAR.latency_s * (asked if run == 1 else reads))


def scanned(rows: int, ahead: int, share: float, *, size: str = "tiny", **more: Any) -> CachedCase:
    """Return a scan that comes again, as the chapter's knobs ask for it."""
    knobs: dict[str, Any] = {"access": SCAN, "latency_s": 0.0001, "run": 2, "size": size, **more}
    asked = EXPERIMENT.settings(row_group_rows=rows, queue_depth=ahead, memory_share=share, **knobs)
    EXPERIMENT.case(asked).build()
    return EXPERIMENT.case(asked)


@pytest.mark.parametrize(
    ("rows", "ahead", "share"),
    [
        (2_048, 8, 1.1),
        (4_096, 2, 1.02),
        (4_096, 4, 1.06),
        (4_096, 8, 1.25),
        (8_192, 4, 1.13),
        (8_192, 8, 1.18),
    ],
)
def test_row_groups_held_ready_drive_out_as_many_as_the_model_tells(
    rows: int, ahead: int, share: float
) -> None:
    """To within one of them and a half."""
    case = scanned(rows, ahead, share)
    told = case.shares()[2] * len(case.trace.sizes)
    assert usual_reads(case) == pytest.approx(told, abs=1.5)
    assert (told > 0) == (ahead > 2)


def test_a_scan_of_a_part_of_a_table_drives_out_nothing() -> None:
    case = scanned(2_048, 8, 1.08, size="small")
    assert case.shares() == (1, 0, 0) and usual_reads(case) == 0


@pytest.mark.parametrize(
    ("rows", "ahead", "share", "reads"),
    [(4_096, 2, 1.02, 0), (4_096, 8, 1.02, 1), (4_096, 4, 1.08, 0), (8_192, 8, 1.1, 1), (8_192, 8, 1.25, 0)],
)
def test_a_scan_that_loses_little_keeps_the_end_of_the_last_row_group(
    rows: int, ahead: int, share: float, reads: int
) -> None:
    case = scanned(rows, ahead, share, spill="disk")
    assert case.shared == usual_reads(case) == reads


@pytest.mark.parametrize("one", [QUERIES, SCANS])
def test_the_costs_are_calibrated_and_kept(one: Calibration[Any]) -> None:
    costs = one.ensure()
    assert one.kept() == one.ensure() == costs
    assert all(value >= 0 for value in asdict(costs).values()) and any(asdict(costs).values())


def test_a_row_group_is_copied_where_a_neighbour_of_a_remote_file_came_first(case: CachedCase) -> None:
    """As both share a `FILE_BLOCK`: which is what a query of it takes more of the system's memory."""
    copied = replace(case, remote=True)._copied
    assert copied((3, 4, 2, 6, 3, 5)) == [False, True, True, False, False, True]
    assert not any(replace(case, remote=False)._copied((3, 4, 2)))


@pytest.mark.parametrize("scan", [False, True])
def test_a_page_fault_takes_the_same_whatever_answers(case: CachedCase, *, scan: bool) -> None:
    for share in (AMPLE, 1.07, 0.5):
        trace = replace(case.trace, memory_share=share, **({"skew": None, "queries": 0} if scan else {}))
        seen = [
            replace(
                case,
                trace=trace,
                engine=replace(case.engine, queue_depth=1),
                query_costs=QueryCosts(fault_s=fault_s),
                scan_costs=ScanCosts(fault_s=fault_s),
            )
            for fault_s in (0.0, 1e-3)
        ]
        less, more = (one.estimate(Costs()).seconds for one in seen)
        count = len(trace.asked) * seen[0].page_faults
        assert more - less == pytest.approx(count * 1e-3, rel=1e-3)  # a first read comes before any of them
        assert (count > 0) == (share < AMPLE)


@pytest.mark.parametrize(("latency_s", "reads"), [(0.2, 4), (0.0, 1)], ids=["it waits", "it decodes"])
@pytest.mark.parametrize("remote", [False, True])
def test_what_a_reader_takes_for_the_block_keeps_a_scan_waiting_that_waits_for_the_device(
    case: CachedCase, latency_s: float, reads: int, *, remote: bool
) -> None:
    """New pages for the block, and room for it in the spill folder: of each round of two reads it waits for one.

    Where it decodes without a pause it waits for the first alone. New pages are those of copies, which only a remote
    file has: for the block comes the memory of one that was driven out.
    """
    groups = 8
    alike = {"rows": (8_192,) * groups, "sizes": (600_000,) * groups}
    scan = replace(case.trace, skew=None, queries=0, memory_share=0.01, **alike)
    asked = replace(
        case,
        trace=scan,
        remote=remote,
        run=1,
        device=case.device.but(latency_s=latency_s, bandwidth_bytes_per_s=1e12),
        engine=replace(case.engine, queue_depth=2),
    )
    free = ScanCosts(
        group_s=0.01, lost_read_s=0.0, copy_byte_s=0.0, dump_byte_s=0.0, recall_byte_s=0.0, fault_s=0.0,
    )  # fmt: skip
    before_s, pages_s, dumped_s = (
        replace(asked, scan_costs=costs).missed_scan(Costs()).finished_s
        for costs in (free, replace(free, fault_s=1e-6), replace(free, dump_byte_s=1e-9))
    )
    decoded = reads + 1 if latency_s else groups  # of two that come together one is decoded meanwhile
    faults = reads * asked.readers_page_faults + decoded * asked.page_faults
    assert (asked.readers_page_faults > 100) == remote
    assert pages_s - before_s == pytest.approx(faults * 1e-6, rel=0.05)
    assert dumped_s - before_s == pytest.approx(reads * remote * 600_000e-9, rel=0.1)


@pytest.mark.parametrize(
    ("run", "memory_share", "byte_s", "ahead_byte_s"),
    [
        (2, 0.5, 3e-9, 0.4 * 3e-9),
        (2, 0.9, 3e-9, 0.4 * 3e-9),
        (1, 0.5, 0.5 * 4e-9, 0.5 * 1.5e-9),
        (1, AMPLE, 0.0, 0.0),
    ],
    ids=["comes back", "comes back of much", "half of it is driven out", "nothing is driven out"],
)
def test_what_goes_out_beside_decoding_takes_half_of_what_comes_back_and_that_less_than_it_does_alone(
    case: CachedCase, run: int, memory_share: float, byte_s: float, ahead_byte_s: float
) -> None:
    costs = ScanCosts(recall_byte_s=3e-9, dump_byte_s=4e-9)
    scan = replace(case.trace, skew=None, queries=0, memory_share=memory_share)
    for depth, took_s in ((1, byte_s), (4, ahead_byte_s)):
        engine = replace(case.engine, queue_depth=depth)
        asked = replace(case, trace=scan, remote=True, run=run, engine=engine, scan_costs=costs)
        assert asked.estimate(Costs()).terms_s["disk"] == pytest.approx(sum(scan.sizes) * took_s)


@pytest.mark.parametrize("rows", [4_096, 8_192])
@pytest.mark.parametrize(
    ("ahead", "spill", "room", "all_of_it"),
    [
        (1, "none", 1, False),
        (1, "disk", 0, False),
        (4, "none", 0, True),
        (4, "none", 4, False),
        (4, "disk", 0, True),
        (4, "disk", 3, False),
        (8, "disk", 2, True),
        (8, "disk", 7, False),
    ],
)
def test_a_scan_of_row_groups_in_several_blocks_finds_none_until_memory_has_room_for_their_copies(
    rows: int, ahead: int, spill: str, room: int, *, all_of_it: bool
) -> None:
    """`room` is in whole row groups more than the table."""
    groups = len(scanned(rows, ahead, 1.0).trace.sizes)
    case = scanned(rows, ahead, 1 + room / groups, spill=spill, block_bytes=128 * KiB)
    assert case.split and (case.shares()[2] == 1) == all_of_it
    _, read, _ = sorted(case.measure(repeats=1).bytes_read for _ in range(3))  # one that waits may differ
    assert read / sum(case.trace.sizes) == pytest.approx(case.shares()[2], abs=0.2)


@pytest.mark.parametrize(("share", "found"), [(0.9999, False), (1.0, True), (1.004, True)])
def test_a_share_of_the_memory_is_one_of_whole_row_groups(share: float, *, found: bool) -> None:
    """All of a table or one row group less: no scan lies between finding all and finding nothing."""
    case = scanned(4_096, 1, share)
    items, mean = len(case.trace.sizes), sum(case.trace.sizes) / len(case.trace.sizes)
    assert case.trace.kept_bytes == pytest.approx((items - (not found)) * mean)
    assert case.shares()[2] == (not found)


@only_linux_tells
@pytest.mark.parametrize(
    ("rows", "ahead", "room", "all_of_it"),
    [
        (4_096, 4, 0.2, True),
        (4_096, 4, 4.0, False),
        (4_096, 8, 4.5, True),
        (4_096, 8, 10.0, False),
        (8_192, 4, 1.0, True),
        (8_192, 4, 4.0, False),
    ],
)
def test_a_scan_fetches_all_from_the_folder_until_memory_has_room_for_what_it_fetches_ahead(
    rows: int, ahead: int, room: float, all_of_it: bool
) -> None:
    """`room` is in row groups more than the table, and not where other work beside it turns the one into the other."""
    sizes = scanned(rows, ahead, 1.0, spill="disk").trace.sizes
    case = scanned(rows, ahead, 1 + room * max(sizes) / sum(sizes), spill="disk")
    assert case.shares()[1] == (1.0 if all_of_it else pytest.approx(0.0, abs=0.2))
    assert bytes_read(case) / sum(sizes) == pytest.approx(case.shares()[1], abs=0.2)


def test_a_scan_that_is_fetched_copies_each_byte_whether_others_are_dropped_for_it_or_not(
    case: CachedCase,
) -> None:
    """One read at a time."""
    costs = ScanCosts(copy_byte_s=1e-9)
    for share, run, dropping in ((AMPLE, 1, 0.0), (0.5, 1, 0.5), (0.5, 2, 1.0)):
        scan = replace(case.trace, skew=None, queries=0, memory_share=share)
        asked = replace(case, trace=scan, run=run, engine=replace(case.engine, queue_depth=1))
        assert asked.evicting == pytest.approx(dropping)
        dear, free = (
            replace(asked, scan_costs=told).missed_scan(Costs()).finished_s
            for told in (costs, replace(costs, copy_byte_s=0.0))
        )
        assert dear - free == pytest.approx(sum(scan.sizes) * 1e-9, rel=0.02)


def test_of_two_threads_that_share_a_scan_each_has_half_of_it_at_least(case: CachedCase) -> None:
    """What the second thread takes is calibrated on other row groups: of short ones it cannot be more than all."""
    scan = replace(case.trace, skew=None, queries=0, memory_share=AMPLE)
    asked = replace(case, trace=scan, run=2, engine=replace(case.engine, queue_depth=4))
    told = [
        replace(asked, scan_costs=ScanCosts(fetch_s=hidden_s)).estimate(Costs()).seconds
        for hidden_s in (0.0, 1e-6, 1.0)
    ]
    fixed_s = ScanCosts().scan_s
    assert told[0] - told[1] == pytest.approx(len(scan.sizes) * 1e-6)
    assert told[2] - fixed_s == pytest.approx((told[0] - fixed_s) / 2)


def test_decoding_waits_for_what_is_copied_by_other_threads_only_once_and_loses_something_to_each_read(
    case: CachedCase,
) -> None:
    """Where it is what is waited for: it waits for the first row group to be copied, or for each that it copies."""
    scan = replace(case.trace, skew=None, queries=0, memory_share=AMPLE)
    free = ScanCosts(group_s=0.05, copy_byte_s=0.0, lost_read_s=0.0)
    groups, total = len(scan.sizes), sum(scan.sizes)
    for depth, copied_s, lost_s in ((1, total * 2e-9, 0.0), (4, scan.sizes[0] * 2e-9, groups * 1e-3)):
        asked = replace(case, trace=scan, run=1, engine=replace(case.engine, queue_depth=depth))
        before_s, *after_s = (
            replace(asked, scan_costs=costs).missed_scan(Costs()).finished_s
            for costs in (free, replace(free, copy_byte_s=2e-9), replace(free, lost_read_s=1e-3))
        )
        assert after_s[0] - before_s == pytest.approx(copied_s, rel=0.02)
        assert after_s[1] - before_s == pytest.approx(lost_s, abs=1e-9)


def test_a_row_group_is_decoded_as_much_later_as_copying_it_into_the_cache_takes(
    case: CachedCase,
) -> None:
    scan = replace(case.trace, skew=None, queries=0, memory_share=AMPLE)
    fast = case.device.but(bandwidth_bytes_per_s=1e12)
    asked = replace(case, trace=scan, run=1, device=fast, engine=replace(case.engine, queue_depth=4))
    dear, free = (
        replace(asked, scan_costs=ScanCosts(copy_byte_s=byte_s)).missed_scan(Costs()).groups_s
        for byte_s in (1e-9, 0.0)
    )
    assert dear[0, 0] - free[0, 0] == pytest.approx(scan.sizes[0] * 1e-9, rel=0.01)


@pytest.mark.parametrize(("depth", "waits"), [(1, 0), (2, 4), (8, 1)])
def test_copying_beside_decoding_is_waited_for_once_in_a_round_of_two_and_hidden_where_more_are_under_way(
    case: CachedCase, depth: int, waits: int
) -> None:
    """Eight row groups: in turn nobody decodes beside, two at a time are four rounds, all at once are one."""
    scan = replace(case.trace, skew=None, queries=0, memory_share=AMPLE)
    asked = replace(case, trace=scan, run=1, engine=replace(case.engine, queue_depth=depth))
    for one, share in ((asked, 0.5), (replace(asked, device=case.device.but(latency_s=1.0)), 0.0)):
        dear, free = (
            replace(one, scan_costs=ScanCosts(contended_byte_s=byte_s)).missed_scan(Costs()).finished_s
            for byte_s in (1e-9, 0.0)
        )
        decoding_share = one._decoding_share()
        assert dear - free == pytest.approx(waits * decoding_share * np.mean(scan.sizes) * 1e-9, rel=0.02)
        if depth == 2:  # a scan that waits for long decodes for a small share of its time
            assert decoding_share == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("at", range(len(QUERY_CELLS) + len(SCAN_CELLS)))
def test_a_cell_of_the_calibration_reads_from_the_device_what_it_is_told_to(at: int) -> None:
    """And what is to come from the spill folder has no room in memory: a scan gets what its read-ahead holds."""
    case, memory = (*query_cells(), *scan_cells())[at], (*QUERY_CELLS, *SCAN_CELLS)[at]["memory"]
    told = case.shares()[2] * case.trace.wanted.sum()
    assert case.measure(repeats=1).bytes_read == pytest.approx(told, rel=0.25, abs=2 * FILE_BLOCK)
    room = int(str(case.settings("")["memory_limit"])[:-1]) - case.workspace_bytes
    assert (room < sum(case.trace.sizes)) == (memory < 1)


@pytest.mark.parametrize(
    ("one", "field", "cells"),
    [(QUERIES, "query_costs", query_cells), (SCANS, "scan_costs", scan_cells)],
)
def test_what_the_cells_take_shows_every_cost(
    one: Calibration[Any], field: str, cells: Callable[[], list[CachedCase]]
) -> None:
    """Costs that nobody guessed are found again by what the model makes of the cells, noise of 1 % on it."""
    rng = np.random.default_rng(5)
    for _ in range(3):
        true = one.kind(
            **{name: cost * rng.uniform(0.6, 1.7) for name, cost in asdict(one.typical()).items()}
        )
        seconds = [replace(case, **{field: true}).estimate(READING.costs()).seconds for case in cells()]
        seen = one.read_off([SimpleNamespace(median_s=took_s * rng.normal(1, 0.01)) for took_s in seconds])
        off = {name: cost / getattr(true, name) - 1 for name, cost in asdict(seen).items()}
        assert all(abs(one) < 0.3 for one in off.values()), off
