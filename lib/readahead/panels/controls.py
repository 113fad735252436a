"""The controls of a panel: a slider or a menu for each knob.

A slider moves by steps of about the same factor, says its value in the field's own units, and takes a typed value too
(`4 ms`, `64 KiB`). A control that does nothing says why.
"""

from __future__ import annotations

import html
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np

from readahead import units
from readahead.experiments.experiment import Knob
from readahead.questions import quantity

STEPS = 96
"""Places at which a slider without steps of its own stops."""

Turned = Callable[[str, Any], None]
Failed = Callable[[BaseException], None]


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


class Control(ABC):
    """One knob's control; `widget` is what to display."""

    def __init__(self, knob: Knob, value: Any, turned: Turned, failed: Failed) -> None:
        self.knob = knob
        self._turned, self._failed = turned, failed
        # Setting a slider calls its observers in this very thread: a mark of this thread alone cannot
        # swallow what the learner does meanwhile in the other.
        self._mine = threading.local()
        self.reason = widgets.HTML(layout=widgets.Layout(display="none"))
        self.fields = self._make_fields(value)
        row = widgets.HBox(self.fields, layout=widgets.Layout(align_items="center"))
        self.widget = widgets.VBox([row, self.reason])
        self.widget.add_class(f"readahead-knob-{knob.name}")

    @abstractmethod
    def _make_fields(self, value: Any) -> list[Any]:
        """Return the widgets that hold the value, which is `value` to begin with."""

    @abstractmethod
    def _set(self, value: Any) -> None:
        """Show a value in the fields."""

    def show(self, value: Any, why: str = "", *, off: bool = False) -> None:
        """Show a value without telling anybody, and why it does nothing; if `off`, take no other."""
        self._mine.showing = True
        try:
            self._set(value)
        finally:
            self._mine.showing = False
        for field in self.fields:
            if field.disabled != off:
                field.disabled = off
        said = f"<span class='readahead-why'>{html.escape(why)}</span>" if why else ""
        if self.reason.value != said:
            self.reason.value = said
            self.reason.layout.display = "" if why else "none"

    def _tell(self, read: Callable[[], Any]) -> None:
        """Pass on what the learner did. An error in a callback is shown nowhere by itself."""
        if getattr(self._mine, "showing", False):
            return
        try:
            self._turned(self.knob.name, read())
        except Exception as error:
            self._failed(error)


class Slider(Control):
    """A log slider with a field that shows its value and takes a typed one."""

    def _make_fields(self, value: Any) -> list[Any]:
        knob = self.knob
        self.places = places(knob)
        self.slider = widgets.IntSlider(
            min=0,
            max=len(self.places) - 1,
            value=self._nearest(value),
            readout=False,
            description=knob.label,
            tooltip=knob.help or knob.label,
            style={"description_width": "128px"},
            layout=widgets.Layout(flex="1 1 auto", min_width="220px"),
        )
        self.text = widgets.Text(
            value=knob.text(value),
            continuous_update=False,
            tooltip=f"{knob.label}: type a value and press Enter",
            layout=widgets.Layout(width="112px", flex="0 0 auto"),
        )
        self.slider.observe(
            lambda change: self._tell(lambda: self._number(self.places[change["new"]])), names="value"
        )
        self.text.observe(lambda change: self._tell(lambda: self._read(change["new"])), names="value")
        return [self.slider, self.text]

    def _set(self, value: Any) -> None:
        text, place = self.knob.text(value), self._nearest(value)
        if self.slider.value != place:
            self.slider.value = place
        if self.text.value != text:
            self.text.value = text

    def _number(self, number: float) -> Any:
        return round(number) if self.knob.whole else float(number)

    def _nearest(self, value: float) -> int:
        spread = np.log if self.places[0] > 0 else np.asarray
        return int(np.abs(spread(self.places) - spread(max(float(value), self.places[0]))).argmin())

    def _read(self, text: str) -> Any:
        """Return a typed value. Raises `BadValue` for one that the knob does not take."""
        read = quantity.read(text, self.knob.kind, units.base_word(self.knob.kind))
        return self.knob.check(self._number(float(f"{read:.12g}")))  # 4.1 × 0.001 is not quite 0.0041


class Menu(Control):
    """A choice."""

    def _make_fields(self, value: Any) -> list[Any]:
        knob = self.knob
        self.menu = widgets.Dropdown(
            options=[(knob.text(key), key) for key in dict.fromkeys((*knob.choices, value))],
            value=value,
            description=knob.label,
            tooltip=knob.help or knob.label,
            style={"description_width": "128px" if knob.folded else "initial"},
            layout=widgets.Layout(
                width="340px" if knob.folded else "auto", max_width="250px" if not knob.folded else None
            ),
        )
        self.menu.observe(lambda change: self._tell(lambda: change["new"]), names="value")
        return [self.menu]

    def _set(self, value: Any) -> None:
        if self.menu.value != value:
            self.menu.value = value


def control(knob: Knob, value: Any, turned: Turned, failed: Failed) -> Control:
    """Return the control that suits a knob."""
    make = Menu if knob.kind == "choice" else Slider
    return make(knob, value, turned, failed)
