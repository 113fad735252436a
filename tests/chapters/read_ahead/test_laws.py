"""What a window gets out of a device, and the device that two times betray."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters.read_ahead import laws
from readahead.errors import BadValue
from readahead.units import KiB

FAR = {"latency_s": 0.005, "bandwidth_bytes_per_s": 200e6}


@given(st.floats(1e3, 1e8), st.integers(1, 200), st.floats(1e-6, 0.1), st.floats(1e6, 1e10))
def test_a_larger_window_never_gets_less_and_never_more_than_the_device_has(
    size: float, depth: int, latency_s: float, bandwidth: float
) -> None:
    device = {"latency_s": latency_s, "bandwidth_bytes_per_s": bandwidth}
    one = laws.window_rate(size, depth, **device)
    assert one <= laws.window_rate(size, depth + 1, **device) <= bandwidth
    assert one <= laws.window_rate(size * 2, depth, **device)


@given(st.floats(1e4, 1e7), st.floats(1e-5, 0.1), st.floats(1e6, 1e10))
def test_the_depth_to_ask_for_saturates_and_one_less_does_not(
    size: float, latency_s: float, bandwidth: float
) -> None:
    device = {"latency_s": latency_s, "bandwidth_bytes_per_s": bandwidth}
    depth = laws.depth_to_ask_for(size, **device)
    assert laws.window_rate(size, depth, **device) == pytest.approx(bandwidth, rel=1e-6)
    if depth > 1:
        assert laws.window_rate(size, depth - 1, **device) < bandwidth * (1 - 1e-12)


@given(st.floats(1e-6, 1e-2), st.floats(1e7, 1e10))
def test_two_times_give_back_the_device_that_made_them(latency_s: float, bandwidth: float) -> None:
    device = {"latency_s": latency_s, "bandwidth_bytes_per_s": bandwidth}
    scans = [(size, laws.scan_s(16e9, size, **device)) for size in (8192.0, 358_400.0)]
    found = laws.device_of(scans[0], scans[1], total_bytes=16e9)
    assert found == pytest.approx((latency_s, bandwidth), rel=1e-4)
    assert found == pytest.approx(laws.device_of(scans[1], scans[0], total_bytes=16e9))


@pytest.mark.parametrize("times", [(80.0, 210.0), (1e9, 1.0)])
def test_times_that_no_device_takes_are_refused(times: tuple[float, float]) -> None:
    with pytest.raises(BadValue, match="fit no device"):
        laws.device_of((8192.0, times[0]), (358_400.0, times[1]), total_bytes=16e9)


def test_bandwidth_times_delay_is_a_megabyte_at_5_ms_and_200_mb_a_second() -> None:
    assert laws.bytes_to_ask_for(**FAR) == pytest.approx(1e6)
    assert laws.depth_to_ask_for(512 * KiB, **FAR) == 3
