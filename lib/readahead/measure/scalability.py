"""How the work done in a second grows with the number of workers, which wait for what they share and for each other.

The Universal Scalability Law (N. J. Gunther, "A simple capacity model of massively parallel transaction systems",
1993): C(N) = N / (1 + a (N − 1) + b N (N − 1)). With b = 0 it is Amdahl's law (1967).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.errors import BadValue

Array = NDArray[np.float64]
FEWEST = 4
"""Counts of workers that a fit of three numbers needs at least."""
DRAWS = 200
"""How often repeats are resampled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """The three numbers of the law."""

    alone: float
    """What one does in a second."""
    contention: float
    """a: the share that is waited for; below 0 where each newcomer brings something, such as a cache."""
    crosstalk: float
    """b: what each pair costs."""

    def __call__(self, workers: ArrayLike) -> Array:
        """Return what so many do in a second."""
        return self.alone * capacity(workers, self.contention, self.crosstalk)

    @property
    def peak(self) -> float:
        """Return the number of workers past which more do less: √((1 − a) / b), infinite without crosstalk."""
        if self.crosstalk <= 0:
            return float("inf")
        return float(np.sqrt(max(0.0, 1 - self.contention) / self.crosstalk))


def capacity(workers: ArrayLike, contention: float, crosstalk: float) -> Array:
    """Return how many times the work of one: N / (1 + a (N − 1) + b N (N − 1))."""
    n = np.asarray(workers, float)
    return np.asarray(n / (1 + contention * (n - 1) + crosstalk * n * (n - 1)))


def fit(workers: Sequence[float], rates: Sequence[float]) -> Law:
    """Return the law nearest to rates (in anything a second), in relative error, with a and b not below 0.

    N / X is linear in 1, N − 1 and N (N − 1) (Gunther), so it is a linear least-squares fit. One worker alone does at
    most twice what each did at the best count: rates that are mostly noise would have it do anything. Raises
    `BadValue` for fewer than four different counts of workers.
    """
    from scipy.optimize import lsq_linear

    n, x = np.asarray(workers, float), np.asarray(rates, float)
    if len(set(n.tolist())) < FEWEST:
        raise BadValue(
            f"{len(set(n.tolist()))} counts of workers cannot fix three numbers. Give at least {FEWEST}."
        )
    best = float((x / n).max())
    terms = np.stack([np.ones_like(n), n - 1, n * (n - 1)], axis=1) * (x / n / best)[:, None]
    least = [0.5, 0.0, 0.0]
    found = lsq_linear(terms, np.ones_like(n), (least, np.inf), method="bvls").x
    one, waiting, telling = np.maximum(found, least)  # it may end a rounding below
    return Law(alone=best / one, contention=waiting / one, crosstalk=telling / one)


def fits(workers: Sequence[float], samples: Sequence[Sequence[float]], *, seed: int = 0) -> list[Law]:
    """Return laws fitted to resampled repeats: `samples` has the rates of each count of workers (Efron's bootstrap).

    Their spread is how well the measured repeats know the curve.
    """
    rng = np.random.default_rng(seed)
    laws = []
    for _ in range(DRAWS):
        rates = [float(np.median(rng.choice(repeats, len(repeats)))) for repeats in samples]
        laws.append(fit(workers, rates))
    return laws


def band(laws: Sequence[Law], workers: ArrayLike) -> tuple[Array, Array]:
    """Return the lower and upper edge of 95 % of the curves of many laws, at each count of workers."""
    curves = np.array([law(workers) for law in laws])
    low, high = np.quantile(curves, [0.025, 0.975], axis=0)
    return np.asarray(low), np.asarray(high)
