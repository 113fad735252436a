"""One file, one query, one device, one engine. A case can be predicted and measured, and both see the same numbers."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from readahead.datasets import expected, store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure.run import EngineSettings, Query, run_emulated, run_local
from readahead.measure.sample import Sample
from readahead.models.reads import Reads, filtered_reads
from readahead.models.schedule import Costs, Timeline, Window, simulate
from readahead.models.table_layout import VECTOR_ROWS


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
    tail: str = ""
    """What comes last in the query."""

    # -- what it is ----------------------------------------------------------------------------------
    def build(self) -> Path:
        """Return the file, building it first if need be."""
        return store.path(self.recipe)

    @property
    def window(self) -> Window:
        """Return how many reads and row groups the engine keeps under way."""
        return self.engine.window

    def query(self) -> Query:
        """Return the query, for a file that is built."""
        sql = f"SELECT {self.select or self.recipe.source.every_column} FROM {{table}}"
        if self.keys:
            sql += f" WHERE {self.recipe.source.key} IN ({', '.join(map(str, self.listed()))})"
        return Query(sql=sql + self.tail, path=store.location(self.recipe))

    def listed(self) -> list[int]:
        """Return the keys in the order in which the query names them."""
        return self.recipe.source.some_keys(self.recipe.size, self.keys, self.seed)

    def touched(self) -> NDArray[np.bool_] | None:
        """Return which row groups a query cannot rule out by their smallest and largest values; None for all."""
        if not self.keys:
            return None
        keys, ranges = (
            np.array(sorted(self.listed())),
            expected.key_ranges(self.recipe, self.recipe.source.key),
        )
        at = np.searchsorted(keys, ranges[:, 0])
        return (at < len(keys)) & (keys[np.minimum(at, len(keys) - 1)] <= ranges[:, 1])

    # -- what the model says -------------------------------------------------------------------------
    def scan(self) -> Reads:
        """Return the reads of the footer and of each row group, none if it is ruled out, and the rows of each.

        They are exact once the file is built, and before that those of equal row groups.
        """
        wanted = self.columns or self.recipe.source.columns
        found = expected.reads(self.recipe, wanted, self.engine.column_gap_bytes)
        touched = self.touched()
        if touched is None:
            return found
        looked_up = replace(found.only(touched), keys=self.keys)
        return self._filtered(looked_up, touched) if self.is_range else looked_up

    @property
    def is_range(self) -> bool:
        """Return whether the keys follow each other without a gap: DuckDB makes a filter of them, by range."""
        keys = sorted(self.listed())
        return len(keys) > 0 and keys[-1] - keys[0] + 1 == len(keys)

    def _filtered(self, found: Reads, touched: NDArray[np.bool_]) -> Reads:
        """Return the reads of a lookup whose keys DuckDB takes for a filter: it does not of an `IN` with gaps."""
        key, columns = self.recipe.source.key, tuple(self.columns or self.recipe.source.columns)
        starts = np.unique(expected.places(self.recipe, self.listed()) // VECTOR_ROWS) * VECTOR_ROWS
        vectors = np.bincount(starts // self.recipe.effective_row_group_rows, minlength=len(touched))
        has_row = touched if self.recipe.effective_order == "key" else vectors > 0
        kept = [(0, 2) if has else (0,) for has in has_row]
        shape, gap_bytes, depth = expected.shape(self.recipe), self.engine.column_gap_bytes, self.window.depth
        told = filtered_reads(shape, found, columns, [key], kept, gap_bytes=gap_bytes, depth=depth)
        # where no row passes, nothing but the key is decoded
        rows = np.where(touched & ~has_row, found.rows // len(columns), found.rows)
        passed_rows = np.where(has_row, np.maximum(0, rows - VECTOR_ROWS * vectors), 0)
        return replace(told, keys=found.keys, rows=rows, passed_rows=passed_rows)

    def plan(self) -> Reads:
        """Return what `scan` does, kept: of a Parquet file for every device, so a slider of the device finds it ready.

        Which blocks of a native file are asked for again hangs on the device.
        """
        parquet = self.recipe.format == "parquet"
        asked = replace(
            self, device=_ANY_DEVICE if parquet else self.device, fragment_bytes=0, time_scale=1.0
        )
        return _scan(asked, store.is_built(self.recipe))

    def predict(self, costs: Costs) -> Timeline:
        """Return the schedule of the reads."""
        return self.scheduled(self.plan(), costs)

    def scheduled(self, reads: Reads, costs: Costs) -> Timeline:
        """Return the schedule of such reads. Of a native file no row group leaves a place that has to be cleared."""
        own = costs if self.recipe.format == "parquet" else replace(costs, clear_s=0.0)
        return simulate(self.device, reads, window=self.window, costs=own, fragment_bytes=self.fragment_bytes)

    # -- what DuckDB does ----------------------------------------------------------------------------
    def measure(self, *, repeats: int = 3) -> Sample:
        """Run it on the emulated device. Raises `Cancelled` when asked to stop."""
        self.build()
        return run_emulated(
            self.query(),
            self.device,
            self.engine,
            fragment_bytes=self.fragment_bytes,
            time_scale=self.time_scale,
            repeats=repeats,
            delayed_warm_ups=int(
                self.plan().probes.any()
            ),  # threads race for the reads between Bloom filters
        )

    def measure_here(self, *, cold: bool, repeats: int = 3) -> Sample:
        """Run it on this machine's own disk, with the page cache emptied first if `cold`."""
        self.build()
        return run_local(self.query(), self.engine, cold=cold, repeats=repeats)


_ANY_DEVICE = Device(name="any", latency_s=0.0, bandwidth_bytes_per_s=1e12)


@functools.lru_cache(maxsize=2048)
def _scan(case: Case, _built: bool) -> Reads:  # noqa: FBT001
    return case.scan()
