"""The physics of a device: one counter, channels, a shared link, a head that moves."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.devices import Device
from readahead.errors import BadValue
from readahead.models.queue import DeviceQueue, on_drive

DISK = Device(name="disk", latency_s=0.001, seek_s=0.01, bandwidth_bytes_per_s=1e8)


def devices(**fixed: object) -> st.SearchStrategy[Device]:
    """Draw devices of all kinds."""
    drawn = {
        "name": st.just("drawn"),
        "latency_s": st.floats(0, 0.1),
        "seek_s": st.sampled_from([0.0, 0.004]),
        "bandwidth_bytes_per_s": st.floats(1e6, 1e10),
        "channel_bandwidth_bytes_per_s": st.sampled_from([math.inf, 5e7]),
        "channels": st.integers(1, 16),
        "stripe_bytes": st.sampled_from([0, 4096, 65536]),
    }
    return st.builds(Device, **{**drawn, **{name: st.just(value) for name, value in fixed.items()}})


READS = st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 10**7)), min_size=1, max_size=40)


@given(devices(), READS)
def test_no_read_is_ready_before_one_latency_and_its_own_transfer(device: Device, reads: list) -> None:
    queue = DeviceQueue(device)
    for offset, size in reads:
        due_s, _ = queue.book(5.0, offset, size)
        assert due_s >= 5.0 + device.latency_s + size / device.bandwidth_bytes_per_s - 1e-9


@given(devices(), READS)
def test_all_reads_together_never_beat_the_shared_link(device: Device, reads: list) -> None:
    queue = DeviceQueue(device)
    last_s = max(queue.book(0.0, offset, size)[0] for offset, size in reads)
    total = sum(size for _, size in reads)
    assert last_s >= total / device.bandwidth_bytes_per_s * (1 - 1e-9)


@given(devices(seek_s=0.0), READS, st.integers(1, 10**6))
def test_a_longer_read_is_never_ready_sooner(device: Device, reads: list, more: int) -> None:
    short, long = DeviceQueue(device), DeviceQueue(device)
    for offset, size in reads:
        assert long.book(0.0, offset, size + more)[0] >= short.book(0.0, offset, size)[0] - 1e-12


def test_a_sequence_seeks_once_and_a_shuffle_at_every_read() -> None:
    sequence, shuffle = DeviceQueue(DISK), DeviceQueue(DISK)
    offsets = range(0, 10 * 4096, 4096)
    assert sum(sequence.book(0.0, offset, 4096)[1] for offset in offsets) == 1
    assert sum(shuffle.book(0.0, offset, 4096)[1] for offset in reversed(offsets)) == 10


def test_a_fragment_end_costs_a_seek_wherever_the_read_begins() -> None:
    inside, across = DeviceQueue(DISK, fragment_bytes=1000), DeviceQueue(DISK, fragment_bytes=1000)
    assert [inside.book(0.0, offset, 500)[1] for offset in (0, 500, 1000, 1500)] == [1, 0, 1, 0]
    assert across.book(0.0, 0, 4000)[1] == 4


def test_one_read_takes_latency_seek_and_transfer() -> None:
    due_s, seeks = DeviceQueue(DISK).book(0.0, 0, 1_000_000)
    assert (seeks, due_s) == (1, pytest.approx(0.001 + 0.01 + 0.01))


def test_two_channels_serve_two_reads_at_once_and_the_third_waits() -> None:
    flash = Device(name="flash", latency_s=0.001, bandwidth_bytes_per_s=1e12, channels=2)
    queue = DeviceQueue(flash)
    assert [queue.book(0.0, 0, 1)[0] for _ in range(3)] == pytest.approx([0.001, 0.001, 0.002], abs=1e-9)


@given(st.integers(1, 16), st.integers(0, 10**6), st.integers(1, 10**6))
def test_stripes_hold_every_byte_exactly_once(drives: int, offset: int, size: int) -> None:
    lengths = [
        on_drive(offset + size, drive, 4096, drives) - on_drive(offset, drive, 4096, drives)
        for drive in range(drives)
    ]
    assert sum(lengths) == size
    assert min(lengths) >= 0
    assert max(lengths) - min(lengths) <= 2 * 4096


def test_a_long_read_over_a_striped_array_is_as_fast_as_all_its_drives() -> None:
    array = DISK.but(
        channels=4, stripe_bytes=65536, bandwidth_bytes_per_s=4e8, channel_bandwidth_bytes_per_s=1e8
    )
    due_s, _ = DeviceQueue(array).book(0.0, 0, 4_194_304)
    assert due_s == pytest.approx(0.011 + 4_194_304 / 4e8, rel=1e-6)


def test_a_negative_fragment_is_refused_in_words() -> None:
    with pytest.raises(
        BadValue, match="fragment_bytes=-1 must be at least 0. Give 0 for a file in one piece."
    ):
        DeviceQueue(DISK, fragment_bytes=-1)
