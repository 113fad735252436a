"""A prediction: the unit and the scale in which a learner guesses a number, or the words to pick from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from readahead import units
from readahead.errors import BadValue, require_choice, require_range
from readahead.questions import quantity


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
        require_range("high", self.high, low=self.low * 2, of=of, advice="Give the right end of the scale.")
        if self.word and self.word not in units.SCALES[self.kind]:
            raise BadValue(f"word={self.word!r} {of} must be one of: {quantity.words_of(self.kind)}.")

    def read(self, guess: object) -> float | str:
        """Return a guess as a number in SI units, or as one of `choices`.

        Raises `BadValue` for words that hold no such amount, and for a number that is not above 0.
        """
        if self.choices:
            picked = {choice.casefold(): choice for choice in self.choices}
            known = picked.get(str(guess).strip().casefold())
            require_choice("guess", known or guess, self.choices)
            return str(known)
        number = quantity.read(guess, self.kind, self.word)
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
