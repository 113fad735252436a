"""A star on the sheet: one long table of order lines in the middle, and around it the few small ones that say what
its numbers mean. The Star Schema Benchmark of P. O'Neil, E. O'Neil and X. Chen (2009), made from TPC-H's own rows.

`lineorder` joins TPC-H's lineitem to its orders under the benchmark's names, with dates as whole numbers such as
19940131; only a part's cost is worked out by a rule of our own. The tables around it are made in memory in the
benchmark's proportions: seven years of days, five regions of five nations of ten cities, five manufacturers of five
categories of forty brands.
"""

from __future__ import annotations

MADE_FROM = ("lineitem", "orders")
"""Tables of TPC-H's generator that order lines are made from."""


def lineorder_sql(lineitem: str, orders: str) -> str:
    """Return the query that makes the order lines from two files, given as SQL literals."""
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


def dimensions(scale_factor: float) -> tuple[str, ...]:
    """Return the statements that make the tables around the order lines, in memory, at TPC-H's scale factor."""
    keys = {"customer": 150_000, "supplier": 10_000, "part": 200_000}
    counts = {name: max(1, round(count * scale_factor)) for name, count in keys.items()}
    return (
        """CREATE TABLE dates AS
           SELECT strftime(day, '%Y%m%d')::INTEGER AS d_datekey, day::DATE AS d_date, year(day) AS d_year,
                  year(day) * 100 + month(day) AS d_yearmonthnum, strftime(day, '%b%Y') AS d_yearmonth,
                  (dayofyear(day) - 1) // 7 + 1 AS d_weeknuminyear
           FROM range(DATE '1992-01-01', DATE '1999-01-01', INTERVAL 1 DAY) AS calendar(day)""",
        *(
            f"""CREATE TABLE {name} AS
                SELECT (i + 1)::INTEGER AS {letter}_{key}, n // 50 AS {letter}_region, n // 10 AS {letter}_nation,
                       n AS {letter}_city
                FROM (SELECT i, (hash(i + {seed}) % 250)::INTEGER AS n FROM range({counts[name]}) AS made(i))"""
            for name, letter, key, seed in (("customer", "c", "custkey", 1), ("supplier", "s", "suppkey", 2))
        ),
        f"""CREATE TABLE part AS
            SELECT (i + 1)::INTEGER AS p_partkey, n // 200 AS p_mfgr, n // 40 AS p_category, n AS p_brand1
            FROM (SELECT i, (hash(i + 3) % 1000)::INTEGER AS n FROM range({counts["part"]}) AS made(i))""",
    )
