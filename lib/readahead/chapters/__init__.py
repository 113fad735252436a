"""The table of contents, found in the folder of notebooks, and a chapter as one value.

A chapter is `notebooks/NN_topic.ipynb` and the folder `chapters/topic/` beside this file; nothing else lists it.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from readahead import paths, published
from readahead.errors import BadValue, DataError
from readahead.experiments.claim import Claim
from readahead.experiments.experiment import Experiment
from readahead.experiments.figure import Drawing, captioned
from readahead.experiments.round import Round, Study, traces
from readahead.experiments.steps import Steps
from readahead.questions import words
from readahead.questions.question import GUESS_MINUTES, Exercise, Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One row of the table of contents."""

    number: int
    topic: str

    @property
    def notebook(self) -> str:
        """Return the file name of its notebook."""
        return f"{self.number:02}_{self.topic}.ipynb"

    @property
    def title(self) -> str:
        """Return the first heading of its notebook. Raises `DataError` if the notebook cannot be read."""
        path = paths.NOTEBOOKS / self.notebook
        found = re.search(r"^# +(.+)$", "".join(text for _, text in words.cells(path)[:1]), re.MULTILINE)
        if found is None:
            raise DataError(
                f"{path} has no title. Begin its first cell with '# Title', or restore it from git."
            )
        return found[1].strip()


def questions_file(topic: str) -> Path:
    """Return where the words of a topic's questions stand."""
    return Path(__file__).parent / topic / "questions.yaml"


def contents(notebooks: Path) -> tuple[Place, ...]:
    """Return the chapters of a folder, in reading order: notebooks `NN_topic.ipynb` of a topic with questions."""
    every = sorted(notebooks.glob("[0-9][0-9]_*.ipynb"))
    found = (Place(number=int(path.name[:2]), topic=path.stem[3:]) for path in every)
    return tuple(place for place in found if questions_file(place.topic).exists())


CONTENTS = contents(paths.NOTEBOOKS)
"""Every chapter."""


Paint = Callable[[Study], Drawing]
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A topic's experiment with what is asked and claimed about it."""

    place: Place
    experiment: Experiment
    rounds: Mapping[str, Round]
    predictions: tuple[Prediction, ...]
    claims: tuple[Claim, ...] = ()
    exercises: tuple[Exercise, ...] = ()
    figures: Mapping[str, Paint] = field(default_factory=dict)
    steps: Mapping[str, Callable[[Study], Steps]] = field(default_factory=dict)
    captions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Title, sentence and axes of figures, by name."""

    @property
    def minutes(self) -> int:
        """Return how many minutes a room takes for its predictions and exercises."""
        return GUESS_MINUTES * len(self.predictions) + sum(one.shape.minutes for one in self.exercises)

    def question(self, call: str, name: str) -> str:
        """Return the question of a `predict`, `claim` or `exercise`, as the notebook asks it, or nothing."""
        return words.asked(paths.NOTEBOOKS / self.place.notebook).get((call, name), "")

    def prediction(self, name: str) -> Prediction:
        """Return one prediction. Raises `BadValue` for a name that is none."""
        return self._named(name, {one.id: one for one in self.predictions}, "prediction")

    def claim(self, name: str) -> Claim:
        """Return one claim. Raises `BadValue` for a name that is none."""
        return self._named(name, {one.id: one for one in self.claims}, "claim")

    def exercise(self, name: str) -> Exercise:
        """Return one exercise. Raises `BadValue` for a name that is none."""
        return self._named(name, {one.id: one for one in self.exercises}, "exercise")

    def figure(self, name: str) -> Paint:
        """Return the function that makes one figure with its words. Raises `BadValue` for a name that is none."""
        paint = self._named(name, self.figures, "figure")
        return lambda study: captioned(paint(study), self.captions.get(name, {}))

    def mechanism(self, name: str) -> Callable[[Study], Steps]:
        """Return the function that makes the steps of one mechanism. Raises `BadValue` for a name that is none."""
        return self._named(name, self.steps, "mechanism")

    def _named(self, name: str, known: Mapping[str, _Item], what: str) -> _Item:
        if name not in known:
            has = ", ".join(known) or "none"
            raise BadValue(f"{name!r} is no {what} of chapter {self.place.topic!r}. It has: {has}.")
        return known[name]


def place(topic: str) -> Place:
    """Return a topic's row of the contents. Raises `BadValue` for a name that is none."""
    for row in CONTENTS:
        if row.topic == topic:
            return row
    raise BadValue(f"topic={topic!r} must be one of: {', '.join(row.topic for row in CONTENTS)}.")


def chapter(topic: str) -> Chapter:
    """Return a chapter, put together from the files of its folder.

    Raises `BadValue` for a topic that is not in the contents.
    """
    row = place(topic)
    told: Any = importlib.import_module(f"readahead.chapters.{topic}.chapter")
    entries = words.load(questions_file(topic))
    analogues = getattr(told, "ANALOGUES", {})
    return Chapter(
        place=row,
        experiment=told.EXPERIMENT,
        rounds={
            name: replace(one, beside=published.ratios(topic, name), analogues=analogues)
            for name, one in told.ROUNDS.items()
        },
        figures=_figures(told),
        steps=words.steps(entries["steps"], getattr(told, "STEPS", {})),
        predictions=words.predictions(entries["predictions"], told.ROUNDS),
        claims=words.claims(entries["claims"], getattr(told, "CLAIMS", {})),
        exercises=words.exercises(entries["exercises"], getattr(told, "ANSWERS", {})),
        captions=entries["figures"],
    )


def _figures(told: Any) -> dict[str, Paint]:
    """Return the chapter's figures, and that of what its models say of print, if they say anything."""
    found: dict[str, Paint] = {}
    if hasattr(told, "in_print"):
        found["printed"] = lambda _: told.in_print()
    for name, one in getattr(told, "FIGURES", {}).items():
        found[name] = one if callable(one) else functools.partial(traces, runs=one)
    return found
