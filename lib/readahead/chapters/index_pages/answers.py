"""Computed answers of the exercises, and the two sides of each claim: Reading the index."""

from __future__ import annotations

from readahead.chapters.index_pages import sampling
from readahead.chapters.index_pages.chapter import LEAVES, half_width, printed
from readahead.chapters.index_pages.sampling import IN_ORDER, SHUFFLED
from readahead.chapters.index_pages.workload import CHAIN, DEEP, EVERYTHING, LIST, SHALLOW
from readahead.experiments.claim import Sides
from readahead.measure.sample import exactly
from readahead.questions.question import Computed


def _waits_s() -> float:
    """Return Little's wait of a read in a queue 500 deep at the pace of the leaf scan in reads of 64 KB."""
    return 500 / (LEAVES / 8 / (printed("elapsed_s.detailed") - printed("elapsed_s.limited")))


CLAIMS: dict[str, Sides] = {
    "deaf": Sides(left=DEEP, right=SHALLOW),
    "map_pays": Sides(
        left=LIST,
        right=CHAIN,
        when={"with_so_few": lambda left, right, study: study.base["queue_depth"] < 6},
    ),
    "same_reads": Sides(
        left=lambda study: exactly(study.sample(**sampling.SAMPLE).bytes_read),
        right=lambda study: exactly(study.sample(**sampling.WHOLE).bytes_read),
    ),
    "longer": Sides(left=sampling.NATIVE_SAMPLE, right=sampling.NATIVE_WHOLE),
    "model_holds": Sides(left=EVERYTHING, right=lambda study: study.model.seconds(**EVERYTHING)),
    "stirred": Sides(
        left=lambda study: exactly(half_width(study.measured, IN_ORDER)),
        right=lambda study: exactly(half_width(study.measured, SHUFFLED)),
    ),
}

ANSWERS: dict[str, Computed] = {
    "full": Computed(
        matches={
            "pages_are_full": lambda given: given > 0.9,
            "the_empty_part": lambda given: abs(given - 0.606) < 0.02,
        },
    ),
    "seconds": Computed(
        answer=lambda study: _waits_s(),
        equivalents=lambda study: ("1 s", "1020 ms", f"{_waits_s():.3g} s"),
        matches={
            "latency_is_the": lambda given: given < 0.01,
            "a_read_for": lambda given: 0.1 < given < 0.16,
        },
    ),
}
