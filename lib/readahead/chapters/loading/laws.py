"""A loading bay with a few gates. Lorries come back for another load as soon as the last is signed for; a signature
takes
as long for one crate as for a hundred.

Also the referee's sums: when is one time really better than another?
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.devices import Device
from readahead.errors import require_range

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCosts:
    """What a load takes besides the device, in seconds."""

    batch_s: float
    """Processor time of a batch, whatever its size."""
    row_s: float
    """Processor time of a row."""
    bytes_per_row: float
    """Written for each row."""


def batch_service_s(device: Device, size_bytes: ArrayLike) -> Array:
    """Return how long the device takes to have a batch for good: its bytes, and one latency to write and one to
    sync."""
    rate = min(device.channel_bandwidth_bytes_per_s, device.bandwidth_bytes_per_s)
    return np.asarray(2 * device.latency_s + np.asarray(size_bytes, float) / rate)


def rows_per_s(device: Device, costs: LoadCosts, *, writers: ArrayLike, commit_rows: ArrayLike) -> Array:
    """Return the rows a second of `writers` that each make their own file of `commit_rows` rows after another.

    The asymptotic bounds of a closed system (Denning and Buzen, "The operational analysis of queueing network models",
    1978): no more than the writers can order, than can be made one after the other in one process, than the channels
    can serve or the link can carry.
    """
    n, rows = np.asarray(writers, float), np.asarray(commit_rows, float)
    cpu_s = costs.batch_s + rows * costs.row_s
    size = rows * costs.bytes_per_row
    service_s = batch_service_s(device, size)
    batches = np.minimum.reduce(
        np.broadcast_arrays(
            n / (cpu_s + service_s),
            1 / cpu_s,
            device.channels / service_s,
            device.bandwidth_bytes_per_s / np.maximum(size, 1.0),
        )
    )
    return np.asarray(batches * rows)


def commit_time_s(rows: ArrayLike, commit_rows: ArrayLike, *, commit_s: float, row_s: float) -> Array:
    """Return the seconds to load `rows` with a commit after every `commit_rows`: ⌈n / k⌉ commits, n rows."""
    n = np.asarray(rows, float)
    return np.asarray(np.ceil(n / np.asarray(commit_rows, float)) * commit_s + n * row_s)


# -- is a difference one? --------------------------------------------------------------------------------
def runs_to_settle(difference: float, spread: float, *, confidence: float = 0.95, power: float = 0.9) -> int:
    """Return how many runs of each of two set-ups show a true `difference`, both as shares of the mean.

    n = 2 (z₁ + z₂)² (spread / difference)², for means of independent runs (Snedecor and Cochran, "Statistical
    Methods").
    Raises `BadValue` for no difference.
    """
    require_range("difference", difference, low=1e-9, advice="Give a share of the mean, such as 0.02.")
    z = NormalDist().inv_cdf((1 + confidence) / 2) + NormalDist().inv_cdf(power)
    return max(2, math.ceil(2 * (z * spread / difference) ** 2))


def spread(times: Sequence[float]) -> float:
    """Return the standard deviation of some times as a share of their mean (sample form, n − 1)."""
    return float(np.std(times, ddof=1) / np.mean(times))


def expected_range(count: int) -> float:
    """Return how far the largest of `count` draws lies from the smallest, in standard deviations of a normal law.

    Tippett's d₂ (1925), by integration: 2.33 for five.
    """
    x = np.linspace(-8, 8, 4001)
    below = np.array([NormalDist().cdf(value) for value in x])
    return float(np.trapezoid(1 - below**count - (1 - below) ** count, x))
