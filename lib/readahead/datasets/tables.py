"""What the shelves hold: four tables whose rows are made, not fetched, and are the same on every machine.

`comments` is a Stack Overflow comments table as in N. Neugebauer's "Clustered Columnstore Indexes – part 50
(Columnstore IO)", whose full size has his row count; `comments_narrow` is the same without its text column, as he
made it; `lineitem` is TPC-H's; `lineorder` is the Star Schema Benchmark's, made from TPC-H's (see `star`).
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field

from readahead.datasets.star import MADE_FROM

WORDS = (
    "the a to of and is in you it that this for on with not are have be can use what your if my as do code but"
    " question answer would like should could because when how why example error value list query index table"
    " row column page read write disk memory cache file string number function method class object array loop"
    " thread server client request response database select join where group order limit please try check look"
    " think know want need make work run test build change add remove create update delete find return"
)
"""The words of which comments are made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table that can be built at any size, row group and order."""

    name: str
    key: str
    """The column that lookups go by; rows lie in its order unless a recipe says otherwise."""
    columns: tuple[str, ...]
    unique: tuple[str, ...]
    """The columns that together tell rows apart: what a sort ends with, so that no tie is left to chance."""
    rows: dict[str, int]
    """Rows at each size. For lineitem, TPC-H's own numbers."""
    bytes_per_row: float
    """Compressed, roughly: what a model starts from before the file is there."""
    column_bytes: tuple[tuple[float, ...], tuple[float, ...]]
    """The same by columns, in row groups of 2,048 and of 131,072 rows."""
    every_column: str
    """A select list that has to read every column (min and max come from statistics, so not those)."""
    scale_factor: dict[str, float] | None = None
    """TPC-H's scale factor at each size, for a table that its generator makes."""

    made_from: tuple[str, ...] = ()
    """The tables of TPC-H's generator that it is made from, if not the one of its own name."""
    orders: dict[str, str] = field(default_factory=dict)
    """Orders that no column has, by name, as SQL."""

    def widths(self, group_rows: int) -> tuple[float, ...]:
        """Return the bytes of a row in each column: larger row groups share their dictionaries among more rows."""
        share = min(1.0, max(0.0, math.log2(group_rows / 2_048) / 6))
        return tuple(small + (large - small) * share for small, large in zip(*self.column_bytes, strict=True))

    def key_count(self, size: str) -> int:
        """Return how many different keys there are."""
        return self.rows[size] if self.scale_factor is None else int(1_500_000 * self.scale_factor[size])

    def nth_key(self, n: int) -> int:
        """Return the n-th key from 0. A comments table has 0, 1, 2 …; TPC-H the first 8 of every 32 (4.2.3)."""
        return n if self.scale_factor is None else n // 8 * 32 + n % 8 + 1

    def some_keys(self, size: str, count: int, seed: int) -> list[int]:
        """Return `count` different keys drawn at random, in ascending order; the same for the same seed."""
        every = self.key_count(size)
        drawn = random.Random(seed).sample(range(every), min(count, every))
        return sorted(map(self.nth_key, drawn))


_LINES = {"tiny": 299_814, "small": 2_999_671, "full": 59_986_052}
_SCALE_FACTOR = {"tiny": 0.05, "small": 0.5, "full": 10.0}
_ROWS = {"tiny": 262_144, "small": 2_097_152, "full": 36_585_420}

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            name="comments_narrow",
            key="id",
            columns=("id", "creation_date", "post_id", "score", "user_id"),
            unique=("id",),
            rows=_ROWS,
            bytes_per_row=18.2,
            column_bytes=(
                (4.02, 5.93, 4.02, 0.46, 4.0),
                (4.0, 5.87, 4.0, 0.36, 3.97),
            ),
            every_column="sum(id), sum(epoch(creation_date)), sum(post_id), sum(score), sum(user_id)",
        ),
        Table(
            name="comments",
            key="id",
            columns=("id", "creation_date", "post_id", "score", "text", "user_id"),
            unique=("id",),
            rows=_ROWS,
            bytes_per_row=80.2,
            column_bytes=(
                (4.02, 5.93, 4.02, 0.46, 62.2, 4.0),
                (4.0, 5.87, 4.0, 0.36, 62.1, 3.97),
            ),
            every_column=(
                "sum(id), sum(epoch(creation_date)), sum(post_id), sum(score), sum(strlen(text)), sum(user_id)"
            ),
        ),
        Table(
            name="lineitem",
            key="l_orderkey",
            columns=(
                "l_orderkey",
                "l_partkey",
                "l_suppkey",
                "l_linenumber",
                "l_quantity",
                "l_extendedprice",
                "l_discount",
                "l_tax",
                "l_returnflag",
                "l_linestatus",
                "l_shipdate",
                "l_commitdate",
                "l_receiptdate",
                "l_shipinstruct",
                "l_shipmode",
                "l_comment",
            ),
            unique=("l_orderkey", "l_linenumber"),
            rows=_LINES,
            bytes_per_row=36.0,
            column_bytes=(
                (
                    1.57,
                    3.93,
                    2.89,
                    0.36,
                    0.89,
                    5.16,
                    0.55,
                    0.55,
                    0.28,
                    0.17,
                    3.54,
                    3.49,
                    3.57,
                    0.31,
                    0.43,
                    12.77,
                ),
                (
                    1.56,
                    2.16,
                    1.15,
                    0.24,
                    0.76,
                    5.07,
                    0.51,
                    0.51,
                    0.23,
                    0.13,
                    1.61,
                    1.6,
                    1.61,
                    0.26,
                    0.38,
                    12.74,
                ),
            ),
            every_column=(
                "sum(l_orderkey), sum(l_partkey), sum(l_suppkey), sum(l_linenumber), sum(l_quantity),"
                " sum(l_extendedprice), sum(l_discount), sum(l_tax), count(l_returnflag), count(l_linestatus),"
                " sum(epoch(l_shipdate)), sum(epoch(l_commitdate)), sum(epoch(l_receiptdate)),"
                " sum(strlen(l_shipinstruct)), sum(strlen(l_shipmode)), sum(strlen(l_comment))"
            ),
            scale_factor=_SCALE_FACTOR,
        ),
        Table(
            name="lineorder",
            key="lo_orderkey",
            columns=(
                "lo_orderkey",
                "lo_linenumber",
                "lo_custkey",
                "lo_partkey",
                "lo_suppkey",
                "lo_orderdate",
                "lo_orderpriority",
                "lo_shippriority",
                "lo_quantity",
                "lo_extendedprice",
                "lo_ordtotalprice",
                "lo_discount",
                "lo_revenue",
                "lo_supplycost",
                "lo_tax",
                "lo_commitdate",
                "lo_shipmode",
            ),
            unique=("lo_orderkey", "lo_linenumber"),
            rows=_LINES,
            bytes_per_row=28.0,
            column_bytes=(
                (
                    1.57,
                    0.36,
                    1.63,
                    3.93,
                    2.89,
                    1.51,
                    0.41,
                    0.02,
                    0.87,
                    4.01,
                    1.69,
                    0.54,
                    4.01,
                    3.5,
                    0.54,
                    3.58,
                    0.43,
                ),
                (
                    1.56,
                    0.24,
                    1.66,
                    2.27,
                    1.15,
                    1.24,
                    0.32,
                    0.0,
                    0.76,
                    4.0,
                    1.68,
                    0.51,
                    4.0,
                    1.44,
                    0.51,
                    1.6,
                    0.38,
                ),
            ),
            every_column=(
                "sum(lo_orderkey), sum(lo_linenumber), sum(lo_custkey), sum(lo_partkey), sum(lo_suppkey),"
                " sum(lo_orderdate), count(lo_orderpriority), sum(lo_shippriority), sum(lo_quantity),"
                " sum(lo_extendedprice), sum(lo_ordtotalprice), sum(lo_discount), sum(lo_revenue), sum(lo_supplycost),"
                " sum(lo_tax), sum(lo_commitdate), count(lo_shipmode)"
            ),
            scale_factor=_SCALE_FACTOR,
            made_from=MADE_FROM,
            orders={"year": "lo_orderdate // 10000"},
        ),
    )
}


def rows_sql(table: str, rows: int, first: int = 0) -> str:
    """Return the query that makes `rows` rows of a comments table from `first` on, the same on every machine."""
    text = ""
    if table == "comments":
        words = "['" + "', '".join(WORDS.split()) + "']"
        # Most comments have a line or two; one in 64 goes on to the 700 characters that the site allows.
        length = "12 + (hash(i * 7 + 3) % 28)::BIGINT + CASE WHEN hash(i + 9) % 64 = 0 THEN 110 ELSE 0 END"
        word = f"{words}[1 + (hash(i * 160 + n) % {len(WORDS.split())})::BIGINT]"
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
