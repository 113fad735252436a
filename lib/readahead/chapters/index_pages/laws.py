"""The laws of reading an index: how many pages stand above its leaves, how long a chain of reads takes and how long the
same reads from a list, and how much a sample of whole row groups knows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

PAGE_BYTES = 8_192
PAGE_SPACE_BYTES = 8_096
"""What a page of 8,192 bytes has room for, without its header."""
POINTER_BYTES, NULLABLE_BYTES = 9, 3
"""Beside the key of an entry: 6 bytes of page number, 1 of the record's own, 2 of its slot; and a bitmap of nulls."""
SAMPLE_EVERY, SAMPLE_FROM_PAGES = 100, 10_000
"""SAMPLED reads every hundredth leaf page of an index with at least so many, and else all of them."""
READER_S, DISPATCH_S = 60e-6, 45e-6
"""What a plain reader takes from one page to asking for the next; and many readers from one read to the next, for they
share one interpreter. As calibrated on a machine of 2 cores."""


# -- how many pages --------------------------------------------------------------------------------------
def entry_bytes(key_bytes: float, *, nullable: bool) -> float:
    """Return the bytes of an index entry: the key, 9 bytes of address, and 3 more where the key may be null.

    After Microsoft, Estimate the Size of a Clustered Index, for a key of fixed length.
    """
    return key_bytes + POINTER_BYTES + NULLABLE_BYTES * nullable


def fanout(entry_bytes: float, page_space_bytes: float = PAGE_SPACE_BYTES) -> int:
    """Return how many entries fit on a page: ⌊room / entry⌋ (P. Randal, Inside sys.dm_db_index_physical_stats)."""
    return math.floor(page_space_bytes / entry_bytes)


def upper_pages(leaf_pages: float, entries: float) -> int:
    """Return the pages of the level above so many leaf pages, each listing `entries` of them: ⌈leaves / entries⌉."""
    return math.ceil(leaf_pages / entries)


def levels(leaf_pages: float, entries: int) -> list[float]:
    """Return the pages of each level, from the leaves to the one root (R. Bayer and E. McCreight, 1972)."""
    found = [leaf_pages]
    while found[-1] > 1:
        found.append(upper_pages(found[-1], entries))
    return found


def leaves_to_sample(leaf_pages: int) -> slice:
    """Return which of the leaf pages SAMPLED reads (P. Randal): every hundredth, or all of a small index."""
    return slice(None, None, SAMPLE_EVERY if leaf_pages >= SAMPLE_FROM_PAGES else 1)


# -- how long --------------------------------------------------------------------------------------------
def chain_s(reads: int, read_bytes: float, *, latency_s: float, bandwidth_bytes_per_s: float) -> float:
    """Return the seconds of n reads, each of which must arrive before the next is known: n (L + S / B + h).

    L is the device's latency, S / B the time in which the bytes of a read pass, and h = 60 µs what the reader takes to
    ask for the next. The queue depth is not in the formula: there is never a second read to ask for.
    """
    return reads * (latency_s + read_bytes / bandwidth_bytes_per_s + READER_S)


def list_s(
    reads: int, read_bytes: float, depth: int, *, latency_s: float, bandwidth_bytes_per_s: float
) -> float:
    """Return the seconds of n reads that are all known, Q of them under way: n max((L + S / B + h) / Q, S / B, g).

    Little's law (1961): Q waits happen at the same time. Two things still happen one after the other: the bytes pass
    over one link (S / B), and the readers take turns to ask (g = 45 µs). Up to one read's own time may come on top.
    """
    transfer_s = read_bytes / bandwidth_bytes_per_s
    alone_s = latency_s + transfer_s + READER_S
    return reads * max(alone_s / max(1, min(depth, reads)), transfer_s, DISPATCH_S)


# -- what a sample knows ---------------------------------------------------------------------------------
def student_t(drawn: int) -> float:
    """Return how many standard errors a two-sided interval of 95 % extends (Student, 1908): infinite for one draw."""
    from scipy.stats import t

    return float(t.ppf(0.975, drawn - 1)) if drawn > 1 else math.inf


def share_of(rows: Sequence[int], hits: Sequence[int], *, of_groups: int) -> tuple[float, float]:
    """Return (share of hits, half the width of its interval) from whole groups drawn at random out of `of_groups`.

    The ratio estimator of one-stage cluster sampling with its finite-population correction (W. G. Cochran, Sampling
    Techniques, 1977, ch. 9A). From fewer than two groups nothing is known of the spread: the half-width is infinite.
    """
    size, seen, drawn = np.asarray(rows, float), np.asarray(hits, float), len(rows)
    if not size.sum():
        return math.nan, math.inf
    share = float(seen.sum() / size.sum())
    if drawn < 2:
        return share, math.inf
    variance = float(np.sum((seen - share * size) ** 2)) / (drawn - 1)
    error = math.sqrt(max(0.0, 1 - drawn / of_groups) * variance / drawn) / float(size.mean())
    return share, student_t(drawn) * error


def sorted_half_width(drawn: int, of_groups: int, share: float = 0.5) -> float:
    """Return the half-width to expect where every group is all or nothing: t √((1 − n/m) p (1 − p) / (n − 1)).

    n of m groups are drawn from a table that lies in the order of the column that is asked about.
    """
    left = max(0.0, 1 - drawn / of_groups)
    return student_t(drawn) * math.sqrt(left * share * (1 - share) / max(1, drawn - 1))


def shuffled_half_width(drawn: int, of_groups: int, group_rows: int, share: float = 0.5) -> float:
    """Return the half-width to expect where each group is a fair draw of the table: t √((1 − n/m) p (1 − p) / (n r)).

    n of m groups of r rows are drawn: now every row counts, and not only every group.
    """
    left = max(0.0, 1 - drawn / of_groups)
    return student_t(drawn) * math.sqrt(left * share * (1 - share) / (drawn * group_rows))
