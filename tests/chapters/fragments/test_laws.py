"""What a fragment yields, and what readers do to one arm."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead import published
from readahead.chapters.fragments import laws
from readahead.chapters.fragments.workload import (
    EIGHT_READERS,
    ONE_READER,
    ReaderCosts,
    Readers,
    reader_costs,
)
from readahead.devices import Device, device
from readahead.units import KiB, MiB

DISK = {"seek_s": 0.01, "bandwidth_bytes_per_s": 100e6}


def test_the_comments_third_is_a_third() -> None:
    printed = published.figure("fragments", "yield_share").value
    cost = published.figure("fragments", "seek_costs_bytes").value
    seek_s = published.figure("fragments", "seek_s").value
    size = published.figure("fragments", "fragment_bytes").value
    share = laws.yield_share(size, seek_s=seek_s, bandwidth_bytes_per_s=cost / seek_s)
    assert share == pytest.approx(printed, rel=0.02)


def test_the_drives_own_two_rates_give_its_seek() -> None:
    """1.12 MB/s in reads of 4 KiB is 3.6 ms a read: the catalogue's drive says the same."""
    usb = device("usb-disk")
    read_s = usb.latency_s + usb.seek_s + 4096 / usb.bandwidth_bytes_per_s
    assert 4096 / read_s == pytest.approx(
        published.figure("fragments", "drive_4k_bytes_per_s").value, rel=0.01
    )


def test_half_speed_is_half() -> None:
    size = laws.half_speed_bytes(**DISK)
    assert laws.yield_share(size, **DISK) == pytest.approx(0.5)


@given(st.floats(1e3, 1e9), st.floats(1.01, 100))
def test_longer_pieces_never_yield_less(size: float, longer: float) -> None:
    assert laws.yield_share(size, **DISK) < laws.yield_share(size * longer, **DISK) < 1
    assert 1 < laws.rebuild_gain(size, size * longer, **DISK) < longer


def test_on_one_head_eight_readers_seek_at_every_request_and_alone_on_eight_they_seek_once_each() -> None:
    head = Device(name="head", latency_s=0.0, seek_s=0.01, bandwidth_bytes_per_s=100e6)
    eight = head.but(
        channels=8, stripe_bytes=512 * KiB, bandwidth_bytes_per_s=800e6, channel_bandwidth_bytes_per_s=100e6
    )
    transfer_s = 4 * MiB / 100e6
    for device_, readers, seconds in (
        (head, 1, 0.01 + transfer_s),
        (head, 8, 32 * 0.01 + transfer_s),
        (eight, 8, 0.01 + transfer_s / 8),
    ):
        shared = Readers(device=device_, readers=readers, total_bytes=4 * MiB)
        assert shared.seconds == pytest.approx(seconds)


def test_the_laws_of_readers_are_what_the_queue_says() -> None:
    disk = device("textbook-disk")
    numbers = {
        "requests": 128,
        "request_bytes": 128 * KiB,
        "seek_s": disk.seek_s,
        "latency_s": disk.latency_s,
        "bandwidth_bytes_per_s": disk.channel_bandwidth_bytes_per_s,
    }
    one, eight = (Readers(device=disk, readers=readers).seconds for readers in (1, 8))
    assert laws.turns_cost(**numbers) == pytest.approx(eight / one)
    assert laws.heads_gain(heads=8, **numbers) < 8
    assert laws.heads_gain(heads=8, **{**numbers, "seek_s": 0.0}) == pytest.approx(8)


def test_readers_wait_for_the_interpreter_where_the_device_is_quicker() -> None:
    quick = Device(name="quick", latency_s=1e-4, bandwidth_bytes_per_s=1e12, channels=64)
    eight = Readers(device=quick, readers=8, costs=ReaderCosts(turn_s=50e-6, read_s=0.0))
    assert eight.seconds == pytest.approx(128 * 50e-6, rel=0.02)
    slow = replace(eight, device=quick.but(latency_s=0.1))
    assert slow.seconds == pytest.approx(16 * 0.1, rel=0.01)
    terms_s = eight.estimate().terms_s
    assert sum(terms_s.values()) == pytest.approx(eight.seconds)
    assert terms_s["readers"] > terms_s["latency"] > terms_s["transfer"]


def test_what_readers_take_is_read_off_one_alone_and_a_crowd() -> None:
    def seen(turn_s: float, read_s: float) -> list[SimpleNamespace]:
        alone = ONE_READER.seconds + ONE_READER.counts["reads"] * read_s
        return [
            SimpleNamespace(median_s=took_s) for took_s in (alone, EIGHT_READERS.counts["reads"] * turn_s)
        ]

    costs = reader_costs([*seen(60e-6, 12e-6), *seen(90e-6, 40e-6), *seen(60e-6, 12e-6)])
    assert (costs.turn_s, costs.read_s) == pytest.approx((60e-6, 12e-6))
    assert reader_costs(seen(60e-6, -1e-6)).read_s == 0
