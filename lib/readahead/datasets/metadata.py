"""Loads the metadata of Parquet files, or of a table of a DuckDB database, into one temporary table of column chunks.

The table `chunks` has a row for each column of each row group: f (file), g (row group), c and p (number and name of the
column), n (rows of the group), o (offset), z and u (bytes, and before compression), e (list of encodings), t (type),
d (whether it has a dictionary). The view `ends` has p, f, g, lo, hi: smallest and largest value as texts, of a chunk or
of parts of it. Nothing is opened for writing, and of the data nothing is read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import duckdb
import numpy as np

from readahead.datasets.build import literal
from readahead.errors import BadValue, DataError
from readahead.models.table_layout import UNKNOWN, Ranges


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredColumn:
    """One column (a leaf of the schema) as it is stored."""

    name: str
    """With the names of what it is nested in, joined by ', ' as DuckDB tells it."""
    path: tuple[str, ...]
    """The same names one by one, outermost first."""
    in_list: bool = False
    """Whether a row may have several of it."""
    words: bool = False
    """Whether its values are texts."""
    size_bytes: int
    raw_bytes: int
    """Before compression; 0 where it is not told."""
    chunks: int
    dictionary_chunks: int
    encodings: str

    @property
    def top(self) -> str:
        """Return the name a query uses."""
        return self.path[0]

    @property
    def nested(self) -> bool:
        """Return whether it lies inside another column."""
        return len(self.path) > 1

    @property
    def shown(self) -> str:
        """Return the name as people write it, with full stops between."""
        return ".".join(self.path)


def identifier(name: str) -> str:
    """Return a name as an SQL identifier, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def escaped(file: Path) -> str:
    """Return a path in which no character is taken for a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(file))


def columns(connection: duckdb.DuckDBPyConnection, file: Path | None) -> list[StoredColumn]:
    """Return the columns of what was loaded, in file order. `file` is one of the Parquet files."""
    nesting = _nesting(connection, file) if file else {}
    found = connection.execute(
        "SELECT p, any_value(t), sum(z)::BIGINT, sum(u)::BIGINT, count(*), sum(d::INT)::BIGINT,"
        " array_to_string(list_sort(list_distinct(flatten(list(e)))), ', ') FROM chunks GROUP BY c, p ORDER BY c"
    ).fetchall()
    kept = []
    for name, kind, size, raw, count, dictionaries, encodings in found:
        path, in_list = nesting.get(name, ((name,), "[" in (kind or "") or (kind or "").startswith("MAP(")))
        kept.append(
            StoredColumn(
                name=name, path=path, in_list=in_list, words=kind in ("BYTE_ARRAY", "VARCHAR"), size_bytes=size,
                raw_bytes=raw, chunks=count, dictionary_chunks=dictionaries, encodings=encodings or "",
            )
        )  # fmt: skip
    return kept


# -- Parquet files ---------------------------------------------------------------------------------------
def load_files(connection: duckdb.DuckDBPyConnection, files: Sequence[Path], asked: str) -> None:
    """Load the metadata of Parquet files. Raises `DataError` for what is not of one table."""
    listed = ", ".join(literal(escaped(file)) for file in files)
    connection.execute(
        "CREATE TEMP TABLE chunks AS SELECT file_name f, row_group_id g, column_id c, row_group_num_rows n,"
        " path_in_schema p, least(nullif(dictionary_page_offset, 0), data_page_offset) o,"
        " total_compressed_size z, total_uncompressed_size u, string_split(encodings, ', ') e, type t,"
        " coalesce(dictionary_page_offset, 0) > 0 d, stats_min_value lo, stats_max_value hi"
        f" FROM parquet_metadata([{listed}])"
    )
    connection.execute("CREATE TEMP VIEW ends AS SELECT p, f, g, lo, hi FROM chunks")
    odd = connection.execute(
        "WITH one AS (SELECT min(f) f FROM chunks), has AS (SELECT DISTINCT f, p FROM chunks),"
        " own AS (FROM has SEMI JOIN one USING (f)),"
        " due AS (SELECT o.f, own.p FROM (SELECT DISTINCT f FROM chunks) o, own),"
        " odd AS (SELECT *, 'lack columns of' w FROM due ANTI JOIN has USING (f, p)"
        " UNION ALL SELECT *, 'have columns beside those of' FROM has ANTI JOIN own USING (p))"
        " SELECT (FROM one), f, p, w, count(DISTINCT f) OVER (PARTITION BY w) FROM odd ORDER BY w DESC, f, p LIMIT 1"
    ).fetchone()
    if odd:  # DuckDB would read of all of them the columns of the first
        own, other, column, differ, count = odd
        raise DataError(
            f"{asked} holds files of more than one table: {count} of them {differ} {Path(own).name}, such as"
            f" {column!r} in {Path(other).name}. Give the files of one table, by a folder or a pattern."
        )


def _nesting(connection: duckdb.DuckDBPyConnection, file: Path) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return each column's names, outermost first, and whether it lies in a list, by its full name."""
    lines = connection.execute(
        "SELECT name, coalesce(num_children, 0), coalesce(repetition_type = 'REPEATED', false)"
        f" FROM parquet_schema({literal(escaped(file))}) ORDER BY column_id"
    ).fetchall()
    found: dict[str, tuple[tuple[str, ...], bool]] = {}
    above: list[tuple[tuple[str, ...], bool]] = []  # what the next lines lie in, once for each of them
    for name, children, repeated in lines[1:]:
        within, in_list = above.pop() if above else ((), False)
        own = (*within, name), in_list or repeated
        above += [own] * min(children, len(lines))
        if not children:
            found[", ".join(own[0])] = own
    return found


# -- a database ------------------------------------------------------------------------------------------
def attach(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Attach a database as `file`, to be read only. Raises `DataError` if it is locked or damaged."""
    try:
        connection.execute(f"ATTACH {literal(path)} AS file (READ_ONLY)")
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        said = f"{path} is no database that DuckDB can open: {first}. Give another."
        if "set lock" in first.lower() or "another process" in first.lower():
            said = f"{path} is locked by another process that writes to it. Close that one, or give a copy."
        elif "encrypt" in first.lower():
            said = f"{path} is an encrypted database. Give a copy without encryption."
        raise DataError(said) from error


def load_table(connection: duckdb.DuckDBPyConnection, path: Path, table: str) -> tuple[str, str]:
    """Load the metadata of a database's table: the one named, or the one with the most rows; return schema and name.

    Bytes are counted in whole blocks; a block that several chunks share is shared out among them.
    """
    attach(connection, path)
    schema, name = _choose(connection, path, table)
    place = literal(f"file.{identifier(schema)}.{identifier(name)}")
    connection.execute(
        "CREATE TEMP TABLE segments AS SELECT row_group_id g, column_id c, column_name p, column_path k,"
        ' segment_type t, "count" n, compression e, stats.min::VARCHAR lo, stats.max::VARCHAR hi, block_id b'
        f" FROM pragma_storage_info({place})"
    )
    connection.execute(
        f"""CREATE TEMP TABLE chunks AS
        WITH block AS (SELECT block_size FROM pragma_database_size() WHERE database_name = 'file'),
        uses AS (SELECT *, count(*) OVER (PARTITION BY b) k FROM (SELECT DISTINCT g, c, b FROM segments WHERE b >= 0)),
        sizes AS (SELECT g, c, sum(1 / k) z, min(b) o FROM uses GROUP BY g, c),
        groups AS (SELECT g, max(n) n FROM (SELECT g, sum(n) n FROM segments
                   WHERE t = 'VALIDITY' AND k = '[' || c || ', 0]' GROUP BY g, c) GROUP BY g),
        named AS (SELECT g, c, p, list(DISTINCT e) FILTER (t <> 'VALIDITY') e,
                  max(t) FILTER (k = '[' || c || ']') t, bool_or(e ILIKE '%dict%') d FROM segments GROUP BY g, c, p)
        SELECT '' f, g, c, n, p, coalesce(o, 0) * block_size o, greatest(1, coalesce(z * block_size,
               CASE WHEN (SELECT count(*) FROM uses) = 0 THEN {path.stat().st_size} / count(*) OVER () END))::BIGINT z,
               0 u, e, t, d FROM named JOIN groups USING (g) LEFT JOIN sizes USING (g, c), block"""
    )
    connection.execute(
        "CREATE TEMP VIEW ends AS SELECT p, '' f, g, lo, hi FROM segments WHERE k = '[' || c || ']'"
    )
    return schema, name


def _choose(connection: duckdb.DuckDBPyConnection, path: Path, asked: str) -> tuple[str, str]:
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


# -- the order of values ---------------------------------------------------------------------------------
Ends = tuple[int, str | None, str | None]
"""The number of a row group, and the smallest and largest value of it or of a part of it, as texts."""


def ranks(ends: Sequence[Ends], rows: Sequence[int], *, words: bool = False) -> Ranges:
    """Return each row group's smallest and largest value as ranks, or nothing if a group has none.

    A value's rank is the share of the table's rows that lie below it, each group's rows spread evenly between its ends;
    so a tenth of the rows is a tenth of the scale whatever the values are. `words` sorts numbers as text.
    """
    told = [(group, low, high) for group, low, high in ends if low is not None and high is not None]
    groups = [group for group, _, _ in told]
    if len(set(groups)) != len(rows):
        return UNKNOWN
    values = _numbers([text for _, low, high in told for text in (low, high)], words=words).reshape(-1, 2)
    low, high = np.full(len(rows), np.inf), np.full(len(rows), -np.inf)
    np.minimum.at(low, groups, values[:, 0])
    np.maximum.at(high, groups, values[:, 1])
    known = np.unique([low, high])
    first, last = np.searchsorted(known, low), np.searchsorted(known, high)
    wide, counts = last > first, np.array(rows, float)
    lone = np.bincount(first[~wide], counts[~wide], len(known))  # rows that all have one value
    each = counts[wide] / (high - low)[wide]
    begun, ended = (np.bincount(place[wide], each, len(known)) for place in (first, last))
    # rows between a value and the next one
    between = np.maximum(np.cumsum(begun - ended), 0.0) * np.append(np.diff(known), 0.0)
    above = np.cumsum(lone + between)
    below = np.append(0.0, above[:-1])
    return np.stack([below[first], below[last] + lone[last]], axis=1) / (above[-1] or 1.0)


def _numbers(texts: Sequence[str], *, words: bool) -> np.ndarray:
    """Return values as numbers that sort as they do: amounts and dates as they are, words by their first letters."""
    if not words:
        for read in (float, _moment):
            try:
                found = np.array([read(text) for text in texts])
            except (ValueError, OverflowError):
                continue
            if np.isfinite(found).all():
                return found
    start = len(os.path.commonprefix(list(texts)))  # noqa: RUF071  # letters, not folders
    letters = [text[start:].encode()[:8].ljust(8, b"\0") for text in texts]
    return np.array([float(int.from_bytes(word, "big")) for word in letters])


def _moment(text: str) -> float:
    """Return a date or a time as seconds, of which only differences mean anything."""
    return (datetime.fromisoformat(text).replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()  # noqa: DTZ001
