"""How long the calibration of a new machine takes: the part of each chapter at its usual settings, and all of it."""

from __future__ import annotations

import time

from readahead import paths
from readahead.chapters import CONTENTS, chapter
from tools.bench.figure import Figure

MOST_S, MOST_ALL_S = 3.0, 10.0
"""What the part of a chapter, and all of it, may take."""
TIMES = 3
"""How often a new machine is calibrated; the worst counts."""


def new_machine() -> list[Figure]:
    """Calibrate as the first measurement of each chapter does, in the order of contents.

    Once before that, untimed: tables are built and the models compiled.
    """
    took_s = {row.topic: list[float]() for row in CONTENTS}
    for timed in (False, *[True] * TIMES):
        for costs in paths.cache_dir().glob("costs-*.json"):
            costs.unlink()
        for topic, seconds in took_s.items():
            one_s = _calibrate(topic)
            if timed:
                seconds.append(one_s)
    every = [sum(turn) for turn in zip(*took_s.values(), strict=True)]
    parts = [_figure(f"calibration of {topic}", seconds, MOST_S) for topic, seconds in took_s.items()]
    return [*parts, _figure("calibration of a new machine", every, MOST_ALL_S)]


def _calibrate(topic: str) -> float:
    """Calibrate what the chapter takes and nobody has calibrated yet; return the seconds."""
    experiment, start_s = chapter(topic).experiment, time.perf_counter()
    experiment.ensure_calibrated(experiment.settings())
    return time.perf_counter() - start_s


def _figure(name: str, seconds: list[float], aim: float) -> Figure:
    return Figure(name=name, value=max(seconds), unit="s", aim=aim, samples={"seconds": seconds})
