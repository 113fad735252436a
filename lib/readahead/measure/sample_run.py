"""Writes the first rows of a table to a folder for a while, as they lie and in other layouts, and measures one query.

The table itself is only read. What the engine takes for the sample is calibrated on a copy of it in memory.
"""

from __future__ import annotations

import glob
import os
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from readahead import units
from readahead.datasets import store
from readahead.datasets.build import IN_ORDER, explained, literal
from readahead.datasets.survey import Survey, attach, escaped, identifier, survey
from readahead.datasets.tables import TABLES
from readahead.devices import Device
from readahead.errors import DataError
from readahead.measure.calibrate import MEMORY, engine
from readahead.measure.run import EngineSettings, Query, run_emulated, run_local
from readahead.measure.sample import Sample
from readahead.models.schedule import Costs
from readahead.models.table_layout import VECTOR_ROWS, Case, Layout, Workload
from readahead.running import check, interrupts
from readahead.storage import page_cache
from readahead.units import MiB

MOST_BYTES = 64 * MiB
MOST_ROWS = 2_000_000
MOST_UNPACKED_BYTES = 512 * MiB
"""Of the rows that are unpacked at once, which DuckDB does not count into its limit."""
MEMORY_LIMIT = "1GB"
"""What DuckDB may use to write a sample."""
CALIBRATED_ROWS = 122_880
"""Row groups large enough that a row's price is seen and not a group's."""


def sample_rows(survey: Survey) -> int:
    """Return how many rows a sample has: at most `MOST_ROWS`, of at most `MOST_BYTES`."""
    width = sum(width for _, width in survey.table.widths)
    return int(max(1, min(survey.table.rows, MOST_ROWS, MOST_BYTES / max(width, 1e-9))))


def _require_narrow(survey: Survey) -> None:
    """Raise `DataError` for rows of which DuckDB cannot hold as many as it unpacks at once."""
    packed = sum(column.size_bytes for column in survey.columns)
    raw = sum(max(column.raw_bytes, column.size_bytes) for column in survey.columns)
    row_bytes = sum(width for _, width in survey.table.widths) * raw / max(1, packed)
    need = row_bytes * min(VECTOR_ROWS, survey.table.rows)
    if need > MOST_UNPACKED_BYTES:
        raise DataError(
            f"A row of {survey.asked} has {units.text(row_bytes, 'bytes')}, and DuckDB unpacks {VECTOR_ROWS:,} at once:"
            f" more than the {units.text(MOST_UNPACKED_BYTES, 'bytes')} a sample may take. Advise without --verify."
        )


def guessed_costs(survey: Survey) -> Costs:
    """Return what the engine takes for these columns, from the tables calibrated on this machine.

    A row costs what lies on the line through the narrow table and the one with text, by compressed bytes a row.
    """
    narrow, wide = engine("comments_narrow").costs(), engine("comments").costs()
    thin, thick = (TABLES[name].bytes_per_row for name in ("comments_narrow", "comments"))
    here = survey.table.wanted_bytes / max(1, survey.table.rows)
    slope = max(0.0, wide.row_s - narrow.row_s) / (thick - thin)
    row_s = max(1e-9, narrow.row_s * min(1.0, here / thin), narrow.row_s + slope * (here - thin))
    return replace(narrow, row_s=row_s, first_row_s=0.0)


# -- the sample's files ----------------------------------------------------------------------------------
@contextmanager
def folder_beside(survey: Survey) -> Iterator[Path]:
    """Make a folder for a sample beside the original, or in the cache where that cannot be; remove it afterwards.

    Raises `DataError` if there is no room.
    """
    parent: Path | None = survey.found.files[0].parent
    if glob.has_magic(str(parent)) or not os.access(str(parent), os.W_OK):
        parent = None
    with store.work_folder("sample", parent) as folder:
        advice = "Make room, or advise without --verify."
        store.require_room("A sample", 4 * MOST_BYTES, folder.parent, advice)
        yield folder


def _write(survey: Survey, target: Path, layout: Layout, rows: int) -> Path:
    """Write the first rows as one Parquet file.

    Raises `Cancelled` when asked to stop, `DataError` if DuckDB cannot read or write it.
    """
    group_rows = max(VECTOR_ROWS, -(-layout.rows // VECTOR_ROWS) * VECTOR_ROWS)
    order = f" ORDER BY {_filtered_by(survey)}" if layout.in_order else ""
    check()
    told = explained(f"No sample of {survey.asked} can be written", "Advise without --verify.")
    with told, duckdb.connect() as connection, interrupts(connection.interrupt):
        connection.execute(IN_ORDER)
        connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        connection.execute(f"SET temp_directory = {literal(target.parent / 'spill')}")
        if survey.found.kind == "parquet":
            source = f"read_parquet([{', '.join(literal(escaped(file)) for file in survey.found.files)}])"
        else:
            attach(connection, survey.found.files[0])
            source = f"file.{identifier(survey.schema_name)}.{identifier(survey.table_name)}"
        connection.execute(
            f"COPY (SELECT * FROM (SELECT * FROM {source} LIMIT {rows}){order})"
            f" TO {literal(target)} (FORMAT parquet, ROW_GROUP_SIZE {group_rows})"
        )
    return target


def _filtered_by(survey: Survey) -> str:
    """Return the column that is filtered by, or a field of one, as SQL."""
    return ".".join(identifier(part) for part in survey.named(survey.by).path)


def clause(lies: Survey, workload: Workload) -> str:
    """Return the filter in SQL, its values taken from the sample itself. Raises `DataError` if it has none to take."""
    if not workload.filters:
        return ""
    by, path = _filtered_by(lies), literal(lies.found.files[0])
    low, high = 0.5 - workload.selectivity / 2, 0.5 + workload.selectivity / 2
    if workload.keys:
        sql = f"SELECT DISTINCT {by}::VARCHAR, typeof({by}) FROM (SELECT * FROM read_parquet({path}) USING SAMPLE"
        sql += f" reservoir({workload.keys} ROWS) REPEATABLE (1))"
    else:
        sql = f"SELECT unnest(quantile_disc({by}, [{low}, {high}]))::VARCHAR, any_value(typeof({by}))"
        sql += f" FROM read_parquet({path})"
    what = f"Column {lies.by!r} cannot be filtered by"
    with explained(what, "Give another with --by."), duckdb.connect() as connection:
        found = connection.execute(sql).fetchall()
    values = [f"CAST({literal(text)} AS {kind})" for text, kind in found if text is not None]
    if not values:
        raise DataError(
            f"Column {lies.by!r} of the sample holds no values to filter by. Give another with --by."
        )
    if workload.keys:
        return f" WHERE {by} IN ({', '.join(values)})"
    return f" WHERE {by} BETWEEN {values[0]} AND {values[-1]}"


# -- its measurements ------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class TableSample:
    """The first rows of a table in a folder of their own, and how a query of them is run."""

    lies: Survey
    """Of the file in which they lie in today's order and row groups."""
    workload: Workload
    clause: str
    """The filter in SQL."""
    settings: EngineSettings
    here: bool
    """Whether it is measured on this machine's own disk, and not on an emulated device."""
    repeats: int

    def write(self, layout: Layout) -> Path:
        """Return a file of the same rows in another layout, written anew."""
        lies = self.lies.found.files[0]
        if not layout.rows:
            return lies
        return _write(self.lies, lies.with_name("changed.parquet"), layout, self.lies.table.rows)

    def measure(self, path: Path, device: Device) -> Sample:
        """Run the query on one of its files, cold on the own disk where that can be."""
        return self._run(path, self.clause, device, cold=page_cache.can_evict())

    def _run(self, path: Path, clause: str, device: Device, *, cold: bool) -> Sample:
        """Run a query that reads every wanted column and cannot be answered from metadata."""
        listed = ", ".join(identifier(name) for name in self.lies.wanted)
        if "{table}" in listed + clause:
            raise DataError(
                "A column is called '{table}', which stands for the file here. Rename it in a copy."
            )
        query = Query(sql=f"SELECT bit_xor(hash({listed})), count(*) FROM {{table}}{clause}", path=path)
        if self.here:
            return run_local(query, self.settings, cold=cold, repeats=self.repeats)
        return run_emulated(query, device, self.settings, repeats=self.repeats)

    def calibrate(self) -> dict[bool, Costs]:
        """Return what the engine takes for a row group of which every row is wanted (True), and for one from which the
        filter picks rows here and there (False), so that less of a row need be unpacked.

        Taken from a third copy, in memory, with row groups of a medium size. A row's price is set so that the schedule
        from memory takes what DuckDB takes; all else is as calibrated before.
        """
        known = guessed_costs(self.lies)
        path = self.write(Layout(rows=CALIBRATED_ROWS))
        try:
            again = survey(str(path), columns=self.lies.wanted, by=self.lies.by)
            whole = self._row_price(again, Workload(), known, "")
            filtered = self._row_price(again, self.workload, known, self.clause) if self.clause else whole
            return {True: whole, False: filtered}
        finally:
            path.unlink(missing_ok=True)

    def _row_price(self, seen: Survey, workload: Workload, known: Costs, clause: str) -> Costs:
        """Return the costs with a row's price found by bisection."""
        aim = self._run(seen.found.files[0], clause, MEMORY, cold=False).median_s
        settings = self.settings
        case = Case(
            table=seen.table, workload=workload, device=MEMORY, costs=known,
            queue_depth=settings.queue_depth, threads=settings.threads,
        )  # fmt: skip

        def seconds(row_ps: int) -> float:
            return replace(case, costs=replace(known, row_s=1e-12 * row_ps)).seconds()

        return replace(known, row_s=1e-12 * max(100, bisect_left(range(10**9), aim, key=seconds)))


@contextmanager
def sample_of(
    seen: Survey,
    workload: Workload,
    settings: EngineSettings,
    *,
    here: bool = False,
    repeats: int = 5,
) -> Iterator[TableSample]:
    """Write a bounded sample of a table as it lies, and remove it with all that was made of it.

    The filter lies in the middle of its column. Raises `Cancelled` when asked to stop, `DataError` if the sample
    cannot be written or has nothing to filter by.
    """
    _require_narrow(seen)
    with folder_beside(seen) as folder:
        today = Layout(rows=seen.table.usual_rows)
        path = _write(seen, folder / "as-it-lies.parquet", today, sample_rows(seen))
        lies = survey(str(path), columns=seen.wanted, by=seen.by)
        middle = replace(workload, place=0.5)
        yield TableSample(
            lies=lies, workload=middle, clause=clause(lies, middle), settings=settings, here=here,
            repeats=repeats,
        )  # fmt: skip
