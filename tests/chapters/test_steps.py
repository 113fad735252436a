"""Each chapter shows its mechanism step by step, on paper as on the screen, and as its laws have it."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from bs4 import BeautifulSoup

from readahead import paths
from readahead.chapters import CONTENTS, chapter
from readahead.experiments.round import Study
from readahead.experiments.steps import Steps
from readahead.panels.views import steps_html, steps_widget

TOPICS = [row.topic for row in CONTENTS]


def made(topic: str) -> Iterator[Steps]:
    opened = chapter(topic)
    study = Study(opened.experiment, repeats=1, size="tiny")
    return (opened.mechanism(name)(study) for name in opened.steps)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_chapter_has_steps_and_each_is_told_in_words(topic: str) -> None:
    every = list(made(topic))
    assert every
    for steps in every:
        assert 4 <= len(steps.frames) <= 40
        assert {tone for frame in steps.frames for lane in frame.lanes.values() for _, tone in lane} == set(
            steps.words
        )
        for frame in steps.frames:
            assert frame.says.endswith(".")
            assert len(frame.says) < 200
            assert all(name and boxes for name, boxes in frame.lanes.items())
        told = [steps.told(frame) for frame in steps.frames]
        assert all(one != other for one, other in itertools.pairwise(told))


@pytest.mark.parametrize("topic", TOPICS)
def test_screen_and_paper_say_the_same(topic: str) -> None:
    for steps in made(topic):
        sent: Any = steps_widget(steps).plan
        assert json.dumps(sent)
        paper = html.unescape(steps_html(steps))
        shown = [int(number) - 1 for number in re.findall(r"<figcaption>(\d+)\. ", paper)]
        assert 4 <= len(shown) <= 6
        assert shown[-1] == len(steps.frames) - 1
        for at in shown:
            assert sent["frames"][at]["says"] in paper
            assert sent["frames"][at]["told"] in paper
        boxes = [text for at in shown for lane in steps.frames[at].lanes.values() for text, _ in lane]
        drawn = BeautifulSoup(steps_html(steps), "html.parser").select("[role=img] span")
        assert [box.get_text() for box in drawn] == boxes


@pytest.mark.parametrize("topic", TOPICS)
def test_it_stands_below_words_that_lead_to_it(topic: str) -> None:
    row = next(row for row in CONTENTS if row.topic == topic)
    cells = json.loads((paths.NOTEBOOKS / row.notebook).read_text(encoding="utf-8"))["cells"]
    for above, cell in itertools.pairwise(cells):
        if "lesson.steps(" in "".join(cell["source"]):
            assert above["cell_type"] == "markdown"


# -- what a law decides ----------------------------------------------------------------------------------
def boxes(steps: Steps, lane: str, tone: str) -> list[list[str]]:
    return [[text for text, its in frame.lanes[lane] if its == tone] for frame in steps.frames]


def test_reads_fall_as_the_law_throws_them() -> None:
    from readahead.chapters.lookups import laws

    [steps] = made("lookups")
    last = [len(lane) for lane in steps.frames[-1].lanes.values()]
    assert last == laws.throw(10, 4, seed=5).tolist()
    assert len(steps.frames) == 10 + max(last)


def test_the_list_is_the_law_s() -> None:
    from readahead.chapters.cache_tiers import laws

    [steps] = made("cache_tiers")
    asked = [frame.lanes["Asked for"][0][0] for frame in steps.frames]
    expected = [[*holds] for _, _, holds in laws.lru(asked, room=3)]
    assert boxes(steps, "In the cache, used last to used longest ago", "done") == expected


def test_the_arm_takes_what_the_law_of_the_yield_says() -> None:
    from readahead.chapters.fragments import laws
    from readahead.chapters.fragments.chapter import PIECE_BYTES

    [steps] = made("fragments")
    base = Study(chapter("fragments").experiment, repeats=1, size="tiny").base
    disk = {name: base[name] for name in ("seek_s", "bandwidth_bytes_per_s")}
    spent = steps.frames[7].lanes["Time"]  # the end of the file in pieces
    by = {
        tone: sum(float(text.split()[0]) for text, its in spent if its == tone) for tone in ("work", "free")
    }
    kept = laws.yield_share(PIECE_BYTES, **disk)
    assert by["work"] / (by["work"] + by["free"]) == pytest.approx(kept, abs=0.01)


def test_zone_maps_lose_no_wanted_row() -> None:
    [steps] = made("elimination")
    last = steps.frames[-1].lanes
    assert [text for text, _ in last["Rows found"]] == ["10", "11", "12", "13"]
    for text, tone in last["Row groups"]:
        least, most = map(int, text.split("–"))
        assert (tone == "gone") == (most < 10 or least > 13)


def test_a_chain_is_read_page_by_page_and_what_is_known_together() -> None:
    [steps] = made("index_pages")
    chain = boxes(steps, "Pages of the file", "work")
    assert [len(pages) for pages in chain] == [1, 1, 1, 1, 4, 4]
    assert len(boxes(steps, "Pages of the file", "free")[-1]) == 0


def test_one_log_makes_one_commit_safe_at_a_time() -> None:
    [steps] = made("loading")
    at_the_log = boxes(steps, "Commits, in the order of the log", "work")
    assert max(map(len, at_the_log)) == 1
    assert at_the_log == boxes(steps, "Log", "work")
    assert len(boxes(steps, "Commits, in the order of the log", "done")[-1]) == 6


def test_the_coordinator_answers_when_the_last_node_is_done() -> None:
    [steps] = made("scale_out")
    sums = boxes(steps, "Coordinator", "done")
    assert [len(there) for there in sums].index(3) == len(steps.frames) - 1
    assert "answers" in steps.frames[-1].says
