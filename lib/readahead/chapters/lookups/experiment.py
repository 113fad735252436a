"""The bench of the lookups: its knobs, and the questions that rounds, pictures, claims and exercises put to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from readahead.chapters.lookups import array_of_disks, laws
from readahead.chapters.lookups.array_of_disks import printed
from readahead.chapters.lookups.key_reads import NEIGHBOURS, SCATTERED, UNSORTED
from readahead.chapters.lookups.workload import (
    ANY_CHANNEL,
    NATIVE,
    OWN_DISK,
    PARQUET,
    SHUFFLED,
    SORTED,
    Fetching,
)
from readahead.experiments.experiment import Knob, Settings
from readahead.experiments.knobs import knob, powers
from readahead.experiments.round import Bench
from readahead.published import Figure, figure
from readahead.units import MB, KiB


class Lookups(Fetching):
    """Lookups, with Chang's rates beside them."""

    def published(self, settings: Settings, name: str) -> Sequence[tuple[float, float, Figure]]:
        """Return Chang's rows a second from his eight disks, a page of 8 KB a read."""
        if name != "rows_per_lookup" or self.value(settings, "query") != "lookup":
            return ()
        told = [(rows, figure("lookups", f"disk_8k_rows_per_s.n{rows}")) for rows in array_of_disks.ROWS]
        return tuple((float(rows), one.best, one) for rows, one in told)


EXPERIMENT = Lookups(
    topic="lookups",
    title="Lookups: 25 rows or 26",
    knobs=(
        knob("device", default="sas-15k-x8"),
        knob("rows_per_lookup", default=25),
        Knob(
            name="step_rows", label="One by one up to", kind="rows", default=25, low=1, high=10_000,
            steps=(1, 10, 25, 50, 100, 500, 2_048, 10_000),
            help="index_scan_max_count: up to so many rows DuckDB fetches through its index.",
        ),
        knob("channels", label="Disks", high=64, steps=powers(1, 64), folded=False),
        knob(
            "latency_s", label="Random read", default=0.001, high=0.02,
            help="From asking to the first byte, seek and all.",
        ),
        knob("queue_depth", default=32, folded=False),
        Knob(name="stored", label="Format", kind="choice", default=NATIVE, choices=(NATIVE, PARQUET)),
        knob("query", default="lookup", choices=("lookup", "scan")),
        Knob(
            name="placed", label="Blocks", kind="choice", default=OWN_DISK, choices=(OWN_DISK, ANY_CHANNEL),
            folded=True,
            help="Whether a block can be had from one disk only, or from whatever is free.",
        ),
        Knob(
            name="asked", label="Keys", kind="choice", default=SCATTERED, choices=(SCATTERED, UNSORTED, NEIGHBOURS),
            folded=True, help="Which keys are asked for, and in which order.",
        ),
        Knob(
            name="table_order", label="Table", kind="choice", default=SORTED, choices=(SORTED, SHUFFLED), folded=True,
            help="Whether rows lie in the order of their keys.",
        ),
        knob("row_group_rows", default=2_048, high=262_144, steps=powers(2_048, 262_144), folded=True),
        Knob(
            name="block_bytes", label="Block", kind="bytes", default=16 * KiB, low=16 * KiB, high=256 * KiB,
            steps=powers(16 * KiB, 256 * KiB), folded=True, help="What is read of DuckDB's own file, never less.",
        ),
        knob("bandwidth_bytes_per_s", default=88.4 * MB, help="Of one disk; each has its own."),
        Knob(
            name="key_draw", label="Draw", kind="count", default=1, low=1, high=1_000, steps=(1, 2, 5, 10, 100, 1_000),
            folded=True, help="Which keys are drawn.",
        ),
        knob("threads", default=1),
        knob("size", default="tiny"),
        knob("where"),
    ),
)  # fmt: skip

BEFORE, AFTER = 25, 26
MANY = {"stored": PARQUET, "queue_depth": 128, "rows_per_lookup": AFTER}
"""Twenty-six rows, all asked for at once: a Parquet file has no index to walk down first."""
DISTINCT_KEYS = 100
DRAWS = 6
"""How often keys are drawn anew where an average is asked for."""


# -- the rounds --------------------------------------------------------------------------------------------
def waited_s(bench: Bench, **changes: Any) -> float:
    """Return how long a read of rows took on average, from its submission until the device had its bytes."""
    data = bench.measured.sample(**changes).reads[_footer(bench, **changes) :]
    return float(np.mean([read.due_s - read.submitted_s for read in data]))


def _footer(bench: Bench, **changes: Any) -> int:
    return len(EXPERIMENT.plan(bench.settings(**changes)).footer)


def groups_hit(bench: Bench, keys: int, draw: int) -> float:
    """Return how many row groups DuckDB read for so many keys: one read each, behind the footer's."""
    changes = {**MANY, "rows_per_lookup": keys, "key_draw": draw, "latency_s": 20e-6}
    return float(len(bench.sample(**changes).reads) - _footer(bench, **changes))


def mean_groups_hit(bench: Bench, keys: int) -> float:
    """Return the same, averaged over some draws of keys."""
    return float(np.mean([groups_hit(bench, keys, draw) for draw in range(1, DRAWS + 1)]))


def row_groups(bench: Bench) -> int:
    """Return how many row groups the table has."""
    return EXPERIMENT.case(bench.base).recipe.row_groups


def many_hit(bench: Bench) -> float:
    """Return how many row groups the twenty-six rows are expected to lie in."""
    return float(laws.distinct(row_groups(bench), AFTER))


def index_s(witness: Any, rows: int) -> Any:
    """Return the seconds of a lookup that goes through the index, whatever the step."""
    return witness.seconds(rows_per_lookup=rows, step_rows=10_000)


def scan_s(witness: Any) -> Any:
    """Return the seconds in which DuckDB reads the whole table."""
    return witness.seconds(query="scan")


def break_even(bench: Bench) -> int:
    """Return from how many rows on the model has the whole table read sooner than rows through the index."""
    every = scan_s(bench.model).median
    return laws.break_even(lambda rows: float(index_s(bench.model, rows).median), every, 10_000)


def measured_break_even(bench: Bench) -> float:
    """Return the same as measured: two lookups around the model's answer, and the straight line between them."""
    about = max(2, break_even(bench))
    low, high = max(1, about // 2), min(10_000, about * 3 // 2)
    low_s, high_s = (float(index_s(bench.measured, rows).median) for rows in (low, high))
    share = (float(scan_s(bench.measured).median) - low_s) / max(1e-9, high_s - low_s)
    return max(1.0, low + share * (high - low))


def reads_a_row() -> float:
    """Return the reads that Chang counted for each row, up to his step."""
    return printed("disk_8k_reads_per_s.n25") / printed("disk_8k_rows_per_s.n25")
