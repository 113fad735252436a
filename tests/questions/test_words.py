"""A chapter's words are checked: a fault names file, id and field; ids of notebook, YAML and Python hang together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from readahead import units
from readahead.chapters import CONTENTS, chapter
from readahead.errors import BadValue, DataError
from readahead.experiments.claim import Sides
from readahead.experiments.round import Round
from readahead.questions import words
from readahead.questions.question import Computed

WRITTEN = [row.topic for row in CONTENTS]
EXERCISE = {
    "amount": {"kind": "s", "word": "ms"},
    "answer": "2 ms",
    "equivalents": ["0.002 s"],
    "misconceptions": [
        {"name": "a second", "example": "1 s", "hint": "Shorter."},
        {"id": "tenfold", "name": "ten times", "hint": "Divide."},
    ],
    "hints": ["One.", "Two.", "Three."],
    "solution": "Two milliseconds.",
}
CLAIM = {
    "left_name": "a",
    "right_name": "b",
    "relation": "within",
    "reasons": [{"says": "x", "when": "cold"}],
}
GOOD: dict[str, Any] = {
    "predictions": {"fetch": {"kind": "s", "low": 0.1, "high": 10}},
    "claims": {"same": CLAIM},
    "exercises": {"hole": EXERCISE},
}


def guide(**leader: Any) -> dict[str, Any]:
    """Return the words with something said for the leader's guide."""
    right = {
        "wrong": [{"idea": "x", "guess": "1 s"}, {"idea": "y", "changes": {"seek_s": 0}}],
        "debrief": "z",
    }
    return {**GOOD, "predictions": {"fetch": {"kind": "s", "leader": {**right, **leader}}}}


def written(tmp_path: Path, told: Any) -> Path:
    path = tmp_path / "questions.yaml"
    path.write_text(told if isinstance(told, str) else yaml.safe_dump(told), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ("predictions: [", "cannot be read"),
        ("[1, 2]", "the whole: "),
        ({"claims": {}}, "'predictions' is a required property"),
        ({**GOOD, "jokes": {}}, "'jokes' was unexpected"),
        ({**GOOD, "predictions": {"fetch": {"low": "tiny"}}}, "predictions.fetch.low: 'tiny' is not of type"),
        (
            {**GOOD, "predictions": {"fetch": {"kind": "parsec"}}},
            "predictions.fetch.kind: 'parsec' is not one of",
        ),
        (
            {**GOOD, "exercises": {"hole": {**EXERCISE, "amount": {"kind": "s", "tolerance": 20}}}},
            "tolerance: 20 is",
        ),
        (guide(debrief=" "), "predictions.fetch.leader.debrief: ' '"),
        (guide(debrief="word " * 60), "predictions.fetch.leader.debrief: "),
        (guide(wrong=[]), "predictions.fetch.leader.wrong: "),
        (guide(wrong=[{"idea": "x"}] * 2), "predictions.fetch.leader.wrong.0: "),
        (guide(wrong=[{"idea": "x", "changes": {}}] * 2), "predictions.fetch.leader.wrong.0"),
        ({**GOOD, "board": {"sketch": "x"}}, "board: 'says' is a required property"),
        ({**GOOD, "exercises": {"hole": {**EXERCISE, "hints": ["One."]}}}, "exercises.hole.hints: "),
        ({**GOOD, "exercises": {"hole": {**EXERCISE, "hints": ["1", " ", "3"]}}}, "hole.hints.1: ' '"),
        ({**GOOD, "exercises": {"hole": {**EXERCISE, "solution": " "}}}, "exercises.hole.solution: ' '"),
        ({**GOOD, "exercises": {"hole": {**EXERCISE, "misconceptions": []}}}, "hole.misconceptions: []"),
        ({**GOOD, "exercises": {"hole": {**EXERCISE, "equivalents": []}}}, "hole.equivalents: []"),
        (
            {**GOOD, "claims": {"same": {**CLAIM, "relation": "like"}}},
            "claims.same.relation: 'like' is not one of",
        ),
        ({**GOOD, "claims": {"same": {**CLAIM, "factor": 0}}}, "claims.same.factor: 0 is less than"),
        ({**GOOD, "claims": {"same": {**CLAIM, "tolerance": -1}}}, "claims.same.tolerance: -1 is less than"),
    ],
)
def test_a_fault_names_file_id_and_field(tmp_path: Path, told: Any, named: str) -> None:
    path = written(tmp_path, told)
    with pytest.raises(DataError) as caught:
        words.load(path)
    assert str(path) in str(caught.value) and named in str(caught.value)


def test_a_quantity_is_of_a_kind_that_can_be_written() -> None:
    schema = json.loads(words.SCHEMA.read_text(encoding="utf-8"))
    assert schema["$defs"]["kind"]["enum"] == list(units.SCALES)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"questions\.yaml cannot be read"):
        words.load(tmp_path / "questions.yaml")


def test_words_and_python_of_one_id_become_one_thing(tmp_path: Path) -> None:
    told = words.load(written(tmp_path, GOOD))
    assert words.predictions(told["predictions"], {"fetch": Round(model=lambda _: 1.0)})[0].high == 10
    sides = Sides(left=lambda _: 1.0, right=lambda _: 2.0, when={"cold": lambda *_: True})
    [claim] = words.claims(told["claims"], {"same": sides})
    assert claim.reasons[0].when is sides.when["cold"]
    computed = Computed(examples={"tenfold": lambda _: "20 ms"})
    [exercise] = words.exercises(told["exercises"], {"hole": computed})
    assert exercise.check("20 ms").misconception == "ten times"


def test_choices_stand_for_numbers_by_their_limits(tmp_path: Path) -> None:
    told = words.load(written(tmp_path, "predictions: {p: {choices: {none: 0.1, all: .inf, half: 0.7}}}"))
    [asked] = words.predictions(told["predictions"], {"p": Round(model=lambda _: 1.0)})
    assert asked.choices == ("none", "all", "half") and asked.choice_of is not None
    assert [asked.choice_of(share) for share in (0.0, 0.1, 0.7, 9e9, float("inf"))] == [
        "none", "half", "all", "all", "all",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (
            lambda told: words.predictions(told["predictions"], {}),
            "'fetch' stands in questions.yaml and not in Python",
        ),
        (
            lambda told: words.claims({}, {"other": None}),
            "'other' stands in Python and not in questions.yaml",
        ),
        (
            lambda told: words.claims(told["claims"], {"same": Sides(left=len, right=len)}),
            "condition of claim 'same' 'cold' stands in questions.yaml",
        ),
        (
            lambda told: words.exercises(told["exercises"], {}),
            "'ten times' of exercise 'hole' has no example",
        ),
        (
            lambda told: words.exercises(told["exercises"], {"hole": Computed(wrong={"tenth": len})}),
            "'tenth' is no misconception of exercise 'hole'. It has: tenfold",
        ),
        (
            lambda told: words.exercises(told["exercises"], {"hole": Computed(law=len)}),
            "numbers of exercise 'hole' in questions.yaml and their law in Python need each other",
        ),
        (
            lambda told: words.exercises({}, {"hole": Computed()}),
            "'hole' has a computed answer and no exercise",
        ),
        (
            lambda told: words.exercises(
                told["exercises"], {"hole": Computed(answer=len, examples={"tenfold": len})}
            ),
            "answer of exercise 'hole' must stand in questions.yaml or be computed in Python, and not both",
        ),
    ],
)
def test_ids_that_do_not_meet_are_named(tmp_path: Path, build: Any, says: str) -> None:
    told = words.load(written(tmp_path, GOOD))
    with pytest.raises(BadValue) as caught:
        build(told)
    assert says in str(caught.value)


@pytest.mark.parametrize("topic", WRITTEN)
def test_every_question_of_a_chapter_stands_in_its_notebook(topic: str) -> None:
    known = chapter(topic)
    asked = [("predict", one.id) for one in known.predictions]
    asked += [("claim", one.id) for one in known.claims] + [("exercise", one.id) for one in known.exercises]
    assert [one for one in asked if not known.question(*one)] == []


def test_a_question_is_the_labelled_cell_right_above_its_call(tmp_path: Path) -> None:
    def cell(kind: str, text: str) -> dict[str, object]:
        return {"cell_type": kind, "source": text.splitlines(keepends=True)}

    cells = [
        cell("markdown", "**Predict.** How long\ndoes it take?"), cell("code", 'lesson.predict("fetch")'),
        cell("markdown", "**Claim.** Alike."), cell("markdown", "More."), cell("code", 'lesson.claim("far")'),
        cell("markdown", "No label."), cell("code", 'lesson.exercise("bare")'),
    ]  # fmt: skip
    notebook = tmp_path / "n.ipynb"
    notebook.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert words.asked(notebook) == {("predict", "fetch"): "How long\ndoes it take?"}
    assert words.asked(tmp_path / "none.ipynb") == {}
    notebook.write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be read"):
        words.asked(notebook)
