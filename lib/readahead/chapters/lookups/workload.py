"""Rows fetched by their keys, from DuckDB's own file with an index or from Parquet, on disks that each hold a part.

Through the index DuckDB reads one block after the other, up to a number of rows; past that number it walks the index
for one row too many and then reads the row groups that were hit, many at once. A Parquet file has no index.
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from readahead.datasets import expected
from readahead.datasets.recipe import Recipe
from readahead.devices import Device, device
from readahead.experiments.experiment import EMULATED, Settings
from readahead.experiments.knobs import experiment
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure import calibrate
from readahead.measure.calibrate import WARM, Calibration, Trial, line, trial
from readahead.measure.case import Case
from readahead.measure.run import EngineSettings, Setting
from readahead.models.estimate import Estimate
from readahead.models.native import Segments, block_span, native_reads
from readahead.models.reads import Reads
from readahead.models.schedule import PASSING_PAGES, Costs, cached_costs, parsing_s, stale, stale_closing_s
from readahead.models.table_layout import VECTOR_ROWS
from readahead.published import Figure, series
from readahead.units import KiB

NATIVE, PARQUET = "native", "parquet"
OWN_DISK, ANY_CHANNEL = "own_disk", "any_channel"
SORTED, SHUFFLED = "key", "shuffled"
SCATTERED, UNSORTED, NEIGHBOURS = "scattered", "unsorted", "neighbours"
STRIPE_BYTES = 256 * KiB
"""How much lies on one disk before the next begins: longer than a row group in small groups, or a block."""


# -- which blocks of DuckDB's own file a lookup reads ------------------------------------------------------
def blocks_from(columns: Sequence[Segments], row: int) -> frozenset[int]:
    """Return the blocks of a row group, the key's column first, that a scan for this row asks for ahead.

    By its smallest and largest key DuckDB passes over the first segment without the row, up to a whole vector. Then it
    asks for all the rest, and passes over further segments when they are there.
    """
    begin = (
        max((start for start, _ in columns[0][:2] if start <= row), default=0) // VECTOR_ROWS * VECTOR_ROWS
    )
    ends = (zip(runs, [*runs[1:], (begin + 1, -1)], strict=True) for runs in columns)
    return frozenset(block for pairs in ends for (_, block), (end, _) in pairs if end > begin and block >= 0)


# -- a lookup, and the knobs of it -------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup(Case):
    """A lookup of some keys, or a scan if there are none."""

    asked: str = SCATTERED
    """Which keys, and in which order: scattered, the same unsorted, or neighbours."""
    step_rows: int = 0
    """The most rows that are fetched through the index, if there is one."""

    @property
    def ranged(self) -> bool:
        """Return whether DuckDB turns the keys into a range: those that have no gap between them.

        Unlike `is_range` it lists none of them, for a curve asks at every point.
        """
        return self.asked == NEIGHBOURS and self.keys > 1

    @property
    def walks(self) -> bool:
        """Return whether DuckDB walks down the index: until it has found one row too many, and then it scans.

        It does not look into the index for a range.
        """
        return self.recipe.index and self.keys > 0 and not self.ranged

    @property
    def has_own_costs(self) -> bool:
        """Return whether the engine takes for it what it does not for any query, see `LookupCosts`."""
        return self.recipe.format == NATIVE or self.ranged

    @property
    def by_index(self) -> bool:
        """Return whether DuckDB fetches row by row: it has an index, and not too many rows are asked for."""
        return self.walks and self.keys <= self.step_rows

    def listed(self) -> list[int]:
        """Return the keys in the order in which the query names them."""
        if self.asked == NEIGHBOURS:
            first = random.Random(self.seed).randrange(self.recipe.rows - self.keys)
            return list(range(first, first + self.keys))
        keys = Case.listed(self)
        return random.Random(self.seed).sample(keys, len(keys)) if self.asked == UNSORTED else keys

    def scan(self) -> Reads:
        """Return what is read one by one, then the row groups that are read with many reads under way.

        They are exact once the file is built.
        """
        recipe, touched = self.recipe, self.touched()
        if recipe.format == "parquet":
            return Case.scan(self)
        keys = sorted(self.listed())
        chosen = range(recipe.row_groups) if touched is None else np.flatnonzero(touched)
        alone = expected.index_walk(recipe, keys, self.step_rows + 1) if self.walks else []
        if self.by_index:
            alone, chosen = alone + expected.row_blocks(recipe, keys), range(0)
        every = expected.blocks(recipe, recipe.columns)
        rows, there = [every[number][0] for number in chosen], [every[number][1] for number in chosen]
        if self.keys and not self.walks:  # a range of keys: of other vectors nothing but the key is decoded
            starts = np.unique(expected.places(recipe, keys) // VECTOR_ROWS) * VECTOR_ROWS
            vectors = np.bincount(starts // recipe.effective_row_group_rows, minlength=recipe.row_groups)
            rows = np.minimum(rows, VECTOR_ROWS * vectors[chosen]).tolist()
            if recipe.effective_order == "key":
                row = keys[0] % recipe.effective_row_group_rows
                there[0] = blocks_from(expected.segments(recipe)[chosen[0]], row)
        serial = [block_span(number, recipe.block_bytes) for number in alone]
        found = native_reads(there, rows, recipe.block_bytes, self.device, self.window, serial)
        return replace(found, keys=self.keys)


# -- what the engine takes for it --------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class LookupCosts:
    """What DuckDB takes in its own file, and for a range, in seconds, beyond what any query takes.

    What is usual, before calibration.
    """

    probe_s: float = 0.3e-3
    """Making ready to look into an index."""
    probe_key_s: float = 5e-6
    """The same, for each key."""
    scan_s: float = 0.9e-3
    """Making ready to scan: at once, or when the index has shown too many rows."""
    range_key_s: float = 3e-6
    """The same, for each key of a range: DuckDB looks whether there is a gap between them."""
    dispatch_s: float = 0.13e-3
    """Between two reads of a scan, whatever their slots, see `Costs.dispatch_s`."""
    row_s: float = 8e-6
    """Picking one row out of the blocks of its columns."""
    block_s: float = 28e-6
    """From the arrival of a block to the next request: handing over."""
    block_byte_s: float = 0.5e-9
    """The same, for each byte of the block: it is checked."""


FEW, MANY, SMALL_BLOCK, LARGE_BLOCK = 1, 100, 16 * KiB, 256 * KiB
SHORT_RANGE, LONG_RANGE = 2, 1_000
_QUICK = Device(name="probe", latency_s=2e-4, bandwidth_bytes_per_s=1e10, channels=64)
_DISK = _QUICK.but(latency_s=2e-3)


@functools.cache
def lookup_calibration(table: str, where: str) -> Calibration[LookupCosts]:
    """Return what lookups through an index show: of few and many rows, in small and in large blocks.

    Ranges of keys, for which the index is not asked, show how a scan begins, and a scan how its reads are passed out.
    On this machine's own disk a block is handed over without an emulated device in between; the rest is as on it.
    """
    here = where != EMULATED
    asked = itertools.product((FEW, MANY), (SMALL_BLOCK, LARGE_BLOCK))
    cases = [_lookup(table, keys, block_bytes) for keys, block_bytes in asked]
    if not here:
        cases += [_range(table, SHORT_RANGE), _range(table, LONG_RANGE), _scan(table)]
    return Calibration(
        name=f"{table}-lookups{'-here' if here else ''}",
        kind=LookupCosts,
        cases=lambda: [functools.partial(trial, case, here=here) for case in cases],
        read_off=functools.partial(_here_costs if here else _lookup_costs, table),
        typical=lambda: LookupCosts(block_s=6e-6) if here else LookupCosts(),
        turns=4,
    )


def _lookup(table: str, keys: int, block_bytes: int) -> Lookup:
    recipe = Recipe(table=table, size="tiny", format="native", row_group_rows=16_384, index=True)
    engine = EngineSettings(queue_depth=1, more=_by_index(MANY))
    recipe = replace(recipe, block_bytes=block_bytes)
    return Lookup(recipe=recipe, device=_QUICK, engine=engine, keys=keys, step_rows=MANY)


def _range(table: str, keys: int) -> Lookup:
    return replace(_lookup(table, keys, SMALL_BLOCK), device=_DISK, asked=NEIGHBOURS)


def _scan(table: str) -> Lookup:
    known = _lookup(table, 0, SMALL_BLOCK)
    engine = replace(known.engine, queue_depth=32)
    return replace(known, recipe=replace(known.recipe, row_group_rows=VECTOR_ROWS), engine=engine)


def _by_index(rows: int) -> dict[str, Setting]:
    """Return the settings with which DuckDB fetches up to so many rows through an index."""
    return {
        "index_scan_max_count": rows,
        "index_scan_percentage": 0,
        "storage_block_prefetch": "ALWAYS_PREFETCH",
    }


def _lookup_costs(table: str, trials: Sequence[Trial]) -> LookupCosts:
    """Read the price of a block off the pauses between the reads for many rows, and that of a row off what is left.

    Those of an index and of a range are what passes before its first read.
    """
    scans, walks, ranges = (
        [t for t in trials if t.case.keys in keys] for keys in ({0}, {FEW, MANY}, {SHORT_RANGE, LONG_RANGE})
    )
    base, many = calibrate.engine(table).costs(), [t for t in walks if t.case.keys == MANY]

    def pause_s(block: int) -> float:
        seen = [t.sample.reads for t in many if t.case.recipe.block_bytes == block]
        paused_s = ([b.submitted_s - a.done_s for a, b in pairwise(reads)] for reads in seen)
        return float(np.median([np.mean(each_s) for each_s in paused_s]))

    def begun_s(one: Trial) -> float:
        return one.planning_s() - base.plan_s - one.case.keys * base.plan_key_s

    pauses = {block: pause_s(block) for block in (SMALL_BLOCK, LARGE_BLOCK)}
    stale_s = PASSING_PAGES * base.stale_page_s * stale(_QUICK.latency_s)
    block_s, block_byte_s = line([(float(block), seconds - stale_s) for block, seconds in pauses.items()])
    probe_s, probe_key_s = line([(float(t.case.keys), begun_s(t)) for t in walks])
    scan_s, range_key_s = line([(float(t.case.keys), begun_s(t)) for t in ranges])
    left = []
    for one in many:
        reads = one.sample.reads
        reading_s = sum(read.done_s - read.submitted_s for read in reads)
        reading_s += len(reads) * pauses[one.case.recipe.block_bytes]
        closing_s = base.close_s + stale_closing_s(
            base.stale_page_s, base.stale_early_share, one.sample.median_s
        )
        left.append((one.sample.median_s - reads[0].submitted_s - reading_s - closing_s) / MANY)
    return LookupCosts(
        probe_s=probe_s,
        probe_key_s=probe_key_s,
        scan_s=scan_s,
        range_key_s=range_key_s,
        dispatch_s=float(np.median([t.per_read_s() for t in scans])),
        row_s=max(1e-9, float(np.median(left))),
        block_s=block_s,
        block_byte_s=block_byte_s,
    )


def _here_costs(table: str, trials: Sequence[Trial]) -> LookupCosts:
    """Return what handing over a block takes where there is no trace: what is left of many rows, a block."""
    base, known = calibrate.engine(table, WARM).costs(), lookup_calibration(table, EMULATED).ensure()
    rest_s = base.plan_s + known.probe_s + base.close_s
    rest_s += MANY * (base.plan_key_s + known.probe_key_s + known.row_s)
    left = [
        (t.sample.median_s - rest_s) / t.case.scan().count - known.block_byte_s * t.case.recipe.block_bytes
        for t in trials
        if t.case.keys == MANY
    ]
    return replace(known, block_s=max(1e-7, float(np.median(left))))


class Lookups(TableExperiment):
    """Lookups through an index and past its step, with Chang's rates beside them."""

    def device(self, settings: Settings) -> Device:
        """Return the device. Its latency is a random read's, seek and all, and its bandwidth that of one disk.

        Disks that each hold their own stripes each have their own bandwidth too; any other device has its link.
        """
        rest = {name: value for name, value in settings.items() if name != "bandwidth_bytes_per_s"}
        chosen, rate = super().device(rest).but(seek_s=0.0), float(settings["bandwidth_bytes_per_s"])
        if settings["where"] != EMULATED:
            return chosen
        chosen = chosen.but(channel_bandwidth_bytes_per_s=rate, stripe_bytes=0)
        if settings["placed"] == ANY_CHANNEL:
            return chosen
        striped = STRIPE_BYTES if chosen.channels > 1 else 0
        return chosen.but(bandwidth_bytes_per_s=rate * chosen.channels, stripe_bytes=striped)

    @once
    def case(self, settings: Settings) -> Lookup:
        """Return the case that these settings describe."""
        plain, native = super().case({**settings, "format": settings["stored"]}), settings["stored"] == NATIVE
        file = {"order": settings["table_order"], "index": native}
        return Lookup(
            recipe=replace(plain.recipe, block_bytes=2 ** round(np.log2(settings["block_bytes"])), **file),
            device=plain.device,
            engine=replace(plain.engine, more=_by_index(settings["step_rows"]) if native else {}),
            keys=min(plain.keys, plain.recipe.rows // 2),
            seed=settings["key_draw"],
            asked=settings["asked"],
            step_rows=settings["step_rows"],
        )

    def costs(self, settings: Settings) -> Costs:
        """Return what the engine takes: a native file was opened when it was attached, before the clock ran.

        A range of keys is neither joined with the table nor held against a row group key by key.
        """
        case, costs = self.case(settings), super().costs(settings)
        if not case.has_own_costs:
            return costs
        own = self._lookup(settings).costs()
        costs = replace(costs, open_lookup_s=0.0, close_lookup_s=0.0)
        if case.ranged:
            costs = replace(costs, open_key_s=own.range_key_s, prune_key_s=0.0, match_s=0.0)
        if case.recipe.format == PARQUET:
            return costs
        probe_s = own.probe_s + case.keys * own.probe_key_s
        return replace(
            costs,
            plan_s=costs.plan_s + (probe_s if case.walks else 0.0),
            open_s=0.0 if case.by_index else own.scan_s,
            open_group_s=0.0,
            open_key_s=0.0 if case.walks else costs.open_key_s,
            dispatch_s=min(costs.dispatch_s, own.dispatch_s),
            fetch_byte_s=0.0,  # a block's is in it
            read_s=own.block_s + own.block_byte_s * case.recipe.block_bytes,
        )

    def _lookup(self, settings: Settings) -> Calibration[LookupCosts]:
        return lookup_calibration(self.case(settings).recipe.table, settings["where"])

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return the calibrations of the engine, and of what it takes in its own file and for a range of keys."""
        table = super().calibrations(settings)
        return (*table, self._lookup(settings)) if self.case(settings).has_own_costs else table

    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the reads as named terms: what comes one by one, and what comes at once."""
        case, costs = self.case(settings), self.costs(settings)
        ends, costs = case.predict(costs), cached_costs(costs, case.plan())
        opened_s = parsing_s(costs.open_s, costs.read_s)
        ready_s = opened_s if case.walks else 0.0  # to scan, once the index has shown too many rows
        opening_s = costs.plan_s + case.keys * (costs.plan_key_s + costs.open_key_s) + opened_s - ready_s
        opening_s += case.recipe.row_groups * costs.open_group_s
        cpu_s = max(0.0, ends.finished_s - costs.close_s - max(ends.arrived_s, ends.opened_s))
        if case.by_index:
            cpu_s += case.keys * self._lookup(settings).costs().row_s
        terms = {
            "open": opening_s + costs.close_s,
            "one by one" if case.recipe.index else "footer": ends.opened_s - ready_s - opening_s,
            "many at once": ends.arrived_s - ends.opened_s + ready_s,
            "cpu": cpu_s,
        }
        hidden_s = max(0.0, ends.decode_s / case.window.threads - cpu_s)
        return Estimate(terms_s=terms, overlapped_s={"cpu": hidden_s})

    def published(self, settings: Settings, name: str) -> Sequence[tuple[float, float, Figure]]:
        """Return Chang's rows a second from his eight disks, a page of 8 KB a read."""
        if name != "rows_per_lookup" or settings["query"] != "lookup":
            return ()
        return series("lookups", "disk_8k_rows_per_s")

    def follow(self, settings: Settings, changed: str) -> dict[str, Any]:
        """Set the device's numbers from the menu; a head's seek is part of a random read's latency."""
        moved = super().follow(settings, changed)
        if changed == "device":
            chosen = device(settings["device"])
            moved["latency_s"] = self.knob("latency_s").nearest(chosen.latency_s + chosen.seek_s)
            rate = chosen.channel_bandwidth_bytes_per_s
            moved["bandwidth_bytes_per_s"] = self.knob("bandwidth_bytes_per_s").nearest(rate)
            moved["placed"] = OWN_DISK if chosen.stripe_bytes else ANY_CHANNEL
        return moved

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say which knobs do nothing now, and why."""
        alone = "Through the index DuckDB asks for one block at a time, whatever could be under way."
        idle = ("queue_depth", "channels", "placed") if self.case(settings).by_index else ()
        return super().disabled(settings) | dict.fromkeys(idle, alone)


EXPERIMENT = experiment(Lookups, __file__, "Lookups: 25 rows or 26")
