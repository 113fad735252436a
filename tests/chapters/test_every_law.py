"""A law that is shown below an answer has formula, symbols and a call, and is about that very answer."""

from __future__ import annotations

import pytest

from readahead.chapters import CONTENTS, chapter, is_written
from readahead.experiments.round import Bench

WITH_LAW = [
    pytest.param(known, name, id=f"{known.place.topic}-{name}")
    for known in (chapter(place.topic) for place in CONTENTS if is_written(place.topic))
    for name, turn in known.rounds.items()
    if turn.law is not None
]
NEAR = 0.15
"""A law leaves out what the model has besides (planning, the engine's own time): so far it may lie from the model."""
STEPS: set[str] = set()
"""Rounds whose law gives a step on the way to the answer, and says so."""


@pytest.mark.parametrize(("known", "name"), WITH_LAW)
def test_a_law_has_all_that_is_shown_of_it(known, name) -> None:  # type: ignore[no-untyped-def]
    law = known.rounds[name].law(Bench(known.experiment, size="tiny"))
    assert law.formula and law.symbols and law.fact.startswith("Return ")
    assert law.function.__module__.endswith((f"{known.place.topic}.laws", "models.occupancy"))
    laws = {"laws": __import__(law.function.__module__, fromlist=["laws"])}
    assert eval(law.call, laws) == pytest.approx(law.result, rel=1e-4)


@pytest.mark.parametrize(("known", "name"), WITH_LAW)
def test_a_law_gives_what_the_model_answers(known, name) -> None:  # type: ignore[no-untyped-def]
    turn, bench = known.rounds[name], Bench(known.experiment, size="tiny")
    modeled = turn.modeled_value(bench)
    if modeled is not None and f"{known.place.topic}-{name}" not in STEPS:
        assert turn.law(bench).result == pytest.approx(modeled.median, rel=NEAR)
