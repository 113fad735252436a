"""What read-ahead gets out of a device: a window is so many requests of such a size under way."""

from __future__ import annotations

import math

from readahead.errors import BadValue


def window_rate(
    request_bytes: float, in_flight: float, *, latency_s: float, bandwidth_bytes_per_s: float
) -> float:
    r"""Return the bytes a second that a window of requests gets out of a device.

    .. math:: \min\left(B, \frac{Q S}{L + S / B}\right)

    where Q (`in_flight`) requests of S (`request_bytes`) are under way, each takes L (`latency_s`) until its first
    byte, and B (`bandwidth_bytes_per_s`) is the most that the device delivers.

    Source: J. D. C. Little, 1961, with the time of one request after J. Gray and G. Graefe, 1997.
    """
    one_s = latency_s + request_bytes / bandwidth_bytes_per_s
    return min(bandwidth_bytes_per_s, in_flight * request_bytes / one_s)


def scan_s(
    total_bytes: float, request_bytes: float, *, latency_s: float, bandwidth_bytes_per_s: float
) -> float:
    r"""Return the seconds of a scan with one request at a time.

    .. math:: \frac{T}{S} L + \frac{T}{B}

    where T (`total_bytes`) come in requests of S (`request_bytes`), each of which waits for L (`latency_s`), and B
    (`bandwidth_bytes_per_s`) is how fast the bytes come.
    """
    return total_bytes / request_bytes * latency_s + total_bytes / bandwidth_bytes_per_s


def device_of(
    one: tuple[float, float], other: tuple[float, float], *, total_bytes: float
) -> tuple[float, float]:
    """Return the (latency in s, bandwidth in bytes/s) with which two scans take as long as they did.

    Each scan is (request size in bytes, seconds), and takes what `scan_s` says. Two equations, two unknowns: it always
    fits, and so proves nothing by itself. Raises `BadValue` when no device with a latency and a bandwidth could have
    taken those times.
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
    r"""Return the bytes that must be under way for a device never to wait for an order: bandwidth x delay.

    .. math:: L B

    where L (`latency_s`) is how long an answer takes and B (`bandwidth_bytes_per_s`) how fast the bytes come.
    """
    return latency_s * bandwidth_bytes_per_s


def depth_to_ask_for(request_bytes: float, *, latency_s: float, bandwidth_bytes_per_s: float) -> int:
    r"""Return the fewest requests under way that saturate a device.

    .. math:: \left\lceil \frac{B (L + S / B)}{S} \right\rceil

    where S (`request_bytes`) is one request, L (`latency_s`) how long its first byte takes, and B
    (`bandwidth_bytes_per_s`) the most that the device delivers.
    """
    delay_s = latency_s + request_bytes / bandwidth_bytes_per_s
    return math.ceil(bandwidth_bytes_per_s * delay_s / request_bytes - 1e-9)
