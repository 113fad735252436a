"""Lookups: rows by their keys, one at a time through an index, many at once past a step, or the whole table instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from readahead.chapters.lookups import array_of_disks, laws
from readahead.chapters.lookups.array_of_disks import DISKS, FITTED, UNEXPLAINED, printed, residuals
from readahead.chapters.lookups.workload import EXPERIMENT, PARQUET, STRIPE_BYTES
from readahead.experiments.figure import Axis, Line, Picture
from readahead.experiments.round import Applied, Round, Study, along, traces
from readahead.measure.sample import Value
from readahead.published import figure
from readahead.units import KiB

__all__ = ["EXPERIMENT", "FIGURES", "FITTED", "ROUNDS", "UNEXPLAINED", "residuals"]

BEFORE, AFTER = 25, 26
MANY = {"stored": PARQUET, "queue_depth": 128, "rows_per_lookup": AFTER}
"""Twenty-six rows, all asked for at once: a Parquet file has no index to walk down first."""
DISTINCT_KEYS = 100
DRAWS = 6
"""How often keys are drawn anew where an average is asked for."""


# -- what is asked of model and measurement ----------------------------------------------------------------
def wait_s(study: Study, **changes: Any) -> float:
    """Return how long a read of rows took on average, from its submission until the device had its bytes."""
    footer = len(EXPERIMENT.case(study.settings(**changes)).scan().footer)
    data = study.measured.sample(**changes).reads[footer:]
    return float(np.mean([read.due_s - read.submitted_s for read in data]))


def groups_hit(study: Study, keys: int, draws: Sequence[int] = range(1, DRAWS + 1)) -> float:
    """Return how many row groups DuckDB read for so many keys, averaged over draws of keys."""
    asked = {**MANY, "rows_per_lookup": keys, "latency_s": 20e-6}
    return float(np.mean([study.sample(**asked, key_draw=draw).row_groups_scanned for draw in draws]))


def row_groups(study: Study) -> int:
    """Return how many row groups the table has."""
    return EXPERIMENT.case(study.base).recipe.row_groups


def by_index(rows: int) -> dict[str, int]:
    """Return the knobs of a lookup that goes through the index, whatever its step."""
    return {"rows_per_lookup": rows, "step_rows": 10_000}


def break_even(study: Study) -> int:
    """Return from how many rows on the model has the whole table read sooner than rows through the index."""
    every_s = study.model.seconds(query="scan").median
    return laws.break_even(lambda rows: study.model.seconds(**by_index(rows)).median, every_s, 10_000)


def _around(study: Study) -> tuple[int, int]:
    """Return two numbers of rows, below and above the break-even of the model."""
    about = max(2, break_even(study))
    return max(1, about // 2), min(10_000, about * 3 // 2)


def measured_break_even(study: Study) -> float:
    """Return the same as measured: two lookups around the model's answer, and the straight line between them."""
    low, high = _around(study)
    low_s, high_s = (study.measured.seconds(**by_index(rows)).median for rows in (low, high))
    share = (study.measured.seconds(query="scan").median - low_s) / max(1e-9, high_s - low_s)
    return max(1.0, low + share * (high - low))


def step(see: Any) -> Value:
    """Return how many times as long 25 rows take as 26."""
    ratio: Value = see.seconds(rows_per_lookup=BEFORE) / see.seconds(rows_per_lookup=AFTER)
    return ratio


def _reads_a_row() -> float:
    """Return Chang's disk reads of a row at 25 rows: two counters of his, one over the other."""
    return printed("disk_8k_reads_per_s.n25") / printed("disk_8k_rows_per_s.n25")


def reads_at_the_step(study: Study) -> dict[str, float]:
    """Return the reads of 25 rows, those of 26 one by one and together, and how many of these are under way."""
    planned = EXPERIMENT.case(study.settings(rows_per_lookup=AFTER)).scan()
    alone, device = len(planned.footer), EXPERIMENT.device(study.base)
    together = planned.count - alone
    service_s = device.latency_s + study.base["block_bytes"] / device.channel_bandwidth_bytes_per_s
    batch_s = study.model.estimate(rows_per_lookup=AFTER).terms_s["many at once"]
    return {
        "before": EXPERIMENT.case(study.settings(rows_per_lookup=BEFORE)).scan().count,
        "alone": alone,
        "together": together,
        "under_way": laws.in_flight(together / batch_s, service_s),
    }


def _eight(study: Study) -> Applied:
    """Return Amdahl's law for eight disks: what is not asked for at once, and a batch that its fullest disk ends."""
    planned = EXPERIMENT.case(study.settings(**MANY)).scan()
    spans = [span for group in planned.groups for span in group]
    disks = np.bincount([offset // STRIPE_BYTES % DISKS for offset, _ in spans], minlength=DISKS)
    terms = study.model.estimate(**MANY, channels=1).terms_s
    return Applied(
        laws.gain_at_most,
        alone_s=terms["open"] + terms["footer"] + terms["cpu"],
        together_s=terms["many at once"],
        speed_up=len(spans) / int(disks.max()),
    )


def _worth_looking_up(study: Study) -> Applied:
    """Return the rule of the key points: the time of the scan over that of a row."""
    scan_s, lookup_s = (study.model.seconds(**how).median for how in ({"query": "scan"}, by_index(BEFORE)))
    return Applied(laws.worth_looking_up, scan_s=scan_s, lookup_s=lookup_s, rows=BEFORE)


# -- the rounds --------------------------------------------------------------------------------------------
ROUNDS = {
    "one_by_one": Round(
        model=lambda _: laws.lookups_per_s(_reads_a_row(), printed("read_latency_s.n25")),
        measures=False,
        published=lambda: (figure("lookups", "disk_8k_rows_per_s.n25"),),
        law=lambda _: Applied(
            laws.lookups_per_s, reads_a_row=_reads_a_row(), latency_s=printed("read_latency_s.n25")
        ),
    ),
    "disks": Round(
        ask=lambda see: see.seconds(channels=1) / see.seconds(channels=64),
        law=lambda _: Applied(laws.speed_up, reads=1, disks=64),
    ),
    "balls": Round(
        model=lambda _: laws.batch_s(AFTER, DISKS, printed("read_latency_s.n25")),
        measures=False,
        published=lambda: (figure("lookups", "duration_s.n26"),),
        law=lambda _: Applied(
            laws.batch_s, reads=AFTER, disks=DISKS, service_s=printed("read_latency_s.n25")
        ),
    ),
    "eight": Round(
        ask=lambda see: see.seconds(**MANY, channels=1) / see.seconds(**MANY, channels=8), law=_eight
    ),
    "little": Round(
        model=lambda _: laws.in_flight(printed("disk_8k_reads_per_s.n26"), printed("read_latency_s.n26")),
        measures=False,
        law=lambda _: Applied(
            laws.in_flight,
            reads_per_s=printed("disk_8k_reads_per_s.n26"),
            wait_s=printed("read_latency_s.n26"),
        ),
    ),
    "wait": Round(
        model=lambda study: laws.mean_wait_s(laws.distinct(row_groups(study), AFTER), DISKS, 1.0),
        measured=lambda study: (
            wait_s(study, **MANY, channels=8) / wait_s(study, **{**MANY, "queue_depth": 1}, channels=8)
        ),
        law=lambda study: Applied(
            laws.mean_wait_s, reads=laws.distinct(row_groups(study), AFTER), disks=DISKS, service_s=1.0
        ),
    ),
    "step": Round(ask=step, law=lambda study: Applied(laws.step_gain, **reads_at_the_step(study))),
    "distinct": Round(
        model=lambda study: laws.distinct(row_groups(study), DISTINCT_KEYS),
        measured=lambda study: groups_hit(study, DISTINCT_KEYS),
        law=lambda study: Applied(laws.distinct, places=row_groups(study), rows=DISTINCT_KEYS),
    ),
    "break_even": Round(model=break_even, measured=measured_break_even, law=_worth_looking_up),
}


# -- the figures -------------------------------------------------------------------------------------------
_ROWS = Axis(label="rows a query", kind="rows")


def _bins(_: Study) -> Picture:
    disks = (1, 2, 4, 8, 16, 32, 64)
    even = Line(name="as many as disks", points=[(float(d), float(d)) for d in disks], source="other")
    lines = [
        Line(name=f"{reads:,} reads at once", points=[(float(d), reads / laws.fullest(reads, d)) for d in disks])
        for reads in (AFTER, 300, 10_000)
    ]  # fmt: skip
    x, y = Axis(label="disks", kind="count"), Axis(label="speed-up", kind="times")
    return Picture(x=x, y=y, lines=(even, *lines), marks={"Chang": float(DISKS)})


def _step(study: Study) -> Picture:
    index = along(study, "rows_per_lookup", seen=(5, BEFORE, AFTER, 100), label="index")
    parquet = along(study, "rows_per_lookup", seen=(5, AFTER, 100), label="Parquet", stored=PARQUET)
    y = Axis(label="rows a second", kind="rows_per_s")
    return Picture(x=_ROWS, y=y, lines=(*index, *parquet), marks={"25 | 26": 25.5})


def _distinct(study: Study) -> Picture:
    groups, rows = row_groups(study), EXPERIMENT.case(study.base).recipe.rows
    seen = {keys: groups_hit(study, keys) for keys in (10, DISTINCT_KEYS, 400)}
    law = {keys: laws.distinct(groups, keys) for keys in seen}
    every = [int(keys) for keys in np.unique(np.geomspace(1, 2_000, 40).round())]
    return Picture(
        values={
            "draws": DRAWS,
            "worst": max(abs(seen[keys] / law[keys] - 1) for keys in seen),
            "error": max(laws.spread(groups, keys) / law[keys] for keys in seen) / DRAWS**0.5,
        },
        x=_ROWS,
        y=Axis(label="row groups read", kind="count"),
        lines=(
            Line(name="Cardenas", points=[(keys, laws.distinct(groups, keys)) for keys in every]),
            Line(name="Yao", points=[(keys, laws.distinct_of(groups, rows, keys)) for keys in every]),
            Line(name="DuckDB", points=list(seen.items()), source="measured", joined=False),
        ),
    )


def _even(study: Study) -> Picture:
    about, scan = break_even(study), {"query": "scan"}
    index = along(
        study, "rows_per_lookup", seen=_around(study), label="index", seconds=True, step_rows=10_000
    )
    whole = [(rows, study.model.seconds(**scan).median) for rows in (1, 10_000)]
    seen = [(about, study.measured.seconds(**scan).median)]
    return Picture(
        values={"rows": about, "table": EXPERIMENT.case(study.base).recipe.rows},
        x=_ROWS,
        y=Axis(label="elapsed", kind="s"),
        lines=(
            *index,
            Line(name="model, whole table", points=whole),
            Line(name="DuckDB, whole table", points=seen, source="measured", joined=False),
        ),
        marks={"break-even": about},
    )


def _rough(number: float) -> float:
    """Return a number with its first two digits: more of them say nothing here."""
    return float(f"{number:.2g}")


def _amplified(study: Study) -> Picture:
    rows, modeled, seen = 10, [], []
    wanted = rows * EXPERIMENT.case(study.base).recipe.source.bytes_per_row
    for block in (16 * KiB, 64 * KiB, 256 * KiB):
        changes = {"block_bytes": block, **by_index(rows)}
        reads = EXPERIMENT.case(study.settings(**changes)).scan()
        modeled.append((block, laws.amplification(reads.bytes_read, wanted)))
        seen.append((block, laws.amplification(study.sample(**changes).bytes_read, wanted)))
    return Picture(
        values={
            "rows": rows,
            "width": wanted / rows,
            "least": _rough(seen[0][1]),
            "most": _rough(seen[-1][1]),
        },
        x=Axis(label="block", kind="bytes"),
        y=Axis(label="bytes read / bytes wanted", kind="times"),
        lines=(
            Line(name="model", points=modeled),
            Line(name="DuckDB", points=seen, source="measured", joined=False),
        ),
    )


FIGURES = {
    **array_of_disks.FIGURES,
    "asked": lambda study: traces(
        study, runs={f"{rows} rows": {"rows_per_lookup": rows} for rows in (BEFORE, AFTER)}
    ),
    "bins": _bins,
    "step": _step,
    "distinct": _distinct,
    "even": _even,
    "amplified": _amplified,
}
