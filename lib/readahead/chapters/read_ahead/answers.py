"""Computed answers of the exercises, and the two sides of each claim: Read-ahead."""

from __future__ import annotations

from readahead.chapters.read_ahead import laws
from readahead.chapters.read_ahead.chapter import (
    sheas_device,
    switched,
)
from readahead.chapters.read_ahead.workload import ALONE, NATIVE, OFF, ON
from readahead.experiments.claim import Sides
from readahead.questions.exercise import Computed


def _near(way: str) -> dict[str, object]:
    return {**switched(way, NATIVE), "latency_s": 20e-6}


_HOLE_S, _HOLE_RATE = 0.005, 200e6


CLAIMS: dict[str, Sides] = {
    "both_settings": Sides(
        left=lambda bench: bench.measured.seconds(queue_depth=128),
        right=lambda bench: bench.measured.seconds(queue_depth=1),
        when={
            "the_latency_was": lambda left, right, bench: bench.base["latency_s"] < 0.004,
        },
    ),
    "flat_alone": Sides(
        left=lambda bench: bench.measured.seconds(queue_depth=128, read_ahead=ALONE),
        right=lambda bench: bench.measured.seconds(queue_depth=16, read_ahead=ALONE),
        when={
            "with_many_workers": lambda left, right, bench: bench.base["threads"] > 4,
        },
    ),
    "model_holds": Sides(
        left=lambda bench: bench.measured.seconds(queue_depth=8),
        right=lambda bench: bench.model.seconds(queue_depth=8),
    ),
    "in_memory": Sides(
        left=lambda bench: bench.measured.seconds(**_near(OFF)) / bench.measured.seconds(**_near(ON)),
        right=lambda bench: (
            bench.measured.seconds(**switched(OFF, NATIVE)) / bench.measured.seconds(**switched(ON, NATIVE))
        ),
    ),
}

ANSWERS: dict[str, Computed] = {
    "latency": Computed(
        answer=lambda bench: sheas_device()[0],
        equivalents=lambda bench: (
            f"{sheas_device()[0] * 1e6:.4g} µs",
            f"{sheas_device()[0] * 1e3:.4g} ms",
            f"{sheas_device()[0]:.6f} s",
        ),
        examples={
            "all_of_the": lambda bench: f"{210 / 2e6 * 1e6:.0f} µs",
            "read_ahead_makes": lambda bench: f"{80 / 2e6 * 1e6:.0f} µs",
        },
    ),
    "longest_hole": Computed(
        answer=lambda bench: laws.bytes_to_ask_for(latency_s=_HOLE_S, bandwidth_bytes_per_s=_HOLE_RATE),
        matches={"never_read_what": lambda given: given < 1e5, "a_second_s": lambda given: given > 1e7},
    ),
}
