"""A ruler held against a printed page: each figure a line, a dot where the model says it should be, and the printed
value in the middle. Ten per cent to either side is shaded."""

from __future__ import annotations

import math

from readahead.experiments.figure import Proof
from readahead.panels import svg
from readahead.panels.theme import COLOURS, FAINT

_WIDTH, _LEFT, _RIGHT, _ROW = 720, 300, 70, 20
NEAR, WIDEST = 1.1, 2.0
"""The shaded band, and where a dot that is farther off is drawn with its number beside it."""


def chart(proof: Proof) -> str:
    """Draw model / printed of every figure on one log axis around 1."""
    ratios = [model / printed for _, model, printed in proof.figures]
    wide = min(WIDEST, max(1.25, *(max(ratio, 1 / ratio) for ratio in ratios)) * 1.02)

    def across(ratio: float) -> float:
        share = math.log(min(max(ratio, 1 / wide), wide)) / math.log(wide)
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (1 + share) / 2

    foot = 8 + _ROW * len(ratios)
    near = across(1 / NEAR), across(NEAR)
    band = (
        f"<rect x='{near[0]:.1f}' y='4' width='{near[1] - near[0]:.1f}' height='{foot - 4}'"
        f" fill='{COLOURS['published']}' opacity='0.12'/>"
    )
    parts = [
        band,
        svg.line(across(1), 4, across(1), foot, stroke=COLOURS["published"], stroke_width=2),
    ]
    for row, ((name, _, _), ratio) in enumerate(zip(proof.figures, ratios, strict=True)):
        y = 8 + _ROW * (row + 0.5)
        parts.append(svg.line(_LEFT, y, _WIDTH - _RIGHT, y, **svg.FAINT))
        parts.append(svg.text(_LEFT - 10, y + 4, name if len(name) < 46 else name[:44] + "…", "end"))
        parts.append(f"<circle cx='{across(ratio):.1f}' cy='{y:.1f}' r='5' fill='{COLOURS['modeled']}'/>")
        parts.append(
            svg.text(_WIDTH - _RIGHT + 10, y + 4, f"{100 * (ratio - 1):+.1f} %", "start", f"fill='{FAINT}'")
        )
    said = ((1 / NEAR, "−10 %"), (1.0, "as printed"), (NEAR, "+10 %"))
    parts += [svg.text(across(ratio), foot + 16, words) for ratio, words in said]
    return svg.frame(_WIDTH, foot + 24, proof.sentence, "".join(parts))
