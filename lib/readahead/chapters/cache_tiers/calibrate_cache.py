"""What DuckDB's cache itself takes: queries of one row group, timed from memory, from the spill folder, and from a
device whose wait is known. What is left of the time is DuckDB's own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from readahead.chapters.cache_tiers.cached_run import Cache, run_cached, workspace_bytes
from readahead.chapters.cache_tiers.laws import CacheCosts
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure.calibrate import Calibration, line
from readahead.measure.engine import EngineSettings
from readahead.models.shapes import RowGroup
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


def _cases() -> list[Callable[[], float]]:
    """Return one run for each cell and row-group size, the files built."""
    recipes = [Recipe(table=TABLE, size="tiny", row_group_rows=rows) for rows in GROUPS]
    for recipe in recipes:
        store.path(recipe)
    return [partial(_group_s, cell, recipe) for cell, recipe in itertools.product(CELLS, recipes)]


def _groups(recipe: Recipe) -> Sequence[RowGroup]:
    return inspect.shape(store.location(recipe)).row_groups[:QUERIES]


def _group_bytes(recipe: Recipe) -> float:
    return float(np.mean([group.size_bytes for group in _groups(recipe)]))


def _group_s(cell: tuple[bool, bool, int, bool], recipe: Recipe) -> float:
    """Return the seconds of a query of one row group in one cell."""
    has_room, spill, before, scan = cell
    small = workspace_bytes(recipe.effective_row_group_rows, remote=True) + int(3 * _group_bytes(recipe))
    sample = run_cached(
        [scan_query(recipe, QUERIES)] if scan else group_queries(recipe)[:QUERIES],
        store.location(recipe),
        PROBE,
        EngineSettings(threads=1, queue_depth=1, column_gap_bytes=MiB),
        Cache(memory_limit_bytes=512 * MiB if has_room else small, block_bytes=2 * MiB, spill=spill),
        wanted_bytes=1,
        runs_before=before,
        repeats=3,
    )
    return sample.median_s / len(_groups(recipe))


def _costs(seen: Sequence[float]) -> CacheCosts:
    """Read each cost off a line through two points: the seconds of a cell at both row-group sizes."""
    sizes = np.array([_group_bytes(Recipe(table=TABLE, size="tiny", row_group_rows=rows)) for rows in GROUPS])
    seconds = np.median(np.reshape(seen, (-1, len(CELLS), len(GROUPS))), axis=0)
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


CACHE = Calibration(
    name=f"{TABLE}-cache", kind=CacheCosts, cases=_cases, read_off=_costs, typical=CacheCosts, turns=3
)
"""Queries of one row group, timed from memory, from a device and from the spill folder; a turn takes five seconds."""
