"""What a query's time is made of: opening, waiting for reads, their bytes, moves of a head, and decoding meanwhile."""

from __future__ import annotations

import math

from readahead.models.estimate import query_s as query_s  # noqa: PLC0414 (a law of this chapter and of others)
from readahead.models.reads import distinct


def terms_s(
    *,
    reads: int,
    in_flight: int,
    latency_s: float,
    size_bytes: float,
    bandwidth_bytes_per_s: float,
    seeks: float = 0.0,
    seek_s: float = 0.0,
) -> dict[str, float]:
    r"""Return what the device takes for a query, by name; the largest term is the bottleneck.

    .. math:: w L, \quad w \frac{b}{n B}, \quad k s, \qquad w = \lceil n / q \rceil

    where n (`reads`) go in w waves of q (`in_flight`), each read waits L (`latency_s`) for its first byte, b
    (`size_bytes`) are the bytes of all, B (`bandwidth_bytes_per_s`) is what one read gets, and a head moves k (`seeks`)
    times for s (`seek_s`).
    """
    waves = math.ceil(reads / in_flight)
    transfer_s = size_bytes / reads / bandwidth_bytes_per_s
    return {"latency": waves * latency_s, "transfer": waves * transfer_s, "seek": seeks * seek_s}


def lookup_bytes(size_bytes: float, *, row_groups: int, rows: int) -> float:
    r"""Return how many bytes are read to look rows up, where a row group is read as a whole or not at all.

    .. math:: b \left(1 - (1 - 1/m)^k\right)

    where the file has b (`size_bytes`) in m (`row_groups`), and k (`rows`) random rows are wanted: a row group is
    missed by one of them with 1 - 1/m, and by all with that to the power of k.

    Source: A. Cardenas, Analysis and performance of inverted data base structures, 1975.
    """
    return size_bytes * distinct(row_groups, rows) / row_groups
