"""Computed answers of the exercises, and the two sides of each claim: Lookups."""

from __future__ import annotations

from readahead.chapters.lookups import array_of_disks, laws
from readahead.chapters.lookups.array_of_disks import printed
from readahead.chapters.lookups.experiment import AFTER, BEFORE, EXPERIMENT, MANY, break_even, index_s, scan_s
from readahead.chapters.lookups.key_reads import UNSORTED
from readahead.chapters.lookups.workload import SHUFFLED
from readahead.experiments.claim import Sides
from readahead.questions.exercise import Computed

_UNDER_WAY, _DEEP = 64, "disk_8k_reads_per_s.n10000"
_GROUPS = 1_000


CLAIMS: dict[str, Sides] = {
    "flat": Sides(
        left=lambda bench: bench.measured.seconds(rows_per_lookup=BEFORE, channels=64),
        right=lambda bench: bench.measured.seconds(rows_per_lookup=BEFORE, channels=1),
    ),
    "moved": Sides(
        left=lambda bench: bench.measured.seconds(rows_per_lookup=AFTER, step_rows=100),
        right=lambda bench: bench.measured.seconds(rows_per_lookup=BEFORE),
    ),
    "order_of_keys": Sides(
        left=lambda bench: bench.measured.seconds(rows_per_lookup=BEFORE, asked=UNSORTED),
        right=lambda bench: bench.measured.seconds(rows_per_lookup=BEFORE),
    ),
    "order_of_rows": Sides(
        left=lambda bench: bench.measured.seconds(**MANY),
        right=lambda bench: bench.measured.seconds(**MANY, table_order=SHUFFLED),
        when={
            "so_many_disks": lambda left, right, bench: bench.base["channels"] > 16,
        },
    ),
    "model_holds": Sides(
        left=lambda bench: (
            bench.measured.seconds(rows_per_lookup=BEFORE) / bench.measured.seconds(rows_per_lookup=AFTER)
        ),
        right=lambda bench: (
            bench.model.seconds(rows_per_lookup=BEFORE) / bench.model.seconds(rows_per_lookup=AFTER)
        ),
    ),
    "both_sides": Sides(
        left=lambda bench: index_s(bench.measured, max(1, break_even(bench) // 2)),
        right=lambda bench: scan_s(bench.measured),
        when={
            "on_this_device": lambda left, right, bench: break_even(bench) < 3,
        },
    ),
}

ANSWERS: dict[str, Computed] = {
    "reads": Computed(
        answer=lambda bench: printed("duration_s.n25") / printed("read_latency_s.n25"),
        matches={"times_not_divided": lambda given: given > 100},
    ),
    "latency_at_depth": Computed(
        answer=lambda bench: _UNDER_WAY / printed(_DEEP),
    ),
    "fullest": Computed(
        answer=lambda bench: laws.fullest(8, 8),
        equivalents=lambda bench: (f"{laws.fullest(8, 8):.2f}", f"{laws.fullest(8, 8):.3f}"),
    ),
    "large_read": Computed(
        answer=lambda bench: 8 * array_of_disks.CPU_ALONE_S / array_of_disks.CPU_COLD_S,
        matches={"larger_reads_cost": lambda given: given < 1},
    ),
    "groups_hit": Computed(
        answer=lambda bench: float(laws.distinct(_GROUPS, _GROUPS)),
    ),
    "my_break_even": Computed(
        answer=lambda bench: float(break_even(bench)),
        equivalents=lambda bench: (f"{break_even(bench)} rows", f"{break_even(bench)}"),
        examples={
            "an_index_is": lambda bench: f"{EXPERIMENT.case(bench.base).recipe.rows // 100}",
            "lookups_by_index": lambda bench: "1" if break_even(bench) > 2 else "900",
        },
        matches={"an_index_is": lambda given: given > 1_000},
    ),
}
