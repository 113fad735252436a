"""What a page costs the processor by Chang's tables of 2010: the costs fitted to them, and his other figures held to
these.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from readahead import published
from readahead.chapters.io_cpu import laws
from readahead.experiments.residual import Tally, tally
from readahead.experiments.round import Applied

ROWS = (1, 2, 5, 10, 20, 40, 80, 158, 323)
"""Rows on a page in Chang's table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCosts:
    """What a page costs the processor, in seconds: the arguments of `laws.page_cpu_s`."""

    page_s: float
    row_s: float
    touch_s: float
    touched_rows: float
    load_s: float = 0.0

    def cpu_s(self, rows: ArrayLike, *, loaded: bool = False) -> np.ndarray:
        """Return CPU seconds a page of so many rows, in memory or fetched."""
        return laws.page_cpu_s(rows, **asdict(self if loaded else replace(self, load_s=0.0)))

    def law(self, rows: int) -> Applied:
        """Return the same for a page in memory, as the law with its numbers."""
        return Applied(laws.page_cpu_s, rows=rows, **asdict(replace(self, load_s=0.0)))


figure, printed = partial(published.figure, "io_cpu"), partial(published.best, "io_cpu")


def column(name: str, rows: Sequence[int] = ROWS) -> list[float]:
    """Return a column of Chang's table, in CPU seconds a page: memory, disk or aggregate."""
    return [printed(f"cpu_per_page_s.{name}.r{count}") for count in rows]


def fit(rows: Sequence[float], memory_s: Sequence[float], disk_s: Sequence[float] = ()) -> PageCosts:
    """Return the costs that come closest, in relative error, to CPU seconds a page in memory and, if given, from disk.

    Five parameters if `disk_s` is given, four if not. r₀ is searched, the others are linear least squares.
    """
    r, seen = np.asarray(rows, float), np.array([*memory_s, *disk_s], float)
    both = np.tile(r, 2)[: len(seen)]
    from_disk = np.arange(len(seen)) >= len(r)
    found: list[tuple[float, PageCosts]] = []
    for edge in np.geomspace(r.min() * 1.5, r.max() / 1.5, 200):
        columns = [np.ones_like(both), both, np.minimum(both, edge), *([from_disk] if len(disk_s) else [])]
        terms = np.stack(columns, axis=1)
        costs, *_ = np.linalg.lstsq(terms / seen[:, None], np.ones_like(seen), rcond=None)
        missed = float(np.sum((terms @ costs / seen - 1) ** 2))
        page_s, row_s, touch_s, *load_s = costs.tolist()
        one = PageCosts(
            page_s=page_s, row_s=row_s, touch_s=touch_s, touched_rows=float(edge), load_s=sum(load_s)
        )
        found.append((missed, one))
    return min(found, key=lambda tried: tried[0])[1]


@functools.cache
def fitted(*names: str, rows: tuple[int, ...] = ROWS) -> PageCosts:
    """Return the costs that fit one or two columns of Chang's table, on pages of so many rows."""
    return fit(rows, *(column(name, rows) for name in names))


SCAN, AGGREGATE, USUAL = ("memory", "disk"), "aggregate", ROWS[:-1]
"""The columns of his scan for a few rows, and that of his aggregate, which is fitted without the page of 323 rows."""


def evicting_s() -> float:
    """Return what evicting a page costs when 18 of 20 are read and evicted and the page as a whole costs about 8 µs."""
    looked_at_s = printed("cpu_per_page_s.memory.r1")
    return laws.evicting_s(
        printed("load_and_evict_cpu_per_page_s"),
        looked_at_s=looked_at_s,
        load_s=printed("cpu_per_page_s.disk.r1") - looked_at_s,
        share=printed("eviction_read_bytes") / printed("scan_table_bytes"),
    )


def sigma() -> float:
    """Return the contention that "6-7X" on eight cores means, taken in the middle."""
    middle = (printed("scaling_factor.low") + printed("scaling_factor.high")) / 2
    return laws.contention(middle, int(printed("scaling_cores")))


def in_print() -> Tally:
    """Return every printed figure of processor time, each row of the table as foretold by the other rows."""
    models = {}
    for name, count in itertools.product((*SCAN, AGGREGATE), ROWS):
        names, known = ((AGGREGATE,), USUAL) if name == AGGREGATE else (SCAN, ROWS)
        costs = fitted(*names, rows=tuple(other for other in known if other != count))
        models[f"cpu_per_page_s.{name}.r{count}"] = float(costs.cpu_s(count, loaded=name == "disk"))
    return tally(__file__, models)
