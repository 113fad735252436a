"""The read that never happens: the Star Schema Benchmark loaded in one order and another, as MariaDB ran it and as
DuckDB runs it here."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

import duckdb
import numpy as np

from readahead import devices, paths, published
from readahead.datasets import store
from readahead.datasets.build import literal
from readahead.datasets.work import Work
from readahead.experiments.eliminating import (
    DISORDER,
    FLIGHT,
    IN_ORDER,
    LOAD,
    TABLE,
    Eliminating,
    recipe_of,
)  # fmt: skip
from readahead.experiments.flights import BY_DATE, BY_QUANTITY, BY_YEAR, FLIGHTS, GENERATED
from readahead.experiments.in_print import against_print
from readahead.experiments.knobs import knob
from readahead.experiments.picture import Axis, Line, Picture, Traces
from readahead.experiments.round import Bench, Round, traces
from readahead.measure.engine import quoted
from readahead.measure.events import tell
from readahead.measure.run import Query, run_emulated
from readahead.measure.sample import Sample
from readahead.measure.value import Value, value
from readahead.models import elimination
from readahead.published import Figure

_VOLUME = devices.device("cloud-volume")

EXPERIMENT = Eliminating(
    topic="elimination",
    title="Elimination: which row groups are read at all",
    knobs=(
        LOAD,
        FLIGHT,
        DISORDER,
        knob(
            "row_group_rows",
            default=8_192,
            high=131_072,
            steps=(2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072),
        ),
        knob("device", default=_VOLUME.name),
        knob("latency_s", default=_VOLUME.latency_s, folded=True),
        knob("bandwidth_bytes_per_s", default=_VOLUME.bandwidth_bytes_per_s),
        knob("channels", default=_VOLUME.channels),
        knob("queue_depth"),
        knob("size", default="tiny"),
    ),
    fixed={"dataset": TABLE, "threads": 1},
)
MONTH, YEAR = "Q1.2", "Q1.1"
LATE = 0.1
"""The disorder of the second round."""
DISORDERS = (IN_ORDER, 0.01, 0.03, 0.1, 0.3)


# -- row groups ------------------------------------------------------------------------------------------
def share_modeled(bench: Bench, **changes: object) -> float:
    """Return the share of row groups that the model expects to be read."""
    case = EXPERIMENT.case(bench.settings(**changes))
    return float(case.expected()) / case.recipe.row_groups


def share_measured(bench: Bench, **changes: object) -> float:
    """Return the share that DuckDB read, by its own profile."""
    sample = bench.sample(**changes)
    return sample.row_groups_scanned / sample.row_groups_total


def _share_of(**changes: object) -> Round:
    return Round(
        model=lambda bench: share_modeled(bench, **changes),
        measured=lambda bench: share_measured(bench, **changes),
    )


# -- thirteen queries ------------------------------------------------------------------------------------
_SUITES: WeakKeyDictionary[Bench, dict[str, dict[str, Sample]]] = WeakKeyDictionary()


def thirteen(bench: Bench, load: str) -> dict[str, Sample]:
    """Return one run of each query of the benchmark, loaded in one order; made once for a bench."""
    known = _SUITES.setdefault(bench, {})
    if load not in known:
        on_event, stop = bench.ears
        found = {}
        for number, flight in enumerate(FLIGHTS):
            tell(on_event, number, len(FLIGHTS), f"{flight}, loaded {load}")
            settings = bench.settings(flight=flight, load=load, disorder=IN_ORDER)
            found[flight] = EXPERIMENT.measure(settings, stop=stop, repeats=1)
        known[load] = found
    return known[load]


def total_s(bench: Bench, load: str) -> float:
    """Return the seconds of all thirteen."""
    return sum(sample.median_s for sample in thirteen(bench, load).values())


def shares(load: str) -> list[float]:
    """Return what each of the thirteen still reads of the table, if it reads where it has to and nowhere else."""
    return [flight.share(load) for flight in FLIGHTS.values()]


def left(load: str, q11_s: float | None = None) -> float:
    """Return what the thirteen together take of their time unsorted: each alike, or with Q1.1's time as printed."""
    weights = [1.0] * len(FLIGHTS)
    if q11_s is not None:
        others = (published.figure("elimination", "total_s.warm.unsorted").best - q11_s) / (len(FLIGHTS) - 1)
        weights = [q11_s if name == YEAR else others for name in FLIGHTS]
    return elimination.share_left(weights, shares(load))


def gained(bench: Bench) -> float:
    """Return how many of the thirteen read fewer row groups by year than in the generator's order."""
    before, after = thirteen(bench, GENERATED), thirteen(bench, BY_YEAR)
    return float(sum(after[n].row_groups_scanned < before[n].row_groups_scanned for n in FLIGHTS))


def _printed(name: str) -> Figure:
    return published.figure("elimination", f"total_s.{name}")


# -- the size of a row group -----------------------------------------------------------------------------
def _month(bench: Bench, row_group_rows: int) -> Sample:
    return bench.sample(flight=MONTH, load=BY_DATE, row_group_rows=row_group_rows)


def _bytes_modeled(bench: Bench, row_group_rows: int) -> float:
    """Return the bytes of a month of sorted rows, footer included, from the file's exact reads."""
    settings = bench.settings(flight=MONTH, load=BY_DATE, row_group_rows=row_group_rows)
    case = EXPERIMENT.case(settings)
    case.build(*bench.ears)
    return float(case.predict(EXPERIMENT.costs(settings)).bytes_read)


# -- what order costs ------------------------------------------------------------------------------------
def load_s(bench: Bench, load: str) -> Value:
    """Return the seconds of writing the order lines again, as they lie or in another order; the file is removed."""
    on_event, stop = bench.ears
    settings = bench.settings()
    source = store.path(recipe_of(settings, GENERATED), lambda d, t, note: tell(on_event, d, t, note), stop)
    recipe = recipe_of(settings, load)
    by = recipe.source.orders.get(recipe.order, recipe.order)
    order = "" if load == GENERATED else f" ORDER BY {by}, {', '.join(recipe.source.unique)}"
    work, seen = Work(recipe.rows, lambda d, t, note: tell(on_event, d, t, note), stop), []
    with _scratch() as folder, duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        for _ in range(bench.repeats):
            began = time.perf_counter()
            work.query(
                connection,
                f"COPY (SELECT * FROM read_parquet({literal(source)}){order})"
                f" TO {literal(Path(folder) / 'loaded.parquet')}"
                f" (FORMAT parquet, ROW_GROUP_SIZE {recipe.effective_row_group_rows})",
                f"loading {load}",
            )
            seen.append(time.perf_counter() - began)
    return Value(median=float(np.median(seen)), low=min(seen), high=max(seen), repeats=len(seen))


def pays(bench: Bench) -> Value:
    """Return after how many month queries the load by date has earned what it took longer than the plain one."""
    more_s = load_s(bench, BY_DATE).median - load_s(bench, GENERATED).median
    slow, fast = (bench.measured.seconds(flight=MONTH, load=load).median for load in (GENERATED, BY_DATE))
    return value(max(elimination.pays_after(max(more_s, 1e-6), slow, fast), 1e-3))


def _scratch() -> tempfile.TemporaryDirectory[str]:
    paths.cache_dir().mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(dir=paths.cache_dir(), prefix="loading-")


# -- folders ---------------------------------------------------------------------------------------------
def in_folders(bench: Bench, *, named: bool) -> Sample:
    """Return Q1.1 over one folder a year, the year named or left to the join; the folders are removed."""
    on_event, stop = bench.ears
    settings = bench.settings(flight=YEAR, load=GENERATED)
    case = EXPERIMENT.case(settings)
    source = case.build(on_event, stop)
    work = Work(case.recipe.rows, lambda d, t, note: tell(on_event, d, t, note), stop)
    with _scratch() as folder:
        with duckdb.connect() as connection:
            connection.execute("SET threads = 1")
            work.query(
                connection,
                f"COPY (SELECT *, lo_orderdate // 10000 AS year FROM read_parquet({literal(source)}))"
                f" TO {literal(folder)}"
                " (FORMAT parquet, PARTITION_BY (year), OVERWRITE_OR_IGNORE,"
                f" ROW_GROUP_SIZE {case.recipe.effective_row_group_rows})",
                "one folder a year",
            )
        files = sorted(Path(folder).rglob("*.parquet"))
        listed = ", ".join(quoted(file, emulated=True) for file in files)
        sql = case.flight.sql.replace("{table}", f"read_parquet([{listed}], hive_partitioning = true)")
        query = Query(
            sql=sql + (" AND year = 1993" if named else ""), path=files[0], setup=case.query().setup
        )
        return run_emulated(
            query,
            case.device,
            case.engine,
            repeats=bench.repeats,
            facts=settings,
            on_event=on_event,
            stop=stop,
        )


def folder_ratio(bench: Bench) -> Value:
    """Return how many times as long the query takes if the year is left to the join."""
    joined, named = in_folders(bench, named=False), in_folders(bench, named=True)
    return value(joined.median_s / named.median_s)


_WARM = published.figure("elimination", "total_s.warm.unsorted")

ROUNDS = {
    "unsorted": _share_of(flight=MONTH, load=GENERATED),
    "sorted": _share_of(flight=MONTH, load=BY_DATE),
    "disorder": _share_of(flight=MONTH, load=BY_DATE, disorder=LATE),
    "gain": Round(model=lambda _: float(sum(share < 1 for share in shares(BY_YEAR))), measured=gained),
    "year": Round(
        model=lambda _: _WARM.best * left(BY_YEAR),
        measured=lambda bench: _WARM.best * total_s(bench, BY_YEAR) / total_s(bench, GENERATED),
        published=(_printed("warm.sorted"),),
    ),
    "day": Round(
        model=lambda _: left(BY_DATE) / left(BY_YEAR),
        measured=lambda bench: total_s(bench, BY_DATE) / total_s(bench, BY_YEAR),
    ),
    "quantity": _share_of(flight=MONTH, load=BY_QUANTITY),
    "small_groups": Round(
        model=lambda bench: _bytes_modeled(bench, 2_048) / _bytes_modeled(bench, 16_384),
        measured=lambda bench: _month(bench, 2_048).bytes_read / _month(bench, 16_384).bytes_read,
    ),
    "folders": Round(measured=folder_ratio),
    "price": Round(measured=lambda bench: load_s(bench, BY_DATE) / load_s(bench, GENERATED)),
}


# -- in print --------------------------------------------------------------------------------------------
def held_to_print() -> Sequence[tuple[str, float, float]]:
    """Return (figure, model, printed): what a load by year leaves of the time, every query alike or Q1.1 as printed.

    Nothing is fitted. The article gives no time by query but Q1.1's repeats, from about 180 to 100 s.
    """
    last = published.figure("cache_tiers", "repeat_s.q1_1_last").best
    two = {end: published.figure("scale_out", f"total_s.{end}").best for end in (
        "cold.unsorted", "cold.sorted", "warm.unsorted", "warm.sorted")}  # fmt: skip
    one = {end: _printed(end).best for end in two}
    rows = []
    for nodes, told in (("one node", one), ("two nodes", two)):
        for state in ("cold", "warm"):
            ratio = told[f"{state}.sorted"] / told[f"{state}.unsorted"]
            rows.append((f"by year / unsorted, {state}, {nodes}", left(BY_YEAR), ratio))
    warm = one["warm.sorted"] / one["warm.unsorted"]
    return [*rows, ("the same, warm, one node, with Q1.1 at its last repeat", left(BY_YEAR, last), warm)]


FITTED = 0


# -- the pictures ----------------------------------------------------------------------------------------
def _grip(bench: Bench) -> Picture:
    case = EXPERIMENT.case(bench.settings(flight=MONTH, load=BY_DATE, disorder=IN_ORDER))
    groups = case.recipe.rows / case.recipe.effective_row_group_rows
    late = DISORDER.grid(60)
    plain = elimination.groups_read(groups, case.flight.share(BY_DATE), late) / groups
    exact = case.expected(disorder=late) / groups
    seen = [(w, share_measured(bench, flight=MONTH, load=BY_DATE, disorder=w)) for w in DISORDERS]
    return Picture(
        title="Labels lose their grip",
        sentence="A month of rows in date order touches a few row groups; rows that come late widen every label, and"
        " from there on the disorder, and not the question, decides what is read.",
        x=Axis(label="disorder, as a share of the table", kind="1"),
        y=Axis(label="row groups read", kind="1"),
        lines=(
            Line(
                name="s + w + 1/m",
                points=list(zip(late.tolist(), np.minimum(plain, 1).tolist(), strict=True)),
            ),
            Line(
                name="with its edges",
                points=list(zip(late.tolist(), exact.tolist(), strict=True)),
                source="other",
            ),
            Line(name="DuckDB", points=seen, source="measured", joined=False),
        ),
        marks={"asked for": case.flight.share(BY_DATE)},
    )


def _chance(_: Bench) -> Picture:
    rows = np.geomspace(1, 10_000, 60)
    lines = []
    for name in ("Q1.1", "Q1.2", "Q1.3"):
        flight = FLIGHTS[name]
        first, last = flight.span(BY_DATE)
        missed = elimination.missed_by_all(flight.share(BY_DATE), rows)
        label = elimination.label_rules_out(first, 1 - last, rows)
        lines.append(Line(name=f"{name}: holds no such row", points=_above(rows, missed)))
        lines.append(Line(name=f"{name}: its label says so", points=_above(rows, label), source="other"))
    return Picture(
        title="Rows in random order",
        sentence="The chance that a row group can be left alone is gone after some tens or hundreds of rows, and what"
        " its label knows is gone much sooner.",
        x=Axis(label="rows in a row group", kind="count"),
        y=Axis(label="chance", kind="1", log=False),
        lines=tuple(lines),
        marks={},
    )


def _above(x: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    return [(float(a), float(b)) for a, b in zip(x, y, strict=True)]


def _flights(bench: Bench) -> Picture:
    lines = []
    for load in (GENERATED, BY_YEAR):
        samples = thirteen(bench, load).values()
        points = [(n + 1.0, s.row_groups_scanned / s.row_groups_total) for n, s in enumerate(samples)]
        lines.append(Line(name=f"DuckDB, {load}", points=points, source="measured", joined=False))
    told = [(n + 1.0, share) for n, share in enumerate(shares(BY_YEAR))]
    lines.append(Line(name="share of rows in the years asked for", points=told, joined=False))
    return Picture(
        title="Thirteen queries, loaded by year",
        sentence="From left to right Q1.1 to Q4.3: the first flight gains most, the second and Q4.1 nothing; where"
        " DuckDB lies above the model, its plan has not carried the dates to the scan.",
        x=Axis(label="query", kind="count", log=False),
        y=Axis(label="row groups read", kind="1", log=False),
        lines=tuple(lines),
        marks={},
    )


def _sizes(bench: Bench) -> Picture:
    sizes = np.array([2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072.0])
    lines = []
    for load in (GENERATED, BY_DATE):
        settings = bench.settings(flight=MONTH, load=load)
        took = EXPERIMENT.work(settings) / EXPERIMENT.curve(settings, "row_group_rows", sizes)
        lines.append(Line(name=f"model, {load}", points=_above(sizes, took)))
        seen = [
            (float(rows), bench.measured.seconds(flight=MONTH, load=load, row_group_rows=rows).median)
            for rows in (2_048, 16_384, 131_072)
        ]
        lines.append(Line(name=f"DuckDB, {load}", points=seen, source="measured", joined=False))
    return Picture(
        title="Small groups skip finely and cost reads",
        sentence="Sorted, the best row group lies between: smaller ones lengthen the footer that lists them all, larger"
        " ones bring along rows that nobody asked for.",
        x=Axis(label="rows in a row group", kind="rows"),
        y=Axis(label="time", kind="s"),
        lines=tuple(lines),
        marks={},
    )


def _traces(bench: Bench) -> Traces:
    return traces(
        bench,
        title="The same question, the same rows, another order",
        sentence="In the generator's order every row group is fetched; by year only one run of them, by date one or two"
        " and the footer.",
        runs={load: {"flight": MONTH, "load": load} for load in (GENERATED, BY_YEAR, BY_DATE)},
    )


FIGURES = {
    "grip": _grip,
    "chance": _chance,
    "flights": _flights,
    "sizes": _sizes,
    "reads": _traces,
    "printed": lambda _: against_print(held_to_print(), FITTED),
}

__all__ = ["EXPERIMENT", "FIGURES", "FITTED", "ROUNDS", "held_to_print"]
