"""How an exercise book is ruled: what stands in its file, and whether a text is one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from readahead import __version__, paths
from readahead.errors import DataError

FORMAT = 1
Facts = dict[str, Any]


def empty() -> Facts:
    """Return a book in which nothing stands yet."""
    versions = {"readahead": __version__, "python": ".".join(map(str, sys.version_info[:3]))}
    return {"format": FORMAT, "versions": versions, "machine": {}, "topics": {}}


def load(path: Path) -> Facts:
    """Return the book in a file, an empty one if there is none. Raises `ValueError` if it is damaged."""
    try:
        return _read(path)
    except FileNotFoundError:
        return empty()


def read_result(path: Path) -> Facts:
    """Return a learner's book from a file that was handed in. Raises `DataError` that says what is wrong with it."""
    try:
        return _read(path)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        ask = "Ask for what `python -m readahead progress --export FILE` writes."
        raise DataError(f"{path.name} is not a result of this workbook: {error}. {ask}") from error


def _read(path: Path) -> Facts:
    """Return the book of this format in a file. Raises `OSError`, and `ValueError` with what is wrong."""
    paths.require_ordinary(path)
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise ValueError("its tables are nested too deeply") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise ValueError(f"it is not a progress file of format {FORMAT}")
    if not isinstance(facts.get("topics"), dict) or not isinstance(facts.get("machine"), dict):
        raise ValueError("its topics or its machine are not a table")
    for topic, shelves in facts["topics"].items():
        if not isinstance(shelves, dict) or not all(isinstance(shelf, dict) for shelf in shelves.values()):
            raise ValueError(f"topic {topic!r} is not a table of tables")
        _check_entries(shelves)
    return facts


def _check_entries(shelves: Facts) -> None:
    """Raise `ValueError` for an answer or a guess of a topic that no exercise book has."""
    for name, tries in shelves.get("answers", {}).items():
        if not isinstance(tries, list) or not all(isinstance(one, dict) for one in tries):
            raise ValueError(f"the answers to {name!r} are not a list of tables")
    for name, entry in shelves.get("guesses", {}).items():
        if not isinstance(entry, dict) or not _is_amount(entry.get("guess"), str):
            raise ValueError(f"the guess {name!r} is not a number or a word")
        if not _is_amount(entry.get("truth"), type(None)):
            raise ValueError(f"the truth of {name!r} is not a number")


def _is_amount(value: Any, other: type) -> bool:
    """Return whether a value is a finite number, or of the other kind that may stand in its place."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return isinstance(value, other)
    return bool(abs(value) <= sys.float_info.max)
