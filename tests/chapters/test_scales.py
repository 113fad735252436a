"""A scale gives nothing away: its ends lie well to both sides of the answer."""

from __future__ import annotations

import math

import pytest

from readahead.chapters import CONTENTS, chapter
from readahead.experiments.round import Study

ASKED = [
    pytest.param(known, asked, id=f"{known.place.topic}-{asked.id}")
    for known in (chapter(place.topic) for place in CONTENTS)
    for asked in known.predictions
    if not asked.choices
]
AWAY = 2.0
"""How many times the answer must lie from either end."""


@pytest.mark.parametrize(("known", "asked"), ASKED)
def test_the_answer_lies_well_within_the_scale(known, asked) -> None:  # type: ignore[no-untyped-def]
    turn = known.rounds[asked.id]
    modeled = turn.modeled_value(Study(known.experiment, size="tiny"))
    answers = ([modeled.median] if modeled else []) + [figure.best for figure in turn.published[:1]]
    high = (
        math.inf if asked.kind == "1" else asked.high / AWAY
    )  # all of it is an answer, and nothing lies beyond
    for answer in answers:
        assert asked.low * AWAY < answer < high
