"""What a page costs the processor, how several cores add up, and the throughput that device and processor allow.

The costs are CPU seconds a page, as J. Chang gives them in "IO Cost Structure" (2010): for the page, for each row, for
first touching what a cache line holds, for fetching the page, for evicting another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.errors import require_range

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
    """After how many rows all cache lines of a page are in the processor's cache."""
    load_s: float = 0.0
    """To fetch it from the disk."""


def page_cpu_s(costs: PageCosts, rows: ArrayLike, *, loaded: bool = False) -> Array:
    """Return CPU seconds a page of `rows` rows: a + b·r + c·min(r, r₀), and the load where the page is fetched.

    After J. Chang's tables (2010): a is `page_s`, b `row_s`, c `touch_s` and r₀ `touched_rows`.
    """
    r = np.asarray(rows, float)
    memory = costs.page_s + costs.row_s * r + costs.touch_s * np.minimum(r, costs.touched_rows)
    return np.asarray(memory + costs.load_s * loaded)


def rate_per_core(cpu_s: ArrayLike, size_bytes: float = PAGE_BYTES) -> Array:
    """Return the bytes a core gets through in a second if `size_bytes` cost it `cpu_s`."""
    return np.asarray(size_bytes / np.asarray(cpu_s, float))


def contention(factor: float, cores: int) -> float:
    """Return s of Amdahl's law (1967) from one observation: `cores` cores were `factor` times as fast as one.

    s = (N / X − 1) / (N − 1) with N cores and the factor X. Raises `BadValue` if `factor` is not from 1 to `cores`, or
    there is only one core.
    """
    require_range("cores", cores, low=2, advice="One core shows nothing of how several get on.")
    require_range("factor", factor, low=1, high=cores, advice="Give how many times faster they were.")
    return (cores / factor - 1) / (cores - 1)


def scaling(cores: float, sigma: float) -> float:
    """Return how many times faster than one core: N / (1 + s(N − 1)) with s the `sigma` (Amdahl 1967)."""
    return cores / (1 + sigma * (cores - 1))


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
    return np.asarray(np.minimum(device_bytes_per_s, cpu_bytes_per_s), float)
