"""What is written on a crate: the smallest and the largest thing inside. Numbers, dates and words are all turned into
ranks from 0 to 1, so that how far two crates overlap can be told without knowing what is in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from readahead.models.your_data import Range

NUMBERS = ("INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BOOLEAN")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One column (a leaf of the schema) as it is stored."""

    name: str
    """With the names of what it is nested in, joined by ', ' as DuckDB tells it."""
    physical: str = ""
    size_bytes: int
    raw_bytes: int
    """Before compression; 0 where it is not told."""
    chunks: int
    dictionary_chunks: int
    encodings: str
    ranges: tuple[Range, ...] = ()

    @property
    def top(self) -> str:
        """Return the name a query uses."""
        return self.name.split(", ")[0]

    @property
    def nested(self) -> bool:
        """Return whether it lies inside another column."""
        return ", " in self.name


def ranks(
    labels: Sequence[tuple[str | None, str | None]], physical: str, rows: Sequence[int]
) -> tuple[Range, ...]:
    """Return each row group's smallest and largest value as ranks, or nothing if a group has none.

    A value's rank is the share of the table's rows that lie below it, each group's rows spread evenly over the distinct
    values between its ends; so a tenth of the rows is a tenth of the scale whatever the values are.
    """
    if len(labels) != len(rows) or any(low is None or high is None for low, high in labels):
        return ()
    ends: list[tuple[Any, Any]] = [(_value(str(a), physical), _value(str(b), physical)) for a, b in labels]
    try:
        known = sorted({value for pair in ends for value in pair})
    except TypeError:
        return ()
    if len(known) == 1:
        return ((0.0, 1.0),) * len(labels)
    place = {value: number for number, value in enumerate(known)}
    weight = np.zeros(len(known))  # rows between a value and the next one
    for (low, high), count in zip(ends, rows, strict=True):
        a, b = place[low], place[high]
        if b > a:
            weight[a] += count / (b - a)
            weight[b] -= count / (b - a)
        else:
            weight[a] += count
            if a + 1 < len(known):
                weight[a + 1] -= count
    spread = np.maximum(np.cumsum(weight), 0.0)
    total = float(spread.sum()) or 1.0
    below = np.concatenate([[0.0], np.cumsum(spread)]) / total
    return tuple(
        (float(below[place[a]]), float(below[place[b]] if b != a else below[place[b] + 1])) for a, b in ends
    )


def _value(text: str, physical: str) -> Any:
    """Return a label as something that sorts: a number where it reads as one, else the text."""
    if physical in NUMBERS:
        try:
            return (0, float(text), "")
        except ValueError:
            pass
    return (1, 0.0, text)
