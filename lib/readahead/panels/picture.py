"""A picture on the wall, and the painter behind it. A picture may need a measurement, so it is painted in the
background and hung when it is dry: the sliders and the answers beside it never wait for the painter.
"""

from __future__ import annotations

import ipywidgets as widgets

from readahead.chapters import Paint
from readahead.experiments.figure import Drawing
from readahead.experiments.round import Bench
from readahead.panels import paper
from readahead.panels.chart import chart
from readahead.panels.waiting import Waiting


def painted(picture: Drawing, *, is_open: bool = False) -> str:
    """Return a picture as HTML: sentence, chart, and the table, folded unless `is_open`."""
    numbers = paper.folded("The numbers", paper.table(picture.head, picture.rows), is_open=is_open)
    title = picture.title if picture.title.endswith("?") else f"{picture.title}."
    return paper.words(f"**{title}** {picture.sentence}") + chart(picture) + numbers


class Hung:
    """One picture; painted at once, in the background. `face` is what to display."""

    def __init__(self, paint: Paint, bench: Bench) -> None:
        self._paint, self._bench = paint, bench
        self.body = widgets.HTML()
        self.waiting: Waiting[str] = Waiting(self._drawn, self._dry)
        self.face = widgets.VBox([self.body, self.waiting.face])
        self.waiting.start()

    def _drawn(self) -> str:
        return painted(self._paint(self._bench))

    def _dry(self, html: str) -> None:
        self.body.value = html
