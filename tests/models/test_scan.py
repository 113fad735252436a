"""The closed form: laws that no storage can break, and agreement with the schedule it stands for."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.devices import Device
from readahead.models.scan import Devices, Layout, estimate, scan_times
from readahead.models.schedule import Costs, Window, simulate

COSTS = Costs()
WINDOW = Window(slots=8, depth=8, threads=1)
ROWS, WIDTH = 2_097_152, 20.0

PLACES = st.fixed_dictionaries(
    {
        "latency_s": st.floats(1e-5, 0.05),
        "bandwidth_bytes_per_s": st.floats(1e6, 1e10),
        "channels": st.integers(1, 64),
        "seek_s": st.sampled_from([0.0, 0.01]),
    }
)
GROUPS = st.integers(1, 512).map(lambda n: n * 2048)


def seconds(device: Device, *, groups: int = 122_880, window: Window = WINDOW, **layout: float) -> float:
    """Return the closed form's time of one setting."""
    given_layout = Layout(rows=ROWS, row_group_rows=groups, bytes_per_row=WIDTH, **layout)
    return float(scan_times(device, given_layout, window, COSTS).seconds)


@given(PLACES, GROUPS)
def test_no_scan_is_faster_than_the_bandwidth_or_one_latency(place: dict, groups: int) -> None:
    device = Device(name="d", **place)
    took_s = seconds(device, groups=groups)
    assert took_s >= ROWS * WIDTH / device.bandwidth_bytes_per_s
    assert took_s >= device.latency_s


@given(PLACES, GROUPS, st.floats(1.0, 3.0))
def test_more_bytes_never_take_less_time_once_the_file_is_open(
    place: dict, groups: int, wider: float
) -> None:
    """Opening may be shorter: DuckDB guesses a longer footer in a longer file, and then needs one read, not two."""
    device = Device(name="d", **place)
    thin, thick = (
        scan_times(device, Layout(rows=ROWS, row_group_rows=groups, bytes_per_row=width), WINDOW, COSTS)
        for width in (WIDTH, WIDTH * wider)
    )
    assert thick.seconds - thick.open_s >= thin.seconds - thin.open_s - 1e-9


@given(PLACES, GROUPS, st.integers(1, 63))
def test_a_deeper_queue_is_never_slower_without_a_head(place: dict, groups: int, depth: int) -> None:
    device = Device(name="d", **{**place, "seek_s": 0.0})
    times = [
        seconds(device, groups=groups, window=Window(slots=q, depth=q, threads=1)) for q in (depth, depth + 1)
    ]
    # the last wave may hold more groups that are decoded with nothing to hide behind
    tail_s = (depth + 1) * (COSTS.group_s + groups * COSTS.row_s)
    assert times[1] <= times[0] + tail_s


@given(PLACES, GROUPS, st.integers(1, 9_000))
def test_a_lookup_never_touches_more_groups_than_keys_or_groups(place: dict, groups: int, keys: int) -> None:
    layout = Layout(rows=ROWS, row_group_rows=groups, bytes_per_row=WIDTH, keys=keys)
    assert 1 - 1e-9 <= float(layout.touched) <= min(keys, float(layout.groups)) + 1e-6


def test_a_curve_is_the_same_as_its_points() -> None:
    device = Device(name="d", latency_s=0.004, bandwidth_bytes_per_s=2e8, channels=8)
    sizes = np.geomspace(2048, 1_048_576, 50)
    curve = scan_times(
        device, Layout(rows=ROWS, row_group_rows=sizes, bytes_per_row=WIDTH), WINDOW, COSTS
    ).seconds
    points = [seconds(device, groups=size) for size in sizes]
    assert curve == pytest.approx(points)


def test_many_devices_at_once_are_the_same_as_one_by_one() -> None:
    device = Device(name="d", latency_s=0.004, bandwidth_bytes_per_s=2e8, channels=8)
    latencies = np.geomspace(1e-5, 0.05, 20)
    layout = Layout(rows=ROWS, row_group_rows=122_880, bytes_per_row=WIDTH)
    curve = scan_times(Devices.like(device, latency_s=latencies), layout, WINDOW, COSTS).seconds
    assert curve == pytest.approx([seconds(device.but(latency_s=float(value))) for value in latencies])


def _both(rng: random.Random, *, lookup: bool) -> tuple[float, float]:
    """Return (closed form, schedule) of one random setting with equal groups."""
    groups = rng.choice([2048 * 2**n for n in range(10)])
    device = Device(
        name="d", latency_s=10 ** rng.uniform(-3.3, -1.5), bandwidth_bytes_per_s=10 ** rng.uniform(7.7, 9.3),
        channels=rng.randint(1, 64),
    )  # fmt: skip
    depth, keys = rng.randint(1, 64), rng.randint(1, 2000) if lookup else 0
    window = Window(slots=depth, depth=depth, threads=1)
    count = -(-ROWS // groups)
    touched = {key // groups for key in rng.sample(range(ROWS), keys)} if lookup else set(range(count))
    reads = [[(n * int(groups * WIDTH), int(groups * WIDTH))] if n in touched else [] for n in range(count)]
    footer = [(10**9, 65_536)] + ([(10**9, count * 350)] if count * 350 > 41_943 else [])
    schedule = simulate(device, footer, reads, [groups] * count, window=window, costs=COSTS, keys=keys)
    layout = Layout(rows=ROWS, row_group_rows=groups, bytes_per_row=WIDTH, keys=keys)
    return float(scan_times(device, layout, window, COSTS).seconds), schedule.finished_s


@pytest.mark.parametrize(("lookup", "median", "p90"), [(False, 0.01, 0.06), (True, 0.03, 0.2)])
def test_the_closed_form_agrees_with_the_schedule(lookup: bool, median: float, p90: float) -> None:
    """For scans within one percent; for lookups the closed form knows only how many groups are touched, on average."""
    rng = random.Random(4)
    pairs = [_both(rng, lookup=lookup) for _ in range(150)]
    errors = np.array([abs(closed / schedule - 1) for closed, schedule in pairs])
    assert np.median(errors) <= median
    assert np.quantile(errors, 0.9) <= p90


@pytest.mark.parametrize("latency_s", [1e-5, 0.03])
def test_the_terms_add_up_to_the_time(latency_s: float) -> None:
    device = Device(name="d", latency_s=latency_s, bandwidth_bytes_per_s=2e8, channels=8)
    layout = Layout(rows=ROWS, row_group_rows=8_192, bytes_per_row=WIDTH)
    times = scan_times(device, layout, WINDOW, COSTS)
    assert estimate(times).seconds == pytest.approx(float(times.seconds))
    assert estimate(times, 1.5).seconds == pytest.approx(1.5)


def test_the_bottleneck_follows_the_device() -> None:
    layout = Layout(rows=ROWS, row_group_rows=2_048, bytes_per_row=WIDTH)
    slow = Device(name="far", latency_s=0.05, bandwidth_bytes_per_s=1e9, channels=64)
    thin = Device(name="thin", latency_s=1e-4, bandwidth_bytes_per_s=5e6, channels=64)
    assert estimate(scan_times(slow, layout, WINDOW, COSTS)).bottleneck == "latency"
    assert estimate(scan_times(thin, layout, WINDOW, COSTS)).bottleneck == "transfer"
