"""A surveyor who walks around a warehouse without opening a crate. From the labels alone (the metadata) he draws how
the goods lie: how many crates, how heavy, what is written on each as the smallest and largest thing inside.

What is kept is bounded: sums per row group and per column, and the chunks of the wanted columns only, so that 2,000
columns or 1,000 row groups are no more than a few lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import duckdb

from readahead.datasets import database
from readahead.datasets.build import literal
from readahead.datasets.finder import Found, find
from readahead.datasets.inspect import footer_length
from readahead.datasets.labels import Stored, ranks
from readahead.errors import BadValue, DataError
from readahead.models.parquet_reads import footer_reads, group_reads
from readahead.models.reads import Reads, Span
from readahead.models.shapes import ColumnChunk, FileShape, RowGroup
from readahead.models.table_layout import GAP_BYTES, MOST_GROUPS, Range, Table

MOST_JUDGED = 32
"""Columns whose order is judged, in file order, beside the one that is filtered by."""
MEMORY = "512MB"
"""What DuckDB may use to look at metadata."""
REST = "\0rest"
DATABASE_HEAD = 3 * 4_096
"""Three pages at the front of a database say where its register lies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What the metadata says."""

    asked: str
    found: Found
    schema_name: str = ""
    table_name: str = ""
    """Both of a database."""
    columns: tuple[Stored, ...]
    group_bytes: tuple[int, ...]
    """Of each row group that was looked at."""
    footer_bytes: int
    """Of all footers that were looked at."""
    table: Table
    """For the arithmetic: all files, those not looked at standing as copies of those that were."""
    orders: dict[str, tuple[Range, ...]]
    """Of each column that was judged: smallest and largest value of each row group, as ranks."""
    by: str = ""
    """The column that is filtered by."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """Return the names of the wanted columns, outermost names only, in file order."""
        return tuple(dict.fromkeys(c.top for c in self.columns if c.name in self.table.wanted))

    def named(self, name: str) -> Stored:
        """Return one of the columns by its full name."""
        return next(column for column in self.columns if column.name == name)


def survey(asked: str, *, columns: Sequence[str] = (), by: str = "", table: str = "") -> Survey:
    """Look at the metadata of what lies at a path, for a query of `columns` (all, if none) filtered `by` one.

    Raises `DataError` for what cannot be read and `BadValue` for a column or table that is not there, and for a
    filter by what lies in a list.
    """
    found = find(asked)
    if found.kind == "duckdb":
        stored = database.stored(found.files[0], table)
        seen = _drawn(asked, found, columns, by, stored.columns, stored.groups, [(0, DATABASE_HEAD)])
        return replace(seen, schema_name=stored.schema, table_name=stored.name)
    if table:
        raise BadValue(
            f"table={table!r} must be of a DuckDB database, and {asked} is Parquet. Leave the table out."
        )
    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY}'")
        _load(connection, found.files)
        return _parquet(connection, asked, found, columns, by)


def _load(connection: duckdb.DuckDBPyConnection, files: Sequence[Path]) -> None:
    listed = ", ".join(literal(escaped(file)) for file in files)
    try:
        connection.execute(
            "CREATE TEMP TABLE m AS SELECT file_name f, row_group_id g, column_id c, row_group_num_rows n,"
            " path_in_schema p, least(nullif(dictionary_page_offset, 0), data_page_offset) o,"
            " total_compressed_size z, total_uncompressed_size u, encodings e, type t,"
            " coalesce(dictionary_page_offset, 0) > 0 d, stats_min_value lo, stats_max_value hi"
            f" FROM parquet_metadata([{listed}])"
        )
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise DataError(f"DuckDB cannot read the metadata of {files[0]}: {first}. Write it again.") from error


def escaped(file: Path) -> str:
    """Return a path in which no character is taken for a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(file))


def _parquet(
    connection: duckdb.DuckDBPyConnection, asked: str, found: Found, columns: Sequence[str], by: str
) -> Survey:
    _require_one_table(connection, asked)
    lines = connection.execute(
        "SELECT p, any_value(t), sum(z)::BIGINT, sum(u)::BIGINT, count(*), sum(d::INT)::BIGINT,"
        " string_agg(DISTINCT e, ', ') FROM m GROUP BY c, p ORDER BY c"
    ).fetchall()
    if not lines:
        raise DataError(f"{asked} holds no rows. Give a file with at least one row group.")
    nested = _nesting(connection, found.files[0])
    rows_of = connection.execute("SELECT sum(n) FROM (SELECT DISTINCT f, g, n FROM m)").fetchone()
    if not rows_of or not rows_of[0]:
        raise DataError(f"{asked} holds no rows. Give a file with at least one row.")
    kinds = [
        Stored(
            name=p,
            physical=t,
            size_bytes=z,
            raw_bytes=u,
            chunks=k,
            dictionary_chunks=d,
            encodings=e or "",
            path=path,
            in_list=in_list,
        )
        for p, t, z, u, k, d, e in lines
        for path, in_list in [nested.get(p, ((p,), False))]
    ]
    wanted = choose(kinds, columns)
    inner = "" if not columns else f" WHERE p IN ({', '.join(literal(name) for name in wanted)})"
    sums = connection.execute(
        "SELECT f, g, any_value(n), min(o), sum(z)::BIGINT FROM m GROUP BY f, g ORDER BY f, g"
    )
    heads = sums.fetchall()
    chunks: dict[tuple[str, int], list[ColumnChunk]] = {}
    if columns:
        for f, g, p, o, z in connection.execute(f"SELECT f, g, p, o, z FROM m{inner}").fetchall():
            chunks.setdefault((f, g), []).append(ColumnChunk(column=p, offset=o, size_bytes=z))
    groups = [(n, z, _spans(chunks.get((f, g)), n, o, z)) for f, g, n, o, z in heads]
    footers = [_footer(path) for path in found.files]
    judged = list(
        dict.fromkeys([*([_filter(kinds, by)] if by else []), *[k.name for k in kinds[:MOST_JUDGED]]])
    )
    labels = connection.execute(
        f"SELECT p, lo, hi FROM m WHERE p IN ({', '.join(literal(name) for name in judged)}) ORDER BY p, f, g"
    ).fetchall()
    texts = {kind.name for kind in kinds if kind.physical == "BYTE_ARRAY"}
    orders = {}
    for name, found_labels in groupby(labels, key=itemgetter(0)):
        pairs = [(lo, hi) for _, lo, hi in found_labels]
        ranked = ranks(pairs, [n for n, _, _ in groups], words=name in texts)
        if ranked:
            orders[name] = ranked
    spans = [span for reads, _ in footers for span in reads]
    length = sum(size for _, size in footers)
    return _drawn(asked, found, columns, by, kinds, groups, spans, length, orders)


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


def _require_one_table(connection: duckdb.DuckDBPyConnection, asked: str) -> None:
    """Refuse files that are not of one table: DuckDB reads of all of them the columns of the first."""
    odd = connection.execute(
        "WITH one AS (SELECT min(f) f FROM m), has AS (SELECT DISTINCT f, p FROM m), own AS (FROM has SEMI JOIN one"
        " USING (f)), due AS (SELECT o.f, own.p FROM (SELECT DISTINCT f FROM m) o, own),"
        " odd AS (SELECT *, 'lack columns of' w FROM due ANTI JOIN has USING (f, p)"
        " UNION ALL SELECT *, 'have columns beside those of' FROM has ANTI JOIN own USING (p))"
        " SELECT (FROM one), f, p, w, count(DISTINCT f) OVER (PARTITION BY w) FROM odd ORDER BY w DESC, f, p LIMIT 1"
    ).fetchone()
    if odd:
        first, other, column, differ, count = odd
        raise DataError(
            f"{asked} holds files of more than one table: {count} of them {differ} {Path(first).name}, such as"
            f" {column!r} in {Path(other).name}. Give the files of one table, by a folder or a pattern."
        )


def _spans(chunks: list[ColumnChunk] | None, rows: int, offset: int, size: int) -> tuple[Span, ...]:
    """Return the reads of one row group: all of it, or its wanted chunks beside one that stands for the rest."""
    if chunks is None:
        return ((offset, size),)
    rest = size - sum(chunk.size_bytes for chunk in chunks)
    filler = ColumnChunk(column=REST, offset=offset, size_bytes=max(0, rest))
    group = RowGroup(rows=rows, chunks=(filler, *chunks))
    return tuple(group_reads(group, {chunk.column for chunk in chunks}, GAP_BYTES))


def _footer(path: Path) -> tuple[list[Span], int]:
    length, size = footer_length(path), path.stat().st_size
    return footer_reads(FileShape(size_bytes=size, footer_bytes=length, row_groups=())), length


def _filter(columns: Sequence[Stored], by: str) -> str:
    """Return the full name of the column to filter by: of one that holds others, the first with one value a row."""
    mine = choose(columns, (by,))
    plain = [column.name for column in columns if column.name in mine and not column.in_list]
    if not plain:
        raise BadValue(f"by={by!r} must have one value a row, and it lies in a list. Give a plain column.")
    return plain[0]


def choose(columns: Sequence[Stored], named: Sequence[str]) -> list[str]:
    """Return the columns that are meant by their names, with all that is nested in them; all, if none is named."""
    if not named:
        return [column.name for column in columns]
    found: list[str] = []
    for name in named:
        mine = [c.name for c in columns if name in (c.name, c.top)]
        if not mine:
            known = list(dict.fromkeys(c.top for c in columns))
            shown = ", ".join(known[:12]) + (f" and {len(known) - 12} more" if len(known) > 12 else "")
            raise BadValue(
                f"column={name!r} must be one of: {shown}. Names are told from one another by case."
            )
        found += mine
    return list(dict.fromkeys(found))


Group = tuple[int, int, tuple[Span, ...]]
"""(rows, bytes, reads) of a row group."""


def _drawn(
    asked: str,
    found: Found,
    columns: Sequence[str],
    by: str,
    kinds: Sequence[Stored],
    groups: Sequence[Group],
    footers: Sequence[Span],
    footer_bytes: int = DATABASE_HEAD,
    orders: dict[str, tuple[Range, ...]] | None = None,
) -> Survey:
    """Put the survey together."""
    orders = orders if orders is not None else {k.name: k.ranges for k in kinds if k.ranges}
    rows = max(1, sum(n for n, _, _ in groups))
    wanted = choose(kinds, columns)
    filtered = _filter(kinds, by) if by else ""
    times = min(round(found.total_files / len(found.files)), max(1, MOST_GROUPS // len(groups)))
    own = orders.get(filtered, ())
    table = Table(
        reads=Reads.of(
            [span for span in footers for _ in range(times)],
            [spans for _, _, spans in groups for _ in range(times)],
            [n for n, _, _ in groups for _ in range(times)],
        ),
        widths=tuple((kind.name, kind.size_bytes / rows) for kind in kinds),
        wanted=frozenset(wanted),
        ranges=tuple(one for one in own for _ in range(times)),
        footer_bytes_per_group=max(1.0, footer_bytes / len(groups)),
    )
    return Survey(
        asked=asked,
        found=found,
        columns=tuple(kinds),
        group_bytes=tuple(size for _, size, _ in groups),
        footer_bytes=footer_bytes,
        table=table,
        orders=orders,
        by=filtered,
    )
