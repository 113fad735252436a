"""The print of the photograph: chart, sentence and tables as plain HTML, for a notebook that is read without a
kernel, on paper, or by papermill. It weighs a few kilobytes and needs no JavaScript.
"""

from __future__ import annotations

from readahead.experiments.figure import Axis, Line, Picture
from readahead.panels import paper, words
from readahead.panels.chart import chart
from readahead.panels.view import View


def picture(view: View) -> Picture:
    """Return the chart as a picture: the model's line, the measured and published points, and where we are."""
    lines = [Line(name="model", points=list(zip(view.xs.tolist(), view.ys.tolist(), strict=True)))]
    name = view.knob.name
    for said, fits in (("DuckDB measured", True), ("measured, other knobs elsewhere", False)):
        points = [(float(one.settings[name]), one.throughput) for one in view.dots if view.fits(one) is fits]
        if points:
            lines.append(Line(name=said, points=points, source="measured" if fits else "other", joined=False))
    stars = [(x, y) for x, y, _ in view.published]
    if stars:
        lines.append(Line(name="published", points=stars, source="published", joined=False))
    return Picture(
        title=view.experiment.title,
        sentence=words.sentence(view),
        x=Axis(label=view.knob.label, kind=view.knob.kind),
        y=Axis(label="throughput", kind=view.unit),
        lines=tuple(lines),
        marks={"now": view.x},
    )


def twin(view: View, *, is_open: bool = False) -> str:
    """Return chart, sentence and numbers as HTML; the numbers folded unless `is_open`."""
    return (
        chart(picture(view))
        + words.spoken(view)
        + paper.folded("The numbers", words.numbers(view), is_open=is_open)
    )
