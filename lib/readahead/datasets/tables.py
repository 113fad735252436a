"""The four tables of the workbook: their columns, their sizes, and the SQL that makes the same rows on every machine.

`comments` is a Stack Overflow comments table as in N. Neugebauer's "Clustered Columnstore Indexes – part 50
(Columnstore IO)", whose full size has his row count; `comments_narrow` is the same without its text column, as he
made it; `lineitem` is TPC-H's; `lineorder` is that of the Star Schema Benchmark of P. O'Neil, E. O'Neil and X. Chen
(2009), made from TPC-H's own rows.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from readahead.paths import read_yaml

_FILE = read_yaml(Path(__file__).with_name("tables.yaml"))
WORDS: list[str] = _FILE["words"].split()
"""The words of which comments are made."""

_READ = {"number": "sum({})", "time": "sum(epoch({}))", "text": "sum(strlen({}))", "letter": "count({})"}
"""What has to read every value of a column (min and max come from statistics, so not those)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table that can be built at any size, row group and order."""

    name: str
    key: str
    """The column that lookups go by; rows lie in its order unless a recipe says otherwise."""
    unique: Sequence[str]
    """The columns that together tell rows apart: what a sort ends with, so that no tie is left to chance."""
    rows: Mapping[str, int]
    """Rows at each size."""
    bytes_per_row: float
    """Compressed, roughly: what a model starts from before the file is there."""
    columns: Mapping[str, tuple[str, float, float]]
    """In file order, with their kind, and the compressed bytes of a row in row groups of 2,048 and of 131,072 rows."""
    scale_factor: Mapping[str, float] = field(default_factory=dict)
    """TPC-H's scale factor at each size, for a table that its generator makes."""
    made_from: Sequence[str] = ()
    """The tables of TPC-H's generator that it is made from, if not the one of its own name."""
    orders: Mapping[str, str] = field(default_factory=dict)
    """Orders that no column has, by name, as SQL."""

    @property
    def every_column(self) -> str:
        """Return a select list that has to read every column."""
        return ", ".join(_READ[kind].format(name) for name, (kind, _, _) in self.columns.items())

    def widths(self, group_rows: int) -> tuple[float, ...]:
        """Return the bytes of a row in each column: larger row groups share their dictionaries among more rows."""
        share = min(1.0, max(0.0, math.log2(group_rows / 2_048) / 6))
        return tuple(small + (large - small) * share for _, small, large in self.columns.values())

    def key_count(self, size: str) -> int:
        """Return how many different keys there are."""
        return int(1_500_000 * self.scale_factor[size]) if self.scale_factor else self.rows[size]

    def nth_key(self, n: Any) -> Any:
        """Return the n-th key, or an array of them: 0, 1, 2 …; of TPC-H the first 8 of every 32, but not 0 (4.2.3)."""
        return (n + 1) // 8 * 32 + (n + 1) % 8 if self.scale_factor else n

    def some_keys(self, size: str, count: int, seed: int) -> list[int]:
        """Return `count` different keys drawn at random, in ascending order; the same for the same seed."""
        every = self.key_count(size)
        enough = 10 ** math.ceil(math.log10(max(count, 10)))
        return [self.nth_key(n) for n in sorted(_drawn(every, seed, enough)[:count])]


@functools.lru_cache(maxsize=64)
def _drawn(every: int, seed: int, count: int) -> list[int]:
    """Return different numbers from 0 to `every`, drawn once: fewer keys are the first of more."""
    return random.Random(seed).sample(range(every), min(count, every))


TABLES = {name: Table(name=name, **told) for name, told in _FILE["tables"].items()}


def comments_sql(table: str, rows: int, first: int = 0) -> str:
    """Return the query that makes `rows` rows of a comments table from `first` on."""
    text = ""
    if table == "comments":
        words = "['" + "', '".join(WORDS) + "']"
        # Most comments have a line or two; one in 64 goes on to the 700 characters that the site allows.
        length = "12 + (hash(i * 7 + 3) % 28)::BIGINT + CASE WHEN hash(i + 9) % 64 = 0 THEN 110 ELSE 0 END"
        word = f"{words}[1 + (hash(i * 160 + n) % {len(WORDS)})::BIGINT]"
        text = f"left(array_to_string(list_transform(range({length}), lambda n: {word}), ' '), 700) AS text,"
    return f"""
        SELECT i::INTEGER AS id,
               TIMESTAMP '2008-08-01' + to_seconds(i * 5 + (hash(i + 11) % 3600)::BIGINT) AS creation_date,
               (i // 3 + (hash(i + 1) % 1000000)::BIGINT)::INTEGER AS post_id,
               (CASE WHEN hash(i + 2) % 4 = 0 THEN (hash(i + 5) % 12)::BIGINT ELSE 0 END)::INTEGER AS score,
               {text}
               CASE WHEN hash(i + 4) % 50 = 0 THEN NULL
                    ELSE (hash(i + 3) % 3000000)::BIGINT END::INTEGER AS user_id
        FROM range({first}, {first + rows}) AS made(i)"""


def lineorder_sql(lineitem: str, orders: str) -> str:
    """Return the query that makes the order lines from two files of TPC-H, given as SQL literals.

    Lineitem is joined to its orders under the benchmark's names, with dates as whole numbers such as 19940131; only a
    part's cost is worked out by a rule of our own.
    """
    return f"""
        SELECT l_orderkey AS lo_orderkey, l_linenumber AS lo_linenumber, o_custkey AS lo_custkey,
               l_partkey AS lo_partkey, l_suppkey AS lo_suppkey,
               strftime(o_orderdate, '%Y%m%d')::INTEGER AS lo_orderdate,
               o_orderpriority AS lo_orderpriority, o_shippriority::INTEGER AS lo_shippriority,
               l_quantity::INTEGER AS lo_quantity, (l_extendedprice * 100)::INTEGER AS lo_extendedprice,
               (o_totalprice * 100)::INTEGER AS lo_ordtotalprice, (l_discount * 100)::INTEGER AS lo_discount,
               (l_extendedprice * (100 - l_discount * 100))::INTEGER AS lo_revenue,
               (l_extendedprice * 60 / l_quantity)::INTEGER AS lo_supplycost, (l_tax * 100)::INTEGER AS lo_tax,
               strftime(l_commitdate, '%Y%m%d')::INTEGER AS lo_commitdate, l_shipmode AS lo_shipmode
        FROM read_parquet({lineitem}) JOIN read_parquet({orders}) ON l_orderkey = o_orderkey"""
