"""The caption under the chart: one sentence that says what the chart shows now, and the numbers it is drawn
from. Whoever cannot see the chart misses nothing.
"""

from __future__ import annotations

import html

from readahead import units
from readahead.panels import paper
from readahead.panels.view import Dot, View


def _percent(share: float) -> str:
    return units.text(share, "1", 2)


def _measured(view: View, one: Dot) -> str:
    """Say what was measured here and how far the model was off."""
    runs = len(one.sample.seconds)
    said = f"DuckDB measured {view.y_text(one.throughput)} (median of {runs})"
    gap = one.seconds / view.estimate.seconds - 1
    if abs(gap) < 0.02:
        return f"{said}, as the model says"
    if abs(gap) < 1:
        return (
            f"{said}: it took {_percent(abs(gap))} {'longer' if gap > 0 else 'less time'} than the model says"
        )
    return f"{said}: it took {units.text(1 + gap, 'times', 2)} the time that the model says"


def sentence(view: View) -> str:
    """Say in words what the chart shows now."""
    estimate, knob = view.estimate, view.knob
    term = estimate.bottleneck
    share = _percent(estimate.share(term))
    model = f"the model expects {view.y_text(view.y)}, that is {units.text(estimate.seconds, 's')}"
    said = [f"{knob.label} {knob.text(view.x)}: {model}, {share} of it {term}."]
    if view.here is not None:
        said.append(f"{_measured(view, view.here)}.")
    swing = view.swing()
    if swing < 1.05:
        said.append("Along its whole range this knob alone changes next to nothing.")
    else:
        said.append(
            f"Along its whole range this knob alone changes the throughput {units.text(swing, 'times', 2)}."
        )
    return " ".join(said)


def rows(view: View) -> list[tuple[str, str, str, str, str, str]]:
    """Return the table: source, throughput, time, bytes read, reads (in flight), row groups."""
    model = view.estimate
    found = [("Model", view.y_text(view.y), units.text(model.seconds, "s"), "", "", "")]
    if (one := view.here) is not None:
        sample = one.sample
        reads = f"{len(sample.reads):,} ({sample.max_in_flight} in flight)" if sample.reads else "not seen"
        found.append(
            (
                f"DuckDB, {sample.where}",
                f"{view.y_text(one.throughput)} ({view.y_text(one.low)} to {view.y_text(one.high)})",
                f"{units.text(one.seconds, 's')} ({units.text(one.low_s, 's')} to {units.text(one.high_s, 's')})",
                units.text(sample.bytes_read, "bytes"),
                reads,
                f"{sample.row_groups_scanned:,} of {sample.row_groups_total:,}",
            )
        )
    for x, y, figure in view.published:
        where = f"{figure.source}, at {view.knob.text(x)}"
        found.append((f"Published: {where}", view.y_text(y), "", "", "", ""))
    return found


HEAD = ("Source", "Throughput", "Time", "Bytes read", "Reads", "Row groups")


def numbers(view: View) -> str:
    """Return both tables as HTML: the sources, and the model's terms."""
    terms = [
        (name, units.text(value, "s"), _percent(view.estimate.share(name)))
        for name, value in view.estimate.terms_s.items()
    ]
    terms += [
        (f"{name} (meanwhile)", units.text(value, "s"), "hidden")
        for name, value in view.estimate.overlapped_s.items()
    ]
    warnings = paper.listing(view.here.sample.warnings()) if view.here else ""
    side_by_side = "display:flex;flex-wrap:wrap;gap:0 40px;align-items:flex-start"
    return (
        paper.table(HEAD, rows(view))
        + warnings
        + f"<div style='{side_by_side}'>"
        + paper.table(("The model's terms", "Time", "Share"), terms)
        + paper.table(("Setting", "Value"), settings_rows(view))
        + "</div>"
    )


def settings_rows(view: View) -> list[tuple[str, str]]:
    """Return every knob with its value, and why it does nothing where that is so."""
    idle = view.experiment.disabled(view.settings)
    return [
        (
            knob.label,
            knob.text(view.settings[knob.name]) + (f" ({idle[knob.name]})" if knob.name in idle else ""),
        )
        for knob in view.experiment.knobs
    ]


def spoken(view: View) -> str:
    """Return the sentence as a region that a screen reader speaks when it changes."""
    return (
        "<div role='status' aria-live='polite' class='readahead-sentence'"
        " style='font-size:16px;line-height:1.45;padding:2px 8px'>"
        f"{html.escape(sentence(view), quote=False)}</div>"
    )
