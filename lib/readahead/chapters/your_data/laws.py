"""What the order of the rows costs a filter that can only skip whole row groups, and what another layout gains."""

from __future__ import annotations

from readahead.models.estimate import query_s as query_s  # noqa: PLC0414 (a law of this chapter and of others)


def amplification(read_groups: float, *, groups: float, selectivity: float) -> float:
    r"""Return how many row groups are read for each one that would do if the wanted rows lay side by side.

    .. math:: \frac{r}{G s}

    where r (`read_groups`) of G (`groups`) cannot be ruled out by their smallest and largest value, and s
    (`selectivity`) is the share of the rows that the filter keeps.
    """
    return read_groups / (groups * selectivity)


def gain(today_s: float, changed_s: float) -> float:
    r"""Return how many times faster a query becomes in another layout.

    .. math:: T_1 / T_2, \quad T = o + \max\left(\lceil n / q \rceil \left(L + \frac{b}{n B}\right), n d, c\right)

    where T₁ (`today_s`) and T₂ (`changed_s`) are the query's times before and after, each by the law of a query's time:
    o to open the file, n reads in waves of q, latency L, b bytes at B for each read, d to hand a read out, and c of
    decoding meanwhile. Other row groups change n; another order changes n and b.
    """
    return today_s / changed_s
