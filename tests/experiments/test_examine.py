"""A chapter is examined on its own knobs, for real."""

from __future__ import annotations

import random

import pytest

from readahead.chapters import CONTENTS, chapter, is_written
from readahead.experiments import examine

WRITTEN = [place.topic for place in CONTENTS if is_written(place.topic)]


@pytest.mark.parametrize("topic", WRITTEN)
def test_every_chapter_can_be_drawn_from_and_modeled(topic: str) -> None:
    experiment = chapter(topic).experiment
    rng = random.Random(1)
    drawn = [experiment.draw(rng) for _ in range(12)]
    assert all(settings["size"] == "tiny" for settings in drawn)
    assert len({str(settings) for settings in drawn}) >= 5
    assert all(experiment.model(settings).seconds > 0 for settings in drawn)


def test_a_row_is_modeled_and_measured() -> None:
    (row,) = examine.examine(chapter("fragments").experiment, seed=4, configs=1, repeats=1)
    assert row.modeled_s > 0
    assert row.measured_s == row.seconds[0]
    assert row.reads_modeled is None
