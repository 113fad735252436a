"""Twenty-five letters by one messenger, or twenty-six by all who are free. Rows by their keys: one at a time through an
index, many at once past a step, and from where on nobody should look anything up at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from readahead.chapters.lookups import array_figures as eight
from readahead.chapters.lookups import array_of_disks, laws
from readahead.chapters.lookups.array_of_disks import FITTED, printed, residuals
from readahead.chapters.lookups.experiment import (
    AFTER,
    BEFORE,
    DISTINCT_KEYS,
    DRAWS,
    EXPERIMENT,
    MANY,
    break_even,
    index_s,
    many_hit,
    mean_groups_hit,
    measured_break_even,
    reads_a_row,
    row_groups,
    scan_s,
    waited_s,
)
from readahead.chapters.lookups.workload import PARQUET
from readahead.experiments.figure import Axis, Line, Picture, Traces
from readahead.experiments.round import Bench, Round, traces
from readahead.published import figure
from readahead.units import KiB

ROUNDS = {
    "one_by_one": Round(
        model=lambda bench: 1 / (reads_a_row() * printed("read_latency_s.n25")),
        measures=False,
        published=lambda: (figure("lookups", "disk_8k_rows_per_s.n25"),),
    ),
    "disks": Round(ask=lambda see: see.seconds(channels=1) / see.seconds(channels=64)),
    "balls": Round(
        model=lambda bench: laws.batch_s(AFTER, array_of_disks.DISKS, printed("read_latency_s.n25")),
        measures=False,
        published=lambda: (figure("lookups", "duration_s.n26"),),
    ),
    "eight": Round(ask=lambda see: see.seconds(**MANY, channels=1) / see.seconds(**MANY, channels=8)),
    "little": Round(
        model=lambda bench: laws.in_flight(printed("disk_8k_reads_per_s.n26"), printed("read_latency_s.n26")),
        measures=False,
    ),
    "wait": Round(
        model=lambda bench: laws.mean_wait_s(many_hit(bench), array_of_disks.DISKS, 1.0),
        measured=lambda bench: (
            waited_s(bench, **MANY, channels=8) / waited_s(bench, **{**MANY, "queue_depth": 1}, channels=8)
        ),
    ),
    "step": Round(ask=lambda see: see.seconds(rows_per_lookup=BEFORE) / see.seconds(rows_per_lookup=AFTER)),
    "distinct": Round(
        model=lambda bench: float(laws.distinct(row_groups(bench), DISTINCT_KEYS)),
        measured=lambda bench: mean_groups_hit(bench, DISTINCT_KEYS),
    ),
    "break_even": Round(model=lambda bench: float(break_even(bench)), measured=measured_break_even),
}


# -- the pictures ------------------------------------------------------------------------------------------
_ROWS = Axis(label="rows a query", kind="rows")
_RATE = Axis(label="rows a second", kind="rows_per_s")


def _asked(bench: Bench) -> Traces:
    return traces(
        bench,
        title="Twenty-five rows, and one more",
        sentence="Up to the step every read waits for the one before it. Past it DuckDB still walks down its index"
        " one read at a time until it has found a row too many; then the blocks of all rows are asked for side by"
        " side.",
        runs={
            f"{BEFORE} rows": {"rows_per_lookup": BEFORE},
            f"{AFTER} rows": {"rows_per_lookup": AFTER},
        },
    )


def _curve(bench: Bench, name: str, **changes: Any) -> Line:
    rows = (1, 2, 5, 10, 20, BEFORE, AFTER, 50, 100, 200, 500, 1_000, 10_000)
    rates = [bench.model.throughput(rows_per_lookup=n, **changes).median for n in rows]
    return Line(name=name, points=[(float(n), rate) for n, rate in zip(rows, rates, strict=True)])


def _seen(bench: Bench, name: str, rows: Sequence[int], **changes: Any) -> Line:
    points = [(float(n), bench.measured.throughput(**changes, rows_per_lookup=n).median) for n in rows]
    return Line(name=name, points=points, source="measured", joined=False)


def _step(bench: Bench) -> Picture:
    return Picture(
        title="The step in DuckDB",
        sentence="Through the index the rate hardly moves; past the step it leaps and then grows with the rows."
        " Parquet has no index, so it is always past the step. The step stands wherever the setting puts it.",
        x=_ROWS,
        y=_RATE,
        lines=(
            _curve(bench, "index, model"),
            _seen(bench, "index, DuckDB", (5, BEFORE, AFTER, 100)),
            _curve(bench, "Parquet, model", stored=PARQUET),
            _seen(bench, "Parquet, DuckDB", (5, AFTER, 100), stored=PARQUET),
        ),
        marks={"25 | 26": 25.5},
    )


def _distinct(bench: Bench) -> Picture:
    keys, groups = (10, DISTINCT_KEYS, 400), row_groups(bench)
    seen = [(float(n), mean_groups_hit(bench, n)) for n in keys]
    law = [float(laws.distinct(groups, n)) for n in keys]
    worst = max(abs(got / due - 1) for (_, got), due in zip(seen, law, strict=True))
    error = max(laws.spread(groups, n) / due for n, due in zip(keys, law, strict=True)) / DRAWS**0.5
    every_row = EXPERIMENT.case(bench.base).recipe.rows
    every = [float(n) for n in np.unique(np.geomspace(1, 2_000, 40).round())]
    return Picture(
        title="Random rows share row groups",
        sentence=f"The mean of {DRAWS} draws of keys lies within {worst:.1%} of Cardenas' formula everywhere; chance"
        f" alone moves such a mean by up to {error:.1%} (one standard error). Yao's formula, for"
        " rows that cannot come twice, draws the same line here.",
        x=_ROWS,
        y=Axis(label="row groups read", kind="count"),
        lines=(
            Line(name="Cardenas", points=[(n, float(laws.distinct(groups, n))) for n in every]),
            Line(name="Yao", points=[(n, laws.distinct_of(groups, every_row, int(n))) for n in every]),
            Line(name="DuckDB", points=seen, source="measured", joined=False),
        ),
        marks={},
    )


def _even(bench: Bench) -> Picture:
    about = break_even(bench)
    rows = sorted({1, max(1, about // 2), about, min(10_000, about * 3 // 2), min(10_000, about * 4)})
    seen = sorted({max(1, max(2, about) // 2), min(10_000, max(2, about) * 3 // 2)})
    every, table = scan_s(bench.model).median, EXPERIMENT.case(bench.base).recipe.rows
    scan = scan_s(bench.measured).median
    return Picture(
        title="Look up, or read it all?",
        sentence=f"From {about:,} of {table:,} rows on, the model has DuckDB read the whole table sooner than it"
        " fetches the rows one by one; a look at the whole costs the same however much of it is wanted.",
        x=_ROWS,
        y=Axis(label="elapsed", kind="s"),
        lines=(
            Line(name="index, model", points=[(float(n), index_s(bench.model, n).median) for n in rows]),
            Line(
                name="index, DuckDB", source="measured", joined=False,
                points=[(float(n), index_s(bench.measured, n).median) for n in seen],
            ),
            Line(name="whole table, model", points=[(float(rows[0]), every), (float(rows[-1]), every)]),
            Line(name="whole table, DuckDB", points=[(float(about), scan)], source="measured", joined=False),
        ),
        marks={"break-even": float(about)},
    )  # fmt: skip


def _amplified(bench: Bench) -> Picture:
    blocks, rows = (16 * KiB, 64 * KiB, 256 * KiB), 10
    width = EXPERIMENT.case(bench.base).recipe.source.bytes_per_row
    modeled, seen = [], []
    for block in blocks:
        changes = {"block_bytes": block, "rows_per_lookup": rows, "step_rows": 10_000}
        settings = bench.settings(**changes)
        wanted = rows * width
        modeled.append(
            (float(block), float(laws.amplification(EXPERIMENT.plan(settings).bytes_read, wanted)))
        )
        seen.append((float(block), float(laws.amplification(bench.sample(**changes).bytes_read, wanted))))
    return Picture(
        title="Bytes read for a byte wanted",
        sentence=f"For {rows} rows of {width:.0f} bytes DuckDB read {seen[0][1]:,.0f} to {seen[-1][1]:,.0f} times"
        " what was wanted: a block for each column of each row, and more for the index. Larger blocks read more, and"
        " ask less.",
        x=Axis(label="block", kind="bytes"),
        y=Axis(label="bytes read / bytes wanted", kind="times"),
        lines=(
            Line(name="model", points=modeled),
            Line(name="DuckDB", points=seen, source="measured", joined=False),
        ),
        marks={},
    )


FIGURES = {
    **eight.FIGURES, "asked": _asked, "step": _step, "distinct": _distinct, "even": _even, "amplified": _amplified,
}  # fmt: skip

UNEXPLAINED = {
    "memory_rows_per_s.n3000": "the leap at 3,000 rows",
    "cpu_per_row_s.memory.n3000": "the leap at 3,000 rows",
    "disk_8k_rows_per_s.n1000": "the rate stands still from 300 to 1,000 rows and leaps at 3,000",
    "disk_8k_reads_per_s.n1000": "the rate stands still from 300 to 1,000 rows and leaps at 3,000",
    "disk_8k_reads_per_s.n30": "slower than 26 rows: where batches begin, between one read at a time and many",
    "disk_64k_rows_per_s.n30": "slower than 25 and 26 rows, as with 8 KB",
    "cpu_per_read_s.64k.n10000": "the only one of eleven far below 44 µs",
}
"""The figures farther than 10 % from the model, each with what is known of why."""

__all__ = ["EXPERIMENT", "FIGURES", "FITTED", "ROUNDS", "UNEXPLAINED", "residuals"]
