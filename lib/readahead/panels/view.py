"""A photograph of the bench at one moment: where the knobs stand, what the model says there and along the knob
touched last, what was measured so far, what was published. Every chart, sentence and table is made from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from readahead import units
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.published import Figure

POINTS = 64
"""Of the modeled curve, beside the present value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One measurement, as the chart keeps it."""

    settings: Settings
    sample: Sample
    unit: str
    throughput: float
    low: float
    high: float
    seconds: float
    low_s: float
    high_s: float

    def fits(self, experiment: Experiment, settings: Settings, but: str) -> bool:
        """Return whether it was measured at `settings`, the knob `but` and those without effect apart."""
        idle = experiment.disabled(settings)
        return all(
            self.settings.get(name) == value
            for name, value in settings.items()
            if name != but and name not in idle
        )


def dot(experiment: Experiment, settings: Settings, sample: Sample) -> Dot:
    """Return a sample as a dot. The interval costs a bootstrap, so this belongs in the background."""
    low_s, high_s = sample.interval_s()
    seconds = sample.median_s
    return Dot(
        settings=dict(settings),
        sample=sample,
        unit=experiment.unit(settings),
        throughput=experiment.throughput(settings, seconds),
        low=experiment.throughput(settings, high_s),
        high=experiment.throughput(settings, low_s),
        seconds=seconds,
        low_s=low_s,
        high_s=high_s,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What there is to show now."""

    experiment: Experiment
    settings: Settings
    knob: Knob
    """The knob along the x axis."""
    estimate: Estimate
    xs: np.ndarray
    ys: np.ndarray
    """The modeled curve: the knob's values, and the throughput there."""
    y: float
    """The modeled throughput where the knobs stand."""
    unit: str
    dots: Sequence[Dot]
    """Those with this unit, oldest first."""
    published: Sequence[tuple[float, float, Figure]]

    @property
    def x(self) -> float:
        """Return where the knob stands."""
        return float(self.settings[self.knob.name])

    def fits(self, one: Dot) -> bool:
        """Return whether a dot lies on this curve."""
        return one.fits(self.experiment, self.settings, self.knob.name)

    @property
    def here(self) -> Dot | None:
        """Return the newest measurement at exactly these settings."""
        for one in reversed(self.dots):
            if one.settings[self.knob.name] == self.settings[self.knob.name] and self.fits(one):
                return one
        return None

    def y_text(self, throughput: float) -> str:
        """Write a throughput for people."""
        return units.text(throughput, self.unit)

    def swing(self) -> float:
        """Return by which factor this knob alone changes the modeled throughput, from end to end."""
        return float(self.ys.max() / self.ys.min())


def along(knob: Knob, here: float) -> np.ndarray:
    """Return where the curve is drawn: evenly on a log scale, and where the knob stands.

    A knob whose steps are all multiples of the least is only looked at there: between them nothing changes.
    """
    least = knob.steps[0] if knob.steps else 1.0 if knob.whole else 0.0
    if not least or any(step % least for step in knob.steps if step != knob.steps[-1]):
        return np.unique([*knob.grid(POINTS), here])
    whole = np.round(knob.grid(POINTS * 3 // 2) / least) * least
    return np.unique([knob.low, *whole[(whole > knob.low) & (whole < knob.high)], knob.high, here])


def look(experiment: Experiment, settings: Settings, name: str, dots: Sequence[Dot] = ()) -> View:
    """Take the photograph, with knob `name` along the x axis. Raises what the model raises."""
    knob = experiment.knob(name)
    xs = along(knob, settings[name])
    unit, estimate = experiment.unit(settings), experiment.model(settings)
    return View(
        experiment=experiment,
        settings=dict(settings),
        knob=knob,
        estimate=estimate,
        y=experiment.throughput(settings, estimate.seconds),
        xs=xs,
        ys=np.asarray(experiment.curve(settings, name, xs), float),
        unit=unit,
        dots=[one for one in dots if one.unit == unit],
        published=tuple(experiment.published(settings, name)),
    )


def opening(experiment: Experiment, **given: Any) -> dict[str, Any]:
    """Return the settings to begin with. None means the experiment's own, or that of the device given.

    A choice may set other knobs (a device its numbers), and so may a number that else would do nothing (rows to
    look up turn to lookups); what is given itself wins over that.
    Raises `BadValue` for an unknown knob and a value out of its range.
    """
    told = {name: value for name, value in given.items() if value is not None}
    checked = {name: experiment.knob(name).check(value) for name, value in told.items()}
    settings = experiment.settings()
    for knob in experiment.knobs:
        turned = {**settings, **checked}
        if knob.name in checked and (knob.kind == "choice" or knob.name in experiment.disabled(turned)):
            settings = experiment.follow({**settings, knob.name: checked[knob.name]}, knob.name)
    return experiment.settings(**{**settings, **checked})


def first_knob(experiment: Experiment, settings: Settings) -> str:
    """Return the knob to begin with: the first number that does something."""
    idle = experiment.disabled(settings)
    numbers = [knob.name for knob in experiment.knobs if knob.kind != "choice"]
    return next((name for name in numbers if name not in idle), numbers[0])
