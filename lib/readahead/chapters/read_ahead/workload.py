"""A long corridor to a store room, and somebody who may or may not ask before he needs a thing: the common bench with
DuckDB's own read-ahead switches, for Parquet and for its own format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from readahead.chapters.read_ahead import laws
from readahead.datasets import expected, store
from readahead.experiments.experiment import Settings
from readahead.experiments.knobs import DISK_COLD, EMULATED
from readahead.experiments.scanning import Scanning
from readahead.measure import calibrate
from readahead.measure.case import Case
from readahead.measure.engine import Setting
from readahead.measure.run import Query, run_emulated, run_local
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.models.native_reads import block_reads
from readahead.models.parquet_reads import Span
from readahead.models.schedule import Costs, Window, simulate
from readahead.units import KiB

ON, OFF, ALONE = "on", "off", "async_threads alone"
PARQUET, NATIVE = "Parquet", "DuckDB's own"
SCAN, TWO, LIMIT = "scan", "two columns", "LIMIT 10"
BLOCK_BYTES = 64 * KiB
_TWO_COLUMNS = ("id", "user_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is going to be read: the footer's reads, and those of each row group with its rows."""

    footer: Sequence[Span]
    groups: Sequence[Sequence[Span]]
    rows: Sequence[int]

    @property
    def reads(self) -> int:
        """Return the reads of all row groups."""
        return sum(map(len, self.groups))

    @property
    def bytes(self) -> int:
        """Return the bytes of all row groups."""
        return sum(size for group in self.groups for _, size in group)


class Switching(Scanning):
    """The common bench with the engine's read-ahead switches."""

    def case(self, settings: Settings) -> Case:
        """Return the common case in the chosen format, with the switches thrown."""
        case = super().case(settings)
        parquet = self.value(settings, "stored") != NATIVE
        ahead = self.value(settings, "read_ahead")
        more: dict[str, Setting] = {}
        if ahead == OFF:
            more = {"disable_parquet_prefetching": True} if parquet else {"storage_block_prefetch": "NEVER"}
        elif not parquet:
            more = {"storage_block_prefetch": "ALWAYS_PREFETCH"}
        if ahead == ALONE:
            more["read_ahead_depth"] = -1
        form = case.recipe if parquet else replace(case.recipe, format="native", block_bytes=BLOCK_BYTES)
        two = self.value(settings, "query") == TWO
        return replace(
            case,
            recipe=form,
            engine=replace(case.engine, column_gap_bytes=self.value(settings, "column_gap_bytes"), more=more),
            columns=_TWO_COLUMNS if two else (),
            select=", ".join(f"sum({column})" for column in _TWO_COLUMNS) if two else "",
        )

    def query(self, settings: Settings) -> Query:
        """Return the query, for a file that is built."""
        case = self.case(settings)
        if self.value(settings, "query") != LIMIT:
            return case.query()
        return Query(sql="SELECT * FROM {table} LIMIT 10", path=store.location(case.recipe))

    def window(self, settings: Settings) -> Window:
        """Return the window: without read-ahead each worker has one read under way.

        With `async_threads` alone DuckDB keeps as many row groups under way as its memory rule allows.
        """
        own = self.case(settings).window
        ahead = self.value(settings, "read_ahead")
        if ahead == OFF:
            return Window(slots=own.threads, depth=own.threads, threads=own.threads)
        if ahead == ALONE:
            most = laws.GROUPS_A_WORKER * own.threads
            return Window(slots=min(own.slots, most), depth=most, threads=own.threads)
        return own

    def plan(self, settings: Settings) -> Plan:
        """Return the reads: exact once the file is built."""
        case = self.case(settings)
        columns = case.columns or case.recipe.columns
        ahead, depth = self.value(settings, "read_ahead") != OFF, self.window(settings).depth
        if case.recipe.format == "native":
            found = expected.blocks(case.recipe, columns)
            blocks = block_reads([blocks for _, blocks in found], BLOCK_BYTES, ahead=ahead, depth=depth)
            return Plan(footer=[], groups=blocks, rows=[rows for rows, _ in found])
        reads = case.scan()
        groups, rows = reads.groups, reads.rows
        if not ahead:
            shape, count = expected.shape(case.recipe), expected.pages(case.recipe)
            groups = [laws.page_reads(group, columns, count) for group in shape.row_groups]
        if self.value(settings, "query") == LIMIT:
            groups, rows = groups[:depth], rows[:depth]
        return Plan(footer=reads.footer, groups=groups, rows=rows)

    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the reads as named terms: exact once the file is built."""
        case, window = self.case(settings), self.window(settings)
        plan, costs = self.plan(settings), self.costs(settings)
        first = (
            self.value(settings, "query") == LIMIT
        )  # the first group is enough; what is under way is dropped
        groups, rows = (plan.groups[:1], plan.rows[:1]) if first else (plan.groups, plan.rows)
        told = simulate(case.device, plan.footer, groups, rows, window=window, costs=costs)
        reads, size = sum(map(len, groups)), sum(size for group in groups for _, size in group)
        rate = min(case.device.channel_bandwidth_bytes_per_s, case.device.bandwidth_bytes_per_s)
        parts = {
            "latency": reads * case.device.latency_s,
            "transfer": size / rate,
            "engine": reads * costs.read_s,
        }
        io_s = told.arrived_s - told.opened_s
        scale = io_s / (sum(parts.values()) or 1.0)
        terms = {name: value * scale for name, value in parts.items()}
        after_s = max(0.0, told.finished_s - told.arrived_s - costs.close_s)
        return Estimate(
            terms_s={"open": told.opened_s + costs.close_s, **terms, "cpu": after_s},
            overlapped_s={"cpu": max(0.0, told.decode_s / window.threads - after_s)},
        )

    def costs(self, settings: Settings) -> Costs:
        """Return what the engine takes; a native file is opened before the clock runs."""
        case, costs = self.case(settings), super().costs(settings)
        return costs if case.recipe.format == "parquet" else replace(costs, open_s=0.0, open_group_s=0.0)

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the query in DuckDB, on the emulated device or on this machine's disk."""
        case, where = self.case(settings), self.value(settings, "where")
        case.build()
        query = self.query(settings)
        if where != EMULATED:
            calibrate.engine(case.recipe.table, self.value(settings, "where")).ensure()
            cold = where == DISK_COLD
            return run_local(query, case.engine, cold=cold, repeats=repeats, facts=settings)
        return run_emulated(query, case.device, case.engine, repeats=repeats, facts=settings)

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say which knobs do nothing now, and why."""
        reasons = super().disabled(settings)
        if self.value(settings, "read_ahead") == OFF:
            reasons["queue_depth"] = "Without read-ahead each worker waits for the one read it asked for."
        if self.value(settings, "query") != TWO:
            reasons["column_gap_bytes"] = "Every column is read, so there is no hole to read through."
        return reasons
