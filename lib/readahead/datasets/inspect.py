"""Reads where things lie in a Parquet file or a native DuckDB file, from its metadata alone."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import duckdb

from readahead.datasets.build import literal
from readahead.datasets.recipe import VECTOR_ROWS
from readahead.errors import DataError
from readahead.models.reads import ColumnChunk, FileShape, Ints, RowGroup, Segments, spans_of

P = ParamSpec("P")
T = TypeVar("T")
MAGIC = b"PAR1"


def _kept(read: Callable[P, T]) -> Callable[P, T]:
    """Keep the answers of a function about a file, its first argument, for as long as the file is unchanged."""

    @functools.lru_cache(maxsize=64)
    def kept(_changed: tuple[int, int], *asked: P.args, **named: P.kwargs) -> T:
        return read(*asked, **named)

    @functools.wraps(read)
    def ask(*asked: P.args, **named: P.kwargs) -> T:
        try:
            facts = Path(str(asked[0])).stat()
        except OSError as error:
            raise DataError(
                f"{asked[0]} cannot be read: {error.strerror}. Give the path of a file."
            ) from error
        return kept((facts.st_mtime_ns, facts.st_size), *asked, **named)  # type: ignore[arg-type]

    return ask


# -- Parquet files ---------------------------------------------------------------------------------------
def footer_length(path: Path) -> int:
    """Return the length of a Parquet file's metadata, from its last eight bytes.

    Raises `DataError` that says why a file is no Parquet file to be read.
    """
    try:
        with path.open("rb") as file:
            head, size = file.read(4), file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 8))
            end = file.read()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}. Change its rights, or give another file."
        ) from error
    length, tail = int.from_bytes(end[:4], "little"), end[-4:]
    says = f"({size} bytes) does not end as a Parquet file does. Build or copy it again."
    if not size:
        says = "is empty (0 bytes). Give a file that was written to its end."
    elif b"PARE" in (head, tail):
        says = "is an encrypted Parquet file, whose metadata cannot be read. Give a decrypted copy."
    elif tail != MAGIC and head == MAGIC:
        says = "is cut off: it begins as a Parquet file and has no footer. Copy or write it again."
    elif tail != MAGIC:
        says = (
            "is neither a Parquet file nor a DuckDB database. Give one of these, or a folder of the former."
        )
    elif length + 12 <= size:
        return length
    raise DataError(f"{path} {says}")


@functools.cache
def _engine() -> duckdb.DuckDBPyConnection:
    """Return an engine that is kept: to start one takes twice as long as to ask it about a file."""
    return duckdb.connect(config={"threads": 1})


def _metadata(path: Path, select: str, rest: str) -> list[tuple[Any, ...]]:
    with _engine().cursor() as cursor:
        try:
            return cursor.execute(f"SELECT {select} FROM parquet_metadata({literal(path)}) {rest}").fetchall()
        except duckdb.Error as error:
            raise DataError(
                f"{path} is not a Parquet file that DuckDB reads: {error}. Give another."
            ) from error


def _of_column(path: Path, select: str, column: str) -> Ints:
    """Return two numbers that the metadata has of a column, a row for each row group."""
    return spans_of(
        _metadata(path, select, f"WHERE path_in_schema = {literal(column)} ORDER BY row_group_id")
    )


@_kept
def shape(path: Path) -> FileShape:
    """Return where the row groups and column chunks of a Parquet file lie.

    Raises `DataError` for a file that is missing, truncated or not Parquet.
    """
    footer_bytes = footer_length(path)
    found = _metadata(
        path,
        "row_group_id, row_group_num_rows, path_in_schema,"
        " least(nullif(dictionary_page_offset, 0), data_page_offset), total_compressed_size",
        "ORDER BY row_group_id, column_id",
    )
    groups = []
    for _, lines in groupby(found, key=itemgetter(0)):
        chunks = list(lines)
        columns = tuple(ColumnChunk(column=c, offset=o, size_bytes=n) for _, _, c, o, n in chunks)
        groups.append(RowGroup(rows=chunks[0][1], chunks=columns))
    return FileShape(size_bytes=path.stat().st_size, footer_bytes=footer_bytes, row_groups=tuple(groups))


@_kept
def key_ranges(path: Path, column: str) -> Ints:
    """Return the smallest and largest value of an integer column, a row for each row group: its zone map."""
    return _of_column(path, "stats_min_value::BIGINT, stats_max_value::BIGINT", column)


@_kept
def bloom_filters(path: Path, column: str) -> Ints:
    """Return where the Bloom filter of a column lies, (offset, bytes) for each row group; 0 bytes where it has none.

    DuckDB writes one for each chunk that it has put through a dictionary.
    """
    return _of_column(path, "coalesce(bloom_filter_offset, 0), coalesce(bloom_filter_length, 0)", column)


@_kept
def pages(path: Path) -> dict[str, int]:
    """Return how many pages a chunk of each column has in a file that DuckDB wrote: one, and perhaps a dictionary."""
    select = "path_in_schema, 1 + max((dictionary_page_offset IS NOT NULL)::INTEGER)"
    return dict[str, int](_metadata(path, select, "GROUP BY 1"))


# -- native files ----------------------------------------------------------------------------------------
def _native(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = 1; ATTACH {literal(path)} AS file (READ_ONLY)")
        return connection.execute(sql).fetchall()


def _numbers(path: Path, sql: str) -> list[int]:
    return [number for (number,) in _native(path, sql)]


def _segments(columns: tuple[str, ...]) -> str:
    listed = ", ".join(literal(column) for column in columns)
    return f"pragma_storage_info('file.t') WHERE column_name IN ({listed})"


@_kept
def blocks(path: Path, columns: tuple[str, ...]) -> list[tuple[int, frozenset[int]]]:
    """Return, for each row group of a native file, its rows and the blocks in which these columns lie."""
    found = _native(
        path,
        f"SELECT sum(count) FILTER (segment_type <> 'VALIDITY' AND column_name = {literal(columns[0])}),"
        " list(DISTINCT block_id) FILTER (block_id >= 0)"
        f" FROM {_segments(columns)} GROUP BY row_group_id ORDER BY row_group_id",
    )
    return [(int(rows), frozenset(numbers)) for rows, numbers in found]


@_kept
def segments(path: Path) -> list[list[Segments]]:
    """Return, for each row group of a native file, the segments of each column, and of each column's NULL marks."""
    found = _native(
        path,
        "SELECT row_group_id, column_id, segment_type = 'VALIDITY', start, block_id"
        " FROM pragma_storage_info('file.t') ORDER BY ALL",
    )
    return [
        [[(start, block) for *_, start, block in runs] for _, runs in groupby(lines, itemgetter(1, 2))]
        for _, lines in groupby(found, itemgetter(0))
    ]


@_kept
def index_blocks(path: Path) -> list[int]:
    """Return the blocks of a native file's index: those that hold neither rows nor metadata."""
    return _numbers(
        path,
        "SELECT range FROM range((SELECT used_blocks FROM pragma_database_size() WHERE database_name = 'file'))"
        " EXCEPT SELECT block_id FROM pragma_storage_info('file.t')"
        " EXCEPT SELECT block_id FROM pragma_metadata_info('file') ORDER BY 1",
    )


def positions(path: Path, key: str, keys: Sequence[int]) -> list[int]:
    """Return the places of the rows with these keys in a native file, counted from 0, in ascending order."""
    wanted = ", ".join(map(str, keys))
    return _numbers(path, f"SELECT rowid FROM file.t WHERE {key} IN ({wanted}) ORDER BY 1")


@_kept
def vectors(path: Path, columns: tuple[str, ...]) -> list[frozenset[int]]:
    """Return, for each vector of 2,048 rows of a native file, the blocks in which these columns of it lie."""
    found = _native(
        path,
        f"""WITH segments AS (SELECT row_group_id g, start s, "count" n, block_id b FROM {_segments(columns)}),
        groups AS (SELECT g, sum(max(s + n)) OVER (ORDER BY g) - max(s + n) AS first FROM segments GROUP BY g)
        SELECT list(DISTINCT b) FILTER (b >= 0) FROM (SELECT b, unnest(range(
            ((first + s) // {VECTOR_ROWS})::BIGINT, ((first + s + n - 1) // {VECTOR_ROWS})::BIGINT + 1)) AS vector
        FROM segments JOIN groups USING (g)) GROUP BY vector ORDER BY vector""",
    )
    return [frozenset(numbers or ()) for (numbers,) in found]


@_kept
def sampled(path: Path, percent: float, seed: int) -> tuple[int, ...]:
    """Return which vectors of a native file DuckDB takes into TABLESAMPLE SYSTEM of so many per cent with this seed."""
    taken = f"TABLESAMPLE SYSTEM ({percent:g} PERCENT) REPEATABLE ({seed})"
    return tuple(_numbers(path, f"SELECT DISTINCT rowid // {VECTOR_ROWS} FROM file.t {taken} ORDER BY 1"))
