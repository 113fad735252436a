"""The two kinds of question: a prediction, guessed before the answer is shown, and an exercise, checked by its answer.

An answer to an exercise is not attempted, wrong (and why), could not be checked, or right. The usual wrong ideas are
known by name, each with a hint of its own; three more hints each say a little more, and the solution is there for
whoever asks. The schema of `questions.yaml` sees to it that none of these is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from readahead import units
from readahead.errors import BadValue, ReadaheadError, require_choice, require_range
from readahead.questions.answers import Shape, read_amount, words_of

SURE = ("a guess", "fairly sure", "sure")
"""How sure somebody is of a guess, from the least on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """A question to be answered before the reveal."""

    id: str
    """Also the name of its `Round`, and of its question in the notebook."""
    kind: str = "s"
    """A kind of `units.SCALES`, such as s, bytes, bytes_per_s, rows_per_s, count, times, 1 (a share)."""
    low: float = 0.0
    """Left end of the scale, above 0, in SI units. Well away from the answer on both sides."""
    high: float = 0.0
    word: str = ""
    """The unit that a bare number is taken in, such as 'ms'."""
    because: str = ""
    """Why the answer is what it is; shown with the answer and never before it."""
    differs: str = ""
    """Why the printed ratios and DuckDB's lie apart; shown below both."""
    choices: tuple[str, ...] = ()
    """Instead of a scale: the words to pick from."""
    choice_of: Callable[[float], str] | None = None
    """With `choices`: which word a modeled, measured or published number stands for."""

    def __post_init__(self) -> None:
        of = f"of prediction {self.id!r}"
        require_choice("kind", self.kind, units.SCALES)
        if bool(self.choices) != (self.choice_of is not None):
            raise BadValue(f"choices {of} need choice_of, and choice_of needs choices. Give both or none.")
        if self.choices:
            return
        require_range("low", self.low, low=1e-12, of=of, advice="Give the left end of a log scale.")
        most = 1.0 if self.kind == "1" else math.inf  # a share cannot pass 1
        advice = "Give the right end of the scale."
        require_range("high", self.high, low=self.low * 2, high=most, of=of, advice=advice)
        if self.word and self.word not in units.SCALES[self.kind]:
            raise BadValue(f"word={self.word!r} {of} must be one of: {words_of(self.kind)}.")

    def read(self, guess: object) -> float | str:
        """Return a guess as a number in SI units, or as one of `choices`.

        Raises `BadValue` for words that hold no such amount, and for a number that is not above 0.
        """
        if self.choices:
            picked = {choice.casefold(): choice for choice in self.choices}
            known = picked.get(str(guess).strip().casefold())
            require_choice("guess", known or guess, self.choices)
            return str(known)
        number = read_amount(guess, self.kind, self.word)
        if number <= 0:
            raise BadValue(f"A guess of {self.text(number)} is off any scale. Give an amount above 0.")
        return number

    def text(self, answer: float | str) -> str:
        """Write a guess or a true value for people."""
        return answer if isinstance(answer, str) else units.text(answer, self.kind)

    def verdict(self, guess: float | str, truth: float) -> str:
        """Say how far off a guess was: `8× high`, `right on`, or for choices `right` and `not so`."""
        if isinstance(guess, str) or self.choice_of is not None:
            return "right" if self.choice_of is not None and guess == self.choice_of(truth) else "not so"
        return units.factor_text(guess / truth)


# -- exercises -------------------------------------------------------------------------------------------
class Outcome(Enum):
    """What can come of an answer."""

    NOT_ATTEMPTED = "Not attempted"
    WRONG = "Wrong"
    RAISED = "Could not be checked"
    RIGHT = "Right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of an answer, and what is said about it."""

    outcome: Outcome
    why: str = ""
    misconception: str = ""
    """Name of the wrong idea that was recognised."""
    hint: str = ""
    """Its own hint."""

    @property
    def right(self) -> bool:
        """Return whether the answer was right."""
        return self.outcome is Outcome.RIGHT

    @property
    def text(self) -> str:
        """Return everything in one line, the outcome first and as a word."""
        return " ".join(part for part in (f"{self.outcome.value}.", self.why, self.hint) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Misconception:
    """A wrong idea that leads to a certain wrong answer."""

    name: str
    """The idea in a learner's words: 'latency and bandwidth are the same'."""
    example: Any
    """An answer that comes of it, as a learner would write it; or a function of the study."""
    hint: str
    """What helps against this idea."""
    matches: Callable[[Any], bool] | None = None
    """Whether a read answer comes of it. By default: the same as the example."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """What is computed of an exercise: functions of the study, and of a read answer. Examples and matches by the id of
    their misconception."""

    answer: Callable[[Any], Any] | None = None
    equivalents: Callable[[Any], Any] | None = None
    examples: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    matches: Mapping[str, Callable[[Any], bool]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """A question, its right answer, the usual wrong ones, and the help."""

    id: str
    shape: Shape
    """An `Amount`, a `Choice`, `Several` or an `Order`."""
    answer: Any
    """The right answer, as it may be written; or a function of the study that computes it."""
    equivalents: Any
    """Other ways to write it, which must be right too (a test tries them); or a function of the study."""
    misconceptions: tuple[Misconception, ...]
    hints: tuple[str, ...]
    """The ladder: where to look, which relation, the first step."""
    solution: str
    """How one gets there; shown to whoever asks."""

    def right_answer(self, study: Any = None) -> Any:
        """Return the right answer in one form; computed on the study where it is a function of it."""
        return self.shape.read(_given(self.answer, study))

    def check(self, answer: Any, study: Any = None) -> Verdict:
        """Check an answer. Never raises: what cannot be read or computed is the outcome `RAISED`."""
        if answer is None or answer == "" or (isinstance(answer, (list, tuple, set)) and not answer):
            return Verdict(outcome=Outcome.NOT_ATTEMPTED, why=f"{self.shape.asks}.")
        try:
            given, right = self.shape.read(answer), self.right_answer(study)
            if self.shape.same(given, right):
                return Verdict(outcome=Outcome.RIGHT, why=f"{self.shape.text(right)}.")
            why = self.shape.why(given, right, answer if isinstance(answer, str) else "")
            idea = next((idea for idea in self.misconceptions if self._comes_of(idea, given, study)), None)
            name, hint = (idea.name, idea.hint) if idea else ("", "")
            return Verdict(outcome=Outcome.WRONG, why=why, misconception=name, hint=hint)
        except ReadaheadError as error:
            return Verdict(outcome=Outcome.RAISED, why=str(error))
        except Exception as error:  # a fault of ours must be said and not end the lesson
            return Verdict(
                outcome=Outcome.RAISED,
                why=f"{answer!r} met an error of ours ({type(error).__name__}: {error}). See the solution.",
            )

    def _comes_of(self, idea: Misconception, given: Any, study: Any) -> bool:
        if idea.matches is not None:
            return idea.matches(given)
        return self.shape.same(given, self.shape.read(_given(idea.example, study)))


def _given(answer: Any, study: Any) -> Any:
    """Return a value, or what its function says on the study."""
    return answer(study) if callable(answer) else answer
