"""Every chapter is held to print: what could have failed, what could not, and what no model is held against."""

from __future__ import annotations

import csv
import importlib
import math
import random
import re

import pytest

from readahead import paths, published
from readahead.chapters import CONTENTS, chapter
from readahead.experiments.residual import FAR, Residual, Tally
from tools import published_page
from tools.null_model import scatter
from tools.published_checks import checks

TOPICS = [place.topic for place in CONTENTS if place.topic in published.topics()]
EVERY = [(topic, one) for topic in published.topics() for one in published.figures(topic)]
NULL_IS_AS_GOOD = {
    "loading": "its model is the mean: the five changes of the network made no difference",
}
"""Chapters whose model does no better than a mean or a straight line through the other figures, and why."""
NOTHING_TO_HOLD_IT_TO = {"fragments", "read_ahead", "index_pages", "cache_tiers"}
"""Chapters with no two foretold figures of one kind, so that no null model can be made."""


def held(topic: str) -> list[Residual]:
    """A chapter's comparisons."""
    return list(tally(topic).residuals)


def tally(topic: str) -> Tally:
    """What a chapter's comparisons are worth."""
    found: Tally = importlib.import_module(f"readahead.chapters.{topic}.chapter").in_print()
    return found


@pytest.mark.parametrize("topic", TOPICS)
def test_what_was_fitted_or_chosen_is_named_and_leaves_degrees_of_freedom(topic: str) -> None:
    names = [*tally(topic).fitted, *tally(topic).chosen]
    assert len(set(names)) == len(names) and all(isinstance(name, str) and name for name in names)
    assert tally(topic).free >= bool(tally(topic).foretold)


@pytest.mark.parametrize("topic", TOPICS)
def test_what_is_far_off_is_told_with_what_is_known_of_why(topic: str) -> None:
    assert [one.name for one in held(topic) if one.error > FAR and not one.why] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_no_figure_is_compared_twice_in_a_chapter(topic: str) -> None:
    figures = [one.figure for one in held(topic)] + list(tally(topic).identities)
    assert len(set(figures)) == len(figures)


def test_a_figure_is_foretold_in_one_chapter_only() -> None:
    foretold = [one.figure for topic in TOPICS for one in tally(topic).foretold]
    assert len(set(foretold)) == len(foretold) > 110
    times = [one for one in foretold if one.name.startswith("total_s.")]
    assert len(times) == 10  # MariaDB's, of which three chapters speak


def test_every_figure_is_compared_or_stands_in_the_list_with_the_reason() -> None:
    compared = {one.figure for topic in TOPICS for one in held(topic)}
    compared |= {one for topic in TOPICS for one in tally(topic).identities}
    lost = [
        f"{topic}: {one.name}"
        for topic, one in EVERY
        if (one in compared) == bool(published_page.not_compared(one, topic))
    ]
    assert lost == []
    assert len(EVERY) == 427


def test_every_line_of_the_list_names_a_figure() -> None:
    path = published.FOLDER / "not_compared.csv"
    lines = published.rows(path, ["topic", "name", "reason"])
    reasons = {(topic, published_page.not_compared(one, topic)) for topic, one in EVERY}
    assert [line for line in lines if (line["topic"], line["reason"]) not in reasons] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_a_model_does_better_than_one_that_knows_nothing(topic: str) -> None:
    model, null = scatter(tally(topic))
    assert math.isnan(null) == (topic in NOTHING_TO_HOLD_IT_TO)
    assert math.isnan(null) or (model < 0.99 * null) == (topic not in NULL_IS_AS_GOOD)


@pytest.mark.parametrize("topic", TOPICS)
def test_an_identity_has_its_sum(topic: str) -> None:
    sums = [f"{one.left} {one.right} " for one in checks() if one.topic == topic]
    for one in tally(topic).identities:
        stands = re.compile(rf"(?<![\w.:]){re.escape(one.name)}(?![\w.])")
        assert any(stands.search(told) for told in sums), one.name


def test_a_misprint_is_no_success() -> None:
    misprints = {one.name for topic in TOPICS for one in tally(topic).identities if one.corrected is not None}
    assert misprints >= {"wide_elapsed_difference_share", "block_cache_bytes.dedicated"}


def raw(topic: str, name: str) -> dict[str, str]:
    """A figure as it stands in the file, read by nothing of ours."""
    with (published.FOLDER / f"{topic}.csv").open(encoding="utf-8", newline="") as lines:
        return next(row for row in csv.DictReader(lines) if row["name"] == name)


def test_twenty_figures_at_random_stand_on_the_page_as_in_their_file() -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")  # shown if it fails
    page = (paths.ROOT / "docs" / "published.md").read_text(encoding="utf-8")
    for topic, one in random.Random(seed).sample(EVERY, 20):
        row = raw(topic, one.name)
        assert (float(row["value"]), row["unit"], row["author"]) == (one.value, one.unit, one.author)
        part = page.partition(f"### {row['author']}: {row['title']}\n")[2].partition("\n### ")[0]
        [line] = [line for line in part.splitlines() if line.startswith(f"| {topic} | `{one.name}` |")]
        cells = re.split(r"(?<!\\) \| ", line.strip("| "))
        roles = [other.role for place in TOPICS for other in held(place) if other.figure == one]
        roles += ["identity" for place in TOPICS if one in tally(place).identities]
        assert cells[2] == row["printed"].replace("|", "\\|")
        assert cells[3] == published_page.text(one)
        assert cells[4] == (min(roles, key=published_page.ORDER.index) if roles else "not compared")


KINDS = {"count": ("count", "times"), "1": ("1", "times"), "pages": ("count",), "rows": ("rows", "count")}
"""The kinds of answer that a figure of a unit could be; any other unit is a kind itself."""


@pytest.mark.parametrize("topic", TOPICS)
def test_a_proof_sheet_does_not_tell_the_answer_of_an_exercise(topic: str) -> None:
    drawn = chapter(topic).figure("printed")(None)
    if not isinstance(drawn, Tally):
        return
    for exercise in chapter(topic).exercises:
        try:
            right = exercise.right_answer(None)
        except AttributeError:
            continue  # an answer of the learner's own study is in no document
        if not isinstance(right, float):
            continue
        for row in drawn.residuals:
            if exercise.shape.kind in KINDS.get(row.figure.unit, (row.figure.unit,)):
                for shown in (row.model, row.figure.value):
                    assert shown != pytest.approx(right, rel=0.005), f"{exercise.id} asks for {row.name}"


def test_the_sheet_of_the_row_groups_keeps_the_misprint_to_be_found() -> None:
    drawn = chapter("row_groups").figure("printed")(None)
    said = " ".join([drawn.sentence, *(cell for row in drawn.rows for cell in row)])
    assert "difference" not in said and "0.34" not in said and "0.0034" not in said


ROUNDS = [(topic, name, one) for topic in TOPICS for name, one in chapter(topic).rounds.items()]
BESIDE = [pytest.param(topic, name, id=f"{topic}-{name}") for topic, name, one in ROUNDS if one.beside]


def test_sixty_printed_figures_stand_beside_a_run() -> None:
    own = {figure for _, _, one in ROUNDS if one.measures for figure in one.published}
    ratios = {told.figure for _, _, one in ROUNDS for told in one.beside}
    print(f"{len(ratios)} as ratios, {len(own - ratios)} more in the unit of the question")
    assert len(ratios) >= 60


def test_every_line_of_the_ratios_belongs_to_a_round_that_measures() -> None:
    lines = published.rows(
        published.FOLDER / "beside.csv", ["topic", "round", "says", "figure", "over", "asked"]
    )
    assert sum(len(one.beside) for _, _, one in ROUNDS if one.measures) == len(lines)


@pytest.mark.parametrize(("topic", "name"), BESIDE)
def test_a_printed_ratio_is_one_and_is_told_apart_from_the_run(topic: str, name: str) -> None:
    one, says = chapter(topic).rounds[name], chapter(topic).prediction(name).differs
    assert says.endswith(".") and says.count(". ") <= 2
    assert len({told.says for told in one.beside}) == len(one.beside)
    for told in one.beside:
        assert told.figure.unit == (told.over.unit if told.over else told.figure.unit)
        assert told.over is not None or told.figure.unit in ("1", "count")  # never what another machine took
        assert told.figure.corrected is None and (told.over is None or told.over.corrected is None)
        assert not told.asked or told.asked in one.analogues


@pytest.mark.parametrize("topic", TOPICS)
def test_what_makes_ratios_differ_is_said_of_ratios_only(topic: str) -> None:
    known = chapter(topic)
    assert [p.id for p in known.predictions if bool(p.differs) != bool(known.rounds[p.id].beside)] == []
