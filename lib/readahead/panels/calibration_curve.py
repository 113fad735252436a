"""A marksman's card: shot after shot, how far from the middle. If the guesses of later chapters lie nearer
to the truth than the first ones, something was learnt.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readahead import units
from readahead.exercises.chapters import CONTENTS
from readahead.experiments.picture import Axis, Line, Picture
from readahead.panels import paper, svg
from readahead.progress import Facts

ENOUGH = 4
"""Guesses from which on the first half is compared with the second."""


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
        return math.exp(abs(math.log(self.guess / self.truth)))


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


def sentence(hits: Sequence[Shot]) -> str:
    """Say whether the guesses got better: the median factor of the first half against the second."""
    if not hits:
        return "No guess has been scored yet. Make one, and look behind the curtain."
    if len(hits) < ENOUGH:
        typical = units.text(float(np.median([hit.off for hit in hits])), "times", 2)
        return f"So far {len(hits)} scored, typically off by {typical}. More will show whether they improve."
    half = len(hits) // 2
    early = float(np.median([hit.off for hit in hits[:half]]))
    late = float(np.median([hit.off for hit in hits[-half:]]))
    trend = "nearer" if late < early * 0.9 else "further off" if late > early * 1.1 else "as near as before"
    return (
        f"The first {half} guesses were typically off by {units.text(early, 'times', 2)}, the last {half} by"
        f" {units.text(late, 'times', 2)}: {trend}."
    )


def html(book: Facts) -> str:
    """Return chart, sentence and table of all scored guesses."""
    hits, said = shots(book), sentence(shots(book))
    if not hits:
        return paper.words(said)
    picture = Picture(
        title="Are my guesses getting better?",
        sentence=said,
        marks={},
        x=Axis(label="guess number", kind="count", log=False),
        y=Axis(label="off by", kind="times"),
        lines=(
            Line(
                name="my guesses",
                source="other",
                joined=False,
                points=[(number, hit.off) for number, hit in enumerate(hits, start=1)],
            ),
            Line(name="right on", source="measured", points=[(1, 1.0), (max(2, len(hits)), 1.0)]),
        ),
    )
    rows = [
        (f"{number}. {hit.topic}: {hit.name}", units.factor_text(hit.guess / hit.truth))
        for number, hit in enumerate(hits, start=1)
    ]
    return paper.words(said) + svg.chart(picture) + paper.table(("Guess", "Off by"), rows)
