"""Every exercise of every chapter, with every kind of answer: untouched, each misconception, right, right in
other words, and rubbish. A new chapter is found by itself.
"""

from collections.abc import Iterator
from functools import cache

import pytest
from toybox import CHAPTER as TOY

from readahead.chapters import CONTENTS, Chapter, chapter, is_written
from readahead.experiments.round import Study
from readahead.questions.question import Exercise, Misconception, Outcome

CHAPTERS: tuple[Chapter, ...] = (TOY, *(chapter(row.topic) for row in CONTENTS if is_written(row.topic)))


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


@pytest.mark.parametrize(("topic", "exercise"), ALL)
def test_the_right_answer_in_other_words_is_right(topic: str, exercise: Exercise) -> None:
    study = study_of(topic)
    others = exercise.equivalents(study) if callable(exercise.equivalents) else exercise.equivalents
    assert others
    for other in others:
        assert exercise.check(other, study).right, other


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


@pytest.mark.parametrize("known", CHAPTERS, ids=lambda known: known.place.topic)
def test_names_in_a_chapter_are_used_once(known: Chapter) -> None:
    for items in (known.predictions, known.claims, known.exercises):
        names = [item.id for item in items]
        assert len(names) == len(set(names))
