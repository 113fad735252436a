"""What a leader may expect of each guess: the answer of the chapter's own model on three usual machines, and what the
chapter's law gives to somebody who leaves a part of it out.

No number depends on the machine that makes the page. Costs are the typical ones, the disk is one of `data/devices.csv`,
the cores are given, and the cache is empty, so that a model takes sizes from recipes and not from files that are there.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from readahead import devices, paths, units
from readahead.chapters import CONTENTS, Chapter, chapter
from readahead.commands.run import defaults
from readahead.errors import BadValue
from readahead.experiments.round import Applied, Study
from readahead.measure.calibrate import typical_costs
from readahead.measure.sample import this_machine
from readahead.questions.question import Prediction
from readahead.storage import page_cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A machine on which the workbook may run."""

    name: str
    disk: str
    """Its own disk, a device of the catalogue."""
    cores: int
    has_cold_runs: bool = True
    """Whether a program may empty the page cache of a file."""


PLACES = (
    Place(name="SSD laptop", disk="nvme", cores=8),
    Place(name="VM", disk="cloud-volume", cores=2),
    Place(name="no cold run", disk="nvme", cores=8, has_cold_runs=False),
)

BUILT: Mapping[str, Mapping[str, Any]] = {"elimination": {"flight": "Q3.2", "load": "generated"}}
"""Settings whose file must be there for the model: what a Bloom filter rules out is read off the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What is expected of one guess, in words."""

    answers: tuple[str, ...]
    """The model's answer in each of `PLACES`; one if it is the same everywhere, none if no model is asked."""
    wrong: tuple[str, ...]
    """What each of the usual wrong ideas comes to in the first place; nothing where no law computes it."""


@contextmanager
def at(place: Place, cache: str) -> Iterator[None]:
    """Let models take this place for the machine that they run on, with this folder as its cache."""
    changes: tuple[tuple[Any, str, Any], ...] = (
        (page_cache, "can_evict", lambda: place.has_cold_runs),
        (os, "sched_getaffinity", lambda _: set(range(place.cores))),
    )
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, READAHEAD_CACHE=cache))
        stack.enter_context(typical_costs())
        stack.callback(this_machine.cache_clear)
        for owner, name, instead in changes:
            stack.enter_context(mock.patch.object(owner, name, instead, create=owner is os))
        this_machine.cache_clear()
        own = devices.device(place.disk).but(name=devices.THIS_MACHINE)
        devices.save_calibrated(own)
        yield


def study(known: Chapter, place: Place) -> Study:
    """Return the study that a chapter's notebook opens there, with its parameters as they stand."""
    knobs = {knob.name for knob in known.experiment.knobs}
    usual = {"threads": max(1, place.cores - 1)} if "threads" in knobs else {}
    told = defaults(paths.NOTEBOOKS / known.place.notebook)
    given = {name: told[name] for name in knobs & told.keys() if told[name] is not None}
    return Study(known.experiment, **{**usual, **given})


@functools.cache
def expected() -> Mapping[tuple[str, str], Expected]:
    """Return what is expected of every guess, by topic and guess."""
    answers: dict[tuple[str, str], list[str]] = {}
    wrong: dict[tuple[str, str], tuple[str, ...]] = {}
    with tempfile.TemporaryDirectory() as cache:
        for place in PLACES:
            with at(place, cache):
                for known, asked, opened in _asked(place):
                    key = known.place.topic, asked.id
                    modeled = known.rounds[asked.id].modeled_value(opened)
                    said = answers.setdefault(key, [])
                    if modeled is not None:
                        said.append(_text(asked, modeled.median))
                    if key not in wrong:
                        wrong[key] = tuple(_wrong(known, asked, opened))
    return {
        key: Expected(answers=tuple(said[:1] if len(set(said)) == 1 else said), wrong=wrong[key])
        for key, said in answers.items()
    }


def _asked(place: Place) -> Iterator[tuple[Chapter, Prediction, Study]]:
    """Return every guess with its chapter, and the study that is open then."""
    for known in (chapter(row.topic) for row in CONTENTS):
        opened = study(known, place)
        if known.place.topic in BUILT:
            settings = opened.settings(**BUILT[known.place.topic])
            known.experiment.case(settings).build()  # type: ignore[attr-defined]
        for asked in known.predictions:
            yield known, asked, opened


def _text(asked: Prediction, answer: float) -> str:
    """Return an answer in two digits, or the word that it stands for."""
    return asked.choice_of(answer) if asked.choice_of else units.text(answer, asked.kind, digits=2)


def _wrong(known: Chapter, asked: Prediction, opened: Study) -> Iterator[str]:
    """Return what each wrong idea comes to."""
    for idea in asked.leader.get("wrong", ()):
        changes = idea.get("changes", {})
        yield _text(asked, law_with(known, asked.id, opened, changes)) if changes else idea.get("guess", "")


def law_with(known: Chapter, name: str, opened: Study, changes: Mapping[str, Any]) -> float:
    """Return what the law of a guess gives with some of its arguments changed.

    `one_s.latency_s` is an argument of a law that is itself an argument. Raises `BadValue` for a guess without a law,
    and for an argument that it does not have.
    """
    of = f"{known.place.topic}, guess {name!r}, leader"
    turn = known.rounds[name]
    if turn.law is None:
        raise BadValue(f"{of}: there is no law to change. Write the wrong guess in words, as guess.")
    law = turn.law(opened)
    for key, value in changes.items():
        law = _changed(law, key, value, of)
    return law.result


def _changed(law: Applied, key: str, value: Any, of: str) -> Applied:
    head, _, rest = key.partition(".")
    inner = law.arguments.get(head)
    if head not in law.arguments or (rest and not isinstance(inner, Applied)):
        raise BadValue(
            f"{of}: {key!r} is no argument of {law.function.__name__}: {', '.join(law.arguments)}."
        )
    now = _changed(inner, rest, value, of) if isinstance(inner, Applied) and rest else value
    return Applied(law.function, **{**law.arguments, head: now})
