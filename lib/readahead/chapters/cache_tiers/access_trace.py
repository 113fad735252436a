"""Which row groups the queries of one run ask for, in which order, and how many of the bytes an LRU cache has."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from readahead.chapters.cache_tiers import laws
from readahead.experiments.round import Applied


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessTrace:
    """The accesses of one run, each to all of a row group, and the cache that they meet."""

    rows: tuple[int, ...]
    """Of each row group, as are the bytes."""
    sizes: tuple[int, ...]
    queries: int
    """How many row groups are asked for at random; 0 for each of them once, in turn."""
    skew: float | None
    """How strong the favourites of the queries are (see `laws.popularity`); None for one query that scans all."""
    memory_share: float
    """What the cache may hold, as a share of all bytes."""
    ahead: int = 1
    """Row groups that a scan has under way."""

    @property
    def asked(self) -> tuple[int, ...]:
        """Return the row groups in the order in which they are asked for."""
        items = len(self.sizes)
        return (
            drawn(items, self.queries, self.skew)
            if self.skew is not None and self.queries
            else tuple(range(items))
        )

    @property
    def wanted(self) -> laws.Array:
        """Return the bytes of each access."""
        return np.array(self.sizes, float)[list(self.asked)]

    @property
    def capacity_bytes(self) -> float:
        """Return what the cache may hold."""
        return self.memory_share * sum(self.sizes)

    @property
    def taken_bytes(self) -> int:
        """Return what a scan takes of the cache for row groups held ready, besides the one that it decodes."""
        return 255 * max(self.rows) * (self.ahead - 1)

    def replayed(self, capacity_bytes: float, *, first: bool) -> float:
        """Return the hit ratio of an LRU cache on these very queries, in the first run or after the same run."""
        return laws.hit_ratio(_reuse_bytes(self.asked, self.sizes, first=first), self.wanted, capacity_bytes)

    def law(self) -> Applied:
        """Return the law of the hit ratio in the long run: Che's, or that of the scan that comes back."""
        if self.skew is None:
            taken = self.taken_bytes / sum(self.sizes)
            return Applied(laws.cyclic_hit_ratio, capacity=self.memory_share, taken=taken)
        items = len(self.sizes)
        return Applied(laws.che_hit_ratio, items=items, skew=self.skew, capacity=self.memory_share * items)


@functools.lru_cache(maxsize=256)
def drawn(items: int, count: int, skew: float) -> tuple[int, ...]:
    """Return `count` independent accesses to `items`, whose popular ones lie scattered over the table."""
    rng = np.random.default_rng(1)
    places = rng.permutation(items)
    return tuple(int(item) for item in places[rng.choice(items, count, p=laws.popularity(items, skew))])


@functools.lru_cache(maxsize=256)
def _reuse_bytes(asked: tuple[int, ...], sizes: tuple[int, ...], *, first: bool) -> laws.Array:
    return laws.reuse_bytes(asked, sizes, () if first else asked)
