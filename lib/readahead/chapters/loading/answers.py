"""Computed answers of the exercises, and the two sides of each claim: Loading, and whether a difference is one."""

from __future__ import annotations

from readahead.chapters.loading.chapter import killed, per_row
from readahead.chapters.loading.noise import halves
from readahead.chapters.loading.writers import DATABASE
from readahead.experiments.claim import Sides
from readahead.questions.exercise import Computed

CLAIMS: dict[str, Sides] = {
    "not_settled": Sides(
        left=halves,
        right=lambda _: 1.0,
    ),
    "writers_help": Sides(
        left=lambda bench: bench.measured.seconds(writers=16),
        right=lambda bench: bench.measured.seconds(writers=1),
        when={
            "batches_are_so": lambda left, right, bench: bench.base["commit_rows"] > 2_000,
        },
    ),
    "one_log": Sides(
        left=lambda bench: bench.measured.seconds(target=DATABASE, writers=16),
        right=lambda bench: bench.measured.seconds(target=DATABASE, writers=1),
    ),
    "nothing_lost": Sides(
        left=lambda bench: float(killed().found_rows),
        right=lambda bench: float(killed().acknowledged_rows),
    ),
    "whole_commits": Sides(
        left=lambda bench: float(killed().found_rows),
        right=lambda bench: float(killed().commit_rows * round(killed().found_rows / killed().commit_rows)),
    ),
    "cheaper": Sides(
        left=lambda bench: per_row(bench.measured, 1_000),
        right=lambda bench: per_row(bench.measured, 10),
    ),
}

ANSWERS: dict[str, Computed] = {
    "runs": Computed(
        matches={
            "three_are_enough": lambda given: given <= 6,
            "chance_halves_with": lambda given: given >= 60,
        },
    ),
    "peak": Computed(
        matches={
            "more_connections_more": lambda given: given > 60,
            "the_peak_is": lambda given: 19 < given < 20.6,
        },
    ),
}
