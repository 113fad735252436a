"""Describes a table of the learner's own by its metadata alone: row groups, columns, and the order of their values.

The metadata of Parquet files, or of a table of a DuckDB database, is loaded into one temporary table, `chunks`, with a
row for each column of each row group: f (file), g (row group), c and p (number and name of the column), n (rows of the
group), o (offset), z and u (bytes, and before compression), e (list of encodings), t (type), d (whether it has a
dictionary). The view `ends` has p, f, g, lo, hi: smallest and largest value as texts, of a chunk or of parts of it.
Nothing is opened for writing, and of the data nothing is read.

What is kept is bounded: sums per row group and per column, and the chunks of the wanted columns only, so that 2,000
columns or 1,000 row groups are no more than a few lines.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import duckdb
import numpy as np

from readahead import paths
from readahead.datasets.build import explained, literal
from readahead.datasets.inspect import footer_length
from readahead.errors import BadValue, DataError, printable
from readahead.models.reads import ColumnChunk, Reads, RowGroup, Span, footer_reads, group_reads
from readahead.models.table_layout import GAP_BYTES, MOST_GROUPS, UNKNOWN, Ranges, Table

SUFFIXES = (".parquet", ".parq", ".pq")
MOST_LOOKED_AT = 64
"""Files of a folder whose metadata is read; more are sampled evenly by name."""
MOST_ROWS = 10**12
"""Of the files that are looked at: one that says more is damaged."""
MOST_JUDGED = 32
"""Columns whose order is judged, in file order, beside the one that is filtered by."""
MOST_ENDS = 1_000_000
"""Smallest and largest values that are looked at, of all these columns."""
MEMORY = "512MB"
"""What DuckDB may use to look at metadata."""
REST = "\0rest"
DATABASE_HEAD = 3 * 4_096
"""Three pages at the front of a database say where its metadata lies."""

Group = tuple[str, int, int, int, int]
"""File, number, rows, offset and bytes of a row group."""


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
    def shown(self) -> str:
        """Return the name as people write it, with full stops between."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What lies at a path."""

    kind: str
    """parquet or duckdb."""
    files: tuple[Path, ...]
    """Those that are looked at."""
    total_files: int
    total_bytes: int
    """Of all files."""
    small_files: int
    """Parquet files below 1 MiB, of all."""
    damaged: tuple[str, ...] = ()
    """Why some of the files cannot be looked at, a sentence each."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Survey:
    """What the metadata says."""

    asked: str
    found: Found
    schema_name: str = ""
    table_name: str = ""
    """Both of a database."""
    columns: tuple[StoredColumn, ...]
    group_bytes: tuple[int, ...]
    """Of each row group that was looked at."""
    footer_bytes: int
    """Of all footers that were looked at."""
    table: Table
    """For the arithmetic: all files, those not looked at standing as copies of those that were."""
    orders: dict[str, Ranges]
    """Of each column that was judged: smallest and largest value of each row group, as ranks."""
    by: str = ""
    """The column that is filtered by."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """Return the names of the wanted columns, outermost names only, in file order."""
        return tuple(dict.fromkeys(c.top for c in self.columns if c.name in self.table.wanted))

    def named(self, name: str) -> StoredColumn:
        """Return one of the columns by its full name."""
        return next(column for column in self.columns if column.name == name)


def survey(asked: str, *, columns: Sequence[str] = (), by: str = "", table: str = "") -> Survey:
    """Look at the metadata of what lies at a path, for a query of `columns` (all, if none) filtered `by` one.

    Raises `DataError` for what cannot be read and `BadValue` for a column or table that is not there, and for a
    filter by what lies in a list.
    """
    found = find(asked)
    database = found.kind == "duckdb"
    if table and not database:
        raise BadValue(
            f"table={table!r} must be of a DuckDB database, and {asked} is Parquet. Leave the table out."
        )
    schema_name = table_name = ""
    footers, footer_bytes = [(0, DATABASE_HEAD)], DATABASE_HEAD
    told = explained(f"DuckDB cannot read the metadata of {asked}", "Write it again.")
    with told, duckdb.connect(config={"memory_limit": MEMORY}) as connection:
        if database:
            schema_name, table_name = _load_table(connection, found.files[0], table)
        else:
            _load_files(connection, found.files, asked)
            footers, footer_bytes = _footers(found.files)
        groups: list[Group] = connection.execute(
            "SELECT f, g, any_value(n), min(o), sum(z)::BIGINT FROM chunks GROUP BY f, g ORDER BY f, g"
        ).fetchall()
        rows = sum(rows for _, _, rows, _, _ in groups)
        if rows <= 0:
            raise DataError(f"{asked} holds no rows. Give a file, or name a table, with at least one.")
        if rows > MOST_ROWS:
            raise DataError(
                f"{asked} says that it holds {rows:,} rows, which is not believed. Write it again."
            )
        kinds = _stored_columns(connection, None if database else found.files[0])
        wanted, filtered = choose(kinds, columns), _filter(kinds, by) if by else ""
        spans = _spans(connection, groups, wanted) if columns else [((o, z),) for _, _, _, o, z in groups]
        judged = dict.fromkeys([*([filtered] if by else []), *(kind.name for kind in kinds[:MOST_JUDGED])])
        orders = _orders(connection, groups, [kind for kind in kinds if kind.name in judged])
    times = min(round(found.total_files / len(found.files)), max(1, MOST_GROUPS // len(groups)))
    return Survey(
        asked=asked,
        found=found,
        schema_name=schema_name,
        table_name=table_name,
        columns=tuple(kinds),
        group_bytes=tuple(size for _, _, _, _, size in groups),
        footer_bytes=footer_bytes,
        orders=orders,
        by=filtered,
        table=Table(
            reads=Reads.of(
                [span for span in footers for _ in range(times)],
                [own for own in spans for _ in range(times)],
                [rows for _, _, rows, _, _ in groups for _ in range(times)],
            ),
            widths=tuple((kind.name, kind.size_bytes / rows) for kind in kinds),
            wanted=frozenset(wanted),
            ranges=np.repeat(orders.get(filtered, UNKNOWN), times, axis=0),
            footer_bytes_per_group=max(1.0, footer_bytes / len(groups)),
        ),
    )


def _footers(files: Sequence[Path]) -> tuple[list[Span], int]:
    """Return the reads of the footers of Parquet files, one after the other, and their bytes."""
    lengths = [(path.stat().st_size, footer_length(path)) for path in files]
    return [span for told in lengths for span in footer_reads(*told)], sum(length for _, length in lengths)


def _spans(
    connection: duckdb.DuckDBPyConnection, groups: Sequence[Group], wanted: Sequence[str]
) -> list[tuple[Span, ...]]:
    """Return the reads of each row group: its wanted chunks beside one that stands for the rest."""
    listed = ", ".join(literal(name) for name in wanted)
    chunks: dict[tuple[str, int], list[ColumnChunk]] = {}
    for f, g, p, o, z in connection.execute(
        f"SELECT f, g, p, o, z FROM chunks WHERE p IN ({listed})"
    ).fetchall():
        chunks.setdefault((f, g), []).append(ColumnChunk(column=p, offset=o, size_bytes=z))
    found = []
    for f, g, rows, offset, size in groups:
        own = chunks[f, g]
        rest = max(0, size - sum(chunk.size_bytes for chunk in own))
        group = RowGroup(rows=rows, chunks=(ColumnChunk(column=REST, offset=offset, size_bytes=rest), *own))
        found.append(tuple(group_reads(group, wanted, GAP_BYTES)))
    return found


def _orders(
    connection: duckdb.DuckDBPyConnection, groups: Sequence[Group], judged: Sequence[StoredColumn]
) -> dict[str, Ranges]:
    """Return the ranges of each column whose row groups all tell their smallest and largest value."""
    number = {(f, g): at for at, (f, g, _, _, _) in enumerate(groups)}
    rows = [rows for _, _, rows, _, _ in groups]
    words = {column.name: column.words for column in judged}
    listed = ", ".join(literal(column.name) for column in judged)
    told = connection.execute(
        f"SELECT p, f, g, lo, hi FROM ends WHERE p IN ({listed}) ORDER BY p, f, g LIMIT {MOST_ENDS}"
    ).fetchall()
    found = {
        name: ranks([(number[f, g], lo, hi) for _, f, g, lo, hi in ends], rows, words=words[name])
        for name, ends in groupby(told, key=itemgetter(0))
    }
    return {name: ranges for name, ranges in found.items() if len(ranges)}


def _filter(columns: Sequence[StoredColumn], by: str) -> str:
    """Return the full name of the column to filter by: of one that holds others, the first with one value a row."""
    mine = choose(columns, (by,))
    plain = [column.name for column in columns if column.name in mine and not column.in_list]
    if not plain:
        raise BadValue(f"by={by!r} must have one value a row, and it lies in a list. Give a plain column.")
    return plain[0]


def choose(columns: Sequence[StoredColumn], named: Sequence[str]) -> list[str]:
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


# -- what was loaded, column by column ------------------------------------------------------------------
def identifier(name: str) -> str:
    """Return a name as an SQL identifier, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def escaped(file: Path) -> str:
    """Return a path in which no character is taken for a pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(file))


def _stored_columns(connection: duckdb.DuckDBPyConnection, file: Path | None) -> list[StoredColumn]:
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
def _load_files(connection: duckdb.DuckDBPyConnection, files: Sequence[Path], asked: str) -> None:
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


def _load_table(connection: duckdb.DuckDBPyConnection, path: Path, table: str) -> tuple[str, str]:
    """Load the metadata of a database's table: the one named, or the one with the most rows; return schema and name.

    Bytes are counted in whole blocks; a block that several chunks share is shared out among them.
    """
    attach(connection, path)
    schema, name = _choose_table(connection, path, table)
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


def _choose_table(connection: duckdb.DuckDBPyConnection, path: Path, asked: str) -> tuple[str, str]:
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


# -- which files are meant -------------------------------------------------------------------------------
def find(asked: str) -> Found:
    """Return what lies at a path, in a folder or behind a pattern. Raises `DataError` for what cannot be advised on."""
    if not asked.strip():
        raise DataError(
            "The path is empty. Give a Parquet file, a folder or a pattern of them, or a DuckDB database."
        )
    try:
        files = _listed(asked)
        sizes = [path.stat().st_size for path in files]
    except PermissionError as error:
        raise DataError(
            f"{error.filename} may not be read by you. Change its rights, or give a path that you may read."
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{asked} cannot be read: {error}. Give a file, a folder or a pattern.") from error
    total = len(files)
    if total == 1 and _is_database(_utf8(files[0])):
        return Found(kind="duckdb", files=(files[0],), total_files=1, total_bytes=sizes[0], small_files=0)
    step, good, bad = max(1.0, total / MOST_LOOKED_AT), [], []
    for path in (files[int(n * step)] for n in range(min(total, MOST_LOOKED_AT))):
        try:
            footer_length(_utf8(path))
            good.append(path)
        except DataError as error:
            bad.append(str(error))
    if not good:
        raise DataError(
            bad[0] if total == 1 else f"None of {len(bad)} files can be read. The first: {bad[0]}"
        )
    return Found(
        kind="parquet",
        files=tuple(good),
        total_files=total,
        total_bytes=sum(sizes),
        small_files=sum(size < 2**20 for size in sizes),
        damaged=tuple(bad),
    )


def _utf8(path: Path) -> Path:
    """Return a path as it is. Raises `DataError` for one that DuckDB takes for no text."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{printable(str(path))} has a name that is not UTF-8. Rename it, or give a link to it."
        ) from error
    return path


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return os.fstat(file.fileno()).st_size > 12 and file.read(12)[8:] == b"DUCK"
    except OSError:
        return False


def _listed(asked: str) -> list[Path]:
    """Return the files that are meant, by name. A name with a star in it may also be a real file."""
    path = paths.expanded(asked).absolute()
    advice = (
        f"{asked} is not there. Give a Parquet file, a folder or a pattern of them, or a DuckDB database."
    )
    if path.is_file():
        return [path]
    if path.is_dir():
        found = [own for own in _matches(path / "**") if own.name.lower().endswith(SUFFIXES)]
        advice = f"The folder {path} holds no Parquet files ({', '.join(SUFFIXES)}). Give another."
    else:
        found = _matches(path) if glob.has_magic(asked) else []
    if not found:
        raise DataError(advice)
    return found


def _matches(pattern: Path) -> list[Path]:
    """Return the files that a pattern matches, by name.

    As in a shell a star matches no name that begins with a full stop, and two of them follow no link. Raises OSError
    for a folder that may not be read.
    """
    places = [Path(pattern.anchor)]
    for part in [*pattern.parts[1:], *(["*"] if pattern.name == "**" else [])]:
        if part == "**":
            places = [folder for place in places if place.is_dir() for folder in _folders(place)]
        elif glob.has_magic(part):
            inside = [own for place in places if place.is_dir() for own in place.iterdir()]
            places = [
                own for own in inside if fnmatch.fnmatch(own.name, part) and own.name[0] + part[0] != ".*"
            ]
        else:
            places = [place / part for place in places]
    return sorted(place for place in places if place.is_file())


def _folders(top: Path) -> Iterator[Path]:
    """Yield a folder and every one below it, however deep."""
    waiting = [top]
    while waiting:
        yield (folder := waiting.pop())
        inside = (own for own in folder.iterdir() if own.name[0] != "." and not own.is_symlink())
        waiting += [own for own in inside if own.is_dir()]
