"""DuckDB's own ways to see a part of a table: its metadata, row groups chosen by number, TABLESAMPLE, all rows."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from readahead.chapters.index_pages.laws import share_of
from readahead.datasets import expected, inspect, store
from readahead.datasets.recipe import VECTOR_ROWS
from readahead.devices import device
from readahead.measure.case import Case
from readahead.measure.run import Query
from readahead.measure.sample import Sample
from readahead.models.reads import Reads, block_reads
from readahead.models.schedule import Costs, Window
from readahead.units import KiB

METADATA, CHOSEN, TABLESAMPLE, TABLE = "metadata", "chosen", "tablesample", "table"
TABLE_WAYS = {
    METADATA: "DuckDB: metadata",
    CHOSEN: "DuckDB: chosen row groups",
    TABLESAMPLE: "DuckDB: TABLESAMPLE",
    TABLE: "DuckDB: all rows",
}
PARQUET, NATIVE = "parquet", "native"
STORED = {PARQUET: "Parquet", NATIVE: "DuckDB's own"}
IN_ORDER, SHUFFLED = "key", "shuffled"
ORDERS = {IN_ORDER: "by time", SHUFFLED: "shuffled"}
"""The comments' key rises with time."""
COLUMNS = ("creation_date", "score")
GROUPS, BLOCK_BYTES, NATIVE_ROWS = 128, 64 * KiB, 122_880
"""Row groups of the Parquet file; blocks and rows in a row group of the native one, which are DuckDB's own."""
SEED = 7
_FIRST_SECONDS, _SECONDS_A_ROW = 1_800, 5
"""Comments lie five seconds apart, each up to an hour late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCase(Case):
    """A query for the share of rows from the first half of the time, asked of a part of the table."""

    way: str
    """One of `TABLE_WAYS`."""
    sample_share: float
    """Of the row groups (CHOSEN) or of the rows (TABLESAMPLE)."""

    @property
    def native(self) -> bool:
        """Return whether the table is a DuckDB file."""
        return self.recipe.format == NATIVE

    @property
    def one_by_one(self) -> bool:
        """Return whether DuckDB asks for nothing before it is done with the last vector: a sample of its own format."""
        return self.native and self.way == TABLESAMPLE

    def chosen(self) -> list[int]:
        """Return the row groups drawn at random: two or more, or nothing could be said of their spread."""
        groups = self.recipe.row_groups
        count = min(groups, max(2, round(self.sample_share * groups)))
        return sorted(random.Random(SEED).sample(range(groups), count))

    @property
    def cluster_rows(self) -> int:
        """Return how many rows are drawn together: a row group, or for TABLESAMPLE a vector."""
        return self.recipe.effective_row_group_rows if self.way == CHOSEN else VECTOR_ROWS

    @property
    def bytes_wanted(self) -> float:
        """Return the bytes that somebody wants of the table: its metadata, all rows, or a share of them."""
        if self.way == METADATA:
            return expected.shape(self.recipe).footer_bytes
        share = 1 if self.way == TABLE else self.sample_share
        return self.recipe.rows * self.recipe.source.bytes_per_row * share

    def query(self) -> Query:
        """Return the query, for a file that is built; it returns rows and early rows of each cluster, as lists."""
        path, metadata = store.location(self.recipe), "count(*), min(creation_date), max(creation_date)"
        if self.way == METADATA:
            return Query(sql=f"SELECT {metadata} FROM {{table}}", path=path)
        row = "rowid" if self.native else "file_row_number"
        size = self.cluster_rows
        chosen = " OR ".join(f"{row} BETWEEN {g * size} AND {(g + 1) * size - 1}" for g in self.chosen())
        percent = f"{100 * self.sample_share:g} PERCENT"
        part = {
            CHOSEN: f" WHERE {chosen}",
            TABLESAMPLE: f" TABLESAMPLE SYSTEM ({percent}) REPEATABLE ({SEED})",
        }.get(self.way, "")
        half = self.recipe.rows * _SECONDS_A_ROW // 2 + _FIRST_SECONDS
        early = f"sum((creation_date < TIMESTAMP '2008-08-01' + to_seconds({half}))::INTEGER)"
        sql = (
            "SELECT list(n ORDER BY c), list(early ORDER BY c), sum(score) FROM ("
            f"SELECT {row} // {size} AS c, count(*) AS n, {early} AS early, sum(score) AS score"
            f" FROM {{table}}{part} GROUP BY c)"
        )
        return Query(sql=sql, path=path)

    # -- what the model says -------------------------------------------------------------------------
    def scan(self) -> Reads:
        """Return the exact reads, of a file that is built first if need be."""
        path = self.build()
        if self.native:
            return self._native_reads(path)
        whole = expected.reads(self.recipe, COLUMNS, self.engine.column_gap_bytes)
        if self.way == METADATA:
            return whole.first(0)
        if self.way == CHOSEN:
            return whole.only(np.isin(np.arange(len(whole.rows)), self.chosen()))
        return whole

    def _native_reads(self, path: Path) -> Reads:
        if self.one_by_one:
            every = inspect.vectors(path, COLUMNS)
            drawn = inspect.sampled(path, 100 * self.sample_share, SEED)
            blocks, rows = [every[vector] for vector in drawn], [VECTOR_ROWS] * len(drawn)
        else:
            found = inspect.blocks(path, COLUMNS)
            blocks, rows = [b for _, b in found], [n for n, _ in found]
        depth = 1 if self.one_by_one else self.window.depth
        return Reads.of([], block_reads(blocks, BLOCK_BYTES, ahead=True, depth=depth), rows)

    def _scheduled(self, costs: Costs) -> dict[str, Any]:
        """Return what the schedule is asked about; a native file is attached before the clock runs."""
        told = Case._scheduled(self, replace(costs, open_s=0.0, open_group_s=0.0) if self.native else costs)
        return told | {"window": Window(slots=len(COLUMNS), depth=1, threads=1)} if self.one_by_one else told

    # -- what the answer is worth --------------------------------------------------------------------
    def early_share(self, sample: Sample) -> tuple[float, float]:
        """Return (share of early rows, half the width of its interval) that the clusters of a sample give."""
        rows, early = (list(part or []) for part in sample.answer[:2])  # type: ignore[call-overload]
        return share_of(rows, early, of_groups=self.recipe.rows // self.cluster_rows)


def part_case(plain: Case, settings: Mapping[str, Any]) -> PartCase:
    """Return what DuckDB is asked for; metadata and chosen row groups are those of a Parquet file."""
    way, share, whole = settings["way"], settings["sample_share"], plain.recipe
    stored = PARQUET if way in (METADATA, CHOSEN) else settings["stored"]
    rows = NATIVE_ROWS if stored == NATIVE else 2 ** round(np.log2(whole.source.rows[whole.size] / GROUPS))
    recipe = replace(
        whole, format=stored, order=settings["order"], row_group_rows=rows, block_bytes=BLOCK_BYTES
    )
    return PartCase(recipe=recipe, device=plain.device, engine=plain.engine, way=way, sample_share=share)


_STORE = device("object-store")


def table(way: str, **more: Any) -> dict[str, Any]:
    """Return the knobs of DuckDB on an object store, with a window that suits it."""
    return {
        "device": _STORE.name, "latency_s": _STORE.latency_s, "channels": _STORE.channels,
        "bandwidth_bytes_per_s": _STORE.bandwidth_bytes_per_s, "queue_depth": 32, "way": way, **more,
    }  # fmt: skip


SAMPLE, WHOLE = table(TABLESAMPLE), table(TABLE)
NATIVE_SAMPLE, NATIVE_WHOLE = table(TABLESAMPLE, stored=NATIVE), table(TABLE, stored=NATIVE)
