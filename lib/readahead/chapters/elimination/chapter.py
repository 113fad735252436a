"""Elimination: the Star Schema Benchmark loaded in one order and another, as MariaDB ran it and as DuckDB runs it."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from readahead import published
from readahead.chapters.elimination import laws
from readahead.chapters.elimination.star_queries import (
    BY_DATE,
    BY_QUANTITY,
    BY_YEAR,
    GENERATED,
    QUERIES,
    shares,
)
from readahead.chapters.elimination.workload import EXPERIMENT, IN_ORDER
from readahead.datasets import store
from readahead.datasets.build import ONE_THREAD, literal, run_statement
from readahead.datasets.recipe import Recipe
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import Settings
from readahead.experiments.figure import Axis, Picture, curve, dots
from readahead.experiments.residual import Tally, tally
from readahead.experiments.round import Applied, Round, Study, along, compared
from readahead.experiments.steps import Frame
from readahead.measure.run import Query, quoted, run_emulated
from readahead.measure.sample import Sample, Value
from readahead.questions.question import Computed
from readahead.running import quietly, tell

MONTH, YEAR = "Q1.2", "Q1.1"


# -- thirteen queries ------------------------------------------------------------------------------------
def thirteen(study: Study, load: str) -> dict[str, Sample]:
    """Return one run of each query of the benchmark, loaded in one order."""
    found = {}
    for number, flight in enumerate(QUERIES):
        tell(number, len(QUERIES), f"{flight}, loaded {load}")
        with quietly():
            found[flight] = study.repeated(1, flight=flight, load=load, disorder=IN_ORDER)
    return found


def total_s(study: Study, load: str) -> float:
    """Return the seconds of all thirteen."""
    return sum(sample.median_s for sample in thirteen(study, load).values())


def gained(study: Study) -> float:
    """Return how many of the thirteen read fewer row groups by year than in the generator's order."""
    pairs = zip(*(thirteen(study, load).values() for load in (GENERATED, BY_YEAR)), strict=True)
    return float(sum(after.row_groups_scanned < before.row_groups_scanned for before, after in pairs))


# -- what order costs ------------------------------------------------------------------------------------
def load_s(study: Study, load: str) -> Value:
    """Return the seconds of writing the order lines again, as generated or in another order; the file is removed."""
    settings = study.settings()
    recipe = EXPERIMENT.case({**settings, "load": load, "disorder": IN_ORDER}).recipe
    source = store.path(replace(recipe, order="key"))
    by = recipe.source.orders.get(recipe.order, recipe.order)
    order = "" if load == GENERATED else f" ORDER BY {by}, {', '.join(recipe.source.unique)}"
    select = f"SELECT * FROM read_parquet({literal(source)}){order}"
    with store.work_folder("loading") as folder:
        to = folder / "loaded.parquet"
        seen = [copied_s(select, to, recipe, f"loading {load}") for _ in range(study.repeats)]
    return Value(median=float(np.median(seen)), low=min(seen), high=max(seen), repeats=len(seen))


def copied_s(select: str, to: Path, recipe: Recipe, what: str, more: str = "") -> float:
    """Return the seconds in which one worker writes what a query returns in the row groups of a recipe."""
    form = f"FORMAT parquet, ROW_GROUP_SIZE {recipe.effective_row_group_rows}{more}"
    with duckdb.connect() as connection:
        connection.execute(ONE_THREAD)
        began = time.perf_counter()
        run_statement(connection, f"COPY ({select}) TO {literal(to)} ({form})", what, rows=recipe.rows)
        return time.perf_counter() - began


def in_folders(study: Study, *, named: bool) -> Sample:
    """Return Q1.1 over one folder a year, the year named or left to the join; the folders are removed."""
    settings = study.settings(flight=YEAR, load=GENERATED)
    case = EXPERIMENT.case(settings)
    source = case.build()
    with store.work_folder("loading") as folder:
        select = f"SELECT *, lo_orderdate // 10000 AS year FROM read_parquet({literal(source)})"
        more = ", PARTITION_BY (year), OVERWRITE_OR_IGNORE"
        copied_s(select, folder, case.recipe, "one folder a year", more)
        files = sorted(folder.rglob("*.parquet"))
        listed = ", ".join(quoted(file, emulated=True) for file in files)
        sql = case.star_query.sql.replace("{table}", f"read_parquet([{listed}], hive_partitioning = true)")
        query = Query(
            sql=sql + (" AND year = 1993" if named else ""), path=files[0], setup=case.query().setup
        )
        return run_emulated(query, case.device, case.engine, repeats=study.repeats)


# -- the rounds ------------------------------------------------------------------------------------------
LATE = 0.1
"""The disorder of the second round."""
DISORDERS = (IN_ORDER, 0.01, 0.03, 0.1, 0.3)
MANY, FEW = (
    {"flight": flight, "load": GENERATED, "size": "tiny", "latency_s": 0.01} for flight in ("Q3.1", "Q3.2")
)
"""The same columns of the same row groups, for the suppliers of a region and for those of one of its nations, on a
device so far away that its latency counts, and not its bandwidth."""


def _share_law(study: Study, **changes: object) -> Applied:
    """Return the law of what is read of a table: of its order, or of none."""
    case = EXPERIMENT.case(study.settings(**changes))
    rows = case.recipe.effective_row_group_rows
    if changes["load"] == GENERATED:
        return Applied(laws.share_holding, selectivity=round(case.star_query.share(BY_DATE), 5), rows=rows)
    first, last = (round(end, 5) for end in case.span())
    late = {"disorder": case.recipe.disorder} if case.recipe.disorder else {}
    return Applied(laws.share_read, groups=case.recipe.rows / rows, first=first, last=last, **late)


def _share_read(study: Study, **changes: object) -> float:
    sample = study.sample(**changes)
    return sample.row_groups_scanned / sample.row_groups_total


def _share_of(**changes: Any) -> Round:
    return Round(measured=partial(_share_read, **changes), law=partial(_share_law, **changes))


def _rounded(load: str) -> list[float]:
    return [round(share, 4) for share in shares(load)]


_WARM = published.figure("elimination", "total_s.warm.unsorted")


SMALL, LARGE = ({"flight": MONTH, "load": BY_DATE, "row_group_rows": rows} for rows in (2_048, 16_384))
"""A month of sorted rows in small row groups and in larger ones."""


def _small_groups_law(study: Study) -> Applied:
    """Return the law of the bytes in small row groups and in larger ones, by the files' exact reads."""
    told: dict[str, float] = {}
    for other, changes in (("", SMALL), ("other_", LARGE)):
        case = EXPERIMENT.case(study.settings(**changes))
        case.build()
        plan = case.scan()
        told[f"{other}footer_bytes"] = plan.bytes_read - plan.data_bytes
        told[f"{other}data_bytes"] = plan.data_bytes
    return Applied(laws.bytes_ratio, **told)


def _bloom_law(study: Study, few: Settings, many: Settings) -> Applied:
    case, scan_s = EXPERIMENT.case(study.settings(**few)), study.model.seconds(**many).median
    return Applied(
        laws.asked_first, row_groups=case.recipe.row_groups, latency_s=case.device.latency_s, scan_s=scan_s
    )


ROUNDS = {
    "unsorted": _share_of(flight=MONTH, load=GENERATED),
    "sorted": _share_of(flight=MONTH, load=BY_DATE),
    "disorder": _share_of(flight=MONTH, load=BY_DATE, disorder=LATE),
    "gain": Round(measured=gained, law=lambda _: Applied(laws.gaining, shares=_rounded(BY_YEAR))),
    "year": Round(
        measured=lambda study: _WARM.best * total_s(study, BY_YEAR) / total_s(study, GENERATED),
        published=(published.figure("elimination", "total_s.warm.sorted"),),
        law=lambda _: Applied(laws.time_left_s, total_s=_WARM.best, shares=_rounded(BY_YEAR)),
    ),
    "day": Round(
        measured=lambda study: total_s(study, BY_DATE) / total_s(study, BY_YEAR),
        law=lambda _: Applied(laws.finer_order, finer=_rounded(BY_DATE), coarser=_rounded(BY_YEAR)),
    ),
    "quantity": _share_of(flight=MONTH, load=BY_QUANTITY),
    "small_groups": Round(
        measured=lambda study: study.sample(**SMALL).bytes_read / study.sample(**LARGE).bytes_read,
        law=_small_groups_law,
    ),
    "bloom": compared(FEW, MANY, law=_bloom_law),
    "folders": Round(
        measured=lambda study: (
            len(in_folders(study, named=False).reads) / len(in_folders(study, named=True).reads)
        )
    ),
    "price": Round(measured=lambda study: load_s(study, BY_DATE) / load_s(study, GENERATED)),
}
ANALOGUES = {"by_year": lambda study, _: total_s(study, BY_YEAR) / total_s(study, GENERATED)}


# -- in print --------------------------------------------------------------------------------------------
def left(load: str) -> float:
    """Return what the thirteen together take of their time unsorted: Q1.1 weighs as printed, the others alike.

    Of single queries it is printed only that Q1.1 looks at most rows and takes longest, from about 180 to 100 s.
    """
    repeats = [published.figure("cache_tiers", f"repeat_s.q1_1_{end}").value for end in ("first", "last")]
    q11_s = sum(repeats) / 2
    others_s = (_WARM.best - q11_s) / (len(QUERIES) - 1)
    return float(np.average(shares(load), weights=[q11_s, *[others_s] * (len(QUERIES) - 1)]))


def in_print() -> Tally:
    """Return MariaDB's four times by year, foretold from the unsorted ones and the years that each query asks for."""
    states = [
        f"{topic}:total_s.{state}" for topic in ("elimination", "scale_out") for state in ("cold", "warm")
    ]
    bases = {f"{one}.sorted": published.figure("elimination", f"{one}.unsorted").value for one in states}
    return tally(__file__, {name: base * left(BY_YEAR) for name, base in bases.items()}, bases)


# -- the figures -----------------------------------------------------------------------------------------
def _grip(study: Study) -> Picture:
    case = EXPERIMENT.case(study.settings(flight=MONTH, load=BY_DATE, disorder=IN_ORDER))
    groups = case.recipe.rows / case.recipe.effective_row_group_rows
    late = EXPERIMENT.knob("disorder").grid(16)
    plain = laws.groups_read(groups, case.star_query.share(BY_DATE), late) / groups
    exact = laws.groups_between(groups, *case.star_query.span(BY_DATE), late) / groups
    seen = [(w, _share_read(study, flight=MONTH, load=BY_DATE, disorder=w)) for w in DISORDERS]
    return Picture(
        lines=(
            curve("s + w + 1/m", late, np.minimum(plain, 1).round(6)),
            curve("with its edges", late, exact.round(6), "other"),
            dots("DuckDB", seen),
        ),
        marks={"asked for": case.star_query.share(BY_DATE)},
    )


def _chance(_: Study) -> Picture:
    rows = np.unique(np.geomspace(1, 5_000, 40).round())
    lines = []
    for name, asked in (("Q1.1", "a year"), ("Q1.3", "a week")):
        first, last = QUERIES[name].span(BY_DATE)
        missed = laws.missed_by_all(last - first, rows).round(6)
        ruled_out = laws.label_rules_out(first, 1 - last, rows).round(6)
        lines.append(curve(f"{asked}: no such row", rows, missed))
        lines.append(curve(f"{asked}: by its range", rows, ruled_out, "other"))
    return Picture(lines=tuple(lines))


def _flights(study: Study) -> Picture:
    seen = [one.row_groups_scanned / one.row_groups_total for one in thirteen(study, BY_YEAR).values()]
    return Picture(
        x=Axis(label="query", kind="count", log=False, names=tuple(QUERIES)),
        lines=(
            dots("DuckDB, by year", enumerate(seen, 1)),
            dots("share of rows in the years asked for", enumerate(shares(BY_YEAR), 1), "modeled"),
        ),
    )


def _sizes(study: Study) -> Picture:
    ask: dict[str, Any] = {"seen": (2_048, 16_384, 131_072), "seconds": True, "flight": MONTH}
    lines = [
        along(study, "row_group_rows", label=_said(load), load=load, **ask) for load in (GENERATED, BY_DATE)
    ]
    return Picture(lines=(*lines[0], *lines[1]))


def _said(load: str) -> str:
    return EXPERIMENT.knob("load").text(load)


FIGURES = {
    "asked_first": {"Q3.1, a region": MANY, "Q3.2, a nation": FEW},
    "grip": _grip,
    "chance": _chance,
    "flights": _flights,
    "sizes": _sizes,
    "reads": {_said(load): {"flight": MONTH, "load": load} for load in (GENERATED, BY_YEAR, BY_DATE)},
}


# -- claims and computed answers -------------------------------------------------------------------------
CLAIMS: dict[str, Sides] = {
    "fewer": Sides(left={"flight": MONTH, "load": BY_DATE}, right={"flight": MONTH, "load": GENERATED}),
    "model_holds": Sides(
        left={"flight": YEAR, "load": BY_YEAR},
        right=lambda study: study.model.seconds(flight=YEAR, load=BY_YEAR),
    ),
    "asked_in_vain": Sides(
        left=lambda study: len(study.sample(**FEW).reads) - len(study.sample(**MANY).reads),
        right=lambda study: study.sample(**FEW).row_groups_scanned,
    ),
    "same_answer": Sides(
        left=lambda study: float(str(study.sample(flight="Q1.2", load=BY_DATE).answer[0])),
        right=lambda study: float(str(study.sample(flight="Q1.2", load=GENERATED).answer[0])),
    ),
}

ANSWERS: dict[str, Computed] = {
    "groups": Computed(
        law=lambda given: Applied(laws.groups_read, **given),
        wrong={
            "only_what_is": lambda given: given["groups"] * given["selectivity"],
            "disorder_spoils": lambda given: given["groups"],
        },
    ),
    "half": Computed(answer=lambda _: math.log(0.5) / math.log(1 - QUERIES["Q1.3"].share(BY_DATE))),
}


def _zones(_: Study) -> Iterator[Frame]:
    """Return what the zone maps of six row groups rule out, of rows that came up to a fifth of the table late."""
    days, (low, high), groups = np.arange(1, 25), (10, 13), 6
    late = np.random.default_rng(3).random(days.size) * days.size / 5
    rows = np.sort(days[np.argsort(days + late)].reshape(groups, -1), axis=1).tolist()
    tones = ["done" if group[0] <= high and group[-1] >= low else "gone" for group in rows]
    for at in range(groups + 1):
        says = f"The query asks for the days {low} to {high}. The footer has each row group's smallest and largest."
        if at:
            says = f"Row group {at} has days from {rows[at - 1][0]} to {rows[at - 1][-1]}."
            skipped = tones[at - 1] == "gone"
            says += " None of them is wanted: it is skipped." if skipped else " It may hold some: it is read."
        looked = zip(rows, tones[:at] + ["wait"] * (groups - at), strict=True)
        shown = [(f"{group[0]}–{group[-1]}", tone) for group, tone in looked]
        read = [day for group, tone in zip(rows[:at], tones, strict=False) if tone == "done" for day in group]
        found = [(str(day), "done") for day in read if low <= day <= high]
        yield Frame(says=says, lanes={"Row groups": shown, "Rows found": found or [("", "free")]})


STEPS = {"zones": _zones}
