"""Every written chapter is held to print, and says with how many degrees of freedom."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from readahead.__main__ import run
from readahead.exercises.chapters import CONTENTS, is_written

WRITTEN = [place for place in CONTENTS if is_written(place.topic)]


@pytest.mark.parametrize("place", WRITTEN, ids=lambda place: place.topic)
def test_a_chapters_model_is_near_what_was_printed(place) -> None:
    told = importlib.import_module(f"readahead.experiments.{place.topic}")
    errors = [abs(modeled / printed - 1) for _, modeled, printed in told.held_to_print()]
    assert np.median(errors) <= 0.03
    assert np.mean(np.array(errors) <= 0.1) >= 0.88
    assert len(errors) > told.FITTED


def test_the_command_prints_every_chapter(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["published"]) == 0
    said = capsys.readouterr().out
    assert all(place.title in said for place in WRITTEN)
    assert said.count("degrees of freedom") == len(WRITTEN)
