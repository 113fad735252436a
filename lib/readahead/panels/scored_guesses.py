"""The holes in the target: how far each scored guess was from the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass

from readahead.chapters import CONTENTS
from readahead.questions.progress import Facts

_FARTHEST = 100.0
"""Beyond a factor of e to this, one miss is as wide as another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """One scored guess."""

    topic: str
    name: str
    guess: float
    truth: float

    @property
    def off(self) -> float:
        """Return how far off it was, as a factor from 1 (right on) upwards, in either direction."""
        return math.exp(min(_FARTHEST, abs(math.log(self.guess) - math.log(self.truth))))


def shots(book: Facts) -> list[Shot]:
    """Return the scored guesses of a progress book, in the order in which they were revealed.

    Guesses among words are not counted: they have no distance.
    """
    found = []
    places = {row.topic: row.number for row in CONTENTS}
    for topic, shelves in book.get("topics", {}).items():
        for name, entry in shelves.get("guesses", {}).items():
            if not isinstance(entry, dict):
                continue
            guess, truth = entry.get("guess"), entry.get("truth")
            if (
                isinstance(guess, (int, float))
                and isinstance(truth, (int, float))
                and guess > 0
                and truth > 0
            ):
                shot = Shot(topic=topic, name=name, guess=float(guess), truth=float(truth))
                found.append((str(entry.get("revealed", "")), places.get(topic, 99), name, shot))
    return [shot for *_, shot in sorted(found, key=lambda item: item[:3])]
