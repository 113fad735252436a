"""Loading: Randal's five times held against chance, writers held against their bounds, and what a commit costs."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from readahead import published, units
from readahead.chapters.loading import laws
from readahead.chapters.loading.workload import (
    DATABASE,
    EXPERIMENT,
    FILES,
    crashed,
    load_calibration,
)
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import Settings
from readahead.experiments.figure import Line, Picture, curve, dots
from readahead.experiments.residual import Tally, tally
from readahead.experiments.round import Applied, Round, Study, along, compared
from readahead.experiments.steps import Frame, listed
from readahead.measure import scalability
from readahead.measure.sample import Sample, Value, exactly
from readahead.published import Ratio
from readahead.questions.question import Computed

COUNTS = (1, 2, 4, 8, 16, 32)
"""Writers that are measured."""
KILLED_ROWS = 500
"""Rows of a commit of the loader that is killed."""
REPEATED = 10
"""How often one and the same load is repeated, to see how far its times lie apart."""
TESTS = tuple(f"test{n}" for n in range(1, 6))


# -- noise -----------------------------------------------------------------------------------------------
def five_s() -> list[float]:
    """Return Randal's five times, in the order in which he changed the network."""
    return [published.best("loading", f"elapsed_s.{name}") for name in TESTS]


def repeated(study: Study) -> Sample:
    """Return one and the same load on this disk, often repeated."""
    return study.repeated(REPEATED, target=DATABASE, writers=1, commit_rows=500)


def halves(study: Study) -> tuple[list[float], list[float]]:
    """Return the times of the first and of the last half of the repeats."""
    seconds = list(repeated(study).seconds)
    return seconds[: REPEATED // 2], seconds[REPEATED // 2 :]


# -- commits ---------------------------------------------------------------------------------------------
def per_row(see: Any, commit_rows: int) -> Value:
    """Return the seconds a row, of one writer into one database on this disk."""
    changes = {"target": DATABASE, "writers": 1, "commit_rows": commit_rows}
    seconds: Value = see.seconds(**changes)
    return seconds / exactly(EXPERIMENT.rows(see.study.settings(**changes)))


def _files_law(study: Study, *_: Settings) -> Applied:
    device, rows = EXPERIMENT.device(study.base), study.base["commit_rows"]
    costs = replace(EXPERIMENT.costs(study.base), start_s=0.0, writer_s=0.0)
    size_bytes, make_s = rows * costs.bytes_per_row, costs.made_s(rows, 16) / 16
    return Applied(
        laws.writers_gain,
        writers=16,
        make_s=make_s,
        wait_s=laws.load_s(device, costs, writers=1, commit_rows=rows, batches=1) - make_s,
        channels=device.channels,
        link_s=size_bytes / device.bandwidth_bytes_per_s,
    )


def _commit_law(_: Study) -> Applied:
    costs = load_calibration(DATABASE).costs()
    return Applied(laws.commit_gain, few_rows=10, many_rows=1_000, commit_s=costs.batch_s, row_s=costs.row_s)


ROUNDS = {
    "spread": Round(measured=lambda study: max(repeated(study).seconds) / min(repeated(study).seconds)),
    "runs": Round(law=lambda _: Applied(laws.runs_to_settle, difference=0.02, spread=laws.spread(five_s()))),
    "files": compared({"writers": 1}, {"writers": 16}, law=_files_law),
    "database": compared(
        {"target": DATABASE, "writers": 1},
        {"target": DATABASE, "writers": 16},
        law=lambda *_: Applied(laws.capacity, writers=16, contention=1.0, crosstalk=0.0),
    ),
    "durability": Round(ask=lambda see: per_row(see, 10) / per_row(see, 1_000), law=_commit_law),
}


def _ranked(study: Study, told: Ratio) -> float:
    """Return the repeat of the same rank as one of Randal's six times, over the fastest."""
    rank = sorted([published.best("loading", "elapsed_s.best_before"), *five_s()]).index(told.figure.value)
    seconds = repeated(study).seconds
    return float(np.quantile(seconds, rank / len(TESTS))) / min(seconds)


def _fewer_writers(study: Study, _: Ratio) -> float:
    """Return what share of the rate of sixteen writers into one database eight do not reach."""
    few, many = (study.measured.seconds(writers=writers, target=DATABASE) for writers in (8, 16))
    return 1 - many.median / few.median


ANALOGUES = {
    "ranked": _ranked,
    "two_writers": lambda study, _: study.measured.seconds(writers=1) / study.measured.seconds(writers=2),
    "fewer_writers": _fewer_writers,
}


# -- in print --------------------------------------------------------------------------------------------
def in_print() -> Tally:
    """Return every printed figure that a model of this chapter meets.

    One constant stands for six network set-ups: each time is foretold by the mean of the other five, which is the null
    model itself, and that is what the chapter says of them. Two nodes that load their own parts should take half.
    """
    printed = functools.partial(published.best, "loading")
    times = {name: printed(name) for name in ("elapsed_s.best_before", *(f"elapsed_s.{n}" for n in TESTS))}
    means = {one: float(np.mean([times[name] for name in times if name != one])) for one in times}
    central_s = printed("cpimport_s.mode1")
    return tally(__file__, means | {"cpimport_s.mode2": central_s / 2}, {"cpimport_s.mode2": central_s})


# -- the figures -----------------------------------------------------------------------------------------
def _in_turn(name: str, seconds: Sequence[float], source: str, levels: dict[str, float]) -> tuple[Line, ...]:
    """Return times in the order of their runs, and level lines through all of them."""
    runs, ends = range(1, len(seconds) + 1), (1, len(seconds))
    across = "measured" if source == "measured" else "other"
    level_lines = (curve(level, ends, (at_s, at_s), across) for level, at_s in levels.items())
    return dots(name, zip(runs, seconds, strict=True), source), *level_lines


def _five(study: Study) -> Picture:
    times_s, here = five_s(), laws.half_width(*halves(study))
    return Picture(
        values={"apart": max(times_s) / min(times_s) - 1, "here": here, "runs": REPEATED // 2},
        lines=_in_turn("Randal's times", times_s, "published", {"mean": float(np.mean(times_s))}),
    )


def _repeats(study: Study) -> Picture:
    sample = repeated(study)
    low_s, high_s = sample.interval_s()
    levels = {"median": sample.median_s, "lower end": low_s, "upper end": high_s}
    return Picture(
        values={"spread": laws.spread(sample.seconds)},
        lines=_in_turn("this machine", sample.seconds, "measured", levels),
    )


def _needed(_: Study) -> Picture:
    some = np.geomspace(0.005, 0.2, 40).tolist()
    lines = (
        curve(
            f"runs that scatter by {units.text(spread, '1')}",
            some,
            [laws.runs_to_settle(d, spread) for d in some],
        )
        for spread in (laws.spread(five_s()), 0.05, 0.1)
    )
    return Picture(lines=tuple(lines), marks={"two per cent": 0.02})


Rates = Sequence[Sequence[float]]


def writers_rates(study: Study) -> Rates:
    """Return the rows a second of each repeat, of each count of writers to files on this disk."""
    samples = [study.sample(target=FILES, writers=count) for count in COUNTS]
    return [[EXPERIMENT.work(study.settings()) / took_s for took_s in sample.seconds] for sample in samples]


def fit_writers(counts: Sequence[float], rates: Rates) -> tuple[scalability.Law, list[scalability.Law]]:
    """Return the law fitted to the medians of the rates, and laws fitted to resampled repeats.

    Each count of writers is left out of some of the resamples: a law that misses one count is not sure of its curve,
    however little the repeats at it scatter.
    """
    law = scalability.fit(counts, [float(np.median(repeats)) for repeats in rates])
    others = scalability.fits(counts, rates)
    for out in range(len(counts)):
        kept = [n for n in range(len(counts)) if n != out]
        others += scalability.fits([counts[n] for n in kept], [rates[n] for n in kept], seed=out + 1)
    return law, others


def peak_between(counts: Sequence[float], others: Sequence[scalability.Law]) -> tuple[float, float]:
    """Return the measured counts of writers between which the peak lies in 95 % of the laws, as far as was measured.

    A curve knows nothing of what happens between two counts that were measured: the edges are moved out to them.
    """
    peaks = sorted(one.peak for one in others)
    first, last = peaks[int(len(peaks) * 0.025)], peaks[int(len(peaks) * 0.975)]
    below = max((count for count in counts if count <= first), default=min(counts))
    above = min((count for count in counts if count >= last), default=float("inf"))
    return below, above


def missed(counts: Sequence[float], rates: Rates, law: scalability.Law) -> tuple[float, float]:
    """Return the count of writers at which the law misses the measured median most, and by what share of it."""
    pairs = zip(counts, rates, strict=True)
    share, count = max((abs(float(law(n)) / float(np.median(seen)) - 1), n) for n, seen in pairs)
    return count, share


def _law(study: Study) -> Picture:
    rates, many = writers_rates(study), np.arange(1, max(COUNTS) + 1)
    law, others = fit_writers(COUNTS, rates)
    low, high = scalability.band(others, many)
    first, last = peak_between(COUNTS, others)
    worst, share = missed(COUNTS, rates, law)
    seen = [(float(n), rate) for n, repeats in zip(COUNTS, rates, strict=True) for rate in repeats]
    peak = f"between {first:.0f} and {last:.0f}" if last < np.inf else f"at {first:.0f} or any number above"
    told = {"contention": law.contention, "crosstalk": law.crosstalk, "peak": peak}
    return Picture(
        values=told | {"worst": worst, "missed": share},
        lines=(
            curve("Universal Scalability Law", many, law(many)),
            curve("lower edge of the curve, 95 %", many, low),
            curve("upper edge of the curve, 95 %", many, high),
            dots("DuckDB, every repeat", seen),
        ),
    )


def _durability(study: Study) -> Picture:
    costs = load_calibration(DATABASE).costs()
    sizes = np.geomspace(10, 10_000, 30).round().tolist()
    modeled = [laws.commit_time_s(n, n, commit_s=costs.batch_s, row_s=costs.row_s) / n for n in sizes]
    seen = [(float(n), per_row(study.measured, n).median) for n in (10, 100, 1_000, 10_000)]
    return Picture(
        values={"beyond": seen[-1][1] / modeled[-1]},
        lines=(curve("model: commit / rows + row", sizes, modeled), dots("DuckDB, this disk", seen)),
    )


FIGURES = {
    "five": _five,
    "repeats": _repeats,
    "needed": _needed,
    "writers": lambda study: Picture(lines=along(study, "writers", seen=COUNTS)),
    "writes": {"1 writer": {"writers": 1}, "16 writers": {"writers": 16}},
    "law": _law,
    "durability": _durability,
}


# -- answers of exercises, and the two sides of each claim ---------------------------------------------------
CLAIMS: dict[str, Sides] = {
    "not_settled": Sides(
        left=lambda study: max(1e-9, abs(laws.difference(*halves(study)))),
        right=lambda study: laws.half_width(*halves(study)),
    ),
    "writers_help": Sides(
        left={"writers": 16},
        right={"writers": 1},
        when={"batches_are_so": lambda left, right, study: study.base["commit_rows"] > 2_000},
    ),
    "one_log": Sides(left={"target": DATABASE, "writers": 16}, right={"target": DATABASE, "writers": 1}),
    "nothing_lost": Sides(
        left=lambda _: crashed(KILLED_ROWS).found_rows, right=lambda _: crashed(KILLED_ROWS).reported_rows
    ),
    "whole_commits": Sides(
        left=lambda _: crashed(KILLED_ROWS).found_rows,
        right=lambda _: KILLED_ROWS * round(crashed(KILLED_ROWS).found_rows / KILLED_ROWS),
    ),
    "cheaper": Sides(
        left=lambda study: per_row(study.measured, 1_000), right=lambda study: per_row(study.measured, 10)
    ),
}

ANSWERS: dict[str, Computed] = {
    "runs": Computed(answer=lambda _: float(laws.runs_to_settle(0.05, 0.05))),
    "peak": Computed(
        law=lambda given: Applied(laws.peak, **given),
        wrong={"the_peak_is": lambda given: 1 / given["contention"]},
    ),
}


def _one_log(study: Study) -> Iterator[Frame]:
    """Return three writers whose commits one log makes safe, one after the other, each in the time of the law."""
    takes_s, make_s = laws.batch_service_s(EXPERIMENT.device(study.base), 0), 0.003
    writers, times = (1, 2, 3, 1, 2, 3), list[tuple[float, float, float]]()  # ready, begun, safe
    for at, writer in enumerate(writers):
        ready_s = make_s + (times[at - 3][2] if at >= 3 else make_s * (writer - 1))
        begun_s = max(ready_s, times[-1][2] if times else 0.0)
        times.append((ready_s, begun_s, begun_s + takes_s))
    commits = np.round(times, 7)
    for now_s in np.unique(commits).tolist():
        asked, begun, safe = (commits <= now_s).T
        here, waiting = (np.compress(which, writers).tolist() for which in (begun & ~safe, asked & ~begun))
        says = f"After {units.text(now_s, 's')}: {safe.sum()} of {len(commits)} commits are safe."
        says += f" The log makes one of writer {here[0]} safe." if here else ""
        says += f" Writer{'s' * (len(waiting) > 1)} {listed(waiting)} must wait." if waiting else ""
        tones = np.where(safe, "done", np.where(begun, "work", np.where(asked, "wait", "free"))).tolist()
        lanes = {
            "Commits, in the order of the log": [
                (f"writer {writer}", tone) for writer, tone in zip(writers, tones, strict=True)
            ],
            "Log": [(f"writer {writer}", "work") for writer in here] or [("", "free")],
        }
        yield Frame(says=says, lanes=lanes)


STEPS = {"log": _one_log}
