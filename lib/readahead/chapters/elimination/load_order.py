"""What an order of loading costs and what it saves: the load timed, and the thirteen queries on what was loaded."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

import duckdb
import numpy as np

from readahead import paths, published
from readahead.chapters.elimination import laws
from readahead.chapters.elimination.star_queries import BY_DATE, BY_YEAR, GENERATED, QUERIES
from readahead.chapters.elimination.workload import EXPERIMENT, IN_ORDER
from readahead.datasets import store
from readahead.datasets.build import literal, run_statement
from readahead.experiments.round import Study
from readahead.measure.run import Query, quoted, run_emulated
from readahead.measure.sample import Sample, Value
from readahead.running import quietly, tell

MONTH, YEAR = "Q1.2", "Q1.1"


# -- row groups ------------------------------------------------------------------------------------------
def share_modeled(study: Study, **changes: object) -> float:
    """Return the share of row groups that the model expects to be read."""
    case = EXPERIMENT.case(study.settings(**changes))
    return float(case.expected()) / case.recipe.row_groups


def share_measured(study: Study, **changes: object) -> float:
    """Return the share that DuckDB read, by its own profile."""
    sample = study.sample(**changes)
    return sample.row_groups_scanned / sample.row_groups_total


# -- thirteen queries ------------------------------------------------------------------------------------
_SUITES: WeakKeyDictionary[Study, dict[str, dict[str, Sample]]] = WeakKeyDictionary()


def thirteen(study: Study, load: str) -> dict[str, Sample]:
    """Return one run of each query of the benchmark, loaded in one order; made once for a study."""
    known = _SUITES.setdefault(study, {})
    if load not in known:
        found = {}
        for number, flight in enumerate(QUERIES):
            tell(number, len(QUERIES), f"{flight}, loaded {load}")
            settings = study.settings(flight=flight, load=load, disorder=IN_ORDER)
            with quietly():
                found[flight] = EXPERIMENT.measure(settings, repeats=1)
        known[load] = found
    return known[load]


def total_s(study: Study, load: str) -> float:
    """Return the seconds of all thirteen."""
    return sum(sample.median_s for sample in thirteen(study, load).values())


def shares(load: str) -> list[float]:
    """Return what each of the thirteen still reads of the table, if it reads where it has to and nowhere else."""
    return [flight.share(load) for flight in QUERIES.values()]


def left(load: str, q11_s: float | None = None) -> float:
    """Return what the thirteen together take of their time unsorted: each alike, or with Q1.1's time as printed."""
    weights = [1.0] * len(QUERIES)
    if q11_s is not None:
        others = (published.figure("elimination", "total_s.warm.unsorted").best - q11_s) / (len(QUERIES) - 1)
        weights = [q11_s if name == YEAR else others for name in QUERIES]
    return laws.share_left(weights, shares(load))


def gained(study: Study) -> float:
    """Return how many of the thirteen read fewer row groups by year than in the generator's order."""
    before, after = thirteen(study, GENERATED), thirteen(study, BY_YEAR)
    return float(sum(after[n].row_groups_scanned < before[n].row_groups_scanned for n in QUERIES))


# -- the size of a row group -----------------------------------------------------------------------------
def month(study: Study, row_group_rows: int) -> Sample:
    """Return the sample of a month of sorted rows."""
    return study.sample(flight=MONTH, load=BY_DATE, row_group_rows=row_group_rows)


def bytes_modeled(study: Study, row_group_rows: int) -> float:
    """Return the bytes of a month of sorted rows, footer included, from the file's exact reads."""
    settings = study.settings(flight=MONTH, load=BY_DATE, row_group_rows=row_group_rows)
    case = EXPERIMENT.case(settings)
    case.build()
    return float(case.predict(EXPERIMENT.costs(settings)).bytes_read)


# -- what order costs ------------------------------------------------------------------------------------
def load_s(study: Study, load: str) -> Value:
    """Return the seconds of writing the order lines again, as generated or in another order; the file is removed."""
    settings = study.settings()
    recipe = EXPERIMENT.case({**settings, "load": load, "disorder": IN_ORDER}).recipe
    source = store.path(replace(recipe, order="key"))
    by = recipe.source.orders.get(recipe.order, recipe.order)
    order = "" if load == GENERATED else f" ORDER BY {by}, {', '.join(recipe.source.unique)}"
    seen = []
    with _scratch() as folder, duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for _ in range(study.repeats):
            began = time.perf_counter()
            run_statement(
                connection,
                f"COPY (SELECT * FROM read_parquet({literal(source)}){order})"
                f" TO {literal(Path(folder) / 'loaded.parquet')}"
                f" (FORMAT parquet, ROW_GROUP_SIZE {recipe.effective_row_group_rows})",
                f"loading {load}",
                rows=recipe.rows,
            )
            seen.append(time.perf_counter() - began)
    return Value(median=float(np.median(seen)), low=min(seen), high=max(seen), repeats=len(seen))


def _scratch() -> tempfile.TemporaryDirectory[str]:
    paths.work_dir().mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=paths.work_dir(), prefix=f"loading-{os.getpid()}-")


# -- folders ---------------------------------------------------------------------------------------------
def in_folders(study: Study, *, named: bool) -> Sample:
    """Return Q1.1 over one folder a year, the year named or left to the join; the folders are removed."""
    settings = study.settings(flight=YEAR, load=GENERATED)
    case = EXPERIMENT.case(settings)
    source = case.build()
    with _scratch() as folder:
        with duckdb.connect() as connection:
            connection.execute("SET threads = 1")
            run_statement(
                connection,
                f"COPY (SELECT *, lo_orderdate // 10000 AS year FROM read_parquet({literal(source)}))"
                f" TO {literal(folder)}"
                " (FORMAT parquet, PARTITION_BY (year), OVERWRITE_OR_IGNORE,"
                f" ROW_GROUP_SIZE {case.recipe.effective_row_group_rows})",
                "one folder a year",
                rows=case.recipe.rows,
            )
        files = sorted(Path(folder).rglob("*.parquet"))
        listed = ", ".join(quoted(file, emulated=True) for file in files)
        sql = case.star_query.sql.replace("{table}", f"read_parquet([{listed}], hive_partitioning = true)")
        query = Query(
            sql=sql + (" AND year = 1993" if named else ""), path=files[0], setup=case.query().setup
        )
        return run_emulated(query, case.device, case.engine, repeats=study.repeats, facts=settings)


def folder_ratio(study: Study) -> float:
    """Return how many times the reads the query takes if the year is left to the join."""
    joined, named = in_folders(study, named=False), in_folders(study, named=True)
    return len(joined.reads) / len(named.reads)
