"""Turns the smallest and largest value of each row group into ranks from 0 to 1, whatever the type of the column.

So how far two row groups overlap can be told of numbers, dates and words alike.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from readahead.models.table_layout import UNKNOWN, Ranges

Ends = tuple[int, str | None, str | None]
"""The number of a row group, and the smallest and largest value of it or of a part of it, as texts."""


def ranks(ends: Sequence[Ends], rows: Sequence[int], *, words: bool = False) -> Ranges:
    """Return each row group's smallest and largest value as ranks, or nothing if a group has none.

    A value's rank is the share of the table's rows that lie below it, each group's rows spread evenly between its ends;
    so a tenth of the rows is a tenth of the scale whatever the values are. `words` sorts numbers as text.
    """
    told = [(group, low, high) for group, low, high in ends if low is not None and high is not None]
    groups = [group for group, _, _ in told]
    if len(set(groups)) != len(rows):
        return UNKNOWN
    values = _numbers([text for _, low, high in told for text in (low, high)], words=words).reshape(-1, 2)
    low, high = np.full(len(rows), np.inf), np.full(len(rows), -np.inf)
    np.minimum.at(low, groups, values[:, 0])
    np.maximum.at(high, groups, values[:, 1])
    known = np.unique([low, high])
    first, last = np.searchsorted(known, low), np.searchsorted(known, high)
    wide, counts = last > first, np.array(rows, float)
    lone = np.bincount(first[~wide], counts[~wide], len(known))  # rows that all have one value
    each = counts[wide] / (high - low)[wide]
    begun, ended = (np.bincount(place[wide], each, len(known)) for place in (first, last))
    # rows between a value and the next one
    between = np.maximum(np.cumsum(begun - ended), 0.0) * np.append(np.diff(known), 0.0)
    above = np.cumsum(lone + between)
    below = np.append(0.0, above[:-1])
    return np.stack([below[first], below[last] + lone[last]], axis=1) / (above[-1] or 1.0)


def _numbers(texts: Sequence[str], *, words: bool) -> np.ndarray:
    """Return values as numbers that sort as they do: amounts and dates as they are, words by their first letters."""
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
