"""A list of what is wanted, and where it lies: the keys of a query, the blocks and row groups that hold them, and the
walk down the index that leads there.

The reads of rows are exact. Of the index only the engine knows which node lies in which block, so nodes are taken to
lie at random among its blocks.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from readahead.chapters.lookups import laws, native_file
from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure.case import Case
from readahead.measure.engine import EngineSettings
from readahead.measure.run import Query
from readahead.models.native_reads import block_reads, block_span
from readahead.models.reads import Reads

SCATTERED, UNSORTED, NEIGHBOURS = "scattered", "scattered, in no order", "neighbours"
INDEX_BITS = (8, 16, 24)
"""DuckDB's index is a radix tree that takes eight bits of the key at each step: a leaf for each 256 keys, and so on."""
_NO_DEVICE = Device(name="none", latency_s=0.0, bandwidth_bytes_per_s=1e12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Case):
    """A case with the keys asked for in one of three ways."""

    way: str = SCATTERED
    step_rows: int = 0
    """The most rows that are fetched through the index, if there is one."""

    def _keys(self) -> list[int]:
        if self.way != NEIGHBOURS:
            return Case._keys(self)
        first = random.Random(self.seed).randrange(self.recipe.rows - self.keys)
        return list(range(first, first + self.keys))

    def wanted(self) -> list[int]:
        """Return the keys in ascending order."""
        return self._keys() if self.keys else []

    @property
    def walks(self) -> bool:
        """Return whether DuckDB walks down the index: until it has found one row too many, and then it scans.

        Keys without a gap are turned into a range, for which it does not look into the index.
        """
        return self.recipe.index and self.keys > 0 and (self.way != NEIGHBOURS or self.keys == 1)

    @property
    def by_index(self) -> bool:
        """Return whether DuckDB fetches row by row: it has an index, and not too many rows are asked for."""
        return self.walks and self.keys <= self.step_rows

    def query(self) -> Query:
        """Return the query, for a file that is built."""
        query = Case.query(self)
        if self.way != UNSORTED or not self.keys:
            return query
        keys = self._keys()
        mixed = random.Random(self.seed).sample(keys, len(keys))
        return replace(query, sql=query.sql.replace(", ".join(map(str, keys)), ", ".join(map(str, mixed))))


def plan(case: Asked) -> Reads:
    """Return the reads: of a built file those of rows exactly, those of the index by its expected blocks."""
    engine, rest = case.engine, (case.keys, case.seed, case.way, case.step_rows)
    return _plan(case.recipe, *rest, engine.queue_depth, engine.column_gap_bytes, store.is_built(case.recipe))


@functools.lru_cache(maxsize=256)
def _plan(
    recipe: Recipe,
    keys: int,
    seed: int,
    way: str,
    step_rows: int,
    depth: int,
    gap_bytes: int,
    built: bool,  # noqa: FBT001
) -> Reads:
    """Return the plan, which does not depend on the device: a slider of the device finds it ready."""
    engine = EngineSettings(threads=1, queue_depth=depth, column_gap_bytes=gap_bytes)
    case = Asked(
        recipe=recipe, device=_NO_DEVICE, engine=engine, keys=keys, seed=seed, way=way, step_rows=step_rows
    )
    if recipe.format == "parquet":
        return case.scan()
    file, wanted, block = native_file.layout_of(recipe, built=built), case.wanted(), recipe.block_bytes
    walked = wanted[: step_rows + 1] if case.walks else []
    index = [block_span(number, block) for number in _index_blocks(file, walked)]
    if case.by_index:
        fetched = [block_span(number, block) for number in _row_blocks(case, file, wanted, built=built)]
        return replace(Reads.of(index + fetched, [], []), keys=keys)
    lowest = np.searchsorted(
        wanted, [group.low for group in file.groups]
    )  # the first key that may be in each
    touched = [
        group
        for group, at in zip(file.groups, lowest, strict=True)
        if not wanted or _holds(wanted, at, group)
    ]
    groups = block_reads([g.blocks for g in touched], block, ahead=True, depth=depth)
    return replace(Reads.of(index, groups, [group.rows for group in touched]), keys=keys)


def _row_blocks(case: Asked, file: native_file.Native, wanted: Sequence[int], *, built: bool) -> list[int]:
    """Return every block in which one of the rows lies, once."""
    recipe = case.recipe
    in_order = (
        recipe.effective_order == "key" and recipe.source.scale_factor is None
    )  # keys 0, 1, 2 ... are places
    if in_order:
        places = np.array(wanted)
    elif built:
        places = np.array(native_file.positions(store.location(recipe), recipe.source.key, wanted))
    else:  # rows lie at random
        places = np.array(random.Random(case.seed).sample(range(recipe.rows), len(wanted)))
    group, row = np.divmod(places, recipe.effective_row_group_rows)
    found: dict[int, None] = {}
    for number in np.unique(group).tolist():
        found.update(dict.fromkeys(sorted(file.groups[number].of_rows(row[group == number]))))
    return list(found)


def _holds(keys: Sequence[int], at: int, group: native_file.RowGroup) -> bool:
    return at < len(keys) and keys[at] <= group.high


def _index_blocks(file: native_file.Native, keys: Sequence[int]) -> list[int]:
    """Return blocks of the index, as many as a walk to these keys is expected to read, evenly chosen."""
    nodes = sum(len({key >> bits for key in keys}) for bits in INDEX_BITS)
    count = round(float(laws.distinct(len(file.index_blocks), nodes)))
    places = np.linspace(0, len(file.index_blocks) - 1, min(len(file.index_blocks), count)).astype(int)
    return [file.index_blocks[place] for place in places]
