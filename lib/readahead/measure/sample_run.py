"""One query that reads every wanted column of a sample, run by DuckDB, and what the engine itself takes for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import duckdb

from readahead.datasets.build import literal
from readahead.datasets.metadata import identifier
from readahead.datasets.survey import Survey, survey
from readahead.datasets.tables import TABLES
from readahead.devices import Device
from readahead.errors import DataError
from readahead.measure import rewritten
from readahead.measure.calibrate import MEMORY, engine
from readahead.measure.engine import EngineSettings
from readahead.measure.run import Query, run_emulated, run_local
from readahead.measure.sample import Sample
from readahead.models import table_layout
from readahead.models.schedule import Costs
from readahead.models.table_layout import Workload
from readahead.storage import page_cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Runner:
    """Where a sample is measured: on an emulated device, or on this machine's own disk."""

    settings: EngineSettings
    here: bool = False
    repeats: int = 5
    facts: Mapping[str, object] = field(default_factory=dict)

    def measure(self, query: Query, device: Device) -> Sample:
        """Run the query, cold on the own disk where that can be."""
        return self._run(query, device, cold=page_cache.can_evict())

    def in_memory(self, query: Query) -> Sample:
        """Run the query with nothing to wait for."""
        return self._run(query, MEMORY, cold=False)

    def _run(self, query: Query, device: Device, *, cold: bool) -> Sample:
        often, facts = self.repeats, self.facts
        if self.here:
            return run_local(query, self.settings, cold=cold, repeats=often, facts=facts)
        return run_emulated(query, device, self.settings, repeats=often, facts=facts)


def guessed_costs(survey: Survey) -> Costs:
    """Return what the engine takes for these columns, from the tables calibrated on this machine.

    A row costs what lies on the line through the narrow table and the one with text, by compressed bytes a row.
    """
    narrow, wide = engine("comments_narrow").costs(), engine("comments").costs()
    thin, thick = (TABLES[name].bytes_per_row for name in ("comments_narrow", "comments"))
    here = survey.table.wanted_bytes / max(1, survey.table.rows)
    slope = max(0.0, wide.row_s - narrow.row_s) / (thick - thin)
    return replace(
        narrow, row_s=max(1e-9, narrow.row_s * min(1.0, here / thin), narrow.row_s + slope * (here - thin))
    )


CALIBRATED_ROWS = 122_880
"""Row groups large enough that a row's price is seen and not a group's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleCosts:
    """What the engine takes for a sample."""

    whole: Costs
    """For row groups of which every row is wanted: of a scan, or where the rows are sorted by the filter."""
    sieved: Costs
    """For row groups from which a filter picks rows here and there, so that less of a row need be unpacked."""

    def of(self, *, in_order: bool) -> Costs:
        """Return those for one order of the rows."""
        return self.whole if in_order else self.sieved


def calibrate(lies: Survey, workload: Workload, runner: Runner, filtered: str) -> SampleCosts:
    """Calibrate the engine on a third copy of the sample, in memory, with row groups of middling size.

    A row's price is set so that the schedule from memory takes what DuckDB takes; all else is as calibrated before.
    """
    known = guessed_costs(lies)
    path = lies.found.files[0].with_name("calibration.parquet")
    try:
        rewritten.write(lies, path, group_rows=CALIBRATED_ROWS, in_order=False, rows=lies.table.rows)
        again = survey(str(path), columns=lies.wanted, by=lies.by)
        whole = _row_price(again, Workload(), known, runner, "")
        sieved = (
            _row_price(again, replace(workload, place=0.5), known, runner, filtered) if filtered else whole
        )
    finally:
        path.unlink(missing_ok=True)
    return SampleCosts(whole=whole, sieved=sieved)


def _row_price(seen: Survey, workload: Workload, known: Costs, runner: Runner, filtered: str) -> Costs:
    aim = runner.in_memory(query(seen, seen.found.files[0], filtered)).median_s
    plan = table_layout.today(seen.table, workload)
    at = table_layout.window(runner.settings.queue_depth, runner.settings.threads)
    low, high = 0.0, 1e-3
    for _ in range(50):
        middle = (low + high) / 2
        took = table_layout.seconds(plan, MEMORY, at, replace(known, row_s=middle))
        low, high = (middle, high) if took < aim else (low, middle)
    return replace(known, row_s=max(1e-10, high))


def query(lies: Survey, path: Path, clause: str) -> Query:
    """Return a query that reads every wanted column and cannot be answered from metadata."""
    listed = ", ".join(identifier(name) for name in lies.wanted)
    if "{table}" in listed + clause:
        raise DataError("A column is called '{table}', which runners for the file here. Rename it in a copy.")
    return Query(
        sql=f"SELECT bit_xor(hash({listed})), count(*) FROM {{table}}{clause}",
        path=path,
    )


def clause(lies: Survey, workload: Workload) -> str:
    """Return the filter in SQL, its values taken from the sample itself. Raises `DataError` if it has none to take."""
    if not workload.filters:
        return ""
    by, path = rewritten.column(lies), literal(lies.found.files[0])
    low, high = 0.5 - workload.selectivity / 2, 0.5 + workload.selectivity / 2
    if workload.keys:
        sql = f"SELECT DISTINCT {by}::VARCHAR, typeof({by}) FROM (SELECT * FROM read_parquet({path}) USING SAMPLE"
        sql += f" reservoir({workload.keys} ROWS) REPEATABLE (1))"
    else:
        sql = f"SELECT unnest(quantile_disc({by}, [{low}, {high}]))::VARCHAR, any_value(typeof({by}))"
        sql += f" FROM read_parquet({path})"
    try:
        with duckdb.connect() as connection:
            found = connection.execute(sql).fetchall()
    except duckdb.Error as error:
        first = str(error).splitlines()[0].rstrip(".")
        raise DataError(
            f"Column {lies.by!r} cannot be filtered by: {first}. Give another with --by."
        ) from error
    values = [f"CAST({literal(text)} AS {kind})" for text, kind in found if text is not None]
    if not values:
        raise DataError(
            f"Column {lies.by!r} of the sample holds no values to filter by. Give another with --by."
        )
    if workload.keys:
        return f" WHERE {by} IN ({', '.join(values)})"
    return f" WHERE {by} BETWEEN {values[0]} AND {values[-1]}"
