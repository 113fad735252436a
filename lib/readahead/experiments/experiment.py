"""An experiment has knobs, a model, a measurement in DuckDB and published figures. A panel, a notebook, a sheet and a
test all talk to it this way, so that there is one panel and many experiments.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from readahead import paths, units
from readahead.errors import BadValue, did_you_mean, require_choice, require_range
from readahead.measure.calibrate import Calibration
from readahead.measure.sample import Sample, Value
from readahead.models.estimate import Estimate
from readahead.published import Figure

Settings = Mapping[str, Any]
"""The value of every knob, by name."""


DEVICE_OFF = 0.025
"""How far what an emulated device decides may lie from its model, as a share: seen on machines of 2 cores."""
OWN_OFF = 0.1
"""The same of what is this machine's own (`Estimate.own_s`), however steady its calibration was: a virtual machine is
slower in one hour than in another, and its control run does not always tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One thing a learner can turn. Its name is also the notebook's parameter and the setting's key."""

    name: str
    label: str
    kind: str
    """A kind of `units.SCALES`: s, bytes, bytes_per_s, rows, count; or 'choice'."""
    default: Any
    low: float = 0.0
    high: float = 0.0
    choices: tuple[str, ...] = ()
    """What may be chosen, for kind 'choice': short keys, which saved settings and notebook parameters hold."""
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The words for a key, where they differ from it; they are taken as well as the key."""
    pattern: str = ""
    """A regular expression of what else may be chosen, as it is given: an address, a path."""
    steps: tuple[float, ...] = ()
    """If given, the only values a slider stops at (powers of two, say); any value in range is allowed."""
    folded: bool = False
    """Whether it waits under 'More knobs'."""
    help: str = ""
    idle: Callable[[Settings], str] | None = None
    """Says why the knob does nothing at some settings, or nothing if it does something."""

    def check(self, value: Any) -> Any:
        """Return `value` as this knob's type. Raises `BadValue` that names the knob and its range."""
        if self.kind == "choice":
            keys = {label: key for key, label in self.labels.items()}
            key = keys.get(value, value) if isinstance(value, str) else value
            if not (self.pattern and isinstance(key, str) and re.fullmatch(self.pattern, key)):
                require_choice(self.name, key, self.choices, advice=self.help if self.pattern else "")
            return key
        advice = f"{self.label} goes from {self.text(self.low)} to {self.text(self.high)}."
        require_range(self.name, value, low=self.low, high=self.high, advice=advice)
        if self.whole and value != int(value):
            raise BadValue(
                f"{self.name}={value!r} must be whole. Give {math.floor(value)} or {math.ceil(value)}."
            )
        return int(value) if self.whole else float(value)

    def nearest(self, value: float) -> Any:
        """Return the value this knob can have that is nearest to a computed one."""
        within = min(max(float(value), self.low), self.high)
        return round(within) if self.whole else within

    @property
    def whole(self) -> bool:
        """Return whether it counts things that cannot be cut."""
        return self.kind in ("bytes", "rows", "count")

    def text(self, value: Any) -> str:
        """Write a value of this knob for people."""
        return self.labels.get(value, str(value)) if self.kind == "choice" else units.text(value, self.kind)

    def grid(self, points: int = 200) -> np.ndarray:
        """Return `points` values over the whole range, evenly spaced on a log scale."""
        return np.geomspace(self.low, self.high, points)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Experiment(ABC):
    """Knobs, a model, a measurement and published figures, for one topic."""

    topic: str
    title: str
    knobs: tuple[Knob, ...]
    calibrated_each: tuple[str, ...] = ()
    """Choices of which each has costs of its own."""

    # -- settings ----------------------------------------------------------------------------------
    def knob(self, name: str) -> Knob:
        """Return one knob. Raises `BadValue` for a name that is none."""
        known = {knob.name: knob for knob in self.knobs}
        if name not in known:
            meant = did_you_mean(name, known)
            raise BadValue(f"{name!r} is not a knob of {self.topic!r}. It has: {', '.join(known)}.{meant}")
        return known[name]

    def settings(self, **given: Any) -> dict[str, Any]:
        """Return the value of every knob: what is given, checked, and the defaults of the rest."""
        checked = {name: self.knob(name).check(value) for name, value in given.items()}
        return {knob.name: checked.get(knob.name, knob.default) for knob in self.knobs}

    def turned(self, begin: Settings | None = None, **given: Any) -> dict[str, Any]:
        """Return the settings, the defaults where none are given to begin with, after some knobs were turned.

        A choice may set other knobs (a device its numbers), and so may a number that else would do nothing (rows to
        look up turn to lookups); what is given itself wins over that, and None leaves a knob as it is. Raises
        `BadValue` for an unknown knob and a value out of its range.
        """
        settings = self.settings() if begin is None else dict(begin)
        told = {name: self.knob(name).check(value) for name, value in given.items() if value is not None}
        for knob in self.knobs:
            name = knob.name
            if name not in told:
                continue
            chosen = knob.kind == "choice" and told[name] != settings[name]
            if chosen or name in self.disabled({**settings, **told}):
                settings = self.follow({**settings, name: told[name]}, name)
        return {**settings, **told}

    def follow(self, settings: Settings, changed: str) -> dict[str, Any]:
        """Return the settings after `changed` was turned, where one knob sets others (a device its numbers)."""
        return dict(settings)

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Return the knobs that do nothing now, each with the reason to show."""
        reasons = {knob.name: knob.idle(settings) for knob in self.knobs if knob.idle}
        return {name: why for name, why in reasons.items() if why}

    # -- what the model takes from this machine ----------------------------------------------------
    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return what the model at these settings takes from this machine."""
        return ()

    def calibrate(self, settings: Settings | None = None, turns: int = 0) -> None:
        """Calibrate anew what the model takes from this machine, at these settings or the usual. Raises `Cancelled`.

        All runs are made in so many turns, 0 for as many as is usual. Of the knobs `calibrated_each` every choice is
        calibrated.
        """
        asked = settings or self.settings()
        each = [(name, choice) for name in self.calibrated_each for choice in self.knob(name).choices]
        turned = [asked, *({**asked, name: choice} for name, choice in each)]
        found = {one.name: one for now in turned for one in self.calibrations(now)}
        for one in found.values():
            one.run(turns)

    def ensure_calibrated(self, settings: Settings) -> None:
        """Calibrate what the model at these settings takes and was not calibrated since this machine was started."""
        for one in self.calibrations(settings):
            one.ensure()

    def doubts(self, settings: Settings) -> tuple[str, ...]:
        """Return why the model may be off because of its calibration, and what to do; nothing if it is steady."""
        return tuple(dict.fromkeys(filter(None, (one.doubt for one in self.calibrations(settings)))))[:1]

    def predicted(self, settings: Settings) -> Value:
        """Return the modeled time; its band is as wide as this machine's part may be off, a factor, and the device's.

        The machine's is as much as it strayed while it was calibrated, or as the runs of the calibration scatter, and
        `OWN_OFF`, their squares added; the device's is `DEVICE_OFF`.
        """
        estimate, calibrations = self.model(settings), self.calibrations(settings)
        off = math.hypot(max((one.off for one in calibrations), default=0.0), OWN_OFF)
        seconds, own_s = estimate.seconds, estimate.own_s
        waits_s = DEVICE_OFF * (seconds - own_s)
        low = seconds - own_s * (1 - 1 / (1 + off)) - waits_s
        return Value(median=seconds, low=low, high=seconds + own_s * off + waits_s)

    # -- the three sources of truth ----------------------------------------------------------------
    @abstractmethod
    def model(self, settings: Settings) -> Estimate:
        """Return the predicted time of the query, as named terms."""

    def counts(self, settings: Settings) -> dict[str, float]:
        """Return the `reads`, `bytes_read` and `row_groups` that the model expects, as far as it says.

        And `more_reads` and `moved_bytes` where the engine's own clock decides.
        """
        return {}

    def curve(self, settings: Settings, name: str, values: Iterable[float]) -> np.ndarray:
        """Return the model's throughput, in `unit`, with one knob at the nearest it can have to each of the values.

        Raises `BadValue` for a knob that is no number.
        """
        knob = self.knob(name)
        if knob.kind == "choice":
            raise BadValue(
                f"{name!r} is not a number, so there is no curve along it. Choose a knob with a range."
            )
        rates: dict[float, float] = {}
        places = [knob.nearest(value) for value in values]
        with paths.unchanged():
            for place in dict.fromkeys(places):
                at = {**settings, name: place}
                rates[place] = self.throughput(at, self.model(at).seconds)
        return np.array([rates[place] for place in places], float)

    @abstractmethod
    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the query in DuckDB. Raises `Cancelled` when asked to stop."""

    @abstractmethod
    def work(self, settings: Settings) -> float:
        """Return how much useful work the query does (bytes or rows): throughput is work / seconds."""

    @abstractmethod
    def unit(self, settings: Settings) -> str:
        """Return the kind of the throughput: 'bytes_per_s' or 'rows_per_s'."""

    def published(self, settings: Settings, name: str) -> Sequence[tuple[float, float, Figure]]:
        """Return the published points for a chart with knob `name` as its x axis: (x, throughput, figure)."""
        return ()

    def throughput(self, settings: Settings, seconds: float) -> float:
        """Return work / seconds."""
        return self.work(settings) / seconds


EMULATED, DISK_COLD, DISK_WARM = "emulated", "cold", "warm"
"""The keys of `where`: on the emulated device, or on this machine's own disk."""
