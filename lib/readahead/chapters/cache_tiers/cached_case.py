"""Queries of one run that DuckDB's cache of external files answers, with a memory limit and a folder for the rest."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from readahead import paths
from readahead.chapters.cache_tiers import freed_memory, laws
from readahead.datasets import expected, store
from readahead.experiments.round import Applied
from readahead.measure.case import Case
from readahead.measure.run import Query, Setting, run_emulated
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.models.reads import Reads
from readahead.models.schedule import Costs, Timeline, simulate, stale
from readahead.units import KiB

SPARE_ROOM = 1 / 3
"""Of a row group: so much more than whole ones a cache may hold. An LRU cache keeps all of a row group or nothing,
and what DuckDB takes besides differs by some KiB from run to run: without it a scan with room for 99.7 % of 128 row
groups found all of them in one run and none in the next."""


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
    """What the cache may hold, as a share of all bytes; `capacity_bytes` is that in whole row groups."""

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
    def kept_bytes(self) -> float:
        """Return the bytes of as many whole row groups as the share of all has room for."""
        return math.floor(self.memory_share * len(self.sizes) + 1e-9) * float(np.mean(self.sizes))

    @property
    def capacity_bytes(self) -> float:
        """Return what the cache may hold: those, and `SPARE_ROOM`."""
        return self.kept_bytes + SPARE_ROOM * float(np.mean(self.sizes))

    def spare_bytes(self, *, first: bool) -> laws.Array:
        """Return what the cache leaves free after each access of the first run, or after the same run, throughout."""
        _, new = np.unique(self.asked, return_index=True)
        taken = np.zeros(len(self.asked))
        taken[new] = self.wanted[new]
        return np.maximum(0.0, self.capacity_bytes - (np.cumsum(taken) if first else np.sum(taken)))

    def there(self, capacity_bytes: float, *, first: bool) -> NDArray[np.bool_]:
        """Return which accesses an LRU cache answers on these very queries, in the first run or after the same run."""
        return np.less_equal(_reuse_bytes(self.asked, self.sizes, first=first), capacity_bytes)

    def replayed(self, capacity_bytes: float, *, first: bool) -> float:
        """Return the hit ratio of that cache."""
        there = self.there(capacity_bytes, first=first)
        return float(self.wanted[there].sum() / self.wanted.sum())


@functools.lru_cache(maxsize=256)
def drawn(items: int, count: int, skew: float) -> tuple[int, ...]:
    """Return `count` independent accesses to `items`, whose popular ones lie scattered over the table."""
    rng = np.random.default_rng(1)
    places = rng.permutation(items)
    return tuple(int(item) for item in places[rng.choice(items, count, p=laws.popularity(items, skew))])


@functools.lru_cache(maxsize=256)
def _reuse_bytes(asked: Sequence[int], sizes: Sequence[int], *, first: bool) -> laws.Array:
    """Return what else is used until each access, in the first run or after the same run."""
    return laws.reuse_bytes(asked, sizes, () if first else asked)


def _neighbours_that_came_first(asked: Sequence[int]) -> dict[int, list[int]]:
    """Return, for each item that is asked for, those of the two beside it that are asked for before it ever is."""
    came = {item: number for number, item in reversed([*enumerate(asked)])}
    return {
        item: [beside for beside in (item - 1, item + 1) if came.get(beside, len(asked)) < came[item]]
        for item in came
    }


def _with_neighbours(asked: Sequence[int]) -> tuple[int, ...]:
    """Return what is asked for, and before each what stands beside it and came first."""
    came_first = _neighbours_that_came_first(asked)
    return tuple(one for item in asked for one in (*came_first[item], item))


def _parts(size_bytes: int, block_bytes: int) -> list[int]:
    """Return the sizes of the blocks in which the cache keeps so many bytes."""
    return [min(block_bytes, size_bytes - start) for start in range(0, size_bytes, block_bytes)]


# -- what it takes ---------------------------------------------------------------------------------------
SPILL_LEAST_BYTES = 256 * KiB
"""DuckDB 2.0 spills no cache block shorter than a block of its own: shorter ones are dropped (pull request 24062)."""
AHEAD_ROW_BYTES, AHEAD_IN_QUERY = 300, 1.8
"""What DuckDB takes for each row of the row groups that a scan has under way, and how many of them the workspace of a
query of a local file has room for. Seen in how many row groups a scan of 32 to 128 reads anew, with 2, 4 and 8 under
way."""
COPIES_IN_QUERY = 3
"""How many row groups of a remote file the workspace of a query has room for a copy of: seen with 4 and 8 under way."""
HELD_READY = 0.0, 1.0
"""How much of that a scan has in use when memory is given back: nothing or all, as often the one as the other. Of 126
scans that came again, with memory for 0.3 to 1.45 of a table, the time is told 13 % off at p90 and 20 % at worst; with
nothing in use 15 and 27 %, with all 25 and 39 %."""
LAST_OF_TAKEN = 0.75
"""A scan drives out its last block once it has lost so much of what it takes for row groups held ready."""
FILE_BLOCK = 4 * KiB
"""A remote file is read in blocks of so many bytes: each read is rounded out to them, on average by one of them."""
QUERY_BYTES = {False: (390_000, 348), True: (460_000, 418)}
"""What DuckDB takes for a query of a local or a remote file, and for each row of a row group."""

BLOCK_ROOM_BYTES = 2_000
"""Room for what DuckDB takes for each block besides its bytes: `freed_memory.BLOCK_BYTES`, and some to spare, so that a
share of 1 has room for all of a table. Without it scans found nothing, by their reads, up to a share of 1.0085 of 128
row groups, 1.0045 of 64 and 1.0015 of 32."""


def freed_bytes(rows: float, *, remote: bool = False) -> float:
    """Return what DuckDB takes for a query of a row group of so many rows, and frees once it is answered."""
    query_bytes, row_bytes = QUERY_BYTES[remote]
    return query_bytes + row_bytes * rows


_EMPTY = tuple(f"SET enable_external_file_cache = {word}" for word in ("false", "true"))
"""Empties the cache, but keeps the metadata."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryCosts:
    """What DuckDB itself takes for a query of one row group, in seconds; fitted by `QUERIES`."""

    query_s: float = 1e-3
    """Parsing, planning and answering, with all of it in memory."""
    group_s: float = 12e-6
    """Ruling out a row group of the file."""
    row_s: float = 110e-9
    """Decoding a row of the wanted columns."""
    fault_s: float = 2.3e-6
    """A page fault, where freed memory was given back to the system: see `freed_memory`."""
    read_s: float = 400e-6
    read_byte_s: float = 0.6e-9
    """What a read adds to the device's own time: threads sleep and are woken, and each byte is copied twice."""
    cold_share: float = 1.0
    """By how much longer a query takes that has waited `schedule.STALE_S` for the device, ruling out row groups left
    out: pages that it uses are stale. The processor's time grows so; page faults do not. See `schedule.stale`."""
    spill_s: float = 0.65e-3
    """Fetching a block from the spill folder, and making room for it by writing another. Each block has a file of its
    own there, and to make and remove that takes longer than to copy its bytes."""
    write_s: float = 2e-3
    """Making room for a block from the device by writing another to the spill folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanCosts:
    """What DuckDB itself takes for a scan, in seconds; fitted by `SCANS`."""

    scan_s: float = 2.2e-3
    """What a scan takes besides its row groups."""
    group_s: float = 100e-6
    """Decoding a row group from memory."""
    row_s: float = 95e-9
    """The same for each of its rows."""
    fetch_s: float = 60e-6
    """What of a row group's time another thread takes meanwhile, where it may fetch ahead: half of it at most."""
    fault_s: float = 2.3e-6
    """A page fault, as in `QueryCosts`."""
    copy_byte_s: float = 0.4e-9
    """What a scan takes more for each byte that it puts into the cache, whether others are dropped for it or not."""
    contended_byte_s: float = 0.7e-9
    """The same, more, while another thread decodes: both contend for the memory. A scan waits for that where two row
    groups are under way, for each is read in turn with decoding the other; where more are, it is hidden."""
    lost_read_s: float = 0.13e-3
    """What decoding loses to each read that another thread makes meanwhile, where a scan may fetch ahead."""
    read_s: float = 0.2e-3
    """What handing a read over takes a scan that waits for it: more than that of `Costs`, for a reader who puts a block
    into the cache wakes whoever else waits for it."""
    recall_byte_s: float = 1.6e-9
    """What a scan takes for each byte that comes back from the spill folder, as it drives others out."""
    dump_byte_s: float = 1.7e-9
    """What it takes for each byte that it drives out to the spill folder; where it may fetch ahead, half of
    `recall_byte_s` at most."""


LOST_RECALLING = 0.4
"""The share of `ScanCosts.recall_byte_s` that a scan takes where other threads fetch ahead from the spill folder."""
_OF_A_SCAN = (
    "plan_s",
    "open_s",
    "open_group_s",
    "close_s",
    "group_s",
    "first_row_s",
    "fresh_byte_s",
    "lost_read_s",
)
"""Prices of a scan without a cache that `ScanCosts` has of its own."""


class Access(NamedTuple):
    """What a query of one row group takes, in seconds: whatever answers it, and more by what does."""

    own_s: float
    memory_s: float
    disk_s: float
    """From the spill folder, with the neighbours that come along: see `CachedCase.recalled_blocks`."""
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
    query_costs: QueryCosts = QueryCosts()
    scan_costs: ScanCosts = ScanCosts()

    # -- what the model says -------------------------------------------------------------------------
    @property
    def spills(self) -> bool:
        """Return whether evicted blocks go to disk: only blocks that are long enough do."""
        longest = min(self.block_bytes, max(self.trace.sizes))
        return self.remote and longest >= SPILL_LEAST_BYTES

    @property
    def whole(self) -> bool:
        """Return whether every row group of the table may be asked for."""
        return len(self.trace.sizes) == len(expected.shape(self.recipe).row_groups)

    @property
    def taken_bytes(self) -> float:
        """Return what a scan takes of the cache for row groups held ready; one of a part of a table takes nothing."""
        if not self.whole:
            return 0.0
        rows = max(self.trace.rows)
        spare = freed_bytes(rows, remote=self.remote) - freed_bytes(rows)
        return max(0.0, AHEAD_ROW_BYTES * rows * (self.engine.queue_depth - AHEAD_IN_QUERY) - spare)

    @property
    def away_bytes(self) -> float:
        """Return the bytes of a scanned table that do not fit into memory beside what the scan itself takes."""
        total = float(sum(self.trace.sizes))
        return min(total, max(0.0, total + self.taken_bytes - self.trace.capacity_bytes))

    @property
    def split(self) -> bool:
        """Return whether a row group lies in several blocks of the cache, of which DuckDB puts it together."""
        return max(self.trace.sizes) > self.block_bytes

    @property
    def held_bytes(self) -> int:
        """Return what a scan holds for row groups that it fetches ahead and copies, all but the one it decodes.

        What comes back from the spill folder is copied, and what is put together of several blocks. By the bytes that
        this process reads: with 2, 4 and 8 under way and row groups of 4,096 and 8,192 rows a scan fetches all of a
        table as long as memory has room for less than 1.2, 2.8 to 3.0 and 7.1 row groups more. By the trace, of row
        groups in several blocks: 2.5 to 3.3 with 4, and 6.2 to 7.3 with 8. Of a remote file neighbours share a
        `FILE_BLOCK`, and with 4 and 8 under way it is 0 and 4.
        """
        depth = self.engine.queue_depth
        if self.trace.skew is not None:
            held = 0
        elif self.spills or self.split:
            held = depth - 1
        else:
            held = max(0, depth - 1 - COPIES_IN_QUERY) * self.remote
        return held * max(self.trace.sizes)

    @property
    def lent_bytes(self) -> int:
        """Return what the workspace leaves to the cache where a scan needs fewer copies than it has room for.

        By the trace: of 128 row groups of a remote file, none in the spill folder, a scan finds all as soon as memory
        has room for 126 with one under way, for 127 with two, and for about all with four.
        """
        copies = 0 if self.spills or self.split else self.remote * COPIES_IN_QUERY
        return max(0, copies - self.engine.queue_depth) * max(self.trace.sizes)

    def law(self) -> Applied:
        """Return the law of the hit ratio in the long run: Che's, or that of the scan that comes back."""
        trace, items = self.trace, len(self.trace.sizes)
        if trace.skew is None:
            room, taken, held = (
                found / sum(trace.sizes)
                for found in (trace.capacity_bytes + self.lent_bytes, self.taken_bytes, self.held_bytes)
            )
            return Applied(laws.cyclic_hit_ratio, capacity=room, taken=taken, held=held)
        return Applied(laws.che_hit_ratio, items=items, skew=trace.skew, capacity=trace.memory_share * items)

    def shares(self) -> tuple[float, float, float]:
        """Return the shares of the wanted bytes that memory, the spill folder and the device answer: an LRU cache's."""
        trace, first = self.trace, self.run == 1
        if trace.skew is None:
            memory, with_any_room = (0.0, 0.0) if first else (self.law().result, 1.0)
        else:
            rooms = (trace.capacity_bytes, 1e18)
            memory, with_any_room = (trace.replayed(room, first=first) for room in rooms)
        spilled = with_any_room - memory if self.spills else 0.0
        return memory, spilled, 1.0 - memory - spilled

    @property
    def shared(self) -> int:
        """Return how often the end of a row group that is in the spill folder comes from the device nevertheless.

        The last row group ends in the `FILE_BLOCK` where the footer begins. That was read with the footer, before the
        row group, and alone it is too short for the folder: it is dropped, and read anew. Seen in the trace.
        """
        trace = self.trace
        if not self.spills or not self.whole:
            return 0
        if trace.skew is None:
            return int(self.run > 1 and self.away_bytes > LAST_OF_TAKEN * self.taken_bytes)
        last = np.array(trace.asked) == len(trace.sizes) - 1
        memory, any_room = (trace.there(room, first=self.run == 1) for room in (trace.capacity_bytes, 1e18))
        return int(np.sum(last & any_room & ~memory))

    @property
    def recalled_blocks(self) -> float:
        """Return how many blocks a query of one row group takes back from the spill folder, on average.

        Where a remote file's neighbour came first, the `FILE_BLOCK` that both share is in the neighbour's block of the
        cache: all of that is fetched too, and counts as used. The system counts what goes to the folder: with memory
        for 15, 30 and 50 % of 32 row groups, asked for at random, 1.61, 1.16 and 0.73 blocks a query; an LRU cache that
        takes the neighbours along counts 1.66, 1.21 and 0.77, and without them 0.82, 0.71 and 0.48. Neighbours in
        several blocks share the last one, which is too short for the folder.
        """
        trace, first = self.trace, self.run == 1
        if not self.spills:
            return 0.0
        used = trace.asked if self.split else _with_neighbours(trace.asked)
        reuse_bytes = _reuse_bytes(used, trace.sizes, first=first)
        away = np.isfinite(reuse_bytes) & (reuse_bytes > trace.capacity_bytes)
        return float(away.sum()) / len(trace.asked)

    @property
    def blocks(self) -> int:
        """Return in how many blocks the cache keeps all row groups that may be asked for."""
        return sum(len(_parts(size, self.block_bytes)) for size in self.trace.sizes)

    @property
    def workspace_bytes(self) -> int:
        """Return what DuckDB takes besides the cached bytes: for the query, each row of a row group, the metadata
        of the file and each block of the cache.

        By `duckdb_memory()` of DuckDB 2.0; a test holds the size of the cache to it.
        """
        query_bytes = int(freed_bytes(max(self.trace.rows), remote=self.remote))
        blocks_bytes = int(BLOCK_ROOM_BYTES * self.blocks * min(1.0, self.trace.memory_share))
        if self.split and not self.remote:  # room for the copy, which a query of a remote file has
            query_bytes += max(self.trace.sizes)
        return query_bytes + blocks_bytes + 9_300 + int(1.09 * expected.shape(self.recipe).footer_bytes)

    @property
    def page_faults(self) -> float:
        """Return how many pages of freed memory an access, of all on average, takes again from the system.

        Where a scan reads ahead, a block of the cache takes none, for it uses the pages of what it drives out, and
        those of copies are left out: see `readers_page_faults`.
        """
        return self._page_faults(alone=not self.reads_ahead)

    @property
    def readers_page_faults(self) -> float:
        """Return how many those are that other threads take where a scan reads ahead."""
        if not self.reads_ahead:
            return 0.0
        return self._page_faults(alone=True) - self._page_faults(alone=False)

    @property
    def reads_ahead(self) -> bool:
        """Return whether other threads read while a scan decodes."""
        return self.trace.skew is None and self.window.slots > 1

    def _page_faults(self, *, alone: bool) -> float:
        """Return the page faults of an access; where it is not `alone`, without those of copies.

        They hang on no costs: a fit, which tries many, has them counted once.
        """
        return replace(self, query_costs=QueryCosts(), scan_costs=ScanCosts())._count_page_faults(alone=alone)

    @paths.asked_once
    def _count_page_faults(self, *, alone: bool) -> float:
        """Return `_page_faults`, counted anew."""
        trace, first = self.trace, self.run == 1
        _, spilled, missed = self.shares()
        scan, size, rows = trace.skew is None, float(np.mean(trace.wanted)), float(np.mean(trace.rows))
        count = len(trace.asked)
        kinds = tuple(freed_memory.buffers(rows, copied, scan=scan, alone=alone) for copied in (0.0, size))
        other = freed_memory.METADATA[self.remote] * expected.shape(self.recipe).footer_bytes
        other += freed_memory.BLOCK_BYTES * min(len(set(trace.asked)), trace.capacity_bytes / size)
        other += (freed_memory.VECTORS_BYTES + self.held_bytes) * scan
        again = 1 if first else 2
        blocks = freed_memory.CacheBlocks(
            fetched_bytes=size * (missed + spilled) * (not self.reads_ahead),
            dropped_bytes=size * (missed * self.evicting + spilled),
            emptied_bytes=first * min(trace.capacity_bytes, sum(trace.sizes[n] for n in {*trace.asked})),
        )
        spare = trace.spare_bytes(first=first) + self.workspace_bytes - other
        found = []
        for share in HELD_READY:
            left = spare - share * scan * self.taken_bytes
            rooms = np.maximum(freed_memory.most_in_use(kinds[0]), np.broadcast_to(left, count))
            faults = freed_memory.page_faults(
                kinds,
                tuple(map(int, self._copied(trace.asked))) * again,
                tuple(rooms.tolist()) * again,
                blocks,
                limit_bytes=trace.capacity_bytes + self.workspace_bytes,
            )
            found.append(float(np.mean(faults[-count:])))
        return float(np.mean(found))

    def _copied(self, asked: Sequence[int]) -> list[bool]:
        """Return for each access whether DuckDB copies its row group: where a remote file's neighbour came first.

        A read is rounded out to `FILE_BLOCK`, so the two share one. It is in the cache's block of the first, and the
        second is put together of two. Seen in the trace of allocations.
        """
        came_first = _neighbours_that_came_first(asked)
        return [self.remote and bool(came_first[item]) for item in asked]

    def estimate(self, costs: Costs) -> Estimate:
        """Return the predicted time of the run; `costs` are those of the engine without a cache."""
        return Estimate(terms_s=self._queries(costs) if self.trace.skew is not None else self._scan(costs))

    @property
    def evicting(self) -> float:
        """Return the share of the items from the device for which others have to go: in a first run, not all."""
        if self.run > 1:
            return 1.0
        return max(0.0, 1.0 - self.trace.kept_bytes / self.shares()[2] / float(self.trace.wanted.sum()))

    def access_s(self) -> Access:
        """Return what a query of one row group takes."""
        trace, costs = self.trace, self.query_costs
        size, rows = float(np.mean(trace.wanted)), float(np.mean(trace.rows))
        groups, blocks = len(expected.shape(self.recipe).row_groups), max(1.0, size / self.block_bytes)
        latency_s, transfer_s = laws.fetch_s(self.device, size, self.block_bytes, self.window.slots)
        memory_s = self.page_faults * costs.fault_s
        answer_s = costs.query_s + rows * costs.row_s
        read_s = blocks * costs.read_s + size * costs.read_byte_s
        cold_share = costs.cold_share * stale(self.device.latency_s)
        read_s += memory_s + cold_share * (answer_s + read_s)
        write_s = self.spills * self.evicting * blocks * costs.write_s
        spilled = self.shares()[1]
        recalled = self.recalled_blocks / spilled if spilled else 1.0
        return Access(
            own_s=answer_s + groups * costs.group_s,
            memory_s=memory_s,
            disk_s=memory_s + recalled * blocks * costs.spill_s,
            device_s={"cpu": read_s, "disk": write_s, "latency": latency_s, "transfer": transfer_s},
        )

    def _queries(self, costs: Costs) -> Mapping[str, float]:
        """Return the terms of queries, each of which asks for one row group and waits for all of it."""
        access = self.access_s()
        (memory, spilled, missed), count = self.shares(), len(self.trace.asked)
        terms_s = {name: count * missed * took_s for name, took_s in access.device_s.items()}
        terms_s["cpu"] += count * (access.own_s + (memory + spilled) * access.memory_s)
        terms_s["disk"] += count * spilled * (access.disk_s - access.memory_s)
        return self._with_shared(terms_s)

    def _with_shared(self, terms_s: dict[str, float]) -> Mapping[str, float]:
        """Return the terms with the reads of the block that the last row group shares with the footer.

        Nothing is decoded meanwhile, however much may be under way. Seen in the trace.
        """
        count = self.shared
        latency_s, transfer_s = laws.fetch_s(self.device, FILE_BLOCK, FILE_BLOCK, self.window.slots)
        for name, took_s in {
            "cpu": self.query_costs.read_s,
            "latency": latency_s,
            "transfer": transfer_s,
        }.items():
            terms_s[name] += count * took_s
        return terms_s

    def _scan(self, costs: Costs) -> Mapping[str, float]:
        """Return the terms of a scan: what is missed is scheduled as any scan, the rest only decoded.

        To the spill folder and from it blocks go while others are decoded, if more than one may be under way.
        """
        trace, kept = self.trace, self.scan_costs
        memory, spilled, missed = self.shares()
        back_byte_s = kept.recall_byte_s * (LOST_RECALLING if self.reads_ahead else 1.0)
        byte_s = spilled * back_byte_s + missed * self._dumped * self._dump_byte_s
        terms_s = {
            "cpu": kept.scan_s + (memory + spilled) * self._decoding_s(),
            "disk": sum(trace.sizes) * byte_s,
            **dict.fromkeys(("latency", "transfer"), 0.0),
        }
        if missed > 0:
            for name, took_s in self.missed_scan(costs).path_s.items():
                terms_s[name] = terms_s.get(name, 0.0) + missed * took_s
        return self._with_shared(terms_s)

    @property
    def _dumped(self) -> float:
        """Return the share of what comes from the device that drives out others to the spill folder."""
        return self.evicting * self.spills

    @property
    def _dump_byte_s(self) -> float:
        """Return what decoding loses to each byte that goes to the spill folder."""
        costs = self.scan_costs
        return min(costs.dump_byte_s, costs.recall_byte_s / 2) if self.reads_ahead else costs.dump_byte_s

    def _decoding_s(self) -> float:
        """Return the seconds in which a scan decodes all row groups; where it may fetch ahead, others take a part."""
        costs = self.scan_costs
        hidden_s = costs.fetch_s if self.reads_ahead else 0.0
        group_s = costs.group_s + self.page_faults * costs.fault_s
        groups_s = (group_s + rows * costs.row_s for rows in self.trace.rows)
        return sum(max(took_s / 2, took_s - hidden_s) for took_s in groups_s)

    def _decoding_share(self) -> float:
        """Return the share of its time in which a scan that fetches ahead decodes; none where it fetches for itself."""
        size, decode_s = float(np.mean(self.trace.sizes)), self._decoding_s() / len(self.trace.rows)
        waited_s = sum(laws.fetch_s(self.device, size, self.block_bytes, self.window.slots))
        return min(1.0, self.window.slots * decode_s / (decode_s + waited_s)) * self.reads_ahead

    def missed_scan(self, costs: Costs) -> Timeline:
        """Return when a scan that finds nothing has read and decoded everything, `scan_s` left out.

        What goes into the cache is copied there by the thread that reads it, which may take new pages for that
        and may have to make room in the spill folder first. Where that is not the thread that decodes, decoding waits
        so much longer for the row group, and loses some time to each read besides.
        """
        trace, kept, spans = self.trace, self.scan_costs, []
        for end, size in zip(accumulate(trace.sizes), trace.sizes, strict=True):
            starts = range(end - size, end, self.block_bytes)
            spans.append(list(zip(starts, _parts(size, self.block_bytes), strict=True)))
        pages_byte_s = self.readers_page_faults * kept.fault_s / float(np.mean(trace.sizes))
        readers_byte_s = pages_byte_s + self._dumped * (kept.dump_byte_s - self._dump_byte_s)
        copy_byte_s = costs.copy_byte_s + kept.copy_byte_s + kept.contended_byte_s * self._decoding_share()
        lost_s = kept.lost_read_s * sum(map(len, spans)) * self.reads_ahead
        per_read = replace(
            costs,
            **dict.fromkeys(_OF_A_SCAN, 0.0),
            copy_byte_s=copy_byte_s + readers_byte_s,
            dispatch_s=costs.dispatch_s / max(map(len, spans)),
            row_s=(self._decoding_s() + lost_s) / sum(trace.rows),
            read_s=kept.read_s,
        )
        return simulate(self.device, Reads.of([], spans, trace.rows), window=self.window, costs=per_read)

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
        read-ahead holds, so it always gets that, and of a remote file two blocks more: the threads that fetch them hold
        more at once now and then. Without validation: DuckDB caches nothing of a file that changed in the last
        seconds, such as a table just built.

        Where a row group is one block, read-ahead gets two threads for each read: one that wants a block which another
        is reading waits for that, and with a thread each fewer reads would be in flight than the queue depth says. Seen
        in what the threads wait for, and in the trace: 5 to 8 of 8, and half of them where the file is remote. Of that
        neighbours share a `FILE_BLOCK`, so it gets three: with two, rounds of 6 and 7 of 8 were seen, and one round
        more.
        """
        trace, capacity, depth = self.trace, self.trace.capacity_bytes, self.engine.queue_depth
        if trace.skew is None:
            capacity = max(
                capacity, 255 * max(trace.rows) * (depth - 1) + (depth + 2 * self.remote) * max(trace.sizes)
            )
        threads = (2 + self.remote) * depth
        return {
            "memory_limit": f"{int(capacity) + self.workspace_bytes}B",
            "temp_directory": folder,
            "external_file_cache_spill": self.remote,
            "cache_local_files": True,
            "external_file_cache_local_max_block_size": self.block_bytes,
            "external_file_cache_remote_max_block_size": self.block_bytes,
            "validate_external_file_cache": "NO_VALIDATION",
            "parquet_metadata_cache": True,
            **({"async_threads": threads} if depth > 1 and not self.split else {}),
        }

    def measure(self, *, repeats: int = 3) -> Sample:
        """Run the queries on one connection, without delays until it is this run, and then `repeats` times.

        Each first run begins with an empty cache, but not with new memory: the queries have run once before. The folder
        for evicted blocks is removed in any case.
        """
        self.build()
        with store.work_folder("spill") as folder:
            engine = replace(self.engine, more=self.settings(str(folder)))
            warm_ups = max(1, self.run - 1)
            return run_emulated(self.query(), self.device, engine, repeats=repeats, warm_ups=warm_ups)
