"""The plan of a warehouse: in which box of DuckDB's own file each column of a row lies, and which boxes hold the index.

A block is what is read of such a file, never less. Blocks of rows are told by the engine; what is left over and is
not metadata belongs to the index.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

from readahead.datasets import expected, store
from readahead.datasets.build import literal
from readahead.datasets.recipe import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A run of rows of one column, in one block."""

    start: int
    """Its first row, counted from the start of its row group."""
    block: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGroup:
    """A row group: how many rows it has, which keys, and where its columns lie."""

    rows: int
    low: int
    high: int
    columns: tuple[tuple[Segment, ...], ...]
    """The segments of each column, and of each column's marks of NULL, in order of rows."""

    @property
    def blocks(self) -> frozenset[int]:
        """Return every block of the group."""
        return frozenset(s.block for column in self.columns for s in column if s.block >= 0)

    @property
    def pieces(self) -> int:
        """Return in how many runs of neighbouring blocks the group lies."""
        found = self.blocks
        return sum(block - 1 not in found for block in found)

    def of_rows(self, rows: NDArray[np.int64]) -> set[int]:
        """Return the blocks in which these rows of the group lie, with all their columns."""
        found: set[int] = set()
        for column in self.columns:
            starts = np.array([segment.start for segment in column])
            hit = np.unique(np.searchsorted(starts, rows, side="right") - 1)
            found.update(column[at].block for at in hit.tolist() if at >= 0)
        return {block for block in found if block >= 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Native:
    """A native file: its row groups, and the blocks of its index."""

    groups: tuple[RowGroup, ...]
    index_blocks: tuple[int, ...]

    @property
    def data_blocks(self) -> int:
        """Return how many blocks hold rows."""
        return len(frozenset().union(*(group.blocks for group in self.groups)))


INDEX_BYTES_A_ROW = 9
"""Of DuckDB's index on a whole number: a pointer, and a little of the nodes above."""


def layout_of(recipe: Recipe, *, built: bool) -> Native:
    """Return where the rows of a native file and its index lie, or are expected to lie in a file that is not there."""
    if built:
        return layout(store.location(recipe), recipe.source.key)
    found = expected.segments(recipe)
    ranges = expected.key_ranges(recipe, recipe.source.key)
    groups = tuple(
        RowGroup(
            rows=rows,
            low=low,
            high=high,
            columns=tuple(tuple(Segment(start=start, block=block) for start, block in c) for c in columns),
        )
        for rows, (low, high), columns in zip(expected.group_rows(recipe), ranges, found, strict=True)
    )
    first = 1 + max(segment.block for column in groups[-1].columns for segment in column)
    index = range(first, first + 1 + recipe.rows * INDEX_BYTES_A_ROW // recipe.block_bytes)
    return Native(groups=groups, index_blocks=tuple(index) if recipe.index else ())


def layout(path: Path, key: str) -> Native:
    """Return where the rows of a native file lie, and its index."""
    return _layout(path, key, path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=32)
def _layout(path: Path, key: str, _modified: int) -> Native:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {literal(path)} AS file (READ_ONLY)")
        found = connection.execute(
            "SELECT row_group_id, column_id, segment_type, start, count, block_id, column_name,"
            " CASE WHEN column_name = $1 AND segment_type <> 'VALIDITY' THEN stats.min::BIGINT END,"
            " CASE WHEN column_name = $1 AND segment_type <> 'VALIDITY' THEN stats.max::BIGINT END"
            " FROM pragma_storage_info('file.t') ORDER BY row_group_id, column_id, segment_type = 'VALIDITY', start",
            [key],
        ).fetchall()
        [(total,)] = connection.execute(
            "SELECT used_blocks FROM pragma_database_size() WHERE database_name = 'file'"
        ).fetchall()
        connection.execute("USE file")
        about = {
            block for (block,) in connection.execute("SELECT block_id FROM pragma_metadata_info()").fetchall()
        }
        connection.execute("USE memory")
    columns: dict[int, dict[tuple[int, bool], list[Segment]]] = defaultdict(lambda: defaultdict(list))
    keys: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for group, column, kind, start, count, block, name, low, high in found:
        columns[group][column, kind == "VALIDITY"].append(Segment(start=start, block=block))
        if name == key and kind != "VALIDITY":
            keys[group].append((count, low, high))
    groups = tuple(
        RowGroup(
            rows=sum(count for count, _, _ in keys[group]),
            low=min(low for _, low, _ in keys[group]),
            high=max(high for _, _, high in keys[group]),
            columns=tuple(tuple(segments) for segments in columns[group].values()),
        )
        for group in sorted(columns)
    )
    data = frozenset().union(*(group.blocks for group in groups))
    return Native(
        groups=groups, index_blocks=tuple(b for b in range(total) if b not in data and b not in about)
    )


def positions(path: Path, key: str, keys: Sequence[int]) -> list[int]:
    """Return the places of the rows with these keys, counted from the first row of the table, in ascending order."""
    return _positions(path, key, tuple(keys), path.stat().st_mtime_ns)


@functools.lru_cache(maxsize=256)
def _positions(path: Path, key: str, keys: tuple[int, ...], _modified: int) -> list[int]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {literal(path)} AS file (READ_ONLY)")
        wanted = ", ".join(map(str, keys))
        found = connection.execute(
            f"SELECT rowid FROM file.t WHERE {key} IN ({wanted}) ORDER BY 1"
        ).fetchall()
    return [place for (place,) in found]
