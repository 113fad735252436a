"""The schedule of a scan, held to its laws and to an independent simulation."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.devices import Device
from readahead.models.reads import Reads, even_reads, spans_of
from readahead.models.schedule import (
    OWN_WAKE,
    TIME_SLICE_S,
    Costs,
    Timeline,
    Window,
    answer_order,
    fresh_bytes,
    large_bytes,
    simulate,
    stale,
    stale_early,
    waking,
)
from tools.bench.models import scan_in_simpy

FREE = Costs(
    plan_s=0, plan_key_s=0, open_s=0, open_group_s=0, open_key_s=0, read_s=0, dispatch_s=0, skip_group_s=0,
    prune_key_s=0, group_s=0, row_s=0, close_s=0, filter_s=0, filter_shared_s=0, read_first_share=0,
    read_first_alone_share=0, lost_read_s=0,
)  # fmt: skip
FLASH = Device(name="flash", latency_s=0.001, bandwidth_bytes_per_s=1e15, channels=4)


def run(device: Device, groups: list, rows: list[int], **more: Any) -> Timeline:
    """Return the schedule of row groups that are lists of (offset, length)."""
    return simulate(device, Reads.of([], groups, rows), **more)


def scan(
    device: Device, sizes: list[int], *, slots: int, depth: int | None = None, costs: Costs = FREE
) -> float:
    """Return the end of a scan of one read a group."""
    groups = [[(sum(sizes[:n]), size)] for n, size in enumerate(sizes)]
    window = Window(slots=slots, depth=depth or len(sizes), threads=1)
    return run(device, groups, [100] * len(sizes), window=window, costs=costs).finished_s


@pytest.mark.parametrize(
    ("latency_us", "slots", "asked_us"),
    [(1000, 4, [0, 60, 120, 180, 1000]), (100, 8, [0, 60, 120, 220, 320]), (100, 2, [0, 60, 160, 260, 360])],
    ids=["none is back", "some are back", "slots come again"],
)
def test_reads_are_passed_out_quicker_as_long_as_none_comes_back(
    latency_us: int, slots: int, asked_us: list[int]
) -> None:
    """Passing out takes 100 us, of which 40 go to a read that has come back; each comes back after the latency."""
    device = FLASH.but(latency_s=1e-6 * latency_us, channels=8)
    costs = replace(FREE, dispatch_s=100e-6, returned_share=0.4)
    window = Window(slots=slots, depth=5, threads=1)
    told = run(device, [[(at, 1)] for at in range(5)], [1] * 5, window=window, costs=costs)
    assert np.sort(told.reads_s[:, 0]) == pytest.approx([1e-6 * at for at in asked_us])


@pytest.mark.parametrize(
    ("returned_share", "asked_us"), [(0.0, [0, 70, 140, 240, 340]), (0.4, [0, 30, 60, 160, 260])]
)
def test_reads_are_passed_out_quicker_into_slots_that_were_never_used(
    returned_share: float, asked_us: list[int]
) -> None:
    """Of 100 us 30 go to a slot that was used before; there are three, and each read comes back after 50 us."""
    device = FLASH.but(latency_s=50e-6, channels=8)
    costs = replace(FREE, dispatch_s=100e-6, returned_share=returned_share, refill_share=0.3)
    window = Window(slots=3, depth=5, threads=1)
    told = run(device, [[(at, 1)] for at in range(5)], [1] * 5, window=window, costs=costs)
    assert np.sort(told.reads_s[:, 0]) == pytest.approx([1e-6 * at for at in asked_us])
    assert costs.asking_s == pytest.approx(asked_us[1] * 1e-6)


def test_a_file_without_row_groups_is_opened_and_closed() -> None:
    """Without compiled code, where an index beside an array is an error."""
    code = """
from readahead.devices import device
from readahead.models.reads import Reads
from readahead.models.schedule import Costs, Window, simulate

reads = Reads.of([(100, 10)], [], [])
told = simulate(device("nvme"), reads, window=Window(slots=64, depth=64, threads=2), costs=Costs())
print(told.reads, told.arrived_s == told.opened_s, told.finished_s > told.opened_s)
"""
    own = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    said = subprocess.run([sys.executable, "-c", code], env=own, capture_output=True, text=True, check=True)
    assert said.stdout == "1 True True\n"


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=60), st.integers(1, 12), st.integers(1, 12),
    st.integers(1, 8), st.sampled_from([0.0, 0.0003, 0.002]),
)  # fmt: skip
def test_the_schedule_agrees_with_simpy(
    sizes: list, slots: int, depth: int, channels: int, decode_s: float
) -> None:
    device = Device(
        name="d",
        latency_s=0.001,
        bandwidth_bytes_per_s=1e15,
        channel_bandwidth_bytes_per_s=1e8,
        channels=channels,
    )
    window = Window(slots=slots, depth=depth, threads=1)
    costs = replace(FREE, group_s=decode_s)
    ours = scan(device, sizes, slots=slots, depth=depth, costs=costs)
    theirs = scan_in_simpy([0.001 + size / 1e8 for size in sizes], decode_s, window=window, channels=channels)
    assert ours == pytest.approx(theirs, rel=1e-6)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=40), st.integers(1, 30))
def test_one_more_slot_for_equal_reads_is_never_slower(sizes: list[int], slots: int) -> None:
    equal = [sizes[0]] * len(sizes)
    assert scan(FLASH, equal, slots=slots + 1) <= scan(FLASH, equal, slots=slots) + 1e-12


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=40), st.integers(1, 8), st.integers(1, 8))
def test_a_deeper_window_is_never_slower(sizes: list[int], depth: int, slots: int) -> None:
    """As long as few enough reads are asked for at once that they are answered in turn."""
    costs = replace(FREE, group_s=0.0003)
    deeper = scan(FLASH, sizes, slots=slots, depth=depth + 1, costs=costs)
    assert deeper <= scan(FLASH, sizes, slots=slots, depth=depth, costs=costs) + 1e-9


@pytest.mark.parametrize(
    ("latency_s", "wakes"), [(0.001, 0.0), (0.0015, 0.0), (0.00575, 0.5), (0.01, 1.0), (1.0, 1.0)]
)
def test_a_thread_that_slept_for_long_wakes_late_once_a_wait(latency_s: float, wakes: float) -> None:
    """Four reads one after the other: three are asked for after a wait, and the last one's worker has waited too."""
    device, sleepy = FLASH.but(latency_s=latency_s), replace(FREE, wake_s=0.0003)
    more_s = scan(device, [1] * 4, slots=1, depth=1, costs=sleepy) - scan(device, [1] * 4, slots=1, depth=1)
    assert more_s == pytest.approx(4 * wakes * 0.0003, rel=0.02, abs=1e-12)
    at_once = scan(device, [1] * 4, slots=4, costs=sleepy) - scan(device, [1] * 4, slots=4)
    reader_s = OWN_WAKE * 0.0003 * waking(latency_s, sleepy.asleep_s)
    worker_s = OWN_WAKE * 0.0003 * waking(latency_s + reader_s, sleepy.asleep_s)  # woken after its reader
    assert at_once == pytest.approx(reader_s + worker_s, rel=1e-9, abs=1e-12)


def test_opening_ends_with_the_first_read_which_is_handed_over_meanwhile() -> None:
    """The footer in two reads of 1 ms each, opening of 2 ms, and 0.3 ms from a free slot to its next read."""
    costs, window = replace(FREE, open_s=2e-3, read_s=0.3e-3), Window(slots=1, depth=1, threads=1)
    reads = Reads.of([(10, 1), (5, 5)], [[(0, 1)], [(1, 1)]], [1, 1])
    told = simulate(FLASH, reads, window=window, costs=costs)
    assert told.reads_s[:, 0] == pytest.approx([4.3e-3, 5.6e-3])


@pytest.mark.parametrize(("latency_s", "share"), [(0.01, 1.0), (0.0025, 0.435275), (0.16, 5.278032)])
def test_where_several_are_in_flight_whoever_goes_on_is_on_another_core(
    latency_s: float, share: float
) -> None:
    """Twelve reads: one by one none is later, and four at a time three are, one after the other."""
    device, apart = FLASH.but(latency_s=latency_s), replace(FREE, other_core_s=0.0004)
    for slots, waits in ((1, 0), (4, 3)):
        took_s = [scan(device, [1] * 12, slots=slots, depth=slots, costs=costs) for costs in (apart, FREE)]
        assert took_s[0] - took_s[1] == pytest.approx(0.0004 * share * waits, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("asleep_s", [0.004, 0.01])
def test_a_reader_that_nobody_asked_for_long_has_to_wake_too(asleep_s: float) -> None:
    """Between two reads many row groups are passed over, and it is always another reader that is asked."""
    sleepy, window = replace(FREE, wake_s=0.0003, asleep_s=asleep_s), Window(slots=4, depth=4, threads=1)

    def more_s(skip_group_s: float) -> float:
        groups = [[(0, 1)], *[[]] * 100, [(1, 1)], *[[]] * 100, [(2, 1)]]
        took_s = [
            run(FLASH.but(latency_s=0.02), groups, [1] * len(groups), window=window, costs=costs)
            for costs in (
                replace(sleepy, skip_group_s=skip_group_s),
                replace(FREE, skip_group_s=skip_group_s),
            )
        ]
        return took_s[0].finished_s - took_s[1].finished_s

    waits = 3 + 3 + 2  # whoever reads, whoever decodes, and whoever is asked for the last two
    assert more_s(1e-3) == pytest.approx(0.0003 * OWN_WAKE * waits, rel=1e-9)
    assert more_s(0.0) == pytest.approx(0.0003 * OWN_WAKE * waits, rel=1e-9)


@pytest.mark.parametrize(
    ("rows", "dearer", "took_s"),
    [(4_096, 0.5, 6_144), (8_192, 2.0, 24_576), (32_768, 0.5, 36_864), (10**6, 0.0, 10**6)],
)
def test_the_first_rows_of_a_row_group_are_dearer(rows: int, dearer: float, took_s: float) -> None:
    costs = replace(FREE, row_s=1e-8, first_row_s=dearer * 1e-8)
    told = run(FLASH, [[(0, 1)]], [rows], window=Window(slots=1, depth=1, threads=1), costs=costs)
    assert told.decode_s == pytest.approx(took_s * 1e-8)


@pytest.mark.parametrize(
    ("sizes", "depth", "fresh"),
    [
        ([250_000] * 8, 5, [0] * 8),  # so much is in use still
        ([2_000_000] * 6, 5, [0] + [1_250_000] * 4 + [0]),  # until the first gives its memory back
        ([1_000_000] * 6, 9, [0] + [400_000] * 5),
        (
            [4_000_000, 0, 3_000_000, 1_000_000],
            3,
            [0, 0, 750_000, 250_000],
        ),  # what is passed over takes no place
        ([10_000_000] * 2, 1, [0] * 2),  # each has the memory of the one before
    ],
)
def test_bytes_are_dearer_in_memory_that_was_not_used_for_long(
    sizes: list[int], depth: int, fresh: list[int]
) -> None:
    assert fresh_bytes(np.array(sizes), depth).tolist() == fresh
    costs = replace(FREE, row_s=1e-8, fresh_byte_s=2e-9)
    window = Window(slots=1, depth=depth, threads=1)
    spans = [[(0, size)] if size else [] for size in sizes]
    told = run(FLASH, spans, [10] * len(sizes), window=window, costs=costs)
    read = sum(size > 0 for size in sizes)
    assert told.decode_s == pytest.approx(read * 10 * 1e-8 + sum(fresh) * 2e-9)


@pytest.mark.parametrize(
    ("size", "depth", "large"),
    [
        (0, 1, 0),
        (5_000_000, 1, 0),
        (8_000_000, 1, 4_800_000),
        (10_000_000, 1, 10_000_000),
        (15_000_000, 1, 15_000_000),
        (1_250_000, 9, 0),  # all eight in a window hold 10 MB
        (2_000_000, 9, 1_200_000),
        (2_500_000, 9, 2_500_000),
        (11_000_000, 9, 11_000_000),
    ],
)
def test_bytes_are_dearer_in_a_row_group_that_is_in_no_cache_for_whatever_reason(
    size: int, depth: int, large: int
) -> None:
    """It is too large, alone or with all that its window holds, or its memory is fresh: not both together."""
    assert large_bytes(np.full(8, size), depth, 5_000_000).tolist() == [large] * 8
    costs = replace(FREE, row_s=1e-8, large_byte_s=3e-9, fresh_byte_s=2e-9)
    window = Window(slots=1, depth=depth, threads=1)
    spans = [[(0, size)] if size else []] * 8
    told = run(FLASH, spans, [10] * 8, window=window, costs=costs)
    fresh_bytes = max(0, 7 * size - 3_000_000) if depth > 1 else 0  # of all but the first one
    dearer_s = large * 3e-9 + max(7 * large * 3e-9, fresh_bytes * 2e-9)
    assert told.decode_s == pytest.approx(8 * (10 * 1e-8 if size else 0.0) + dearer_s, rel=1e-3)


def test_only_row_groups_of_the_first_window_are_driven_out_by_what_is_read_beside_them() -> None:
    """Later ones are read while the one before is decoded."""
    sizes = np.array([0, 4_000_000, 4_000_000, 8_000_000, 4_000_000])
    assert large_bytes(sizes, 3, 5_000_000).tolist() == [0, 2_400_000, 2_400_000, 4_800_000, 0]


@pytest.mark.parametrize(("cached_bytes", "large"), [(8e6, 0), (5e6, 4_800_000), (4e6, 8_000_000)])
def test_the_less_the_caches_hold_the_more_of_a_row_group_is_dearer(cached_bytes: float, large: int) -> None:
    costs = replace(FREE, large_byte_s=3e-9, cached_bytes=cached_bytes)
    told = run(FLASH, [[(0, 8_000_000)]], [1], window=Window(slots=1, depth=1, threads=1), costs=costs)
    assert told.decode_s == pytest.approx(large * 3e-9)


@pytest.mark.parametrize(("dispatch_us", "asked_us"), [(0, [0, 2, 3, 4]), (1.5, [0, 2, 3.5, 5])])
def test_a_read_is_asked_for_when_the_one_before_was_fetched_as_long_as_slots_were_never_used(
    dispatch_us: float, asked_us: list[float]
) -> None:
    """Of 2,000, 1,000, 1,000 and 1,000 bytes at 1 ns each; the fifth read takes the slot of one that has come back."""
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e12, channels=64)
    reads = Reads.of([], [[(n * 4_000, 1_000 + 1_000 * (n == 0))] for n in range(5)], [1] * 5)
    costs = replace(FREE, fetch_byte_s=1e-9, dispatch_s=dispatch_us * 1e-6)
    told = simulate(device, reads, window=Window(slots=4, depth=5, threads=1), costs=costs)
    begun_s = told.reads_s[:, 0] - told.reads_s[0, 0]
    assert begun_s[:4] == pytest.approx(np.array(asked_us) * 1e-6, abs=1e-9)
    assert begun_s[4] == pytest.approx(0.01, rel=0.01)


@pytest.mark.parametrize("filtered", [False, True])
def test_one_at_a_time_the_same_thread_goes_on_with_a_row_groups_next_read(filtered: bool) -> None:
    """Two row groups of two reads each: handing over takes 100 us, and going on three tenths of it."""
    spans = [[(0, 1), (2_000, 1)], [(4_000, 1), (6_000, 1)]]
    reads = Reads.of([], spans, [1] * 2)
    if filtered:
        reads = replace(reads, probes=spans_of([(9_000, 1), (0, 0)]))
    told = simulate(
        FLASH, reads, window=Window(slots=1, depth=1, threads=1), costs=replace(FREE, read_s=100e-6)
    )
    pauses_s = told.reads_s[1:, 0] - told.reads_s[:-1, 1]
    assert pauses_s == pytest.approx([30e-6, 100e-6, 30e-6], abs=1e-9)


@pytest.mark.parametrize(("depth", "columns", "pause_us"), [(1, 2, 100), (2, 2, 30), (3, 2, 30), (2, 1, 100)])
def test_a_thread_that_has_come_back_goes_on_with_a_read_that_waits_for_it(
    depth: int, columns: int, pause_us: float
) -> None:
    """Two reads at a time: one waits while the row groups under way have more of them, else it is handed over."""
    groups = [[(2_000 * (columns * group + at), 1) for at in range(columns)] for group in range(4)]
    window = Window(slots=2, depth=depth, threads=1)
    told = run(FLASH, groups, [1] * 4, window=window, costs=replace(FREE, read_s=100e-6))
    pauses_s = told.reads_s[2:, 0] - told.reads_s[:-2, 1]
    assert pauses_s == pytest.approx(pause_us * 1e-6, abs=1e-9)


@pytest.mark.parametrize(("read", "cleared"), [(1, 0), (2, 1), (3, 2), (6, 3)])
def test_at_the_end_no_place_is_cleared_of_a_row_group_that_was_passed_over(read: int, cleared: int) -> None:
    """Of twelve row groups the last ones are read, four under way at most: all but one place is left to be cleared."""
    groups = [[(2_000 * group, 1)] if group >= 12 - read else [] for group in range(12)]
    window = Window(slots=4, depth=4, threads=1)
    told, known = (
        run(FLASH, groups, [1] * 12, window=window, costs=replace(FREE, group_s=1e-3, clear_s=clear_s))
        for clear_s in (2e-4, 0.0)
    )
    assert told.decode_s == pytest.approx(known.decode_s) == pytest.approx(read * 1e-3)
    closing_s = told.finished_s - told.groups_s[:, 1].max()
    assert closing_s == pytest.approx(cleared * 2e-4, abs=1e-9)


@pytest.mark.parametrize(("reads", "slower_s"), [(1, 0.0), (2, 1e-3)])
def test_of_one_read_the_same_core_goes_on_however_many_might_be_in_flight(
    reads: int, slower_s: float
) -> None:
    groups, window = [[(2_000 * group, 1)] for group in range(reads)], Window(slots=4, depth=4, threads=1)
    device = FLASH.but(latency_s=0.01)
    told, known = (
        run(device, groups, [1] * reads, window=window, costs=replace(FREE, other_core_s=other_core_s))
        for other_core_s in (1e-3, 0.0)
    )
    assert told.finished_s - known.finished_s == pytest.approx(slower_s, rel=0.05)


@pytest.mark.parametrize(("keys", "matched"), [(0, 0), (4, 0), (5, 5), (100, 100)])
def test_each_row_with_a_key_is_dearer_where_keys_are_joined_with_the_table(keys: int, matched: int) -> None:
    """Two row groups of three are read: of 100 rows they have 90."""
    reads = Reads.of([], [[(0, 1)], [], [(1, 1)]], [30, 10, 60])
    costs, window = replace(FREE, match_s=1e-3), Window(slots=1, depth=1, threads=1)
    told = simulate(FLASH, replace(reads, keys=keys), window=window, costs=costs)
    assert told.decode_s == pytest.approx(0.9 * matched * 1e-3)


@pytest.mark.parametrize(
    ("waited_s", "share"), [(0.0, 0.0), (0.0054, 0.0), (0.0207, 0.5), (0.036, 1.0), (1.0, 1.0)]
)
def test_a_core_sleeps_the_deeper_the_longer_it_waits_and_no_deeper_in_the_end(
    waited_s: float, share: float
) -> None:
    assert waking(waited_s, 0.036) == pytest.approx(share)


@pytest.mark.parametrize(
    ("unused_s", "share"), [(-1e-9, 0.0), (0.0, 0.0), (0.0036, 0.1), (0.036, 1.0), (3.6, 39.8107)]
)
def test_a_page_takes_the_longer_the_longer_nobody_has_used_it(unused_s: float, share: float) -> None:
    assert stale(unused_s) == pytest.approx(share, rel=1e-4)


@pytest.mark.parametrize(
    ("unused_s", "early_share", "share"),
    [
        (0.002, 0.9, 0.0),
        (0.007, 0.9, 0.45),
        (0.012, 0.9, 0.9),
        (0.024, 0.9, 0.95),
        (0.036, 0.9, 1.0),
        (3.6, 0.9, 1 + 0.15 * 38.8107),
        (0.012, 1 / 3, 1 / 3),
        (3.6, 1 / 3, 39.8107),
        (3.6, 1.0, 1.0),
    ],
)
def test_what_is_lost_early_is_not_lost_again_later(
    unused_s: float, early_share: float, share: float
) -> None:
    assert stale_early(unused_s, early_share) == pytest.approx(share, rel=1e-4)


@pytest.mark.parametrize(
    ("large_byte_s", "rows", "longer_ms"),
    [
        (0.0, 0, 0.0),
        (0.0, 100_000, 1.2),
        (0.0, 1_000_000, 4.0),
        (0.1e-9, 100_000, 1.2),
        (1e-9, 100_000, 10.0),
    ],
)
def test_decoding_takes_no_longer_after_a_wait_where_no_cache_held_its_row_group(
    large_byte_s: float, rows: int, longer_ms: float
) -> None:
    """Decoding 1 and 10 ms uses 1,200 and 12,000 pages of 1 us, which take no more than 4 ms; a row group has 10 MB."""
    device = FLASH.but(latency_s=0.036, bandwidth_bytes_per_s=1e15)
    window = Window(slots=1, depth=1, threads=1)

    def decoding_s(**more: float) -> float:
        costs = replace(FREE, row_s=1e-8, **more)
        told = run(device, [[(0, 10_000_000)]], [rows], window=window, costs=costs)
        return float(np.diff(told.groups_s)[0, 0])

    longer_s = decoding_s(stale_page_s=1e-6, large_byte_s=large_byte_s) - decoding_s()
    handed_s = 575e-6  # whoever decodes is handed the read
    assert longer_s - handed_s == pytest.approx(longer_ms * 1e-3, rel=0.05, abs=2e-5)


@pytest.mark.parametrize(
    ("passed", "share"), [((), 1.0), ((0, 0), 1.0), ((1_000, 500), 0.75), ((1_000, 1_000), 2 / 3)]
)
def test_of_rows_that_a_filter_passes_over_less_is_decoded(passed: tuple[int, ...], share: float) -> None:
    reads = Reads.of([], [[(0, 1)], [(1, 1)]], [1_000, 1_000])
    costs, window = replace(FREE, row_s=1e-6, passed_share=1 / 3), Window(slots=1, depth=1, threads=1)
    told = simulate(FLASH, replace(reads, passed_rows=np.array(passed, np.int64)), window=window, costs=costs)
    assert told.decode_s == pytest.approx(2e-3 * share)


@pytest.mark.parametrize(
    ("keys", "size", "share"),
    [
        (0, 1, 1.0),
        (1, 1, 0.6),
        (9, 1_500_000, 0.6),
        (9, 5_250_000, 0.8),
        (1, 9_000_000, 1.0),
        (1, 10**8, 1.0),
    ],
)
def test_a_lookup_of_few_bytes_finds_what_planning_opening_and_closing_use_in_the_caches(
    keys: int, size: int, share: float
) -> None:
    """Each takes 1 ms, besides 1 ms for the footer and 1 ms for the read."""
    costs = replace(FREE, plan_s=1e-3, open_s=1e-3, close_s=1e-3, cached_share=0.6)
    reads = replace(Reads.of([(0, 1)], [[(0, size)]], [0]), keys=keys)
    told = simulate(FLASH, reads, window=Window(slots=1, depth=1, threads=1), costs=costs)
    assert told.finished_s == pytest.approx((2 + 3 * share) * 1e-3, rel=1e-4)


TINY_S = 1e-12
"""So little that a stale page takes no time of which others would become stale."""


@pytest.mark.parametrize(("rows", "used"), [(100_000, 1_200), (1_000_000, 12_000)])
@pytest.mark.parametrize(("depth", "waits"), [(1, 3), (3, 1)])
def test_what_a_query_uses_again_and_again_is_stale_after_each_wait_and_what_it_uses_once_since_it_began(
    rows: int, used: float, depth: int, waits: int
) -> None:
    """Three row groups at once are waited for once. Decoding takes 10 ns a row, and uses 1.2 pages in 1 us."""
    costs = replace(FREE, row_s=1e-8, stale_page_s=TINY_S)
    window = Window(slots=depth, depth=depth, threads=1)
    device = FLASH.but(latency_s=0.036, bandwidth_bytes_per_s=1e12)

    def told(costs: Costs) -> Timeline:
        reads = Reads.of([(0, 1)], [[(0, 1_000)]] * 3, [rows] * 3)
        return simulate(device, reads, window=window, costs=costs)

    warm, colder = told(replace(costs, stale_page_s=0.0)), told(costs)
    assert colder.decode_s - warm.decode_s == pytest.approx(waits * used * TINY_S, rel=1e-3)
    assert colder.opened_s - warm.opened_s == pytest.approx((1_300 + 1_900) * TINY_S, rel=1e-3)
    passing_s = waits * 1_300 * TINY_S
    closing_s = 350 * stale_early(warm.finished_s, costs.stale_early_share) * TINY_S
    if depth == 1:  # whoever reads has waited for whoever decodes
        passing_s += 2 * 575 * rows * 1e-8 / 0.036 * TINY_S
    once_s = colder.finished_s - warm.finished_s - (colder.decode_s - warm.decode_s) - passing_s
    assert once_s == pytest.approx((1_300 + 1_900) * TINY_S + closing_s, rel=1e-2)


def test_what_has_to_be_parsed_of_a_footer_uses_stale_pages_as_decoding_does() -> None:
    device, window = FLASH.but(latency_s=0.036), Window(slots=1, depth=1, threads=1)
    reads = Reads.of([(0, 1)], [[(0, 1)]] * 10, [0] * 10)
    known = replace(FREE, stale_page_s=TINY_S)
    few, many = (
        simulate(device, reads, window=window, costs=replace(known, open_group_s=group_s)).opened_s - parsed_s
        for group_s, parsed_s in ((0.0, 0.0), (0.125e-3, 1.25e-3))
    )
    assert many - few == pytest.approx(1_500 * TINY_S, rel=1e-2)


@pytest.mark.parametrize("reads", [1, 2, 8, 64])
def test_reads_that_arrive_together_return_one_at_a_time(reads: int) -> None:
    """The last one's row group is decoded when all have returned, and it has been handed over."""
    device = Device(name="d", latency_s=0.036, bandwidth_bytes_per_s=1e15, channels=64)
    window = Window(slots=reads, depth=reads, threads=1)
    took_s = [
        run(
            device, [[(0, 1)] * reads], [0], window=window, costs=replace(FREE, stale_page_s=page_s)
        ).finished_s
        for page_s in (0.0, TINY_S)
    ]
    pages = 150 * reads + 2 * 575 + 350
    assert took_s[1] - took_s[0] == pytest.approx(pages * TINY_S, rel=1e-2)


@pytest.mark.parametrize(
    ("depth", "decode_s", "took_s"),
    [
        (1, 0.0005, 4 * (0.001 + 0.002 + 0.0005)),
        (2, 0.0005, 2 * (0.001 + 0.002) + 3 * 0.0005),  # copied beside each other, and beside decoding
        (2, 0.004, 0.001 + 0.002 + 4 * 0.004),
    ],
)
def test_whoever_has_read_copies_before_it_is_decoded_and_before_it_reads_again(
    depth: int, decode_s: float, took_s: float
) -> None:
    """Four row groups of 1 MB at 2 ns a byte, by slots that have to wait for 1 ms."""
    costs = replace(FREE, copy_byte_s=2e-9, group_s=decode_s)
    assert scan(FLASH, [1_000_000] * 4, slots=depth, depth=depth, costs=costs) == pytest.approx(
        took_s, rel=1e-3
    )


@pytest.mark.parametrize(
    ("workers", "cores", "slots", "more_s"),
    [
        (2, 2, 24, 3 * 0.0006),  # of the four row groups of a worker it has waited for the first
        (2, 3, 24, 0.0),  # a core is left for whoever reads
        (4, 2, 24, 0.0012 + 0.0002),  # two workers share a core, which is free for 1 ms before the first
        (2, 2, 1, 0.0),  # the workers wait for the device each time: so long their cores are free
    ],
)
def test_a_worker_on_every_core_shares_it_with_whoever_reads(
    workers: int, cores: int, slots: int, more_s: float
) -> None:
    """Eight row groups of three reads each, of which each takes 1 ms of the device and 0.2 ms of a core."""
    reads = Reads.of([], [[(9 * at, 9)] * 3 for at in range(8)], [1] * 8)
    window = Window(slots=slots, depth=8, threads=workers, cores=cores)
    took_s = [
        simulate(
            FLASH.but(channels=64),
            reads,
            window=window,
            costs=replace(FREE, group_s=0.003, shared_read_s=shared_s),
        ).finished_s
        for shared_s in (0.0, 0.0002)
    ]
    assert took_s[1] - took_s[0] == pytest.approx(more_s, abs=1e-12)


@pytest.mark.parametrize(
    ("workers", "depth", "own", "group_s", "more_s"),
    [
        (1, 8, False, 0.003, 7 * 0.0006),  # before the first row group it has waited
        (2, 8, False, 0.003, 3 * 0.0006),
        (1, 1, False, 0.003, 0.0),  # nobody reads while it decodes
        (1, 8, True, 0.003, 0.0),
    ],
)
def test_who_decodes_without_a_pause_loses_a_little_to_each_read(
    workers: int, depth: int, own: bool, group_s: float, more_s: float
) -> None:
    """Eight row groups of three reads each, of which each takes 1 ms of the device; a core is spare."""
    reads = Reads.of([], [[(9 * at, 9)] * 3 for at in range(8)], [1] * 8)
    window = Window(slots=3 * depth, depth=depth, threads=workers, cores=4, own_reads=own)
    took_s = [
        simulate(
            FLASH.but(channels=64),
            reads,
            window=window,
            costs=replace(FREE, group_s=group_s, lost_read_s=lost_s),
        ).finished_s
        for lost_s in (0.0, 0.0002)
    ]
    assert took_s[1] - took_s[0] == pytest.approx(more_s, abs=1e-12)


@pytest.mark.parametrize(
    ("slots", "jumps"), [(1, 0), (3, 0), (4, 0), (5, 2), (6, 3), (8, 4), (16, 11), (64, 51)]
)
def test_of_the_reads_that_are_asked_for_at_once_more_jump_the_more_there_are(slots: int, jumps: int) -> None:
    """On one channel with a head, which moves once to the file."""
    arm = Device(name="arm", latency_s=0.0, seek_s=0.01, bandwidth_bytes_per_s=1e15)
    assert scan(arm, [9] * 100, slots=slots) == pytest.approx(0.01 * (1 + jumps))


@pytest.mark.parametrize("depth", [1, 4, 12])
def test_row_groups_are_passed_over_before_the_next_read_is_asked_for(depth: int) -> None:
    """Of twelve row groups the tenth is read, and takes 1 ms of the device; the others 0.5 ms each of the worker."""
    reads = Reads.of([], [[]] * 9 + [[(0, 9)]] + [[]] * 2, [1] * 12)
    window = Window(slots=depth, depth=depth, threads=1)
    told = simulate(FLASH, reads, window=window, costs=replace(FREE, skip_group_s=0.5e-3))
    assert told.reads_s[0, 0] == pytest.approx(9 * 0.5e-3)
    assert told.decode_s == pytest.approx(11 * 0.5e-3)
    # where there is a place for them, the last two are passed over while the read is waited for
    assert told.finished_s == pytest.approx(9 * 0.5e-3 + 1e-3 + (2 * 0.5e-3 if depth == 1 else 0.0))


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
@pytest.mark.parametrize(("latency_s", "more"), [(0.010, 1), (0.0, 0)])
def test_places_are_cleared_when_others_take_them_or_at_the_end(
    depth: int, latency_s: float, more: int
) -> None:
    """Eight row groups of 3 ms each, 1 ms of which clears a place. Where the device is waited for, the end is later."""
    device = FLASH.but(channels=1, latency_s=latency_s)
    told = [
        scan(
            device,
            [9] * 8,
            slots=min(depth, 4),
            depth=depth,
            costs=replace(FREE, group_s=3e-3, clear_s=clear_s),
        )
        for clear_s in (0.0, 1e-3)
    ]
    assert told[1] - told[0] == pytest.approx(more * 1e-3 * (min(depth, 8) - 1), abs=1e-12)


@pytest.mark.parametrize(("keys", "more_s"), [(0, 0.0), (1, 0.0), (4, 0.0), (5, 3e-3), (20, 3e-3)])
def test_a_lookup_whose_keys_are_joined_takes_longer_to_open_and_to_close(keys: int, more_s: float) -> None:
    reads = replace(Reads.of([(50, 9)], [[(0, 9)]] * 2, [1] * 2), keys=keys)
    window = Window(slots=1, depth=1, threads=1)
    free, dear = (
        simulate(
            FLASH, reads, window=window, costs=replace(FREE, open_lookup_s=open_s, close_lookup_s=close_s)
        )
        for open_s, close_s in ((0.0, 0.0), (1e-3, 2e-3))
    )
    assert dear.finished_s - free.finished_s == pytest.approx(more_s, abs=1e-12)
    assert dear.opened_s - free.opened_s == pytest.approx(more_s / 3, abs=1e-12)


def test_a_late_read_is_its_workers_and_keeps_the_window_shut() -> None:
    """Each read takes 1 ms. Of four row groups two are under way; the first has a read that waits for its filters."""
    device = replace(FLASH, channels=64)
    reads = Reads.of([], [[(0, 9), (100, 9)], [(10, 9)], [(20, 9)], [(30, 9)]], [1] * 4)
    late = replace(reads, late=spans_of([(1, 0), (0, 0)]).ravel())
    window = Window(slots=8, depth=2, threads=1)
    at_once, apart = (simulate(device, one, window=window, costs=FREE) for one in (reads, late))
    assert at_once.finished_s == pytest.approx(0.002)
    # 0 ms: groups 1 and 2; 1 ms: the late read; 2 ms: groups 3 and 4, whose places are free now
    assert apart.reads_s[:, 0] == pytest.approx([0, 0.001, 0, 0.002, 0.002])
    assert apart.finished_s == pytest.approx(0.003)
    assert apart.bytes_read == at_once.bytes_read and apart.reads == at_once.reads


def test_a_late_read_waits_behind_those_that_were_asked_for_before() -> None:
    """On one channel the late read of the first row group comes after the reads of all that are under way."""
    device = replace(FLASH, channels=1)
    reads = Reads.of([], [[(0, 9), (100, 9)], [(10, 9)], [(20, 9)], [(30, 9)]], [1] * 4)
    late = replace(reads, late=spans_of([(1, 0), (0, 0)]).ravel())
    found = simulate(device, late, window=Window(slots=8, depth=3, threads=1), costs=FREE)
    assert found.reads_s[:, 1] == pytest.approx([0.001, 0.004, 0.002, 0.003, 0.005])


def test_twelve_equal_reads_over_four_channels_take_three_rounds() -> None:
    assert scan(FLASH, [1] * 12, slots=12) == pytest.approx(0.003, rel=1e-6)


def test_depth_one_adds_reading_and_decoding() -> None:
    costs = replace(FREE, group_s=0.002)
    assert scan(FLASH, [1] * 5, slots=1, depth=1, costs=costs) == pytest.approx(5 * 0.003, rel=1e-6)


@given(st.integers(0, 300))
def test_each_of_the_reads_asked_for_at_once_is_answered_once_and_the_less_in_turn_the_more_there_are(
    count: int,
) -> None:
    order = answer_order(count)
    assert sorted(order) == list(range(count))
    assert max((at - read for at, read in enumerate(order)), default=0) <= count / 2 * (1 + count / 32)


@pytest.mark.parametrize(
    ("groups", "left"), [(1, 1), (4, 1), (5, 2), (8, 2), (9, 1), (16, 2), (32, 3), (64, 1), (128, 18)]
)
def test_who_is_late_of_those_that_were_asked_for_at_once_keeps_the_ones_behind_it_waiting(
    groups: int, left: int
) -> None:
    """One channel answers a read a millisecond; decoding goes in file order, and waits for the last answer."""
    costs, device = replace(FREE, group_s=0.0001), replace(FLASH, channels=1)
    at_once, in_turn = (scan(device, [1] * groups, slots=slots, costs=costs) for slots in (groups, 1))
    assert at_once == pytest.approx(0.001 * groups + 0.0001 * left)
    assert in_turn == pytest.approx(0.001 * groups + 0.0001)


def test_many_in_flight_hide_the_device_behind_decoding() -> None:
    costs = replace(FREE, group_s=0.002)
    assert scan(FLASH, [1] * 50, slots=4, depth=50, costs=costs) == pytest.approx(
        0.001 + 50 * 0.002, rel=1e-6
    )


def test_groups_that_are_ruled_out_hold_their_place_in_the_window() -> None:
    """Two groups far apart cannot be read together when the window is short."""
    far = [[(0, 1)], *[[] for _ in range(20)], [(10**6, 1)]]
    ends = {
        depth: run(
            FLASH, far, [1] * 22, window=Window(slots=8, depth=depth, threads=1), costs=FREE
        ).finished_s
        for depth in (8, 32)
    }
    assert ends[32] == pytest.approx(0.001, rel=1e-6)
    assert ends[8] == pytest.approx(0.002, rel=1e-6)


def test_bloom_filters_are_asked_one_after_the_other_whatever_is_in_flight() -> None:
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e9, channels=64)
    costs = Costs(**dict.fromkeys(Costs.__slots__, 0.0))
    reads = Reads.of([], [[(n * 1_000, 1_000)] for n in range(10)], [1] * 10)
    window = Window(slots=10, depth=10, threads=1)
    together = simulate(device, reads, window=window, costs=costs)
    probed = replace(reads, probes=spans_of([(50_000 + n, 1_000) for n in range(10)]))
    asked = simulate(device, probed, window=window, costs=costs)
    assert together.finished_s == pytest.approx(0.010, rel=0.01)
    assert asked.finished_s == pytest.approx(
        10 * 0.010 + 0.010, rel=0.01
    )  # ten in a chain, and the last read
    assert asked.reads == 20 and asked.bytes_read == 20_000
    none = simulate(device, replace(reads, probes=spans_of([(0, 0)] * 10)), window=window, costs=costs)
    assert none.finished_s == pytest.approx(together.finished_s, rel=1e-12)


def probed(spans: list[list[tuple[int, int]]]) -> Reads:
    """Return the reads of row groups of one row, each with a Bloom filter of a byte to ask first."""
    reads = Reads.of([], spans, [1] * len(spans))
    return replace(reads, probes=spans_of([(10**6 + n, 1) for n in range(len(spans))]))


@pytest.mark.parametrize(("let_through", "filter_s"), [(0, 0.72 * 0.004), (1, 0.004)])
def test_a_filter_that_lets_nothing_through_takes_less(let_through: int, filter_s: float) -> None:
    """Ten filters of 10 ms each, and behind the last one its read, if there is one."""
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e12, channels=64)
    reads = probed([[(n, 1)] * let_through for n in range(10)])
    window = Window(slots=10, depth=10, threads=1)
    told = simulate(device, reads, window=window, costs=replace(FREE, filter_s=0.004))
    assert told.finished_s == pytest.approx(10 * (0.010 + filter_s) + 0.010 * let_through, rel=1e-6)


def test_all_reads_that_a_filter_let_through_are_asked_for_before_its_worker_decodes() -> None:
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e12, channels=64)
    reads = probed([[(100 * n, 1), (100 * n + 1, 1)] for n in range(4)])
    slow = replace(FREE, group_s=0.004)
    seen = simulate(device, reads, window=Window(slots=8, depth=2, threads=1), costs=slow)
    starts = seen.reads_s[:, 0].reshape(4, 2)
    # a filter takes 10 ms, a row group's reads 10 ms more; the window is full with two: one is decoded, the next asked
    assert starts[:, 0] == pytest.approx([0.010, 0.020, 0.034, 0.048])
    assert starts[:, 1] == pytest.approx(starts[:, 0])


@pytest.mark.parametrize(
    ("together", "alone", "ahead"),
    [(0, 0, 0), (0.25, 0.25, 10), (0.7, 0.7, 27), (1, 1, 39), (1, 0, 0), (0, 1, 20), (0.9, 0.1, 15)],
)
def test_a_row_groups_only_read_is_asked_for_before_the_next_filter_as_often_as_was_seen(
    together: float, alone: float, ahead: int
) -> None:
    """A filter takes 10 ms, and 16 behind a read, which the link transfers for 6: then both come together.

    Of 40, 39 are in a race. Whoever has won goes on winning if a read is first only where another came together with
    the filter; they take turns if only where none did.
    """
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e8, channels=64)
    reads = probed([[(n * 10**7, 600_000)] for n in range(40)])
    window = Window(slots=40, depth=40, threads=1)
    costs = replace(FREE, read_first_share=together, read_first_alone_share=alone)
    asked_s = simulate(device, reads, window=window, costs=costs).reads_s[:, 0]
    assert sum(np.diff(asked_s) > 0.013) == ahead
    assert asked_s[-1] == pytest.approx(0.01 * 40 + 0.006 * ahead, rel=1e-4)


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize(("slices", "ahead"), [(0.07, 2), (0.4, 13), (1.0, 32)])
def test_where_a_row_group_is_decoded_in_between_a_read_is_first_as_often_as_that_takes_of_a_time_slice(
    share: float, slices: float, ahead: int
) -> None:
    """Whatever was seen where nothing is: a filter takes 10 ms, and 16 behind a read, which the link transfers for 6.

    Of 40 row groups 8 are in the window, so that it is full in 32 of the races.
    """
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e8, channels=64)
    reads = probed([[(n * 10**7, 600_000)] for n in range(40)])
    costs = replace(FREE, read_first_share=share, read_first_alone_share=share, group_s=slices * TIME_SLICE_S)
    window = Window(slots=40, depth=8, threads=1)
    asked_s = np.sort(simulate(device, reads, window=window, costs=costs).reads_s[:, 0])
    assert sum(np.diff(asked_s[7:]) > 0.013) == ahead


def test_a_filter_that_came_together_with_a_read_takes_longer_to_look_into() -> None:
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e8, channels=64)
    reads = probed([[(n * 10**7, 600_000)] for n in range(40)])
    window = Window(slots=40, depth=40, threads=1)
    for share, together in ((1, 39), (0, 0)):
        costs = replace(FREE, read_first_share=share, read_first_alone_share=share)
        plain, shared = (
            simulate(device, reads, window=window, costs=replace(costs, filter_shared_s=more_s)).arrived_s
            for more_s in (0.0, 1e-4)
        )
        assert shared - plain == pytest.approx(1e-4 * together, abs=1e-6)


@pytest.mark.parametrize(("reads_each", "least", "most"), [(1, 32, 40), (2, 0, 8)])
def test_no_core_sleeps_from_one_read_to_the_bloom_filter_that_came_right_after_it(
    reads_each: int, least: int, most: int
) -> None:
    """A filter waits 16 ms, 6 of them for the link: for one read, or for two, of which the first came 3 ms before.

    A core that has slept for 16 ms takes longer to wake, and one that has for 3 does not. Of 40, the window of 8 is
    full for 32, and decoding lets all reads be first; before, they are in a race with the filter.
    """
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e8, channels=64)
    size = 600_000 // reads_each
    reads = probed([[(n * 10**7 + at * size, size) for at in range(reads_each)] for n in range(40)])
    window = Window(slots=80, depth=8, threads=1)
    known = replace(FREE, read_first_share=1, read_first_alone_share=1, group_s=TIME_SLICE_S, asleep_s=0.03)
    awake, asleep = (
        simulate(device, reads, window=window, costs=replace(known, wake_s=wake_s)).arrived_s
        for wake_s in (0.0, 1e-4)
    )
    woken = (asleep - awake) / (OWN_WAKE * 1e-4 * waking(0.016, 0.03))
    assert least <= woken <= most


def test_of_a_row_groups_reads_none_or_the_first_or_any_number_is_asked_for_before_the_next_filter() -> None:
    """On one channel whatever is asked for later waits: where 10 ms pass without a read, a filter was read."""
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e12, channels=1)
    reads = probed([[(3 * n, 1), (3 * n + 1, 1), (3 * n + 2, 1)] for n in range(41)])
    seen = simulate(device, reads, window=Window(slots=123, depth=41, threads=1), costs=FREE)
    answered = set(np.rint(seen.reads_s[:, 1] / device.latency_s).astype(int))
    filters = [turn for turn in range(1, 165) if turn not in answered]
    assert len(filters) == 41
    # before filter n were n others and all reads of the row groups before the last
    ahead = [turn - 1 - n - 3 * (n - 1) for n, turn in enumerate(filters)][1:]
    assert [ahead.count(number) for number in range(4)] == [7, 15, 10, 8]  # 16, 40, 22 and 22 % of 40 races


@pytest.mark.parametrize(("together", "before"), [(0.0, 0), (1.0, 5)])
def test_an_only_read_is_asked_for_before_the_next_filter_the_more_often_the_longer_is_decoded(
    together: float, before: int
) -> None:
    """A filter takes 10 ms, and 20 behind a read. Its worker decodes once the window of 8 is full, for 32 of 40.

    That another came together with the filter counts only `before`.
    """
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e8, channels=64)
    reads, window = probed([[(n * 10**7, 10**6)] for n in range(40)]), Window(slots=40, depth=8, threads=1)
    known = replace(FREE, read_first_share=together)
    ahead = [
        sum(np.diff(simulate(device, reads, window=window, costs=costs).reads_s[:, 0]) > 0.018)
        for costs in (replace(known, group_s=turns * TIME_SLICE_S) for turns in (0.25, 0.5, 0.75, 1, 2))
    ]
    assert ahead == [before + more for more in (8, 16, 24, 32, 32)]


def test_a_bloom_filter_is_asked_before_the_reads_that_have_no_slot_yet() -> None:
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e12, channels=1)
    reads = probed([[(n, 1) for n in range(4)], [(9, 1)]])
    seen = simulate(device, reads, window=Window(slots=2, depth=2, threads=1), costs=FREE)
    # filter, two reads, filter, the other two, and the other group's
    assert seen.reads_s[:, 1] == pytest.approx([0.02, 0.03, 0.05, 0.06, 0.07])


@pytest.mark.parametrize(("depth", "finished_s"), [(10, 0.140), (4, 0.140), (1, 0.250)])
def test_who_asks_a_bloom_filter_is_a_worker_and_decodes_only_when_the_window_is_full(
    depth: int, finished_s: float
) -> None:
    """In ms: a filter takes 10, a read 11, decoding 4.

    With a place for all ten it asks until 100, and has decoded nine of them at 136. With four places it asks at 0, 10,
    20 and 30, then after a group each, at 44 and so on up to 114; four are left at 124, the last of them comes at 135.
    With one place all follow each other.
    """
    device = Device(
        name="d", latency_s=0.01, bandwidth_bytes_per_s=1e15, channel_bandwidth_bytes_per_s=1e9, channels=64
    )
    reads = probed([[(n * 10**6, 10**6)] for n in range(10)])
    window = Window(slots=10, depth=depth, threads=1)
    seen = simulate(device, reads, window=window, costs=replace(FREE, group_s=0.004))
    assert seen.finished_s == pytest.approx(finished_s, rel=1e-6)


def test_the_timeline_counts_what_was_read() -> None:
    reads = Reads.of([(900, 100)], [[(0, 10), (50, 20)], []], [5, 5])
    timeline = simulate(FLASH, reads, window=Window(slots=2, depth=2, threads=1), costs=FREE)
    assert (timeline.reads, timeline.bytes_read) == (3, 130)


# -- the terms: laws that no storage can break ------------------------------------------------------------
ROWS, WIDTH = 2_097_152, 20.0
PLACES = st.fixed_dictionaries(
    {
        "latency_s": st.floats(1e-5, 0.05),
        "bandwidth_bytes_per_s": st.floats(1e6, 1e10),
        "channels": st.integers(1, 64),
        "seek_s": st.sampled_from([0.0, 0.01]),
    }
)
GROUPS = st.integers(4, 512).map(lambda n: n * 2048)
EIGHT = Window(slots=8, depth=8, threads=1)


def even(group_rows: int, width: float = WIDTH) -> Reads:
    """Return the reads of a table in equal row groups."""
    return even_reads([("a", width)], ROWS, group_rows, {"a"}, gap_bytes=0, footer_bytes_per_group=80)


@given(PLACES, GROUPS)
def test_no_scan_is_faster_than_the_bandwidth_or_one_latency(place: dict, rows: int) -> None:
    device = Device(name="d", **place)
    took_s = simulate(device, even(rows), window=EIGHT, costs=Costs()).finished_s
    assert took_s >= ROWS * WIDTH / device.bandwidth_bytes_per_s * (1 - 1e-5)
    assert took_s >= device.latency_s


@given(PLACES, GROUPS, st.floats(1.0, 3.0))
def test_more_bytes_never_take_less_time_once_the_file_is_open(place: dict, rows: int, wider: float) -> None:
    """Opening may be shorter: DuckDB guesses a longer footer in a longer file, and then needs one read, not two."""
    device = Device(name="d", **{**place, "seek_s": 0.0})
    thin, thick = (
        simulate(device, even(rows, width), window=EIGHT, costs=Costs()) for width in (WIDTH, WIDTH * wider)
    )
    assert thick.finished_s - thick.opened_s >= thin.finished_s - thin.opened_s - 1e-9


@given(PLACES, GROUPS, st.integers(1, 40), st.integers(1, 40), st.integers(1, 4))
def test_the_terms_add_up_to_the_time_and_none_is_negative(
    place: dict, rows: int, slots: int, depth: int, threads: int
) -> None:
    window = Window(slots=slots, depth=depth, threads=threads)
    told = simulate(Device(name="d", **place), even(rows), window=window, costs=Costs())
    estimate = told.estimate
    assert estimate.seconds == pytest.approx(told.finished_s, rel=1e-9)
    assert list(estimate.terms_s) == ["open", "seek", "latency", "transfer", "engine", "cpu"]
    assert min(estimate.terms_s.values()) >= -1e-12 <= min(estimate.overlapped_s.values())


def test_the_terms_are_those_of_the_critical_path() -> None:
    """One read at a time and decoding in between: every read's parts count, and every decoding."""
    device = Device(name="d", latency_s=0.004, bandwidth_bytes_per_s=1e8)
    costs = replace(FREE, read_s=0.001, row_s=1e-5)
    reads = Reads.of([], [[(n * 10**6, 10**6)] for n in range(10)], [100] * 10)
    path = simulate(device, reads, window=Window(slots=1, depth=1, threads=1), costs=costs).path_s
    assert path == pytest.approx({"seek": 0, "latency": 0.04, "transfer": 0.1, "engine": 0.01, "cpu": 0.01})
    behind = simulate(device, reads, window=Window(slots=2, depth=4, threads=1), costs=costs)
    assert behind.path_s["cpu"] == pytest.approx(0.001)  # of the last one: nothing hides it
    assert behind.estimate.overlapped_s["cpu"] == pytest.approx(0.009)


@pytest.mark.parametrize(
    ("device", "costs", "bottleneck"),
    [
        (Device(name="far", latency_s=0.05, bandwidth_bytes_per_s=1e9, channels=64), Costs(), "latency"),
        (Device(name="thin", latency_s=1e-4, bandwidth_bytes_per_s=5e6, channels=64), Costs(), "transfer"),
        (Device(name="arm", latency_s=1e-4, seek_s=0.01, bandwidth_bytes_per_s=1e9, channels=2), Costs(), "seek"),
        (Device(name="near", latency_s=1e-5, bandwidth_bytes_per_s=1e10, channels=64), Costs(row_s=1e-6), "cpu"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)  # fmt: skip
def test_the_bottleneck_follows_the_device(device: Device, costs: Costs, bottleneck: str) -> None:
    told = simulate(device, even(2_048), window=EIGHT, costs=costs)
    assert told.estimate.bottleneck == bottleneck


RUN = """
from readahead.devices import device
from readahead.models.reads import even_reads
from readahead.models.schedule import Costs, Window, simulate

reads = even_reads([("a", 20.0)], 200_000, 8_192, {"a"}, gap_bytes=0, footer_bytes_per_group=80)
for name in ("nvme", "textbook-disk", "sas-15k-x8"):
    costs = Costs(returned_share=0.4, refill_share=0.1)
    print(simulate(device(name), reads, window=Window(slots=3, depth=5, threads=2), costs=costs))
"""


@pytest.mark.parametrize(
    ("code", "environment"),
    [
        ("import sys; sys.modules['numba'] = None", {}),
        ("", {"NUMBA_DISABLE_JIT": "1"}),
    ],
    ids=["without numba", "without a compiler"],
)
def test_the_same_functions_run_where_nothing_can_be_compiled(code: str, environment: dict) -> None:
    def said(code: str, **environment: str) -> str:
        command = [sys.executable, "-c", code + RUN]
        own = os.environ | environment
        return subprocess.run(command, env=own, capture_output=True, text=True, check=True).stdout

    usual = said("")
    assert usual.count("Timeline(") == 3
    assert said(code, **environment) == usual
