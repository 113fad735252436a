"""Reads an amount as people write it: `1 MB`, `1,000,000 bytes`, `0.95 MiB`, `1e6 B`.

`read` is forgiving in spelling and strict in meaning: a unit of another kind, or one that means two things (`Mb/s` is
bits), is asked back and never guessed.
"""

from __future__ import annotations

import math
import re

from readahead import units
from readahead.errors import BadValue, require_choice

_LEAST, _MOST = 1e-30, 1e30
_THOUSANDS = r"[1-9]\d{0,2}(?:[ ,_'\u00a0\u202f]\d{3})+(?:\.\d+)?"
_PLAIN = r"\d+(?:[.,]\d+)?(?:e[-+]?\d+)?|[.,]\d+"
_NUMBER = re.compile(rf"([-+]?)\s*({_THOUSANDS}(?![\d])|{_PLAIN})\s*(.*)", re.IGNORECASE | re.DOTALL)
_TWO = re.compile(r"(\d+(?:\.\d+)?)\s*(/|\^|\*\*)\s*(\d+(?:\.\d+)?)\s*(.*)", re.DOTALL)
_ABOUT = re.compile(r"^(?:about|around|circa|roughly|approx(?:imately|\.)?|ca\.|~|≈|=)\s*", re.IGNORECASE)

_SIZES: dict[str, float] = {
    **units.SCALES["bytes"],
    "TB": units.TB,
    "GB": units.GB,
    "MB": units.MB,
    "kB": units.kB,
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


def words_of(kind: str) -> str:
    """Return the units to offer for a kind of quantity, as text: `s, ms, µs, ns`."""
    return ", ".join(word for word in units.SCALES[kind] if word) or "no unit"


def read(words: object, kind: str, default_word: str = "") -> float:
    """Read an amount in SI units: `read("0.95 MiB", "bytes")` is 996147.2.

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
    if number and not _LEAST <= abs(number) <= _MOST:
        raise BadValue(f"{words!r} is out of all proportion. Write an amount from {_LEAST:g} to {_MOST:g}.")
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
