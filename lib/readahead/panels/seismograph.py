"""A seismograph on paper. One strip for each run, all on one clock: a dash for every read, from when it was asked
for to when it was there, at the height of its place in the file, in the colour of its thread; below it, as a grey
hill, how many were under way.
"""

from __future__ import annotations

from collections.abc import Sequence

from readahead import units
from readahead.experiments.figure import Traces
from readahead.panels import svg
from readahead.panels.theme import CYCLE, FAINT
from readahead.storage.trace import Read, in_flight

MOST = 600
"""Dashes on a strip at most; of more reads, every second or third one. The table has them all."""
_WIDTH, _LEFT, _RIGHT = 720, 86, 16
_HIGH, _HILL = 120, 26


def chart(traces: Traces) -> str:
    """Draw every run as a strip, on one clock from 0 to the last read of the slowest."""
    end_s = max(read.done_s for _, reads in traces.runs for read in reads) * 1.02
    parts: list[str] = []
    top = 4
    for name, reads in traces.runs:
        parts.append(_strip(f"{name}: {len(reads):,} {traces.what}s", reads, top, end_s))
        top += 20 + _HIGH + _HILL + 18
    for place in svg.ticks(0.0, end_s, log=False):
        parts.append(svg.text(_across(place, end_s), top, units.text(place, "s") if place else "0"))
    parts.append(svg.text(_WIDTH - _RIGHT, top + 16, "time since the query began", "end"))
    key = f"dash: a {traces.what} at its place in the file, a colour a thread; grey: {traces.what}s in flight"
    parts.append(svg.text(_LEFT, top + 16, key, "start", f"fill='{FAINT}' font-size='11'"))
    return svg.frame(_WIDTH, top + 24, traces.sentence, "".join(parts))


def _across(time_s: float, end_s: float) -> float:
    return _LEFT + (_WIDTH - _LEFT - _RIGHT) * time_s / end_s


def _strip(heading: str, reads: Sequence[Read], top: float, end_s: float) -> str:
    """Draw one run: its heading, its dashes, its hill."""
    top += 20
    foot = top + _HIGH
    end_bytes = max(read.offset + read.size_bytes for read in reads)
    parts = [svg.text(_LEFT, top - 6, heading, "start", "font-weight='600'")]
    for place in svg.ticks(0.0, end_s, log=False):
        parts.append(svg.line(_across(place, end_s), top, _across(place, end_s), foot + _HILL, **svg.FAINT))
    parts.append(svg.line(_LEFT, foot, _WIDTH - _RIGHT, foot, **svg.FAINT))
    parts.append(svg.text(_LEFT - 8, top + 10, units.text(end_bytes, "bytes"), "end"))
    parts.append(svg.text(_LEFT - 8, foot - 2, "0", "end"))
    shown = reads[:: -(-len(reads) // MOST)]
    wide = 1.2 if len(shown) > 200 else 2.0 if len(shown) > 50 else 3.5
    for thread in range(len(CYCLE)):
        mine = [read for read in shown if read.thread % len(CYCLE) == thread]
        strokes = "".join(_dash(read, foot, end_s, end_bytes) for read in mine)
        if strokes:
            parts.append(f"<path d='{strokes}' stroke='{CYCLE[thread]}' stroke-width='{wide}' fill='none'/>")
    return "".join(parts) + _hill(reads, foot, end_s)


def _dash(read: Read, foot: float, end_s: float, end_bytes: int) -> str:
    y = foot - _HIGH * (read.offset + read.size_bytes / 2) / end_bytes
    left, right = _across(read.submitted_s, end_s), _across(read.done_s, end_s)
    return f"M{left:.1f} {y:.1f}H{max(right, left + 0.8):.1f}"


def _hill(reads: Sequence[Read], foot: float, end_s: float) -> str:
    """Draw the reads under way, hanging from 0 at the bottom of the strip."""
    times, depths = in_flight(reads)
    deepest, bottom = max(depths), foot + _HILL
    walk, every = [f"M{_LEFT} {bottom:.1f}"], -(-len(times) // (2 * MOST))
    for time_s, depth in list(zip(times, depths, strict=True))[::every]:
        walk.append(f"H{_across(time_s, end_s):.1f}V{bottom - (_HILL - 4) * depth / deepest:.1f}")
    walk.append(f"H{_across(times[-1], end_s):.1f}V{bottom:.1f}Z")
    said = svg.text(_LEFT - 8, bottom - 4, f"{deepest} in flight", "end", f"fill='{FAINT}' font-size='11'")
    return f"<path d='{''.join(walk)}' fill='currentColor' opacity='0.25'/>" + said
