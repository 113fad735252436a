"""A desk of a chosen size, and queries that come back to what they asked before: the common bench with DuckDB's cache
of external files, its memory limit, and a folder for what does not fit.
"""

from __future__ import annotations

import random
from typing import Any

from readahead.chapters.cache_tiers import access_trace as who
from readahead.chapters.cache_tiers import laws
from readahead.chapters.cache_tiers.access_trace import SCAN, ZIPF
from readahead.chapters.cache_tiers.cached_run import (
    Cache,
    CachedSample,
    run_cached,
    taken_bytes,
    workspace_bytes,
)
from readahead.chapters.cache_tiers.calibrate_cache import (
    CACHE,
    group_queries,
    scan_query,
)
from readahead.chapters.cache_tiers.tier_times import SPILL, TierTimes
from readahead.experiments.experiment import Settings
from readahead.measure import calibrate
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate

_PRICES = ("dram_dollars_per_gib", "drive_dollars", "drive_reads_per_s")


class Remembering(TierTimes):
    """The common bench, whose queries come back to the same table on one connection."""

    def cache(self, settings: Settings) -> Cache:
        """Return the engine's cache settings: the room that is asked for, and what the engine needs for itself.

        A scan cannot run at all with less than what its read-ahead holds, so it always gets that.
        """
        remote, shelf, depth = settings["spill"] == SPILL, self.shelf(settings), settings["queue_depth"]
        room, rows = shelf.room_bytes, max(shelf.rows)
        if settings["access"] == SCAN:
            room = max(room, taken_bytes(rows, depth) + depth * max(shelf.sizes))
        return Cache(
            memory_limit_bytes=int(room) + workspace_bytes(rows, remote=remote),
            block_bytes=settings["block_bytes"],
            spill=remote,
        )

    # -- what is found where -------------------------------------------------------------------------
    def found(self, settings: Settings) -> tuple[float, float, float]:
        """Return the shares of the wanted bytes that come from (memory, the spill folder, the device)."""
        shelf, first = self.shelf(settings), settings["run"] == 1
        if settings["access"] == SCAN:
            memory, any_room = (0.0, 0.0) if first else (self.scan_hits(settings), 1.0)
        else:
            reuse = who.reuse_bytes(shelf.asked, shelf.sizes, first=first)
            memory, any_room = laws.hit_ratio(reuse, shelf.wanted, [shelf.room_bytes, 1e18])
        spilled = float(any_room - memory) if self.spills(settings) else 0.0
        return float(memory), spilled, 1.0 - float(memory) - spilled

    def scan_hits(self, settings: Settings) -> float:
        """Return the hit ratio of a scan that comes back: nothing, or all but what the scan itself takes."""
        shelf = self.shelf(settings)
        taken = taken_bytes(max(shelf.rows), settings["queue_depth"]) / sum(shelf.sizes)
        return float(laws.cyclic_hit_ratio(settings["memory_share"], taken))

    def expected(self, settings: Settings) -> float:
        """Return the hit ratio in the long run: by Che's law, or the law of the scan."""
        if settings["access"] == SCAN:
            return self.scan_hits(settings)
        skew = settings["skew"] if settings["access"] == ZIPF else 0.0
        items = len(self.shelf(settings).rows)
        chances = laws.popularity(items, skew)
        return float(laws.che_hit_ratio(chances, settings["memory_share"] * items)[0])

    # -- what the model says -------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the predicted time of one run, with the hits of an LRU cache replayed on the very same accesses."""
        return self.estimate(settings, self.found(settings))

    # -- what DuckDB does ----------------------------------------------------------------------------
    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the queries in DuckDB, on one connection, after the runs before this one."""
        return self.remembered(settings, repeats)

    def remembered(self, settings: Settings, repeats: int = 3) -> CachedSample:
        """Measure, and tell what the cache held. Raises `Cancelled` when asked to stop."""
        case = self.case(settings)
        calibrate.engine("comments").ensure()
        CACHE.ensure()
        path = case.build()
        shelf, each = self.shelf(settings), group_queries(case.recipe)
        queries = [each[item] for item in shelf.asked]
        if settings["access"] == SCAN:
            queries = [scan_query(case.recipe, len(shelf.rows))]
        return run_cached(
            queries,
            path,
            case.device,
            case.engine,
            self.cache(settings),
            wanted_bytes=int(shelf.wanted.sum()),
            runs_before=settings["run"] - 1,
            repeats=repeats,
            facts=settings,
        )

    def work(self, settings: Settings) -> float:
        """Return the bytes that one run of the queries asks for."""
        return float(self.shelf(settings).wanted.sum())

    def unit(self, settings: Settings) -> str:
        """Return bytes_per_s."""
        return "bytes_per_s"

    def remark(self, settings: Settings, sample: Sample) -> str:
        """Say how the hit ratios compare: replayed, and in the long run, beside the one seen."""
        if not isinstance(sample, CachedSample):
            return ""
        memory, spilled, _ = self.found(settings)
        return f"hits {sample.hit_ratio:.1%} (LRU {memory + spilled:.1%}, long run {self.expected(settings):.1%})"

    def calibrate(self) -> None:
        """Calibrate the engine on comments, and what its cache takes."""
        super().calibrate()
        CACHE.run()

    # -- turning knobs -------------------------------------------------------------------------------
    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Return settings at size tiny, with everything that decides what is found where turned at random."""
        turned = (
            "memory_share",
            "access",
            "skew",
            "latency_s",
            "run",
            "spill",
            "row_group_rows",
            "queue_depth",
        )
        drawn = {name: self.knob(name).draw(rng) for name in turned}
        enough = 2 * 262_144 // drawn["row_group_rows"]  # so many that most row groups are asked for
        return self.settings(size="tiny", queries=enough, **drawn)

    def in_sight(self, knob: Any) -> bool:
        """Return whether an examination names this knob."""
        return knob.name not in (*_PRICES, "device", "size") and super().in_sight(knob)

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say which knobs do nothing now, and why."""
        reasons = super().disabled(settings)
        if settings["access"] != ZIPF:
            reasons["skew"] = "All row groups are asked for alike: there are no favourites."
        if settings["access"] == SCAN:
            reasons["queries"] = "One query reads the whole table."
        reasons |= dict.fromkeys(_PRICES, "It enters only the five-minute rule.")
        return reasons
