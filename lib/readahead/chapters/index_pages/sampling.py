"""A spoon in the soup. Whether one spoonful tells how the pot tastes depends on whether it was stirred; and how long it
takes to fill the spoon depends on whether one may ask for all of it at once.

DuckDB's own ways to see a part of a table: its metadata, row groups chosen by their numbers, TABLESAMPLE, all rows;
and how good the answer from a part is.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from readahead.chapters.index_pages import laws as arithmetic
from readahead.datasets import expected, inspect, store
from readahead.datasets.recipe import ROW_GROUP_HIGH, VECTOR_ROWS, Recipe
from readahead.experiments.experiment import Settings
from readahead.experiments.scanning import Scanning
from readahead.measure import calibrate
from readahead.measure.case import Case
from readahead.measure.run import Query, run_emulated
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.models.native_reads import block_reads
from readahead.models.schedule import Costs, Timeline, Window, simulate
from readahead.units import KiB

METADATA, CHOSEN = "DuckDB: metadata", "DuckDB: chosen row groups"
TABLESAMPLE, TABLE = "DuckDB: TABLESAMPLE", "DuckDB: all rows"
TABLE_WAYS = (METADATA, CHOSEN, TABLESAMPLE, TABLE)
PARQUET, NATIVE = "Parquet", "DuckDB's own"
IN_ORDER, SHUFFLED = "by time", "shuffled"
COLUMNS = ("creation_date", "score")
GROUPS, BLOCK_BYTES, NATIVE_ROWS = 128, 64 * KiB, 122_880
"""Row groups of the Parquet file; blocks and rows in a row group of the native one, which are DuckDB's own."""
SEED = 7
_FIRST_SECONDS, _SECONDS_A_ROW = 1_800, 5
"""Comments lie five seconds apart, each up to an hour late."""


class Sampling(Scanning):
    """The common bench with DuckDB's ways to see a part of a table."""

    def native(self, settings: Settings) -> bool:
        """Return whether the table is a DuckDB file; metadata and chosen row groups are those of a Parquet file."""
        return bool(settings["way"] in (TABLESAMPLE, TABLE) and settings["stored"] == NATIVE)

    def case(self, settings: Settings) -> Case:
        """Return the table, and a query that asks which share of its rows is from the first half of the time."""
        case = super().case(settings)
        source, size = case.recipe.source, case.recipe.size
        rows = min(2 ** round(np.log2(source.rows[size] / GROUPS)), ROW_GROUP_HIGH)
        native = self.native(settings)
        recipe = Recipe(
            table=source.name,
            size=size,
            format="native" if native else "parquet",
            order="shuffled" if settings["order"] == SHUFFLED else "key",
            row_group_rows=NATIVE_ROWS if native else rows,
            block_bytes=BLOCK_BYTES,
        )
        return replace(case, recipe=recipe, columns=COLUMNS)

    def chosen(self, settings: Settings) -> list[int]:
        """Return the row groups drawn at random: two or more, or nothing could be said of their spread."""
        groups = self.case(settings).recipe.row_groups
        count = min(groups, max(2, round(settings["sample_share"] * groups)))
        return sorted(random.Random(SEED).sample(range(groups), count))

    def cluster_rows(self, settings: Settings) -> int:
        """Return how many rows are drawn together: a row group, or for TABLESAMPLE a vector."""
        way = settings["way"]
        return self.case(settings).recipe.effective_row_group_rows if way == CHOSEN else VECTOR_ROWS

    def query(self, settings: Settings) -> Query:
        """Return the query, for a file that is built; it returns rows and early rows of each cluster, as lists."""
        case, way = self.case(settings), settings["way"]
        path = store.location(case.recipe)
        if way == METADATA:
            return Query(
                sql="SELECT count(*), min(creation_date), max(creation_date) FROM {table}", path=path
            )
        row = "rowid" if self.native(settings) else "file_row_number"
        size, where, sample = self.cluster_rows(settings), "", ""
        if way == CHOSEN:
            parts = [f"{row} BETWEEN {g * size} AND {(g + 1) * size - 1}" for g in self.chosen(settings)]
            where = f" WHERE {' OR '.join(parts)}"
        if way == TABLESAMPLE:
            sample = f" TABLESAMPLE SYSTEM ({100 * settings['sample_share']:g} PERCENT) REPEATABLE ({SEED})"
        half = case.recipe.rows * _SECONDS_A_ROW // 2 + _FIRST_SECONDS
        early = f"sum((creation_date < TIMESTAMP '2008-08-01' + to_seconds({half}))::INTEGER)"
        inner = (
            f"SELECT {row} // {size} AS c, count(*) AS n, {early} AS early, sum(score) AS score"
            f" FROM {{table}}{where}{sample} GROUP BY c"
        )
        sql = f"SELECT list(n ORDER BY c), list(early ORDER BY c), sum(score) FROM ({inner})"
        return Query(sql=sql, path=path)

    def timeline(self, settings: Settings, costs: Costs) -> Timeline:
        """Return the schedule of DuckDB's exact reads, for a file that is built."""
        case, way = self.case(settings), settings["way"]
        if self.native(settings):
            path = store.location(case.recipe)
            near = replace(costs, open_s=0.0, open_group_s=0.0)
            if way == TABLE:
                found = inspect.blocks(path, COLUMNS)
                blocks, rows, window = [b for _, b in found], [n for n, _ in found], case.window
            else:  # vector by vector: nothing is asked for before the last one is done
                every = inspect.vectors(path, COLUMNS)
                drawn = inspect.sampled(path, 100 * settings["sample_share"], SEED)
                blocks, rows = [every[vector] for vector in drawn], [VECTOR_ROWS] * len(drawn)
                window = Window(slots=len(COLUMNS), depth=1, threads=1)
            spans = block_reads(blocks, BLOCK_BYTES, ahead=True, depth=window.depth)
            return simulate(case.device, [], spans, rows, window=window, costs=near)
        reads = case.scan()
        groups, counts = reads.groups, reads.rows
        if way == METADATA:
            groups, counts = [], []
        elif way == CHOSEN:
            chosen = set(self.chosen(settings))
            groups = [own if number in chosen else [] for number, own in enumerate(groups)]
        return simulate(case.device, reads.footer, groups, counts, window=case.window, costs=costs)

    # -- the sources ---------------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the exact reads, of a file that is built first, as named terms."""
        case, costs = self.case(settings), self.costs(settings)
        case.build()
        told = self.timeline(settings, costs)
        parts = {
            "latency": told.reads * case.device.latency_s,
            "transfer": told.bytes_read
            / min(case.device.channel_bandwidth_bytes_per_s, case.device.bandwidth_bytes_per_s),
            "engine": told.reads * costs.read_s,
        }
        after_s = max(0.0, told.finished_s - told.arrived_s)
        scale = told.arrived_s / (sum(parts.values()) or 1.0)
        terms_s = {name: value * scale for name, value in parts.items()}
        if not told.reads:
            terms_s["engine"] = told.arrived_s
        return Estimate(
            terms_s={**terms_s, "cpu": after_s}, overlapped_s={"cpu": max(0.0, told.decode_s - after_s)}
        )

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the query in DuckDB on the emulated device."""
        case = self.case(settings)
        calibrate.engine(case.recipe.table).ensure()
        case.build()
        return run_emulated(self.query(settings), case.device, case.engine, repeats=repeats, facts=settings)

    def work(self, settings: Settings) -> float:
        """Return the bytes that somebody wants of the table: a share of it."""
        case = self.case(settings)
        if settings["way"] == METADATA:
            return float(expected.shape(case.recipe).footer_bytes)
        whole = case.recipe.rows * case.recipe.source.bytes_per_row
        return float(whole * (1 if settings["way"] == TABLE else settings["sample_share"]))

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say which knobs do nothing now, and why."""
        way, reasons = settings["way"], super().disabled(settings)
        if way in (METADATA, TABLE):
            reasons["sample_share"] = "Nothing is sampled."
        if way in (METADATA, CHOSEN):
            reasons["stored"] = "Row groups and their footer are those of the Parquet file."
        return reasons


def quantile(groups: int) -> float:
    """Return Student's t for a two-sided interval of 95 % from so many groups."""
    from scipy.stats import t

    return float(t.ppf(0.975, groups - 1)) if groups > 1 else float("inf")


def half_width(sample: Sample, of_groups: int) -> tuple[float, float]:
    """Return (share of early rows, half the width of its interval) that a sample of DuckDB's clusters gives."""
    rows, early = (list(part or []) for part in sample.answer[:2])  # type: ignore[call-overload]
    return arithmetic.share_in(rows, early, of_groups=of_groups, quantile=quantile(len(rows)))
