"""A case on the bench: one file, one query, one device, one engine. It can be predicted, and it can be measured,
and both see the very same numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from readahead import units
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure.engine import EngineSettings
from readahead.measure.run import Query, run_emulated, run_local
from readahead.measure.sample import Sample
from readahead.models import parquet_reads, scan
from readahead.models.schedule import Costs, Timeline, Window, simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A scan or a lookup of a Parquet dataset."""

    recipe: Recipe
    device: Device
    engine: EngineSettings = field(default_factory=EngineSettings)
    fragment_bytes: int = 0
    """Length of the contiguous pieces in which the file lies on the device; 0 for one piece."""
    keys: int = 0
    """Rows to look up by key; 0 scans the table."""
    seed: int = 1
    """Which keys."""
    time_scale: float = 1.0
    select: str = ""
    """The aggregates to compute; by default those that read every column."""
    columns: tuple[str, ...] = ()
    """The columns that `select` reads; by default all."""

    # -- what it is ----------------------------------------------------------------------------------
    def build(self) -> Path:
        """Return the file, building it first if need be."""
        return store.path(self.recipe)

    @property
    def window(self) -> Window:
        """Return how many reads and row groups the engine keeps under way."""
        engine = self.engine
        return Window(slots=engine.in_flight, depth=engine.queue_depth, threads=engine.threads)

    def query(self) -> Query:
        """Return the query, for a file that is built."""
        sql = f"SELECT {self.select or self.recipe.source.every_column} FROM {{table}}"
        if self.keys:
            sql += f" WHERE {self.recipe.source.key} IN ({', '.join(map(str, self._keys()))})"
        return Query(sql=sql, path=store.location(self.recipe))

    def _keys(self) -> list[int]:
        return self.recipe.source.some_keys(self.recipe.size, self.keys, self.seed)

    def touched(self) -> set[int] | None:
        """Return the row groups that a lookup cannot rule out by their smallest and largest key; None for all."""
        if not self.keys:
            return None
        keys = self._keys()
        ranges = inspect.key_ranges(store.location(self.recipe), self.recipe.source.key)
        found = set()
        for number, (low, high) in enumerate(ranges):
            at = bisect_left(keys, low)
            if at < len(keys) and keys[at] <= high:
                found.add(number)
        return found

    # -- what the model says -------------------------------------------------------------------------
    def reads(self) -> tuple[list[parquet_reads.Span], list[list[parquet_reads.Span]]]:
        """Return the exact reads of the built file: the footer's, and those of each row group (none if ruled out)."""
        shape = inspect.shape(store.location(self.recipe))
        columns = self.columns or self.recipe.source.columns
        touched = self.touched()
        gap = self.engine.column_gap_bytes
        groups = [
            parquet_reads.group_reads(group, columns, gap) if touched is None or number in touched else []
            for number, group in enumerate(shape.row_groups)
        ]
        return parquet_reads.footer_reads(shape), groups

    def probes(self) -> list[parquet_reads.Span | None]:
        """Return the Bloom filter that is asked before each row group of the built file; empty if none is."""
        return []

    def predict(self, costs: Costs) -> Timeline:
        """Return the schedule of the built file's exact reads."""
        footer, groups = self.reads()
        rows = [group.rows for group in inspect.shape(store.location(self.recipe)).row_groups]
        return simulate(
            self.device,
            footer,
            groups,
            rows,
            window=self.window,
            costs=costs,
            fragment_bytes=self.fragment_bytes,
            keys=self.keys,
            probes=self.probes(),
        )

    def layout(self) -> scan.Layout:
        """Return the file as equal row groups: from the file if it is built, else from its table's usual width."""
        rows, width, footer = (
            self.recipe.rows,
            self.recipe.source.bytes_per_row,
            80.0 * len(self.recipe.source.columns),
        )
        if store.is_built(self.recipe):
            shape = inspect.shape(store.location(self.recipe))
            width = sum(group.size_bytes for group in shape.row_groups) / shape.rows
            footer = shape.footer_bytes / len(shape.row_groups)
        return scan.Layout(
            rows=rows,
            row_group_rows=self.recipe.effective_row_group_rows,
            bytes_per_row=width,
            fragment_bytes=self.fragment_bytes,
            footer_bytes_per_group=footer,
            keys=self.keys,
        )

    # -- what DuckDB does ----------------------------------------------------------------------------
    def measure(self, *, repeats: int = 3, facts: Mapping[str, object] | None = None) -> Sample:
        """Run it on the emulated device. Raises `Cancelled` when asked to stop."""
        self.build()
        return run_emulated(
            self.query(),
            self.device,
            self.engine,
            fragment_bytes=self.fragment_bytes,
            time_scale=self.time_scale,
            repeats=repeats,
            facts=facts,
        )

    def measure_here(
        self, *, cold: bool, repeats: int = 3, facts: Mapping[str, object] | None = None
    ) -> Sample:
        """Run it on this machine's own disk, with the page cache emptied first if `cold`."""
        self.build()
        return run_local(self.query(), self.engine, cold=cold, repeats=repeats, facts=facts)

    def __str__(self) -> str:
        """Return the case in one line, for a table."""
        device = self.device
        what = f"lookup of {self.keys:,}" if self.keys else "scan"
        return (
            f"{what}, {self.recipe.table}, groups of {self.recipe.effective_row_group_rows:,},"
            f" fragments {units.text(self.fragment_bytes, 'bytes') if self.fragment_bytes else 'one'},"
            f" {units.text(device.latency_s, 's')} x {device.channels}"
            f" at {units.text(device.bandwidth_bytes_per_s, 'bytes_per_s')}, depth {self.engine.queue_depth}"
        )
