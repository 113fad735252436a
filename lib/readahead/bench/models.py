"""How fast are the models? The schedule against the same reads in SimPy, and a curve as a slider asks for it."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np

from readahead.bench.figure import Figure
from readahead.devices import Device
from readahead.experiments.start_here import EXPERIMENT
from readahead.models.schedule import Costs, Window, simulate

READS = 4_000


def against_simpy(*, repeats: int = 5) -> list[Figure]:
    """Time the scheduling simulation and the same reads in SimPy, and check that they end at the same moment."""
    device = Device(
        name="d", latency_s=0.001, bandwidth_bytes_per_s=1e15, channel_bandwidth_bytes_per_s=1e8, channels=8
    )
    sizes = np.random.default_rng(1).integers(10_000, 1_000_000, READS).tolist()
    free = replace(Costs(), **dict.fromkeys(Costs.__slots__, 0.0))
    groups = [[(0, size)] for size in sizes]
    window = Window(slots=32, depth=READS, threads=1)
    ours, theirs = [], []
    for _ in range(repeats):
        start_s = time.perf_counter()
        end = simulate(device, [], groups, [1] * READS, window=window, costs=free).finished_s
        middle_s = time.perf_counter()
        simpy_end = _with_simpy([0.001 + size / 1e8 for size in sizes], slots=32, channels=8)
        theirs.append(time.perf_counter() - middle_s)
        ours.append(middle_s - start_s)
        if abs(end / simpy_end - 1) > 1e-9:
            raise AssertionError(f"The schedule ends at {end} s and SimPy at {simpy_end} s.")
    return [
        Figure(
            name=f"scheduling simulation of {READS:,} reads, against SimPy",
            value=float(np.median(theirs) / np.median(ours)),
            unit="× as fast",
            aim=50,
            at_least=True,
            samples={"schedule_s": ours, "simpy_s": theirs},
            note=f"{READS / np.median(ours) / 1e6:.2g} million reads/s",
        )
    ]


def _with_simpy(service_s: list[float], *, slots: int, channels: int) -> float:
    import simpy

    world = simpy.Environment()
    slot, channel = simpy.Resource(world, slots), simpy.Resource(world, channels)

    def read(time_s: float) -> Generator[Any, Any, None]:
        with slot.request() as mine:
            yield mine
            with channel.request() as served:
                yield served
                yield world.timeout(time_s)

    for time_s in service_s:
        world.process(read(time_s))
    world.run()
    return float(world.now)


def curve() -> list[Figure]:
    """Time a curve of 200 points along each of the four knobs."""
    settings = EXPERIMENT.settings(size="full")
    took: list[float] = []
    for name in ("latency_s", "row_group_rows", "fragment_bytes", "rows_per_lookup"):
        values = EXPERIMENT.knob(name).grid(200)
        for _ in range(25):
            start_s = time.perf_counter()
            EXPERIMENT.curve(settings, name, values)
            took.append(time.perf_counter() - start_s)
    return [
        Figure(
            name="a whole curve of 200 points",
            value=float(np.median(took)) * 1e3,
            unit="ms",
            aim=2,
            samples={"curve_s": took},
            note=f"worst {max(took) * 1e3:.2g} ms",
        )
    ]
