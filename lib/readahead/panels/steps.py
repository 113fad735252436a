"""Steps in the notebook: a picture to play, step through and scrub; on paper a strip of its frames.

The browser's part is steps.js, in the colours of panel.css. All frames are sent at once: no kernel is asked again.
"""

from __future__ import annotations

import html
from pathlib import Path

import numpy as np
import traitlets

from readahead.experiments.steps import Steps
from readahead.panels.background import PrintedWidget
from readahead.panels.markup import COLOURS, paragraphs

SHOWN = 6
"""Frames of the strip; of more, the first, the last, and some evenly between."""
WIDTH = 340
"""Of a frame of the strip, in pixels: two stand side by side on a page, one on a telephone."""
_LOOKS = {
    "free": f"1.5px dashed {COLOURS['other']}",
    "wait": f"1.5px solid {COLOURS['other']}",
    "work": f"1.5px solid {COLOURS['modeled']};background:{COLOURS['modeled']}59;font-weight:bold",
    "done": f"1.5px solid {COLOURS['measured']};background:{COLOURS['measured']}33",
    "gone": f"1.5px dashed {COLOURS['guess']};text-decoration:line-through",
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


def strip(steps: Steps) -> str:
    """Return some frames as HTML, each a drawing with its sentence below."""
    told = "".join(
        f"<figure style='flex:1 1 300px;max-width:{WIDTH}px;margin:.4em 0'>"
        f"{_drawn(steps, at)}<figcaption>{at + 1}. {html.escape(steps.frames[at].says)}</figcaption></figure>"
        for at in np.linspace(0, len(steps.frames) - 1, min(SHOWN, len(steps.frames))).round().astype(int)
    )
    key = "".join(
        f"<span style='margin-right:1em;white-space:nowrap'>{_box('', tone)} {html.escape(word)}</span>"
        for tone, word in steps.words.items()
    )
    return (
        f"{paragraphs(f'**{steps.title}**')}<div style='font-size:90%'>{key}</div>"
        f"<div style='display:flex;flex-wrap:wrap;gap:0 24px'>{told}</div>"
    )


def _drawn(steps: Steps, at: int) -> str:
    """Return one frame; what changed since the one before has a thick edge."""
    frame, before = steps.frames[at], steps.frames[max(0, at - 1)]
    lanes = ""
    for name, boxes in frame.lanes.items():
        were = before.lanes.get(name, ())
        row = (_box(*one, is_new=one not in were[number : number + 1]) for number, one in enumerate(boxes))
        lanes += f"<div>{html.escape(name)}</div><div>{''.join(row)}</div>"
    return f"<div role='img' aria-label='{html.escape(steps.told(frame), quote=True)}'>{lanes}</div>"


def _box(text: str, tone: str, *, is_new: bool = False) -> str:
    edge = ";border-width:3.5px;padding:0 3px" if is_new else ";padding:2px 5px"
    return (
        "<span style='display:inline-block;box-sizing:border-box;min-width:22px;height:24px;margin:1px 2px;"
        "font-size:12px;line-height:17px;text-align:center;vertical-align:middle;border-radius:3px;"
        f"print-color-adjust:exact;border:{_LOOKS[tone]}{edge}'>{html.escape(text)}</span>"
    )
