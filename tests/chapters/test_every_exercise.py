"""Every exercise of every chapter, with every kind of answer: untouched, each misconception, right, right in
other words, and rubbish. A new chapter is found by itself.
"""

import re
from collections.abc import Iterator
from functools import cache

import pytest
from toybox import CHAPTER as TOY

from readahead.chapters import CONTENTS, Chapter, chapter, questions_file
from readahead.experiments.round import Study
from readahead.questions import words
from readahead.questions.answers import Amount
from readahead.questions.question import Exercise, Misconception, Outcome, numbers_of

CHAPTERS: tuple[Chapter, ...] = (TOY, *(chapter(row.topic) for row in CONTENTS))


@cache
def study_of(topic: str) -> Study:
    found = next(known for known in CHAPTERS if known.place.topic == topic)
    knobs = {knob.name for knob in found.experiment.knobs}
    return Study(found.experiment, **({"size": "tiny"} if "size" in knobs else {}))


def _all() -> Iterator[tuple[str, Exercise]]:
    for known in CHAPTERS:
        for exercise in known.exercises:
            yield known.place.topic, exercise


ALL = [pytest.param(topic, exercise, id=f"{topic}-{exercise.id}") for topic, exercise in _all()]
IDEAS = [
    pytest.param(topic, exercise, idea, id=f"{topic}-{exercise.id}-{idea.name}".replace(" ", "_"))
    for topic, exercise in _all()
    for idea in exercise.misconceptions
]


@pytest.mark.parametrize(("topic", "exercise"), ALL)
@pytest.mark.parametrize("nothing", [None, "", [], ()], ids=repr)
def test_untouched_is_not_attempted_and_says_how_to_answer(
    topic: str, exercise: Exercise, nothing: object
) -> None:
    verdict = exercise.check(nothing, study_of(topic))
    assert verdict.outcome is Outcome.NOT_ATTEMPTED and verdict.why


@pytest.mark.parametrize(("topic", "exercise"), ALL)
def test_the_right_answer_is_right(topic: str, exercise: Exercise) -> None:
    study = study_of(topic)
    answer = exercise.answer(study) if callable(exercise.answer) else exercise.answer
    assert exercise.check(answer, study).right


@pytest.mark.parametrize("known", CHAPTERS[1:], ids=lambda known: known.place.topic)
def test_the_right_answer_in_other_words_is_right(known: Chapter) -> None:
    topic = known.place.topic
    entries = words.load(questions_file(topic))["exercises"]
    for exercise in known.exercises:
        others = entries[exercise.id].get("equivalents", ())
        assert not isinstance(exercise.shape, Amount) or callable(exercise.answer) or others
        for other in others:
            assert exercise.check(other, study_of(topic)).right, (exercise.id, other)


@pytest.mark.parametrize(("topic", "exercise", "idea"), IDEAS)
def test_each_misconception_is_wrong_by_its_name_with_its_hint(
    topic: str, exercise: Exercise, idea: Misconception
) -> None:
    study = study_of(topic)
    answer = idea.example(study) if callable(idea.example) else idea.example
    verdict = exercise.check(answer, study)
    assert verdict.outcome is Outcome.WRONG and verdict.why
    assert (verdict.misconception, verdict.hint) == (idea.name, idea.hint)


def case_name(rubbish: object) -> str:
    """Name a case the same in every process: a bare object's own text is its address."""
    return "object" if type(rubbish) is object else str(rubbish)


@pytest.mark.parametrize(("topic", "exercise"), ALL)
@pytest.mark.parametrize(
    "rubbish", ["??", object(), 7 + 2j, "8 furlongs/fortnight", float("nan")], ids=case_name
)
def test_rubbish_is_asked_back_and_never_called_wrong(
    topic: str, exercise: Exercise, rubbish: object
) -> None:
    verdict = exercise.check(rubbish, study_of(topic))
    assert verdict.outcome is Outcome.RAISED
    assert "error of ours" not in verdict.why and verdict.why.endswith(".")


@pytest.mark.parametrize(("topic", "exercise"), ALL)
def test_the_ladder_does_not_give_the_answer_away_at_once(topic: str, exercise: Exercise) -> None:
    right = exercise.shape.text(exercise.right_answer(study_of(topic)))
    assert exercise.hints[0] != exercise.solution
    assert right not in exercise.hints[0]
    assert len(set(exercise.hints)) == len(exercise.hints)


DRAWN = [
    pytest.param(known, exercise, id=f"{known.place.topic}-{exercise.id}")
    for known in CHAPTERS
    for exercise in known.exercises
    if exercise.numbers
]


def test_every_chapter_with_a_computed_answer_has_an_exercise_whose_numbers_are_drawn() -> None:
    computed = {
        known.place.topic for known in CHAPTERS[1:] for one in known.exercises if callable(one.answer)
    }
    drawn = {known.place.topic for known in CHAPTERS for one in known.exercises if one.numbers}
    assert computed <= drawn and len(drawn) >= 11


@pytest.mark.parametrize(("known", "exercise"), DRAWN)
def test_the_numbers_of_the_notebook_are_those_of_its_question_and_of_its_examples(
    known: Chapter, exercise: Exercise
) -> None:
    first = {name: written[0] for name, written in exercise.numbers.items()}
    asked = " ".join(known.question("exercise", exercise.id).split())
    assert len(set(first.values())) == len(first)
    for text in first.values():
        assert len(re.findall(rf"(?<![\w.,]){re.escape(text)}(?!\w|[.,]\d)", asked)) == 1, text
    numbers = numbers_of(first)
    for idea in exercise.misconceptions:
        if idea.id in exercise.computed.wrong:
            wrong, said = exercise.computed.wrong[idea.id](numbers), exercise.shape.read(idea.example)
            assert wrong == pytest.approx(said, rel=0.05), idea.name


@pytest.mark.parametrize(("known", "exercise"), DRAWN)
def test_fifty_draws_take_the_right_answer_and_know_each_wrong_one(
    known: Chapter, exercise: Exercise
) -> None:
    asked, before = known.question("exercise", exercise.id), ""
    for seed in range(1, 51):
        drawn = exercise.with_seed(seed)
        question = drawn.said(asked)
        assert question not in (asked, before), seed
        before = question
        right = drawn.shape.text(drawn.right_answer())
        assert drawn.check(right).right, (seed, right)
        assert not exercise.check(right).right, (seed, right)  # the notebook's answer is no answer here
        for idea in drawn.misconceptions:
            verdict = drawn.check(idea.example)
            assert verdict.outcome is Outcome.WRONG, (seed, idea.name)
            assert (verdict.misconception, verdict.hint) == (idea.name, idea.hint), (seed, idea.name)
        assert right not in drawn.hints[0] and len(set(drawn.hints)) == 3
    assert drawn.said(asked) == exercise.with_seed(50).said(asked) != exercise.with_seed(49).said(asked)


@pytest.mark.parametrize("known", CHAPTERS, ids=lambda known: known.place.topic)
def test_names_in_a_chapter_are_used_once(known: Chapter) -> None:
    for items in (known.predictions, known.claims, known.exercises):
        names = [item.id for item in items]
        assert len(names) == len(set(names))
