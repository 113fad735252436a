"""Steps in the notebook: a picture to play, step through and scrub; on paper a strip of its frames.

The browser's part is steps.js, in the colours of panel.css. All frames are sent at once: no kernel is asked again.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

import traitlets

from readahead.experiments.steps import Box, Frame, Steps
from readahead.panels.background import PrintedWidget
from readahead.panels.markup import COLOURS, paragraphs

SHOWN = 6
"""Frames of the strip; of more, the first, the last, and some evenly between."""
WIDTH = 340
"""Of a frame of the strip, in pixels: two stand side by side on a page, one on a telephone."""
_BOX, _LETTER, _ROW = 24, 7.6, 30
_PENS = {
    "free": f"stroke='{COLOURS['other']}' stroke-dasharray='3 3' fill='none'",
    "wait": f"stroke='{COLOURS['other']}' fill='none'",
    "work": f"stroke='{COLOURS['modeled']}' fill='{COLOURS['modeled']}' fill-opacity='.35'",
    "done": f"stroke='{COLOURS['measured']}' fill='{COLOURS['measured']}' fill-opacity='.2'",
    "gone": f"stroke='{COLOURS['guess']}' stroke-dasharray='6 2' fill='none'",
}


class StepsWidget(PrintedWidget):
    """What is displayed, and for readers without a kernel the strip."""

    _esm = Path(__file__).with_name("steps.js")
    _css = Path(__file__).with_name("panel.css")
    plan = traitlets.Dict().tag(sync=True)
    """Title, words and frames; never changes."""


def widget(steps: Steps) -> StepsWidget:
    """Return the picture to step through."""
    frames = [
        {
            "says": frame.says,
            "told": steps.told(frame),
            "lanes": [[name, *boxes] for name, boxes in frame.lanes.items()],
        }
        for frame in steps.frames
    ]
    made = StepsWidget(plan={"title": steps.title, "words": dict(steps.words), "frames": frames})
    made.twin = lambda: strip(steps)
    return made


def shown(frames: Sequence[Frame]) -> list[int]:
    """Return which frames stand on the strip."""
    last, places = len(frames) - 1, min(len(frames), SHOWN) - 1
    return [round(place * last / places) for place in range(places + 1)] if places else [0]


def strip(steps: Steps) -> str:
    """Return some frames as HTML, each a drawing with its sentence below."""
    told = "".join(
        f"<figure style='flex:1 1 300px;max-width:{WIDTH}px;margin:.4em 0'>"
        f"{_drawn(steps, at)}<figcaption>{at + 1}. {html.escape(steps.frames[at].says)}</figcaption></figure>"
        for at in shown(steps.frames)
    )
    key = "".join(
        f"<span style='margin-right:1em;white-space:nowrap'><svg width='18' height='14' aria-hidden='true'>"
        f"<rect x='1' y='1' width='16' height='12' rx='3' stroke-width='1.5' {_PENS[tone]}/></svg>"
        f" {html.escape(word)}</span>"
        for tone, word in steps.words.items()
    )
    return (
        f"{paragraphs(f'**{steps.title}**')}<div style='font-size:90%'>{key}</div>"
        f"<div style='display:flex;flex-wrap:wrap;gap:0 24px'>{told}</div>"
    )


def _drawn(steps: Steps, at: int) -> str:
    """Return one frame as SVG; what changed since the one before has a thick edge."""
    frame, y, parts = steps.frames[at], 0, []
    for name, boxes in frame.lanes.items():
        before: Sequence[Box] = steps.frames[at - 1].lanes.get(name, ()) if at else boxes
        parts.append(f"<text x='0' y='{y + 14}' fill='currentColor' opacity='.8'>{html.escape(name)}</text>")
        x, y = 0.0, y + 20
        for number, (text, tone) in enumerate(boxes):
            wide = max(_BOX, _LETTER * len(text) + 10)
            if x + wide > WIDTH:
                x, y = 0.0, y + _ROW
            edge = 1.5 if number < len(before) and before[number] == (text, tone) else 3.5
            looks = {"gone": " text-decoration='line-through'", "work": " font-weight='bold'"}.get(tone, "")
            parts.append(
                f"<rect x='{x + 2:.0f}' y='{y + 2}' width='{wide - 4:.0f}' height='{_BOX - 2}' rx='3'"
                f" stroke-width='{edge}' {_PENS[tone]}/><text x='{x + wide / 2:.0f}' y='{y + 17}' text-anchor='middle'"
                f" fill='currentColor'{looks}>{html.escape(text)}</text>"
            )
            x += wide + 2
        y += _ROW
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='100%' viewBox='0 0 {WIDTH} {y}' font-size='12' role='img'"
        f" font-family='system-ui,sans-serif' aria-label='{html.escape(steps.told(frame), quote=True)}'>"
        f"{''.join(parts)}</svg>"
    )
