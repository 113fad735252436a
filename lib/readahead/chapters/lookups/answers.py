"""Computed answers of the exercises, and the two sides of each claim: Lookups."""

from __future__ import annotations

from readahead.chapters.lookups import array_of_disks, laws
from readahead.chapters.lookups.array_of_disks import printed
from readahead.chapters.lookups.chapter import AFTER, BEFORE, MANY, break_even, by_index, step
from readahead.chapters.lookups.workload import EXPERIMENT, SHUFFLED, UNSORTED
from readahead.experiments.claim import Sides
from readahead.questions.question import Computed

_BEFORE, _AFTER = {"rows_per_lookup": BEFORE}, {"rows_per_lookup": AFTER}

CLAIMS: dict[str, Sides] = {
    "flat": Sides(left={**_BEFORE, "channels": 64}, right={**_BEFORE, "channels": 1}),
    "moved": Sides(left={**_AFTER, "step_rows": 100}, right=_BEFORE),
    "order_of_keys": Sides(left={**_BEFORE, "asked": UNSORTED}, right=_BEFORE),
    "order_of_rows": Sides(
        left=MANY,
        right={**MANY, "table_order": SHUFFLED},
        when={"so_many_disks": lambda left, right, study: study.base["channels"] > 16},
    ),
    "model_holds": Sides(left=lambda study: step(study.measured), right=lambda study: step(study.model)),
    "both_sides": Sides(
        left=lambda study: study.measured.seconds(**by_index(max(1, break_even(study) // 2))),
        right={"query": "scan"},
        when={"on_this_device": lambda left, right, study: break_even(study) < 3},
    ),
}

ANSWERS: dict[str, Computed] = {
    "reads": Computed(
        answer=lambda _: printed("duration_s.n25") / printed("read_latency_s.n25"),
        matches={"times_not_divided": lambda given: given > 100},
    ),
    "latency_at_depth": Computed(answer=lambda _: 64 / printed("disk_8k_reads_per_s.n10000")),
    "fullest": Computed(
        answer=lambda _: laws.fullest(8, 8),
        equivalents=lambda _: (f"{laws.fullest(8, 8):.2f}", f"{laws.fullest(8, 8):.3f}"),
    ),
    "large_read": Computed(
        answer=lambda _: 8 * array_of_disks.CPU_ALONE_S / array_of_disks.CPU_COLD_S,
        matches={"larger_reads_cost": lambda given: given < 1},
    ),
    "groups_hit": Computed(answer=lambda _: laws.distinct(1_000, 1_000)),
    "my_break_even": Computed(
        answer=break_even,
        equivalents=lambda study: (f"{break_even(study)} rows", f"{break_even(study)}"),
        examples={
            "an_index_is": lambda study: f"{EXPERIMENT.case(study.base).recipe.rows // 100}",
            "lookups_by_index": lambda study: "1" if break_even(study) > 2 else "900",
        },
        matches={"an_index_is": lambda given: given > 1_000},
    ),
}
