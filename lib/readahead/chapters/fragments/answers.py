"""Computed answers of the exercises, and the two sides of each claim: Fragments."""

from __future__ import annotations

from readahead.chapters.fragments.chapter import (
    ALONE,
    FLASH,
    FLASH_WHOLE,
    IN_PIECES,
    ON_EIGHT,
    ONE_PIECE,
    WHOLE,
    half_speed_bytes,
)
from readahead.experiments.claim import Sides
from readahead.experiments.round import Study
from readahead.measure.value import Value
from readahead.questions.exercise import Computed
from readahead.units import KiB


def _at_half_speed(study: Study) -> Value:
    size = min(max(half_speed_bytes(study), 64 * KiB), ONE_PIECE)
    return study.measured.seconds(fragment_bytes=int(size))


CLAIMS: dict[str, Sides] = {
    "half_is_half": Sides(
        left=_at_half_speed,
        right=WHOLE,
        when={"opening_the_file": lambda left, right, study: left.median < 2 * right.median},
    ),
    "model_holds": Sides(
        left=IN_PIECES,
        right=lambda study: study.model.seconds(**IN_PIECES),
        when={"reads_that_came": lambda left, right, study: left.median > right.median},
    ),
    "eight_heads_help": Sides(left=ON_EIGHT, right=ALONE),
    "flash_does_not_mind": Sides(left=FLASH, right=FLASH_WHOLE),
}

ANSWERS: dict[str, Computed] = {
    "hole": Computed(
        matches={
            "a_hole_is": lambda given: given >= 0.05,
            "the_seek_of": lambda given: 0.005 <= given <= 0.015,
        },
    ),
    "small_reads": Computed(
        matches={"ssds_have_no": lambda given: given > 0.5, "the_size_of": lambda given: given < 0.02},
    ),
}
