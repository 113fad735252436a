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


def rate(total_bytes: float, elapsed_s: float) -> float:
    r"""Return the bytes a second of a scan.

    .. math:: T / t

    where T (`total_bytes`) were read in t (`elapsed_s`).
    """
    return total_bytes / elapsed_s


def longer_reads_rate(bytes_per_s: float, read_bytes: float, longer_bytes: float) -> float:
    r"""Return the bytes a second of a scan whose reads become longer and take as long as before.

    .. math:: X \, \frac{S_2}{S_1}

    where X (`bytes_per_s`) is its rate with reads of S₁ (`read_bytes`), one after the other, and S₂ (`longer_bytes`)
    lies on as many more disks of a stripe as it is longer.
    """
    return bytes_per_s * longer_bytes / read_bytes


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


def window_share(
    request_bytes: float, in_flight: float, *, latency_s: float, bandwidth_bytes_per_s: float
) -> float:
    r"""Return the share of a device's bandwidth that a window of requests uses.

    .. math:: \min\left(1, \frac{Q S / B}{L + S / B}\right)

    where Q (`in_flight`) requests of S (`request_bytes`) are under way, each takes L (`latency_s`) until its first
    byte, and B (`bandwidth_bytes_per_s`) is the most that the device delivers.

    Source: J. D. C. Little, 1961, with the time of one request after J. Gray and G. Graefe, 1997.
    """
    device = {"latency_s": latency_s, "bandwidth_bytes_per_s": bandwidth_bytes_per_s}
    return window_rate(request_bytes, in_flight, **device) / bandwidth_bytes_per_s


def gain(
    *, open_s: float, waits_s: float, decode_s: float, first_s: float, ahead_s: float, hand_out_s: float
) -> float:
    r"""Return how many times sooner a scan is done when it asks ahead than when it waits for each read in turn.

    .. math:: \frac{o + w_1 + c}{o + f + \max(w_Q, c, h)}

    where o (`open_s`) is the opening of the file, w₁ (`waits_s`) the waits of all reads in turn, c (`decode_s`) the
    decoding, f (`first_s`) the wait for the first read, w_Q (`ahead_s`) what is left of the waits when many are under
    way, and h (`hand_out_s`) the handing out of reads to threads. Once enough is under way, the engine is the limit.
    """
    return (open_s + waits_s + decode_s) / (open_s + first_s + max(ahead_s, decode_s, hand_out_s))


def jump_cost(
    wanted_bytes: float, hole_bytes: float, *, latency_s: float, bandwidth_bytes_per_s: float
) -> float:
    r"""Return how many times as long two reads around a hole take as one read through it.

    .. math:: \frac{2 L + w / B}{L + (w + h) / B}

    where w (`wanted_bytes`) are wanted and h (`hole_bytes`) lie between, each read waits L (`latency_s`), and B
    (`bandwidth_bytes_per_s`) is how fast the bytes come. Both are alike where h is latency times bandwidth.
    """
    apart_s = 2 * latency_s + wanted_bytes / bandwidth_bytes_per_s
    return apart_s / (latency_s + (wanted_bytes + hole_bytes) / bandwidth_bytes_per_s)


def asked_for(first_reads: int, row_groups: int, depth: int) -> float:
    r"""Return how many reads are sent for rows that lie in the first row group.

    .. math:: a + \min(m, D)

    where a (`first_reads`) fetch the footer, m (`row_groups`) are there, one read each, and D (`depth`) are asked for
    before the first has come.
    """
    return first_reads + min(row_groups, depth)
