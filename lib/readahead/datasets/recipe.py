"""Everything that decides what is in a dataset's file, from which the name of the file follows before it is built.

Two recipes that give the same bytes give the same name, even if they differ in what does not matter, such as the block
size of a Parquet file; two that give different bytes never do.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import duckdb

from readahead.datasets.tables import TABLES, Table
from readahead.errors import BadValue, require_choice, require_range
from readahead.models.table_layout import VECTOR_ROWS

ROW_GROUP_LOW, ROW_GROUP_HIGH = 2_048, 1_048_576
SIZES = ("tiny", "small", "full")
FORMATS = ("parquet", "native")
COMPRESSIONS = ("snappy", "zstd", "uncompressed")
MOST_VALUES = 10_000_000
"""DuckDB sets memory aside for as many values as a dictionary may have."""
MOST_PARTS = 64
MADE_BY = 3
"""Raised whenever the same recipe would give other bytes, so that older files are not taken for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A file to be built. Two equal recipes are one file."""

    table: str
    size: str = "small"
    format: str = "parquet"
    row_group_rows: int = 122_880
    """Rows in a row group, rounded up to a multiple of 2,048."""
    order: str = "key"
    """'key' for the table's own order, 'shuffled', the name of a column, or one of the table's named orders."""
    disorder: float = 0.0
    """How far rows may lie from where the order wants them, as a share of the table."""
    block_bytes: int = 262_144
    """Of a native file."""
    compression: str = "snappy"
    """Of a Parquet file."""
    index: bool = False
    """Whether a native file has a unique index on the key."""
    dictionary_values: int | None = None
    """Most values in the dictionary of a Parquet column chunk, which is written without one if it has more; None leaves
    DuckDB's own rule, a fifth of the rows of a row group."""
    part: int = 0
    """Which part of the table the file holds, of `parts` equal runs of rows: 0, 1, 2 …"""
    parts: int = 1
    """In how many files the table lies."""

    def __post_init__(self) -> None:
        orders = (
            ("key", "shuffled", *self.source.columns, *self.source.orders) if self.table in TABLES else ()
        )
        for name, choices in (
            ("table", TABLES),
            ("size", SIZES),
            ("format", FORMATS),
            ("compression", COMPRESSIONS),
            ("order", orders),
            ("index", (True, False)),
            ("block_bytes", (16_384, 32_768, 65_536, 131_072, 262_144)),
        ):
            require_choice(name, getattr(self, name), choices)
        for name, low, high, advice in (
            ("disorder", 0, 1, "Give a share of the table: 0.1 is 10 %."),
            ("row_group_rows", ROW_GROUP_LOW, ROW_GROUP_HIGH, "Give rows, such as 122880."),
            ("dictionary_values", 1, MOST_VALUES, "Give a number of values, or None for DuckDB's own rule."),
            ("parts", 1, MOST_PARTS, "Give 1 for the table in one file."),
            ("part", 0, self.parts - 1, "Parts are counted from 0."),
        ):
            value = getattr(self, name)
            if value is not None:
                require_range(name, value, low=low, high=high, whole=name != "disorder", advice=advice)
        generated = bool(self.source.scale_factor)
        if self.disorder and (self.order == "shuffled" or not generated):
            raise BadValue(
                f"disorder={self.disorder!r} of {self.table} in order {self.order!r} is not possible: only a generated"
                " table can lie in an order that is not quite kept. Give disorder=0, or table='lineorder' and a column."
            )
        if self.parts > 1 and generated:
            raise BadValue(
                f"parts={self.parts} of {self.table!r} is not possible: its generator makes it in one run."
                " Give a comments table."
            )
        if self.index and (self.format != "native" or len(self.source.unique) > 1):
            raise BadValue(
                f"index=True on a {self.format} file of {self.table} is not possible: only a native comments file"
                " has a unique key. Give format='native' and table='comments' or 'comments_narrow'."
            )

    @property
    def source(self) -> Table:
        """Return the table the file holds."""
        return TABLES[self.table]

    @property
    def usual(self) -> Recipe | None:
        """Return the same table as it lies by default, if a generator made it: other layouts are written from that one.

        None for the usual layout itself, and for a table that a query makes as quickly as a file is read.
        """
        usual = Recipe(table=self.table, size=self.size)
        return usual if self.source.scale_factor and self.facts != usual.facts else None

    @property
    def rows(self) -> int:
        """Return how many rows the file holds."""
        return self.source.rows[self.size] * (self.part + 1) // self.parts - self.first_row

    @property
    def first_row(self) -> int:
        """Return how many rows of the table come before those of the file."""
        return self.source.rows[self.size] * self.part // self.parts

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns, in file order."""
        return tuple(self.source.columns)

    @property
    def effective_order(self) -> str:
        """Return the order as it is: sorting by the only key is 'key'."""
        return "key" if [self.order] == list(self.source.unique) else self.order

    @property
    def effective_row_group_rows(self) -> int:
        """Return the rows of a full row group as DuckDB writes it."""
        return -(-int(self.row_group_rows) // VECTOR_ROWS) * VECTOR_ROWS

    @property
    def row_groups(self) -> int:
        """Return how many row groups the file has."""
        return -(-self.rows // self.effective_row_group_rows)

    @property
    def estimated_bytes(self) -> int:
        """Return roughly how long the file will be."""
        factor = {"uncompressed": 2.0, "zstd": 0.8}.get(self.compression, 1.0)
        return int(self.rows * self.source.bytes_per_row * factor * (1.6 if self.index else 1.0))

    @property
    def build_bytes(self) -> int:
        """Return roughly how much room a build takes at its most: the file, and a sort that spills to disk."""
        sorts = self.effective_order != "key" or bool(self.source.scale_factor)
        headers = 1_024 * self.row_groups * len(self.columns)
        return self.estimated_bytes * (3 if sorts else 2) + headers

    @property
    def facts(self) -> dict[str, object]:
        """Return all that decides the content: equal facts, equal content."""
        only: dict[str, object] = (
            {"block_bytes": self.block_bytes, "index": self.index}
            if self.format == "native"
            else {"compression": self.compression, "dictionary_values": self.dictionary_values}
        )
        return {
            "table": self.table,
            "size": self.size,
            "format": self.format,
            "row_group_rows": self.effective_row_group_rows,
            "order": self.effective_order,
            **({"part": self.part, "parts": self.parts} if self.parts > 1 else {}),
            **only,
            **({"disorder": self.disorder} if self.disorder else {}),
            "made_by": MADE_BY,
            "engine": duckdb.__version__,
        }

    @property
    def file_name(self) -> str:
        """Return the name the file is kept under: readable at the front, exact in its hash."""
        digest = hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()[:10]
        suffix = "parquet" if self.format == "parquet" else "duckdb"
        order = "" if self.effective_order == "key" else f"-{self.order}"
        part = f"-{self.part + 1}of{self.parts}" if self.parts > 1 else ""
        order += f"-within{self.disorder:g}" if self.disorder else ""
        return f"{self.table}-{self.size}{part}-rg{self.effective_row_group_rows}{order}-{digest}.{suffix}"
