"""A customs desk at the end of a fast road. Every page that arrives is booked in, searched, perhaps another is thrown
out to make room; once the road is fast enough, the desk is what one waits for.

The costs are CPU seconds a page, as J. Chang tells them in "IO Cost Structure" (2010): a price for the page, one for
each row, one for first touching what a cache line holds, one for fetching the page, one for evicting another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.errors import BadValue, require_range

PAGE_BYTES = 8_192
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageCosts:
    """What a page costs the processor, in seconds."""

    page_s: float
    """To find it in memory."""
    row_s: float
    """To look at a row."""
    touch_s: float = 0.0
    """More, for each of the first rows: they bring cache lines that the later rows find there."""
    touched_rows: float = 0.0
    """How many rows have all of a page's cache lines in hand."""
    load_s: float = 0.0
    """To fetch it from the disk."""


def page_cpu_s(costs: PageCosts, rows: ArrayLike, *, loaded: bool = False) -> Array:
    """Return CPU seconds a page of `rows` rows: a + b·r + c·min(r, r₀), and the load where the page is fetched."""
    r = np.asarray(rows, float)
    memory = costs.page_s + costs.row_s * r + costs.touch_s * np.minimum(r, costs.touched_rows)
    return np.asarray(memory + costs.load_s * loaded)


def fit(rows: Sequence[float], memory_s: Sequence[float], disk_s: Sequence[float] = ()) -> PageCosts:
    """Return the costs that come closest, in relative error, to CPU seconds a page in memory and, if given, from disk.

    Five parameters if `disk_s` is given, four if not. r₀ is searched, the others are linear least squares. Raises
    `BadValue` for fewer figures than parameters.
    """
    r = np.asarray(rows, float)
    told = np.concatenate([np.asarray(memory_s, float), np.asarray(disk_s, float)])
    if len(told) < 4 + bool(len(disk_s)):
        raise BadValue(f"{len(told)} figures cannot fix four or five costs. Give at least six.")
    both = np.tile(r, 2)[: len(told)]
    from_disk = np.arange(len(told)) >= len(r)
    best: tuple[float, PageCosts] | None = None
    for edge in np.geomspace(r.min() * 1.5, r.max() / 1.5, 200):
        columns = [np.ones_like(both), both, np.minimum(both, edge), *([from_disk] if len(disk_s) else [])]
        terms = np.stack(columns, axis=1)
        found, *_ = np.linalg.lstsq(terms / told[:, None], np.ones_like(told), rcond=None)
        missed = float(np.sum((terms @ found / told - 1) ** 2))
        if best is None or missed < best[0]:
            page_s, row_s, touch_s = (float(cost) for cost in found[:3])
            costs = PageCosts(
                page_s=page_s,
                row_s=row_s,
                touch_s=touch_s,
                touched_rows=float(edge),
                load_s=float(found[3]) if len(disk_s) else 0.0,
            )
            best = missed, costs
    assert best is not None
    return best[1]


def rate_per_core(cpu_s: ArrayLike, size_bytes: float = PAGE_BYTES) -> Array:
    """Return the bytes a core gets through in a second if `size_bytes` cost it `cpu_s`."""
    return np.asarray(size_bytes / np.asarray(cpu_s, float))


def contention(factor: float, cores: int) -> float:
    """Return s of Amdahl's law (1967) from one observation: `cores` cores were `factor` times as fast as one.

    Raises `BadValue` if `factor` is not from 1 to `cores`, or there is only one core.
    """
    require_range("cores", cores, low=2, advice="One core shows nothing of how several get on.")
    require_range("factor", factor, low=1, high=cores, advice="Give how many times faster they were.")
    return (cores / factor - 1) / (cores - 1)


def scaling(cores: ArrayLike, sigma: float) -> Array:
    """Return how many times faster than one core: N / (1 + s(N − 1)) with s the `sigma` (Amdahl 1967)."""
    n = np.asarray(cores, float)
    return np.asarray(n / (1 + sigma * (n - 1)))


def cores_for(bytes_per_s: float, core_bytes_per_s: float, sigma: float) -> float:
    """Return the cores that get through `bytes_per_s`: the inverse of `scaling`; infinite where no number does.

    N = X(1 − s) / (1 − sX) with X = bytes_per_s / core_bytes_per_s.
    """
    times = bytes_per_s / core_bytes_per_s
    left = 1 - sigma * times
    return float("inf") if left <= 0 else times * (1 - sigma) / left


def roofline(device_bytes_per_s: ArrayLike, cpu_bytes_per_s: ArrayLike) -> Array:
    """Return the throughput under two roofs, the device's and the processor's: the lower one.

    After S. Williams, A. Waterman and D. Patterson, "Roofline" (2009), with the disk in the place of memory.
    """
    device, cpu = np.asarray(device_bytes_per_s, float), np.asarray(cpu_bytes_per_s, float)
    return np.asarray(np.minimum(device, cpu))
