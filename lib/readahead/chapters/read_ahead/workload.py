"""A long corridor to a store room, and somebody who may or may not ask before he needs a thing: the common bench with
DuckDB's own read-ahead switches, for Parquet and for its own format."""

from __future__ import annotations

from dataclasses import replace

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
from readahead.models.reads import Reads
from readahead.models.schedule import Costs, Window, simulate
from readahead.units import KiB

ON, OFF, ALONE = "on", "off", "async_threads alone"
PARQUET, NATIVE = "Parquet", "DuckDB's own"
SCAN, TWO, LIMIT = "scan", "two columns", "LIMIT 10"
BLOCK_BYTES = 64 * KiB
_TWO_COLUMNS = ("id", "user_id")


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

    def plan(self, settings: Settings) -> Reads:
        """Return the reads: exact once the file is built."""
        case = self.case(settings)
        columns = case.columns or case.recipe.columns
        ahead, depth = self.value(settings, "read_ahead") != OFF, self.window(settings).depth
        if case.recipe.format == "native":
            found = expected.blocks(case.recipe, columns)
            groups = block_reads([blocks for _, blocks in found], BLOCK_BYTES, ahead=ahead, depth=depth)
            return Reads.of([], groups, [rows for rows, _ in found])
        reads = case.scan()
        if not ahead:
            shape, count = expected.shape(case.recipe), expected.pages(case.recipe)
            groups = [laws.page_reads(group, columns, count) for group in shape.row_groups]
            reads = Reads.of(reads.footer, groups, reads.rows)
        return reads.first(depth) if self.value(settings, "query") == LIMIT else reads

    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the reads as named terms; of ten rows, those of the first row group.

        What else was under way when the first ten rows are there is dropped.
        """
        reads = self.plan(settings)
        if self.value(settings, "query") == LIMIT:
            reads = reads.first(1)
        device, window = self.case(settings).device, self.window(settings)
        return simulate(device, reads, window=window, costs=self.costs(settings)).estimate

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
