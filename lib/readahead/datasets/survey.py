"""Describes a table of the learner's own by its metadata alone: row groups, columns, and the order of their values.

What is kept is bounded: sums per row group and per column, and the chunks of the wanted columns only, so that 2,000
columns or 1,000 row groups are no more than a few lines.
"""

from __future__ import annotations

import fnmatch
import glob
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import duckdb
import numpy as np

from readahead import paths
from readahead.datasets import metadata
from readahead.datasets.build import literal
from readahead.datasets.inspect import footer_length
from readahead.datasets.metadata import StoredColumn, ranks
from readahead.errors import BadValue, DataError, printable
from readahead.models.reads import ColumnChunk, FileShape, Reads, RowGroup, Span, footer_reads, group_reads
from readahead.models.table_layout import GAP_BYTES, MOST_GROUPS, UNKNOWN, Ranges, Table

SUFFIXES = (".parquet", ".parq", ".pq")
MOST_LOOKED_AT = 64
"""Files of a folder whose metadata is read; more are sampled evenly by name."""
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
    with _engine(asked) as connection:
        if database:
            schema_name, table_name = metadata.load_table(connection, found.files[0], table)
        else:
            metadata.load_files(connection, found.files, asked)
            footers, footer_bytes = _footers(found.files)
        groups: list[Group] = connection.execute(
            "SELECT f, g, any_value(n), min(o), sum(z)::BIGINT FROM chunks GROUP BY f, g ORDER BY f, g"
        ).fetchall()
        if not sum(rows for _, _, rows, _, _ in groups):
            raise DataError(f"{asked} holds no rows. Give a file, or name a table, with at least one.")
        kinds = metadata.columns(connection, None if database else found.files[0])
        wanted, filtered = choose(kinds, columns), _filter(kinds, by) if by else ""
        spans = _spans(connection, groups, wanted) if columns else [((o, z),) for _, _, _, o, z in groups]
        judged = dict.fromkeys([*([filtered] if by else []), *(kind.name for kind in kinds[:MOST_JUDGED])])
        orders = _orders(connection, groups, [kind for kind in kinds if kind.name in judged])
    rows = max(1, sum(rows for _, _, rows, _, _ in groups))
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


@contextmanager
def _engine(asked: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a DuckDB with little memory. Raises `DataError` for whatever it says of the metadata."""
    try:
        with duckdb.connect() as connection:
            connection.execute(f"SET memory_limit = '{MEMORY}'")
            yield connection
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise DataError(f"DuckDB cannot read the metadata of {asked}: {first}. Write it again.") from error


def _footers(files: Sequence[Path]) -> tuple[list[Span], int]:
    """Return the reads of the footers of Parquet files, one after the other, and their bytes."""
    spans: list[Span] = []
    lengths = [footer_length(path) for path in files]
    for path, length in zip(files, lengths, strict=True):
        shape = FileShape(size_bytes=path.stat().st_size, footer_bytes=length, row_groups=())
        spans += footer_reads(shape)
    return spans, sum(lengths)


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
            return file.read(12)[8:] == b"DUCK"
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
