"""How many pages stand above an index's leaves, how long a chain and a list of reads take, what a sample knows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

PAGE_BYTES = 8_192
PAGE_SPACE_BYTES = 8_096
"""What a page of 8,192 bytes has room for, without its header."""
READER_S, DISPATCH_S = 60e-6, 45e-6
"""What a plain reader takes from one page to asking for the next; and many readers from one read to the next, for they
share one interpreter. As on a machine of 2 cores: the workload's model takes what is calibrated on this one."""


# -- how many pages --------------------------------------------------------------------------------------
def entry_bytes(key_bytes: float, *, nullable: bool) -> float:
    r"""Return the bytes of an index entry: the key, its address, and a bitmap where the key may be null.

    .. math:: e = k + 9 + 3 \, [\text{nullable}]

    where k (`key_bytes`) is the key, of fixed length; 9 bytes hold a page number (6), the record's own (1) and its slot
    (2); and 3 more stand there where the key may be null.

    Source: Microsoft, Estimate the Size of a Clustered Index.
    """
    return key_bytes + 9 + 3 * nullable


def fanout(entry_bytes: float, page_space_bytes: float = PAGE_SPACE_BYTES) -> int:
    r"""Return how many entries fit on a page.

    .. math:: f = \lfloor P / e \rfloor

    where P (`page_space_bytes`) is the room on a page and e (`entry_bytes`) is one entry.

    Source: P. Randal, Inside sys.dm_db_index_physical_stats.
    """
    return math.floor(page_space_bytes / entry_bytes)


def upper_pages(leaf_pages: float, entries: float) -> int:
    r"""Return how many pages the level above the leaves has.

    .. math:: u = \lceil n / f \rceil

    where n (`leaf_pages`) are the leaf pages and f (`entries`) of them are listed on each page above.

    Source: P. Randal, Inside sys.dm_db_index_physical_stats.
    """
    return math.ceil(leaf_pages / entries)


def levels(leaf_pages: float, entries: int) -> list[float]:
    """Return the pages of each level, from the leaves to the one root.

    Source: R. Bayer and E. McCreight, Organization and Maintenance of Large Ordered Indexes, 1972.
    """
    found = [leaf_pages]
    while found[-1] > 1:
        found.append(upper_pages(found[-1], entries))
    return found


# -- how long --------------------------------------------------------------------------------------------
def chain_s(reads: int, read_bytes: float, *, latency_s: float, bandwidth_bytes_per_s: float) -> float:
    r"""Return the seconds of reads each of which must arrive before the next is known.

    .. math:: n \left(L + S / B + h\right)

    where n (`reads`) reads of S (`read_bytes`) each wait L (`latency_s`) and pass at B (`bandwidth_bytes_per_s`), and h
    is what the reader takes to ask for the next. The queue depth is not in the formula: there is never a second
    read to ask for.
    """
    return reads * (latency_s + read_bytes / bandwidth_bytes_per_s + READER_S)


def list_s(
    reads: int, read_bytes: float, depth: int, *, latency_s: float, bandwidth_bytes_per_s: float
) -> float:
    r"""Return the seconds of reads that are all known beforehand, so many of them under way at once.

    .. math:: \max\left(\lceil n / Q \rceil \; t, \;\; t + (n - 1) \max(S / B, g)\right), \quad t = L + S / B + h

    where n (`reads`) reads of S (`read_bytes`) take t each and Q (`depth`) of them wait at the same time. Two things
    still happen one after the other: the bytes pass over one link of B (`bandwidth_bytes_per_s`), and the readers
    take turns to ask, g each. L (`latency_s`) and h are the wait and the reader's own time.
    """
    if not reads:
        return 0.0
    transfer_s = read_bytes / bandwidth_bytes_per_s
    alone_s = latency_s + transfer_s + READER_S
    return max(math.ceil(reads / depth) * alone_s, alone_s + (reads - 1) * max(transfer_s, DISPATCH_S))


def way_s(
    linked: int, listed: int, read_bytes: float, depth: int, *, latency_s: float, bandwidth_bytes_per_s: float
) -> float:
    r"""Return the seconds of a chain of reads, and then of a list of them.

    .. math:: a (L + S / B + h) + P(b, S)

    where a (`linked`) reads of S (`read_bytes`) follow one another (`chain_s`) and b (`listed`) are known beforehand: P
    (`list_s`) is their time, Q (`depth`) of them at once. The device has L (`latency_s`) and B
    (`bandwidth_bytes_per_s`), and h is the reader's own.
    """
    device = {"latency_s": latency_s, "bandwidth_bytes_per_s": bandwidth_bytes_per_s}
    return chain_s(linked, read_bytes, **device) + list_s(listed, read_bytes, depth, **device)


def times_as_long(one_s: float, other_s: float) -> float:
    r"""Return how many times as long one way takes as another.

    .. math:: T_1 / T_2, \quad T = a \left(L + S / B + h\right) + P(b, S)

    where T₁ (`one_s`) and T₂ (`other_s`) are the times of the two: a reads of S follow one another, each of which waits
    L, passes at B and takes the reader h; then P is the time of b reads that are all known beforehand.
    """
    return one_s / other_s


def under_way(known: int, depth: int) -> int:
    r"""Return how many reads are under way at once: no more than are known, and no more than the queue holds.

    .. math:: \min(k, Q)

    where k (`known`) addresses are known at a time, one in a chain, and Q (`depth`) is the queue depth.
    """
    return min(known, depth)


def wait_s(in_flight: float, reads_per_s: float) -> float:
    r"""Return how long a read waits where so many are always under way.

    .. math:: R = N / X

    where N (`in_flight`) are the reads under way and X (`reads_per_s`) those that end in a second.

    Source: J. D. C. Little, A Proof for the Queuing Formula L = λW, 1961.
    """
    return in_flight / reads_per_s


def bytes_a_page(bytes_per_s: float, elapsed_s: float, pages: int) -> float:
    r"""Return the bytes that a disk delivered for each page that was wanted.

    .. math:: r \, t / n

    where r (`bytes_per_s`) is the rate that a counter shows, t (`elapsed_s`) the time and n (`pages`) the pages.
    """
    return bytes_per_s * elapsed_s / pages


# -- what a sample costs and knows -----------------------------------------------------------------------
def in_proportion(first_s: float, all_s: float, share: float) -> float:
    r"""Return the seconds of a sample whose pages each cost as much as a page of the whole.

    .. math:: t_1 + p \, (t - t_1)

    where t₁ (`first_s`) is the time of what comes first in any case, t (`all_s`) that of everything, and p (`share`) is
    the share of the rest that is read.
    """
    return first_s + share * (all_s - first_s)


def student_t(drawn: int) -> float:
    """Return how many standard errors a two-sided interval of 95 % extends (Student, 1908): infinite for one draw."""
    from scipy.stats import t

    return float(t.ppf(0.975, drawn - 1)) if drawn > 1 else math.inf


def share_of(rows: Sequence[int], hits: Sequence[int], *, of_groups: int) -> tuple[float, float]:
    """Return (share of hits, half the width of its interval) from whole groups drawn at random out of `of_groups`.

    The ratio estimator of one-stage cluster sampling (W. G. Cochran, Sampling Techniques, 1977, ch. 9A). From fewer
    than two groups nothing is known of the spread: the half-width is infinite.
    """
    size, seen, drawn = np.asarray(rows, float), np.asarray(hits, float), len(rows)
    share = float(seen.sum() / size.sum()) if size.sum() else math.nan
    if drawn < 2:
        return share, math.inf
    spread = math.sqrt(float(np.sum((seen - share * size) ** 2)) / (drawn - 1)) / float(size.mean())
    return share, student_t(drawn) * spread * math.sqrt(max(0.0, 1 - drawn / of_groups) / drawn)


def sorted_half_width(drawn: int, of_groups: int, share: float = 0.5) -> float:
    r"""Return the half-width to expect where every row group is all or nothing: the table lies in order.

    .. math:: t \sqrt{\left(1 - \frac{n}{m}\right) \frac{p \, (1 - p)}{n - 1}}

    where n (`drawn`) of m (`of_groups`) row groups are drawn, p (`share`) is the share that is estimated, and t is
    Student's, of n - 1 degrees of freedom, at 95 % (`student_t`).

    Source: W. G. Cochran, Sampling Techniques, 1977, chapter 9A.
    """
    left = max(0.0, 1 - drawn / of_groups)
    return student_t(drawn) * math.sqrt(left * share * (1 - share) / max(1, drawn - 1))


def shuffled_half_width(drawn: int, of_groups: int, group_rows: int, share: float = 0.5) -> float:
    r"""Return the half-width to expect where each row group is a fair draw of the table: every row counts.

    .. math:: t \sqrt{\left(1 - \frac{n}{m}\right) \frac{p \, (1 - p)}{n r}}

    where n (`drawn`) of m (`of_groups`) row groups of r (`group_rows`) rows are drawn, p (`share`) is the share that is
    estimated, and t is Student's, of n - 1 degrees of freedom, at 95 % (`student_t`).

    Source: W. G. Cochran, Sampling Techniques, 1977, chapter 9A.
    """
    left = max(0.0, 1 - drawn / of_groups)
    return student_t(drawn) * math.sqrt(left * share * (1 - share) / (drawn * group_rows))
