"""What a page costs the processor, how several cores add up, and the throughput that device and processor allow.

The costs are CPU seconds a page, as J. Chang gives them in "IO Cost Structure" (2010): for the page, for each row, for
first touching what a cache line holds, for fetching the page, for evicting another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from readahead.errors import require_range

PAGE_BYTES = 8_192


def page_cpu_s(
    rows: ArrayLike,
    *,
    page_s: float,
    row_s: float,
    touch_s: float = 0.0,
    touched_rows: float = 0.0,
    load_s: float = 0.0,
) -> np.ndarray:
    r"""Return what a page of so many rows costs the processor, in seconds.

    .. math:: a + b \, r + c \min(r, r_0) + l

    where r (`rows`) are the rows, a (`page_s`) is for finding the page in memory, b (`row_s`) for looking at a row, c
    (`touch_s`) what each of the first r₀ (`touched_rows`) costs more because it brings cache lines that the later rows
    find there, and l (`load_s`) for fetching the page, 0 if it is in memory.

    Source: the tables of J. Chang, IO Cost Structure, 2010, to which it is fitted.
    """
    r = np.asarray(rows, float)
    return np.asarray(page_s + row_s * r + touch_s * np.minimum(r, touched_rows) + load_s)


def evicting_s(page_s: float, *, looked_at_s: float, load_s: float, share: float) -> float:
    r"""Return what evicting a page costs the processor, from a scan in which a share of the pages is read and evicted.

    .. math:: e = \frac{c - m}{p} - l

    where c (`page_s`) is what a page costs on average, m (`looked_at_s`) what one in memory does, l (`load_s`) what
    fetching adds, and p (`share`) the share of pages that are fetched, each in the place of another.
    """
    return (page_s - looked_at_s) / share - load_s


def loading_s(from_disk_s: float, in_memory_s: float) -> float:
    r"""Return what it costs the processor to fetch a page.

    .. math:: d - m

    where the same query costs d (`from_disk_s`) a page that comes from the disk and m (`in_memory_s`) a page that is in
    memory: what it does with the rows is in both.

    Source: J. Chang, IO Cost Structure, 2010.
    """
    return from_disk_s - in_memory_s


def times_as_dear(
    rows: int, row_groups: int, *, dear_row_s: float, cheap_row_s: float, group_s: float
) -> float:
    r"""Return how many times the processor time of one query another takes on the same table.

    .. math:: \frac{N r_1 + m g}{N r_2 + m g}

    where N (`rows`) cost r₁ (`dear_row_s`) each in one query and r₂ (`cheap_row_s`) in the other, and each of m
    (`row_groups`) costs both g (`group_s`).
    """
    return (rows * dear_row_s + row_groups * group_s) / (rows * cheap_row_s + row_groups * group_s)


def rate_per_core(cpu_s: float, size_bytes: float = PAGE_BYTES) -> float:
    r"""Return the bytes that a core gets through in a second.

    .. math:: n / c

    where n (`size_bytes`) bytes cost it c (`cpu_s`) seconds.
    """
    return size_bytes / cpu_s


def contention(factor: float, cores: int) -> float:
    r"""Return the contention of several cores from one observation.

    .. math:: s = \frac{N / X - 1}{N - 1}

    where N (`cores`) cores, 2 or more, were X (`factor`) times as fast as one, from 1 to N times.

    Source: G. Amdahl, 1967, solved for s.
    """
    require_range("cores", cores, low=2, advice="One core shows nothing of how several get on.")
    require_range("factor", factor, low=1, high=cores, advice="Give how many times faster they were.")
    return (cores / factor - 1) / (cores - 1)


def scaling(cores: float, sigma: float) -> float:
    r"""Return how many times as fast as one core several are.

    .. math:: \frac{N}{1 + s (N - 1)}

    where N (`cores`) is their number and s (`sigma`) their contention.

    Source: G. Amdahl, 1967.
    """
    return cores / (1 + sigma * (cores - 1))


def cores_for(bytes_per_s: float, core_bytes_per_s: float, sigma: float) -> float:
    r"""Return the cores that get through so many bytes a second: the inverse of `scaling`.

    .. math:: N = \frac{X (1 - s)}{1 - s X}

    where X is `bytes_per_s` over `core_bytes_per_s` and s (`sigma`) the contention; infinite where no number does.
    """
    times = bytes_per_s / core_bytes_per_s
    left = 1 - sigma * times
    return float("inf") if left <= 0 else times * (1 - sigma) / left


def roof_gain(slow_bytes_per_s: float, fast_bytes_per_s: float, cpu_bytes_per_s: float) -> float:
    r"""Return how many times faster a query becomes on a faster device.

    .. math:: \frac{\min(d_2, c)}{\min(d_1, c)}

    where d₁ (`slow_bytes_per_s`) and d₂ (`fast_bytes_per_s`) are what the devices deliver and c (`cpu_bytes_per_s`)
    what the processor gets through.

    Source: S. Williams, A. Waterman, D. Patterson, Roofline, 2009, with the disk in the place of memory.
    """
    return min(fast_bytes_per_s, cpu_bytes_per_s) / min(slow_bytes_per_s, cpu_bytes_per_s)
