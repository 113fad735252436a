"""Computed answers of the exercises, and the two sides of each claim: Your data."""

from __future__ import annotations

from readahead.chapters.your_data.chapter import advised
from readahead.chapters.your_data.workload import REGROUPED, SORTED
from readahead.experiments.claim import Sides
from readahead.questions.exercise import Computed

CLAIMS: dict[str, Sides] = {
    "promise_groups": Sides(
        left=lambda study: study.measured.seconds(**advised(study.base, REGROUPED)),
        right=lambda study: study.model.seconds(**advised(study.base, REGROUPED)),
        when={
            "the_query_takes": lambda left, right, study: right.median < 0.02,
        },
    ),
    "order_pays": Sides(
        left=lambda study: study.measured.seconds(**advised(study.base, SORTED)),
        right=lambda study: study.measured.seconds(**advised(study.base, REGROUPED)),
        when={
            "the_filter_keeps": lambda left, right, study: study.base["selectivity"] > 0.5,
        },
    ),
}

ANSWERS: dict[str, Computed] = {}
