"""Every written chapter is held to print, and says what the comparison is worth."""

from __future__ import annotations

import csv

import pytest

from readahead.__main__ import run
from readahead.chapters import CONTENTS
from readahead.published import FOLDER, topics
from tools.published_page import compare

WRITTEN = [place for place in CONTENTS if place.topic in topics()]


def test_the_command_prints_every_chapter(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([], compare) == 0
    said = capsys.readouterr().out
    assert all(place.title in said for place in WRITTEN)
    assert said.count(" figures, ") == len(WRITTEN)
    assert "computed from other printed figures" in said and "null model" in said
    assert "chosen by looking:" in said
    lines = csv.DictReader((FOLDER / "beside.csv").read_text("utf-8").splitlines())
    told = {name if ":" in (name := line["figure"]) else f"{line['topic']}:{name}" for line in lines}
    assert said.endswith(f"{len(told)} printed figures stand as ratios beside those of a run.\n")
