"""The loading bay: many writers, small batches and large ones, and whether a time that was shorter was shorter."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from readahead.chapters.loading import laws
from readahead.chapters.loading.crash_test import Left, kill_a_load
from readahead.chapters.loading.noise import (
    FITTED,
    five,
    five_times,
    repeated,
    residuals,
    runs_needed,
    ten_times,
)
from readahead.chapters.loading.workload import Loading
from readahead.chapters.loading.writers import (
    DATABASE,
    EMULATED_FILES,
    FILES,
    TARGETS,
    load_calibration,
)
from readahead.experiments.experiment import Knob
from readahead.experiments.figure import Axis, Line, Picture, Traces
from readahead.experiments.knobs import knob, powers
from readahead.experiments.residuals import against_print
from readahead.experiments.round import Bench, Round, traces
from readahead.measure.value import Value
from readahead.models import scalability

COUNTS = (1, 2, 4, 8, 16, 32)
EXPERIMENT = Loading(
    topic="loading",
    title="Loading: writers, batches, and where they write",
    knobs=(
        Knob(
            name="writers", label="Writers", kind="count", default=4, low=1, high=64, steps=powers(1, 64),
            help="Threads that each write batch after batch.",
        ),
        Knob(
            name="commit_rows", label="Rows a commit", kind="rows", default=500, low=10, high=10_000,
            steps=(10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000),
            help="How many rows are made safe together.",
        ),
        knob("latency_s", default=0.004, low=100e-6, high=0.02, label="Write latency"),
        Knob(name="target", label="Into", kind="choice", default=EMULATED_FILES, choices=TARGETS),
        knob("channels", default=16),
        knob("size", default="tiny"),
    ),
)  # fmt: skip


# -- the rounds --------------------------------------------------------------------------------------------
def on_disk(**more: Any) -> dict[str, Any]:
    """Return the knobs of a load into one database on this disk."""
    return {"target": DATABASE, "writers": 1, **more}


def fastest_to_slowest(bench: Bench) -> float:
    """Return how many times as long as the fastest the slowest of the repeats took."""
    seconds = repeated(bench).seconds
    return max(seconds) / min(seconds)


@functools.cache
def killed(commit_rows: int = 500) -> Left:
    """Return what a loader left that was killed in the middle; killed once, and kept."""
    return kill_a_load(commit_rows)


def gain(**more: Any) -> Any:
    """Return the question how many times faster sixteen writers are than one."""
    return lambda see: see.seconds(writers=1, **more) / see.seconds(writers=16, **more)


def per_row(see: Any, commit_rows: int) -> Any:
    """Return the seconds a row, into one database on this disk."""
    rows = EXPERIMENT.rows(see.bench.settings(**on_disk(commit_rows=commit_rows)))
    return see.seconds(**on_disk(commit_rows=commit_rows)) / Value(median=rows, low=rows, high=rows)


ROUNDS = {
    "spread": Round(measured=fastest_to_slowest),
    "runs": Round(model=lambda _: float(laws.runs_to_settle(0.02, laws.spread(five()))), measures=False),
    "files": Round(ask=gain()),
    "database": Round(ask=gain(target=DATABASE)),
    "durability": Round(ask=lambda see: per_row(see, 10) / per_row(see, 1_000)),
}


# -- the pictures ------------------------------------------------------------------------------------------
def _writers(bench: Bench) -> Picture:
    """Draw the curve of writers on the emulated device, modeled and measured."""
    many = EXPERIMENT.knob("writers").grid(40)
    curve = EXPERIMENT.curve(bench.settings(), "writers", many)
    seen = [(float(n), bench.measured.throughput(writers=n).median) for n in COUNTS]
    return Picture(
        title="Writers with a file each, on the emulated device",
        sentence="Each newcomer fills waits of the others, until batches cannot be made faster; the bend is where a"
        " batch's wait, in batches, is filled.",
        x=Axis(label="writers", kind="count"),
        y=Axis(label="rows a second", kind="rows_per_s"),
        lines=(
            Line(name="model", points=list(zip(many.tolist(), curve.tolist(), strict=True))),
            Line(name="DuckDB", points=seen, source="measured", joined=False),
        ),
        marks={},
    )


def fitted_laws(
    bench: Bench,
) -> tuple[list[float], list[list[float]], scalability.Law, list[scalability.Law]]:
    """Return counts of writers to files on this disk, the rates of each repeat, the law, and laws of resamples."""
    rates = []
    for count in COUNTS:
        sample = bench.sample(target=FILES, writers=count)
        rates.append([EXPERIMENT.work(bench.settings()) / took for took in sample.seconds])
    counts = [float(count) for count in COUNTS]
    law = scalability.fit(counts, [float(np.median(repeats)) for repeats in rates])
    return counts, rates, law, scalability.fits(counts, rates)


def _law(bench: Bench) -> Picture:
    counts, rates, law, others = fitted_laws(bench)
    many = np.geomspace(1, max(counts), 40)
    low, high = scalability.band(others, many)
    peaks = sorted(min(one.peak, 999.0) for one in others)
    first, last = (peaks[int(len(peaks) * share)] for share in (0.025, 0.975))
    where = (
        f"from {first:.0f} to {last:.0f}"
        if last < max(counts)
        else f"from {first:.0f} to beyond what was tried"
    )
    return Picture(
        title="The law, fitted to this disk",
        sentence=f"Contention {law.contention:.2f}, crosstalk {law.crosstalk:.4f}: with the repeats as they scatter,"
        " the"
        f" peak may lie at any number of writers {where}.",
        x=Axis(label="writers", kind="count"),
        y=Axis(label="rows a second", kind="rows_per_s"),
        lines=(
            Line(name="Universal Scalability Law", points=list(zip(many.tolist(), law(many).tolist(), strict=True))),
            Line(name="lower edge, 95 %", points=list(zip(many.tolist(), low.tolist(), strict=True))),
            Line(name="upper edge, 95 %", points=list(zip(many.tolist(), high.tolist(), strict=True))),
            Line(
                name="DuckDB, every repeat", source="measured", joined=False,
                points=[(n, rate) for n, repeats in zip(counts, rates, strict=True) for rate in repeats],
            ),
        ),
        marks={},
    )  # fmt: skip


def _durability(bench: Bench) -> Picture:
    sizes = (10, 100, 1_000, 10_000)
    seen = [(float(n), per_row(bench.measured, n).median) for n in sizes]
    costs = load_calibration(DATABASE).costs()
    modeled = [
        (float(n), float(laws.commit_time_s(n, n, commit_s=costs.batch_s, row_s=costs.row_s)) / n)
        for n in np.geomspace(10, 10_000, 30).round()
    ]
    return Picture(
        title="What a promise costs",
        sentence="A commit takes as long for one row as for a thousand, so a row gets cheaper until the rows themselves"
        " are what takes the time.",
        x=Axis(label="rows a commit", kind="rows"),
        y=Axis(label="time a row", kind="s"),
        lines=(
            Line(name="model: commit / rows + row", points=modeled),
            Line(name="DuckDB, this disk", points=seen, source="measured", joined=False),
        ),
        marks={},
    )


def _writes(bench: Bench) -> Traces:
    return traces(
        bench,
        title="One writer, and sixteen",
        sentence="One waits for each of his files before he makes the next; sixteen keep the device busy, until batches"
        " cannot be made faster.",
        runs={f"{n} writer{'s' * (n > 1)}": {"writers": n} for n in (1, 16)},
    )


FIGURES = {
    "five": five_times, "repeats": ten_times, "needed": runs_needed, "writers": _writers, "writes": _writes,
    "law": _law, "durability": _durability, "printed": lambda _: against_print(residuals(), FITTED),
}  # fmt: skip

__all__ = ["EXPERIMENT", "FIGURES", "FITTED", "ROUNDS", "residuals"]
