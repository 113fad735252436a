"""A coin and a table of its throws. Randal's five times, this machine's ten, and how many it would take to tell two of
them apart."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from readahead import published
from readahead.chapters.loading import laws
from readahead.chapters.loading.writers import DATABASE
from readahead.experiments.figure import Axis, Line, Picture
from readahead.experiments.round import Bench
from readahead.measure.sample import Sample

REPEATED = 10
"""How often one and the same load is repeated, to see how far its times lie apart."""
TESTS = tuple(f"test{n}" for n in range(1, 6))


@functools.cache
def five() -> tuple[float, ...]:
    """Return his five times, in seconds, in the order in which he changed the network."""
    return tuple(published.figure("loading", f"elapsed_s.{name}").best for name in TESTS)


def residuals() -> Sequence[tuple[str, float, float]]:
    """Return (figure, model, printed): one constant for six network set-ups, and what follows from other figures."""
    names = ("best_before", *TESTS)
    times = [published.figure("loading", f"elapsed_s.{name}").best for name in names]
    same = [
        (f"elapsed, {name}", float(np.mean(times)), told) for name, told in zip(names, times, strict=True)
    ]
    share = published.figure("loading", "share_per_connection").best
    connections = published.figure("loading", "connections").best
    return (*same, ("share of a connection", 1 / connections, share))


FITTED = 1
"""The one time that stands for all six."""


def repeated(bench: Bench) -> Sample:
    """Return one and the same load on this disk, often repeated."""
    return bench.repeated(REPEATED, target=DATABASE, writers=1, commit_rows=500)


def halves(bench: Bench) -> float:
    """Return how many times as long as the faster half of the ten runs the slower half took, in the median."""
    seconds = repeated(bench).seconds
    half = len(seconds) // 2
    first, second = float(np.median(seconds[:half])), float(np.median(seconds[half:]))
    return max(first, second) / min(first, second)


def five_times(_: Bench) -> Picture:
    """Draw Randal's five times, and the band in which chance alone would put them."""
    times = five()
    middle, apart = float(np.mean(times)), float(np.std(times, ddof=1))
    ends = (0.5, 5.5)
    wide = (max(times) - min(times)) / apart
    return Picture(
        title="Five set-ups, five times",
        sentence=f"From the longest to the shortest are {wide:.2f} standard deviations; five draws from one and the"
        " same"
        f" hat lie {laws.expected_range(5):.2f} apart. Nothing here asks for a reason.",
        x=Axis(label="network set-up", kind="count", log=False),
        y=Axis(label="elapsed", kind="s", log=False),
        lines=(
            Line(
                name="Randal's times", source="published", joined=False,
                points=[(float(n), told) for n, told in enumerate(times, start=1)],
            ),
            Line(name="mean", points=[(x, middle) for x in ends], source="other"),
            Line(name="two standard deviations above", points=[(x, middle + 2 * apart) for x in ends], source="other"),
            Line(name="two below", points=[(x, middle - 2 * apart) for x in ends], source="other"),
        ),
        marks={},
    )  # fmt: skip


def ten_times(bench: Bench) -> Picture:
    """Draw one load, often repeated on this machine."""
    sample = repeated(bench)
    low, high = sample.interval_s()
    ends = (0.5, REPEATED + 0.5)
    return Picture(
        title="One load, ten times",
        sentence=f"Nothing was changed between these runs. They scatter by {laws.spread(sample.seconds):.0%} of"
        " their"
        " mean; the dashed lines are where the median may lie.",
        x=Axis(label="run", kind="count", log=False),
        y=Axis(label="elapsed", kind="s", log=False),
        lines=(
            Line(
                name="this machine", source="measured", joined=False,
                points=[(float(n), took) for n, took in enumerate(sample.seconds, start=1)],
            ),
            Line(name="median", points=[(x, sample.median_s) for x in ends], source="measured"),
            Line(name="lower end", points=[(x, low) for x in ends], source="measured"),
            Line(name="upper end", points=[(x, high) for x in ends], source="measured"),
        ),
        marks={},
    )  # fmt: skip


def runs_needed(_: Bench) -> Picture:
    """Draw how many runs of each a true difference asks for."""
    differences = np.geomspace(0.005, 0.2, 40)
    lines = [
        Line(
            name=f"runs that scatter by {spread:.1%}",
            points=[(float(d), float(laws.runs_to_settle(float(d), spread))) for d in differences],
        )
        for spread in (laws.spread(five()), 0.05, 0.1)
    ]
    return Picture(
        title="How many runs of each would settle it?",
        sentence="A difference half as large takes four times the runs; so does twice the scatter.",
        x=Axis(label="true difference", kind="1"),
        y=Axis(label="runs of each", kind="count"),
        lines=tuple(lines),
        marks={"two per cent": 0.02},
    )
