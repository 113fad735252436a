"""What is written on a crate: the smallest and the largest thing inside. Numbers, dates and words are all turned into
ranks from 0 to 1, so that how far two crates overlap can be told without knowing what is in them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from readahead.models.table_layout import Range


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One column (a leaf of the schema) as it is stored."""

    name: str
    """With the names of what it is nested in, joined by ', ' as DuckDB tells it."""
    path: tuple[str, ...] = ()
    """The same names one by one, outermost first; empty if it lies in nothing."""
    in_list: bool = False
    """Whether a row may have several of it."""
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
        return self.path[0] if self.path else self.name

    @property
    def nested(self) -> bool:
        """Return whether it lies inside another column."""
        return len(self.path) > 1

    @property
    def shown(self) -> str:
        """Return the name as people write it, with full stops between."""
        return ".".join(self.path) or self.name


def ranks(
    labels: Sequence[tuple[str | None, str | None]], rows: Sequence[int], *, words: bool = False
) -> tuple[Range, ...]:
    """Return each row group's smallest and largest value as ranks, or nothing if a group has none.

    A value's rank is the share of the table's rows that lie below it, each group's rows spread evenly between its ends;
    so a tenth of the rows is a tenth of the scale whatever the values are. `words` sorts numbers as text.
    """
    if len(labels) != len(rows) or any(low is None or high is None for low, high in labels):
        return ()
    values = _numbers([str(text) for pair in labels for text in pair], words=words)
    known = np.unique(values)
    place = np.searchsorted(known, values).reshape(-1, 2)
    steps = np.append(np.diff(known), 0.0)
    lone = np.zeros(len(known))  # rows that all have one value
    density = np.zeros(len(known))  # rows between a value and the next one, for each step
    for (low, high), count in zip(place, rows, strict=True):
        if high > low:
            each = count / (known[high] - known[low])
            density[low] += each
            density[high] -= each
        else:
            lone[low] += count
    between = np.maximum(np.cumsum(density), 0.0) * steps
    total = float(between.sum() + lone.sum()) or 1.0
    ends = np.cumsum(lone + between) / total
    starts = np.concatenate([[0.0], ends[:-1]])
    return tuple((float(starts[a]), float(starts[b] + lone[b] / total)) for a, b in place)


def _numbers(texts: Sequence[str], *, words: bool) -> np.ndarray:
    """Return labels as numbers that sort as they do: amounts and dates as they are, words by their first letters."""
    if not words:
        for read in (float, _moment):
            try:
                found = np.array([read(text) for text in texts])
            except (ValueError, OverflowError):
                continue
            if np.isfinite(found).all():
                return found
    start = len(os.path.commonprefix(list(texts)))  # noqa: RUF071  # letters, not folders
    letters = [text[start:].encode()[:8].ljust(8, b"\0") for text in texts]
    return np.array([float(int.from_bytes(word, "big")) for word in letters])


def _moment(text: str) -> float:
    """Return a date or a time as seconds, of which only differences mean anything."""
    return (datetime.fromisoformat(text).replace(tzinfo=None) - datetime(1970, 1, 1)).total_seconds()  # noqa: DTZ001
