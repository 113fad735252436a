"""Computed answers of the exercises, and the two sides of each claim: Loading, and whether a difference is one."""

from __future__ import annotations

from readahead.chapters.loading import laws
from readahead.chapters.loading.chapter import crashed, halves, per_row
from readahead.chapters.loading.writers import DATABASE
from readahead.experiments.claim import Sides
from readahead.questions.question import Computed


def _whole_commits_rows() -> float:
    """Return the rows of as many whole commits as are nearest to what was found."""
    crash = crashed()
    return float(crash.commit_rows * round(crash.found_rows / crash.commit_rows))


CLAIMS: dict[str, Sides] = {
    "not_settled": Sides(
        left=lambda study: max(1e-9, abs(laws.difference(*halves(study)))),
        right=lambda study: laws.half_width(*halves(study)),
    ),
    "writers_help": Sides(
        left={"writers": 16},
        right={"writers": 1},
        when={"batches_are_so": lambda left, right, study: study.base["commit_rows"] > 2_000},
    ),
    "one_log": Sides(left={"target": DATABASE, "writers": 16}, right={"target": DATABASE, "writers": 1}),
    "nothing_lost": Sides(
        left=lambda _: float(crashed().found_rows), right=lambda _: float(crashed().reported_rows)
    ),
    "whole_commits": Sides(left=lambda _: float(crashed().found_rows), right=lambda _: _whole_commits_rows()),
    "cheaper": Sides(
        left=lambda study: per_row(study.measured, 1_000), right=lambda study: per_row(study.measured, 10)
    ),
}

ANSWERS: dict[str, Computed] = {
    "runs": Computed(
        answer=lambda _: float(laws.runs_to_settle(0.05, 0.05)),
        matches={
            "three_are_enough": lambda given: given <= 6,
            "chance_halves_with": lambda given: given >= 60,
        },
    ),
    "peak": Computed(
        answer=lambda _: laws.peak(0.05, 0.002),
        matches={
            "more_connections_more": lambda given: given > 60,
            "the_peak_is": lambda given: 19 < given < 20.6,
        },
    ),
}
