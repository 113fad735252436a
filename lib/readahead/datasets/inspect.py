"""Reads where things lie in a Parquet file or a native DuckDB file, from its metadata alone."""

from __future__ import annotations

import functools
import mmap
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb

from readahead import paths
from readahead.datasets.build import explained, literal
from readahead.errors import DataError
from readahead.models.native import Segments, block_span
from readahead.models.reads import ColumnChunk, FileShape, Ints, RowGroup, spans_of
from readahead.models.table_layout import VECTOR_ROWS

MAGIC = b"PAR1"


# -- Parquet files ---------------------------------------------------------------------------------------
def footer_length(path: Path) -> int:
    """Return the length of a Parquet file's metadata, from its last eight bytes.

    Raises `DataError` that says why a file is no Parquet file to be read.
    """
    try:
        with path.open("rb") as file:
            size, head, end = os.fstat(file.fileno()).st_size, b"", b""
            if size:  # what says that it is empty may keep its reader waiting for ever
                head = file.read(4)
                file.seek(max(0, size - 8))
                end = file.read(8)
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


def _parquet(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with (
        explained(f"{path} is not a Parquet file that DuckDB reads", "Give another."),
        _engine().cursor() as cursor,
    ):
        return cursor.execute(sql).fetchall()


def _metadata(path: Path, select: str, rest: str) -> list[tuple[Any, ...]]:
    return _parquet(path, f"SELECT {select} FROM parquet_metadata({literal(path)}) {rest}")


def _of_column(path: Path, select: str, column: str) -> Ints:
    """Return two numbers that the metadata has of a column, a row for each row group."""
    return spans_of(
        _metadata(path, select, f"WHERE path_in_schema = {literal(column)} ORDER BY row_group_id")
    )


@paths.kept
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


@paths.kept
def key_ranges(path: Path, column: str) -> Ints:
    """Return the smallest and largest value of an integer column, a row for each row group: its zone map."""
    return _of_column(path, "stats_min_value::BIGINT, stats_max_value::BIGINT", column)


@paths.kept
def bloom_filters(path: Path, column: str) -> Ints:
    """Return where the Bloom filter of a column lies, (offset, bytes) for each row group; 0 bytes where it has none.

    DuckDB writes one for each chunk that it has put through a dictionary.
    """
    return _of_column(path, "coalesce(bloom_filter_offset, 0), coalesce(bloom_filter_length, 0)", column)


@paths.kept
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


@paths.kept
def segments(path: Path, columns: tuple[str, ...]) -> list[list[Segments]]:
    """Return, for each row group of a native file, the segments of each column, and of each column's NULL marks."""
    found = _native(
        path,
        "SELECT row_group_id, column_id, segment_type = 'VALIDITY', start, block_id"
        f" FROM {_segments(columns)} ORDER BY ALL",
    )
    return [
        [[(start, block) for *_, start, block in runs] for _, runs in groupby(lines, itemgetter(1, 2))]
        for _, lines in groupby(found, itemgetter(0))
    ]


# -- the index of a native file --------------------------------------------------------------------------
INDEX_NAME = "key_index"
KEY_BITS = 32
"""Of the tables' keys, each an INTEGER."""
CHECKSUM_BYTES = 8
"""What every block begins with."""
METADATA_PIECES = 64
"""Pieces into which a block of metadata is cut; each begins with the place of the next one."""
WORD = struct.Struct("<Q")
PREFIX, NODE_4, NODE_16, NODE_48, NODE_256 = 1, 3, 4, 5, 6
"""The kinds of nodes that lead on, by the number that a pointer has in its highest byte."""
BUCKETS = (1, 13, 29, 59, 127, 257, 541, 1_109, 2_357, 5_087, 10_273, 20_753)
CHILDREN_AT = {NODE_4: 8, NODE_16: 24, NODE_48: 264, NODE_256: 8}
"""Where the pointers begin in a node, after the bytes of the key that it tells apart."""


@paths.kept
def _index(path: Path) -> tuple[int, dict[int, int], dict[tuple[int, int], tuple[int, int]]]:
    """Return the pointer to the index's root, the bytes of a node of each kind, and where the nodes lie.

    Nodes of a kind are kept in buffers of many: for each kind and buffer it is told in which block that lies, and at
    which byte of the file its first node. They stand in the file's metadata behind the index's name (DuckDB 2.0,
    IndexStorageInfo).
    """
    ((block_bytes,),) = _native(
        path, "SELECT block_size FROM pragma_database_size() WHERE database_name = 'file'"
    )
    told = _index_metadata(path, block_bytes)
    fields = _fields(told)
    next(fields)
    root = _number(told)
    next(fields)
    sizes, places = dict[int, int](), dict[tuple[int, int], tuple[int, int]]()
    for kind in range(1, _number(told) + 1):
        buffers, starts = list[int](), list[dict[int, int]]()
        for field in _fields(told):
            if field == 100:
                sizes[kind] = _number(told)
            elif field == 102:
                count = _number(told)
                starts = [{part: _number(told) for part in _fields(told)} for _ in range(count)]
            else:  # after the buffers come lists of how many nodes and bytes each has, and which have room
                listed = [_number(told) for _ in range(_number(told))]
                buffers = listed if field == 101 else buffers
        for buffer, start in zip(buffers, starts, strict=True):
            first = start.get(101, 0) + _mask_bytes(block_bytes, sizes[kind])
            places[kind, buffer] = start[100], _in_block(start[100], block_bytes) + first
    return root, sizes, places


def _in_block(block: int, block_bytes: int) -> int:
    """Return where the content of a block begins in the file."""
    return block_span(block, block_bytes)[0] + CHECKSUM_BYTES


def _number(told: Iterator[int]) -> int:
    """Take a whole number from serialized bytes: seven bits in each, the lowest first, until a byte is below 128."""
    found = shift = 0
    while (byte := next(told)) & 0x80:
        found, shift = found | (byte & 0x7F) << shift, shift + 7
    return found | byte << shift


def _fields(told: Iterator[int]) -> Iterator[int]:
    """Take the numbers of an object's fields, two bytes before each, until 0xFFFF ends it."""
    while (field := next(told) | next(told) << 8) != 0xFFFF:
        yield field


def _index_metadata(path: Path, block_bytes: int) -> Iterator[int]:
    """Return the bytes of the file's metadata that follow the index's name, its pieces put in a row."""
    data = path.read_bytes()
    size = (block_bytes - CHECKSUM_BYTES) // METADATA_PIECES // 8 * 8
    at = {
        block | piece << 56: _in_block(block, block_bytes) + piece * size
        for block in _numbers(path, "SELECT block_id FROM pragma_metadata_info('file')")
        for piece in range(METADATA_PIECES)
    }
    after = {piece: WORD.unpack_from(data, offset)[0] for piece, offset in at.items()}
    sign = bytes((100, 0, len(INDEX_NAME))) + INDEX_NAME.encode() + bytes((101, 0))
    for piece in set(at) - set(after.values()):
        text = b""
        while piece in at:
            text += data[at[piece] + WORD.size : at[piece] + size]
            piece = after[piece]
        if sign in text:
            return iter(text[text.index(sign) + len(sign) - 2 :])
    raise DataError(f"{path} has no index {INDEX_NAME!r}. Delete the file so that it is built again.")


def _mask_bytes(block_bytes: int, node_bytes: int) -> int:
    """Return the bytes of bits that tell which nodes of a buffer are taken: 8 for each 64 nodes it can hold."""
    room, words, nodes = block_bytes - CHECKSUM_BYTES, 0, 0
    while not words or 64 * words % nodes == 0:
        words, room = words + 1, room - WORD.size
        more = min(room // node_bytes, 64)
        nodes, room = nodes + more, room - more * node_bytes
        if not more:
            break
    return words * WORD.size


def index_walk(path: Path, keys: Sequence[int]) -> list[int]:
    """Return the blocks of the index that a search for these keys reads, each once, in the order of the first need.

    The index is a radix tree (V. Leis, A. Kemper, T. Neumann, "The adaptive radix tree", 2013): a node tells the next
    byte of the key, the highest first and its sign turned round, until a pointer is the row itself.
    """
    root, sizes, places = _index(path)
    found: dict[int, None] = {}
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for key in keys:
            digits, pointer = iter((key ^ 1 << KEY_BITS - 1).to_bytes(KEY_BITS // 8, "big")), root
            while (kind := pointer >> 56) in (PREFIX, *CHILDREN_AT):
                block, first = places[kind, pointer & 0xFFFFFFFF]
                found[block] = None
                pointer = _next_pointer(data, first + (pointer >> 32 & 0xFFFFFF) * sizes[kind], kind, digits)
    return list(found)


def _next_pointer(data: mmap.mmap, at: int, kind: int, digits: Iterator[int]) -> int:
    """Return where a node leads for the next digits of a key that is there."""
    if kind == PREFIX:  # up to seven digits that all keys below have, their count, and the pointer
        for _ in range(data[at + 7]):
            next(digits)
        child = 8
    else:
        digit = next(digits)
        place = digit
        if kind == NODE_48:
            place = data[at + 1 + digit]
        elif kind != NODE_256:
            place = data[at + 1 : at + 1 + data[at]].index(digit)
        child = CHILDREN_AT[kind] + 8 * place
    return int(WORD.unpack_from(data, at + child)[0])


def searched(keys: Sequence[int]) -> list[int]:
    """Return the keys of an IN list in the order in which DuckDB looks for them in an index.

    Sorted, they pass twice through a hash table of the C++ library that DuckDB's builds for Linux are linked with
    (libstdc++, std::unordered_set: 13 buckets, and the next prime past twice as many when they are too few). Where
    another library is used, as many keys are looked for, and others come first.
    """
    with _engine().cursor() as cursor:
        asked = cursor.execute("SELECT k, hash(k::INTEGER) FROM (SELECT unnest(?) AS k)", [sorted(keys)])
        hashes = dict(asked.fetchall())
    return _hashed(_hashed(sorted(keys), hashes), hashes)


def _hashed(keys: Sequence[int], hashes: Mapping[int, int]) -> list[int]:
    """Return the keys in the order of a hash table: of buckets the last opened first, in one the last put in first."""
    found, rooms = list[int](), iter(BUCKETS)
    while len(found) < len(keys):
        room, buckets = next(rooms), dict[int, list[int]]()
        for key in (*found, *keys[len(found) : room]):
            buckets.setdefault(hashes[key] % room, []).append(key)
        found = [key for bucket in reversed(buckets.values()) for key in reversed(bucket)]
    return found


def positions(path: Path, key: str, keys: Sequence[int]) -> list[int]:
    """Return the places of the rows with these keys in a file, counted from 0, in ascending order."""
    wanted = f"WHERE {key} IN ({', '.join(map(str, keys))}) ORDER BY 1"
    if path.suffix == ".parquet":
        found = _parquet(path, f"SELECT file_row_number FROM {literal(path)} {wanted}")
        return [place for (place,) in found]
    return _numbers(path, f"SELECT rowid FROM file.t {wanted}")


@paths.kept
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


@paths.kept
def sampled(path: Path, percent: float, seed: int) -> tuple[int, ...]:
    """Return which vectors of a native file DuckDB takes into TABLESAMPLE SYSTEM of so many per cent with this seed."""
    taken = f"TABLESAMPLE SYSTEM ({percent:g} PERCENT) REPEATABLE ({seed})"
    return tuple(_numbers(path, f"SELECT DISTINCT rowid // {VECTOR_ROWS} FROM file.t {taken} ORDER BY 1"))
