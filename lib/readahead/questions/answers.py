"""The shapes an answer can have: an amount, one of several, some of several, an order.

Each shape can `read` what a learner gave into one form, and say whether two answers are the `same`. Case,
spaces, order in a set and the spelling of units never fail a right answer.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from readahead import units
from readahead.errors import BadValue, require_choice, require_range
from readahead.questions import quantity


class Shape(ABC):
    """What kind of answer an exercise takes."""

    asks: str
    """How to answer, said beside the field."""

    @abstractmethod
    def read(self, given: Any) -> Any:
        """Return `given` in one form. Raises `BadValue` with what to write."""

    def same(self, one: Any, other: Any) -> bool:
        """Return whether two read answers mean the same."""
        return bool(one == other)

    def text(self, answer: Any) -> str:
        """Write a read answer for people."""
        return str(answer)

    @abstractmethod
    def why(self, given: Any, right: Any, said: str = "") -> str:
        """Say what is wrong with a read answer, without giving the right one away.

        `said` is how the learner wrote it.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount(Shape):
    """A number with a unit, right within a share `tolerance`."""

    kind: str
    tolerance: float = 0.1
    word: str = ""
    """The unit of a bare number."""

    def __post_init__(self) -> None:
        require_choice("kind", self.kind, units.SCALES)
        require_range("tolerance", self.tolerance, low=0, high=10, advice="Give a share: 0.1 is 10 %.")

    @property
    def asks(self) -> str:  # type: ignore[override]
        """Return how to answer."""
        bare = f"; a bare number is in {self.word}" if self.word else ""
        return f"A number, with a unit where it has one ({quantity.words_of(self.kind)}{bare})"

    def read(self, given: Any) -> float:
        """Return the amount in SI units."""
        return quantity.read(given, self.kind, self.word)

    def same(self, one: float, other: float) -> bool:
        """Return whether one is within the tolerance of the other, above or below alike."""
        if one == other:
            return True
        if one * other <= 0:
            return abs(one - other) <= 1e-12
        return max(one / other, other / one) <= (1 + self.tolerance) * (1 + 1e-9)

    def text(self, answer: float) -> str:
        """Write it with its unit."""
        return units.text(answer, self.kind)

    def why(self, given: float, right: float, said: str = "") -> str:
        """Say on which side it lies."""
        written = said.strip() if re.search(r"[^\W\d]", said) else self.text(given)
        return f"{written} is too {'high' if given > right else 'low'}."


def _plain(words: str) -> str:
    """Return words without case, accents of punctuation and doubled spaces."""
    return " ".join(re.sub(r"[^\w%+×<>/-]+", " ", words).casefold().split())


def _pick(words: Any, options: Sequence[str]) -> str:
    """Return the option that is meant: by its words, its letter (a, b, …), or a beginning that fits one."""
    plain = _plain(str(words))
    by_words = [option for option in options if _plain(option) == plain]
    by_letter = [option for letter, option in zip("abcdefghij", options, strict=False) if plain == letter]
    by_start = [option for option in options if len(plain) > 2 and _plain(option).startswith(plain)]
    for found in (by_words, by_letter, by_start):
        if len(found) == 1:
            return found[0]
    raise BadValue(f"{words!r} is none of the choices. Give one of: {'; '.join(options)}.")


def _pieces(given: Any, options: Sequence[str], between: str) -> list[str]:
    """Return what is listed in `given`, a list or a text with separators."""
    if not isinstance(given, str):
        try:
            return [_pick(piece, options) for piece in given]
        except TypeError as error:
            raise BadValue(f"{given!r} is no list. Give some of: {'; '.join(options)}.") from error
    words = re.split(between, given)
    if len(words) == 1 and all(len(word) == 1 for word in given.split()):
        words = given.split()
    return [_pick(word, options) for word in words if word.strip()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Shape):
    """One of several."""

    options: tuple[str, ...]
    asks = "Pick one"

    def read(self, given: Any) -> str:
        """Return the option that is meant."""
        return _pick(given, self.options)

    def why(self, given: str, right: str, said: str = "") -> str:
        """Name what was picked."""
        return f"Not {given!r}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Several(Shape):
    """All that belong, in any order."""

    options: tuple[str, ...]
    asks = "Pick all that belong"

    def read(self, given: Any) -> frozenset[str]:
        """Return the options that were picked."""
        return frozenset(_pieces(given, self.options, r"[,;]|\band\b"))

    def text(self, answer: frozenset[str]) -> str:
        """Write them in the order of the options."""
        return "; ".join(option for option in self.options if option in answer)

    def why(self, given: frozenset[str], right: frozenset[str], said: str = "") -> str:
        """Name the first that does not belong, or say how many are missing."""
        extra = [option for option in self.options if option in given - right]
        if extra:
            return f"{extra[0]!r} does not belong."
        missing = len(right - given)
        return f"All you picked belong; {missing} {'is' if missing == 1 else 'are'} missing."


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Shape):
    """All options, in order."""

    options: tuple[str, ...]
    first: str = "the first"
    """What comes first: 'the fastest', 'the largest'."""

    @property
    def asks(self) -> str:  # type: ignore[override]
        """Return how to answer."""
        return f"Put them in order; number 1 is {self.first}"

    def read(self, given: Any) -> tuple[str, ...]:
        """Return the options in the order given. Raises `BadValue` unless each comes once."""
        order = tuple(_pieces(given, self.options, r"[,;>→]"))
        if sorted(order) != sorted(self.options):
            raise BadValue(f"{len(order)} of {len(self.options)} are in order. Give each one once.")
        return order

    def text(self, answer: tuple[str, ...]) -> str:
        """Write them from left to right."""
        return " → ".join(answer)

    def why(self, given: tuple[str, ...], right: tuple[str, ...], said: str = "") -> str:
        """Name the first place that is wrong."""
        place = next(i for i, (one, other) in enumerate(zip(given, right, strict=True)) if one != other)
        before = "; what stands before it is right" if place else ""
        return f"Place {place + 1} is not {given[place]!r}{before}."
