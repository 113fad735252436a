"""What the panel shows at one moment: the settings, the model, what was measured so far, what was published.

Every chart, sentence and table of the panel is made from it, with a kernel or without one.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readahead import units
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.experiments.figure import Axis, Line, Picture
from readahead.measure.sample import Sample, Value, seconds
from readahead.models.estimate import Estimate
from readahead.panels.chart import chart
from readahead.panels.markup import bullets, folded, table
from readahead.published import Figure

POINTS = 64
"""Of the modeled curve, beside the present value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPoint:
    """One measurement, as the chart keeps it."""

    settings: Settings
    sample: Sample
    time: Value
    throughput: Value
    unit: str
    """Of the throughput."""


def measured_point(experiment: Experiment, settings: Settings, sample: Sample) -> MeasuredPoint:
    """Return a sample as a point. The interval costs a bootstrap, so this belongs in the background."""
    time = seconds(sample)
    return MeasuredPoint(
        settings=dict(settings),
        sample=sample,
        time=time,
        throughput=time.inverse(experiment.work(settings)),
        unit=experiment.unit(settings),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelState:
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
    """The modeled throughput at the settings."""
    unit: str
    points: Sequence[MeasuredPoint]
    """Those with this unit, oldest first."""
    published: Sequence[tuple[float, float, Figure]]

    @property
    def x(self) -> float:
        """Return the knob's value."""
        return float(self.settings[self.knob.name])

    def x_of(self, point: MeasuredPoint) -> float:
        """Return the knob's value at which a point was measured."""
        return float(point.settings[self.knob.name])

    def fits(self, point: MeasuredPoint) -> bool:
        """Return whether a point lies on this curve: only its knob and knobs without effect may stand elsewhere."""
        free = {self.knob.name, *self.experiment.disabled(self.settings)}
        return all(
            point.settings.get(name) == value for name, value in self.settings.items() if name not in free
        )

    @property
    def here(self) -> MeasuredPoint | None:
        """Return the newest measurement at exactly these settings."""
        mine = self.settings[self.knob.name]
        found = (one for one in reversed(self.points) if one.settings[self.knob.name] == mine)
        return next((one for one in found if self.fits(one)), None)

    def y_text(self, throughput: float) -> str:
        """Write a throughput for people."""
        return units.text(throughput, self.unit)


def panel_state(
    experiment: Experiment, settings: Settings, name: str, points: Sequence[MeasuredPoint] = ()
) -> PanelState:
    """Return what there is to show, with knob `name` along the x axis. Raises what the model raises."""
    knob = experiment.knob(name)
    xs = curve_places(knob, settings[name])
    unit, estimate = experiment.unit(settings), experiment.model(settings)
    return PanelState(
        experiment=experiment,
        settings=dict(settings),
        knob=knob,
        estimate=estimate,
        y=experiment.throughput(settings, estimate.seconds),
        xs=xs,
        ys=np.asarray(experiment.curve(settings, name, xs), float),
        unit=unit,
        points=[one for one in points if one.unit == unit],
        published=tuple(experiment.published(settings, name)),
    )


def curve_places(knob: Knob, here: float) -> np.ndarray:
    """Return where the curve is drawn: at least `POINTS` places on a log scale, if there are so many, and `here`.

    A knob whose steps are all multiples of the least is looked at there, if that is enough: a row group has whole
    vectors of rows.
    """
    least = knob.steps[0] if knob.steps else 1.0
    even = knob.whole and not any(step % least for step in knob.steps)
    for step in (least, 1.0) if even else ():
        for many in (1.5, 2, 3, 6, 16):
            whole = np.round(knob.grid(int(many * POINTS)) / step) * step
            places = np.unique(np.clip(whole, knob.low, knob.high))
            if len(places) >= min(POINTS, knob.high - knob.low + 1):
                return np.union1d(places, here)
    return np.union1d(knob.grid(POINTS), here)


def first_knob(experiment: Experiment, settings: Settings) -> str:
    """Return the knob to begin with: the first number that does something."""
    idle = experiment.disabled(settings)
    numbers = [knob.name for knob in experiment.knobs if knob.kind != "choice"]
    return next((name for name in numbers if name not in idle), numbers[0])


# -- in words ---------------------------------------------------------------------------------------
def _percent(share: float) -> str:
    return units.text(share, "1", 2)


def _measured(state: PanelState, point: MeasuredPoint) -> str:
    """Say what was measured here and how far the model was off."""
    said = f"DuckDB measured {state.y_text(point.throughput.median)} (median of {point.time.repeats})"
    gap = point.time.median / state.estimate.seconds - 1
    if abs(gap) < 0.02:
        return f"{said}, as the model says"
    if abs(gap) < 1:
        longer = "longer" if gap > 0 else "less time"
        return f"{said}: it took {_percent(abs(gap))} {longer} than the model says"
    return f"{said}: it took {units.text(1 + gap, 'times', 2)} the time that the model says"


def sentence(state: PanelState) -> str:
    """Say in words what the chart shows now."""
    estimate, knob = state.estimate, state.knob
    share = _percent(estimate.share(estimate.bottleneck))
    model = f"the model expects {state.y_text(state.y)}, that is {units.text(estimate.seconds, 's')}"
    said = [f"{knob.label} {knob.text(state.x)}: {model}, {share} of it {estimate.bottleneck}."]
    if state.here is not None:
        said.append(f"{_measured(state, state.here)}.")
    swing = float(state.ys.max() / state.ys.min())
    by = "next to nothing" if swing < 1.05 else f"the throughput {units.text(swing, 'times', 2)}"
    said.append(f"Along its whole range this knob alone changes {by}.")
    return " ".join(said)


def sentence_html(state: PanelState) -> str:
    """Return the sentence as a region that a screen reader speaks when it changes."""
    return (
        "<div role='status' aria-live='polite' class='readahead-sentence'"
        " style='font-size:16px;line-height:1.45;padding:2px 8px'>"
        f"{html.escape(sentence(state), quote=False)}</div>"
    )


def _sources(state: PanelState) -> list[tuple[str, ...]]:
    """Return the table of sources: throughput, time, bytes read, reads (in flight), row groups."""
    found: list[tuple[str, ...]] = [
        ("Model", state.y_text(state.y), units.text(state.estimate.seconds, "s"), "", "", "")
    ]
    if (one := state.here) is not None:
        sample = one.sample
        reads = f"{len(sample.reads):,} ({sample.max_in_flight} in flight)" if sample.reads else "not seen"
        found.append(
            (
                f"DuckDB, {sample.where}",
                one.throughput.text(state.unit),
                one.time.text("s"),
                units.text(sample.bytes_read, "bytes"),
                reads,
                f"{sample.row_groups_scanned:,} of {sample.row_groups_total:,}",
            )
        )
    for x, y, figure in state.published:
        where = f"Published: {figure.source}, at {state.knob.text(x)}"
        found.append((where, state.y_text(y), "", "", "", ""))
    return found


def numbers_html(state: PanelState) -> str:
    """Return the numbers behind the chart: the sources, the model's terms, and the settings."""
    estimate = state.estimate
    terms = [
        (name, units.text(value, "s"), _percent(estimate.share(name)))
        for name, value in estimate.terms_s.items()
    ]
    terms += [
        (f"{name} (meanwhile)", units.text(value, "s"), "hidden")
        for name, value in estimate.overlapped_s.items()
    ]
    idle = {name: f" ({why})" for name, why in state.experiment.disabled(state.settings).items()}
    settings = [
        (knob.label, knob.text(state.settings[knob.name]) + idle.get(knob.name, ""))
        for knob in state.experiment.knobs
    ]
    head = ("Source", "Throughput", "Time", "Bytes read", "Reads", "Row groups")
    return (
        table(head, _sources(state))
        + (bullets(state.here.time.warnings) if state.here else "")
        + "<div style='display:flex;flex-wrap:wrap;gap:0 40px;align-items:flex-start'>"
        + table(("The model's terms", "Time", "Share"), terms)
        + table(("Setting", "Value"), settings)
        + "</div>"
    )


# -- on paper ---------------------------------------------------------------------------------------
def picture(state: PanelState) -> Picture:
    """Return the chart as a picture: the model's line, the measured and published points, and where we are."""
    lines = [Line(name="model", points=list(zip(state.xs.tolist(), state.ys.tolist(), strict=True)))]
    for name, fits in (("DuckDB measured", True), ("measured, other knobs elsewhere", False)):
        points = [(state.x_of(one), one.throughput.median) for one in state.points if state.fits(one) is fits]
        if points:
            source = "measured" if fits else "other"
            lines.append(Line(name=name, points=points, source=source, joined=False))
    if state.published:
        points = [(x, y) for x, y, _ in state.published]
        lines.append(Line(name="published", points=points, source="published", joined=False))
    return Picture(
        title=state.experiment.title,
        sentence=sentence(state),
        x=Axis(label=state.knob.label, kind=state.knob.kind),
        y=Axis(label="throughput", kind=state.unit),
        lines=tuple(lines),
        marks={"now": state.x},
    )


def static_html(state: PanelState, *, is_open: bool = False) -> str:
    """Return chart, sentence and numbers without widgets; the numbers folded unless `is_open`."""
    numbers = folded("The numbers", numbers_html(state), is_open=is_open)
    return chart(picture(state)) + sentence_html(state) + numbers
