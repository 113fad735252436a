"""What the panel shows at one moment: the settings, the model, what was measured so far, what was published.

Every chart, sentence and table of it is made from `PanelState`, for the browser (`browser_state`) and for paper
(`static_html`). The browser knows nothing of units: every word on a chart comes from here.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any
from urllib.parse import parse_qsl, urlencode

import numpy as np

from readahead import units
from readahead.errors import BadValue
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.experiments.figure import Axis, Line, Picture
from readahead.experiments.run import Run
from readahead.measure.sample import TOO_FAST_S, Value, exactly
from readahead.panels.chart import CYCLE, chart, tick_texts, ticks
from readahead.panels.markup import bullets, folded, table
from readahead.published import Figure
from readahead.storage.trace import Read, in_flight

POINTS = 64
"""Of the modeled curve, beside the present value."""
MOST_READS = 4_000
"""Reads drawn at most; of more, every second or third one."""
TERMS = ("seek", "latency", "transfer", "cpu", "engine", "open")
"""The terms of an estimate that every chapter meets, and that have a colour of their own in panel.css."""
_UNIT_WORDS = {"bytes_per_s": "Throughput (bytes a second)", "rows_per_s": "Throughput (rows a second)"}
_NAMES = {"measured": "DuckDB measured", "faded": "measured, other knobs elsewhere", "published": "published"}
"""On paper."""


class PanelState:
    """What there is to show now, with knob `name` along the x axis. Raises what the model raises."""

    def __init__(
        self,
        experiment: Experiment,
        settings: Settings,
        name: str,
        runs: Sequence[Run] = (),
        before: PanelState | None = None,
    ) -> None:
        self.experiment, self.settings = experiment, dict(settings)
        self.knob = experiment.knob(name)
        """The knob along the x axis."""
        self.x = float(settings[name])
        self.unit = experiment.unit(settings)
        self.estimate = experiment.model(settings)
        self.y = experiment.throughput(settings, self.estimate.seconds)
        """The modeled throughput at the settings."""
        self.xs = curve_places(self.knob, settings[name])
        self.ys = self._curve(before)
        """The modeled curve: the knob's values, and the throughput there."""
        self.runs = [run for run in runs if experiment.unit(run.settings) == self.unit]
        """What was measured and has this unit, oldest first."""
        self.published = experiment.published(settings, name)

    def _curve(self, before: PanelState | None) -> np.ndarray:
        """Return the modeled throughput at all places; `before` knows it, if only the knob of its curve was turned.

        Unless the files or the costs are others now: then so is the model at the ends and in the middle.
        """
        ask, name = partial(self.experiment.curve, self.settings, self.knob.name), self.knob.name
        if before is not None and {**before.settings, name: self.x} == {**self.settings, name: self.x}:
            known = dict(zip(before.xs.tolist(), before.ys.tolist(), strict=True)) | {self.x: self.y}
            some, every = self.xs[[0, len(self.xs) // 2, -1]], self.xs.tolist()
            if known.keys() >= set(every) and [known[x] for x in some.tolist()] == ask(some).tolist():
                return np.array([known[x] for x in every])
        return np.asarray(ask(self.xs), float)

    def fits(self, run: Run) -> bool:
        """Return whether a run lies on this curve: only its knob and knobs without effect may stand elsewhere."""
        free = {self.knob.name, *self.experiment.disabled(self.settings)}
        return all(
            run.settings.get(name) == value for name, value in self.settings.items() if name not in free
        )

    @property
    def here(self) -> Run | None:
        """Return the newest measurement at exactly these settings."""
        mine = self.settings[self.knob.name]
        found = (run for run in reversed(self.runs) if run.settings[self.knob.name] == mine)
        return next((run for run in found if self.fits(run)), None)

    def y_text(self, throughput: float) -> str:
        """Write a throughput for people."""
        return units.text(throughput, self.unit)


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


# -- settings as a line of text ---------------------------------------------------------------------
def address(experiment: Experiment, settings: Settings) -> str:
    """Return settings as a text to hand on, such as `lookups?latency_s=0.004`: those that are not the default."""
    turned = {
        knob.name: settings[knob.name] for knob in experiment.knobs if settings[knob.name] != knob.default
    }
    return f"{experiment.topic}?{urlencode(turned)}" if turned else experiment.topic


def settings_at(experiment: Experiment, text: str) -> dict[str, Any]:
    """Return the value of every knob at an address. Raises `BadValue` for one of another experiment, or of none."""
    topic, _, query = text.strip().partition("?")
    if topic != experiment.topic:
        raise BadValue(f"{text!r} is not an address of {experiment.topic!r}. Copy one below its panel.")
    given: dict[str, Any] = dict(parse_qsl(query, keep_blank_values=True))
    for name, value in given.items():
        knob = experiment.knob(name)
        try:
            given[name] = value if knob.kind == "choice" else float(value)
        except ValueError as error:
            raise BadValue(f"{name}={value!r} must be a number. Copy the address below the panel.") from error
    return experiment.settings(**given)


# -- in words ---------------------------------------------------------------------------------------
def _percent(share: float) -> str:
    return units.text(share, "1", 2)


def _measured(state: PanelState, run: Run) -> str:
    """Say what was measured here and how far the model was off."""
    said = f"DuckDB measured {state.y_text(run.throughput.median)} (median of {run.seconds.repeats})"
    gap = run.seconds.median / state.estimate.seconds - 1
    if abs(gap) < 0.02:
        return f"{said}, as the model says"
    if run.seconds.median < TOO_FAST_S:
        return f"{said}: too fast to tell on this machine whether the model is right"
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


def comparison(a: PanelState, b: PanelState) -> str:
    """Say in words what differs between two settings, and what that does to the time."""
    turned = [
        f"{knob.label} {knob.text(a.settings[knob.name])} → {knob.text(b.settings[knob.name])}"
        for knob in b.experiment.knobs
        if a.settings[knob.name] != b.settings[knob.name]
    ]
    if not turned:
        return "A is pinned here. Turn a knob: what is shown then is B."
    modeled = _apart(exactly(a.estimate.seconds), exactly(b.estimate.seconds))
    said = [f"From A to B: {'; '.join(turned)}.", f"The model: {modeled}."]
    if a.estimate.bottleneck != b.estimate.bottleneck:
        said.append(f"Most of the time was {a.estimate.bottleneck} and is {b.estimate.bottleneck}.")
    if a.here is not None and b.here is not None:
        said.append(f"DuckDB: {_apart(a.here.seconds, b.here.seconds)}.")
    else:
        missing = [name for name, one in (("A", a), ("B", b)) if one.here is None]
        said.append(f"DuckDB has not measured {' and '.join(missing)} yet.")
    return " ".join(said)


def _apart(a: Value, b: Value) -> str:
    """Say how much longer or shorter B takes than A, if the intervals let it be told."""
    times, ratio = f"{units.text(a.median, 's')} → {units.text(b.median, 's')}", b / a
    if ratio.low < 1.02 and ratio.high > 1 / 1.02:
        return f"{times}, no difference that can be told"
    if ratio.median > 1:
        return f"{times}, B takes {units.text(ratio.median, 'times')} as long"
    return f"{times}, B is {units.text(1 / ratio.median, 'times')} as fast"


def _sources(state: PanelState) -> list[tuple[str, ...]]:
    """Return the table of sources: throughput, time, bytes read, reads (in flight), row groups."""
    model_s = units.text(state.estimate.seconds, "s")
    found: list[tuple[str, ...]] = [("Model", state.y_text(state.y), model_s, "", "", "")]
    if (run := state.here) is not None:
        sample, count = run.sample, f"{len(run.sample.reads):,}{' writes' if run.sample.wrote else ''}"
        moved = units.text(sample.bytes_read, "bytes")
        if sample.wrote:
            moved = f"{units.text(sum(one.size_bytes for one in sample.reads), 'bytes')} written"
        reads = f"{count} ({sample.max_in_flight} in flight)" if sample.reads else "not seen"
        groups = f"{sample.row_groups_scanned:,} of {sample.row_groups_total:,}"
        groups = groups if sample.row_groups_total else ""
        times = run.throughput.text(state.unit), run.seconds.text("s")
        found.append((f"DuckDB, {sample.where}", *times, moved, reads, groups))
    for x, y, figure in state.published:
        where = f"Published: {figure.source}, at {state.knob.text(x)}"
        found.append((where, state.y_text(y), "", "", "", ""))
    return found


def numbers_html(state: PanelState) -> str:
    """Return the numbers behind the chart: the sources, the model's terms, and the settings."""
    estimate = state.estimate
    shares = {name: _percent(estimate.share(name)) for name in estimate.terms_s}
    terms = [(name, units.text(estimate.terms_s[name], "s"), share) for name, share in shares.items()]
    hidden_s = estimate.overlapped_s.items()
    terms += [(f"{name} (meanwhile)", units.text(value, "s"), "hidden") for name, value in hidden_s]
    idle = {name: f" ({why})" for name, why in state.experiment.disabled(state.settings).items()}
    settings = [
        (knob.label, knob.text(state.settings[knob.name]) + idle.get(knob.name, ""))
        for knob in state.experiment.knobs
    ]
    head = ("Source", "Throughput", "Time", "Bytes read", "Reads", "Row groups")
    warnings = state.here.seconds.warnings if state.here else ()
    return (
        table(head, _sources(state))
        + bullets((*warnings, *state.experiment.doubts(state.settings)))
        + "<div style='display:flex;flex-wrap:wrap;gap:0 40px;align-items:flex-start'>"
        + table(("The model's terms", "Time", "Share"), terms)
        + table(("Setting", "Value"), settings)
        + "</div>"
    )


# -- the throughput along one knob ------------------------------------------------------------------
def marks(state: PanelState) -> list[dict[str, Any]]:
    """Return the measured points, faded where other knobs stand elsewhere, and the published ones, back to front."""
    found: list[dict[str, Any]] = []
    for run in state.runs:
        kind, value = "measured" if state.fits(run) else "faded", run.throughput
        place = {"x": float(run.settings[state.knob.name]), "y": value.median}
        ends = {"low": value.low, "high": value.high}
        found.append({"kind": kind, **place, **ends, "text": _run_text(state, run)})
    found += [published_mark(x, y, figure, state.unit) for x, y, figure in state.published]
    return sorted(found, key=lambda mark: ("faded", "published", "measured").index(mark["kind"]))


def published_mark(x: float, y: float, figure: Figure, unit: str) -> dict[str, Any]:
    """Return a published point, with everything about it."""
    where = f"{figure.source}\n{figure.system}\n{figure.device}"
    return {"kind": "published", "x": x, "y": y, "text": f"Published: {units.text(y, unit)}\n{where}"}


def _run_text(state: PanelState, run: Run) -> str:
    """Say everything about one measurement."""
    elsewhere = [
        f"\n{knob.label}: {knob.text(run.settings[knob.name])}"
        for knob in state.experiment.knobs
        if run.settings[knob.name] != state.settings[knob.name]
    ]
    rate = f"{run.throughput.text(state.unit)}, {run.seconds.repeats} runs"
    return f"Measured by DuckDB, {run.sample.where}\n{rate}{''.join(elsewhere)}"


def static_html(state: PanelState, *, is_open: bool = False) -> str:
    """Return chart, sentence and numbers without widgets; the numbers folded unless `is_open`.

    Around them stands `data-panel`, the address of the settings, by which a page finds its panels.
    """
    lines = [Line(name="model", points=list(zip(state.xs.tolist(), state.ys.tolist(), strict=True)))]
    drawn = marks(state)
    for kind, name in _NAMES.items():
        points = [(mark["x"], mark["y"]) for mark in drawn if mark["kind"] == kind]
        source = "other" if kind == "faded" else kind
        lines += [Line(name=name, points=points, source=source, joined=False)] if points else []
    said = sentence(state)
    picture = Picture(
        sentence=said,
        x=Axis(label=state.knob.label, kind=state.knob.kind),
        y=Axis(label="throughput", kind=state.unit),
        lines=tuple(lines),
        marks={"now": state.x},
    )
    here = html.escape(address(state.experiment, state.settings), quote=True)
    return (
        f'<div data-panel="{here}">{chart(picture)}'
        f"<p style='font-size:16px;line-height:1.45;padding:2px 8px'>{html.escape(said, quote=False)}</p>"
        f"{folded('The numbers', numbers_html(state), is_open=is_open)}</div>"
    )


# -- for the browser: words and numbers; rows of numbers are bytes (float32) ------------------------
def browser_state(state: PanelState, newest: Run | None, pinned: PanelState | None = None) -> dict[str, Any]:
    """Return what the charts show, by the names of the widget's traits; `pinned` is A, to be compared with."""
    terms, beside = _terms(state), pinned if pinned is not None and pinned.unit == state.unit else None
    told: dict[str, Any] = {} if pinned is None else {"words": comparison(pinned, state)}
    if beside is not None:  # of another unit it has no line here
        line = {"x": _floats(beside.xs), "y": _floats(beside.ys)}
        told |= {"line": line, "x": beside.x, "y": beside.y}
    return {
        "axes": _axes(state, terms, beside),
        "line": _line(state),
        "marks": marks(state),
        "now": _now(state, terms, newest),
        "pinned": told,
    }


@lru_cache(maxsize=512)
def axis(low: float, high: float, kind: str, label: str = "", *, log: bool = False) -> dict[str, Any]:
    """Return an axis: its ends, and its round places with their words. A cached one is not to be changed."""
    places = ticks(low, high, log=log, kind=kind)
    word = "count" if kind == "rows" else kind  # the word stands in the label, not at every place
    texts = tick_texts(places, word, log=log)
    return {"low": low, "high": high, "log": log, "places": places, "texts": texts, "label": label}


def _axes(state: PanelState, terms: Sequence[dict[str, Any]], pinned: PanelState | None) -> dict[str, Any]:
    """Return the axes of the curve and of the terms."""
    lines = [one.ys for one in (state, pinned) if one is not None]
    every = [state.y, *(float(end) for ys in lines for end in (ys.min(), ys.max()))]
    every += [end for run in state.runs for end in (run.throughput.low, run.throughput.high)]
    every += [y for _, y, _ in state.published]
    whole = max(term["start"] + term["length"] for term in terms) * 1.02
    return {
        "x": x_axis(state.knob),
        "y": y_axis(min(every), max(every), state.unit),
        "terms": axis(0.0, float(f"{whole:.4g}"), "s"),
    }


def x_axis(knob: Knob) -> dict[str, Any]:
    """Return the axis along a knob."""
    air = (knob.high / knob.low) ** 0.02
    label = f"{knob.label} (rows)" if knob.kind == "rows" else knob.label
    return axis(knob.low / air, knob.high * air, knob.kind, label, log=True)


def y_axis(least: float, most: float, unit: str) -> dict[str, Any]:
    """Return the axis of throughputs, with whole ends, so that it stands still while a slider moves."""
    low = 10 ** (math.floor(math.log10(least / 1.3) * 4) / 4)
    high = 10 ** (math.ceil(math.log10(most * 1.3) * 4) / 4)
    return axis(min(low, high / 10), high, unit, _UNIT_WORDS.get(unit, "Throughput"), log=True)


def _line(state: PanelState) -> dict[str, Any]:
    """Return the modeled curve without the present value, which `now` has: it stands still while its knob moves."""
    rest = state.xs != state.x
    xs, ys = state.xs[rest], state.ys[rest]
    texts = [f"{state.y_text(y)} at {state.knob.text(x)}" for x, y in zip(xs, ys, strict=True)]
    return {"x": _floats(xs), "y": _floats(ys), "texts": texts}


def _now(state: PanelState, terms: list[dict[str, Any]], newest: Run | None) -> dict[str, Any]:
    """Return what belongs to the settings alone: the present value, the terms of its time, and the words."""
    total = f"model {units.text(state.estimate.seconds, 's')}, mostly {state.estimate.bottleneck}"
    return {
        "knob": state.knob.name,
        "unit": state.unit,
        "address": address(state.experiment, state.settings),
        "x": state.x,
        "y": state.y,
        "text": f"{state.y_text(state.y)} at {state.knob.text(state.x)}",
        "sentence": sentence(state),
        "terms_heading": total,
        "terms": terms,
        "reads_heading": _reads_text(newest, earlier=newest is not state.here),
    }


def _terms(state: PanelState) -> list[dict[str, Any]]:
    """Return where the time goes: a bar for each term, in seconds, one behind the other, and for the measured time."""
    found: list[tuple[str, str, float, float]] = []
    for row, terms in (("model", state.estimate.terms_s), ("meanwhile", state.estimate.overlapped_s)):
        start = 0.0
        for name, length in terms.items():
            if length > 0:
                found.append((row, name, start, float(length)))
                start += float(length)
    if state.here is not None:
        found.append(("DuckDB", "measured", 0.0, state.here.seconds.median))
    return [
        {"row": row, "name": name, "colour": term_key(name), "start": start, "length": length,
         "text": units.text(length, "s")}
        for row, name, start, length in found
    ]  # fmt: skip


def term_key(name: str) -> str:
    """Return what the colour of a term is called in panel.css: its own, or one that its name always gets."""
    return name if name in TERMS else f"c{sum(map(ord, name)) % len(CYCLE)}"


def _reads_text(run: Run | None, *, earlier: bool) -> str:
    """Return what was read, or why nothing is known; `earlier` if a knob was turned since."""
    if run is None:
        return "What DuckDB read: not measured yet"
    found = run.sample.reads
    if not found:
        return f"What DuckDB read: {run.sample.where}; single reads are not seen"
    size = units.text(sum(read.size_bytes for read in found), "bytes")
    verb, what = ("wrote", "writes") if run.sample.wrote else ("read", "reads")
    return f"What DuckDB {verb}{' before' if earlier else ''}: {len(found):,} {what}, {size}, by thread"


def reads(found: Sequence[Read]) -> dict[str, Any]:
    """Return a trace: of each read its time asked and done, its place and its thread's colour; the reads in flight."""
    if not found:
        return {}
    rows = [
        (read.submitted_s, read.done_s, read.offset + read.size_bytes / 2, read.thread % len(CYCLE))
        for read in found[:: -(-len(found) // MOST_READS)]
    ]
    times, depths = in_flight(found)
    some = slice(None, None, -(-len(times) // MOST_READS))
    end_bytes = max(read.offset + read.size_bytes for read in found)
    return {
        "dashes": _floats(np.array(rows).T.ravel()),
        "count": len(rows),
        "flight": _floats([*times[some], *depths[some]]),
        "deepest": max(depths),
        "x": axis(0.0, max(read.done_s for read in found) * 1.02, "s"),
        "y": axis(0.0, float(end_bytes), "bytes"),
    }


def _floats(values: Any) -> bytes:
    return np.asarray(values, "<f4").tobytes()
