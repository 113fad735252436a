"""Computed answers of the exercises, and the two sides of each claim: Reading the index."""

from __future__ import annotations

from readahead.chapters.index_pages.chapter import give_or_take
from readahead.chapters.index_pages.laws import DETAILED, MAP
from readahead.chapters.index_pages.printed import printed
from readahead.chapters.index_pages.sampling import IN_ORDER, NATIVE, SHUFFLED, TABLE, TABLESAMPLE
from readahead.chapters.index_pages.workload import links, table
from readahead.experiments.claim import Sides
from readahead.measure.value import exactly
from readahead.questions.exercise import Computed
from readahead.units import KiB

_LEAVES, _UPPER = printed("leaf_pages"), printed("upper_pages")


def _waits_s() -> float:
    """Return Little's wait of a read in a queue 500 deep at the pace of the leaf scan in reads of 64 KB."""
    seconds = printed("elapsed_s.detailed") - printed("elapsed_s.limited")
    return 500 / (_LEAVES / 8 / seconds)


CLAIMS: dict[str, Sides] = {
    "deaf": Sides(
        left=lambda bench: bench.measured.seconds(**links(8 * KiB, queue_depth=128)),
        right=lambda bench: bench.measured.seconds(**links(8 * KiB, queue_depth=1)),
    ),
    "map_pays": Sides(
        left=lambda bench: bench.measured.seconds(**links(8 * KiB, way=MAP)),
        right=lambda bench: bench.measured.seconds(**links(8 * KiB)),
        when={
            "with_so_few": lambda left, right, bench: bench.base["queue_depth"] < 6,
        },
    ),
    "same_reads": Sides(
        left=lambda bench: exactly(bench.sample(**table(TABLESAMPLE)).bytes_read),
        right=lambda bench: exactly(bench.sample(**table(TABLE)).bytes_read),
    ),
    "longer": Sides(
        left=lambda bench: bench.measured.seconds(**table(TABLESAMPLE, stored=NATIVE)),
        right=lambda bench: bench.measured.seconds(**table(TABLE, stored=NATIVE)),
    ),
    "model_holds": Sides(
        left=lambda bench: bench.measured.seconds(way=DETAILED),
        right=lambda bench: bench.model.seconds(way=DETAILED),
    ),
    "stirred": Sides(
        left=lambda bench: exactly(give_or_take(bench.measured, IN_ORDER)),
        right=lambda bench: exactly(give_or_take(bench.measured, SHUFFLED)),
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
        answer=lambda bench: _waits_s(),
        equivalents=lambda bench: ("1 s", "1020 ms", f"{_waits_s():.3g} s"),
        matches={
            "latency_is_the": lambda given: given < 0.01,
            "a_read_for": lambda given: 0.1 < given < 0.16,
        },
    ),
}
