"""Computed answers of the exercises, and the two sides of each claim: Read-ahead."""

from __future__ import annotations

from readahead.chapters.read_ahead import laws
from readahead.chapters.read_ahead.chapter import gain, sheas_device
from readahead.chapters.read_ahead.workload import ALONE, NATIVE
from readahead.experiments.claim import Sides
from readahead.questions.exercise import Computed

CLAIMS: dict[str, Sides] = {
    "both_settings": Sides(
        left={"queue_depth": 128},
        right={"queue_depth": 1},
        when={"the_latency_was": lambda left, right, study: study.base["latency_s"] < 0.004},
    ),
    "flat_alone": Sides(
        left={"queue_depth": 128, "read_ahead": ALONE},
        right={"queue_depth": 16, "read_ahead": ALONE},
        when={"with_many_workers": lambda left, right, study: study.base["threads"] > 4},
    ),
    "model_holds": Sides(left={"queue_depth": 8}, right=lambda study: study.model.seconds(queue_depth=8)),
    "in_memory": Sides(
        left=lambda study: gain(study.measured, NATIVE, latency_s=20e-6),
        right=lambda study: gain(study.measured, NATIVE),
    ),
}

ANSWERS: dict[str, Computed] = {
    "latency": Computed(
        answer=lambda _: sheas_device()[0],
        equivalents=lambda _: (
            f"{sheas_device()[0] * 1e6:.4g} µs",
            f"{sheas_device()[0] * 1e3:.4g} ms",
            f"{sheas_device()[0]:.6f} s",
        ),
        examples={
            "all_of_the": lambda _: f"{210 / 2e6 * 1e6:.0f} µs",
            "read_ahead_makes": lambda _: f"{80 / 2e6 * 1e6:.0f} µs",
        },
    ),
    "longest_hole": Computed(
        answer=lambda _: laws.bytes_to_ask_for(latency_s=0.005, bandwidth_bytes_per_s=200e6),
        matches={"never_read_what": lambda given: given < 1e5, "a_second_s": lambda given: given > 1e7},
    ),
}
