"""What a seek costs: the yield of a fragment, the size at which half of it is lost, the hole worth reading through."""

from __future__ import annotations


def yield_share(fragment_bytes: float, *, seek_s: float, bandwidth_bytes_per_s: float) -> float:
    r"""Return the share of its sequential speed that a disk keeps when a file lies in fragments.

    .. math:: \frac{f / B}{s + f / B}

    where f (`fragment_bytes`) is how long each fragment is, B (`bandwidth_bytes_per_s`) how fast the disk reads, and s
    (`seek_s`) how long its head takes to the next one.

    Source: the comment by mark on N. Neugebauer, Clustered Columnstore Indexes – part 50; it is the transfer share of
    the disk models of C. Ruemmler and J. Wilkes, 1994.
    """
    reading_s = fragment_bytes / bandwidth_bytes_per_s
    return reading_s / (seek_s + reading_s)


def half_speed_bytes(*, seek_s: float, bandwidth_bytes_per_s: float) -> float:
    r"""Return the fragment size at which a disk seeks as long as it reads, and so keeps half its speed.

    .. math:: B s

    where B (`bandwidth_bytes_per_s`) is how fast the disk reads and s (`seek_s`) how long a seek takes.
    """
    return bandwidth_bytes_per_s * seek_s


def hole_worth_reading_bytes(*, latency_s: float, bandwidth_bytes_per_s: float) -> float:
    r"""Return the longest hole between two wanted pieces that is faster read through than jumped.

    .. math:: h = L B

    where L (`latency_s`) is what a read of its own costs, and reading h bytes for nothing takes h / B, with B
    (`bandwidth_bytes_per_s`) how fast the device reads.

    Source: the rule by which DuckDB merges reads, ParquetPrefetchCostModel, DuckDB 2.0.
    """
    return latency_s * bandwidth_bytes_per_s


def rebuild_gain(
    before_bytes: float, after_bytes: float, *, seek_s: float, bandwidth_bytes_per_s: float
) -> float:
    """Return how many times faster a scan becomes when its fragments grow, if the disk is all that counts."""
    disk = {"seek_s": seek_s, "bandwidth_bytes_per_s": bandwidth_bytes_per_s}
    return yield_share(after_bytes, **disk) / yield_share(before_bytes, **disk)
