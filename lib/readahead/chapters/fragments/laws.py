"""A record player that must lift its arm at the end of every groove. The shorter the grooves, the more of its time
the arm is in the air, however fast the record turns.

What a fragment yields, the size at which half the time is lost, the hole that is cheaper to read through, and what
several readers do to one arm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.devices import Device
from readahead.models.queue import DeviceQueue

Array = NDArray[np.float64]


def yield_share(fragment_bytes: ArrayLike, *, seek_s: float, bandwidth_bytes_per_s: float) -> Array:
    """Return the share of its sequential speed that a disk keeps: (f/B) / (s + f/B), for fragments of f bytes.

    From the comment by mark on N. Neugebauer's "Clustered Columnstore Indexes – part 50 (Columnstore IO)"; it is the
    transfer share of the disk models of Ruemmler & Wilkes (1994).
    """
    reading_s = np.asarray(fragment_bytes, float) / bandwidth_bytes_per_s
    return np.asarray(reading_s / (seek_s + reading_s))


def half_speed_bytes(*, seek_s: float, bandwidth_bytes_per_s: float) -> float:
    """Return the fragment size at which a disk moves as long as it reads: bandwidth x seek."""
    return bandwidth_bytes_per_s * seek_s


def hole_worth_reading_bytes(*, latency_s: float, bandwidth_bytes_per_s: float) -> float:
    """Return the longest hole between two wanted pieces that is faster read through than jumped.

    Reading h bytes for nothing takes h/B, a read of its own takes the latency: they meet at latency x bandwidth, the
    rule by which DuckDB merges reads (ParquetPrefetchCostModel, DuckDB 2.0).
    """
    return latency_s * bandwidth_bytes_per_s


def rebuild_gain(
    before_bytes: float, after_bytes: float, *, seek_s: float, bandwidth_bytes_per_s: float
) -> float:
    """Return how many times faster a scan becomes when its fragments grow, if the disk is all that counts."""
    shares = yield_share(
        [before_bytes, after_bytes], seek_s=seek_s, bandwidth_bytes_per_s=bandwidth_bytes_per_s
    )
    return float(shares[1] / shares[0])


def readers_s(device: Device, *, readers: int, request_bytes: int, total_bytes: int) -> float:
    """Return when `readers` are done, each reading its own part of a file in a row, one request after another.

    The requests of all readers meet at the device in turns, so on one head every one of them finds it elsewhere.
    """
    queue, part = DeviceQueue(device), total_bytes // readers
    ready_s = [0.0] * readers
    for request in range(max(1, part // request_bytes)):
        for reader in sorted(range(readers), key=ready_s.__getitem__):
            offset = reader * part + request * request_bytes
            ready_s[reader], _ = queue.book(ready_s[reader], offset, request_bytes)
    return max(ready_s)
