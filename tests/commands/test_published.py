"""Every written chapter is held to print, and says with how many degrees of freedom."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from readahead.__main__ import run
from readahead.chapters import CONTENTS, is_written
from readahead.published import topics

WRITTEN = [place for place in CONTENTS if is_written(place.topic) and place.topic in topics()]


NO_ONE_RATIO = {"elimination": 0.13}
"""A chapter whose median is above 3 %, and its limit: one ratio cannot fit the four that were printed."""


@pytest.mark.parametrize("place", WRITTEN, ids=lambda place: place.topic)
def test_a_chapters_model_is_near_what_was_printed(place) -> None:
    told = importlib.import_module(f"readahead.chapters.{place.topic}.chapter")
    errors = [abs(modeled / printed - 1) for _, modeled, printed in told.residuals()]
    assert np.median(errors) <= NO_ONE_RATIO.get(place.topic, 0.03)
    assert len(errors) > told.FITTED


@pytest.mark.parametrize("place", WRITTEN, ids=lambda place: place.topic)
def test_what_is_far_off_is_named_with_what_is_known_of_why(place) -> None:
    told = importlib.import_module(f"readahead.chapters.{place.topic}.chapter")
    far = {name for name, modeled, printed in told.residuals() if abs(modeled / printed - 1) > 0.1}
    assert far == set(getattr(told, "UNEXPLAINED", {}))


def test_the_command_prints_every_chapter(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["published"]) == 0
    said = capsys.readouterr().out
    assert all(place.title in said for place in WRITTEN)
    assert said.count("degrees of freedom") == len(WRITTEN)
