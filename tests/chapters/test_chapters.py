"""The table of contents and the notebooks, files and ids that hang on it."""

from pathlib import Path

import pytest
from toybox import CHAPTER

from readahead.chapters import CONTENTS, Place, chapter, contents, place
from readahead.errors import BadValue


def test_numbers_run_and_topics_are_used_once() -> None:
    assert [row.number for row in CONTENTS] == list(range(len(CONTENTS)))
    assert len({row.topic for row in CONTENTS}) == len(CONTENTS)
    assert place("row_groups").notebook == "03_row_groups.ipynb"


def test_a_title_is_the_notebook_s_first_heading() -> None:
    assert place("start_here").title == "Start here: one chart, four knobs"
    assert len({row.title for row in CONTENTS}) == len(CONTENTS)


@pytest.mark.parametrize("row", CONTENTS, ids=lambda row: row.topic)
def test_a_topic_opens(row: Place) -> None:
    assert chapter(row.topic).experiment.topic == row.topic


def test_a_copy_of_a_notebook_is_no_chapter(tmp_path: Path) -> None:
    for name in ("03_row_groups.ipynb", "03_row_groups-Copy1.ipynb"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert contents(tmp_path) == (place("row_groups"),)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadValue, match="'fragment' must be one of: start_here, fragments"):
        chapter("fragment")
    with pytest.raises(BadValue, match="no prediction of chapter 'toy'. It has: fetch, longer_rope"):
        CHAPTER.prediction("fetched")
    with pytest.raises(BadValue, match="no figure of chapter 'toy'. It has: yield"):
        CHAPTER.figure("yeld")
