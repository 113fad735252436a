"""The table of contents and the notebooks, files and ids that hang on it."""

from dataclasses import replace

import pytest
from toybox import CHAPTER

from readahead.chapters import CONTENTS, chapter, is_written, place
from readahead.errors import BadValue


def test_numbers_run_and_topics_are_used_once() -> None:
    assert [row.number for row in CONTENTS] == list(range(len(CONTENTS)))
    assert len({row.topic for row in CONTENTS}) == len(CONTENTS)
    assert place("row_groups").notebook == "03_row_groups.ipynb"


def test_a_title_is_the_notebook_s_first_heading() -> None:
    assert place("start_here").title == "Start here: one chart, four knobs"
    assert len({row.title for row in CONTENTS}) == len(CONTENTS)


@pytest.mark.parametrize("row", CONTENTS, ids=lambda row: row.topic)
def test_a_written_topic_opens_and_another_says_that_it_is_not(row: object) -> None:
    topic = row.topic  # type: ignore[attr-defined]
    if is_written(topic):
        assert chapter(topic).experiment.topic == topic
    else:
        with pytest.raises(BadValue, match="not written yet"):
            chapter(topic)


def test_an_unknown_name_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadValue, match="'fragment' must be one of: start_here, fragments"):
        chapter("fragment")
    with pytest.raises(BadValue, match="no prediction of chapter 'toy'. It has: fetch, longer_rope"):
        CHAPTER.prediction("fetched")
    with pytest.raises(BadValue, match="no figure of chapter 'toy'. It has: yield"):
        CHAPTER.figure("yeld")


def test_a_prediction_without_its_round_is_refused() -> None:
    rounds = dict(CHAPTER.rounds)
    del rounds["fetch"]
    with pytest.raises(BadValue, match="fetch must be both a Prediction"):
        replace(CHAPTER, rounds=rounds)
