"""What DuckDB's cache itself takes: queries of one row group, timed from memory, from the spill folder, and from a
device whose latency is known. What is left of the time is DuckDB's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from readahead.chapters.cache_tiers.access_trace import access_trace
from readahead.chapters.cache_tiers.cached_case import CacheCosts, CachedCase
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure.calibrate import Calibration, line
from readahead.measure.engine import EngineSettings
from readahead.models.shapes import RowGroup
from readahead.units import MiB

GROUPS = (4_096, 8_192)
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


def _recipe(rows: int) -> Recipe:
    return Recipe(table="comments", size="tiny", row_group_rows=rows)


def _groups(rows: int) -> Sequence[RowGroup]:
    return inspect.shape(store.path(_recipe(rows))).row_groups[:QUERIES]


def _group_s(
    rows: int, *, fits: bool = False, spills: bool = False, run: int = 2, scan: bool = False
) -> float:
    """Return the seconds of one row group of so many rows, with memory for all of them or for three."""
    groups = _groups(rows)
    every = access_trace(groups, queries=0, skew=None, memory_share=50 if fits else 3 / len(groups))
    case = CachedCase(
        recipe=_recipe(rows),
        device=PROBE,
        engine=EngineSettings(threads=1, queue_depth=1, column_gap_bytes=1 * MiB),
        trace=every if scan else replace(every, skew=0.0),
        block_bytes=2 * MiB,
        remote=spills,
        run=run,
    )
    return case.measure(repeats=3).median_s / len(groups)


def _costs(seen: Sequence[float]) -> CacheCosts:
    """Read each cost off a line through two points: the seconds of a cell at both row-group sizes."""
    sizes = np.array([np.mean([group.size_bytes for group in _groups(rows)]) for rows in GROUPS])
    seconds = np.median(np.reshape(seen, (-1, len(CELLS), len(GROUPS))), axis=0)
    memory, first, again, spilled, written, scan, fetched, recalled = seconds
    query_s, row_s = line(list(zip(map(float, GROUPS), memory, strict=True)))
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
    cases=lambda: [partial(_group_s, rows, **cell) for cell in CELLS for rows in GROUPS],
    read_off=_costs,
    typical=CacheCosts,
    turns=3,
)
"""Queries of one row group, timed from memory, from a device and from the spill folder; a turn takes five seconds."""
