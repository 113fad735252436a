"""Weighing the librarian: what a query of one row group takes when it lies on the desk, on the shelf, or far away on a
device whose wait is known. What is left of the time is DuckDB's own.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from readahead import paths
from readahead.chapters.cache_tiers.cached_run import Cache, run_cached, workspace_bytes
from readahead.chapters.cache_tiers.laws import CacheCosts
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure.calibrate import line, weighed_on
from readahead.measure.engine import EngineSettings
from readahead.measure.kept import keep, kept
from readahead.running import quietly, tell
from readahead.units import MiB

TABLE = "comments"
GROUPS = (4_096, 8_192)
"""Two row-group sizes, so that what each row costs can be told from what each query costs."""
QUERIES = 24
"""At most, so that what is in memory is more than a processor's own cache holds."""
CELLS = (
    (True, False, 1, False), (True, False, 0, False), (False, False, 1, False), (False, True, 1, False),
    (False, True, 0, False), (True, False, 1, True), (False, False, 0, True),
    (False, True, 1, True),
)  # fmt: skip
"""(room for all of it, a spill folder, runs before, one scan): from memory, first fetched, fetched again, from the
spill folder, first fetched while what lay there is written to it; then a scan: from memory, first fetched, and from the
spill folder."""
PROBE = Device(name="probe", latency_s=0.003, bandwidth_bytes_per_s=1e12, channels=64)
"""A device that makes the engine wait: what has waited runs slower than what never did."""


def group_queries(recipe: Recipe) -> list[str]:
    """Return, for each row group of a built file, the query that reads all of it and nothing else.

    By row number: a filter on a column would make DuckDB read that column first, and the rest in a second read.
    """
    queries, first = [], 0
    for group in inspect.shape(store.location(recipe)).row_groups:
        last = first + group.rows - 1
        which = f"file_row_number BETWEEN {first} AND {last}"
        queries.append(f"SELECT {recipe.source.every_column} FROM {{table}} WHERE {which}")
        first = last + 1
    return queries


def scan_query(recipe: Recipe, groups: int) -> str:
    """Return the one query that reads the first row groups of a built file."""
    rows = sum(group.rows for group in inspect.shape(store.location(recipe)).row_groups[:groups])
    return f"SELECT {recipe.source.every_column} FROM {{table}} WHERE file_row_number < {rows}"


def cache_costs() -> CacheCosts:
    """Return what was last weighed on this very machine, or typical costs before that."""
    return _saved() or CacheCosts()


def ensure_cache_costs() -> CacheCosts:
    """Return the costs as weighed on this machine, weighing now if that was never done."""
    return _saved() or weigh_cache(repeats=1)


def _path() -> Path:
    return paths.cache_dir() / f"engine-{TABLE}-cache.json"


def _saved() -> CacheCosts | None:
    return kept(_path(), CacheCosts, weighed_on())


def weigh_cache(*, repeats: int = 3) -> CacheCosts:
    """Time queries of one row group from memory, from a device and from the spill folder; keep and return the costs.

    Each of the `repeats` rounds runs every cell, and each time is a median over the rounds: a machine that is slow for
    a second then spoils one round, not one cost. A round takes about five seconds. Raises `Cancelled` when asked to
    stop; nothing is kept then.
    """
    recipes = [Recipe(table=TABLE, size="tiny", row_group_rows=rows) for rows in GROUPS]
    for recipe in recipes:
        store.path(recipe)
    groups = [inspect.shape(store.location(recipe)).row_groups[:QUERIES] for recipe in recipes]
    sizes = np.array([np.mean([group.size_bytes for group in some]) for some in groups])
    cells = list(itertools.product(range(repeats), range(len(CELLS)), range(len(GROUPS))))
    seconds = np.empty((repeats, len(CELLS), len(GROUPS)))
    for number, (turn, cell, which) in enumerate(cells):
        tell(number, len(cells), "weighing the engine's cache on this machine")
        has_room, spill, before, scan = CELLS[cell]
        small = workspace_bytes(GROUPS[which], remote=True) + int(3 * sizes[which])
        with quietly():
            sample = run_cached(
                [scan_query(recipes[which], QUERIES)] if scan else group_queries(recipes[which])[:QUERIES],
                store.location(recipes[which]),
                PROBE,
                EngineSettings(threads=1, queue_depth=1, column_gap_bytes=MiB),
                Cache(memory_limit_bytes=512 * MiB if has_room else small, block_bytes=2 * MiB, spill=spill),
                wanted_bytes=1,
                runs_before=before,
                repeats=3,
            )
        seconds[turn, cell, which] = sample.median_s / len(groups[which])
    costs = _costs(np.median(seconds, axis=0), sizes)
    keep(_path(), costs, weighed_on())
    tell(len(cells), len(cells), "done")
    return costs


def _costs(seconds: np.ndarray, sizes: np.ndarray) -> CacheCosts:
    """Read each cost off a line through two points: seconds (cell, row-group size), mean bytes of a row group."""
    memory, first, again, spilled, written, scan, fetched, recalled = seconds

    def along(what: Sequence[float] | np.ndarray, took: np.ndarray) -> tuple[float, float]:
        return line([(float(x), float(y)) for x, y in zip(what, took, strict=True)])

    query_s, row_s = along(GROUPS, memory)
    read_s, read_byte_s = along(sizes, first - memory - PROBE.latency_s)
    evict_s, evict_byte_s = along(sizes, again - first)
    spill_s, spill_byte_s = along(sizes, spilled - memory)
    write_s, write_byte_s = along(sizes, written - first)
    copied_s = np.maximum(0.0, fetched - scan - PROBE.latency_s)
    recalled_s = np.maximum(0.0, recalled - scan)
    return CacheCosts(
        query_s=query_s,
        row_s=row_s,
        read_s=read_s,
        read_byte_s=read_byte_s,
        evict_s=evict_s,
        evict_byte_s=evict_byte_s,
        spill_s=spill_s,
        spill_byte_s=spill_byte_s,
        write_s=write_s,
        write_byte_s=write_byte_s,
        copy_byte_s=float(np.min(copied_s / sizes)),  # of two, for what disturbs only adds
        recall_byte_s=float(np.min(recalled_s / sizes)),
    )
