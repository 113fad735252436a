"""A finger on the patient's wrist. One and the same short scan, run now and again between other measurements, tells
whether the machine itself is steady: no model can be nearer to a measurement than the measurement is to itself.
"""

from __future__ import annotations

from readahead.datasets.recipe import Recipe
from readahead.measure.calibrate import MEMORY
from readahead.measure.case import Case
from readahead.measure.engine import EngineSettings
from readahead.running import quietly

CASE = Case(
    recipe=Recipe(table="comments_narrow", size="tiny", row_group_rows=65_536),
    device=MEMORY,
    engine=EngineSettings(threads=1),
)
"""Bounded by the engine alone: what varies in it is the processor's."""
REPEATS = 3


def beat_s() -> float:
    """Return the median seconds of the scan, now. Raises `Cancelled` when asked to stop."""
    with quietly():
        return CASE.measure(repeats=REPEATS).median_s
