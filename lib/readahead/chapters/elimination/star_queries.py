"""The thirteen queries of the Star Schema Benchmark (P. O'Neil, E. O'Neil and X. Chen, 2009), and for each of them the
days and the quantities it asks for.

The queries keep the benchmark's joins and filters; where it names a region, a nation, a city or a brand, its number in
the made-up tables around stands in its place, so that each passes the share of rows that the benchmark gives it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from readahead.paths import read_yaml

_FIRST, _LAST = date(1992, 1, 1), date(1998, 8, 2)
DAYS = (_LAST - _FIRST).days + 1
"""On which orders were placed; each day has about as many."""
QUANTITIES = 50

GENERATED, BY_YEAR, BY_DATE, BY_QUANTITY = "generated", "by_year", "by_date", "by_quantity"
KEYS = {"customer": "custkey", "supplier": "suppkey", "part": "partkey"}
"""The small tables beside the dates, and their key; on the order lines it begins with `lo_`."""
LOADS = {GENERATED: "key", BY_YEAR: "year", BY_DATE: "lo_orderdate", BY_QUANTITY: "lo_quantity"}
"""The order of the rows, and its name on a recipe."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StarQuery:
    """One query, and what it wants of the order lines."""

    select: str
    where: str
    joins: tuple[str, ...] = ()
    """Tables joined beside the dates."""
    first: date = _FIRST
    last: date = _LAST
    """The first and last day it asks for."""
    quantities: tuple[int, int] = (1, QUANTITIES)

    def span(self, load: str) -> tuple[float, float]:
        """Return from where to where, as shares of the table, lies what it asks for in one order of loading."""
        low, high = self.quantities
        if load == BY_YEAR:
            return _rank(date(self.first.year, 1, 1)), _rank(date(self.last.year + 1, 1, 1))
        if load == BY_DATE:
            return _rank(self.first), _rank(self.last + timedelta(days=1))
        return ((low - 1) / QUANTITIES, high / QUANTITIES) if load == BY_QUANTITY else (0.0, 1.0)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return which columns of the order lines it reads, as DuckDB meets them: FROM, WHERE, and then SELECT."""
        select, rest = self.sql.split(" FROM ")
        return tuple(dict.fromkeys(re.findall(r"lo_[a-z]+", rest + select)))

    def conditions(self, table: str) -> str:
        """Return what the query asks of one of the small tables, as SQL; empty if nothing."""
        return " AND ".join(self.asked(table[0]))

    def asked(self, prefix: str = "lo") -> list[str]:
        """Return what the query asks of the columns with a prefix; those of the order lines have `lo`."""
        parts = re.split(r" AND (?=[a-z]+_)", self.where)
        return [part for part in parts if part.startswith(f"{prefix}_")]

    def share(self, load: str) -> float:
        """Return the share of rows that lie between those places: what the query has to look at."""
        first, last = self.span(load)
        return last - first

    @property
    def sql(self) -> str:
        """Return the query; `{table}` stands for the order lines."""
        joins = "".join(f" JOIN {name} ON lo_{KEYS[name]} = {name[0]}_{KEYS[name]}" for name in self.joins)
        return (
            f"SELECT {self.select} FROM {{table}} JOIN dates ON lo_orderdate = d_datekey{joins}"
            f" WHERE {self.where}{' GROUP BY ALL ORDER BY ALL' if self.joins else ''}"
        )


def _rank(day: date) -> float:
    return min(max(0, (day - _FIRST).days), DAYS) / DAYS


def _read(told: dict[str, Any]) -> StarQuery:
    lists = {name: tuple(one) for name, one in told.items() if isinstance(one, list)}
    return StarQuery(**{**told, **lists})


QUERIES = {name: _read(told) for name, told in read_yaml(Path(__file__).with_name("queries.yaml")).items()}
"""The thirteen, by the benchmark's numbers."""


def shares(load: str) -> list[float]:
    """Return what each of the thirteen still reads of the table, if it reads where it has to and nowhere else."""
    return [query.share(load) for query in QUERIES.values()]


def dimensions(scale_factor: float) -> tuple[str, ...]:
    """Return the statements that make the tables around the order lines, in memory, at TPC-H's scale factor.

    In the benchmark's proportions: seven years of days, five regions of five nations of ten cities, five manufacturers
    of five categories of forty brands.
    """
    keys = {"customer": 150_000, "supplier": 10_000, "part": 200_000}
    counts = {name: max(1, round(count * scale_factor)) for name, count in keys.items()}
    return (
        """CREATE TEMP TABLE dates AS
           SELECT strftime(day, '%Y%m%d')::INTEGER AS d_datekey, day::DATE AS d_date, year(day) AS d_year,
                  year(day) * 100 + month(day) AS d_yearmonthnum, strftime(day, '%b%Y') AS d_yearmonth,
                  (dayofyear(day) - 1) // 7 + 1 AS d_weeknuminyear
           FROM range(DATE '1992-01-01', DATE '1999-01-01', INTERVAL 1 DAY) AS calendar(day)""",
        *(
            f"""CREATE TEMP TABLE {name} AS
                SELECT (i + 1)::INTEGER AS {letter}_{key}, n // 50 AS {letter}_region, n // 10 AS {letter}_nation,
                       n AS {letter}_city
                FROM (SELECT i, (hash(i + {seed}) % 250)::INTEGER AS n FROM range({counts[name]}) AS made(i))"""
            for name, letter, key, seed in (("customer", "c", "custkey", 1), ("supplier", "s", "suppkey", 2))
        ),
        f"""CREATE TEMP TABLE part AS
            SELECT (i + 1)::INTEGER AS p_partkey, n // 200 AS p_mfgr, n // 40 AS p_category, n AS p_brand1
            FROM (SELECT i, (hash(i + 3) % 1000)::INTEGER AS n FROM range({counts["part"]}) AS made(i))""",
    )
