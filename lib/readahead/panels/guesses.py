"""The learner's scored guesses, and whether they come nearer to the truth from chapter to chapter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readahead import units
from readahead.chapters import CONTENTS
from readahead.experiments.figure import Axis, Line, Picture
from readahead.panels.chart import chart
from readahead.panels.markup import paragraphs, table
from readahead.questions.progress import Facts

ENOUGH = 4
"""Guesses from which on the first half is compared with the second."""
_FARTHEST = 100.0
"""Beyond a factor of e to this, one guess is as far off as another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredGuess:
    """A guess and the value that it was held against."""

    topic: str
    name: str
    guess: float
    truth: float

    @property
    def off(self) -> float:
        """Return how far off it was, as a factor from 1 (right on) upwards, in either direction."""
        return math.exp(min(_FARTHEST, abs(math.log(self.guess) - math.log(self.truth))))


def scored_guesses(book: Facts) -> list[ScoredGuess]:
    """Return the scored guesses of a progress book, in the order in which they were revealed.

    Guesses among words are not counted: they have no distance.
    """
    found = []
    places = {row.topic: row.number for row in CONTENTS}
    for topic, shelves in book.get("topics", {}).items():
        for name, entry in shelves.get("guesses", {}).items():
            if not isinstance(entry, dict):
                continue
            pair = [
                value
                for key in ("guess", "truth")
                if isinstance(value := entry.get(key), (int, float)) and value > 0
            ]
            if len(pair) == 2:
                scored = ScoredGuess(topic=topic, name=name, guess=float(pair[0]), truth=float(pair[1]))
                found.append((str(entry.get("revealed", "")), places.get(topic, 99), name, scored))
    return [scored for *_, scored in sorted(found, key=lambda item: item[:3])]


def trend(scored: Sequence[ScoredGuess]) -> str:
    """Say whether the guesses got better: the median factor of the first half against the second."""
    if not scored:
        return "No guess has been scored yet. Keep one, and look at its answer."
    if len(scored) < ENOUGH:
        typical = units.text(float(np.median([one.off for one in scored])), "times", 2)
        return (
            f"So far {len(scored)} scored, typically off by {typical}. More will show whether they improve."
        )
    half = len(scored) // 2
    early = float(np.median([one.off for one in scored[:half]]))
    late = float(np.median([one.off for one in scored[-half:]]))
    how = "nearer" if late < early * 0.9 else "further off" if late > early * 1.1 else "as near as before"
    return (
        f"The first {half} guesses were typically off by {units.text(early, 'times', 2)}, the last {half} by"
        f" {units.text(late, 'times', 2)}: {how}."
    )


def guesses_html(book: Facts) -> str:
    """Return sentence, chart and table of all scored guesses."""
    scored = scored_guesses(book)
    sentence = trend(scored)
    if not scored:
        return paragraphs(sentence)
    offs = [(number, one.off) for number, one in enumerate(scored, start=1)]
    picture = Picture(
        title="Are my guesses getting better?",
        sentence=sentence,
        x=Axis(label="guess number", kind="count", log=False),
        y=Axis(label="off by", kind="times"),
        lines=(
            Line(name="my guesses", source="guess", joined=False, points=offs),
            Line(name="right on", source="measured", points=[(1, 1.0), (max(2, len(scored)), 1.0)]),
        ),
        marks={},
    )
    rows = [
        (f"{number}. {one.topic}: {one.name}", units.factor_text(one.guess / one.truth))
        for number, one in enumerate(scored, start=1)
    ]
    return paragraphs(sentence) + chart(picture) + table(("Guess", "Off by"), rows)
