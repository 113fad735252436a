"""Runs on one connection: what stays from run to run, what is left behind, and how they end early."""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path

import pytest

from readahead import paths
from readahead.chapters.cache_tiers.cached_run import Cache, CachedSample, run_cached
from readahead.chapters.cache_tiers.calibrate_cache import CACHE, group_queries
from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.errors import Cancelled, DataError
from readahead.measure.engine import EngineSettings
from readahead.running import Event, listening
from readahead.units import KiB, MiB

RECIPE = Recipe(table="comments", size="tiny", row_group_rows=8_192)
FAR = Device(name="far", latency_s=0.002, bandwidth_bytes_per_s=1e9, channels=8)


def asked(limit: int = 256 * MiB, **more: object) -> CachedSample:
    """Run the first row groups' queries on one connection."""
    path = store.path(RECIPE)
    cache = Cache(memory_limit_bytes=limit, block_bytes=1 * MiB, spill=bool(more.pop("spill", False)))
    settings = EngineSettings(threads=1, column_gap_bytes=1 * MiB)
    queries = more.pop("queries", group_queries(RECIPE)[:8])
    return run_cached(queries, path, FAR, settings, cache, wanted_bytes=8 * 656_000, **more)  # type: ignore[arg-type]


def left_behind() -> list[Path]:
    return list(paths.cache_dir().glob("spill-*"))


def test_what_one_run_fetched_is_there_for_the_next() -> None:
    cold, warm = asked(runs_before=0, repeats=2), asked(runs_before=1, repeats=2)
    assert cold.device_bytes[0] == cold.device_bytes[1] > 0
    assert warm.device_bytes == (0, 0)
    assert warm.hit_ratio == 1
    assert warm.cached_bytes >= cold.device_bytes[0]
    assert cold.answer == warm.answer


@pytest.mark.parametrize("limit", [8 * MiB, 64 * MiB])
def test_the_spill_folder_is_gone_afterwards(limit: int) -> None:
    told = asked(limit, spill=True, repeats=1)
    assert (told.spilled_bytes > 0) == (limit == 8 * MiB)
    assert left_behind() == []


def test_too_little_memory_is_explained_and_leaves_nothing() -> None:
    with pytest.raises(DataError, match="memory_limit=.* Give more memory, or smaller row groups"):
        asked(256 * KiB, spill=True)
    assert left_behind() == []


def test_a_query_that_cannot_be_run_is_explained() -> None:
    with pytest.raises(DataError, match="could not run"):
        asked(queries=["SELECT nothing FROM {table}"])
    assert left_behind() == []


def test_it_can_be_cancelled_and_leaves_nothing() -> None:
    stop = threading.Event()
    news: list[Event] = []

    def listen(event: Event) -> None:
        news.append(event)
        if event.note.startswith("run 2"):
            stop.set()

    with pytest.raises(Cancelled), listening(listen, stop):
        asked(8 * MiB, spill=True, repeats=50)
    assert news
    assert left_behind() == []


def test_the_costs_are_calibrated_and_kept() -> None:
    before = CACHE.path.read_text(encoding="utf-8") if CACHE.path.exists() else None
    try:
        costs = CACHE.run(1)
        assert CACHE.costs() == costs
        assert costs.query_s > 0
        assert all(value >= 0 for value in asdict(costs).values())
    finally:  # one turn is enough to test it, and not to go by
        CACHE.path.unlink()
        if before is not None:
            CACHE.path.write_text(before, encoding="utf-8")
