"""Reads answers: an amount as people write it (`1 MB`, `0.95 MiB`), one or several of a list, an order.

Spaces, the spelling of a number and of its unit never fail a right amount. A unit of another kind, or one that means
two things (`Mb/s` is bits), is asked back and never guessed. What is one of a list, a learner picks and does not write.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from readahead import units
from readahead.errors import BadValue, require_choice

LEAST_AMOUNT, MOST_AMOUNT = 1e-30, 1e30
"""Amounts of anything lie between these."""
_THOUSANDS = r"[1-9]\d{0,2}(?:[ ,_'\u00a0\u202f]\d{3})+(?:\.\d+)?"
_PLAIN = r"\d+(?:[.,]\d+)?(?:e[-+]?\d+)?|[.,]\d+"
_NUMBER = re.compile(rf"([-+]?)\s*({_THOUSANDS}(?![\d])|{_PLAIN})\s*(.*)", re.IGNORECASE | re.DOTALL)
_TWO = re.compile(r"(\d+(?:\.\d+)?)\s*(/|\^|\*\*)\s*(\d+(?:\.\d+)?)\s*(.*)", re.DOTALL)
_ABOUT = re.compile(r"^(?:about|around|circa|roughly|approx(?:imately|\.)?|ca\.|~|≈|=)\s*", re.IGNORECASE)

_SIZES: dict[str, float] = {
    **units.SCALES["bytes"],
    **{word.removesuffix("/s"): size for word, size in units.SCALES["bytes_per_s"].items()},
    "KB": units.kB,
    "K": units.KiB,
    "byte": 1,
    "bytes": 1,
}
_SHORT = {"": 1, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9}
_LONG = {"": 1, "milli": 1e-3, "micro": 1e-6, "nano": 1e-9}
_RATES: dict[str, float] = {f"{word}/s": value for word, value in _SIZES.items()}
_BITS: dict[str, float] = {f"{p}bit/s": f / 8 for p, f in (("", 1), ("k", 1e3), ("M", 1e6), ("G", 1e9))}
_PLURAL = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "k": 1e3, "M": 1e6, "G": 1e9, "bn": 1e9, "": 1.0}

_WORDS: dict[str, dict[str, float]] = {
    "s": {
        **{short + word: size for short, size in _SHORT.items() for word in ("s", "sec", "secs")},
        **{long + word: size for long, size in _LONG.items() for word in ("second", "seconds")},
        **dict.fromkeys(("min", "minute", "minutes"), 60),
        **dict.fromkeys(("h", "hour", "hours"), 3600),
    },
    "bytes": _SIZES,
    "bytes_per_s": {**_RATES, **_BITS},
    "rows_per_s": {
        f"{p} {w}/s".strip(): f for p, f in _PLURAL.items() for w in ("rows", "row", "lookups", "")
    },
    "times": {"": 1, "x": 1, "×": 1, "times": 1, "fold": 1, "-fold": 1, "%": 0.01, "percent": 0.01},
    "1": {"%": 0.01, "percent": 0.01, "": 1},
}
_ANY_NOUN = ("rows", "count", "")
_BARE = ("times", "1", *_ANY_NOUN)
_TAIL = re.compile(r"\s*\b(?:faster|slower|more|less|higher|lower|larger|smaller|as much|as long|longer)$")


def units_of(kind: str, word: str = "") -> dict[str, float]:
    """Return the units to pick from for a kind of quantity, `word` or the unit itself first, and their sizes."""
    word = word or units.base_word(kind)
    first = {word: read_amount(f"1 {word}", kind)} if word else {}
    return first | {other: size for other, size in units.SCALES[kind].items() if other != word}


def words_of(kind: str) -> str:
    """Return the units to offer for a kind of quantity, as text: `s, ms, µs, ns`."""
    return ", ".join(word for word in units.SCALES[kind] if word) or "no unit"


def read_amount(words: object, kind: str, default_word: str = "") -> float:
    """Read an amount in SI units: `read_amount("0.95 MiB", "bytes")` is 996147.2.

    `kind` is one of `units.SCALES`. A bare number takes `default_word`, the unit that stood beside the
    field. Raises `BadValue` with what to write when the words cannot be understood.
    """
    require_choice("kind", kind, units.SCALES)
    if isinstance(words, (int, float)) and not isinstance(words, bool):
        if isinstance(words, float) and not math.isfinite(words):
            raise BadValue(f"{words!r} is not an amount. Give a finite number.")
        return _sane(words, words)
    if not isinstance(words, str):
        raise BadValue(f"{words!r} is not an amount. Write a number and one of: {words_of(kind)}.")
    rest = _ABOUT.sub("", words.strip())
    two = _TWO.fullmatch(rest)
    number, word = _two(two) if two else _one(rest, words, kind)
    factor = _factor(_TAIL.sub("", word.strip().rstrip(".")), kind, words, default_word)
    if kind == "1" and factor == 1 and number > 1:
        factor = 0.01  # a share cannot pass 1, so that 33 can only mean 33 %
    return _sane(number * factor, words)


def _sane(number: float, words: object) -> float:
    """Return a number that something could have. Raises `BadValue` for one that nothing has."""
    if number and not LEAST_AMOUNT <= abs(number) <= MOST_AMOUNT:
        raise BadValue(
            f"{words!r} is out of all proportion. Write an amount from {LEAST_AMOUNT:g} to {MOST_AMOUNT:g}."
        )
    return float(number)


def _one(rest: str, words: str, kind: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(rest)
    if match is None:
        raise BadValue(f"{words!r} holds no number. Write a number and one of: {words_of(kind)}.")
    digits = match[2]
    grouped = re.fullmatch(_THOUSANDS, digits) is not None
    digits = re.sub(r"[ ,_'\u00a0\u202f]", "", digits) if grouped else digits.replace(",", ".")
    return float(match[1] + digits), match[3]


def _two(match: re.Match[str]) -> tuple[float, str]:
    """Read a fraction (1/3) or a power (2^20)."""
    left, sign, right, word = float(match[1]), match[2], float(match[3]), match[4]
    if sign == "/" and right == 0:
        raise BadValue("A fraction cannot have 0 below. Write it as a number.")
    if sign != "/" and right * math.log10(max(left, 2)) > 30:
        raise BadValue(f"{match[0]!r} is larger than anything here. Write a smaller number.")
    return (left / right if sign == "/" else left**right), word


def _factor(word: str, kind: str, words: str, default_word: str) -> float:
    """Return what one of `word` is in SI units."""
    word = re.sub(r"\s*(?:per|/)\s*(?:second|sec|s)\b", "/s", word)
    word = re.sub(r"(?<=[bB])ps$", "/s", word)
    if not word and kind not in _BARE:
        if not default_word:
            raise BadValue(f"{words!r} has no unit. Write it with one of: {words_of(kind)}.")
        word = default_word
    if kind in _ANY_NOUN:
        return _of_things(word, words)
    known = _WORDS[kind]
    if word in known:
        return known[word]
    if kind == "bytes_per_s" and re.fullmatch(r"[kKMGT]b/s", word):
        bits, size = f"{word[0]}bit/s", f"{word[0]}B/s"
        raise BadValue(f"{words!r} can be bits or bytes. Write {size} for bytes or {bits} for bits.")
    same = {value for name, value in known.items() if name.lower() == word.lower()}
    if len(same) != 1:
        raise BadValue(f"{words!r}: {word!r} is no unit for this. Write one of: {words_of(kind)}.")
    return same.pop()


def _of_things(word: str, words: str) -> float:
    """Return the factor of a count, whatever is counted: `35 row groups`, `3 k rows`."""
    first, _, noun = word.partition(" ")
    if first in _PLURAL:
        first, factor = noun, _PLURAL[first]
    else:
        first, factor = word, 1.0
    other = any(first in _WORDS[kind] for kind in ("s", "bytes", "bytes_per_s")) and first != ""
    if other or not re.fullmatch(r"[^\W\d]*(?:[ -][^\W\d]+)*", first):
        raise BadValue(f"{words!r}: {first!r} is a unit of something else. Write how many, such as 35.")
    return factor


# -- the shapes an answer can have -------------------------------------------------------------------------
class Shape(ABC):
    """What kind of answer an exercise takes."""

    asks: str
    """How to answer, said beside the field."""
    minutes: int
    """What a room takes for it, with the talk about it."""

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
    minutes = 6

    @property
    def asks(self) -> str:  # type: ignore[override]
        """Return how to answer."""
        if not any(units.SCALES[self.kind]):
            return "A number"
        bare = f"; a bare number is in {self.word}" if self.word else ""
        return f"A number, with a unit where it has one ({words_of(self.kind)}{bare})"

    def read(self, given: Any) -> float:
        """Return the amount in SI units."""
        return read_amount(given, self.kind, self.word)

    def same(self, one: float, other: float) -> bool:
        """Return whether one is within the tolerance of the other, above or below alike."""
        if one * other <= 0:
            return abs(one - other) <= 1e-12
        return max(one / other, other / one) <= (1 + self.tolerance) * (1 + 1e-9)

    def text(self, answer: float) -> str:
        """Write it with its unit: in that of a bare number if it is of other steps than ours, such as GB."""
        if self.word and self.word not in units.SCALES[self.kind]:
            return f"{units.text(answer / units_of(self.kind, self.word)[self.word], '', 4)} {self.word}"
        return units.text(answer, self.kind)

    def why(self, given: float, right: float, said: str = "") -> str:
        """Say on which side it lies."""
        written = said.strip() if re.search(r"[^\W\d]", said) else self.text(given)
        return f"{written} is too {'high' if given > right else 'low'}."


def _picked(given: Any, options: Sequence[str]) -> list[str]:
    """Return the options in a list, each by its words or its letter (a, b, …); or of letters with commas between."""
    letters = dict(zip("abcdefghij", options, strict=False))
    try:
        found = [
            letters.get(piece, piece) for piece in (given.split(", ") if isinstance(given, str) else given)
        ]
        unknown = [piece for piece in found if piece not in options]
    except TypeError:
        unknown = [given]
    if unknown:
        raise BadValue(f"{unknown[0]!r} is none of the choices. Give one of: {'; '.join(options)}.")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Shape):
    """One of several."""

    options: tuple[str, ...]
    asks = "Pick one"
    minutes = 4

    def read(self, given: Any) -> str:
        """Return the option that is meant."""
        return _picked([given], self.options)[0]

    def why(self, given: str, right: str, said: str = "") -> str:
        """Name what was picked."""
        return f"Not {given!r}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Several(Shape):
    """All that belong, in any order."""

    options: tuple[str, ...]
    asks = "Pick all that belong"
    minutes = 5

    def read(self, given: Any) -> frozenset[str]:
        """Return the options that were picked."""
        return frozenset(_picked(given, self.options))

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
    minutes = 5

    @property
    def asks(self) -> str:  # type: ignore[override]
        """Return how to answer."""
        return f"Put them in order; number 1 is {self.first}"

    def read(self, given: Any) -> tuple[str, ...]:
        """Return the options in the order given. Raises `BadValue` unless each comes once."""
        order = tuple(_picked(given, self.options))
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
