"""Computed answers of the exercises, and the two sides of each claim: Fragments."""

from __future__ import annotations

from readahead.chapters.fragments import laws
from readahead.chapters.fragments.chapter import ONE_PIECE, on, plain
from readahead.experiments.claim import Sides
from readahead.questions.exercise import Computed
from readahead.units import KiB


def _half(bench: object) -> int:
    base = bench.base  # type: ignore[attr-defined]
    size = laws.half_speed_bytes(seek_s=base["seek_s"], bandwidth_bytes_per_s=base["bandwidth_bytes_per_s"])
    return int(min(max(size, 64 * KiB), ONE_PIECE))


CLAIMS: dict[str, Sides] = {
    "half_is_half": Sides(
        left=lambda bench: bench.measured.seconds(fragment_bytes=_half(bench)),
        right=lambda bench: bench.measured.seconds(fragment_bytes=ONE_PIECE),
        when={
            "opening_the_file": lambda left, right, bench: left.median < 2 * right.median,
        },
    ),
    "model_holds": Sides(
        left=lambda bench: bench.measured.seconds(fragment_bytes=512 * KiB),
        right=lambda bench: bench.model.seconds(fragment_bytes=512 * KiB),
        when={
            "reads_that_came": lambda left, right, bench: left.median > right.median,
        },
    ),
    "eight_heads_help": Sides(
        left=lambda bench: bench.measured.seconds(**plain(readers=8, channels=8)),
        right=lambda bench: bench.measured.seconds(**plain(readers=1, channels=1)),
    ),
    "flash_does_not_mind": Sides(
        left=lambda bench: bench.measured.seconds(**on("sata-ssd", fragment_bytes=64 * KiB)),
        right=lambda bench: bench.measured.seconds(**on("sata-ssd", fragment_bytes=ONE_PIECE)),
    ),
}

ANSWERS: dict[str, Computed] = {
    "hole": Computed(
        matches={
            "a_hole_is": lambda given: given >= 0.05,
            "the_seek_of": lambda given: 0.005 <= given <= 0.015,
        },
    ),
    "small_reads": Computed(
        matches={"ssds_have_no": lambda given: given > 0.5, "the_size_of": lambda given: given < 0.02},
    ),
}
