"""Turns numbers into words: inside the library a time is seconds and a size is bytes; only here do they become text.

`questions.answers` reads what a person writes. Sizes are written with KiB, MiB, GiB and rates with MB/s and GB/s, as
the storage field does. 1 KiB = 1024 bytes and 1 kB = 1000 bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

KiB, MiB, GiB, TiB = 1024, 1024**2, 1024**3, 1024**4
kB, MB, GB, TB = 10**3, 10**6, 10**9, 10**12
us, ms = 1e-6, 1e-3

SCALES: dict[str, dict[str, float]] = {
    "s": {"s": 1.0, "ms": ms, "µs": us, "ns": 1e-9},
    "bytes": {"TiB": TiB, "GiB": GiB, "MiB": MiB, "KiB": KiB, "B": 1},
    "bytes_per_s": {"TB/s": TB, "GB/s": GB, "MB/s": MB, "kB/s": kB, "B/s": 1},
    "rows_per_s": {"G rows/s": 1e9, "M rows/s": 1e6, "k rows/s": 1e3, "rows/s": 1},
    "rows": {"rows": 1},
    "count": {"": 1},
    "": {"": 1},
    "1": {"%": 0.01},
    "times": {"×": 1},
}
"""For each kind of quantity, the words it is written in, largest first."""
_MANY_ROWS = 10_000
"""So many rows a second are written with a prefix; fewer as they are counted."""


def _word(value: float, kind: str) -> str:
    """Choose the word that leaves 1 to 999 in front of it; nothing at all is in the unit itself."""
    words = SCALES[kind]
    if (value == 0 and 1 in words.values()) or (kind == "rows_per_s" and 1 <= abs(value) < _MANY_ROWS):
        return base_word(kind)
    large_enough = (word for word, size in words.items() if abs(value) >= size * (1 - 1e-12))
    return next(large_enough, list(words)[-1])


def _number(value: float, digits: int) -> str:
    """Write `value` with `digits` significant digits, thousands separated, no exponent."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    places = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{round(value, digits - 1 - math.floor(math.log10(abs(value)))):,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def text(value: float, kind: str, digits: int = 3) -> str:
    """Write a quantity for people: `text(0.0041, "s")` is `4.1 ms`.

    `kind` is one of `SCALES`: s, bytes, bytes_per_s, rows_per_s, rows, count, 1 (a share, as %), times.
    """
    word = _word(value, kind)
    whole = kind in ("rows", "count") and float(value).is_integer()
    whole = whole or (word == "rows/s" and digits > 2 and abs(value) >= 1000)
    return _with_word(f"{round(value):,}" if whole else _number(value / SCALES[kind][word], digits), word)


def _with_word(number: str, word: str) -> str:
    return f"{number}×" if word == "×" else f"{number} {word}".rstrip()


def texts(values: Sequence[float], kind: str, digits: int = 3) -> list[str]:
    """Write a row of quantities with one word, that of the median, so that they compare at a glance."""
    middle = sorted(values)[len(values) // 2] if len(values) else 0.0
    word = _word(middle, kind)
    return [_with_word(_number(value / SCALES[kind][word], digits), word) for value in values]


def base_word(kind: str) -> str:
    """Return the word that a bare number means: s, B, B/s, rows/s; nothing for what has no unit."""
    return next((word for word, size in SCALES[kind].items() if size == 1), "")


def factor_text(factor: float) -> str:
    """Say how far apart two numbers are: 8.0 is `8× high`, 0.5 is `2× low`, 1.0 is `right on`."""
    if factor <= 0 or not math.isfinite(factor):
        return "not comparable"
    if 1 / 1.05 < factor < 1.05:
        return "right on"
    return f"{_number(factor, 2)}× high" if factor > 1 else f"{_number(1 / factor, 2)}× low"
