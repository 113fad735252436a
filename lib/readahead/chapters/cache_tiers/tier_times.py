"""A stopwatch for three places: how long a run of queries takes when so much of it lies on the desk, so much on the
shelf, and the rest in the cellar. What lies where is `remembering`'s to say.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from readahead.chapters.cache_tiers import access_trace as who
from readahead.chapters.cache_tiers import laws
from readahead.chapters.cache_tiers.access_trace import SCAN, ZIPF, Shelf
from readahead.chapters.cache_tiers.calibrate_cache import CACHE
from readahead.datasets import inspect, store
from readahead.devices import Device
from readahead.experiments.experiment import Settings
from readahead.experiments.scanning import Scanning
from readahead.measure.case import Case
from readahead.models.estimate import Estimate
from readahead.models.reads import Reads
from readahead.models.schedule import Window, simulate

SPILL, DROP = "local disk", "none"
ROUNDED_BYTES = 4_096
"""What a read of a remote file is longer by, on average: DuckDB rounds it out to whole blocks of 4 KiB."""
MOST_GROUPS = 128
"""Row groups that are asked for, at most: the rest of a larger table is never touched."""


class TierTimes(Scanning):
    """The common bench, with a cache between the engine and the device."""

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

    def spills(self, settings: Settings) -> bool:
        """Return whether evicted blocks go to disk: only blocks that are long enough do."""
        longest = min(settings["block_bytes"], max(self.shelf(settings).sizes))
        return bool(settings["spill"] == SPILL and longest >= laws.SPILL_LEAST_BYTES)

    def estimate(self, settings: Settings, found: tuple[float, float, float]) -> Estimate:
        """Return the time of one run of which such shares are found in (memory, the spill folder, the device)."""
        if settings["access"] == SCAN:
            return self._scan(settings, found)
        shelf, costs, case = self.shelf(settings), CACHE.costs(), self.case(settings)
        size, rows = float(np.mean(shelf.wanted)), float(np.mean(shelf.rows))
        count, block = len(shelf.asked), settings["block_bytes"]
        blocks = max(1.0, size / block)
        _, spilled, missed = (share * count for share in found)
        waits_s, moves_s = laws.fetch_s(case.device, size, block, case.engine.in_flight)
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

        What goes into the cache is copied there, by one read after the other, as on a second link behind the device's.
        From the spill folder blocks come while others are decoded, if more than one may be under way.
        """
        shelf, costs = self.shelf(settings), self.costs(settings)
        wanted, depth = sum(shelf.sizes), settings["queue_depth"]
        own_s = costs.plan_s + costs.open_s + costs.close_s
        own_s += sum(costs.group_s + rows * costs.row_s for rows in shelf.rows)
        _, spilled, missed = found
        disk_s = spilled * wanted * CACHE.costs().recall_byte_s
        if depth > 1:
            disk_s = max(0.0, disk_s - own_s)
        io_s, waits, moves = 0.0, 1.0, 1.0
        if missed > 0:
            plain_s, kept_s = self._fetched(settings, shelf)
            io_s = missed * max(0.0, plain_s - own_s)
            own_s += missed * max(0.0, kept_s - plain_s)
            waits, moves = laws.fetch_s(
                self.case(settings).device, float(np.mean(shelf.sizes)), settings["block_bytes"], depth
            )
        return Estimate(
            terms_s={
                "cpu": own_s,
                "disk": disk_s,
                "latency": io_s * waits / (waits + moves),
                "transfer": io_s * moves / (waits + moves),
            }
        )

    def _fetched(self, settings: Settings, shelf: Shelf) -> tuple[float, float]:
        """Return the seconds of a scan that finds nothing: (if nothing were kept, with what is copied into the cache).

        Of a remote file half as many reads are under way: DuckDB 2.0 rounds each one out to blocks of 4 KiB, so that
        neighbours share a block, and the second waits until the first has it. Seen in the trace. Meanwhile others copy.
        """
        case, costs, longest = self.case(settings), self.costs(settings), settings["block_bytes"]
        spans, at = [], 0
        for size in shelf.sizes:
            ends = range(at, at + size, longest)
            spans.append([(start, min(longest, at + size - start)) for start in ends])
            at += size
        per_read = replace(costs, dispatch_s=costs.dispatch_s / max(map(len, spans)))

        reads = Reads.of([], spans, shelf.rows)

        def took_s(device: Device, slots: int) -> float:
            window = Window(slots=slots, depth=settings["queue_depth"], threads=1)
            return simulate(device, reads, window=window, costs=per_read).finished_s

        device, slots = case.device, case.engine.in_flight
        copied = 1 / (1 / device.bandwidth_bytes_per_s + CACHE.costs().copy_byte_s)
        kept_s = took_s(device.but(bandwidth_bytes_per_s=copied), slots)
        plain_s = took_s(device, max(1, slots // 2) if settings["spill"] == SPILL else slots)
        return plain_s, max(plain_s, kept_s)
