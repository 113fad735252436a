"""What the panel draws in the browser, as plain numbers and words: axes, curve, marks, terms and reads.

The browser knows nothing of units: every word on a chart comes from here. Rows of numbers are bytes (float32).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from readahead import units
from readahead.panels import theme
from readahead.panels.chart import tick_texts, ticks
from readahead.panels.state import MeasuredPoint, PanelState, sentence
from readahead.storage.trace import Read, in_flight

MOST_READS = 4_000
"""Reads drawn at most; of more, every second or third one."""
_UNIT_WORDS = {"bytes_per_s": "Throughput (bytes a second)", "rows_per_s": "Throughput (rows a second)"}


@lru_cache(maxsize=512)
def axis(low: float, high: float, kind: str, label: str = "", *, log: bool = False) -> dict[str, Any]:
    """Return an axis: its ends, and its round places with their words. A cached one is not to be changed."""
    places = ticks(low, high, log=log, kind=kind)
    word = "count" if kind == "rows" else kind  # the word stands in the label, not at every place
    texts = tick_texts(places, word, log=log)
    return {"low": low, "high": high, "log": log, "places": places, "texts": texts, "label": label}


# -- the throughput along one knob ------------------------------------------------------------------
def axes(state: PanelState) -> dict[str, Any]:
    """Return the axes of the curve and of the terms."""
    knob, air = state.knob, (state.knob.high / state.knob.low) ** 0.02
    label = f"{knob.label} (rows)" if knob.kind == "rows" else knob.label
    whole = max(start + length for _, _, start, length in _terms(state)) * 1.02
    return {
        "x": axis(knob.low / air, knob.high * air, knob.kind, label, log=True),
        "y": axis(*y_ends(state), state.unit, _UNIT_WORDS.get(state.unit, "Throughput"), log=True),
        "terms": axis(0.0, float(f"{whole:.4g}"), "s"),
    }


def y_ends(state: PanelState) -> tuple[float, float]:
    """Return whole ends for the y axis, so that it stands still while a slider moves."""
    every = [float(state.ys.min()), float(state.ys.max()), state.y]
    every += [end for one in state.points for end in (one.throughput.low, one.throughput.high)]
    every += [y for _, y, _ in state.published]
    low = 10 ** (math.floor(math.log10(min(every) / 1.3) * 4) / 4)
    high = 10 ** (math.ceil(math.log10(max(every) * 1.3) * 4) / 4)
    return (low, high) if high / low >= 10 else (high / 10, high)


def line(state: PanelState) -> dict[str, Any]:
    """Return the modeled curve without the present value, which `now` has: it stands still while its knob moves."""
    rest = state.xs != state.x
    xs, ys = state.xs[rest], state.ys[rest]
    texts = [f"{state.y_text(y)} at {state.knob.text(x)}" for x, y in zip(xs, ys, strict=True)]
    return {"x": _floats(xs), "y": _floats(ys), "texts": texts}


def now(state: PanelState, newest: MeasuredPoint | None) -> dict[str, Any]:
    """Return what belongs to the settings alone: the present value, the terms of its time, and the words."""
    estimate = state.estimate
    total = f"model {units.text(estimate.seconds, 's')}, mostly {estimate.bottleneck}"
    return {
        "knob": state.knob.name,
        "x": state.x,
        "y": state.y,
        "text": f"{state.y_text(state.y)} at {state.knob.text(state.x)}",
        "sentence": sentence(state),
        "terms_heading": total,
        "terms": [
            {"row": row, "name": name, "colour": theme.term_key(name), "start": start, "length": length,
             "text": units.text(length, "s")}
            for row, name, start, length in _terms(state)
        ],
        "reads_heading": reads_text(newest, earlier=newest is not state.here),
    }  # fmt: skip


def marks(state: PanelState) -> list[dict[str, Any]]:
    """Return the measured points, faded where other knobs stand elsewhere, and the published ones, back to front."""
    found: list[dict[str, Any]] = []
    for one in state.points:
        kind, value = "measured" if state.fits(one) else "faded", one.throughput
        place = {"x": state.x_of(one), "y": value.median, "low": value.low, "high": value.high}
        found.append({"kind": kind, **place, "text": _point_text(state, one)})
    for x, y, figure in state.published:
        where = f"{figure.source}\n{figure.system}\n{figure.device}"
        found.append({"kind": "published", "x": x, "y": y, "text": f"Published: {state.y_text(y)}\n{where}"})
    return sorted(found, key=lambda mark: ("faded", "published", "measured").index(mark["kind"]))


def _point_text(state: PanelState, one: MeasuredPoint) -> str:
    """Say everything about one measurement."""
    lines = [
        f"DuckDB, {one.sample.where}",
        f"{one.throughput.text(state.unit)}, {one.time.repeats} runs",
    ]
    lines += [
        f"{knob.label}: {knob.text(one.settings[knob.name])}"
        for knob in state.experiment.knobs
        if one.settings[knob.name] != state.settings[knob.name]
    ]
    return "\n".join(lines)


# -- where the time goes, and what was read ---------------------------------------------------------
def _terms(state: PanelState) -> list[tuple[str, str, float, float]]:
    """Return (row, name, start, length) of every term, in seconds, and of what was measured."""
    found: list[tuple[str, str, float, float]] = []
    for row, terms in (("model", state.estimate.terms_s), ("meanwhile", state.estimate.overlapped_s)):
        start = 0.0
        for name, length in terms.items():
            if length > 0:
                found.append((row, name, start, float(length)))
                start += float(length)
    if state.here is not None:
        found.append(("DuckDB", "measured", 0.0, state.here.time.median))
    return found


def reads_text(one: MeasuredPoint | None, *, earlier: bool = False) -> str:
    """Return what was read, or why nothing is known; `earlier` if a knob was turned since."""
    if one is None:
        return "What DuckDB read: not measured yet"
    reads = one.sample.reads
    if not reads:
        return f"What DuckDB read: {one.sample.where}; single reads are not seen"
    size = units.text(sum(read.size_bytes for read in reads), "bytes")
    verb, what = ("wrote", "writes") if one.sample.wrote else ("read", "reads")
    return f"What DuckDB {verb}{' before' if earlier else ''}: {len(reads):,} {what}, {size}, by thread"


def reads(found: Sequence[Read]) -> dict[str, Any]:
    """Return a trace: of each read its time asked and done, its place and its thread's colour; the reads in flight."""
    if not found:
        return {}
    drawn = found[:: -(-len(found) // MOST_READS)]
    rows = [
        (
            read.submitted_s,
            read.done_s,
            read.offset + read.size_bytes / 2,
            read.thread % len(theme.CYCLE),
        )
        for read in drawn
    ]
    times, depths = in_flight(found)
    some = slice(None, None, -(-len(times) // MOST_READS))
    end_bytes = max(read.offset + read.size_bytes for read in found)
    whole_s = max(read.done_s for read in found) * 1.02
    return {
        "dashes": _floats(np.array(rows).T.ravel()),
        "count": len(rows),
        "flight": _floats([*times[some], *depths[some]]),
        "deepest": max(depths),
        "x": axis(0.0, whole_s, "s"),
        "y": axis(0.0, float(end_bytes), "bytes"),
    }


def _floats(values: Any) -> bytes:
    return np.asarray(values, "<f4").tobytes()
