"""A curve is the model at each of its points, for every experiment and along every number."""

from __future__ import annotations

import random
from importlib import import_module

import numpy as np
import pytest

from readahead.chapters import CONTENTS
from readahead.experiments.experiment import Experiment, Knob
from readahead.panels.state import POINTS, curve_places
from tools.draws import turned

ALL = [import_module(f"readahead.chapters.{place.topic}.chapter").EXPERIMENT for place in CONTENTS]
NUMBERS = [
    pytest.param(experiment, knob, id=f"{experiment.topic}-{knob.name}")
    for experiment in ALL
    for knob in experiment.knobs
    if knob.kind != "choice" and knob.low > 0
]
DRAWN = 3


def drawn(experiment: Experiment, rng: random.Random) -> dict:
    """Return settings with every knob turned at random, but for the tables, the files and the cluster asked."""
    kept = {"size": "tiny", "path": None, "by": None, "scheduler": None}
    values = {knob.name: turned(knob, rng) for knob in experiment.knobs if knob.name not in kept}
    small = {"size": "tiny"} if any(knob.name == "size" for knob in experiment.knobs) else {}
    return experiment.settings(**values, **small)


@pytest.mark.parametrize(("experiment", "knob"), NUMBERS)
def test_a_curve_is_the_model_at_each_of_its_points(experiment: Experiment, knob: Knob) -> None:
    rng = random.Random(f"{experiment.topic} {knob.name}")
    for _ in range(DRAWN):
        settings = drawn(experiment, rng)
        values = [knob.low, settings[knob.name], turned(knob, rng), knob.high]
        for value, rate in zip(values, experiment.curve(settings, knob.name, values), strict=True):
            at = {**settings, knob.name: knob.nearest(value)}
            assert rate == experiment.throughput(at, experiment.model(at).seconds) > 0


@pytest.mark.parametrize(("experiment", "knob"), NUMBERS)
def test_it_is_drawn_at_enough_places_and_where_the_knob_stands(experiment: Experiment, knob: Knob) -> None:
    here = experiment.settings()[knob.name]
    places = curve_places(knob, here)
    assert {knob.low, knob.high, here} <= set(places)
    assert len(places) >= (min(POINTS, knob.high - knob.low + 1) if knob.whole else POINTS)
    assert np.all(np.diff(places) > 0)


@pytest.mark.parametrize("experiment", ALL, ids=lambda one: one.topic)
def test_the_terms_of_a_model_add_up(experiment: Experiment) -> None:
    rng = random.Random(experiment.topic)
    for _ in range(10):
        estimate = experiment.model(drawn(experiment, rng))
        assert estimate.seconds == pytest.approx(sum(estimate.terms_s.values()))
        assert min(estimate.terms_s.values()) >= -1e-9
        assert all(value >= 0 for value in estimate.overlapped_s.values())
