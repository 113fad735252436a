"""Computed answers of the exercises, and the two sides of each claim: Elimination."""

from __future__ import annotations

import math

from readahead.chapters.elimination.chapter import FEW, MANY
from readahead.chapters.elimination.star_queries import BY_DATE, BY_YEAR, GENERATED, QUERIES
from readahead.experiments.claim import Sides
from readahead.measure.sample import exactly
from readahead.questions.question import Computed

CLAIMS: dict[str, Sides] = {
    "fewer": Sides(
        left=lambda study: study.measured.seconds(flight="Q1.2", load=BY_DATE),
        right=lambda study: study.measured.seconds(flight="Q1.2", load=GENERATED),
    ),
    "model_holds": Sides(
        left=lambda study: study.measured.seconds(flight="Q1.1", load=BY_YEAR),
        right=lambda study: study.model.seconds(flight="Q1.1", load=BY_YEAR),
    ),
    "asked_in_vain": Sides(
        left=lambda study: exactly(float(len(study.sample(**FEW).reads) - len(study.sample(**MANY).reads))),
        right=lambda study: exactly(float(study.sample(**FEW).row_groups_scanned)),
    ),
    "same_answer": Sides(
        left=lambda study: exactly(float(str(study.sample(flight="Q1.2", load=BY_DATE).answer[0]))),
        right=lambda study: exactly(float(str(study.sample(flight="Q1.2", load=GENERATED).answer[0]))),
    ),
}

ANSWERS: dict[str, Computed] = {
    "half": Computed(
        answer=lambda _: math.log(0.5) / math.log(1 - QUERIES["Q1.3"].share(BY_DATE)),
    ),
}
