"""What DuckDB takes with its cache on this machine: queries and scans, from memory, a device and a spill folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from readahead.chapters.cache_tiers import laws
from readahead.chapters.cache_tiers.cached_case import AccessTrace, CacheCosts, CachedCase, freed_bytes
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure import calibrate
from readahead.measure.calibrate import Calibration, line
from readahead.measure.run import EngineSettings
from readahead.measure.sample import Sample
from readahead.models.reads import RowGroup
from readahead.units import MiB

RECIPES = tuple(Recipe(table="comments", size="tiny", row_group_rows=rows) for rows in (4_096, 8_192))
"""Two row-group sizes, so that what each byte costs can be told from what each read costs."""
SHORT_GROUPS = replace(RECIPES[0], row_group_rows=2_048)
ALL_SIZES = (*RECIPES, SHORT_GROUPS)
QUERIES = 6
"""Row groups that are asked for, each once, where a cell names no other number."""
MOST_GROUPS = 128
"""Row groups that are asked for, at most: the rest of a larger table is never touched."""
FULL, AMPLE = 1.02, 20.0
"""Memory for all of them, as a share of their bytes: nearly all of it in use, or much more than is wanted."""
MIXED: dict[str, Any] = {"memory": 0.5, "groups": 12, "queries": 12}
"""Queries at random, of which memory answers some and others drive something out of it."""
CELLS: dict[str, dict[str, Any]] = {
    "memory": {"memory": AMPLE, "groups": 32, "queries": 10}, "full": {"memory": FULL, "groups": 12},
    "first": {"memory": AMPLE, "run": 1},
    "again": MIXED, "spilled": {"spills": True}, "written": {"spills": True, "run": 1},
    "scan": {"memory": AMPLE, "scan": True, "groups": MOST_GROUPS},
}  # fmt: skip
"""Queries from memory, from full memory, first fetched, mixed, all from a spill folder, first fetched while that is
written to, and a scan from memory: of both row-group sizes."""
LONG_CELLS: dict[str, dict[str, Any]] = {
    "one": {"memory": AMPLE, "groups": 1}, "full": {"memory": FULL, "groups": 16},
    "free": {"memory": AMPLE, "groups": 12, "run": 1}, "fetched": {"memory": 0.5, "groups": 12},
    "recalled": {"memory": 0.5, "groups": 12, "spills": True},
    "dumped": {"memory": 0.5, "groups": 12, "spills": True, "run": 1},
    "fetched_ahead": {"memory": 0.5, "groups": 18, "depth": 4},
    "recalled_near": {"memory": 0.9, "groups": MOST_GROUPS, "spills": True, "depth": 2},
    "recalled_far": {"memory": 0.3, "groups": MOST_GROUPS, "spills": True, "depth": 4},
    "recalled_far_short": {
        "memory": 0.3, "groups": MOST_GROUPS, "spills": True, "depth": 4, "recipe": RECIPES[0],
    },
}  # fmt: skip
"""Scans of the longer row groups: of one of them, from nearly full memory, fetched into free memory, fetched again,
from the spill folder, and fetched while that is written to; and read ahead: fetched again, and all of them from the
spill folder, not long after they went there and long after, where half as long ones do too. From memory all row groups
are scanned: what a processor still has from the scan before is read more quickly."""
SHORT_CELLS: dict[str, dict[str, Any]] = {
    "memory": CELLS["memory"], "scan": CELLS["scan"], "ahead": {**CELLS["scan"], "depth": 4},
}  # fmt: skip
"""The same of the shortest row groups, and read ahead, where each one's own part is the largest."""
JOIN_CELLS: dict[str, dict[str, Any]] = {
    "ample": {"memory": AMPLE, "spills": True}, "full": {"memory": FULL, "spills": True},
}  # fmt: skip
"""Queries of the longer row groups of a remote file, from memory: all but the first need a neighbour's block too."""
PROBE = Device(name="probe", latency_s=0.002, bandwidth_bytes_per_s=1e12, channels=64)
"""A device that makes the engine wait: what has waited runs slower than what never did."""
SCANNED = PROBE.but(latency_s=300e-6)
"""A device that a scan waits for hardly longer than it decodes, so that what it copies besides is seen."""


def _groups(recipe: Recipe, count: int = QUERIES) -> Sequence[RowGroup]:
    return inspect.shape(store.path(recipe)).row_groups[:count]


def _case(
    recipe: Recipe, *, memory: float = 0.0, spills: bool = False, run: int = 2, scan: bool = False, depth: int = 1,
    groups: int = QUERIES, queries: int = 0,
) -> CachedCase:  # fmt: skip
    """Return queries of row groups, or a scan, with memory for such a share of all of them, or for three."""
    asked = _groups(recipe, groups)
    return CachedCase(
        recipe=recipe,
        device=SCANNED if scan else PROBE,
        engine=EngineSettings(threads=1, queue_depth=depth, column_gap_bytes=1 * MiB),
        trace=AccessTrace(
            rows=tuple(group.rows for group in asked),
            sizes=tuple(group.size_bytes for group in asked),
            queries=queries,
            skew=None if scan else 0.0,
            memory_share=memory or 3 / len(asked),
        ),
        block_bytes=2 * MiB,
        remote=spills,
        run=run,
    )


def _cases() -> list[CachedCase]:
    """Return the cells that are timed: of both sizes, of short row groups, of joined long ones, and scans of these."""
    both = [_case(recipe, **cell) for cell in CELLS.values() for recipe in RECIPES]
    short = [_case(SHORT_GROUPS, **cell) for cell in SHORT_CELLS.values()]
    joined = [_case(RECIPES[-1], **cell) for cell in JOIN_CELLS.values()]
    return [*both, *short, *joined, *_long_cases().values()]


def _long_cases() -> dict[str, CachedCase]:
    """Return the scans of `LONG_CELLS`, by name."""
    return {name: _case(**{"recipe": RECIPES[-1], "scan": True, **cell}) for name, cell in LONG_CELLS.items()}


def _costs(seen: Sequence[Sample]) -> CacheCosts:
    """Read each cost off the seconds of a cell, of both row-group sizes where what a byte costs is to be told apart."""
    counts = np.array([len(case.trace.asked) for case in _cases()])
    seconds = np.median(np.reshape([sample.median_s for sample in seen], (-1, len(counts))), axis=0)
    both, rest = len(CELLS) * len(RECIPES), len(LONG_CELLS)
    each_s = seconds / counts
    cells = dict(zip(CELLS, each_s[:both].reshape(len(CELLS), -1), strict=True))
    short = dict(zip((*SHORT_CELLS, *JOIN_CELLS), each_s[both:-rest], strict=True))
    long = dict(zip(LONG_CELLS, seconds[-rest:], strict=True))
    costs = {
        **_query_costs(cells, short["memory"], [short[name] for name in JOIN_CELLS]),
        **_scan_costs(np.append(cells["scan"], short["scan"]), short["ahead"], long),
    }
    return CacheCosts(**{name: float(cost) for name, cost in costs.items()})


def _query_costs(
    cells: Mapping[str, laws.Array], short_s: float, joined_s: Sequence[float]
) -> dict[str, float]:
    """Return, by name, what queries take: each cost is read off a line through both sizes of row groups.

    What a query takes in memory is read off three sizes: a file of shorter row groups has more of them to rule out.
    """
    from scipy.optimize import nnls

    asked = {name: _purging(cell) for name, cell in CELLS.items()}
    parts = np.array([(1.0, recipe.row_groups, recipe.effective_row_group_rows) for recipe in ALL_SIZES])
    freed = np.array([freed_bytes(recipe.effective_row_group_rows) for recipe in ALL_SIZES])
    more_s = (cells["full"] - cells["memory"]) / freed[:-1] / (asked["full"] - asked["memory"])[:-1]
    purged_s = max(0.0, float(np.median(more_s)))
    in_memory = np.append(cells["memory"], short_s) - asked["memory"] * freed * purged_s
    found, _ = nnls(parts / in_memory[:, None], np.ones(len(in_memory)))
    costs = dict(zip(("query_s", "group_s", "row_s"), np.maximum(found, 1e-10), strict=True))
    own_s = (parts @ found)[:-1]
    prices = _join_costs([took_s - own_s[-1] for took_s in joined_s], purged_s)

    def full_s(name: str) -> laws.Array:
        """Return what a query of a cell takes more for the memory that goes back to the system."""
        return np.asarray((asked[name] * freed)[:-1] * purged_s)

    def together_s(name: str) -> laws.Array:
        """Return what putting blocks together takes of a query in a cell."""
        return np.array([_case(recipe, **CELLS[name]).join_s(*prices) for recipe in RECIPES])

    def missed_s(name: str) -> laws.Array:
        """Return what a query takes more for which memory has nothing, of a cell where it has something for others."""
        hits = np.array([_case(recipe, **CELLS[name]).shares()[0] for recipe in RECIPES])
        return np.asarray((cells[name] - own_s - hits * full_s(name)) / (1 - hits))

    driven = np.array([_case(recipe, **CELLS["written"]).evicting for recipe in RECIPES])
    back = np.array([_case(recipe, **CELLS["spilled"]).recalled[0] / QUERIES for recipe in RECIPES])
    for name, took_s in {
        "read": missed_s("first") - PROBE.latency_s,
        "evict": missed_s("again") - missed_s("first"),
        "spill": (cells["spilled"] - own_s - together_s("spilled") - full_s("spilled")) / back,
        "write": (cells["written"] - cells["first"] - together_s("written")) / driven,
    }.items():
        sizes = [float(np.mean([group.size_bytes for group in _groups(recipe)])) for recipe in RECIPES]
        costs[f"{name}_s"], costs[f"{name}_byte_s"] = line(list(zip(sizes, took_s, strict=True)))
    return {
        **costs,
        **dict(zip(("join_byte_s", "join_purge_byte_s"), prices, strict=True)),
        "purge_byte_s": purged_s,
    }


def _join_costs(more_s: Sequence[float], purge_byte_s: float) -> tuple[float, float]:
    """Return what a byte takes to be put together, and more in full memory: what queries take more of a remote file."""
    cases = [_case(RECIPES[-1], **cell) for cell in JOIN_CELLS.values()]
    full_s, size = freed_bytes(RECIPES[-1].effective_row_group_rows) * purge_byte_s, cases[0].join_s(1.0, 0.0)
    left_s = [took_s - case.purging * full_s for took_s, case in zip(more_s, cases, strict=True)]
    join_s, purge_s = line([(case.purging, took_s) for took_s, case in zip(left_s, cases, strict=True)])
    return join_s / size, purge_s / size


def _purging(cell: Mapping[str, Any]) -> laws.Array:
    """Return how often freed memory goes back to the system in a cell, of each size of row groups."""
    return np.array([_case(recipe, **cell).purging for recipe in ALL_SIZES])


def _scan_costs(scan: laws.Array, ahead_s: float, seconds: Mapping[str, float]) -> dict[str, float]:
    """Return, by name, what scans take.

    `scan` are the seconds of a row group of each size, `ahead_s` those of the shortest one read ahead, and `seconds` of
    whole scans. A scan of one row group, and one of many, show what is left without any.
    """
    cases = _long_cases()
    rows = np.array([recipe.effective_row_group_rows for recipe in ALL_SIZES])
    many, ample = np.array([recipe.row_groups for recipe in ALL_SIZES]), _purging(CELLS["scan"])
    fixed_s = max(1e-6, many[1] * (seconds["one"] - scan[1]) / (many[1] - 1))
    group_s = scan - fixed_s / many
    each_s = {name: (seconds[name] - fixed_s) / len(case.trace.sizes) for name, case in cases.items()}
    purged_s = max(0.0, (each_s["full"] - group_s[1]) / rows[1] / (cases["full"].purging - ample[1]))
    decoding_s = group_s - ample * rows * purged_s
    hidden_s = min(group_s[2] / 2, max(0.0, scan[2] - ahead_s))
    full_s = decoding_s + rows * purged_s
    scan_group_s, scan_row_s = line(list(zip(rows, decoding_s, strict=True)))
    costs = {"scan_s": fixed_s, "scan_group_s": scan_group_s, "scan_row_s": scan_row_s}
    costs |= {"scan_fetch_s": hidden_s, "scan_purge_row_s": purged_s}

    free = replace(cases["free"], cache_costs=CacheCosts(**costs, copy_byte_s=0.0))
    plain_s = free.missed_scan(READING.costs()).finished_s / len(free.trace.sizes)
    copy_s, evict_s = max(0.0, each_s["free"] - plain_s), max(0.0, each_s["fetched"] - each_s["free"])
    driven = cases["dumped"].evicting
    dump_s = max(0.0, each_s["dumped"] - each_s["free"] - driven * evict_s) / driven
    size = float(np.mean(cases["free"].trace.sizes))
    visible_s = np.maximum(decoding_s / 2, decoding_s - hidden_s)  # where it fetches ahead, as in the model
    ahead = {
        name: each_s[name] - visible_s[at]
        for name, at in {"recalled_far_short": 0, "recalled_far": 1, "recalled_near": 1}.items()
    }
    recall_s, _ = line([(size / 2, ahead["recalled_far_short"]), (size, ahead["recalled_far"])])
    away_s = line(
        [(cases[name].away_bytes, ahead[name] - recall_s) for name in ("recalled_near", "recalled_far")]
    )
    copied_s = max(1e-9, copy_s + cases["fetched_ahead"].evicting * evict_s)
    first_s = SCANNED.latency_s / len(cases["fetched_ahead"].trace.sizes)
    beside_s = each_s["fetched_ahead"] - first_s - visible_s[1]
    costs |= {
        "copy_ahead": min(1.0, max(0.0, beside_s / copied_s)),
        "recall_ahead_byte_s": away_s[0] / size,
        "recall_ahead_away_s": away_s[1] / size,
        "recall_s": recall_s,
        "recall_byte_s": max(0.0, (each_s["recalled"] - full_s[1] - recall_s) / size),
    }
    each_byte = {"copy": copy_s, "copy_evict": evict_s, "dump": dump_s}
    return costs | {f"{name}_byte_s": took_s / size for name, took_s in each_byte.items()}


READING = calibrate.engine("comments_narrow")
"""What a read takes, which is the same of any table; to decode it is calibrated with the cache."""
CACHE = Calibration(
    name="comments-cache",
    kind=CacheCosts,
    cases=lambda: [partial(case.measure, repeats=1) for case in _cases()],
    read_off=_costs,
    typical=CacheCosts,
    turns=5,
)
"""Queries of one row group, timed from memory, from a device and from the spill folder."""
