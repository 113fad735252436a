"""A claim compares two values of this run and answers *agrees*, *differs, likely because …* or
*too noisy to say, do this*. The exceptions are part of the lesson.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from readahead import units
from readahead.measure.calibrate import STRAYED
from readahead.measure.sample import FEW, Sample, Value, value

AGREES, DIFFERS, NOISY = "agrees", "differs", "too noisy to say"

Side = Callable[[Any], "Value | Sample | float"] | Mapping[str, Any]
"""What a claim compares: a function of the study (see `experiments.round.Study`), or the knobs to change: then it is
the measured time with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """Why a claim may fail here, and how to see whether that is so."""

    says: str
    when: Callable[[Value, Value, Any], bool] = lambda left, right, study: True
    """Whether it applies, from both sides and the study. The default always applies: put it last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """What a claim compares, and the conditions of its reasons, by the names that `questions.yaml` gives them."""

    left: Side
    right: Side
    when: Mapping[str, Callable[[Value, Value, Any], bool]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What became of a claim on this run."""

    verdict: str
    """agrees, differs, or too noisy to say."""
    says: str
    """The sentence to show."""
    reasons: tuple[str, ...] = ()
    """Why it differs, likeliest first; or what to do about the noise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something said of this run, with the means to test it.

    `left` compared with `factor` × `right`: *at least*, *at most*, or *within* `tolerance` of it (a share:
    0.1 is 10 %). *faster than*: `left`, a time, takes at most `right` / `factor`.
    """

    id: str
    left: Side
    right: Side
    left_name: str
    right_name: str
    relation: str
    factor: float = 1.0
    tolerance: float = 0.0
    kind: str = "s"
    """Of both sides, a kind of `units.SCALES`."""
    reasons: tuple[Reason, ...] = ()

    def on(self, study: Any) -> Finding:
        """Test the claim on a study, measuring what was not measured yet.

        Nothing differs that was measured beside other work: with a core taken, two workers are no faster than one.
        """
        with study.noting() as noted:
            left, right = (
                side(study) if callable(side) else study.measured.seconds(**side)
                for side in (self.left, self.right)
            )
        found = self.test(left, right, study)
        if found.verdict != DIFFERS or (disturbed := study.disturbed(noted)) <= STRAYED:
            return found
        busy = (
            f"Something else kept this machine busy: it took {units.text(disturbed, '1', 2)} of the processor's time,"
            " or slowed a control run, always the same, as much. Close other programs and measure again."
        )
        says = found.says.replace(DIFFERS.capitalize(), NOISY.capitalize(), 1)
        return Finding(verdict=NOISY, says=says, reasons=(busy,))

    def test(self, left: Value | Sample | float, right: Value | Sample | float, study: Any = None) -> Finding:
        """Test the claim on two values; a `Sample` counts as its seconds."""
        mine, theirs = value(left), value(right)
        says = f"{self.left_name}: {mine.text(self.kind)}; {self.right_name}: {theirs.text(self.kind)}"
        more: tuple[str, ...] = ()
        if mine.low <= 0 or theirs.low <= 0:  # a count of nothing has no ratio to anything
            same = mine.median == theirs.median and self.relation == "within"
            verdict = AGREES if same else DIFFERS
        else:
            ratio, (low, high) = mine / theirs, self._allowed()
            says += f"; ratio {ratio.text('times')}, {self._words(low, high)}"
            verdict, more = AGREES, ratio.warnings
            if ratio.few:
                few = f"Measured {ratio.repeats} times: repeat at least {FEW} times before believing it."
                verdict, more = NOISY, (few,)
            elif ratio.high < low or ratio.low > high:
                verdict = DIFFERS
            elif ratio.low < low or ratio.high > high:
                wide = "The interval reaches over the limit: repeat more often on a quiet machine."
                verdict, more = NOISY, more or (wide,)
        if verdict == DIFFERS:
            known = tuple(reason.says for reason in self.reasons if reason.when(mine, theirs, study))
            nothing = "No known reason fits: compare the machine card with the chapter's, and tell us."
            more = known or (nothing,)
        says = f"{verdict.capitalize()}. {says[:1].upper()}{says[1:]}."
        return Finding(verdict=verdict, says=says, reasons=more)

    def _allowed(self) -> tuple[float, float]:
        """Return the ratios left / right with which the claim agrees."""
        slack = 1.0 + self.tolerance
        return {
            "at least": (self.factor / slack, math.inf),
            "at most": (0.0, self.factor * slack),
            "within": (self.factor / slack, self.factor * slack),
            "faster than": (0.0, slack / self.factor),
        }[self.relation]

    def _words(self, low: float, high: float) -> str:
        """Say which ratios are allowed."""
        if self.relation == "within":
            return f"expected {units.text(low, 'times')} to {units.text(high, 'times')}"
        limit, word = (low, "at least") if math.isinf(high) else (high, "at most")
        return f"expected {word} {units.text(limit, 'times')}"
