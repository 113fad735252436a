"""Weighing the librarian: what a query of one row group takes when it lies on the desk, on the shelf, or far away on a
device whose wait is known. What is left of the time is DuckDB's own.
"""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path

import numpy as np

from readahead import paths
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure.caching import Cache, run_cached, workspace_bytes
from readahead.measure.engine import EngineSettings
from readahead.measure.events import OnEvent, tell
from readahead.measure.machine import this_machine
from readahead.models.cache_tiers import CacheCosts
from readahead.units import MiB

TABLE = "comments"
GROUPS = (4_096, 16_384)
"""Two row-group sizes, so that what each row costs can be told from what each query costs."""
QUERIES = 48
"""At most, so that what is in memory is more than a processor's own cache holds."""
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


def cache_costs() -> CacheCosts:
    """Return what was last weighed on this very machine, or typical costs before that."""
    return _saved() or CacheCosts()


def ensure_cache_costs(*, on_event: OnEvent | None = None, stop: threading.Event | None = None) -> CacheCosts:
    """Return the costs as weighed on this machine, weighing now if that was never done."""
    return _saved() or weigh_cache(on_event=on_event, stop=stop)


def _path() -> Path:
    return paths.cache_dir() / f"engine-{TABLE}-cache.json"


def _saved() -> CacheCosts | None:
    try:
        told = json.loads(_path().read_text(encoding="utf-8"))
        return CacheCosts(**told["costs"]) if told["machine"] == asdict(this_machine()) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def weigh_cache(
    *, repeats: int = 3, on_event: OnEvent | None = None, stop: threading.Event | None = None
) -> CacheCosts:
    """Time queries of one row group from memory, from a device and from the spill folder; keep and return the costs.

    Takes about five seconds. Raises `Cancelled` when `stop` is set; nothing is kept then.
    """
    seconds = np.empty((4, len(GROUPS)))
    sizes = np.empty(len(GROUPS))
    for number, rows in enumerate(GROUPS):
        tell(on_event, number, len(GROUPS), "weighing the engine's cache on this machine")
        recipe = Recipe(table=TABLE, size="tiny", row_group_rows=rows)
        path = store.path(recipe, lambda done, total, note: tell(on_event, done, total, note), stop)
        groups = inspect.shape(path).row_groups[:QUERIES]
        sizes[number] = np.mean([group.size_bytes for group in groups])
        small = workspace_bytes(rows, remote=True) + int(3 * sizes[number])
        plenty = 512 * MiB
        for place, (limit, spill, before) in enumerate(
            ((plenty, False, 1), (plenty, False, 0), (small, False, 1), (small, True, 1))
        ):
            sample = run_cached(
                group_queries(recipe)[:QUERIES],
                path,
                PROBE,
                EngineSettings(threads=1, column_gap_bytes=MiB),
                Cache(memory_limit_bytes=limit, block_bytes=2 * MiB, spill=spill),
                wanted_bytes=1,
                runs_before=before,
                repeats=repeats,
                stop=stop,
            )
            seconds[place, number] = min(sample.seconds) / len(groups)
    costs = _costs(seconds, sizes)
    facts = {"machine": asdict(this_machine()), "costs": asdict(costs)}
    paths.write_whole(_path(), json.dumps(facts, indent=1), make_folder=True)
    tell(on_event, len(GROUPS), len(GROUPS), "done")
    return costs


def _costs(seconds: np.ndarray, sizes: np.ndarray) -> CacheCosts:
    """Read each cost off a line through two points; what noise makes negative is 0."""

    def line(times: np.ndarray, along: np.ndarray) -> tuple[float, float]:
        slope = max(0.0, float((times[1] - times[0]) / (along[1] - along[0])))
        return max(0.0, float(times[0] - slope * along[0])), slope

    query_s, row_s = line(seconds[0], np.array(GROUPS, float))
    read_s, read_byte_s = line(np.maximum(0, seconds[1] - seconds[0] - PROBE.latency_s), sizes)
    evict_s, evict_byte_s = line(np.maximum(0, seconds[2] - seconds[1]), sizes)
    spill_s, spill_byte_s = line(np.maximum(0, seconds[3] - seconds[0]), sizes)
    return CacheCosts(
        query_s=query_s,
        row_s=row_s,
        read_s=read_s,
        read_byte_s=read_byte_s,
        evict_s=evict_s,
        evict_byte_s=evict_byte_s,
        spill_s=spill_s,
        spill_byte_s=spill_byte_s,
    )
