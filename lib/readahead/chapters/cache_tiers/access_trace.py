"""Which row groups the queries of one run ask for, in which order, and how many of the bytes an LRU cache has."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readahead.chapters.cache_tiers import laws
from readahead.models.shapes import RowGroup

MOST_GROUPS = 128
"""Row groups that are asked for, at most: the rest of a larger table is never touched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessTrace:
    """The accesses of one run, each to all of a row group, and the cache that they meet."""

    rows: tuple[int, ...]
    """Of each row group, as are the bytes."""
    sizes: tuple[int, ...]
    asked: tuple[int, ...]
    """Which row groups the queries ask for, one after another; a scan asks for all of them in turn."""
    skew: float | None
    """How strong the favourites of the queries are (see `laws.popularity`); None for one query that scans."""
    capacity_bytes: float
    """What the cache may hold."""
    taken_bytes: int = 0
    """What a scan takes of that for the row groups that its read-ahead holds ready."""

    @property
    def wanted(self) -> laws.Array:
        """Return the bytes of each access."""
        return np.array(self.sizes, float)[list(self.asked)]

    def replayed(self, capacity_bytes: float, *, first: bool) -> float:
        """Return the hit ratio of an LRU cache on these very accesses, in the first run or after the same run."""
        if self.skew is None:
            return 0.0 if first else self.long_run(capacity_bytes)
        return laws.hit_ratio(_reuse_bytes(self.asked, self.sizes, first=first), self.wanted, capacity_bytes)

    def long_run(self, capacity_bytes: float) -> float:
        """Return the hit ratio in the long run: by Che's law, or by the law of the scan that comes back."""
        whole = sum(self.sizes)
        if self.skew is None:
            return laws.cyclic_hit_ratio(capacity_bytes / whole, self.taken_bytes / whole)
        items = len(self.sizes)
        return laws.che_hit_ratio(laws.popularity(items, self.skew), capacity_bytes / whole * items)


def access_trace(
    groups: Sequence[RowGroup],
    *,
    queries: int,
    skew: float | None,
    memory_share: float,
    longer_bytes: int = 0,
    ahead: int = 1,
) -> AccessTrace:
    """Return the accesses to the first row groups of a file, each read `longer_bytes` longer than its row group.

    A `skew` of None scans them, with `ahead` of them under way: DuckDB 2.0 takes 255 bytes for each row that it holds
    ready, besides the row group that it decodes.
    """
    groups = groups[:MOST_GROUPS]
    rows = tuple(group.rows for group in groups)
    sizes = tuple(group.size_bytes + longer_bytes for group in groups)
    return AccessTrace(
        rows=rows,
        sizes=sizes,
        asked=tuple(range(len(groups))) if skew is None else drawn(len(groups), queries, skew),
        skew=skew,
        capacity_bytes=memory_share * sum(sizes),
        taken_bytes=255 * max(rows) * (ahead - 1),
    )


@functools.lru_cache(maxsize=256)
def drawn(items: int, count: int, skew: float) -> tuple[int, ...]:
    """Return `count` independent accesses to `items`, whose popular ones lie scattered over the table."""
    rng = np.random.default_rng(1)
    places = rng.permutation(items)
    return tuple(int(item) for item in places[rng.choice(items, count, p=laws.popularity(items, skew))])


@functools.lru_cache(maxsize=256)
def _reuse_bytes(asked: tuple[int, ...], sizes: tuple[int, ...], *, first: bool) -> laws.Array:
    return laws.reuse_bytes(asked, sizes, () if first else asked)
