"""Why the rate of lookups bends: reads that wait for one another, or go at once and wait for the fullest disk.

Little's law ties the two together. Past the step, rows share the places they are read from, and from some number of
rows on it is sooner to read the whole table.
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist

import numpy as np

from readahead.errors import require_range
from readahead.models.reads import distinct as distinct  # noqa: PLC0414 (a law of this chapter and of others)


def lookups_per_s(reads_a_row: float, latency_s: float) -> float:
    r"""Return how many rows a second come when each read waits for the one before it.

    .. math:: \frac{1}{r R}

    where r (`reads_a_row`) are the reads of a row and R (`latency_s`) is how long each takes. How many disks there are
    is not in it.
    """
    return 1 / (reads_a_row * latency_s)


def batch_s(reads: float, disks: int, service_s: float, gain: float = 0.0) -> float:
    r"""Return the seconds of a batch that is asked for at once: it ends when its fullest disk is done.

    .. math:: E[\max_D n_D] \; s \; (n / D)^{-a}

    where n (`reads`) are the reads, each on any of D (`disks`) alike, and s (`service_s`) is the time of one. The
    power a (`gain`) is what a disk gains from choosing among the reads that wait for it: it is fitted, and 0 for a
    device without a head.

    Source: M. Raab and A. Steger, Balls into Bins, 1998; D. Jacobson and J. Wilkes, 1991, for the gain.
    """
    return float(fullest(reads, disks) * service_s * max(1.0, reads / disks) ** -gain)


def speed_up(reads: float, disks: int) -> float:
    r"""Return how many times sooner a batch is done on several disks than on one.

    .. math:: \frac{n}{E[\max_D n_D]}

    where n (`reads`) are asked for at once, each falls on any of D (`disks`) alike, and the fullest disk is done last.

    Source: M. Raab and A. Steger, Balls into Bins, 1998.
    """
    return reads / fullest(reads, disks)


def gain_at_most(alone_s: float, together_s: float, speed_up: float) -> float:
    r"""Return how many times sooner all is done when only a part of it is done side by side.

    .. math:: \frac{a + b}{a + b / g}

    where a (`alone_s`) is what goes one step at a time, and b (`together_s`) what gets g (`speed_up`) times as fast.

    Source: G. M. Amdahl, Validity of the single processor approach to achieving large scale computing capabilities,
    1967.
    """
    return (alone_s + together_s) / (alone_s + together_s / speed_up)


def step_gain(before: float, alone: float, service_s: float, together_s: float) -> float:
    r"""Return how many times as long reads one by one take as fewer one by one and the others side by side.

    .. math:: \frac{n s}{a s + t}

    where n (`before`) are the reads below the step, of s (`service_s`) each; beyond it a (`alone`) still wait for one
    another, and all others are done in t (`together_s`).
    """
    return before * service_s / (alone * service_s + together_s)


def mean_wait_s(reads: float, disks: int, service_s: float) -> float:
    r"""Return how long a read of a batch takes on average: its own service, and half of the others on its disk.

    .. math:: s \left(1 + \frac{n - 1}{2 D}\right)

    where n (`reads`) fall on D (`disks`) alike and s (`service_s`) is the time of one: a read is as likely to be
    first as last among those that fell on its disk.
    """
    return service_s * (1 + max(0.0, reads - 1) / (2 * disks))


def in_flight(reads_per_s: float, wait_s: float) -> float:
    r"""Return how many reads are under way on average, whatever the device and the order.

    .. math:: N = X R

    where X (`reads_per_s`) are the reads that end in a second and R (`wait_s`) is how long each takes.

    Source: J. D. C. Little, A Proof for the Queuing Formula L = λW, 1961.
    """
    return reads_per_s * wait_s


def fullest(reads: float, disks: int) -> float:
    r"""Return how many reads the fullest disk gets, on average, when each falls on any disk alike.

    .. math:: n/D + m \sqrt{n/D} + (m^2 - 1)/6

    where n (`reads`) fall on D (`disks`) and m is the mean of the largest of D standard normals (`largest_normal`); the
    last term mends the skew of a count. From as many reads as disks on it is within two per cent of what balls in bins
    do; of far fewer reads it says too much, and one read is always one.

    Source: M. Raab and A. Steger, Balls into Bins, 1998; E. Cornish and R. Fisher, 1938, for the skew.
    """
    require_range("disks", disks, low=1, advice="Give a whole number of disks, such as 8.")
    if disks == 1 or reads <= 1:
        return max(0.0, float(reads))
    m, even = largest_normal(disks), reads / disks
    return min(float(reads), even + m * math.sqrt(even) + (m**2 - 1) / 6)


def throw(reads: int, disks: int, seed: int = 1) -> np.ndarray:
    """Return how many reads each disk gets when chance throws them: an experiment to be repeated with other seeds."""
    return np.bincount(np.random.default_rng(seed).integers(0, disks, reads), minlength=disks)


@functools.lru_cache(maxsize=128)
def largest_normal(count: int) -> float:
    """Return the mean of the largest of so many standard normals: the integral of x against d(Phi^n)."""
    x = np.linspace(-8, 8, 4001)
    return float(8 - np.trapezoid(np.array([NormalDist().cdf(value) for value in x]) ** count, x))


def distinct_of(places: int, all_rows: int, rows: int) -> float:
    r"""Return how many places random rows fall in when no row comes twice.

    .. math:: m \left(1 - \binom{N - N/m}{k} / \binom{N}{k}\right)

    where m (`places`) hold N (`all_rows`) alike, and k (`rows`) of them are drawn.

    Source: S. B. Yao, Approximating Block Accesses in Database Organizations, 1977.
    """
    elsewhere = all_rows - all_rows / places
    if rows > elsewhere:
        return float(places)
    return -places * math.expm1(_log_choose(elsewhere, rows) - _log_choose(all_rows, rows))


def _log_choose(many: float, few: float) -> float:
    return math.lgamma(many + 1) - math.lgamma(few + 1) - math.lgamma(many - few + 1)


def spread(places: int, rows: float) -> float:
    """Return the standard deviation of `distinct` from one draw of rows to the next (an occupancy, Weiss 1958)."""
    m = float(places)
    once, both = (1 - 1 / m) ** rows, max(0.0, 1 - 2 / m) ** rows
    return math.sqrt(max(0.0, m * (m - 1) * both + m * once - (m * once) ** 2))


def worth_looking_up(scan_s: float, lookup_s: float, rows: int) -> float:
    r"""Return from how many rows on the whole table is read sooner, if each row takes as long as in one lookup.

    .. math:: k \, T / t

    where T (`scan_s`) is the time of the whole table and t (`lookup_s`) that of a lookup of k (`rows`). The more rows,
    the more of them share what was read, so that the true break-even lies somewhat higher.
    """
    return rows * scan_s / lookup_s
