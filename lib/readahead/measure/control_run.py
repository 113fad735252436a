"""A finger on the patient's wrist. One and the same short scan, run now and again between other measurements, tells
whether the machine itself is steady: no model can be nearer to a measurement than the measurement is to itself.
"""

from __future__ import annotations

import threading

from readahead.datasets.recipe import Recipe
from readahead.measure.calibrate import MEMORY
from readahead.measure.case import Case
from readahead.measure.engine import EngineSettings

CASE = Case(
    recipe=Recipe(table="comments_narrow", size="tiny", row_group_rows=65_536),
    device=MEMORY,
    engine=EngineSettings(threads=1),
)
"""Bounded by the engine alone: what varies in it is the processor's."""
REPEATS = 3


def beat_s(stop: threading.Event | None = None) -> float:
    """Return the median seconds of the scan, now. Raises `Cancelled` when `stop` is set."""
    return CASE.measure(repeats=REPEATS, stop=stop).median_s
