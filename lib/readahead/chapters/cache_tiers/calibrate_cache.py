"""What DuckDB's cache itself takes: queries of one row group, timed from memory, from the spill folder, and from a
device whose latency is known. What is left of the time is DuckDB's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from readahead.chapters.cache_tiers.access_trace import AccessTrace
from readahead.chapters.cache_tiers.cached_case import CacheCosts, CachedCase
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure.calibrate import Calibration, line
from readahead.measure.run import EngineSettings
from readahead.models.reads import RowGroup
from readahead.units import MiB

RECIPES = tuple(Recipe(table="comments", size="tiny", row_group_rows=rows) for rows in (4_096, 8_192))
"""Two row-group sizes, so that what each row costs can be told from what each query costs."""
QUERIES = 24
"""At most, so that what is in memory is more than a processor's own cache holds."""
CELLS: tuple[dict[str, Any], ...] = (
    {"fits": True}, {"fits": True, "run": 1}, {}, {"spills": True}, {"spills": True, "run": 1},
    {"fits": True, "scan": True}, {"run": 1, "scan": True}, {"spills": True, "scan": True},
)  # fmt: skip
"""Queries from memory, first fetched, fetched again, from the spill folder, first fetched while what was there is
written to it; then a scan from memory, first fetched, and from the spill folder."""
PROBE = Device(name="probe", latency_s=0.003, bandwidth_bytes_per_s=1e12, channels=64)
"""A device that makes the engine wait: what has waited runs slower than what never did."""


def _groups(recipe: Recipe) -> Sequence[RowGroup]:
    return inspect.shape(store.path(recipe)).row_groups[:QUERIES]


def _group_s(
    recipe: Recipe, *, fits: bool = False, spills: bool = False, run: int = 2, scan: bool = False
) -> float:
    """Return the seconds of one row group, with memory for all of them or for three."""
    groups = _groups(recipe)
    case = CachedCase(
        recipe=recipe,
        device=PROBE,
        engine=EngineSettings(threads=1, queue_depth=1, column_gap_bytes=1 * MiB),
        trace=AccessTrace(
            rows=tuple(group.rows for group in groups),
            sizes=tuple(group.size_bytes for group in groups),
            queries=0,
            skew=None if scan else 0.0,
            memory_share=50 if fits else 3 / len(groups),
        ),
        block_bytes=2 * MiB,
        remote=spills,
        run=run,
    )
    return case.measure(repeats=3).median_s / len(groups)


def _costs(seen: Sequence[float]) -> CacheCosts:
    """Read each cost off a line through two points: the seconds of a cell at both row-group sizes."""
    sizes = np.array([np.mean([group.size_bytes for group in _groups(recipe)]) for recipe in RECIPES])
    seconds = np.median(np.reshape(seen, (-1, len(CELLS), len(RECIPES))), axis=0)
    memory, first, again, spilled, written, scan, fetched, recalled = seconds
    rows = [float(recipe.effective_row_group_rows) for recipe in RECIPES]
    query_s, row_s = line(list(zip(rows, memory, strict=True)))
    costs = {"query_s": query_s, "row_s": row_s}
    for name, took in {
        "read": first - memory - PROBE.latency_s,
        "evict": again - first,
        "spill": spilled - memory,
        "write": written - first,
    }.items():
        costs[f"{name}_s"], costs[f"{name}_byte_s"] = line(list(zip(sizes, took, strict=True)))
    for name, took in {"copy": fetched - scan - PROBE.latency_s, "recall": recalled - scan}.items():
        costs[f"{name}_byte_s"] = max(0.0, np.min(took / sizes))  # of two, for what disturbs only adds
    return CacheCosts(**{name: float(cost) for name, cost in costs.items()})


CACHE = Calibration(
    name="comments-cache",
    kind=CacheCosts,
    cases=lambda: [partial(_group_s, recipe, **cell) for cell in CELLS for recipe in RECIPES],
    read_off=_costs,
    typical=CacheCosts,
    turns=3,
)
"""Queries of one row group, timed from memory, from a device and from the spill folder; a turn takes five seconds."""
