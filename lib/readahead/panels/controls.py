"""The controls of a panel as the browser is told of them: where a slider stops, what it says, what may be typed."""

from __future__ import annotations

from typing import Any

import numpy as np

from readahead import units
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.questions.answers import read_amount

STEPS = 96
"""Places at which a slider without steps of its own stops."""


def places(knob: Knob) -> np.ndarray:
    """Return the values at which a knob's slider stops, ends included, evenly spaced on a log scale."""
    if knob.steps:
        return np.asarray(knob.steps, float)
    if knob.low <= 0:
        return np.linspace(knob.low, knob.high, STEPS)
    grid = np.geomspace(knob.low, knob.high, STEPS)
    if knob.kind == "bytes":
        inner = 2.0 ** (np.round(np.log2(grid) * 4) / 4)
        inner = np.round(inner / units.KiB) * units.KiB if knob.low >= 16 * units.KiB else np.round(inner)
    else:
        inner = np.array([float(f"{value:.2g}") for value in grid])
    if knob.kind in ("rows", "count"):
        inner = np.round(inner)
    inner = inner[(inner > knob.low) & (inner < knob.high)]
    return np.unique(np.concatenate([[knob.low], inner, [knob.high]]))


def plan(knob: Knob, value: Any) -> dict[str, Any]:
    """Return what the browser needs to know of a knob once: its words, and its choices or its stops."""
    said = {"name": knob.name, "label": knob.label, "help": knob.help, "folded": knob.folded}
    if knob.kind == "choice":
        keys = dict.fromkeys((*knob.choices, value))
        return said | {"choices": [(key, knob.text(key)) for key in keys]}
    stops = places(knob).tolist()
    return said | {"stops": stops, "texts": [knob.text(stop) for stop in stops]}


def read(knob: Knob, said: Settings) -> Any:
    """Return the value that the learner gave: `choice`, `stop` of the slider, or `text`, such as `4 ms`.

    Raises `BadValue` for one that the knob does not take.
    """
    if "choice" in said:
        return knob.check(said["choice"]) if said["choice"] in knob.choices else said["choice"]
    if "stop" in said:
        number = float(places(knob)[said["stop"]])
    else:
        typed = read_amount(said["text"], knob.kind, units.base_word(knob.kind))
        number = float(f"{typed:.12g}")  # 4.1 × 0.001 is not quite 0.0041
    return knob.check(round(number) if knob.whole else number)


def shown(experiment: Experiment, settings: Settings) -> dict[str, Any]:
    """Return how every knob stands: its value in words, its slider's stop, why it does nothing, whether it is off."""
    idle, found = experiment.disabled(settings), {}
    for knob in experiment.knobs:
        value, why = settings[knob.name], idle.get(knob.name, "")
        off = bool(why) and knob.name in experiment.disabled(experiment.follow(settings, knob.name))
        place = {"choice": value} if knob.kind == "choice" else {"stop": _nearest(places(knob), value)}
        found[knob.name] = {**place, "text": knob.text(value), "why": why, "off": off}
    return found


def _nearest(stops: np.ndarray, value: float) -> int:
    spread = np.log if stops[0] > 0 else np.asarray
    return int(np.abs(spread(stops) - spread(max(float(value), stops[0]))).argmin())
