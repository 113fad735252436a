"""The schedule of a scan, held to its laws and to an independent simulation."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.devices import Device
from readahead.models.schedule import Costs, Window, simulate
from tools.bench.models import scan_in_simpy

FREE = Costs(
    plan_s=0, plan_key_s=0, open_s=0, open_group_s=0, open_key_s=0, read_s=0, dispatch_s=0, skip_group_s=0,
    prune_key_s=0, group_s=0, row_s=0, close_s=0,
)  # fmt: skip
FLASH = Device(name="flash", latency_s=0.001, bandwidth_bytes_per_s=1e15, channels=4)


def scan(
    device: Device, sizes: list[int], *, slots: int, depth: int | None = None, costs: Costs = FREE
) -> float:
    """Return the end of a scan of one read a group."""
    groups = [[(sum(sizes[:n]), size)] for n, size in enumerate(sizes)]
    window = Window(slots=slots, depth=depth or len(sizes), threads=1)
    return simulate(device, [], groups, [100] * len(sizes), window=window, costs=costs).finished_s


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


@given(
    st.lists(st.one_of(st.none(), st.integers(1, 10**7)), min_size=1, max_size=60),
    st.integers(1, 12), st.integers(1, 8), st.sampled_from([1e7, 1e9, 1e15]),
)  # fmt: skip
def test_the_quick_way_and_the_general_way_are_one(
    sizes: list, depth: int, channels: int, rate: float
) -> None:
    """A head that moves in no time changes nothing but the way that is taken."""
    quick = Device(name="d", latency_s=0.001, bandwidth_bytes_per_s=rate, channels=channels)
    groups = [[(n * 10**7, size)] if size else [] for n, size in enumerate(sizes)]
    ends = [
        simulate(
            device, [(0, 100)], groups, [1000] * len(groups),
            window=Window(slots=depth, depth=depth, threads=1), costs=Costs(), keys=3,
        )
        for device in (quick, quick.but(seek_s=1e-15))
    ]  # fmt: skip
    assert ends[0].finished_s == pytest.approx(ends[1].finished_s, rel=1e-9)
    assert ends[0].arrived_s == pytest.approx(ends[1].arrived_s, rel=1e-9)
    assert (ends[0].reads, ends[0].bytes_read) == (ends[1].reads, ends[1].bytes_read)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=40), st.integers(1, 30))
def test_one_more_slot_for_equal_reads_is_never_slower(sizes: list[int], slots: int) -> None:
    equal = [sizes[0]] * len(sizes)
    assert scan(FLASH, equal, slots=slots + 1) <= scan(FLASH, equal, slots=slots) + 1e-12


@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=40), st.integers(1, 8), st.integers(1, 8))
def test_a_deeper_window_is_never_slower(sizes: list[int], depth: int, slots: int) -> None:
    costs = replace(FREE, group_s=0.0003)
    deeper = scan(FLASH, sizes, slots=slots, depth=depth + 1, costs=costs)
    assert deeper <= scan(FLASH, sizes, slots=slots, depth=depth, costs=costs) + 1e-9


def test_twelve_equal_reads_over_four_channels_take_three_rounds() -> None:
    assert scan(FLASH, [1] * 12, slots=12) == pytest.approx(0.003, rel=1e-6)


def test_depth_one_adds_reading_and_decoding() -> None:
    costs = replace(FREE, group_s=0.002)
    assert scan(FLASH, [1] * 5, slots=1, depth=1, costs=costs) == pytest.approx(5 * 0.003, rel=1e-6)


def test_many_in_flight_hide_the_device_behind_decoding() -> None:
    costs = replace(FREE, group_s=0.002)
    assert scan(FLASH, [1] * 50, slots=4, depth=50, costs=costs) == pytest.approx(
        0.001 + 50 * 0.002, rel=1e-6
    )


def test_groups_that_are_ruled_out_hold_their_place_in_the_window() -> None:
    """Two groups far apart cannot be read together when the window is short."""
    far = [[(0, 1)], *[[] for _ in range(20)], [(10**6, 1)]]
    ends = {
        depth: simulate(
            FLASH, [], far, [1] * 22, window=Window(slots=8, depth=depth, threads=1), costs=FREE
        ).finished_s
        for depth in (8, 32)
    }
    assert ends[32] == pytest.approx(0.001, rel=1e-6)
    assert ends[8] == pytest.approx(0.002, rel=1e-6)


def test_bloom_filters_are_asked_one_after_the_other_whatever_is_in_flight() -> None:
    device = Device(name="d", latency_s=0.01, bandwidth_bytes_per_s=1e9, channels=64)
    costs = Costs(**dict.fromkeys(Costs.__slots__, 0.0))
    groups, probes = [[(n * 1_000, 1_000)] for n in range(10)], [(50_000 + n, 1_000) for n in range(10)]
    window = Window(slots=10, depth=10, threads=1)
    together = simulate(device, [], groups, [1] * 10, window=window, costs=costs)
    asked = simulate(device, [], groups, [1] * 10, window=window, costs=costs, probes=probes)
    assert together.finished_s == pytest.approx(0.010, rel=0.01)
    assert asked.finished_s == pytest.approx(
        10 * 0.010 + 0.010, rel=0.01
    )  # ten in a chain, and the last read
    assert asked.reads == 20 and asked.bytes_read == 20_000
    none = simulate(device, [], groups, [1] * 10, window=window, costs=costs, probes=[None] * 10)
    assert none.finished_s == pytest.approx(together.finished_s, rel=1e-12)


def test_the_timeline_counts_what_was_read() -> None:
    timeline = simulate(
        FLASH, [(900, 100)], [[(0, 10), (50, 20)], []], [5, 5],
        window=Window(slots=2, depth=2, threads=1), costs=FREE,
    )  # fmt: skip
    assert (timeline.reads, timeline.bytes_read) == (3, 130)
