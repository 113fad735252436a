"""A published figure beside what a model says of it, and what that comparison is worth.

Only a figure that could have come out otherwise is a test of a model. The others are listed beside it and not counted.
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead import published, units
from readahead.errors import BadValue, require_choice
from readahead.paths import read_yaml
from readahead.published import Figure

Array = NDArray[np.float64]
ROLES = {
    "foretold": "it could have failed: no parameter was set by this figure",
    "fitted": "a parameter was set by it",
    "assumed": "it rests on a choice that nobody printed",
}
"""What a comparison is worth. Only the first kind is a test."""
_NO_TEST = {
    "fitted": "fitted",
    "identity": "computed from other printed figures",
    "assumed": "resting on an assumption",
}
"""Why a figure could not have failed, in words."""
FAR = 0.1
"""From here on the model and the print disagree, and the reason is told, or that none is known."""


@dataclass(frozen=True, slots=True)
class Residual:
    """A published figure beside what the model says of it."""

    figure: Figure
    model: float
    role: str
    why: str = ""
    """Why they are apart, or what was assumed."""
    base: float = field(default=1.0, kw_only=True)
    """What the model was given to begin with, such as the time before. A null model is a mean of figure / base."""

    def __post_init__(self) -> None:
        require_choice("role", self.role, ROLES)
        if not (self.model > 0 and self.figure.value > 0):
            raise BadValue(
                f"{self.name!r}: model {self.model!r} and print {self.figure.value!r} must both be above 0."
                " A figure of 0 has no ratio: name it among those that are not compared."
            )
        if self.figure.corrected is not None:
            raise BadValue(
                f"{self.name!r} is a misprint, so its correction is no success of a model. Name it under `identities`."
            )
        if self.role == "assumed" and not self.why:
            raise BadValue(f"{self.name!r} is assumed. Say in `why` what nobody printed.")

    @property
    def name(self) -> str:
        """Return the figure's name in words, with the number of nodes where its system tells it."""
        quantity, *of = self.figure.name.split(".")
        quantity = re.sub("_per_s$", " a second", quantity).removesuffix("_s").replace("_", " ")
        of += re.findall(r"\b\d+ nodes?\b", self.figure.system)[:1]
        return f"{quantity}: {', '.join(of)}" if of else quantity

    def text(self, value: float, digits: int = 3) -> str:
        """Write a value with the figure's unit if it is one of ours, and else as a plain number."""
        unit = self.figure.unit
        known = unit in ("s", "bytes", "bytes_per_s", "rows_per_s")
        return units.text(value, unit if known else "", digits)

    @property
    def ratio(self) -> float:
        """Return the model over what was printed."""
        return self.model / self.figure.value

    @property
    def error(self) -> float:
        """Return how far the model is from what was printed, as a share of it."""
        return abs(self.ratio - 1)


# -- what a fit says of a figure that it has not seen -------------------------------------------------------
def left_out(
    model: Callable[[Array], ArrayLike],
    parameters: Sequence[float],
    printed: Sequence[float],
    groups: Sequence[object] = (),
) -> Array:
    r"""Return what a model says of each figure when its parameters are fitted anew without that figure's group.

    .. math:: \log \hat y_B + J_B J_A^{+} \log (y / \hat y)_A

    where y (`printed`) are the figures, ŷ what the model says of them, J how the logarithms of ŷ change with each of
    the `parameters`, B the figures of one group (`groups`; each its own if none are given), and A all others. Exact
    where the logarithms are linear in the parameters, and else one step of Newton's. Not a number where the other
    figures do not fix a parameter.

    Source: D. M. Allen, The Relationship between Variable Selection and Data Augmentation, 1974.
    """
    at, seen = np.asarray(parameters, float), np.log(np.asarray(printed, float))
    said = np.log(np.asarray(model(at), float))
    steps = np.diag(np.maximum(np.abs(at), 1e-9) * 1e-4)
    slopes = np.stack(
        [(np.log(np.asarray(model(at + step), float)) - said) / step.max() for step in steps], axis=1
    )
    slopes = slopes / np.maximum(np.linalg.norm(slopes, axis=0), 1e-300)
    found = np.full(len(seen), np.nan)
    labels = list(groups) or list(range(len(seen)))
    for group in dict.fromkeys(labels):
        inside = np.array([label == group for label in labels])
        others = np.linalg.pinv(slopes[~inside], rcond=1e-9)
        free = slopes[inside] @ (np.eye(len(at)) - others @ slopes[~inside])
        told = np.exp(said[inside] + slopes[inside] @ others @ (seen - said)[~inside])
        found[inside] = np.where(np.abs(free).max(axis=1) < 1e-3, told, np.nan)
    return found


# -- the tally ------------------------------------------------------------------------------------------------
@dataclass(frozen=True, kw_only=True)
class Tally:
    """What some comparisons with print are worth together. Errors are those of the foretold figures alone."""

    residuals: tuple[Residual, ...]
    identities: tuple[Figure, ...] = ()
    """Figures that are arithmetic over other printed ones: `data/published/checks.csv` has the sums. They are counted
    and not drawn: they say nothing of the model, and among them are misprints, which are left to be found."""
    fitted: tuple[str, ...] = ()
    """What was fitted to figures."""
    chosen: tuple[str, ...] = ()
    """What was chosen by looking at them."""

    title = "Model against print"
    head = ("Figure", "printed", "modeled", "modeled / printed", "role", "why")
    """The heading of the table."""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """Return the table that says what the chart says, as text."""
        return [
            (
                one.name,
                one.text(one.figure.value, 4),
                one.text(one.model),
                f"{one.ratio:.3f}",
                one.role,
                one.why,
            )
            for one in self.residuals
        ]

    @property
    def parameters(self) -> int:
        """Return how much was fitted or chosen."""
        return len(self.fitted) + len(self.chosen)

    @property
    def foretold(self) -> list[Residual]:
        """Return the comparisons that could have failed."""
        return self.of("foretold")

    def of(self, role: str) -> list[Residual]:
        """Return the comparisons of one role."""
        return [one for one in self.residuals if one.role == role]

    @property
    def free(self) -> int:
        """Return the residual degrees of freedom: figures that the model met, less what was set by looking at them."""
        return len(self.residuals) - self.parameters

    @property
    def no_tests(self) -> dict[str, int]:
        """Return how many figures could not have failed, by what they are."""
        fitted, assumed = (len(self.of(role)) for role in ("fitted", "assumed"))
        return {"fitted": fitted, "identity": len(self.identities), "assumed": assumed}

    def quantile(self, share: float) -> float:
        """Return the error that so many of the foretold figures stay below; not a number if nothing was foretold."""
        return float(np.quantile([one.error for one in self.foretold] or [np.nan], share))

    @property
    def within(self) -> float:
        """Return the share of the foretold figures that lie within 10 % of print."""
        return float(np.mean([float(one.error <= FAR) for one in self.foretold] or [np.nan]))

    @property
    def worst(self) -> Residual | None:
        """Return the foretold figure that is farthest off."""
        return max(self.foretold, key=lambda one: one.error, default=None)

    @property
    def sentence(self) -> str:
        """Return what the comparisons are worth, in words."""
        rest = "; ".join(f"{count} {_NO_TEST[role]}" for role, count in self.no_tests.items() if count)
        beside = f" These are no tests: {rest}." if rest else ""
        worst = self.worst
        if worst is None:
            return f"No printed figure here tests the model.{beside}"
        set_here = f" Numbers of the model that were fitted, or chosen by looking: {self.parameters}."

        def percent(error: float, digits: int = 0) -> str:
            return f"{100 * error:.{digits}f} %"

        if len(self.foretold) == 1:
            off = f"it is off by {percent(worst.error, 1)}"
            return f"One printed figure tests the model, {worst.name}: {off}.{beside}{set_here}"
        return (
            f"{len(self.foretold)} printed figures test the model. It is off by {percent(self.quantile(0.5), 1)} in the"
            f" median, by at most {percent(self.quantile(0.9), 1)} in nine of ten; {percent(self.within)} of them lie"
            f" within 10 %. Farthest off, by {percent(worst.error)}, is {worst.name}.{beside}{set_here}"
        )


# -- what a chapter says of its comparisons --------------------------------------------------------------------
def tally(chapter: str, models: Mapping[str, float], bases: Mapping[str, float] | None = None) -> Tally:
    """Return printed figures, by name, beside what the models of a chapter's file say of them.

    `print.yaml` beside that file tells the role of each, and why one is far off: the first name that fits counts, and *
    is for any letters. A figure of another topic is named `topic:figure`. It also names the `identities`.
    """
    told, topic = _told(chapter), Path(chapter).parent.name

    def of(field: str, name: str) -> str:
        fits = (said for like, said in told.get(field, {}).items() if fnmatch.fnmatchcase(name, like))
        return str(next(fits, ""))

    found = (
        Residual(
            published.figure(topic, name),
            float(model),
            of("roles", name),
            of("why", name),
            base=(bases or {}).get(name, 1.0),
        )
        for name, model in models.items()
    )
    likes = told.get("identities", ())
    return Tally(
        residuals=tuple(found),
        identities=tuple(
            one
            for one in published.figures(topic)
            if any(fnmatch.fnmatchcase(one.name, like) for like in likes)
        ),
        fitted=tuple(told.get("fitted", ())),
        chosen=tuple(told.get("chosen_by_looking", ())),
    )


def fitted(chapter: str) -> Mapping[str, float]:
    """Return the numbers that were fitted to print, by name, as `print.yaml` beside a chapter's file has them."""
    return dict(_told(chapter)["fitted"])


@functools.cache
def _told(chapter: str) -> Mapping[str, Any]:
    return dict(read_yaml(Path(chapter).with_name("print.yaml")))
