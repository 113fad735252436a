"""A desk of a chosen size, and queries that come back to what they asked before: the common bench with DuckDB's cache
of external files, its memory limit, and a folder for what does not fit.
"""

from __future__ import annotations

import random
import threading
from dataclasses import replace
from typing import Any

import numpy as np

from readahead.datasets import inspect, store
from readahead.errors import BadValue
from readahead.experiments import asking as who
from readahead.experiments.asking import SCAN, ZIPF, Shelf
from readahead.experiments.experiment import OnEvent, Settings
from readahead.experiments.scanning import Scanning
from readahead.measure.caching import Cache, CachedSample, run_cached, taken_bytes, workspace_bytes
from readahead.measure.calibrate import ensure_costs
from readahead.measure.case import Case
from readahead.measure.sample import Sample
from readahead.measure.weigh_cache import cache_costs, ensure_cache_costs, group_queries, weigh_cache
from readahead.models import cache_tiers
from readahead.models.estimate import Estimate
from readahead.models.schedule import Window, simulate

SPILL, DROP = "local disk", "none"
ROUNDED_BYTES = 4_096
"""What a read of a remote file is longer by, on average: DuckDB rounds it out to whole blocks of 4 KiB."""
MOST_GROUPS = 128
"""Row groups that are asked for, at most: the rest of a larger table is never touched."""
_PRICES = ("dram_dollars_per_gib", "drive_dollars", "drive_reads_per_s")


class Remembering(Scanning):
    """The common bench, whose queries come back to the same table on one connection."""

    def case(self, settings: Settings) -> Case:
        """Return the common case, merging a row group's reads into one so that it is one thing to keep."""
        case = super().case(settings)
        return replace(case, engine=replace(case.engine, column_gap_bytes=1 << 20))

    def shelf(self, settings: Settings) -> Shelf:
        """Return what is asked for: from the file if it is built, else from the table's usual width."""
        case = self.case(settings)
        recipe = case.recipe
        if store.is_built(recipe):
            found = inspect.shape(store.location(recipe)).row_groups[:MOST_GROUPS]
            rows = tuple(group.rows for group in found)
            sizes = tuple(group.size_bytes for group in found)
        else:
            each = recipe.effective_row_group_rows
            rows = (each,) * min(MOST_GROUPS, recipe.row_groups)
            sizes = tuple(round(count * recipe.source.bytes_per_row) for count in rows)
        if settings["spill"] == SPILL:
            sizes = tuple(size + ROUNDED_BYTES for size in sizes)
        way = settings["access"]
        asked = tuple(range(len(rows)))
        if way != SCAN:
            asked = who.asked(len(rows), settings["queries"], settings["skew"] if way == ZIPF else 0.0)
        return Shelf(rows=rows, sizes=sizes, asked=asked, room_bytes=settings["memory_share"] * sum(sizes))

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
    def spills(self, settings: Settings) -> bool:
        """Return whether evicted blocks go to disk: only blocks that are long enough do."""
        longest = min(settings["block_bytes"], max(self.shelf(settings).sizes))
        return bool(settings["spill"] == SPILL and longest >= cache_tiers.SPILL_LEAST_BYTES)

    def found(self, settings: Settings) -> tuple[float, float, float]:
        """Return the shares of the wanted bytes that come from (memory, the spill folder, the device)."""
        shelf, first = self.shelf(settings), settings["run"] == 1
        if settings["access"] == SCAN:
            memory, any_room = (0.0, 0.0) if first else (self.scan_hits(settings), 1.0)
        else:
            reuse = who.reuse_bytes(shelf.asked, shelf.sizes, first=first)
            memory, any_room = cache_tiers.hit_ratio(reuse, shelf.wanted, [shelf.room_bytes, 1e18])
        spilled = float(any_room - memory) if self.spills(settings) else 0.0
        return float(memory), spilled, 1.0 - float(memory) - spilled

    def scan_hits(self, settings: Settings) -> float:
        """Return the hit ratio of a scan that comes back: nothing, or all but what the scan itself takes."""
        shelf = self.shelf(settings)
        taken = taken_bytes(max(shelf.rows), settings["queue_depth"]) / sum(shelf.sizes)
        return float(cache_tiers.cyclic_hit_ratio(settings["memory_share"], taken))

    def expected(self, settings: Settings) -> float:
        """Return the hit ratio in the long run: by Che's law, or the law of the scan."""
        if settings["access"] == SCAN:
            return self.scan_hits(settings)
        skew = settings["skew"] if settings["access"] == ZIPF else 0.0
        items = len(self.shelf(settings).rows)
        chances = cache_tiers.popularity(items, skew)
        return float(cache_tiers.che_hit_ratio(chances, settings["memory_share"] * items)[0])

    # -- what the model says -------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the predicted time of one run, with the hits of an LRU cache replayed on the very same accesses."""
        return self._estimate(settings, self.found(settings))

    def _estimate(self, settings: Settings, found: tuple[float, float, float]) -> Estimate:
        if settings["access"] == SCAN:
            return self._scan(settings, found)
        shelf, costs, case = self.shelf(settings), cache_costs(), self.case(settings)
        size, rows = float(np.mean(shelf.wanted)), float(np.mean(shelf.rows))
        count, block = len(shelf.asked), settings["block_bytes"]
        blocks = max(1.0, size / block)
        _, spilled, missed = (share * count for share in found)
        waits_s, moves_s = cache_tiers.fetch_s(case.device, size, block, case.engine.in_flight)
        own_s = count * (costs.query_s + rows * costs.row_s)
        read_s = blocks * costs.read_s + size * costs.read_byte_s
        makes_room = settings["run"] > 1 or settings["memory_share"] < 1
        writes = makes_room and self.spills(settings)
        if makes_room and not writes:
            read_s += costs.evict_s + size * costs.evict_byte_s
        disk_s = missed * (costs.write_s + size * costs.write_byte_s) if writes else 0.0
        disk_s += spilled * (blocks * costs.spill_s + size * costs.spill_byte_s)
        return Estimate(
            terms_s={
                "cpu": own_s + missed * read_s,
                "disk": disk_s,
                "latency": missed * waits_s,
                "transfer": missed * moves_s,
            }
        )

    def _scan(self, settings: Settings, found: tuple[float, float, float]) -> Estimate:
        """Return the time of a scan: what is missed is scheduled as any scan, the rest only decoded.

        Of a remote file only half as many reads are under way: DuckDB 2.0 rounds each one out to blocks of 4 KiB, so
        that neighbours share a block, and the second waits until the first has it. Seen in the trace.
        """
        shelf, costs, case = self.shelf(settings), self.costs(settings), self.case(settings)
        slots = case.engine.in_flight
        if settings["spill"] == SPILL:
            slots = max(1, slots // 2)
        window = Window(slots=slots, depth=settings["queue_depth"], threads=1)
        own_s = costs.plan_s + costs.open_s + costs.close_s
        own_s += sum(costs.group_s + rows * costs.row_s for rows in shelf.rows)
        _, spilled, missed = found
        spill = cache_costs()
        disk_s = spilled * sum(shelf.sizes) * spill.spill_byte_s  # the pauses between are spent decoding
        io_s, waits, moves = 0.0, 1.0, 1.0
        if missed > 0:
            spans, at = [], 0
            for size in shelf.sizes:
                ends = range(at, at + size, settings["block_bytes"])
                spans.append([(start, min(settings["block_bytes"], at + size - start)) for start in ends])
                at += size
            per_read = replace(costs, dispatch_s=costs.dispatch_s / max(map(len, spans)))
            copied_s = spill.read_s + float(np.mean(shelf.sizes)) * spill.read_byte_s
            plain_s, kept_s = (
                simulate(device, [], spans, shelf.rows, window=window, costs=per_read).finished_s
                for device in (case.device, case.device.but(latency_s=case.device.latency_s + copied_s))
            )
            io_s = missed * max(0.0, plain_s - own_s)
            own_s += missed * (kept_s - plain_s)
            if settings["run"] > 1:
                own_s += missed * sum(shelf.sizes) * spill.evict_byte_s
            waits, moves = cache_tiers.fetch_s(
                case.device, float(np.mean(shelf.sizes)), settings["block_bytes"], window.slots
            )
        return Estimate(
            terms_s={
                "cpu": own_s,
                "disk": disk_s,
                "latency": io_s * waits / (waits + moves),
                "transfer": io_s * moves / (waits + moves),
            }
        )

    def curve(self, settings: Settings, name: str, values: np.ndarray) -> np.ndarray:
        """Return the throughput along one knob: with the replayed hits, or Che's where they change with it."""
        work = self.work(settings)
        if name == "memory_share" and settings["access"] != SCAN:
            shelf = self.shelf(settings)
            reuse = who.reuse_bytes(shelf.asked, shelf.sizes, first=settings["run"] == 1)
            hits = cache_tiers.hit_ratio(reuse, shelf.wanted, values * sum(shelf.sizes))
            most = float(cache_tiers.hit_ratio(reuse, shelf.wanted, 1e18))
            below = most if self.spills(settings) else 0.0
            none, disk, all_s = (
                self._estimate(settings, found).seconds
                for found in ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
            )
            spilled = np.maximum(0.0, below - hits)
            return np.asarray(work / (none + hits * (all_s - none) + spilled * (disk - none)))
        if self.knob(name).kind == "choice":
            raise BadValue(
                f"{name!r} is not a number, so there is no curve along it. Choose a knob with a range."
            )
        if name in (*_PRICES, "run"):
            return np.full(len(values), work / self.model(settings).seconds)
        some = np.unique(np.linspace(0, len(values) - 1, 9).round().astype(int))
        here, moves = self.found(settings), name in ("memory_share", "skew", "row_group_rows", "queries")
        rates = []
        for value in values[some]:
            at = {**settings, name: self.knob(name).check(value)}
            found = self._long_run(at) if moves else here
            rates.append(self.work(at) / self._estimate(at, found).seconds)
        return np.asarray(np.interp(np.log(values), np.log(values[some]), rates))

    def _long_run(self, settings: Settings) -> tuple[float, float, float]:
        if settings["run"] == 1:
            return self.found(settings)
        hits = self.expected(settings)
        return (hits, 1 - hits, 0.0) if self.spills(settings) else (hits, 0.0, 1 - hits)

    # -- what DuckDB does ----------------------------------------------------------------------------
    def measure(
        self,
        settings: Settings,
        on_event: OnEvent | None = None,
        stop: threading.Event | None = None,
        repeats: int = 3,
    ) -> Sample:
        """Run the queries in DuckDB, on one connection, after the runs before this one."""
        return self.remembered(settings, on_event, stop, repeats)

    def remembered(
        self,
        settings: Settings,
        on_event: OnEvent | None = None,
        stop: threading.Event | None = None,
        repeats: int = 3,
    ) -> CachedSample:
        """Measure, and tell what the cache held. Raises `Cancelled` when `stop` is set."""
        case = self.case(settings)
        ensure_costs("comments", on_event=on_event, stop=stop)
        ensure_cache_costs(on_event=on_event, stop=stop)
        path = case.build(on_event, stop)
        shelf, each = self.shelf(settings), group_queries(case.recipe)
        queries = [each[item] for item in shelf.asked]
        if settings["access"] == SCAN:
            every = case.recipe.source.every_column
            queries = [f"SELECT {every} FROM {{table}} WHERE file_row_number < {sum(shelf.rows)}"]
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
            on_event=on_event,
            stop=stop,
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

    def weigh(self, on_event: OnEvent | None = None, stop: threading.Event | None = None) -> None:
        """Weigh the engine on comments, and what its cache takes."""
        super().weigh(on_event, stop)
        weigh_cache(on_event=on_event, stop=stop)

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
