"""Computed answers of the exercises, and the two sides of each claim: Scale-out."""

from __future__ import annotations

from readahead.chapters.scale_out import laws
from readahead.chapters.scale_out.chapter import NEAR, SLOW, SMALL_SMALL, joined, speedup
from readahead.chapters.scale_out.factors import printed
from readahead.experiments.claim import Sides
from readahead.experiments.round import Study
from readahead.questions.question import Computed
from readahead.units import GB, GiB


def _agreeing(study: Study) -> float:
    """Return the share of sums on which a disturbed query and an undisturbed one agree."""
    one = study.sample(nodes=2).answer
    other = study.sample(nodes=2, copies="two", failing="killed").answer
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


CLAIMS: dict[str, Sides] = {
    "nearly_two": Sides(
        left=lambda study: speedup(study.measured),
        right=lambda study: 1.8,
        when={"so_many_requests": lambda left, right, study: study.base["queue_depth"] > 2},
    ),
    "model_holds": Sides(
        left=lambda study: speedup(study.measured), right=lambda study: speedup(study.model)
    ),
    "slowest_rules": Sides(
        left=lambda study: study.measured.seconds(**NEAR, slow_times=SLOW),
        right=lambda study: study.measured.seconds(**{**NEAR, "latency_s": NEAR["latency_s"] * SLOW}),
    ),
    "survives": Sides(left=_agreeing, right=lambda study: 1.0),
    "small_pushed": Sides(
        left=lambda study: joined(study.measured, "pushed", SMALL_SMALL),
        right=lambda study: joined(study.measured, "shuffled", SMALL_SMALL),
    ),
}

ANSWERS: dict[str, Computed] = {
    "alpha": Computed(answer=lambda study: laws.contention(printed("speedup.cold.unsorted"), 2)),
    "load": Computed(
        answer=lambda study: printed("cpimport_s.mode1", "loading") / printed("cpimport_s.mode2", "loading")
    ),
    "limit": Computed(
        answer=lambda study: laws.push_limit_bytes(8 * GB, 2),
        matches={"a_small_side": lambda given: given < GiB / 4},
    ),
}
