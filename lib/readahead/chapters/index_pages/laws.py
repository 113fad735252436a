"""A telephone directory with thumb tabs. The longer the names on the tabs, the fewer fit on a page, and the more pages
of tabs there are; and how long it takes to leaf through them depends on whether each page has to tell the next.

How many pages an index has above its leaves, how long a chain of dependent reads takes and the same reads from a list,
and how much a sample of whole blocks knows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.devices import Device
from readahead.models.parquet_reads import Span
from readahead.models.schedule import Costs, Window, simulate

Array = NDArray[np.float64]

LIMITED, MAP, SAMPLED, DETAILED, COUNT = (
    "links",
    "map",
    "links, 1 leaf in 100",
    "links, all leaves",
    "all leaves",
)
"""The upper pages by their links (LIMITED), the same pages by the map, and LIMITED with a sample of the leaves
(SAMPLED) or with all of them (DETAILED); all leaves by the map alone, as COUNT(*) has to."""
INDEX_WAYS = (LIMITED, MAP, SAMPLED, DETAILED, COUNT)
PAGE_SPACE_BYTES = 8_096
"""What a page of 8,192 bytes has room for, without its header."""
POINTER_BYTES, NULLABLE_BYTES = 9, 3
"""Beside the key of an entry: 6 bytes of page number, 1 of the record's own, 2 of its slot; and a bitmap of nulls."""
SAMPLE_EVERY, SAMPLE_FROM_PAGES = 100, 10_000
"""SAMPLED reads every hundredth leaf page of an index with at least so many, and else all of them."""
READER_S, GATE_S = 60e-6, 45e-6
"""What a plain reader takes from one page to asking for the next; and many readers from one read to the next, for they
share one interpreter. As calibrated on a machine of 2 cores."""
READER = Costs(
    plan_s=0.0, open_s=0.0, open_group_s=0.0, read_s=READER_S, dispatch_s=GATE_S, group_s=0.0, row_s=0.0, close_s=0.0
)  # fmt: skip


# -- how many pages --------------------------------------------------------------------------------------
def entry_bytes(key_bytes: ArrayLike, *, nullable: bool) -> Array:
    """Return the bytes of an index entry with a key of fixed length.

    After Microsoft, Estimate the Size of a Clustered Index. A key that may be null carries a bitmap that says so.
    """
    return np.asarray(np.asarray(key_bytes, float) + POINTER_BYTES + NULLABLE_BYTES * nullable)


def fanout(entry_bytes: ArrayLike, page_space_bytes: float = PAGE_SPACE_BYTES) -> Array:
    """Return how many entries a page has room for (P. Randal, Inside sys.dm_db_index_physical_stats)."""
    return np.asarray(np.floor(page_space_bytes / np.asarray(entry_bytes, float)))


def upper_pages(leaf_pages: ArrayLike, entries: ArrayLike) -> Array:
    """Return the pages of the level above, each with `entries` entries."""
    return np.asarray(np.ceil(np.asarray(leaf_pages, float) / np.asarray(entries, float)))


def levels(leaf_pages: int, entries: int) -> list[int]:
    """Return the pages of each level, from the leaves to the one root (R. Bayer and E. McCreight, 1972)."""
    found = [leaf_pages]
    while found[-1] > 1:
        found.append(math.ceil(found[-1] / entries))
    return found


def leaves_to_sample(leaf_pages: int) -> slice:
    """Return which of the leaf pages SAMPLED reads (P. Randal): every hundredth, or all of a small index."""
    return slice(None, None, SAMPLE_EVERY if leaf_pages >= SAMPLE_FROM_PAGES else 1)


# -- how long --------------------------------------------------------------------------------------------
def walk_s(device: Device, spans: Sequence[Span]) -> float:
    """Return the seconds of reads each of which has to be there before the next is known, on the device's own queue."""
    return _told(device, spans, Window(slots=1, depth=1, threads=1))


def spread_s(device: Device, spans: Sequence[Span], depth: int) -> float:
    """Return the seconds of reads that are all known, `depth` of them under way at a time."""
    return _told(device, spans, Window(slots=depth, depth=max(1, len(spans)), threads=1))


def _told(device: Device, spans: Sequence[Span], window: Window) -> float:
    groups = [[span] for span in spans]
    return simulate(device, [], groups, [0] * len(spans), window=window, costs=READER).finished_s


def chain_s(
    reads: ArrayLike, read_bytes: ArrayLike, *, latency_s: ArrayLike, bandwidth_bytes_per_s: ArrayLike
) -> Array:
    """Return n (L + S / B + h): a chain of n dependent reads, whatever the depth (h: the reader's own time)."""
    one = np.asarray(latency_s, float) + np.asarray(read_bytes, float) / np.asarray(
        bandwidth_bytes_per_s, float
    )
    return np.asarray(np.asarray(reads, float) * (one + READER_S))


def map_s(
    reads: ArrayLike,
    read_bytes: ArrayLike,
    depth: ArrayLike,
    *,
    latency_s: ArrayLike,
    bandwidth_bytes_per_s: ArrayLike,
) -> Array:
    """Return max(n S / B, n (L + S / B + h) / Q, n g) + L: the same reads from a list, Q at a time.

    The L at the end, the last answer's wait, is added only where the link or the readers' gate is the narrowest place.
    Little's law (1961), under the ceilings of the device's link and of the readers' shared interpreter.
    """
    number, size = np.asarray(reads, float), np.asarray(read_bytes, float)
    moving = size / np.asarray(bandwidth_bytes_per_s, float)
    alone = np.asarray(latency_s, float) + moving + READER_S
    widest = np.minimum(np.asarray(depth, float), np.maximum(number, 1.0))
    slowest = np.maximum(np.maximum(moving, GATE_S), alone / widest)
    last = np.asarray(latency_s, float) * (widest > 1) * (slowest > alone / widest)
    return np.asarray(number * slowest + last)


# -- what a sample knows ---------------------------------------------------------------------------------
def share_in(rows: ArrayLike, hits: ArrayLike, *, of_groups: int, quantile: float) -> tuple[float, float]:
    """Return (share, half the width of its interval) from whole groups drawn at random out of `of_groups`.

    The ratio estimator of one-stage cluster sampling with its finite-population correction (W. G. Cochran, Sampling
    Techniques, 1977, ch. 9A); `quantile` is that of Student's t for one group less than were drawn. With fewer than two
    groups nothing is known of the spread: the half-width is infinite.
    """
    size, seen = np.asarray(rows, float), np.asarray(hits, float)
    if not size.sum():
        return math.nan, math.inf
    share = float(seen.sum() / size.sum())
    drawn = len(size)
    if drawn < 2:
        return share, math.inf
    apart = np.sum((seen - share * size) ** 2) / (drawn - 1)
    error = math.sqrt(max(0.0, 1 - drawn / of_groups) * apart / drawn) / float(size.mean())
    return share, quantile * error


def sorted_half_width(groups: int, of_groups: int, quantile: float, share: float = 0.5) -> float:
    """Return the half-width to expect where every group is all or nothing: the table lies in that column's order."""
    spread = share * (1 - share) * groups / max(1, groups - 1)
    return quantile * math.sqrt(max(0.0, 1 - groups / of_groups) * spread / groups)


def shuffled_half_width(
    groups: int, of_groups: int, group_rows: float, quantile: float, share: float = 0.5
) -> float:
    """Return the half-width to expect where each group is a fair draw of the whole table."""
    return quantile * math.sqrt(
        max(0.0, 1 - groups / of_groups) * share * (1 - share) / (groups * group_rows)
    )
