"""Reads a chapter's `knobs.yaml`: what a learner can turn, with its words, its range, and when it does nothing.

Knobs that several topics have stand in `knobs.yaml` of this folder; a chapter's file says of them only what differs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from readahead.datasets.recipe import COMPRESSIONS, FORMATS, SIZES
from readahead.datasets.tables import TABLES
from readahead.devices import THIS_MACHINE, catalogue, device
from readahead.errors import DataError
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.measure.run import spare_threads
from readahead.paths import read_yaml
from readahead.units import SCALES

ExperimentT = TypeVar("ExperimentT", bound=Experiment)
DOUBLINGS = "doublings"
CHOICES = {
    "device": (*catalogue(), THIS_MACHINE),
    "dataset": tuple(TABLES),
    "size": SIZES,
    "format": FORMATS,
    "compression": COMPRESSIONS,
}
"""What may be chosen where it is not for the file to say."""


def knobs_of(chapter: str) -> tuple[Knob, ...]:
    """Return the knobs of `knobs.yaml` beside a chapter's file, in its order.

    A number may have a unit, such as 16 KiB. A default may also be the device whose number it is, or `usual`. Among
    `steps`, `doublings` are all powers of two times the lowest value. `idle` says when a knob does nothing, and why.
    Raises `DataError` that names the file and the knob.
    """
    return _read(Path(chapter).with_name("knobs.yaml"), _shared())


def experiment(kind: type[ExperimentT], chapter: str, title: str, **more: Any) -> ExperimentT:
    """Return the experiment of a chapter's file: its topic is the name of the folder, its knobs stand there too."""
    return kind(topic=Path(chapter).parent.name, title=title, knobs=knobs_of(chapter), **more)


@functools.cache
def _shared() -> Mapping[str, Knob]:
    return {one.name: one for one in _read(Path(__file__).with_name("knobs.yaml"), {})}


def _read(path: Path, known: Mapping[str, Knob]) -> tuple[Knob, ...]:
    found: list[Knob] = []
    told, name = read_yaml(path), "the file"
    try:
        for name, fields in told.items():
            found.append(_knob(name, fields, known))
    except (TypeError, ValueError, AttributeError, LookupError) as error:
        raise DataError(
            f"{path}, {name}: {error!r}. Mend it as in the files of other chapters, or take it from git again."
        ) from error
    return tuple(found)


def _knob(name: str, told: Mapping[str, Any], known: Mapping[str, Knob]) -> Knob:
    made = known.get(name) or Knob(name=name, label="", kind=told["kind"], default=None)
    fields: dict[str, Any] = {"choices": CHOICES.get(name, made.choices), **told}
    if isinstance(fields["choices"], Mapping):
        fields["labels"] = {key: words for key, words in fields["choices"].items() if words != key}
    if "default" in fields:
        fields["default"] = _value(made, fields["default"])
    if "range" in fields:
        fields["low"], fields["high"] = (_value(made, end) for end in fields.pop("range"))
    if "steps" in fields:
        low, high = fields.get("low", made.low), fields.get("high", made.high)
        steps = {_value(made, step) for step in fields["steps"] if step != DOUBLINGS}
        doublings = range(int(math.log2(high / low)) + 1) if DOUBLINGS in fields["steps"] else ()
        fields["steps"] = tuple(sorted(steps | {low * 2**n for n in doublings}))
    if "idle" in fields:
        fields["idle"] = functools.partial(_idle, fields["idle"])
    return replace(made, **{**fields, "choices": tuple(fields["choices"])})


def _value(of: Knob, told: Any) -> Any:
    """Return a choice as it is, and a number in SI units."""
    if told == "usual":
        return USUAL[of.name]
    if of.kind == "choice":
        return told
    number, _, word = str(told).partition(" ")
    if number in catalogue():
        value = getattr(device(number), of.name)
    else:
        value = float(number) * (SCALES[of.kind][word] if word else 1)
    return int(value) if of.whole else float(value)


def _idle(reasons: Sequence[Mapping[str, Any]], settings: Settings) -> str:
    """Return what is said for the first reason that holds: `when` all its settings are so, or `unless` they are."""

    def so(told: Mapping[str, Any]) -> bool:
        return all(
            settings.get(name) in (some if isinstance(some, list) else [some]) for name, some in told.items()
        )

    fits = (one for one in reasons if so(one.get("when", {})) and not ("unless" in one and so(one["unless"])))
    return next((str(one["says"]) for one in fits), "")


USUAL = {name: one.default for name, one in _shared().items()} | {
    "device": "nvme",
    "fragment_bytes": 0,
    "threads": spare_threads(),
}
"""What a setting is where no knob sets it, by name: a file in one piece, and all cores but one."""
