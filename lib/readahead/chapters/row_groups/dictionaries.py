"""TPC-H's order lines with and without dictionaries: the file's length by arithmetic, and as DuckDB wrote it."""

from __future__ import annotations

from readahead.chapters.row_groups.laws import Column, chunk_bytes
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.experiments.figure import Axis, Line, Picture
from readahead.experiments.round import Study

USUAL_ROWS, LITTLE_ROWS = 122_880, 8_192
NONE, ANY = 1, 1_000_000
"""The dictionary limits at the ends: no column of the table has just one value, and none has a million."""


def columns(size: str = "tiny") -> tuple[Column, ...]:
    """Return lineitem's columns as TPC-H's specification (4.2.3) has them, at a size's scale factor.

    Prices follow from part and quantity, comments are drawn from a grammar: how many differ is not in the
    specification, and both are taken for new in nearly every row.
    """
    recipe = Recipe(table="lineitem", size=size)
    scale = (recipe.source.scale_factor or {})[size]
    many = 8.0 * recipe.rows
    dated = {"l_shipdate": 2_526.0, "l_commitdate": 2_466.0, "l_receiptdate": 2_555.0}
    plain = {
        "l_partkey": (8, 200_000 * scale), "l_suppkey": (8, 10_000 * scale), "l_linenumber": (4, 7),
        "l_quantity": (8, 50), "l_extendedprice": (8, many), "l_discount": (8, 11), "l_tax": (8, 9),
        "l_returnflag": (5, 3), "l_linestatus": (5, 2), "l_shipinstruct": (16, 4), "l_shipmode": (4 + 30 / 7, 7),
        "l_comment": (4 + 26.5, many),
    }  # fmt: skip
    key = Column(name="l_orderkey", value_bytes=8, values=1_500_000 * scale, in_order=True, repeats=4)
    return (
        key,
        *(Column(name=name, value_bytes=width, values=values) for name, (width, values) in plain.items()),
        *(Column(name=name, value_bytes=4, values=values) for name, values in dated.items()),
    )


def modeled_bytes(most_values: int | None, group_rows: int = USUAL_ROWS) -> float:
    """Return the uncompressed length of the order lines in row groups of `group_rows` rows, by arithmetic."""
    full, rest = divmod(Recipe(table="lineitem", size="tiny").rows, group_rows)
    groups = [(full, group_rows)] * bool(full) + [(1, rest)] * bool(rest)
    return sum(count * chunk_bytes(c, rows, most_values) for count, rows in groups for c in columns())


def written_bytes(most_values: int | None, group_rows: int = USUAL_ROWS) -> float:
    """Return the length as DuckDB wrote them: the column chunks of a file that is built for it."""
    recipe = Recipe(
        table="lineitem",
        size="tiny",
        row_group_rows=group_rows,
        compression="uncompressed",
        dictionary_values=most_values,
    )
    return float(sum(group.size_bytes for group in inspect.shape(store.path(recipe)).row_groups))


def figure(_: Study) -> Picture:
    """Draw the length of the file against the largest dictionary a column may have."""
    limits = [10.0 ** (n / 4) for n in range(25)]
    lines = [
        Line(
            name=f"model, groups of {rows:,} rows",
            points=[(limit, modeled_bytes(int(limit), rows)) for limit in limits],
        )
        for rows in (USUAL_ROWS, LITTLE_ROWS)
    ]
    written = [(float(limit), written_bytes(limit)) for limit in (NONE, 100, 10_000, ANY)]
    seen = Line(
        name=f"DuckDB, groups of {USUAL_ROWS:,} rows", points=written, source="measured", joined=False
    )
    return Picture(
        x=Axis(label="most values in a dictionary", kind="count"),
        y=Axis(label="bytes of all column chunks", kind="bytes", log=False),
        lines=(*lines, seen),
        marks={"DuckDB's own rule": USUAL_ROWS / 5},
    )
