"""Reads a chapter's `questions.yaml`: what must not be seen before the learner has answered.

The question itself is Markdown of the notebook (see `asked`); answers that are computed, and the two sides of a claim,
are Python under the same id. Here the three are put together.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from readahead import paths
from readahead.errors import BadValue, DataError
from readahead.experiments.claim import Claim, Reason, Sides
from readahead.experiments.round import Round, Study
from readahead.experiments.steps import Frame, Steps
from readahead.questions.answers import Amount, Choice, Order, Several, Shape
from readahead.questions.question import Computed, Exercise, Misconception, Prediction, numbers_of

SCHEMA = Path(__file__).with_name("questions.schema.json")
Entries = Mapping[str, Mapping[str, Any]]
Frames = Callable[[Study], Iterable[Frame]]


def load(path: Path) -> dict[str, Entries]:
    """Return the entries of a `questions.yaml` by kind (predictions, claims, exercises and so on) and id.

    Raises `DataError` that names the file, the id and the field.
    """
    told = paths.read_yaml(path)
    if fault := paths.schema_fault(told, SCHEMA):
        raise DataError(f"{path}, {fault}. What may stand there is told in {SCHEMA.name}.")
    kinds = ("predictions", "claims", "exercises", "figures", "steps", "agendas", "board")
    return {kind: told.get(kind) or {} for kind in kinds}


def predictions(entries: Entries, rounds: Mapping[str, Round]) -> tuple[Prediction, ...]:
    """Return the predictions. Raises `BadValue` unless each has a round and each round a prediction."""
    _require_same("prediction", entries, rounds)
    found = []
    for name, entry in entries.items():
        limits = entry.get("choices", {})
        choice_of = functools.partial(_word, limits) if limits else None
        found.append(Prediction(**{**entry, "id": name, "choices": tuple(limits), "choice_of": choice_of}))
    return tuple(found)


def _word(limits: Mapping[str, float], number: float) -> str:
    """Return the word with the smallest limit above `number`."""
    return min((limit, word) for word, limit in limits.items() if number < limit or limit == math.inf)[1]


def claims(entries: Entries, sides: Mapping[str, Sides]) -> tuple[Claim, ...]:
    """Return the claims with both their sides. Raises `BadValue` unless ids and conditions agree."""
    _require_same("claim", entries, sides)
    found = []
    for name, entry in entries.items():
        both, told = sides[name], entry.get("reasons", ())
        used = {reason["when"] for reason in told if "when" in reason}
        _require_same(f"condition of claim {name!r}", used, both.when)
        reasons = tuple(
            Reason(**{**reason, "when": both.when[reason["when"]]} if "when" in reason else reason)
            for reason in told
        )
        more = {"id": name, "left": both.left, "right": both.right, "reasons": reasons}
        found.append(Claim(**{**entry, **more}))
    return tuple(found)


def steps(entries: Entries, makers: Mapping[str, Frames]) -> dict[str, Callable[[Study], Steps]]:
    """Return what makes each mechanism, with its title and words. Raises `BadValue` unless ids agree."""
    _require_same("mechanism", entries, makers)
    return {name: functools.partial(_steps, entries[name], make) for name, make in makers.items()}


def _steps(entry: Mapping[str, Any], make: Frames, study: Study) -> Steps:
    return Steps(title=entry["title"], words=entry["words"], frames=tuple(make(study)))


def exercises(entries: Entries, computed: Mapping[str, Computed]) -> tuple[Exercise, ...]:
    """Return the exercises with their computed answers. Raises `BadValue` for an answer without an exercise."""
    for name in set(computed) - set(entries):
        raise BadValue(f"{name!r} has a computed answer and no exercise. Give both the same id.")
    return tuple(_exercise(name, entry, computed.get(name, Computed())) for name, entry in entries.items())


def _exercise(name: str, entry: Mapping[str, Any], computed: Computed) -> Exercise:
    of = f"of exercise {name!r}"
    numbers = entry.get("numbers", {})
    if bool(numbers) == (computed.law is None):
        raise BadValue(f"numbers {of} in questions.yaml and their law in Python need each other.")
    law = computed.law(numbers_of({key: told[0] for key, told in numbers.items()})) if computed.law else None
    right = law.result if law else computed.answer
    if ("answer" in entry) == (right is not None):
        raise BadValue(f"answer {of} must stand in questions.yaml or be computed in Python, and not both.")
    known = {idea["id"] for idea in entry["misconceptions"] if "id" in idea}
    for lost in {*computed.examples, *computed.wrong} - known:
        raise BadValue(f"{lost!r} is no misconception {of}. It has: {', '.join(sorted(known)) or 'none'}.")
    ideas = []
    for idea in entry["misconceptions"]:
        rest, key = dict(idea), idea.get("id", "")
        rest |= {"example": computed.examples[key]} if key in computed.examples else {}
        if "example" not in rest:
            raise BadValue(
                f"Misconception {idea['name']!r} {of} has no example. Write what a learner answers."
            )
        ideas.append(Misconception(**rest))
    return Exercise(
        id=name,
        shape=_shape(entry),
        answer=entry.get("answer", right),
        misconceptions=tuple(ideas),
        hints=tuple(entry["hints"]),
        solution=entry["solution"],
        numbers=numbers,
        computed=computed,
        law=law,
    )


def _shape(entry: Mapping[str, Any]) -> Shape:
    if "amount" in entry:
        return Amount(**entry["amount"])
    for kind, shape in (("choice", Choice), ("several", Several)):
        if kind in entry:
            return shape(options=tuple(entry[kind]))
    return Order(**{**entry["order"], "options": tuple(entry["order"]["options"])})


def _require_same(what: str, told: Iterable[str], known: Iterable[str]) -> None:
    for name in set(told) ^ set(known):
        where, missing = ("questions.yaml", "Python") if name in told else ("Python", "questions.yaml")
        raise BadValue(f"{what} {name!r} stands in {where} and not in {missing}. Give both the same id.")


_CALL = re.compile(r"^\s*lesson\.(predict|claim|exercise)\(\s*[\"'](\w+)[\"']", re.MULTILINE)
_LABEL = re.compile(r"^\*\*(?:Predict|Claim|Exercise)\.\*\*\s*")


def cells(notebook: Path) -> list[tuple[str, str]]:
    """Return the kind and the text of each cell of a notebook. Raises `DataError` if it cannot be read."""
    try:
        return [(cell["cell_type"], "".join(cell["source"])) for cell in paths.read_json(notebook)["cells"]]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise DataError(f"{notebook} cannot be read: {error}. Take it from git again.") from error


def asked(notebook: Path) -> dict[tuple[str, str], str]:
    """Return the question above each `lesson.predict/claim/exercise("id")` of a notebook, by (call, id), as Markdown.

    A question is the Markdown cell directly above the call that begins with **Predict.**, **Claim.** or **Exercise.**
    A notebook that is not there asks nothing.
    """
    if not notebook.exists():
        return {}
    found = {}
    for (above, question), (kind, text) in pairwise(cells(notebook)):
        call = _CALL.match(text)
        if (above, kind) == ("markdown", "code") and call and _LABEL.match(question):
            found[call[1], call[2]] = _LABEL.sub("", question).strip()
    return found
