"""Queries that come again, through DuckDB's cache of external files with a memory limit and a folder for the rest."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from readahead.chapters.cache_tiers import laws
from readahead.datasets import expected, inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.experiments.experiment import Settings
from readahead.experiments.round import Applied
from readahead.experiments.table_experiment import TableExperiment
from readahead.measure import calibrate
from readahead.measure.calibrate import Calibration, line
from readahead.measure.case import Case
from readahead.measure.run import EngineSettings, Query, Setting, run_emulated
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.models.reads import Reads, RowGroup
from readahead.models.schedule import Costs, Timeline, simulate
from readahead.units import KiB, MiB


# -- what is asked for -----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class AccessTrace:
    """The accesses of one run, each to all of a row group, and the cache that they meet."""

    rows: tuple[int, ...]
    """Of each row group, as are the bytes."""
    sizes: tuple[int, ...]
    queries: int
    """How many row groups are asked for at random; 0 for each of them once, in turn."""
    skew: float | None
    """How strong the favourites of the queries are (see `laws.popularity`); None for one query that scans all."""
    memory_share: float
    """What the cache may hold, as a share of all bytes."""
    ahead: int = 1
    """Row groups that a scan has under way."""

    @property
    def asked(self) -> tuple[int, ...]:
        """Return the row groups in the order in which they are asked for."""
        items = len(self.sizes)
        if self.skew is None or not self.queries:
            return tuple(range(items))
        return drawn(items, self.queries, self.skew)

    @property
    def wanted(self) -> laws.Array:
        """Return the bytes of each access."""
        return np.array(self.sizes, float)[list(self.asked)]

    @property
    def capacity_bytes(self) -> float:
        """Return what the cache may hold."""
        return self.memory_share * sum(self.sizes)

    @property
    def spare_bytes(self) -> float:
        """Return what the cache leaves free once all that is asked for is in it."""
        return max(0.0, self.capacity_bytes - sum(self.sizes[item] for item in set(self.asked)))

    @property
    def taken_bytes(self) -> int:
        """Return what a scan takes of the cache for row groups held ready, besides the one that it decodes."""
        return 255 * max(self.rows) * (self.ahead - 1)

    def there(self, capacity_bytes: float, *, first: bool) -> NDArray[np.bool_]:
        """Return which accesses an LRU cache answers on these very queries, in the first run or after the same run."""
        return np.less_equal(_reuse_bytes(self.asked, self.sizes, first=first), capacity_bytes)

    def replayed(self, capacity_bytes: float, *, first: bool) -> float:
        """Return the hit ratio of that cache."""
        there = self.there(capacity_bytes, first=first)
        return float(self.wanted[there].sum() / self.wanted.sum())

    def law(self) -> Applied:
        """Return the law of the hit ratio in the long run: Che's, or that of the scan that comes back."""
        if self.skew is None:
            taken = self.taken_bytes / sum(self.sizes)
            return Applied(laws.cyclic_hit_ratio, capacity=self.memory_share, taken=taken)
        items = len(self.sizes)
        return Applied(laws.che_hit_ratio, items=items, skew=self.skew, capacity=self.memory_share * items)


@functools.lru_cache(maxsize=256)
def drawn(items: int, count: int, skew: float) -> tuple[int, ...]:
    """Return `count` independent accesses to `items`, whose popular ones lie scattered over the table."""
    rng = np.random.default_rng(1)
    places = rng.permutation(items)
    return tuple(int(item) for item in places[rng.choice(items, count, p=laws.popularity(items, skew))])


@functools.lru_cache(maxsize=256)
def _reuse_bytes(asked: Sequence[int], sizes: Sequence[int], *, first: bool) -> laws.Array:
    """Return what else is used until each access, in the first run or after the same run."""
    alone = [(item,) for item in asked]
    return laws.reuse_bytes(alone, sizes, () if first else alone)


@functools.lru_cache(maxsize=256)
def _needed(
    asked: Sequence[int], sizes: Sequence[int], block_bytes: int
) -> tuple[list[range], NDArray[np.bool_]]:
    """Return the cache blocks that each access needs in a remote file, and whether one is a neighbour's.

    Neighbours in such a file share a `FILE_BLOCK`. It is in a block of the cache of that one which was asked for first,
    so that whoever asks for the other one needs this block too. Seen in what is read of the spill file.
    """
    counts = [len(_parts(size, block_bytes)) for size in sizes]
    ends, since = list(accumulate(counts)), {item: place for place, item in reversed(list(enumerate(asked)))}
    needed = []
    for item in asked:
        before, behind = (since.get(other, math.inf) < since[item] for other in (item - 1, item + 1))
        needed.append(range(ends[item] - counts[item] - before, ends[item] + behind))
    return needed, np.array([len(blocks) > counts[item] for blocks, item in zip(needed, asked, strict=True)])


@functools.lru_cache(maxsize=256)
def _shared_reuse_bytes(
    asked: Sequence[int], sizes: Sequence[int], block_bytes: int, *, first: bool
) -> tuple[laws.Array, laws.Array]:
    """Return what else is used until each block is that an access needs in a remote file, and the block's bytes."""
    needed, _ = _needed(asked, sizes, block_bytes)
    flat = [part for size in sizes for part in _parts(size, block_bytes)]
    reuse = laws.reuse_bytes(needed, flat, () if first else needed)
    return reuse, np.array(flat, float)[np.concatenate(needed)]


def _parts(size_bytes: int, block_bytes: int) -> list[int]:
    """Return the sizes of the blocks in which the cache keeps so many bytes."""
    return [min(block_bytes, size_bytes - start) for start in range(0, size_bytes, block_bytes)]


# -- what it takes ---------------------------------------------------------------------------------------
SPILL_LEAST_BYTES = 256 * KiB
"""DuckDB 2.0 spills no cache block shorter than a block of its own: shorter ones are dropped (pull request 24062)."""
FILE_BLOCK = 4 * KiB
"""A remote file is read in blocks of so many bytes: each read is rounded out to them, on average by one of them."""
QUERY_BYTES = {False: (390_000, 348), True: (460_000, 418)}
"""What DuckDB takes for a query of a local or a remote file, and for each row of a row group."""


def freed_bytes(rows: float, *, remote: bool = False) -> float:
    """Return what DuckDB takes for a query of a row group of so many rows, and frees once it is answered."""
    query_bytes, row_bytes = QUERY_BYTES[remote]
    return query_bytes + row_bytes * rows


_EMPTY = tuple(f"SET enable_external_file_cache = {word}" for word in ("false", "true"))
"""Empties the cache, but keeps the metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheCosts:
    """What DuckDB itself takes for a query of one row group, in seconds, as `_costs` reads it off."""

    query_s: float = 1e-3
    """Parsing, planning and answering, with all of it in memory."""
    group_s: float = 9e-6
    """Ruling out a row group of the file."""
    row_s: float = 80e-9
    """Decoding a row of the wanted columns."""
    purge_byte_s: float = 0.3e-9
    """What each byte takes more that a query frees (see `freed_bytes`) while the cache fills all of its memory: DuckDB
    2.0 gives freed memory back to the system where no room for it is left, and takes it again page by page
    (`BlockAllocator::TryFlushDeallocated`)."""
    join_byte_s: float = 0.2e-9
    """What a byte takes more of a row group that lies in several blocks of the cache: they are put together."""
    join_purge_byte_s: float = 0.7e-9
    """And what it takes beyond that while the cache fills all of its memory."""
    read_s: float = 800e-6
    read_byte_s: float = 0.5e-9
    """What a read adds to the device's own time: threads sleep and are woken, and each byte is copied twice."""
    evict_s: float = 300e-6
    evict_byte_s: float = 1e-9
    """Making room for an item from the device by dropping others, and the same for each byte."""
    spill_s: float = 300e-6
    spill_byte_s: float = 0.7e-9
    """Fetching a block from the spill file, and making room for it by writing others."""
    write_s: float = 700e-6
    write_byte_s: float = 2e-9
    """Making room for an item from the device by writing others to the spill file."""
    scan_s: float = 2.2e-3
    """What a scan takes besides its row groups."""
    scan_group_s: float = 90e-6
    """Decoding a row group from memory, in a scan."""
    scan_row_s: float = 100e-9
    """The same for each of its rows."""
    scan_fetch_s: float = 50e-6
    """What of a row group's time another thread takes meanwhile, where it may fetch ahead: half of it at most."""
    scan_purge_row_s: float = 130e-9
    """What such a row takes more while the cache fills all of its memory; a scan uses most of its memory again."""
    copy_byte_s: float = 0.8e-9
    """What a scan takes more for each byte that it puts into the cache."""
    copy_evict_byte_s: float = 1.5e-9
    """What it takes beyond that where others are dropped for it, and their memory is taken again."""
    copy_ahead: float = 0.7
    """The share of both that decoding loses to reads which copy meanwhile, where it may fetch ahead."""
    recall_byte_s: float = 1.6e-9
    """What a scan takes for each byte that comes back from the spill file, as it drives another one out."""
    dump_byte_s: float = 1.4e-9
    """What it takes for each byte that it drives out to the spill file."""
    folder_ahead: float = 0.1
    """The share of the last two that is left where others are decoded meanwhile."""


_OF_A_SCAN = ("plan_s", "open_s", "open_group_s", "close_s", "group_s", "first_row_s", "fresh_byte_s")
"""Prices of a scan without a cache that `CacheCosts` has of its own."""


class Access(NamedTuple):
    """What a query of one row group takes, in seconds: whatever answers it, and more by what does."""

    own_s: float
    memory_s: float
    disk_s: float
    """From the spill folder, which has to be asked for blocks of its neighbours too: see `CachedCase.recalled`."""
    device_s: Mapping[str, float]
    """From the device, by terms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedCase(Case):
    """The queries of one run, DuckDB's cache of external files, and which run it is."""

    trace: AccessTrace
    block_bytes: int
    """How long a block of the cache may be."""
    remote: bool
    """Whether the file counts as remote, so that evicted blocks go to a folder of this machine's disk."""
    run: int
    """1 with an empty cache, 2 after the same queries have run once."""
    cache_costs: CacheCosts = CacheCosts()

    # -- what the model says -------------------------------------------------------------------------
    @property
    def spills(self) -> bool:
        """Return whether evicted blocks go to disk: only blocks that are long enough do."""
        longest = min(self.block_bytes, max(self.trace.sizes))
        return self.remote and longest >= SPILL_LEAST_BYTES

    def shares(self) -> tuple[float, float, float]:
        """Return the shares of the wanted bytes that memory, the spill folder and the device answer: an LRU cache's."""
        trace, first = self.trace, self.run == 1
        if trace.skew is None:
            memory, with_any_room = (0.0, 0.0) if first else (trace.law().result, 1.0)
        else:
            rooms = (trace.capacity_bytes, 1e18)
            memory, with_any_room = (trace.replayed(room, first=first) for room in rooms)
        spilled = with_any_room - memory if self.spills else 0.0
        return memory, spilled, 1.0 - memory - spilled

    @property
    def recalled(self) -> tuple[float, float]:
        """Return how many blocks come back from the spill folder, and their bytes."""
        trace = self.trace
        if not self.spills or trace.skew is None:
            return 0.0, 0.0
        reuse, sizes = _shared_reuse_bytes(trace.asked, trace.sizes, self.block_bytes, first=self.run == 1)
        back = np.isfinite(reuse) & (reuse > trace.capacity_bytes)
        return float(back.sum()), float(sizes[back].sum())

    def recall_s(self) -> float:
        """Return the seconds in which these blocks come back."""
        blocks, back_bytes = self.recalled
        return blocks * self.cache_costs.spill_s + back_bytes * self.cache_costs.spill_byte_s

    def join_s(self, join_byte_s: float, join_purge_byte_s: float) -> float:
        """Return the seconds a query in which the blocks of its row group are put together, if it lies in several."""
        trace = self.trace
        joined = trace.wanted > self.block_bytes
        if self.remote:
            joined |= _needed(trace.asked, trace.sizes, self.block_bytes)[1]
        return float(np.mean(joined * trace.wanted)) * (join_byte_s + self.purging * join_purge_byte_s)

    @property
    def shared(self) -> int:
        """Return how often the end of a row group that is in the spill folder comes from the device nevertheless.

        The last row group ends in the `FILE_BLOCK` where the footer begins. That was read with the footer, before the
        row group, and alone it is too short for the folder: it is dropped, and read anew. Seen in the trace.
        """
        trace, whole = self.trace, len(expected.shape(self.recipe).row_groups)
        if not self.spills or len(trace.sizes) < whole:
            return 0
        if trace.skew is None:
            return int(self.run > 1 and self.shares()[0] < 1.0)
        last = np.array(trace.asked) == len(trace.sizes) - 1
        memory, any_room = (trace.there(room, first=self.run == 1) for room in (trace.capacity_bytes, 1e18))
        return int(np.sum(last & any_room & ~memory))

    @property
    def workspace_bytes(self) -> int:
        """Return what DuckDB takes besides the cache: for the query, the file's metadata and each row of a row group.

        By `duckdb_memory()` of DuckDB 2.0; a test holds the size of the cache to it.
        """
        query_bytes = int(freed_bytes(max(self.trace.rows), remote=self.remote))
        return query_bytes + 9_300 + int(1.09 * expected.shape(self.recipe).footer_bytes)

    @property
    def purging(self) -> float:
        """Return how much of the memory that a query frees goes back to the system, as a share.

        What a query frees is the same each time, so it goes back the more often the less room there is for it.
        """
        return self.workspace_bytes / (self.workspace_bytes + self.trace.spare_bytes)

    def estimate(self, costs: Costs) -> Estimate:
        """Return the predicted time of the run; `costs` are those of the engine without a cache."""
        return Estimate(terms_s=self._queries() if self.trace.skew is not None else self._scan(costs))

    @property
    def evicting(self) -> float:
        """Return the share of the items from the device for which others have to go: in a first run, not all."""
        if self.run > 1:
            return 1.0
        return max(0.0, 1.0 - self.trace.capacity_bytes / self.shares()[2] / float(self.trace.wanted.sum()))

    def access_s(self) -> Access:
        """Return what a query of one row group takes."""
        trace, costs = self.trace, self.cache_costs
        size, rows = float(np.mean(trace.wanted)), float(np.mean(trace.rows))
        groups, blocks = len(expected.shape(self.recipe).row_groups), max(1.0, size / self.block_bytes)
        latency_s, transfer_s = laws.fetch_s(self.device, size, self.block_bytes, self.window.slots)
        read_s, write_s = blocks * costs.read_s + size * costs.read_byte_s, 0.0
        if self.spills:
            write_s = self.evicting * (costs.write_s + size * costs.write_byte_s)
        else:
            read_s += self.evicting * (costs.evict_s + size * costs.evict_byte_s)
        join_s = self.join_s(costs.join_byte_s, costs.join_purge_byte_s)
        memory_s = join_s + freed_bytes(rows) * costs.purge_byte_s * self.purging
        spilled = self.shares()[1] * len(trace.asked)
        return Access(
            own_s=costs.query_s + groups * costs.group_s + rows * costs.row_s,
            memory_s=memory_s,
            disk_s=memory_s + (self.recall_s() / spilled if spilled else 0.0),
            device_s={"cpu": join_s + read_s, "disk": write_s, "latency": latency_s, "transfer": transfer_s},
        )

    def _queries(self) -> Mapping[str, float]:
        """Return the terms of queries, each of which asks for one row group and waits for all of it."""
        access = self.access_s()
        (memory, spilled, missed), count = self.shares(), len(self.trace.asked)
        terms_s = {name: count * missed * took_s for name, took_s in access.device_s.items()}
        terms_s["cpu"] += count * (access.own_s + (memory + spilled) * access.memory_s)
        terms_s["disk"] += self.recall_s()
        return self._with_shared(terms_s)

    def _with_shared(self, terms_s: dict[str, float], ahead_s: float = 0.0) -> Mapping[str, float]:
        """Return the terms with the reads of the block that the last row group shares with the footer.

        They are asked for `ahead_s` before they are needed.
        """
        count = self.shared
        latency_s, transfer_s = laws.fetch_s(self.device, FILE_BLOCK, FILE_BLOCK, self.window.slots)
        for name, took_s in {
            "cpu": self.cache_costs.read_s,
            "latency": max(0.0, latency_s - ahead_s),
            "transfer": transfer_s,
        }.items():
            terms_s[name] += count * took_s
        return terms_s

    def _scan(self, costs: Costs) -> Mapping[str, float]:
        """Return the terms of a scan: what is missed is scheduled as any scan, the rest only decoded.

        To the spill folder and from it blocks go while others are decoded, if more than one may be under way.
        """
        trace, kept = self.trace, self.cache_costs
        memory, spilled, missed = self.shares()
        disk_s = spilled * kept.recall_byte_s + missed * self.evicting * self.spills * kept.dump_byte_s
        decoding_s = self._decoding_s(kept.scan_purge_row_s * self.purging)
        ahead = min(self.window.slots - 1, len(trace.sizes)) / len(trace.sizes)
        terms_s = {
            "cpu": kept.scan_s + (memory + spilled) * decoding_s,
            "disk": sum(trace.sizes) * disk_s * (kept.folder_ahead if self.window.slots > 1 else 1.0),
            **dict.fromkeys(("latency", "transfer"), 0.0),
        }
        if missed > 0:
            for name, took_s in self.missed_scan(costs).path_s.items():
                terms_s[name] = terms_s.get(name, 0.0) + missed * took_s
        return self._with_shared(terms_s, ahead * decoding_s)

    def _decoding_s(self, purge_row_s: float = 0.0) -> float:
        """Return the seconds in which a scan decodes all row groups; where it may fetch ahead, others take a part."""
        costs = self.cache_costs
        hidden_s = costs.scan_fetch_s if self.window.slots > 1 else 0.0
        groups_s = (costs.scan_group_s + rows * (costs.scan_row_s + purge_row_s) for rows in self.trace.rows)
        return sum(max(took_s / 2, took_s - hidden_s) for took_s in groups_s)

    def missed_scan(self, costs: Costs) -> Timeline:
        """Return when a scan that finds nothing has read and decoded everything, `scan_s` left out.

        What goes into the cache is copied there by the thread that reads it. Where that is not the one that decodes,
        decoding loses a share of the time still, for both use one memory. Of a remote file half as many reads are under
        way: DuckDB 2.0 rounds each one out to blocks of 4 KiB, so that neighbours share a block, and the second waits
        until the first has it, and asks at once. Seen in the trace. Nobody has to wake then, nor where one thread does
        all.
        """
        trace, kept, slots, spans = self.trace, self.cache_costs, self.window.slots, []
        for end, size in zip(accumulate(trace.sizes), trace.sizes, strict=True):
            starts = range(end - size, end, self.block_bytes)
            spans.append(list(zip(starts, _parts(size, self.block_bytes), strict=True)))
        copy_byte_s = kept.copy_byte_s + self.evicting * kept.copy_evict_byte_s
        lost_byte_s = kept.copy_ahead * copy_byte_s if slots > 1 else 0.0
        own_s = self._decoding_s() + lost_byte_s * sum(trace.sizes)
        per_read = replace(
            costs,
            **dict.fromkeys(_OF_A_SCAN, 0.0),
            copy_byte_s=costs.copy_byte_s + copy_byte_s,
            wake_s=0.0 if slots == 1 or self.remote else costs.wake_s,
            dispatch_s=costs.dispatch_s / max(map(len, spans)),
            row_s=own_s / sum(trace.rows),
        )
        window = replace(self.window, slots=max(1, slots // 2) if self.remote else slots)
        return simulate(self.device, Reads.of([], spans, trace.rows), window=window, costs=per_read)

    # -- what DuckDB does ----------------------------------------------------------------------------
    def query(self) -> Query:
        """Return the queries of one run, for a file that is built.

        By row number: a filter on a column would make DuckDB read that column first, and the rest in a second read.
        """
        ends = list(accumulate(self.trace.rows))
        ranges = [(ends[item] - self.trace.rows[item], ends[item]) for item in self.trace.asked]
        if self.trace.skew is None:
            ranges = [(0, ends[-1])]
        select = f"SELECT {self.recipe.source.every_column} FROM {{table}} WHERE file_row_number"
        first, *more = (f"{select} BETWEEN {start} AND {end - 1}" for start, end in ranges)
        count = "SELECT count(*) FROM {table}"
        footer = Query(sql=count, path=store.location(self.recipe), remote=self.remote)
        setup = tuple(footer.texts(emulated=True))  # its metadata stays in memory, so that no run pays for it
        before = () if self.run > 1 else _EMPTY
        return replace(footer, sql=first, more=tuple(more), setup=setup, before=before)

    def settings(self, folder: str) -> dict[str, Setting]:
        """Return DuckDB's settings, with a folder for evicted blocks.

        The memory limit is the room for the cache and DuckDB's workspace. A scan cannot run with less than what its
        read-ahead holds, so it always gets that. Without validation: DuckDB caches nothing of a file that changed in
        the last seconds, such as a table just built.
        """
        trace, capacity = self.trace, self.trace.capacity_bytes
        if trace.skew is None:
            capacity = max(capacity, trace.taken_bytes + self.engine.queue_depth * max(trace.sizes))
        return {
            "memory_limit": f"{int(capacity) + self.workspace_bytes}B",
            "temp_directory": folder,
            "external_file_cache_spill": self.remote,
            "cache_local_files": True,
            "external_file_cache_local_max_block_size": self.block_bytes,
            "external_file_cache_remote_max_block_size": self.block_bytes,
            "validate_external_file_cache": "NO_VALIDATION",
            "parquet_metadata_cache": True,
        }

    def measure(self, *, repeats: int = 3) -> Sample:
        """Run the queries on one connection, without delays until it is this run, and then `repeats` times.

        Each of several first runs begins with an empty cache. The folder for evicted blocks is removed in any case.
        """
        self.build()
        with store.work_folder("spill") as folder:
            engine = replace(self.engine, more=self.settings(str(folder)))
            return run_emulated(self.query(), self.device, engine, repeats=repeats, warm_ups=self.run - 1)


# -- how DuckDB's own part is calibrated ------------------------------------------------------------------
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
    "recalled_ahead": {"memory": 0.5, "groups": 18, "spills": True, "depth": 4},
}  # fmt: skip
"""Scans of the longer row groups: of one of them, from nearly full memory, fetched into free memory, fetched again,
from the spill folder, and fetched while that is written to; and read ahead: fetched again, from the spill folder. From
memory all row groups are scanned: what a processor still has from the scan before is read more quickly."""
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
            ahead=depth,
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
    return [*both, *short, *joined, *(_case(RECIPES[-1], scan=True, **cell) for cell in LONG_CELLS.values())]


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
    cases = {name: _case(RECIPES[-1], scan=True, **cell) for name, cell in LONG_CELLS.items()}
    rows = np.array([recipe.effective_row_group_rows for recipe in ALL_SIZES])
    many, ample = np.array([recipe.row_groups for recipe in ALL_SIZES]), _purging(CELLS["scan"])
    fixed_s = max(1e-6, many[1] * (seconds["one"] - scan[1]) / (many[1] - 1))
    group_s = scan - fixed_s / many
    each_s = {name: (seconds[name] - fixed_s) / len(case.trace.sizes) for name, case in cases.items()}
    purged_s = max(0.0, (each_s["full"] - group_s[1]) / rows[1] / (cases["full"].purging - ample[1]))
    decoding_s = group_s - ample * rows * purged_s
    hidden_s = min(group_s[2] / 2, max(0.0, scan[2] - ahead_s))
    in_full_s = decoding_s[1] + rows[1] * purged_s
    scan_group_s, scan_row_s = line(list(zip(rows, decoding_s, strict=True)))
    costs = {"scan_s": fixed_s, "scan_group_s": scan_group_s, "scan_row_s": scan_row_s}
    costs |= {"scan_fetch_s": hidden_s, "scan_purge_row_s": purged_s}

    free = replace(cases["free"], cache_costs=CacheCosts(**costs, copy_byte_s=0.0))
    plain_s = free.missed_scan(READING.costs()).finished_s / len(free.trace.sizes)
    copy_s, evict_s = max(0.0, each_s["free"] - plain_s), max(0.0, each_s["fetched"] - each_s["free"])
    driven = cases["dumped"].evicting
    dump_s = max(0.0, each_s["dumped"] - each_s["free"] - driven * evict_s) / driven
    recall_s = max(1e-9, each_s["recalled"] - in_full_s)
    copied_s = max(1e-9, copy_s + cases["fetched_ahead"].evicting * evict_s)
    first_s = SCANNED.latency_s / len(cases["fetched_ahead"].trace.sizes)
    beside_s = each_s["fetched_ahead"] - first_s - (decoding_s[1] - hidden_s)
    costs |= {
        "copy_ahead": min(1.0, max(0.0, beside_s / copied_s)),
        "folder_ahead": min(1.0, max(0.0, (each_s["recalled_ahead"] - in_full_s + hidden_s) / recall_s)),
    }
    size = float(np.mean(cases["free"].trace.sizes))
    each_byte = {"copy": copy_s, "copy_evict": evict_s, "recall": recall_s, "dump": dump_s}
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


# -- from settings to a case -----------------------------------------------------------------------------
UNIFORM, ZIPF, SCAN = "uniform", "zipf", "scan"
"""Each query asks for a row group, all of them alike or some more often; or one query asks for all of them in turn."""
DISK, DROP = "disk", "none"
"""What becomes of a block that memory has no room for: it goes to the local disk, or nowhere."""


class CachedQueries(TableExperiment):
    """Scans and queries of single row groups, run after run, with a cache between the engine and the device."""

    def case(self, settings: Settings) -> CachedCase:
        """Return the case, of the file and with the costs that are there now.

        A row group's reads are merged into one, so that it is one thing to keep.
        """
        plain, remote = super().case(settings), settings["spill"] == DISK
        skews = {UNIFORM: 0.0, ZIPF: settings["skew"], SCAN: None}
        groups = expected.shape(plain.recipe).row_groups[:MOST_GROUPS]
        return CachedCase(
            recipe=plain.recipe,
            device=plain.device,
            engine=replace(plain.engine, column_gap_bytes=1 * MiB),
            trace=AccessTrace(
                rows=tuple(group.rows for group in groups),
                sizes=tuple(group.size_bytes + FILE_BLOCK * remote for group in groups),
                queries=settings["queries"],
                skew=skews[settings["access"]],
                memory_share=settings["memory_share"],
                ahead=settings["queue_depth"],
            ),
            block_bytes=settings["block_bytes"],
            remote=remote,
            run=settings["run"],
            cache_costs=CACHE.costs(),
        )

    def engine(self, settings: Settings) -> Calibration[Costs]:
        """Return the calibration that tells what a read takes."""
        return READING

    def model(self, settings: Settings) -> Estimate:
        """Return the predicted time of one run."""
        return self.case(settings).estimate(self.costs(settings))

    def counts(self, settings: Settings) -> dict[str, float]:
        """Return nothing: bytes are expected here, not counted, and `remark` tells how they compare."""
        return {}

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the queries in DuckDB, on one connection, after the runs before this one."""
        self.case(settings).build()  # from here on the case is that of the file that is there
        return super().measure(settings, repeats)

    def work(self, settings: Settings) -> float:
        """Return the bytes that one run of the queries asks for."""
        return float(self.case(settings).trace.wanted.sum())

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return the calibrations of a read, and of the engine's cache."""
        return (*super().calibrations(settings), CACHE)
