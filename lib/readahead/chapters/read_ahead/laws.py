"""A waiter who takes one order, walks to the kitchen, waits, and walks back; and another who takes the orders of
the next tables while the first is cooked. The kitchen is the same. What differs is how much it was asked for.

Read-ahead is a window: so many requests of such a size under way. What a window gets out of a device, the device
that two printed numbers betray, and the window that a device deserves.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.errors import BadValue
from readahead.models.reads import Span
from readahead.models.shapes import RowGroup

Array = NDArray[np.float64]
PAGE_HEADER_BYTES = 256
"""What DuckDB reads of a Parquet page before it knows how long the page is, when it may not read ahead."""
GROUPS_A_WORKER = 4
"""Row groups under way for each worker when DuckDB chooses the depth: 64 MiB a worker, 16 MiB a group at least."""


def window_rate(
    request_bytes: ArrayLike,
    in_flight: ArrayLike,
    *,
    latency_s: float,
    bandwidth_bytes_per_s: float,
    channel_bandwidth_bytes_per_s: float = math.inf,
) -> Array:
    """Return bytes a second of a window of Q requests of S bytes: min(B, Q S / (L + S / Bc)).

    Little's law (1961) with the time of one request after Gray & Graefe (1997); Bc is the bandwidth of one channel,
    or that of the device where a request has it to itself.
    """
    size = np.asarray(request_bytes, float)
    alone = min(channel_bandwidth_bytes_per_s, bandwidth_bytes_per_s)
    rate = np.asarray(in_flight, float) * size / (latency_s + size / alone)
    return np.asarray(np.minimum(bandwidth_bytes_per_s, rate))


def scan_s(
    total_bytes: float, request_bytes: float, *, latency_s: float, bandwidth_bytes_per_s: float
) -> float:
    """Return the seconds of a scan with one request at a time: n L + T / B, for n requests and T bytes."""
    return total_bytes / request_bytes * latency_s + total_bytes / bandwidth_bytes_per_s


def device_of(
    one: tuple[float, float], other: tuple[float, float], *, total_bytes: float
) -> tuple[float, float]:
    """Return the (latency in s, bandwidth in bytes/s) with which two scans take as long as they did.

    Each scan is (request size in bytes, seconds). Two equations, two unknowns: it always fits, and so proves nothing
    by itself. Raises `BadValue` when no device with a latency and a bandwidth could have taken those times.
    """
    (small, small_s), (large, large_s) = sorted([one, other])
    reads = total_bytes / small - total_bytes / large
    latency_s = (small_s - large_s) / reads if reads else -1.0
    moving_s = large_s - total_bytes / large * latency_s
    if latency_s < 0 or moving_s <= 0:
        raise BadValue(
            f"Requests of {small:,.0f} bytes in {small_s:g} s and of {large:,.0f} bytes in {large_s:g} s fit no device:"
            " smaller requests must take longer, and not all of the time. Give two scans of the same bytes."
        )
    return latency_s, total_bytes / moving_s


def bytes_to_ask_for(*, latency_s: float, bandwidth_bytes_per_s: float) -> float:
    """Return bandwidth x delay: the bytes that must be under way for a device never to wait for an order."""
    return latency_s * bandwidth_bytes_per_s


def depth_to_ask_for(request_bytes: float, *, latency_s: float, bandwidth_bytes_per_s: float) -> int:
    """Return the fewest requests under way that saturate a device: B (L + S / B) / S, rounded up."""
    delay_s = latency_s + request_bytes / bandwidth_bytes_per_s
    return math.ceil(bandwidth_bytes_per_s * delay_s / request_bytes - 1e-9)


# -- what DuckDB asks for when it may not read ahead ------------------------------------------------------
def page_reads(group: RowGroup, columns: Collection[str], pages: Mapping[str, int]) -> list[Span]:
    """Return the reads of a row group page by page: a header, then the page, for each page of each wanted column.

    `pages` says how many pages a column's chunk has (one, and a dictionary where there is one).
    """
    reads: list[Span] = []
    for chunk in group.chunks:
        if chunk.column in columns:
            count = pages[chunk.column]
            share = max(1, (chunk.size_bytes - count * PAGE_HEADER_BYTES) // count)
            for page in range(count):
                at = chunk.offset + page * (PAGE_HEADER_BYTES + share)
                reads += [(at, PAGE_HEADER_BYTES), (at + PAGE_HEADER_BYTES, share)]
    return reads
