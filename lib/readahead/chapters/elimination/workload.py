"""DuckDB over the order lines of the Star Schema Benchmark, loaded in one order or another: which row groups a query
reads, and which it rules out by their smallest and largest value or by a Bloom filter.
"""

from __future__ import annotations

import functools
import math
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
from readahead.devices import Device, device
from readahead.experiments.experiment import Settings
from readahead.experiments.knobs import experiment
from readahead.experiments.table_experiment import TableExperiment, once
from readahead.measure import calibrate
from readahead.measure.calibrate import Calibration, Trial
from readahead.measure.case import Case
from readahead.measure.run import EngineSettings, Query, engine, profile
from readahead.measure.sample import Value
from readahead.models.reads import Ints, Reads, filtered_reads, passes
from readahead.models.schedule import FIRST_ROWS, TOGETHER_S, Costs
from readahead.models.table_layout import VECTOR_ROWS
from readahead.running import check

TABLE = "lineorder"
GAP_BYTES = 131_072
"""What a volume of 1 ms and 125 MB/s delivers in one latency: DuckDB reads through holes up to there."""
FEW_KEYS = 50
"""Up to so many keys of a join DuckDB hands to the scan as they are: `dynamic_or_filter_threshold`."""
RACES = (8_192, 32), (4_096, 64)
"""Rows of a row group, and how many are under way, where a row group's only read races with the next Bloom filter."""
FEW = 32_768, 1
"""Rows of a row group, and how many are under way, in a run of few row groups."""
KEY_BYTES = -1 / math.log(1 - 0.01 ** (1 / 8))
"""What a key takes in a Bloom filter that lets one in a hundred through by mistake: the formula of Parquet's format for
its split blocks. The whole is rounded up to a power of two."""
DICTIONARY_ROWS = 5
"""So many rows of a row group allow DuckDB one entry of a dictionary, and only with a dictionary is there a filter."""
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

    def _few(self) -> dict[str, int]:
        """Return the columns of which the joins want at most `FEW_KEYS` keys, and how many keys there are in all.

        DuckDB 2.0 hands these keys to the scan themselves (`dynamic_or_filter_threshold`), unless they are all from one
        to another, else the least and greatest.
        """
        star, asked = self.star_query, list[str]()
        for table in star.joins:
            key, where = f"{table[0]}_{KEYS[table]}", star.conditions(table) or "true"
            wanted = ", ".join(f"{one}({key}) FILTER (WHERE {where})" for one in ("count", "min", "max"))
            asked.append(f"SELECT 'lo_{KEYS[table]}', {wanted}, count(*) FROM {table}")
        told = _asked(" UNION ALL ".join(asked), self.query().setup) if asked else []
        found = {
            column: keys
            for column, count, least, most, keys in told
            if 0 < count <= FEW_KEYS and (count == 1 or most - least + 1 > count)
        }
        return {column: keys for column, keys in found.items() if self.carried(column)}

    def scan(self) -> Reads:
        """Return the reads: filters first where they let few row groups pass, and before each group its Bloom filter.

        DuckDB asks the Bloom filter of every row group, also of one that another column rules out.
        """
        found, few = Case.scan(self), self._few()
        if not store.is_built(self.recipe):
            return replace(found, probes=_expected_filters(found, next(iter(few.values())))) if few else found
        path, query, filters = store.location(self.recipe), self.query(), self.filters()
        if few or self.star_query.asked():  # ranges and Bloom filters of keys alone never go first
            sql, group_rows = query.texts(emulated=False)[0], int(found.rows[0])
            kept = _kept(sql, list(filters.values()), group_rows, query.setup)
            if len(filters) > len(few) + len(self.star_query.asked()):
                count = len(filters)
                barren = tuple(n for n, one in enumerate(kept) if not passes(one, count))
                for number in _mistaken(sql, barren, group_rows, query.setup):
                    kept[number] = [*kept[number][:-1], (1 << (1 << count)) - 1]
            found = filtered_reads(
                inspect.shape(path),
                found,
                self.columns,
                list(filters),
                kept,
                gap_bytes=self.engine.column_gap_bytes,
                depth=self.window.depth,
            )
        return replace(found, probes=inspect.bloom_filters(path, next(iter(few)))) if few else found

    def span(self) -> tuple[float, float]:
        """Return from where to where, as shares of the table in its order, lies what the query asks for."""
        load = next(name for name, order in LOADS.items() if order == self.recipe.order)
        return self.star_query.span(load) if load == BY_QUANTITY or self.carried() else (0.0, 1.0)

    def expected(self) -> float:
        """Return how many row groups the law expects to be read."""
        recipe = self.recipe
        groups = recipe.rows / recipe.effective_row_group_rows
        return float(groups_between(groups, *self.span(), recipe.disorder))


def _expected_filters(found: Reads, keys: int) -> Ints:
    """Return the Bloom filters of a file that is not there, behind its data: where so many keys fit a dictionary.

    DuckDB's dictionary has a fifth as many entries as a row group has rows (`dictionary_size_limit`). A filter's header
    has 16 bytes, and one more where its length takes three to write.
    """
    size = 1 << math.ceil(math.log2(KEY_BYTES * keys))
    sizes = np.where(found.rows >= DICTIONARY_ROWS * keys, size + 16 + (2 * size >= 1 << 14), 0)
    return np.column_stack([found.spans.sum(axis=1).max(initial=0) + sizes.cumsum() - sizes, sizes])


def _kept(sql: str, filters: Sequence[str], group_rows: int, setup: tuple[str, ...]) -> list[list[int]]:
    """Return for each row group and each of its vectors which filters together leave a row, see `filtered_reads`."""
    file = re.search(r"read_parquet\('.*?'", sql)[0]  # type: ignore[index]
    together = (
        (chosen, " AND ".join(one for at, one in enumerate(filters) if chosen >> at & 1))
        for chosen in range(1, 1 << len(filters))
    )
    left = (f"(bool_or({asked})::BIGINT << {chosen})" for chosen, asked in together)
    vectors = (
        f"SELECT min(file_row_number) AS row, {' + '.join(left)} AS kept"
        f" FROM {file}, file_row_number = true) GROUP BY file_row_number // {VECTOR_ROWS}"
    )
    numbered = (
        f"SELECT list(kept ORDER BY row) FROM ({vectors}) GROUP BY row // {group_rows} ORDER BY min(row)"
    )
    return [kept for (kept,) in _asked(numbered, setup)]


@functools.lru_cache(maxsize=256)
def _mistaken(sql: str, numbers: Sequence[int], group_rows: int, setup: tuple[str, ...]) -> list[int]:
    """Return of which of these row groups a row passes the filters, though the joins want none: asked of DuckDB.

    Of more than `FEW_KEYS` keys the scan gets a filter of some bits a key, which now and then lets others through. The
    tables are joined in the order written: with one row group alone, expected to be small, another order might win.
    """
    file = re.search(r"read_parquet\('.*?'", sql)[0]  # type: ignore[index]
    numbered, found = sql.replace(file, f"{file}, file_row_number = true"), []
    settings = EngineSettings(threads=1, more={"disabled_optimizers": "join_order"})
    with engine(settings) as connection:
        for statement in setup:
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

    def predicted(self, settings: Settings) -> Value:
        """Return the modeled time; where reads race with Bloom filters, its band is wider by what the race decides.

        That is how much sooner and later the query ends where reads are first by two standard deviations less often and
        more: a read and the next filter that once came together do so again, so whole runs differ.
        """
        told, case, costs = super().predicted(settings), self.case(settings), self.costs(settings)
        if not case.plan().probes.any():
            return told
        shares = np.array([costs.read_first_share, costs.read_first_alone_share])
        ends_s = []
        for off in (-2 * costs.read_first_scatter, 2 * costs.read_first_scatter):
            together, alone = np.clip(shares + off, 0.0, 1.0)
            raced = replace(costs, read_first_share=together, read_first_alone_share=alone)
            ends_s.append(case.predict(raced).estimate.seconds - told.median)
        return replace(told, low=told.low + min(0.0, *ends_s), high=told.high + max(0.0, *ends_s))

    def engine(self, settings: Settings) -> Calibration[Costs]:
        """Return the calibration that tells what waking takes, and fresh memory: it is the same for every table."""
        return calibrate.engine(calibrate.KEYED)

    def own_costs(self, settings: Settings) -> Calibration[Costs]:
        """Return the calibration of a query: what it decodes, plans and opens, from its own runs; its flight's else.

        Of a row that no filter lets through, only what is filtered is decoded: row groups are cheaper to one query than
        to another of its flight. And the joins' tables that are built while the file is opened have other rows, as has
        the result: closing takes 4.2 ms in the first query of the second flight, and 2.6 in its other two.
        """
        name, flight = self.value(settings, "flight"), self._flight(settings)
        if name == _first(name):
            return flight
        return Calibration(
            name=f"{TABLE}-{name}",
            kind=Costs,
            cases=lambda: [*self._warm(settings, name), self._tried(settings, name, *FEW)],
            read_off=partial(_query_costs, flight),
            typical=flight.costs,
            turns=5,
        )

    def _flight(self, settings: Settings) -> Calibration[Costs]:
        """Return the calibration of a flight by its first query, which looks at every row in the generator's order.

        The prices of a row group and its rows come from warm runs, the others from small row groups: that of passing
        out a read from many in flight; the pause between two, and what its first rows take more, from one at a time.
        Planning, opening, while the joins' tables are built, and closing take the longer the more row groups there are:
        few and more.
        """
        name = _first(self.value(settings, "flight"))
        usual = self.engine(settings).costs
        timed = ((2_048, 1), (FIRST_ROWS, 1), (2_048, 32), FEW)
        return Calibration(
            name=f"{TABLE}-{name[:2]}",
            kind=Costs,
            cases=lambda: [
                *self._warm(settings, name),
                *(self._tried(settings, name, rows, depth) for rows, depth in timed),
            ],
            read_off=partial(_flight_costs, self._filtering(settings)),
            typical=lambda: replace(usual(), row_s=20e-9),
            turns=5,
        )

    def _filtering(self, settings: Settings) -> Calibration[Costs]:
        """Return the calibration of Bloom filters: who asks first, on the volume that a query usually reads."""
        volume = device("cloud-volume")
        return Calibration(
            name=f"{TABLE}-filters",
            kind=Costs,
            cases=lambda: [
                self._tried(settings, "Q4.3", rows, depth, device=volume) for rows, depth in RACES
            ],
            read_off=_filter_costs,
            typical=Costs,
            turns=8,
        )

    def _warm(self, settings: Settings, name: str) -> list[partial[Trial]]:
        return [self._tried(settings, name, rows, 1, here=True) for rows in (32_768, 2_048)]

    def _tried(
        self, settings: Settings, name: str, rows: int, depth: int, *, device: Device = calibrate.PROBE,
        here: bool = False,
    ) -> partial[Trial]:  # fmt: skip
        """Return the trial of a query over the table in the generator's order."""
        changes = {"flight": name, "load": GENERATED, "size": "tiny"}
        case = self.case({**settings, **changes, "row_group_rows": rows, "queue_depth": depth})
        alone = replace(case, device=device, engine=replace(case.engine, threads=1))
        return partial(calibrate.trial, alone, here=here)

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return the calibrations of waking, of Bloom filters, of the flight and of the query."""
        needed = (
            self.engine(settings),
            self._filtering(settings),
            self._flight(settings),
            self.own_costs(settings),
        )
        return list({one.name: one for one in needed}.values())

    def work(self, settings: Settings) -> float:
        """Return the rows of the table: a row that need not be read counts as answered for."""
        return float(self.case(settings).recipe.rows)

    def unit(self, settings: Settings) -> str:
        """Return rows_per_s."""
        return "rows_per_s"


def _first(name: str) -> str:
    """Return the first query of a query's flight."""
    return f"{name[:2]}.1"


def _flight_costs(filtering: Calibration[Costs], trials: Sequence[Trial]) -> Costs:
    asked = filtering.ensure()
    long, short, one, longer, many, few = (calibrate.without_stale_pages(trials[at::6]) for at in range(6))
    plan_s = float(np.median([t.planning_s() for t in few]))
    pause_s, each_s = calibrate.line([(float(t.group_rows), t.pause_s()) for t in (*one, *longer)])
    # planning takes the longer too the more row groups there are: it counts as opening
    begun = [(t, t.opening_s() + t.planning_s() - plan_s) for t in (*few, *one)]
    open_s, open_group_s = calibrate.by_groups(begun)
    ending_s, _ = calibrate.by_groups([(t, t.closing_s()) for t in (*few, *one)])
    row_s = _row_s(plan_s + open_s + ending_s, long, short)
    # what a read takes is a pause without rows, the same for every table: the rest of it is decoding
    light = calibrate.engine(calibrate.KEYED).ensure()
    read_s = min(light.read_s + light.group_s, pause_s)
    first_row_s = max(0.0, each_s - row_s)
    prices = {"group_s": max(1e-6, pause_s - read_s), "row_s": row_s, "first_row_s": first_row_s}
    decode_s = Costs(**prices).decode_s
    closings = [(t, t.closing_s() - decode_s(t.last_rows)) for t in (*few, *one)]
    close_s, close_group_s = calibrate.by_groups(closings)
    return replace(
        light,
        plan_s=plan_s,
        open_s=open_s,
        open_group_s=open_group_s,
        read_s=read_s,
        clear_s=calibrate.clearing_s(read_s, prices["group_s"]),
        dispatch_s=float(np.median([t.per_read_s() for t in many])),
        close_s=close_s,
        close_group_s=close_group_s,
        copy_byte_s=0.0,
        filter_s=asked.filter_s,
        filter_shared_s=asked.filter_shared_s,
        read_first_share=asked.read_first_share,
        read_first_alone_share=asked.read_first_alone_share,
        read_first_scatter=asked.read_first_scatter,
        **prices,
    )


def _query_costs(flight: Calibration[Costs], trials: Sequence[Trial]) -> Costs:
    known, (long, short, few) = (
        flight.ensure(),
        (calibrate.without_stale_pages(trials[at::3]) for at in range(3)),
    )
    groups, last_rows = few[0].case.recipe.row_groups, few[0].last_rows
    plan_s, opening_s, closing_s = map(
        float,
        np.median([(t.planning_s(), t.opening_s(), t.closing_s()) for t in few], axis=0),
    )
    open_s = max(0.0, opening_s - groups * known.open_group_s)
    close_s = max(0.0, closing_s - known.decode_s(last_rows) - groups * known.close_group_s)
    row_s = _row_s(plan_s + open_s + close_s, long, short)
    return replace(known, plan_s=plan_s, open_s=open_s, close_s=close_s, row_s=row_s)


def _filter_costs(trials: Sequence[Trial]) -> Costs:
    seen, shares = list[tuple[bool, float, bool]](), list[float]()
    for one in trials:
        plan, at = one.case.plan(), {read.offset: read for read in one.sample.reads}
        asked = plan.probes[: one.case.window.depth].tolist()  # later ones wait until a row group is decoded
        filters = [at[offset] for offset, size in asked if size]
        let_through = [at[offset] for offset, _ in plan.spans.tolist()]
        due_s = np.array([read.due_s for read in let_through])
        races = [
            (
                bool(np.any(np.abs(due_s - probe.due_s) <= TOGETHER_S)),
                min(read.submitted_s, following.submitted_s) - probe.due_s,
                read.submitted_s < following.submitted_s,
            )
            for probe, read, following in zip(filters, let_through, filters[1:], strict=False)
        ]
        seen += races
        shares.append(float(np.mean([won for *_, won in races])))
    # of races of one kind alone nothing tells the other: it counts as the same
    alone, together = ([race for race in seen if race[0] == shared] or seen for shared in (False, True))
    alone_s, together_s = (
        float(np.median([paused_s for _, paused_s, _ in kind])) for kind in (alone, together)
    )
    return Costs(
        filter_s=alone_s,
        filter_shared_s=max(0.0, together_s - alone_s),
        read_first_share=float(np.mean([won for *_, won in together])),
        read_first_alone_share=float(np.mean([won for *_, won in alone])),
        read_first_scatter=float(np.std(shares)),
    )


def _row_s(besides_s: float, long: Sequence[Trial], short: Sequence[Trial]) -> float:
    """Return what decoding a row takes: by how much a row group takes longer in warm runs the more rows it has."""
    points = []
    for trial in (*long, *short):
        recipe = trial.case.recipe
        points.append(
            (recipe.rows / recipe.row_groups, (trial.sample.cpu_s[0] - besides_s) / recipe.row_groups)
        )
    return calibrate.line(points)[1]


EXPERIMENT = experiment(
    Eliminating,
    __file__,
    "Elimination: which row groups are read at all",
    fixed={"dataset": TABLE, "threads": 1},
    calibrated_each=("flight",),
)
