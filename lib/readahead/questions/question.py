"""The two kinds of question: a prediction, guessed before the answer is shown, and an exercise, checked by its answer.

An answer to an exercise is not attempted, wrong (and why), could not be checked, or right. The usual wrong ideas are
known by name, each with a hint of its own; three more hints each say a little more, and the solution is there for
whoever asks. The schema of `questions.yaml` sees to it that none of these is missing.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from readahead import units
from readahead.errors import BadValue, ReadaheadError, require_choice, require_range
from readahead.experiments.round import Applied
from readahead.questions.answers import Shape, read_amount, words_of

SURE = ("a guess", "fairly sure", "sure")
"""How sure somebody is of a guess, from the least on."""
GUESS_MINUTES = 5
"""For a prediction, with the talk about its answer."""


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
    leader: Mapping[str, Any] = field(default_factory=dict)
    """What the leader's guide says of it: usual wrong guesses, and a debrief."""
    choices: tuple[str, ...] = ()
    """Instead of a scale: the words to pick from."""
    choice_of: Callable[[float], str] | None = None
    """With `choices`: which word a modeled, measured or published number stands for."""

    def __post_init__(self) -> None:
        of = f"of prediction {self.id!r}"
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
            require_choice("guess", guess, self.choices)
            return str(guess)
        number = read_amount(guess, self.kind, self.word)
        if number <= 0:
            raise BadValue(f"A guess of {self.text(number)} is off any scale. Give an amount above 0.")
        return number

    def text(self, answer: float | str) -> str:
        """Write a guess or a true value for people."""
        return answer if isinstance(answer, str) else units.text(answer, self.kind)

    def choice(self, number: float) -> str | None:
        """Return the word that a modeled, measured or published number stands for; None where there are no choices."""
        return self.choice_of(number) if self.choice_of is not None else None

    def verdict(self, guess: float | str, truth: float) -> str:
        """Say how far off a guess was: `8× high`, `right on`, or for choices `right` and `not so`."""
        if isinstance(guess, str) or self.choices:
            return "right" if guess == self.choice(truth) else "not so"
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Misconception:
    """A wrong idea that leads to a certain wrong answer."""

    name: str
    """The idea in a learner's words: 'latency and bandwidth are the same'."""
    example: Any
    """An answer that comes of it, as a learner would write it; or a function of the study."""
    hint: str
    """What helps against this idea."""
    between: Sequence[float] = ()
    """The least and the greatest answer that comes of it. By default only the same as the example."""
    id: str = ""
    """By which Python knows it."""


def numbers_of(texts: Mapping[str, str]) -> dict[str, float]:
    """Return written numbers in SI units: `{"latency_s": "5 ms", "share": "3 %"}` is 0.005 and 0.03."""
    read = {}
    for name, text in texts.items():
        bare = "1" if "%" in text else "count"
        kind = next((kind for kind in ("bytes_per_s", "bytes", "s") if f"_{name}".endswith(f"_{kind}")), bare)
        read[name] = read_amount(text, kind)
    return read


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """What is computed of an exercise: functions of the study, or of numbers that can be drawn.

    Those of misconceptions stand under their ids.
    """

    answer: Callable[[Any], Any] | None = None
    examples: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    law: Callable[[Mapping[str, float]], Applied] | None = None
    """In place of `answer`: the law that computes it from the numbers of `questions.yaml`."""
    wrong: Mapping[str, Callable[[Mapping[str, float]], float]] = field(default_factory=dict)
    """What misconceptions make of these numbers. The example of another is wrong with all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exercise:
    """A question, its right answer, the usual wrong ones, and the help."""

    id: str
    shape: Shape
    """An `Amount`, a `Choice`, `Several` or an `Order`."""
    answer: Any
    """The right answer, as it may be written; or a function of the study that computes it."""
    misconceptions: tuple[Misconception, ...]
    hints: tuple[str, ...]
    """The ladder: where to look, which relation, the first step."""
    solution: str
    """How one gets there; shown to whoever asks, and after the right answer."""
    numbers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Those that can be drawn anew, and how each may be written; the first stands in the notebook.
    A unit is told by the end of the name: latency_s."""
    computed: Computed = Computed()
    law: Applied | None = None
    """With `numbers`: what computed the answer."""
    said: Callable[[str], str] = str
    """Puts the numbers of a seed into words that hold the notebook's."""

    def with_seed(self, seed: int) -> Exercise:
        """Return the exercise with other numbers, the same for the same seed. Raises `BadValue` where it has none.

        None of them is the notebook's, and those of the next seed are others.
        """
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise BadValue(
                f"seed={seed!r} of exercise {self.id!r} must be a whole number. Give one such as 7."
            )
        if self.computed.law is None:
            raise BadValue(
                f"seed={seed!r}: the numbers of exercise {self.id!r} are not drawn. Leave seed out."
            )
        every = list(itertools.product(*(written[1:] for written in self.numbers.values())))
        random.Random(0).shuffle(every)
        texts = dict(zip(self.numbers, every[seed % len(every)], strict=True))
        anew = {self.numbers[name][0]: text for name, text in texts.items()}
        numbers = numbers_of(texts)
        law, wrong = self.computed.law(numbers), self.computed.wrong
        written = "|".join(
            re.escape(text).replace(r"\ ", r"\s+") for text in sorted(anew, key=len, reverse=True)
        )
        place = re.compile(rf"(?<![\w.,])(?:{written})(?!\w|[.,]\d)")

        def said(words: str) -> str:
            return place.sub(lambda found: anew[" ".join(found[0].split())], words)

        ideas = (
            replace(idea, example=wrong[idea.id](numbers), between=()) if idea.id in wrong else idea
            for idea in self.misconceptions
        )
        return replace(
            self,
            answer=law.result,
            law=law,
            misconceptions=tuple(replace(idea, hint=said(idea.hint)) for idea in ideas),
            hints=(*map(said, self.hints[:-1]), f"{law.fact} ${law.formula}$" if law.formula else law.fact),
            solution="By the law below, with these numbers.",
            said=said,
        )

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
        if idea.between:
            return bool(idea.between[0] <= given <= idea.between[1])
        return self.shape.same(given, self.shape.read(_given(idea.example, study)))


def _given(answer: Any, study: Any) -> Any:
    """Return a value, or what its function says on the study."""
    return answer(study) if callable(answer) else answer
