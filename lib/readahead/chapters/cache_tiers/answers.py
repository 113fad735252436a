"""The computed answers of the exercises, and the two sides of each claim."""

from __future__ import annotations

from readahead.chapters.cache_tiers import laws
from readahead.chapters.cache_tiers.chapter import FAST_S, SLOW_S, counted, far, replayed, scanned, seen
from readahead.chapters.cache_tiers.workload import DISK, DROP, ZIPF
from readahead.experiments.claim import Sides
from readahead.questions.question import Computed
from readahead.units import GiB, KiB

_THIRTY = {"drive_price": 300.0, "reads_per_s": 1e5, "bytes_per_s": 1e15, "memory_price_per_byte": 3.0 / GiB}

CLAIMS = {
    "least_recently": Sides(
        left=lambda study: seen(study, **counted(ZIPF)), right=lambda study: replayed(study, **counted(ZIPF))
    ),
    "no_use": Sides(
        left=lambda study: study.measured.seconds(**scanned(0.9)),
        right=lambda study: study.measured.seconds(**scanned(0.9, run=1)),
    ),
    "read_ahead_takes": Sides(
        left=lambda study: seen(study, **scanned(1.1, queue_depth=8)),
        right=lambda study: seen(study, **scanned(1.1, queue_depth=2)),
        when={"row_groups_so": lambda left, right, study: study.base["row_group_rows"] < 4_096},
    ),
    "spill_pays": Sides(
        left=lambda study: study.measured.seconds(**far(DISK)),
        right=lambda study: study.measured.seconds(**far(DROP)),
    ),
}

ANSWERS = {
    "per_cent": Computed(matches={"per_cent_is": lambda given: given > 50}),
    "ten_points": Computed(
        answer=lambda _: laws.speed_up(0.9, FAST_S, SLOW_S) / laws.speed_up(0.8, FAST_S, SLOW_S),
        matches={"ten_points_are": lambda given: 1.05 <= given <= 1.3},
    ),
    "five_minutes": Computed(
        answer=lambda _: laws.break_even_s(16 * KiB, **_THIRTY),
        matches={"the_price_of": lambda given: given > 1e5, "upside_down": lambda given: given < 1},
    ),
}
