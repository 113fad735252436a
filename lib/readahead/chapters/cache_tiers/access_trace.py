"""A queue of people at a counter, each with a slip: who asks for which row group, in which order, and how much room it
takes until the next one who asks for it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from readahead.chapters.cache_tiers import laws

UNIFORM, ZIPF, SCAN = "any row group alike", "favourites", "the whole table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What is asked for: row groups and their sizes, the order of the queries, and the room in the cache."""

    rows: tuple[int, ...]
    sizes: tuple[int, ...]
    asked: tuple[int, ...]
    room_bytes: float

    @property
    def wanted(self) -> np.ndarray:
        """Return the bytes of each access."""
        return np.array(self.sizes, float)[list(self.asked)]


@functools.lru_cache(maxsize=256)
def asked(items: int, count: int, skew: float) -> tuple[int, ...]:
    """Return the accesses of one run, drawn once for each setting."""
    return tuple(laws.accesses(items, count, skew))


@functools.lru_cache(maxsize=256)
def reuse_bytes(asked: tuple[int, ...], sizes: tuple[int, ...], *, first: bool) -> np.ndarray:
    """Return how much room each access needs to be found: in the first run, or after the same run."""
    return laws.reuse_bytes(asked, sizes, () if first else asked)
