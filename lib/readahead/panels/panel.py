"""The panel: a slider for each knob, the charts below them, and one sentence under it all.

While a slider moves, the model answers at once. When it has rested for a moment, DuckDB measures, in the
background; whoever moves it again meanwhile is never kept waiting, and the newest measurement wins.

The browser's part is panel.js. What it shows is state of the widget, of which only what changed is sent, in one
message; what the learner does comes back as one message a step: `{"turn": knob, "stop": 3}`, `{"do": "measure"}`.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import traitlets

from readahead import units
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.experiments.run import Run
from readahead.panels.background import HERE, PrintedWidget, Worker, script
from readahead.panels.markup import error_box
from readahead.panels.state import PanelState, browser_state, first_knob, numbers_html, reads, static_html
from readahead.questions.answers import read_amount

REST_S = 0.4
"""A slider that has not moved for so long is at rest."""
REPEATS = 3
"""Of a measurement while somebody watches."""
KEPT = 60
"""Measured points kept on the chart."""
STEPS = 96
"""Places at which a slider without steps of its own stops."""


class PanelWidget(PrintedWidget):
    """What is displayed: the panel, and for readers without a kernel the same as static HTML."""

    _esm = script(HERE / "panel.js")
    knobs = traitlets.Dict().tag(sync=True)
    axes = traitlets.Dict().tag(sync=True)
    line = traitlets.Dict().tag(sync=True)
    now = traitlets.Dict().tag(sync=True)
    marks: Any = traitlets.List().tag(sync=True)
    pinned = traitlets.Dict().tag(sync=True)
    """What is compared with the present, if anything: the words, the line and the place on it."""
    reads = traitlets.Dict().tag(sync=True)
    status = traitlets.Dict().tag(sync=True)
    """Of the measurement: a note, and the share that is done, or None when nothing runs."""
    error = traitlets.Unicode().tag(sync=True)
    numbers = traitlets.Unicode().tag(sync=True)
    auto = traitlets.Bool().tag(sync=True)
    answered = traitlets.Unicode().tag(sync=True)
    """The name of the newest message that was answered."""


class Panel:
    """One experiment's panel; `widget` is what to display.

    Raises `BadValue` for settings that the experiment does not take.
    """

    def __init__(
        self,
        experiment: Experiment,
        *,
        measure: bool = True,
        on_settings: Callable[[Settings], None] | None = None,
        **settings: Any,
    ) -> None:
        self.experiment = experiment
        self.settings: dict[str, Any] = experiment.turned(**settings)
        self.x_name = first_knob(experiment, self.settings)
        self.runs: list[Run] = []
        self.pinned: PanelState | None = None
        """A, with which the present settings are compared."""
        self._on_settings = on_settings
        self._lock = threading.RLock()  # messages come on two threads, results on a third
        self._timer: threading.Timer | None = None
        self._unfolded = False
        self.state: PanelState = PanelState(experiment, self.settings, self.x_name)
        knobs = [knob_plan(knob, self.settings[knob.name]) for knob in experiment.knobs]
        plan = {"topic": experiment.topic, "title": experiment.title, "knobs": knobs}
        self.widget = PanelWidget(plan=plan, auto=measure)
        self.widget.twin = lambda: static_html(self.state)
        self.widget.on_msg(lambda _, said, __: self.heard(said))
        self.background = Worker(self._show_status, self._show_error)
        self.draw()
        if measure:
            self.measure()

    # -- what the learner does -----------------------------------------------------------------------
    def heard(self, said: dict[str, Any]) -> None:
        """Do what a message from the browser says. An error in a callback is shown nowhere by itself."""
        cancel = self.background.cancel
        orders = {"measure": self.measure, "cancel": cancel, "pin": self.pin, "swap": self.swap}
        order = orders.get(said.get("do", ""))
        with nullcontext() if order else self._one_message():  # a worker that starts waits for the lock
            try:
                self.widget.answered = said.get("id", "")
                if order:
                    order()
                elif "turn" in said:
                    self.turn(said["turn"], said_value(self.experiment.knob(said["turn"]), said))
                if "auto" in said:
                    self.widget.auto = bool(said["auto"])
                if "unfolded" in said:
                    self._unfolded = bool(said["unfolded"])
                    self._show_numbers()
            except Exception as error:
                self._show_error(error)

    def turn(self, name: str, value: Any) -> None:
        """Turn a knob: everything follows at once, and a measurement begins when it rests."""
        with self._one_message():
            self._go(self.experiment.follow({**self.settings, name: value}, name), name)

    def pin(self) -> None:
        """Pin the present settings as A, to compare with what comes; or let go of those that are pinned."""
        with self._one_message():
            self.pinned = self.state if self.pinned is None else None
            self.draw()

    def swap(self) -> None:
        """Go back to the settings of A, and pin those that stood here till now."""
        with self._one_message():
            if self.pinned is not None:
                there, self.pinned = self.pinned, self.state
                self._go(dict(there.settings), there.knob.name)

    def _go(self, settings: dict[str, Any], name: str) -> None:
        """Go to other settings, of which `name` was turned; where the model cannot, nothing changes."""
        before = self.settings
        try:
            self.settings = settings
            self._choose_x(name)
            self.draw()
        except Exception:
            self.settings = before
            raise
        self._show_error(None)  # it was about another value
        self._rest()

    def measure(self) -> None:
        """Measure at the present settings, in the background."""
        with self._lock:
            settings = dict(self.settings)

        def work() -> Run:
            run = Run(self.experiment, settings, self.experiment.measure(settings, repeats=REPEATS))
            _ = run.throughput  # its interval costs a bootstrap: here, in the background
            return run

        self.background.start(work, self._measured)

    def close(self) -> None:
        """Stop everything; no thread is left."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        self.background.cancel()
        self.background.join()

    # -- what follows --------------------------------------------------------------------------------
    @contextmanager
    def _one_message(self) -> Iterator[None]:
        """Send what changes meanwhile as one message, and let nobody else change anything."""
        with self._lock, self.widget.hold_sync():
            yield

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(REST_S, self._rested)
        self._timer.daemon = True
        self._timer.start()

    def _rested(self) -> None:
        """Keep where the sliders stand, and measure there. An error in a timer is shown nowhere by itself."""
        try:
            if self._on_settings is not None:
                self._on_settings(self.settings)
            if self.widget.auto:
                self.measure()
        except Exception as error:
            self._show_error(error)

    def _measured(self, run: Run) -> None:
        with self._one_message():
            self.runs = [*self.runs, run][-KEPT:]
            self.widget.reads = reads(run.sample.reads)
            self.draw()

    def _choose_x(self, name: str) -> None:
        idle = self.experiment.disabled(self.settings)
        if self.experiment.knob(name).kind != "choice" and name not in idle:
            self.x_name = name
        elif self.x_name in idle:
            self.x_name = first_knob(self.experiment, self.settings)

    def draw(self) -> None:
        """Bring everything up to date. Raises what the model raises."""
        with self._one_message():
            state = PanelState(self.experiment, self.settings, self.x_name, self.runs, self.state)
            pinned = self.pinned
            if pinned is not None and (pinned.knob, pinned.runs) != (state.knob, state.runs):
                pinned = PanelState(self.experiment, pinned.settings, self.x_name, self.runs)
            knobs = knob_states(self.experiment, self.settings)
            charts = browser_state(state, self.runs[-1] if self.runs else None, pinned)
            # All of it or, after an error, nothing.
            self.state, self.pinned, self.widget.knobs = state, pinned, knobs
            for name, value in charts.items():
                setattr(self.widget, name, value)
            self._show_numbers()

    def _show_numbers(self) -> None:
        """Write the tables, if somebody has unfolded them: they are the largest message of all."""
        if self._unfolded:
            self.widget.numbers = numbers_html(self.state)

    def _show_status(self, note: str, share: float | None) -> None:
        with self._lock:
            if share is None and not note:  # nothing runs: what the learner should know meanwhile
                note = " ".join(self.experiment.doubts(self.settings))
            self.widget.status = {"note": note, "share": share}

    def _show_error(self, error: BaseException | None) -> None:
        with self._lock:
            self.widget.error = error_box(error)


# -- the knobs, as the browser is told of them -------------------------------------------------------
@functools.cache
def places(knob: Knob) -> np.ndarray:
    """Return the values at which a knob's slider stops, ends included, evenly spaced on a log scale. Change none."""
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


def knob_plan(knob: Knob, value: Any) -> dict[str, Any]:
    """Return what the browser needs to know of a knob once: its words, and its choices or its stops."""
    said = {"name": knob.name, "label": knob.label, "help": knob.help, "folded": knob.folded}
    if knob.kind == "choice":
        keys = dict.fromkeys((*knob.choices, value))
        return said | {"choices": [(key, knob.text(key)) for key in keys]}
    stops = places(knob).tolist()
    return said | {"stops": stops, "texts": [knob.text(stop) for stop in stops]}


def said_value(knob: Knob, said: Settings) -> Any:
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


def knob_states(experiment: Experiment, settings: Settings) -> dict[str, Any]:
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
