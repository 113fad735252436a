"""DuckDB over the order lines of the Star Schema Benchmark, loaded in one order or another: which row groups a query
reads, and which it rules out by their smallest and largest value or by a Bloom filter.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from readahead.chapters.elimination.laws import groups_between, place
from readahead.chapters.elimination.star_queries import (
    BY_DATE,
    BY_QUANTITY,
    GENERATED,
    KEYS,
    LOADS,
    QUERIES,
    StarQuery,
    dimensions,
)
from readahead.datasets import inspect, store
from readahead.experiments.experiment import Settings
from readahead.experiments.knobs import experiment
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure import calibrate
from readahead.measure.calibrate import Calibration, Trial
from readahead.measure.case import Case
from readahead.measure.run import EngineSettings, Query, engine, profile
from readahead.models import schedule
from readahead.models.reads import Reads, filtered_reads
from readahead.models.schedule import Costs
from readahead.models.table_layout import VECTOR_ROWS
from readahead.running import check

TABLE = "lineorder"
GAP_BYTES = 131_072
"""What a volume of 1 ms and 125 MB/s delivers in one latency: DuckDB reads through holes up to there."""
FEW_KEYS = 50
"""Up to so many keys of a join DuckDB hands to the scan as they are: `dynamic_or_filter_threshold`."""
IN_ORDER = 0.001
"""Disorder up to here counts as none, and such a file is sorted outright."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StarCase(Case):
    """A query of the benchmark over the order lines, with the small tables in memory."""

    star_query: StarQuery

    def query(self) -> Query:
        """Return the query, and the statements that make the tables around the order lines."""
        scale = self.recipe.source.scale_factor[self.recipe.size]
        return Query(sql=self.star_query.sql, path=store.location(self.recipe), setup=dimensions(scale))

    def touched(self) -> NDArray[np.bool_]:
        """Return which row groups' smallest and largest date and quantity leave the query in doubt.

        Of a file that is not there: as many as the law expects, in a row from where the first wanted row lies.
        """
        numbers = np.arange(self.recipe.row_groups)
        if not store.is_built(self.recipe):
            count = min(len(numbers), round(self.expected()))
            first = int(float(place(self.span()[0], self.recipe.disorder)) * len(numbers))
            start = min(len(numbers) - count, first)
            return (numbers >= start) & (numbers < start + count)
        wanted = {"lo_quantity": self.star_query.quantities}
        if self.carried():
            first, last = (int(f"{day:%Y%m%d}") for day in (self.star_query.first, self.star_query.last))
            wanted["lo_orderdate"] = first, last
        found = np.ones(len(numbers), bool)
        for column, (low, high) in wanted.items():
            least, most = inspect.key_ranges(store.location(self.recipe), column).T
            found &= (least <= high) & (most >= low)
        return found

    def carried(self, column: str = "lo_orderdate") -> bool:
        """Return whether a join's keys reach the scan: asked of DuckDB's plan, for a file that is built.

        A join hands the values of the side it builds, in the plan the right one, to the scan of the other. If it builds
        on the order lines that are left, because it expects fewer of them than there are keys, the scan hears of none.
        """
        if not store.is_built(self.recipe):
            return True
        query = self.query()
        plan = _asked(f"EXPLAIN (FORMAT json) {query.texts(emulated=False)[0]}", query.setup)
        return column not in re.findall(r"= (lo_[a-z]+)", str(plan[0][1]))

    def filters(self) -> dict[str, str]:
        """Return the columns that the scan filters, in DuckDB's order, each with its condition as SQL.

        What is asked of the order lines comes first, and of the joins' keys those that are handed over one by one.
        """
        star, few = self.star_query, self._few()
        keys = {"lo_orderdate": ("d_datekey", "dates")}
        keys |= {f"lo_{KEYS[table]}": (f"{table[0]}_{KEYS[table]}", table) for table in star.joins}
        joined = {
            column: f"{column} IN (SELECT {key} FROM {table} WHERE {star.conditions(table) or 'true'})"
            for column, (key, table) in sorted(keys.items(), key=lambda one: one[0] not in few)
            if self.carried(column)
        }
        return {part.split()[0]: part for part in star.asked()} | joined

    def _few(self) -> list[str]:
        """Return the columns of which the joins want at most `FEW_KEYS` keys, and they are not all from one to another.

        DuckDB 2.0 hands these keys to the scan themselves (`dynamic_or_filter_threshold`), else the least and greatest.
        """
        found, star = [], self.star_query
        for table in star.joins:
            key, where = f"{table[0]}_{KEYS[table]}", star.conditions(table) or "true"
            counted = f"SELECT count({key}), min({key}), max({key}) FROM {table} WHERE {where}"
            ((count, least, most),) = _asked(counted, self.query().setup)
            if 0 < count <= FEW_KEYS and (count == 1 or most - least + 1 > count):
                found.append(f"lo_{KEYS[table]}")
        return [column for column in found if self.carried(column)]

    def scan(self) -> Reads:
        """Return the reads: filters first where they let few row groups pass, and before each group its Bloom filter.

        DuckDB asks the Bloom filter of every row group, also of one that another column rules out.
        """
        found = Case.scan(self)
        if not store.is_built(self.recipe):
            return found
        path, query, filters, few = store.location(self.recipe), self.query(), self.filters(), self._few()
        if few or self.star_query.asked():  # ranges and Bloom filters of keys alone never go first
            sql, group_rows = query.texts(emulated=False)[0], int(found.rows[0])
            needed = _needed(sql, list(filters.values()), group_rows, query.setup)
            if len(filters) > len(few) + len(self.star_query.asked()):
                barren = tuple(n for n, one in enumerate(needed) if max(one) <= len(filters))
                for number in _mistaken(sql, barren, group_rows, query.setup):
                    needed[number] = [*needed[number], len(filters) + 1]
            found = filtered_reads(
                inspect.shape(path),
                found,
                self.columns,
                list(filters),
                needed,
                gap_bytes=self.engine.column_gap_bytes,
                depth=self.window.depth,
            )
        return replace(found, probes=inspect.bloom_filters(path, few[0])) if few else found

    def span(self) -> tuple[float, float]:
        """Return from where to where, as shares of the table in its order, lies what the query asks for."""
        load = next(name for name, order in LOADS.items() if order == self.recipe.order)
        return self.star_query.span(load) if load == BY_QUANTITY or self.carried() else (0.0, 1.0)

    def expected(self) -> float:
        """Return how many row groups the law expects to be read."""
        recipe = self.recipe
        groups = recipe.rows / recipe.effective_row_group_rows
        return float(groups_between(groups, *self.span(), recipe.disorder))


def _needed(sql: str, filters: Sequence[str], group_rows: int, setup: tuple[str, ...]) -> list[list[int]]:
    """Return for each row group after how many filters no row of a vector is left, each number that occurs.

    It is one more than there are filters if rows are left.
    """
    file = re.search(r"read_parquet\('.*?'", sql)[0]  # type: ignore[index]
    left = (f"bool_or({' AND '.join(filters[: n + 1])})::INTEGER" for n in range(len(filters)))
    vectors = (
        f"SELECT min(file_row_number) // {group_rows} AS number, {' + '.join(['1', *left])} AS needed"
        f" FROM {file}, file_row_number = true) GROUP BY file_row_number // {VECTOR_ROWS}"
    )
    found = _asked(f"SELECT list(DISTINCT needed) FROM ({vectors}) GROUP BY number ORDER BY number", setup)
    return [needed for (needed,) in found]


@functools.lru_cache(maxsize=256)
def _mistaken(sql: str, numbers: Sequence[int], group_rows: int, setup: tuple[str, ...]) -> list[int]:
    """Return of which of these row groups a row passes the filters, though the joins want none: asked of DuckDB.

    Of more than `FEW_KEYS` keys the scan gets a filter of some bits a key, which now and then lets others through. The
    tables are joined in the order written: with one row group alone, expected to be small, another order might win.
    """
    file = re.search(r"read_parquet\('.*?'", sql)[0]  # type: ignore[index]
    numbered, found = sql.replace(file, f"{file}, file_row_number = true"), []
    with engine(EngineSettings(threads=1)) as connection:
        for statement in (*setup, "SET disabled_optimizers = 'join_order'"):
            connection.execute(statement)
        for number in numbers:
            check()
            part = f"file_row_number BETWEEN {number * group_rows} AND {(number + 1) * group_rows - 1}"
            connection.execute(numbered.replace(" WHERE ", f" WHERE {part} AND ", 1)).fetchall()
            if profile(connection)["rows"]:
                found.append(number)
    return found


@functools.lru_cache(maxsize=256)
def _asked(sql: str, setup: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Return what DuckDB answers beside the small tables."""
    with engine(EngineSettings(threads=1)) as connection:
        for statement in setup:
            connection.execute(statement)
        return connection.execute(sql).fetchall()


class Eliminating(TableExperiment):
    """A scan of the order lines that may leave row groups alone."""

    @once
    def case(self, settings: Settings) -> StarCase:
        """Return the case that these settings describe."""
        plain, load = super().case(settings), self.value(settings, "load")
        late = float(self.value(settings, "disorder"))
        star_query = QUERIES[self.value(settings, "flight")]
        disorder = late if load == BY_DATE and late > IN_ORDER else 0.0
        return StarCase(
            recipe=replace(plain.recipe, order=LOADS[load], disorder=disorder),
            device=plain.device,
            engine=replace(plain.engine, column_gap_bytes=GAP_BYTES),
            time_scale=plain.time_scale,
            columns=star_query.columns,
            star_query=star_query,
        )

    def counts(self, settings: Settings) -> dict[str, float]:
        """Return the reads, bytes and row groups that the model expects, and how far the clock may move them."""
        return {**TableExperiment.counts(self, settings), "row_groups": self.case(settings).expected()}

    def own_costs(self, settings: Settings) -> Calibration[Costs]:
        """Return the calibration of a flight by its first query, which looks at every row in the generator's order.

        A row's price comes from warm runs, the others from small row groups: that of passing out a read from many in
        flight; the pause between two, planning and closing from one at a time. Opening, while the joins' tables are
        built, takes the longer the more row groups there are: few, more and many.
        """
        name = self.value(settings, "flight")[:2]
        first = {"flight": f"{name}.1", "load": GENERATED, "size": "tiny"}
        usual = self.engine(settings).costs

        def tried(rows: int, depth: int, *, here: bool = False) -> partial[Trial]:
            case = self.case({**settings, **first, "row_group_rows": rows, "queue_depth": depth})
            alone = replace(case, device=calibrate.PROBE, engine=replace(case.engine, threads=1))
            return partial(calibrate.trial, alone, here=here)

        return Calibration(
            name=f"{TABLE}-{name}",
            kind=Costs,
            cases=lambda: [tried(16_384, 1, here=True), tried(4_096, 1), tried(2_048, 32), tried(32_768, 1)],
            read_off=_flight_costs,
            typical=lambda: replace(usual(), row_s=20e-9),
            turns=5,
        )

    def work(self, settings: Settings) -> float:
        """Return the rows of the table: a row that need not be read counts as answered for."""
        return float(self.case(settings).recipe.rows)

    def unit(self, settings: Settings) -> str:
        """Return rows_per_s."""
        return "rows_per_s"


def _flight_costs(trials: Sequence[Trial]) -> Costs:
    base, [warm, one, many, few] = calibrate.engine(TABLE).ensure(), (trials[at::4] for at in range(4))
    phases_s = [(t.sample.reads[0].submitted_s, t.pause_s(), t.closing_s()) for t in one]
    plan_s, pause_s, closing_s = map(float, np.median(phases_s, axis=0))
    case, groups = warm[0].case, warm[0].case.recipe.row_groups
    # The table's own price of a row group holds for all of its columns; most of it is the columns'.
    group_s = max(1e-6, base.group_s * len(case.columns) / len(case.recipe.columns))
    openings = [(float(t.case.recipe.row_groups), t.opening_s()) for t in (*few, *one, *many)]
    open_s, open_group_s = calibrate.line(openings)
    cpu_s = float(np.median([t.sample.cpu_s for t in warm])) - plan_s - open_s
    row_s = max(1e-10, (cpu_s - groups * (group_s + open_group_s)) / case.recipe.rows)
    prices = {"group_s": group_s, "row_s": row_s, "large_row_s": 0.0}
    return replace(
        base,
        plan_s=plan_s,
        open_s=open_s,
        open_group_s=open_group_s,
        read_s=max(1e-6, pause_s - schedule.decode_s(one[0].group_rows, **prices)),
        dispatch_s=float(np.median([t.per_group_s() / t.reads_a_group for t in many])),
        close_s=max(1e-6, closing_s - schedule.decode_s(one[0].last_rows, **prices)),
        **prices,
    )


EXPERIMENT = experiment(
    Eliminating,
    __file__,
    "Elimination: which row groups are read at all",
    fixed={"dataset": TABLE, "threads": 1},
    calibrated_each="flight",
)
