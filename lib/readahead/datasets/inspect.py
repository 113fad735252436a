"""An X-ray: from a Parquet file to its shape, by its metadata alone."""

from __future__ import annotations

import functools
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import duckdb

from readahead.datasets.build import literal
from readahead.datasets.recipe import VECTOR_ROWS
from readahead.errors import DataError
from readahead.models.shapes import ColumnChunk, FileShape, RowGroup

MAGIC = b"PAR1"


def shape(path: Path) -> FileShape:
    """Return where the row groups and column chunks of a Parquet file lie.

    Raises `DataError` for a file that is missing, truncated or not Parquet.
    """
    try:
        facts = path.stat()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}. Give the path of a Parquet file."
        ) from error
    return _shape(path, facts.st_mtime_ns, facts.st_size)


def footer_length(path: Path) -> int:
    """Return the length of the metadata, from the file's last eight bytes."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 8))
        end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if len(end) < 8 or end[4:] != MAGIC or length + 12 > size:
        raise DataError(f"{path} ({size} bytes) does not end as a Parquet file does. Build or copy it again.")
    return length


@functools.lru_cache(maxsize=64)
def _shape(path: Path, _modified: int, size_bytes: int) -> FileShape:
    footer_bytes = footer_length(path)
    with duckdb.connect() as connection:
        try:
            found = connection.execute(
                "SELECT row_group_id, row_group_num_rows, path_in_schema,"
                " least(nullif(dictionary_page_offset, 0), data_page_offset), total_compressed_size"
                f" FROM parquet_metadata({literal(path)}) ORDER BY row_group_id, column_id"
            ).fetchall()
        except duckdb.Error as error:
            raise DataError(
                f"{path} is not a Parquet file that DuckDB reads: {error}. Give another."
            ) from error
    groups = []
    for _, lines in groupby(found, key=itemgetter(0)):
        chunks = list(lines)
        columns = tuple(ColumnChunk(column=c, offset=o, size_bytes=n) for _, _, c, o, n in chunks)
        groups.append(RowGroup(rows=chunks[0][1], chunks=columns))
    return FileShape(size_bytes=size_bytes, footer_bytes=footer_bytes, row_groups=tuple(groups))


def key_ranges(path: Path, column: str) -> list[tuple[int, int]]:
    """Return the smallest and largest value of an integer column in each row group: its zone map."""
    return _key_ranges(path, column, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _key_ranges(path: Path, column: str, _modified: int) -> list[tuple[int, int]]:
    with duckdb.connect() as connection:
        return connection.execute(
            "SELECT stats_min_value::BIGINT, stats_max_value::BIGINT"
            f" FROM parquet_metadata({literal(path)}) WHERE path_in_schema = {literal(column)} ORDER BY row_group_id"
        ).fetchall()


def bloom_filters(path: Path, column: str) -> list[tuple[int, int] | None]:
    """Return where the Bloom filter of a column lies, as (offset, bytes), for each row group; None where it has none.

    DuckDB writes one for each chunk that it has put through a dictionary.
    """
    return _bloom_filters(path, column, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _bloom_filters(path: Path, column: str, _modified: int) -> list[tuple[int, int] | None]:
    with duckdb.connect() as connection:
        found = connection.execute(
            "SELECT bloom_filter_offset, bloom_filter_length"
            f" FROM parquet_metadata({literal(path)}) WHERE path_in_schema = {literal(column)} ORDER BY row_group_id"
        ).fetchall()
    return [None if offset is None else (int(offset), int(size)) for offset, size in found]


def pages(path: Path) -> dict[str, int]:
    """Return how many pages a chunk of each column has in a file that DuckDB wrote: one, and perhaps a dictionary."""
    return _pages(path, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _pages(path: Path, _modified: int) -> dict[str, int]:
    with duckdb.connect() as connection:
        return dict(
            connection.execute(
                "SELECT path_in_schema, 1 + max((dictionary_page_offset IS NOT NULL)::INTEGER)"
                f" FROM parquet_metadata({literal(path)}) GROUP BY 1"
            ).fetchall()
        )


def blocks(path: Path, columns: tuple[str, ...]) -> list[tuple[int, frozenset[int]]]:
    """Return, for each row group of a native file, its rows and the blocks in which these columns lie."""
    return _blocks(path, columns, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _blocks(path: Path, columns: tuple[str, ...], _modified: int) -> list[tuple[int, frozenset[int]]]:
    listed = ", ".join(literal(column) for column in columns)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {literal(path)} AS file (READ_ONLY)")
        found = connection.execute(
            "SELECT row_group_id,"
            f" sum(count) FILTER (segment_type <> 'VALIDITY' AND column_name = {literal(columns[0])}),"
            " list(DISTINCT block_id) FILTER (block_id >= 0) FROM pragma_storage_info('file.t')"
            f" WHERE column_name IN ({listed}) GROUP BY 1 ORDER BY 1"
        ).fetchall()
    return [(int(rows), frozenset(numbers)) for _, rows, numbers in found]


def vectors(path: Path, columns: tuple[str, ...]) -> list[frozenset[int]]:
    """Return, for each vector of 2,048 rows of a native file, the blocks in which these columns of it lie."""
    return _vectors(path, columns, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _vectors(path: Path, columns: tuple[str, ...], _modified: int) -> list[frozenset[int]]:
    listed = ", ".join(literal(column) for column in columns)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {literal(path)} AS file (READ_ONLY)")
        found = connection.execute(
            'SELECT row_group_id, start, "count", block_id'
            f" FROM pragma_storage_info('file.t') WHERE column_name IN ({listed}) ORDER BY 1, 2"
        ).fetchall()
    first, before = {}, 0  # the row with which each row group begins
    for group, lines in groupby(found, key=itemgetter(0)):
        first[group] = before
        before += max(start + count for _, start, count, _ in lines)
    needed: list[set[int]] = [set() for _ in range(-(-before // VECTOR_ROWS))]
    for group, start, count, block in found:
        if block >= 0:
            at = first[group] + start
            for vector in range(at // VECTOR_ROWS, (at + count - 1) // VECTOR_ROWS + 1):
                needed[vector].add(block)
    return [frozenset(blocks) for blocks in needed]


def sampled(path: Path, percent: float, seed: int) -> tuple[int, ...]:
    """Return which vectors of a native file DuckDB takes into TABLESAMPLE SYSTEM of so many per cent with this seed."""
    return _sampled(path, percent, seed, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _sampled(path: Path, percent: float, seed: int, _modified: int) -> tuple[int, ...]:
    with duckdb.connect() as connection:
        connection.execute(f"SET threads = 1; ATTACH {literal(path)} AS file (READ_ONLY)")
        found = connection.execute(
            f"SELECT DISTINCT rowid // {VECTOR_ROWS} FROM file.t"
            f" TABLESAMPLE SYSTEM ({percent:g} PERCENT) REPEATABLE ({seed}) ORDER BY 1"
        ).fetchall()
    return tuple(vector for (vector,) in found)
