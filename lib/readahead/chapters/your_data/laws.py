"""What the order of the rows costs a filter that can only skip whole row groups, and what another layout gains."""

from __future__ import annotations

from readahead.models.estimate import query_s as query_s  # noqa: PLC0414 (a law of this chapter and of others)
from readahead.models.estimate import times_as_long as times_as_long  # noqa: PLC0414


def amplification(read_groups: float, *, groups: float, selectivity: float) -> float:
    r"""Return how many row groups are read for each one that would do if the wanted rows lay side by side.

    .. math:: \frac{r}{G s}

    where r (`read_groups`) of G (`groups`) cannot be ruled out by their smallest and largest value, and s
    (`selectivity`) is the share of the rows that the filter keeps.
    """
    return read_groups / (groups * selectivity)
