"""What DuckDB takes with its cache on this machine: queries and scans, from memory, a device and a spill folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from readahead.chapters.cache_tiers.cached_case import AccessTrace, CachedCase, QueryCosts, ScanCosts
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure import calibrate
from readahead.measure.calibrate import Calibration, CostsT
from readahead.measure.run import EngineSettings
from readahead.measure.sample import Sample
from readahead.units import MiB

PROBE = Device(name="probe", latency_s=300e-6, bandwidth_bytes_per_s=1e12, channels=64)
"""A device that is waited for, for what has waited runs slower than what never did; but a scan hardly waits longer than
it decodes, so that what it copies besides is seen."""
USUAL = PROBE.but(latency_s=500e-6, bandwidth_bytes_per_s=2e9)
"""A device as a learner has it: where a scan reads ahead, decoding loses more to one whose reads come back sooner."""
FAR = PROBE.but(latency_s=20e-3)
"""A device that a query waits for so long that pages are stale."""
AMPLE, FULL = 20.0, 1.02
"""Memory for all that is asked for, as a share of its bytes: much more than is wanted, or nearly all of it in use."""
FIRST: dict[str, Any] = {"memory": AMPLE, "run": 1}
"""All of it comes from the device, into free memory."""
SPILLS: dict[str, Any] = {"memory": 0.5, "spills": True}
"""What memory has no room for goes to a spill folder."""
AT_RANDOM: dict[str, Any] = {"memory": 0.1, "queries": 16}
"""Asked for as by a learner: a cache then finds some, and of neighbours now one comes first and now the other."""
QUERY_CELLS: tuple[dict[str, Any], ...] = (
    *({"rows": rows, "memory": AMPLE, "groups": 32} for rows in (2_048, 4_096, 8_192)),
    {"rows": 8_192, "memory": FULL, "groups": 8},
    *({"rows": rows, **FIRST, "groups": 6} for rows in (2_048, 8_192)),
    {"rows": 8_192, **FIRST, "groups": 4, "device": FAR}, {"rows": 4_096, **AT_RANDOM},
    *({"rows": rows, **AT_RANDOM, "spills": True} for rows in (4_096, 8_192)),
    {"rows": 8_192, **SPILLS, "groups": 6, "run": 1},
)  # fmt: skip
"""Queries of one row group each: from memory, of three sizes and so many that the processor's caches hold none of them;
from full memory; first fetched, of two sizes, and after long waits; fetched again in place of others; from a spill
folder, of two sizes; and first fetched while that is written to."""
SCAN_CELLS: tuple[dict[str, Any], ...] = (
    {"rows": 2_048, "memory": AMPLE}, {"rows": 8_192, "memory": AMPLE}, {"rows": 2_048, "memory": AMPLE, "depth": 4},
    {"rows": 8_192, "memory": AMPLE, "groups": 1, "run": 3}, {"rows": 8_192, "memory": FULL, "groups": 12},
    {"rows": 8_192, **FIRST, "groups": 12}, {"rows": 8_192, "memory": 0.5, "groups": 12},
    *({"rows": rows, "memory": 0.5, "depth": 4, "device": USUAL} for rows in (2_048, 8_192)),
    {"rows": 4_096, "memory": 0.5, "groups": 24, "depth": 2, "device": USUAL},
    {"rows": 2_048, **FIRST, "groups": 48}, {"rows": 8_192, **SPILLS, "groups": 12},
    {"rows": 8_192, **SPILLS, "groups": 12, "run": 1},
)  # fmt: skip
"""Scans from memory, of short and of long row groups, of short ones read ahead, and of one alone; from full memory;
fetched into free memory, and again; read ahead, of short and of long ones, and two at a time; of short ones one at a
time; from a spill folder; and fetched while that is written to."""
MOST_GROUPS = 128
"""Row groups that are asked for, at most: the rest of a larger table is never touched."""


def cell(
    *, rows: int, memory: float, scan: bool, groups: int = MOST_GROUPS, spills: bool = False, run: int = 2,
    depth: int = 1, device: Device | None = None, queries: int = 0,
) -> CachedCase:  # fmt: skip
    """Return queries of so many row groups of so many rows, or a scan, with memory for such a share of all of them.

    Each is asked for in turn, or so many `queries` ask for one at random.
    """
    recipe = Recipe(table="comments", size="tiny", row_group_rows=rows)
    asked = inspect.shape(store.path(recipe)).row_groups[:groups]
    return CachedCase(
        recipe=recipe,
        device=device or PROBE,
        engine=EngineSettings(threads=1, queue_depth=depth, column_gap_bytes=1 * MiB),
        trace=AccessTrace(
            rows=tuple(group.rows for group in asked),
            sizes=tuple(group.size_bytes for group in asked),
            queries=queries,
            skew=None if scan else 0.0,
            memory_share=memory,
        ),
        block_bytes=2 * MiB,
        remote=spills,
        run=run,
    )


def query_cells() -> list[CachedCase]:
    """Return the queries that are timed."""
    return [cell(**one, scan=False) for one in QUERY_CELLS]


def scan_cells() -> list[CachedCase]:
    """Return the scans that are timed."""
    return [cell(**one, scan=True) for one in SCAN_CELLS]


def _calibration(
    name: str,
    kind: type[CostsT],
    cells: Callable[[], Sequence[CachedCase]],
    with_costs: Callable[[CachedCase, CostsT], CachedCase],
) -> Calibration[CostsT]:
    """Return the calibration of the costs with which the model tells the cells, as far as it can."""

    def read_off(seen: Sequence[Sample]) -> CostsT:
        cases, reading = cells(), READING.costs()

        def told(costs: CostsT) -> list[float]:
            return [with_costs(case, costs).estimate(reading).seconds for case in cases]

        turns = np.reshape([sample.median_s for sample in seen], (-1, len(cases)))
        return calibrate.fitted(kind(), told, calibrate.trimmed_mean(turns))

    return Calibration(
        name=f"comments-{name}",
        kind=kind,
        cases=lambda: [partial(case.measure, repeats=1) for case in cells()],
        read_off=read_off,
        typical=kind,
        turns=5,
    )


READING = calibrate.engine("comments_narrow")
"""What a read takes, which is the same of any table; to decode it is calibrated with the cache."""
QUERIES = _calibration(
    "cached-queries", QueryCosts, query_cells, lambda case, costs: replace(case, query_costs=costs)
)
"""Queries of one row group, timed from memory, from a device and from the spill folder."""
SCANS = _calibration(
    "cached-scans", ScanCosts, scan_cells, lambda case, costs: replace(case, scan_costs=costs)
)
"""Scans, timed from the same."""
