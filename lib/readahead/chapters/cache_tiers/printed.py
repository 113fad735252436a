"""A page of a test report, with the sums done again: what MariaDB printed of cold and warm runs and of memory, beside
what a tier model makes of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from readahead import published
from readahead.chapters.cache_tiers import laws


def printed(name: str, topic: str = "cache_tiers") -> float:
    """Return a printed figure, as it was printed, in SI units."""
    return published.figure(topic, name).value


def ratio(topic: str, load: str) -> float:
    """Return cold over warm for all queries of one load: elimination has one node, scale_out two."""
    return laws.tier_ratio(printed(f"total_s.cold.{load}", topic), printed(f"total_s.warm.{load}", topic))


def all_memory_bytes() -> float:
    """Return the memory of one server with its slow memory, from its parts."""
    return printed("imdt_bytes") + printed("dram_bytes")


FITTED = 0
"""The ratios are taken from loads that are not among the figures listed."""


def residuals() -> Sequence[tuple[str, float, float]]:
    """Return (figure, model, printed) for every printed figure that the model foretells.

    A load that is read from the lower tier cold and from memory warm has the ratio of the two, whatever it reads: the
    unsorted load's ratio, one for one node and one for two, foretells the warm time of another. And what sorting spares
    is spared on either tier, on one node or two. Two of the three drives are memory, the third is storage.
    """
    memory = all_memory_bytes()
    shares = {load: printed(f"block_cache_share.{load}") for load in ("combined", "dedicated")}
    one, two = "elimination", "scale_out"

    def spared(tier: str) -> float:
        return printed(f"total_s.{tier}.sorted", one) / printed(f"total_s.{tier}.unsorted", one)

    return (
        ("memory_bytes", memory, printed("memory_bytes")),
        ("imdt_bytes", (printed("optane_drives") - 1) * printed("optane_drive_bytes"), printed("imdt_bytes")),
        ("block_cache_bytes.one_node", shares["combined"] * memory, printed("block_cache_bytes.one_node")),
        (
            "block_cache_bytes.two_nodes",
            2 * shares["combined"] * memory,
            printed("block_cache_bytes.two_nodes"),
        ),
        (
            "block_cache_bytes.dedicated",
            2 * shares["dedicated"] * memory,
            printed("block_cache_bytes.dedicated"),
        ),
        (
            "total_s.warm.sorted",
            printed("total_s.cold.sorted", one) / ratio(one, "unsorted"),
            printed("total_s.warm.sorted", one),
        ),
        (
            "total_s.warm.redundant, two nodes",
            printed("total_s.cold.redundant", two) / ratio(two, "unsorted"),
            printed("total_s.warm.redundant", two),
        ),
        (
            "total_s.warm.sorted, two nodes",
            printed("total_s.warm.unsorted", two) * spared("warm"),
            printed("total_s.warm.sorted", two),
        ),
        (
            "total_s.cold.sorted, two nodes",
            printed("total_s.cold.unsorted", two) * spared("cold"),
            printed("total_s.cold.sorted", two),
        ),
    )
