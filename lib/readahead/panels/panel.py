"""The panel: a slider for each knob, the plots below them, and one sentence under it all.

While a slider moves, the model answers at once. When it has rested for a moment, DuckDB measures, in the
background; whoever moves it again meanwhile is never kept waiting, and the newest measurement wins.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from readahead.experiments.experiment import Experiment, Settings
from readahead.panels.background import Background, button
from readahead.panels.controls import Control, control
from readahead.panels.plots import CurvePlot, TimePlot
from readahead.panels.state import (
    MeasuredPoint,
    PanelState,
    first_knob,
    first_settings,
    measured_point,
    numbers_html,
    panel_state,
    sentence_html,
    static_html,
)

REST_S = 0.4
"""A slider that has not moved for so long is at rest."""
REPEATS = 3
"""Of a measurement while somebody watches."""
KEPT = 60
"""Measured points kept on the chart."""

_STYLE = """<style>
.readahead-panel { background:#fff; color:#1f2933; padding:6px 4px; max-width:1320px }
.readahead-panel .widget-label, .readahead-panel .widget-html-content { color:#1f2933 }
.readahead-panel .noUi-connect { background:#0072B2 }
.readahead-panel .noUi-handle:focus { outline:3px solid #E69F00; outline-offset:1px }
.readahead-panel .jupyter-widget-Collapse-header { padding:4px 10px }
.readahead-panel .js-plotly-plot, .readahead-panel .plot-container { width:100% }
.readahead-panel .readahead-why { color:#5f6b76; font-size:12px; padding-left:132px; display:block; line-height:1.3 }
.readahead-panel table { font-size:13px; margin:4px 8px }
.readahead-panel th, .readahead-panel td { line-height:1.5; padding:1px 14px 1px 0 !important }
</style>"""


class PanelWidget(widgets.VBox):  # type: ignore[misc]
    """What is displayed: the panel, and for readers without a kernel the same as static HTML."""

    panel: Panel

    def _repr_mimebundle_(self, **given: Any) -> Any:
        data: Any = super()._repr_mimebundle_(**given)
        bundle, rest = (data[0], data[1:]) if isinstance(data, tuple) else (data, None)
        bundle = {**bundle, "text/html": static_html(self.panel.state)}
        return bundle if rest is None else (bundle, *rest)


class Panel:
    """One experiment's panel; `widget` is what to display.

    Raises `BadValue` for settings that the experiment does not take.
    """

    def __init__(
        self,
        experiment: Experiment,
        *,
        measure: bool = True,
        repeats: int = REPEATS,
        on_settings: Callable[[Settings], None] | None = None,
        **settings: Any,
    ) -> None:
        self.experiment = experiment
        self.repeats = repeats
        self.settings: dict[str, Any] = first_settings(experiment, **settings)
        self.x_name = first_knob(experiment, self.settings)
        self.points: list[MeasuredPoint] = []
        self.background = Background()
        self._on_settings = on_settings
        self._lock = threading.RLock()  # callbacks come on two threads, results on a third
        self._timer: threading.Timer | None = None
        self.state: PanelState = panel_state(experiment, self.settings, self.x_name)
        self.controls: Mapping[str, Control] = {
            knob.name: control(knob, self.settings[knob.name], self.turn, self.background.fail)
            for knob in experiment.knobs
        }
        self.curve, self.time = CurvePlot(), TimePlot()
        auto = widgets.Layout(width="auto")
        self.auto = widgets.Checkbox(measure, indent=False, description="when a slider rests", layout=auto)
        self.auto.add_class("readahead-auto")
        look = {"button_style": "primary", "layout": widgets.Layout(width="104px")}
        self.measure_button = button("Measure", self.measure, tooltip="Run the query in DuckDB now", **look)
        self.measure_button.add_class("readahead-measure")
        self.sentence, self.numbers = widgets.HTML(), widgets.HTML()
        self._numbers_fold = _fold("The numbers", self.numbers)
        self._numbers_fold.observe(lambda _: self._unfolded(), names="selected_index")
        self.widget = self._assemble()
        self.draw()
        if measure:
            self.measure()

    # -- what the learner does -----------------------------------------------------------------------
    def turn(self, name: str, value: Any) -> None:
        """Turn a knob: everything follows at once, and a measurement begins when it rests."""
        with self._lock:
            before = self.settings
            try:
                self.settings = self.experiment.follow({**before, name: value}, name)
                self._choose_x(name)
                self.draw()
            except Exception as error:
                self.settings = before
                self.background.fail(error)
                self._show_controls()
                return
            if self.background.errors.value:
                self.background.errors.value = ""  # it was about another value
            self._rest()

    def measure(self) -> None:
        """Measure at the present settings, in the background."""
        with self._lock:
            settings = dict(self.settings)

        def work() -> MeasuredPoint:
            sample = self.experiment.measure(settings, repeats=self.repeats)
            return measured_point(self.experiment, settings, sample)

        self.background.start(work, self._measured)

    def close(self) -> None:
        """Stop everything; no thread is left."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        self.background.cancel()
        self.background.join()

    # -- what follows --------------------------------------------------------------------------------
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
            if self.auto.value:
                self.measure()
        except Exception as error:
            self.background.fail(error)

    def _measured(self, one: MeasuredPoint) -> None:
        with self._lock:
            self.points = [*self.points, one][-KEPT:]
            self.draw()

    def _choose_x(self, name: str) -> None:
        idle = self.experiment.disabled(self.settings)
        if self.experiment.knob(name).kind != "choice" and name not in idle:
            self.x_name = name
        elif self.x_name in idle:
            self.x_name = first_knob(self.experiment, self.settings)

    def draw(self) -> None:
        """Bring everything up to date. Raises what the model raises."""
        with self._lock:
            self.state = panel_state(self.experiment, self.settings, self.x_name, self.points)
            self.curve.draw(self.state)  # first what the eye follows
            self.time.draw(self.state, self.points[-1] if self.points else None)
            self._show_controls()
            self.sentence.value = sentence_html(self.state)
            self._show_numbers()

    def _show_numbers(self) -> None:
        """Write the tables, if somebody has unfolded them: they are the largest message of all."""
        if self._numbers_fold.selected_index is not None:
            self.numbers.value = numbers_html(self.state)

    def _unfolded(self) -> None:
        with self._lock:
            self._show_numbers()

    def _show_controls(self) -> None:
        idle = self.experiment.disabled(self.settings)
        for name, shown in self.controls.items():
            why = idle.get(name, "")
            shown.show(self.settings[name], why, off=bool(why) and not self._wakes(name))

    def _wakes(self, name: str) -> bool:
        """Return whether turning a knob that does nothing now makes it do something."""
        return name not in self.experiment.disabled(self.experiment.follow(self.settings, name))

    # -- how it is laid out --------------------------------------------------------------------------
    def _assemble(self) -> PanelWidget:
        shown = [knob for knob in self.experiment.knobs if not knob.folded]
        menus = [self.controls[knob.name].widget for knob in shown if knob.kind == "choice"]
        sliders = [self.controls[knob.name].widget for knob in shown if knob.kind != "choice"]
        folded = [self.controls[knob.name].widget for knob in self.experiment.knobs if knob.folded]
        row = widgets.Layout(align_items="center", grid_gap="10px", flex_flow="row wrap")
        top = [*menus, self.measure_button, self.auto, self.background.cancel_button]
        plots = [_sized(self.curve.figure, "1 1 550px"), _sized(self.time.figure, "1 1 390px")]
        widget = PanelWidget(
            [
                widgets.HTML(_STYLE, layout=widgets.Layout(display="none")),
                widgets.HBox(top, layout=row),
                _grid(sliders, "84px"),
                self.background.status,
                self.background.errors,
                widgets.HBox(plots, layout=widgets.Layout(flex_flow="row wrap")),
                self.sentence,
                *([_fold("More knobs", _grid(folded))] if folded else []),
                self._numbers_fold,
            ]
        )
        widget.panel = self
        widget.add_class("readahead-panel")
        return widget


def _grid(controls: list[Any], least: str = "0") -> widgets.Widget:
    """Lay controls out in two columns; `least` keeps room for a reason, so that the chart does not jump."""
    layout = widgets.Layout(
        min_height=least,
        align_content="flex-start",
        grid_template_columns="repeat(auto-fit, minmax(420px, 1fr))",
        grid_gap="2px 24px",
        width="100%",
    )
    return widgets.GridBox(controls, layout=layout)


def _sized(figure: Any, flex: str) -> widgets.Widget:
    return widgets.Box(
        [figure], layout=widgets.Layout(flex=flex, min_width="360px", overflow="hidden", display="block")
    )


def _fold(title: str, body: Any) -> widgets.Widget:
    fold = widgets.Accordion([body], selected_index=None)
    fold.set_title(0, title)
    return fold
