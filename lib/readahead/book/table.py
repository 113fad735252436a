"""The model of a panel as a table, from which a page without a kernel answers its sliders.

The knobs of a chapter have millions of combinations. So in the book a slider has a few stops, and the knobs below 'More
knobs' stand still. At a stop the table has the model's own values. Between stops there is only the curve along a knob,
straight on log axes from one place to the next; `Table.errors` says how far it strays from the model there.

A table has a block for each combination of choices, because choices decide which knobs do anything.
"""

from __future__ import annotations

import base64
import bisect
import itertools
import math
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import numpy as np

from readahead import units
from readahead.devices import THIS_MACHINE
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.experiments.knobs import USUAL
from readahead.measure.calibrate import typical_costs
from readahead.models.estimate import Estimate
from readahead.panels.panel import knob_plan, places
from readahead.panels.state import axis, curve_places, published_mark, term_key, x_axis, y_axis

EVALUATIONS = 20_000
"""Of the model, about, for one table."""
MOST_CHOICES, LEAST_CHOICES = 6, 3
"""Of a long menu."""
LEAST_STOPS, MOST_STOPS = 2, 9
"""Of a slider, evenly from end to end."""
EVEN, MOST_PLACES = 17, 64
"""Places of a curve beside its stops: evenly spaced, and together with those that are added where it bends."""
USUAL_PLACES = 16
STEP, STEEP = 1.5, 4.0
"""A step of a curve is at least so many times up or down, and steeper than this power of its knob."""
BENT = 0.006
"""Where a curve strays so far from the model between two places, a place is added."""
LOOKED_AT = 36
"""Curves along a knob in a block that say where its places have to be."""
DRAWN = 500
"""Places at random at which the error is looked up."""


@contextmanager
def any_machine() -> Iterator[None]:
    """Let models take typical costs and one thread: the machine that makes a book has no say in its numbers."""
    with typical_costs(), mock.patch.dict(USUAL, threads=1):
        yield


# -- which settings the book knows -------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What can be chosen in the book, and where its sliders stop."""

    experiment: Experiment
    menus: Mapping[str, Sequence[str]]
    """The keys of every choice."""
    blocks: Mapping[str, Settings]
    """The settings after every combination of choices; that of the notebook is the first."""
    working: Mapping[str, Sequence[str]]
    """The sliders that do something in a block, wherever the others stand."""
    counts: Mapping[str, int]
    """How many stops a slider has, evenly from end to end; those left out stand still."""
    edges: Mapping[str, Sequence[Any]]
    """On both sides of a step in the curve of the first slider, if there is one."""

    def sliders(self, block: str) -> list[Knob]:
        """Return the sliders that move in a block; where none does anything, the first, for a level curve."""
        names = [name for name in self.working[block] if name in self.counts]
        return [self.experiment.knob(name) for name in names or [*self.counts][:1]]

    def stops(self, block: str) -> list[list[Any]]:
        """Return where they stop: evenly, where they stand in the block, and beside their steep step."""
        own, knobs = self.blocks[block], self.sliders(block)
        rows = [{*stops(knob, self.counts[knob.name]), *self.edges.get(knob.name, ())} for knob in knobs]
        return [sorted(row | {own[knob.name]}) for row, knob in zip(rows, knobs, strict=True)]

    @property
    def evaluations(self) -> int:
        """Return how often the model is asked, about."""
        lengths = [[len(row) for row in self.stops(block)] for block in self.blocks]
        return sum(math.prod(row) // one * USUAL_PLACES for row in lengths for one in row)


def name_of(settings: Settings, menus: Mapping[str, Any]) -> str:
    """Return what the block of these choices is called."""
    return " ".join(str(settings[name]) for name in menus)


def stops(knob: Knob, count: int) -> list[Any]:
    """Return so many places of a slider, evenly from end to end on a log scale."""
    every = places(knob)
    even = [every[np.abs(np.log(every / place)).argmin()] for place in knob.grid(count)]
    return sorted({knob.nearest(place) for place in even})


def edges(experiment: Experiment, settings: Settings, knob: Knob) -> list[Any]:
    """Return the two places between which the curve has its largest step, if it has one."""
    at = np.union1d(curve_places(knob, settings[knob.name]), knob.steps)
    up = np.abs(np.diff(np.log(experiment.curve(settings, knob.name, at))))
    number = int(up.argmax())
    beside = [knob.nearest(at[number]), knob.nearest(at[number + 1])]
    return beside if up[number] > max(math.log(STEP), STEEP * math.log(beside[1] / beside[0])) else []


def coarsest(experiment: Experiment, base: Settings, devices: int) -> Grid:
    """Return the grid of fewest stops, with so many devices."""
    seen = [knob for knob in experiment.knobs if not knob.folded]
    choices = [knob for knob in seen if knob.kind == "choice"]
    numbers = [knob for knob in seen if knob.kind != "choice"]
    most = {"device": devices}
    menus = {one.name: menu(experiment, base, one, most.get(one.name, MOST_CHOICES)) for one in choices}
    blocks, queue = {name_of(base, menus): base}, [base]
    for settings in queue:
        for name, key in ((name, key) for name, keys in menus.items() for key in keys):
            moved = experiment.follow({**settings, name: key}, name)
            if name_of(moved, menus) not in blocks:
                blocks[name_of(moved, menus)] = moved
                queue.append(moved)
    return Grid(
        experiment=experiment,
        menus=menus,
        blocks=blocks,
        working={name: working(experiment, settings, numbers) for name, settings in blocks.items()},
        counts={knob.name: LEAST_STOPS for knob in numbers},
        edges={knob.name: edges(experiment, base, knob) for knob in numbers[:1]},
    )


def menu(experiment: Experiment, base: Settings, knob: Knob, most: int) -> list[str]:
    """Return some keys of a choice: the notebook's own, those with published figures, and others between."""
    keys = [key for key in dict.fromkeys((*knob.choices, base[knob.name])) if key != THIS_MACHINE]
    names = [other.name for other in experiment.knobs if other.kind != "choice"]

    def is_printed(key: str) -> bool:
        there = experiment.follow({**base, knob.name: key}, knob.name)
        return any(experiment.published(there, name) for name in names)

    even = [keys[round(n)] for n in np.linspace(0, len(keys) - 1, most)]
    kept = list(dict.fromkeys([base[knob.name], *filter(is_printed, keys), *even]))[:most]
    return [key for key in keys if key in kept]


def working(experiment: Experiment, settings: Settings, knobs: Sequence[Knob]) -> list[str]:
    """Return the names of the knobs that do something, wherever the others stand."""
    names = [knob.name for knob in knobs]
    ends = [sorted({knob.low, settings[knob.name], knob.high}) for knob in knobs]
    every = [{**settings, **dict(zip(names, values, strict=True))} for values in itertools.product(*ends)]
    idle = set(names).intersection(*map(experiment.disabled, every))
    return [name for name in names if name not in idle]


def grid(experiment: Experiment, base: Settings, most: int = EVALUATIONS) -> Grid:
    """Return the finest grid that asks the model `most` times, about.

    Where even the coarsest would ask more there are fewer devices, and then the last sliders stand still.
    """
    for devices in (MOST_CHOICES, LEAST_CHOICES):
        found = coarsest(experiment, base, devices)
        if found.evaluations <= most:
            break
    while found.evaluations > most and len(found.counts) > 1:
        found = replace(found, counts=dict(list(found.counts.items())[:-1]))
    growing = list(found.counts)
    while growing:
        name = growing.pop(0)
        finer = replace(found, counts={**found.counts, name: found.counts[name] + 1})
        if finer.counts[name] <= MOST_STOPS and finer.evaluations <= most:
            found = finer
            growing.append(name)
    return found


# -- what is told of them ----------------------------------------------------------------------------
class Model:
    """The model of an experiment, asked once at each setting."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment
        self._known: dict[tuple[Any, ...], tuple[float, Estimate]] = {}

    def at(self, settings: Settings) -> tuple[float, Estimate]:
        """Return the throughput and the estimate."""
        key = tuple(settings.values())
        if key not in self._known:
            estimate = self.experiment.model(settings)
            self._known[key] = self.experiment.throughput(settings, estimate.seconds), estimate
        return self._known[key]

    def strays(self, settings: Settings, knob: Knob, left: Any, right: Any, at: Any) -> float:
        """Return how far the line between two places is off at one between them, as a share."""
        ends = [math.log(self.at({**settings, knob.name: place})[0]) for place in (left, right)]
        share = math.log(at / left) / math.log(right / left)
        line = math.exp(ends[0] + share * (ends[1] - ends[0]))
        return abs(line / self.at({**settings, knob.name: at})[0] - 1)


def curve_at(model: Model, knob: Knob, seen: Sequence[Settings], kept: Sequence[Any]) -> list[Any]:
    """Return the places of a curve, of those it has in the notebook: `kept`, a few even ones, more where it bends.

    It bends where one of the curves at `seen` does.
    """
    every = [knob.nearest(place) for place in np.union1d(curve_places(knob, kept[0]), kept)]
    even = np.linspace(0, len(every) - 1, EVEN).round().astype(int)
    found = sorted({*even, *(every.index(place) for place in kept)})
    while len(found) < MOST_PLACES:
        strayed = {}
        for left, right in itertools.pairwise(found):
            middle, ends = (left + right) // 2, (every[left], every[right])
            if middle > left:
                strayed[middle] = max(model.strays(one, knob, *ends, every[middle]) for one in seen)
        bent = sorted((middle for middle in strayed if strayed[middle] > BENT), key=strayed.__getitem__)
        if not bent:
            break
        found = sorted({*found, *bent[len(found) - MOST_PLACES :]})
    return [every[place] for place in found]


def numbers(values: Any) -> str:
    """Return a row of numbers as text: float32 in base64."""
    return base64.b64encode(np.asarray(values, "<f4").tobytes()).decode()


class Table:
    """The table of one panel, in the making; `told` is what a page reads."""

    def __init__(self, experiment: Experiment, base: Settings, most: int = EVALUATIONS) -> None:
        self.grid, self.model = grid(experiment, base, most), Model(experiment)
        self.names = list(self.grid.blocks)
        self._rng = random.Random(1)
        self._ends: dict[str, set[tuple[float, float]]] = {}
        self._most_s: set[int] = set()
        self._curves: list[tuple[Settings, Knob, Sequence[Any]]] = []
        blocks = [self._block(name) for name in self.names]
        self.errors = sorted(self._error(*self._rng.choice(self._curves)) for _ in range(DRAWN))
        """How far curves are off at places drawn at random, as shares."""
        knobs = [knob for knob in experiment.knobs if not knob.folded]
        plans = [self._plan(knob) for knob in knobs]
        plan = {"topic": experiment.topic, "title": experiment.title, "knobs": plans, "modeled_only": True}
        self.told = {
            "plan": plan,
            "kinds": {knob.name: knob.kind for knob in knobs},
            "defaults": {knob.name: knob.default for knob in knobs},
            "scales": units.SCALES,
            "colours": {term: term_key(term) for one in blocks for term in (*one["terms"], *one["hidden"])},
            "x_axes": {name: x_axis(experiment.knob(name)) for name in self.grid.counts},
            "y_axes": {unit: y_axes(ends, unit) for unit, ends in self._ends.items()},
            "terms_axes": [axis(0.0, float(f"{10 ** (n / 20):.4g}"), "s") for n in sorted(self._most_s)],
            "blocks": blocks,
        }

    def _plan(self, knob: Knob) -> dict[str, Any]:
        """Return the words of a knob; the stops of a slider are those of a block."""
        words = knob_plan(knob, knob.default)
        if knob.kind == "choice":
            return words | {"choices": [(key, knob.text(key)) for key in self.grid.menus[knob.name]]}
        return words | {"stops": [], "texts": []}

    def _block(self, name: str) -> dict[str, Any]:
        """Return what the table says of one combination of choices."""
        experiment, own = self.grid.experiment, self.grid.blocks[name]
        sliders, every = self.grid.sliders(name), self.grid.stops(name)
        names, unit = [knob.name for knob in sliders], experiment.unit(own)
        nodes = [{**own, **dict(zip(names, values, strict=True))} for values in itertools.product(*every)]
        estimates = [self.model.at(node)[1] for node in nodes]
        terms = list(dict.fromkeys(term for one in estimates for term in one.terms_s))
        hidden = list(dict.fromkeys(term for one in estimates for term in one.overlapped_s))
        for one in estimates:
            whole_s = max(one.seconds, sum(one.overlapped_s.values()))
            self._most_s.add(math.ceil(20 * math.log10(whole_s * 1.02)))
        idle = [experiment.disabled(node) for node in nodes]
        reasons = [one for number, one in enumerate(idle) if one not in idle[:number]]
        return {
            "choices": {choice: own[choice] for choice in self.grid.menus},
            "own": {k.name: own[k.name] for k in experiment.knobs if k.kind != "choice" and not k.folded},
            "fixed": [(k.name, own[k.name]) for k in experiment.knobs if k.folded and own[k.name] != k.default],
            "unit": unit,
            "sliders": names,
            "stops": every,
            "lines": [self._line(own, knob, row, nodes) for knob, row in zip(sliders, every, strict=True)],
            "terms": terms,
            "hidden": hidden,
            "seconds": numbers(
                [[one.terms_s.get(term, 0.0) for term in terms]
                 + [one.overlapped_s.get(term, 0.0) for term in hidden] for one in estimates]
            ),
            "idle": reasons,
            "idle_at": [reasons.index(one) for one in idle] if len(reasons) > 1 else [],
            "leads": self._leads(own),
        }  # fmt: skip

    def _line(
        self, own: Settings, knob: Knob, kept: Sequence[Any], nodes: Sequence[Settings]
    ) -> dict[str, Any]:
        """Return the curves along one knob, one for each combination of the other stops."""
        experiment = self.grid.experiment
        unit, printed = experiment.unit(own), experiment.published(own, knob.name)
        through = [node for node in nodes if node[knob.name] == kept[0]]
        seen = [own, *self._rng.sample(through, min(len(through), LOOKED_AT))]
        at = curve_at(self.model, knob, seen, kept)
        rates = np.array([[self.model.at({**node, knob.name: x})[0] for x in at] for node in through])
        for low, high in zip(rates.min(axis=1), rates.max(axis=1), strict=True):
            ends = [low, high, *(y for _, y, _ in printed)]
            self._ends.setdefault(unit, set()).add((min(ends), max(ends)))
        self._curves += [(node, knob, at) for node in through]
        return {"x": at, "y": numbers(rates), "marks": [published_mark(*one, unit) for one in printed]}

    def _error(self, settings: Settings, knob: Knob, at: Sequence[Any]) -> float:
        """Return how far a curve is off at a place drawn at random; whole ones are drawn as the notebook has them."""
        place = math.exp(self._rng.uniform(math.log(knob.low), math.log(knob.high)))
        if knob.whole:
            every = curve_places(knob, at[0])
            place = knob.nearest(every[np.abs(every - place).argmin()])
        after = bisect.bisect_left(at, place)
        return 0.0 if place in at else self.model.strays(settings, knob, at[after - 1], at[after], place)

    def _leads(self, own: Settings) -> dict[str, Any]:
        """Return the number of the block that is entered with each key of a choice, and by touching an idle slider."""

        def after(name: str, value: Any) -> int:
            moved = self.grid.experiment.follow({**own, name: value}, name)
            return self.names.index(name_of(moved, self.grid.menus))

        menus = {name: {key: after(name, key) for key in keys} for name, keys in self.grid.menus.items()}
        here = self.names.index(name_of(own, self.grid.menus))
        sliders = {name: after(name, own[name]) for name in self.grid.counts}
        return menus | {name: to for name, to in sliders.items() if to != here}


def y_axes(ends: Collection[tuple[float, float]], unit: str) -> list[dict[str, Any]]:
    """Return the axes on which curves of these ends fit, and one on which any two of them do; the narrowest first."""
    lows, highs = zip(*ends, strict=True)
    every = [y_axis(*one, unit) for one in (*ends, (min(lows), max(highs)))]
    found = {(one["low"], one["high"]): one for one in every}
    return sorted(found.values(), key=lambda one: float(one["high"] / one["low"]))
