"""The laws of loading: what bounds many writers, what a commit costs each row, and when one time is really better than
another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from readahead.devices import Device
from readahead.errors import require_range


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadCosts:
    """What a load takes besides the device, in seconds."""

    batch_s: float
    """Processor time of a batch, whatever its size."""
    row_s: float
    """Processor time of a row."""
    bytes_per_row: float
    """Written for each row."""


# -- many writers ----------------------------------------------------------------------------------------
def batch_service_s(device: Device, size_bytes: float) -> float:
    """Return how long the device takes until a batch is safe: 2 L + S / B, a latency to write and one to sync."""
    rate = min(device.channel_bandwidth_bytes_per_s, device.bandwidth_bytes_per_s)
    return 2 * device.latency_s + size_bytes / rate


def rows_per_s(device: Device, costs: LoadCosts, *, writers: float, commit_rows: float) -> float:
    """Return the rows a second of N writers that each make one file of `commit_rows` rows after another.

    k min(N / (c + s), 1 / c, C / s, B / S): no more batches of k rows than N writers can order, each of which waits for
    c seconds of processor and s of device; than one process can make one after the other; than C channels can serve;
    than the link can carry. The asymptotic bounds of a closed system (Denning and Buzen, "The operational analysis of
    queueing network models", 1978).
    """
    size_bytes = commit_rows * costs.bytes_per_row
    cpu_s, service_s = costs.batch_s + commit_rows * costs.row_s, batch_service_s(device, size_bytes)
    batches_per_s = min(
        writers / (cpu_s + service_s),
        1 / cpu_s,
        device.channels / service_s,
        device.bandwidth_bytes_per_s / max(size_bytes, 1.0),
    )
    return batches_per_s * commit_rows


def commit_time_s(rows: float, commit_rows: float, *, commit_s: float, row_s: float) -> float:
    """Return the seconds to load n rows with a commit after every k of them: ⌈n / k⌉ commits and n rows."""
    return math.ceil(rows / commit_rows) * commit_s + rows * row_s


# -- is a difference one? --------------------------------------------------------------------------------
def runs_to_settle(difference: float, spread: float, *, confidence: float = 0.95, power: float = 0.9) -> int:
    """Return how many runs of each of two set-ups show a true `difference`: 2 (z₁ + z₂)² (spread / difference)².

    Both are shares of the mean; z₁ and z₂ are the normal quantiles of confidence and power, 1.96 and 1.28 as given.
    For means of independent runs (Snedecor and Cochran, "Statistical Methods"). Raises `BadValue` for no difference.
    """
    require_range("difference", difference, low=1e-9, advice="Give a share of the mean, such as 0.02.")
    z = NormalDist().inv_cdf((1 + confidence) / 2) + NormalDist().inv_cdf(power)
    return max(2, math.ceil(2 * (z * spread / difference) ** 2))


def spread(times: Sequence[float]) -> float:
    """Return the standard deviation of some times as a share of their mean (sample form, n − 1)."""
    return float(np.std(times, ddof=1) / np.mean(times))


def expected_range(count: int) -> float:
    """Return how far the largest of `count` draws lies from the smallest, in standard deviations of a normal law.

    ∫ 1 − Fⁿ − (1 − F)ⁿ, Tippett's d₂ (1925): 2.33 for five.
    """
    x = np.linspace(-8, 8, 4001)
    below = np.array([NormalDist().cdf(value) for value in x])
    return float(np.trapezoid(1 - below**count - (1 - below) ** count, x))
