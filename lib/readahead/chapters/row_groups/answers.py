"""Computed answers of the exercises, and the two sides of each claim: Row groups."""

from __future__ import annotations

from readahead.chapters.row_groups import columnstore
from readahead.chapters.row_groups.chapter import (
    LARGE_ROWS,
    SMALL_ROWS,
    against_one_each,
    on,
    one_each,
    packed,
)
from readahead.chapters.row_groups.workload import FAR, NEAR
from readahead.experiments.claim import Sides
from readahead.questions.exercise import Computed

CLAIMS: dict[str, Sides] = {
    "far_hurts_more": Sides(
        left=lambda study: against_one_each(SMALL_ROWS, FAR)(study.measured),
        right=lambda study: against_one_each(SMALL_ROWS, NEAR)(study.measured),
        when={
            "with_so_many": lambda left, right, study: study.base["queue_depth"] > 16,
        },
    ),
    "too_large_idles": Sides(
        left=lambda study: study.measured.seconds(**on(FAR), row_group_rows=one_each(study.base)),
        right=lambda study: study.measured.seconds(**on(FAR), row_group_rows=LARGE_ROWS),
        when={
            "with_a_queue": lambda left, right, study: study.base["queue_depth"] == 1,
        },
    ),
    "trips_not_bytes": Sides(
        left=lambda study: packed(study.measured, "uncompressed"),
        right=lambda study: packed(study.measured, "zstd"),
        when={
            "unpacking_zstd_took": lambda left, right, study: left.median < right.median,
        },
    ),
}

ANSWERS: dict[str, Computed] = {
    "dictionary": Computed(
        answer=lambda _: columnstore.dictionary_from_groups(),
        matches={"all_text_over": lambda given: given > 100e6},
    ),
    "difference": Computed(
        matches={"a_factor_not": lambda given: given > 0.5},
    ),
}
