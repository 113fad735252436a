"""A warehouse with a register. A DuckDB database keeps, for each table, a list of where its row groups lie and what is
in them; the register is read, the halls are not entered, and the door is never opened for writing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from readahead.datasets.build import literal
from readahead.datasets.labels import Stored, ranks
from readahead.errors import BadValue, DataError
from readahead.models.reads import Span
from readahead.models.table_layout import Range

MOST_LABELS = 200_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Register:
    """What a database says of one table."""

    schema: str
    name: str
    columns: tuple[Stored, ...]
    groups: tuple[tuple[int, int, tuple[Span, ...]], ...]
    """(rows, bytes, reads) of each row group."""


def identifier(name: str) -> str:
    """Return a name as an SQL identifier, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Attach a database as `file`, to be read only. Raises `DataError` if it is locked or damaged."""
    with duckdb.connect() as connection:
        try:
            connection.execute(f"ATTACH {literal(path)} AS file (READ_ONLY)")
        except duckdb.Error as error:
            first = str(error).splitlines()[0]
            if "set lock" in first.lower() or "another process" in first.lower():
                raise DataError(
                    f"{path} is locked by another process that writes to it. Close that one, or give a copy."
                ) from error
            if "encrypt" in first.lower():
                raise DataError(
                    f"{path} is an encrypted database. Give a copy without encryption."
                ) from error
            raise DataError(f"{path} is no database that DuckDB can open: {first}. Give another.") from error
        yield connection


def stored(path: Path, table: str = "") -> Register:
    """Return what the register says of a table: the one named, or the one with the most rows.

    Bytes are counted in whole blocks; a block that columns share is shared out among them.
    """
    with opened(path) as connection:
        schema, name = _table(connection, path, table)
        place = literal(f"file.{identifier(schema)}.{identifier(name)}")
        connection.execute(
            "CREATE TEMP TABLE s AS SELECT row_group_id g, column_id c, column_name p, column_path k, segment_type t,"
            f' "count" n, compression e, stats l, block_id b FROM pragma_storage_info({place})'
        )
        block = connection.execute(
            "SELECT block_size FROM pragma_database_size() WHERE database_name = 'file'"
        ).fetchone()
        block_bytes = int(block[0]) if block else 262_144
        sums = connection.execute(
            "SELECT g, max(r), count(DISTINCT b) FILTER (b >= 0), min(b) FILTER (b >= 0) FROM (SELECT g, b,"
            " sum(n) FILTER (t <> 'VALIDITY') OVER (PARTITION BY g, k) r FROM s) GROUP BY g ORDER BY g"
        ).fetchall()
        if not sums:
            raise DataError(f"Table {name!r} of {path} holds no rows. Name another with --table.")
        blocks = connection.execute("SELECT count(DISTINCT b) FROM s WHERE b >= 0").fetchone()
        whole = (blocks[0] if blocks else 0) * block_bytes or path.stat().st_size
        shares = sum(count or 1 for _, _, count, _ in sums)
        groups = tuple(
            (int(rows), int(size), ((int(first or 0) * block_bytes, int(size)),))
            for _, rows, count, first in sums
            for size in [max(1, whole * (count or 1) // shares)]
        )
        return Register(
            schema=schema,
            name=name,
            columns=_columns(connection, whole, groups, _lists(connection, schema, name)),
            groups=groups,
        )


def _table(connection: duckdb.DuckDBPyConnection, path: Path, asked: str) -> tuple[str, str]:
    known = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'file' AND NOT internal"
        " ORDER BY estimated_size DESC, schema_name, table_name"
    ).fetchall()
    if not known:
        raise DataError(f"{path} holds no tables. Give a database with at least one.")
    for schema, name in known:
        if asked in ("", name, f"{schema}.{name}"):
            return schema, name
    raise BadValue(f"table={asked!r} must be one of: {', '.join(name for _, name in known[:12])}.")


def _lists(connection: duckdb.DuckDBPyConnection, schema: str, table: str) -> frozenset[str]:
    """Return the columns that are lists or maps."""
    found = connection.execute(
        "SELECT column_name FROM duckdb_columns() WHERE database_name = 'file' AND schema_name = ? AND table_name = ?"
        " AND (data_type LIKE '%]' OR data_type LIKE 'MAP(%')",
        [schema, table],
    ).fetchall()
    return frozenset(name for (name,) in found)


def _columns(
    connection: duckdb.DuckDBPyConnection,
    whole: int,
    groups: tuple[tuple[int, int, tuple[Span, ...]], ...],
    lists: frozenset[str],
) -> tuple[Stored, ...]:
    lines = connection.execute(
        "SELECT p, greatest(count(DISTINCT b) FILTER (b >= 0), 1), count(DISTINCT g),"
        " count(DISTINCT g) FILTER (e ILIKE '%dict%'), string_agg(DISTINCT e, ', ') FILTER (t <> 'VALIDITY')"
        " FROM s GROUP BY c, p ORDER BY c"
    ).fetchall()
    shares = sum(line[1] for line in lines)
    labels = connection.execute(
        f"SELECT p, g, l FROM s WHERE t <> 'VALIDITY' AND c < 32 ORDER BY p, g LIMIT {MOST_LABELS}"
    ).fetchall()
    ends: dict[str, dict[int, list[tuple[Any, Any]]]] = {}
    for name, group, told in labels:
        low, high = ((told or {}).get(end) if isinstance(told, dict) else None for end in ("min", "max"))
        if low is not None and high is not None:
            ends.setdefault(name, {}).setdefault(group, []).append((low, high))
    rows = [n for n, _, _ in groups]
    return tuple(
        Stored(
            name=name, size_bytes=whole * part // shares, raw_bytes=0, chunks=chunks,
            dictionary_chunks=dictionaries, encodings=kinds or "", in_list=name in lists,
            ranges=_ranges(ends.get(name, {}), rows),
        )
        for name, part, chunks, dictionaries, kinds in lines
    )  # fmt: skip


def _ranges(ends: dict[int, list[tuple[Any, Any]]], rows: list[int]) -> tuple[Range, ...]:
    """Return the ranges of a column, of which each row group may have several segments."""
    if len(ends) != len(rows):
        return ()
    pairs: list[tuple[str | None, str | None]] = [
        (str(min(low for low, _ in ends[g])), str(max(high for _, high in ends[g]))) for g in sorted(ends)
    ]
    return ranks(pairs, rows, words=isinstance(next(iter(ends.values()))[0][0], str))
