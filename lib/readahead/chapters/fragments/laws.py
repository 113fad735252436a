"""What a seek costs: the yield of a fragment, the size at which half of it is lost, and readers that share a head."""

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


def rebuild_gain(
    before_bytes: float, after_bytes: float, *, seek_s: float, bandwidth_bytes_per_s: float
) -> float:
    r"""Return how many times faster a scan becomes when its fragments grow, if the disk is all that counts.

    .. math:: \frac{Y(f_2)}{Y(f_1)}, \quad Y(f) = \frac{f / B}{s + f / B}

    where f₁ (`before_bytes`) and f₂ (`after_bytes`) are the fragments, s (`seek_s`) is a seek and B
    (`bandwidth_bytes_per_s`) how fast the disk reads. Without a seek nothing is gained.
    """
    disk = {"seek_s": seek_s, "bandwidth_bytes_per_s": bandwidth_bytes_per_s}
    return yield_share(after_bytes, **disk) / yield_share(before_bytes, **disk)


def turns_cost(
    requests: int, request_bytes: float, *, seek_s: float, latency_s: float, bandwidth_bytes_per_s: float
) -> float:
    r"""Return how many times as long readers that take turns on one head need as one reader that reads in a row.

    .. math:: \frac{n (s + L + r / B)}{s + n (L + r / B)}

    where n (`requests`) of r (`request_bytes`) are read in all. In turns each of them costs a seek s (`seek_s`), in a
    row only the first; L (`latency_s`) and B (`bandwidth_bytes_per_s`) are the disk's latency and bandwidth.
    """
    request_s = latency_s + request_bytes / bandwidth_bytes_per_s
    return requests * (seek_s + request_s) / (seek_s + requests * request_s)


def heads_gain(
    requests: int,
    heads: int,
    request_bytes: float,
    *,
    seek_s: float,
    latency_s: float,
    bandwidth_bytes_per_s: float,
) -> float:
    r"""Return how many times faster readers with a head each are than one reader on one head.

    .. math:: \frac{s + n (L + r / B)}{s + \frac{n}{D} (L + r / B)}

    where n (`requests`) of r (`request_bytes`) are shared by D (`heads`). Every head seeks once, s (`seek_s`), to where
    its part begins, and that does not get shorter; L (`latency_s`) and B (`bandwidth_bytes_per_s`) are those of a disk.
    """
    request_s = latency_s + request_bytes / bandwidth_bytes_per_s
    return (seek_s + requests * request_s) / (seek_s + requests / heads * request_s)
