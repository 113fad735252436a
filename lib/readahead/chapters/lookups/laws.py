"""A clerk sent to the archive for twenty-six files. He may walk for each in turn, or hand in the whole list at once;
then he waits for the shelf at which most of them happen to lie.

Lookups one at a time and in a batch, Little's law that ties the two together, and how many distinct places so many
random rows lie in.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.errors import require_range

Array = NDArray[np.float64]
EXACT = 400
"""Up to so many reads the slowest bin is worked out exactly; beyond, by the normal law."""


# -- one at a time, and in a batch -------------------------------------------------------------------------
def one_at_a_time_s(reads: ArrayLike, service_s: ArrayLike) -> Array:
    """Return the seconds of reads that wait for one another: n s. How many disks there are does not matter."""
    return np.asarray(np.asarray(reads, float) * np.asarray(service_s, float))


def batch_s(reads: float, disks: int, service_s: float, gain: float = 0.0) -> float:
    """Return the seconds of a batch that is asked for at once: E[fullest of D disks] s q^-a, with q = n / D on each.

    Balls into bins (Raab & Steger 1998). The power of q is what a disk gains from choosing among the reads that wait
    for it (an elevator, Jacobson & Wilkes 1991): an empirical law, `gain` is fitted, and 0 for a device without a head.
    """
    return float(fullest(reads, disks) * service_s * max(1.0, reads / disks) ** -gain)


def mean_wait_s(reads: float, disks: int, service_s: float) -> float:
    """Return how long a read of a batch takes on average: its own service, and half of the others on its disk.

    s (1 + (n - 1) / 2D): a read is as likely to be first as last among those that fell on its disk.
    """
    return service_s * (1 + max(0.0, reads - 1) / (2 * disks))


def in_flight(reads_per_s: float, wait_s: float) -> float:
    """Return how many reads are under way on average: N = X R (Little 1961), whatever the device and the order."""
    return reads_per_s * wait_s


def fullest(reads: float, disks: int) -> float:
    """Return how many of n reads the fullest of D disks gets, on average, when each falls on any disk alike.

    Exact up to `EXACT` reads (in between, on a straight line); beyond, n / D + sqrt(n / D) m + (m² − 1) / 6, where m is
    the mean of the largest of D standard normals, and the last term mends the skew of a count (E. Cornish and R.
    Fisher, 1938). The two meet within half a per cent.
    """
    require_range("disks", disks, low=1, advice="Give a whole number of disks, such as 8.")
    if disks == 1 or reads <= 1:
        return max(0.0, reads) if disks == 1 else max(0.0, min(reads, 1.0))
    if reads > EXACT:
        highest = _largest_normal(disks)
        return reads / disks + math.sqrt(reads / disks) * highest + (highest**2 - 1) / 6
    low = math.floor(reads)
    share = reads - low
    return _fullest(low, disks) * (1 - share) + (share and _fullest(low + 1, disks) * share)


@functools.lru_cache(maxsize=4096)
def _fullest(reads: int, disks: int) -> float:
    """Return the exact mean of the largest of D bins: the sum over m of P(some bin holds more than m).

    P(no bin holds more than m) is the n-th coefficient of (sum of Poisson(i; n / D), i <= m)^D over Poisson(n; n).
    """
    rate = reads / disks
    logs = (
        np.arange(reads + 1) * math.log(rate)
        - rate
        - np.array([math.lgamma(i + 1) for i in range(reads + 1)])
    )
    terms = np.exp(logs)
    whole = math.exp(reads * math.log(reads) - reads - math.lgamma(reads + 1))
    mean = float(first := -(-reads // disks))  # some bin always holds as many as this
    for most in range(first, reads):
        spilled = 1 - _power(terms[: most + 1], disks, reads)[reads] / whole if most * disks >= reads else 1.0
        if spilled < 1e-9:
            break
        mean += spilled
    return mean


def _power(series: Array, exponent: int, most: int) -> Array:
    """Return the coefficients of a power series to a power, up to x^most."""
    result, square = np.ones(1), series
    while exponent:
        if exponent & 1:
            result = np.convolve(result, square)[: most + 1]
        exponent >>= 1
        if exponent:
            square = np.convolve(square, square)[: most + 1]
    return np.pad(result, (0, most + 1 - len(result)))


@functools.lru_cache(maxsize=128)
def _largest_normal(count: int) -> float:
    """Return the mean of the largest of so many standard normals: the integral of x against d(Phi^n)."""
    x = np.linspace(-8, 8, 4001)
    below = np.array([0.5 * (1 + math.erf(value / math.sqrt(2))) for value in x]) ** count
    return float(8 - np.sum((below[1:] + below[:-1]) / 2 * np.diff(x)))


# -- how many places so many rows lie in -------------------------------------------------------------------
def distinct(places: ArrayLike, rows: ArrayLike) -> Array:
    """Return how many of m places k random rows lie in: m (1 - (1 - 1/m)^k) (Cardenas 1975); rows may repeat."""
    m, k = np.maximum(1.0, np.asarray(places, float)), np.asarray(rows, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = m * -np.expm1(k * np.log1p(-1.0 / m))
    return np.asarray(np.where(m == 1, np.minimum(k, 1.0), found))


def distinct_of(places: int, all_rows: int, rows: int) -> float:
    """Return the same when no row comes twice: m (1 - C(N - N/m, k) / C(N, k)) (Yao 1977)."""
    in_place = all_rows / places
    if rows > all_rows - in_place:
        return float(places)
    missed = _log_choose(all_rows - in_place, rows) - _log_choose(all_rows, rows)
    return -places * math.expm1(missed)


def _log_choose(many: float, few: float) -> float:
    return math.lgamma(many + 1) - math.lgamma(few + 1) - math.lgamma(many - few + 1)


def spread(places: int, rows: float) -> float:
    """Return the standard deviation of `distinct` from one draw of rows to the next (an occupancy, Weiss 1958)."""
    m = float(places)
    once, both = (1 - 1 / m) ** rows, max(0.0, 1 - 2 / m) ** rows
    return math.sqrt(max(0.0, m * (m - 1) * both + m * once - (m * once) ** 2))


def amplification(read_bytes: ArrayLike, row_bytes: float) -> Array:
    """Return how many bytes are read for each byte that was wanted, when every row costs a read of its own."""
    return np.asarray(np.asarray(read_bytes, float) / row_bytes)


def break_even(lookup_s: Callable[[int], float], scan_s: float, most: int) -> int:
    """Return the fewest rows whose lookup takes at least as long as the scan; `most` if none up to there does.

    Looks by halving, so `lookup_s` must not fall as the rows grow.
    """
    low, high = 1, most
    while low < high:
        middle = (low + high) // 2
        if lookup_s(middle) >= scan_s:
            high = middle
        else:
            low = middle + 1
    return low
