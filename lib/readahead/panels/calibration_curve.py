"""A marksman's card: shot after shot, how far from the middle. If the guesses of later chapters lie nearer
to the truth than the first ones, something was learnt.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from readahead import units
from readahead.experiments.figure import Axis, Line, Picture
from readahead.panels import paper
from readahead.panels.chart import chart
from readahead.panels.scored_guesses import Shot, shots
from readahead.questions.progress import Facts

ENOUGH = 4
"""Guesses from which on the first half is compared with the second."""


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
    return paper.words(said) + chart(picture) + paper.table(("Guess", "Off by"), rows)
