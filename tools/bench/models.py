"""Benchmarks the models: the schedule against the same reads in SimPy, and a curve as a slider asks for it."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from readahead.chapters.start_here.chapter import EXPERIMENT
from readahead.devices import Device
from readahead.models.reads import Reads
from readahead.models.schedule import IN_TURN, Costs, Window, answer_order, simulate
from tools.bench.figure import Figure

READS = 4_000
DECODE_S = 0.0001


def against_simpy(*, repeats: int = 5) -> list[Figure]:
    """Time the scheduling simulation and the same scan in SimPy, and check that they end at the same moment."""
    device = Device(
        name="d", latency_s=0.001, bandwidth_bytes_per_s=1e15, channel_bandwidth_bytes_per_s=1e8, channels=8
    )
    sizes = np.random.default_rng(1).integers(10_000, 1_000_000, READS).tolist()
    costs = Costs(**{**dict.fromkeys(Costs.__slots__, 0.0), "group_s": DECODE_S})
    reads = Reads.of([], [[(0, size)] for size in sizes], [1] * READS)
    window = Window(slots=32, depth=32, threads=1)
    ours, theirs = [], []
    for _ in range(repeats):
        start_s = time.perf_counter()
        end = simulate(device, reads, window=window, costs=costs).finished_s
        middle_s = time.perf_counter()
        simpy_end = scan_in_simpy([0.001 + size / 1e8 for size in sizes], DECODE_S, window=window, channels=8)
        theirs.append(time.perf_counter() - middle_s)
        ours.append(middle_s - start_s)
        if abs(end / simpy_end - 1) > 1e-9:
            raise AssertionError(f"The schedule ends at {end} s and SimPy at {simpy_end} s.")
    return [
        Figure(
            name=f"scheduling simulation of {READS:,} reads, against SimPy",
            value=float(np.median(theirs) / np.median(ours)),
            unit="× as fast",
            aim=100,
            at_least=True,
            samples={"schedule_s": ours, "simpy_s": theirs},
            note=f"{READS / np.median(ours) / 1e6:.2g} million reads/s",
        )
    ]


def scan_in_simpy(service_s: Sequence[float], decode_s: float, *, window: Window, channels: int) -> float:
    """Return when the same scan ends in SimPy, which knows nothing of our schedule.

    A group has its place in the window from its issue until it is decoded; its read holds a slot from request to
    arrival and a channel while it is served; one worker decodes the groups in order. What is asked for at once at the
    start comes in the schedule's order.
    """
    import simpy

    world = simpy.Environment()
    places = simpy.Resource(world, window.depth)
    slots, served = simpy.Resource(world, window.slots), simpy.Resource(world, channels)
    at_once = min(window.slots, window.depth, len(service_s))
    first = answer_order(at_once) if at_once > IN_TURN else range(at_once)
    order = [*first, *range(at_once, len(service_s))]
    there = [world.event() for _ in service_s]

    def read(number: int) -> Generator[Any, Any, None]:
        with slots.request() as slot:
            yield slot
            with served.request() as channel:
                yield channel
                yield world.timeout(service_s[order[number]])
        there[order[number]].succeed()

    def group(number: int, before: Any, decoded: Any) -> Generator[Any, Any, None]:
        with places.request() as place:
            yield place
            world.process(read(number))
            yield there[number]
            if before is not None:
                yield before
            yield world.timeout(decode_s)
            decoded.succeed()

    before = None
    for number in range(len(service_s)):
        decoded = world.event()
        world.process(group(number, before, decoded))
        before = decoded
    world.run()
    return float(world.now)


def curve() -> list[Figure]:
    """Time curves as a slider asks for them, and one estimate."""
    cases = (
        ("a curve of 200 points, 128 row groups", 16_384, 200, 10.0),
        ("a curve of 64 points, 1,024 row groups", 2_048, 64, 15.0),
        ("one estimate, 128 row groups", 16_384, 1, 0.2),
    )
    figures = []
    for name, rows, points, aim_ms in cases:
        settings = EXPERIMENT.settings(size="small", row_group_rows=rows)
        took: list[float] = []
        for knob in ("latency_s", "fragment_bytes"):
            values = EXPERIMENT.knob(knob).grid(points)
            for _ in range(25):
                start_s = time.perf_counter()
                EXPERIMENT.curve(settings, knob, values)
                took.append(time.perf_counter() - start_s)
        value, worst = float(np.median(took)) * 1e3, f"worst {max(took) * 1e3:.2g} ms"
        figures.append(Figure(name=name, value=value, unit="ms", aim=aim_ms, samples={"s": took}, note=worst))
    return figures
