"""Shows a claim's finding or a figure: both may have to be measured first, in the background."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import ipywidgets as widgets

from readahead.chapters import Paint
from readahead.experiments.claim import AGREES, DIFFERS, NOISY, Claim, Finding
from readahead.experiments.figure import Drawing
from readahead.experiments.round import Study
from readahead.panels.background import Background, button
from readahead.panels.chart import chart
from readahead.panels.markup import box, bullets, folded, paragraphs, table
from readahead.panels.theme import COLOURS

_VERDICTS = {
    AGREES: ("✓", "Agrees.", COLOURS["measured"]),
    DIFFERS: ("≠", "Differs, likely because:", COLOURS["guess"]),
    NOISY: ("?", "Too noisy to say. Do this:", COLOURS["other"]),
}


class _ComputedView(ABC):
    """Something that is computed in the background once it is started, and shown then."""

    @abstractmethod
    def html(self) -> str:
        """Return it as HTML, computed here and now."""

    @cached_property
    def widget(self) -> Any:
        """Return what is displayed."""
        self.body, self.background = widgets.HTML(), Background()
        return widgets.VBox([self.body, self.background.widget])

    def wait(self) -> None:
        """Say why nothing is shown yet."""
        self.body.value = paragraphs("This is shown after your guess, above.")

    def start(self) -> None:
        """Compute and show it. Nobody waits: sliders and buttons stay free."""
        if not self.background.started:
            self.body.value = ""
        self.background.start(self.html, self._show)

    def _show(self, text: str) -> None:
        self.body.value = text


class ClaimView(_ComputedView):
    """What this run says of a claim; the claim itself stands in the notebook."""

    def __init__(self, claim: Claim, study: Study) -> None:
        self._claim, self._study = claim, study
        self.finding: Finding | None = None
        """What became of the claim, once it was tested."""

    def html(self) -> str:
        """Test the claim and return what became of it."""
        self.finding = finding = self._claim.on(self._study)
        mark, title, colour = _VERDICTS[finding.verdict]
        seen, reasons = paragraphs(finding.says.split(". ", 1)[-1]), bullets(finding.reasons)
        body = seen + reasons if finding.verdict == AGREES else reasons + seen
        return box(mark, title, body, colour)

    def start(self) -> None:
        """Test the claim, and offer to test it again."""
        again = button("Test again", self._test_again)
        self.widget.children = [self.body, self.background.widget, again]
        super().start()

    def _test_again(self) -> None:
        if not self.background.busy:
            self._study.forget()
            super().start()


class FigureView(_ComputedView):
    """One of a chapter's figures, with its sentence and its table."""

    def __init__(self, paint: Paint, study: Study, *, is_open: bool = False) -> None:
        self._paint, self._study, self._is_open = paint, study, is_open

    def html(self) -> str:
        """Compute the figure and return it."""
        return drawing_html(self._paint(self._study), is_open=self._is_open)


def drawing_html(drawing: Drawing, *, is_open: bool = False) -> str:
    """Return a drawing as HTML: title, sentence, chart, and the table, folded unless `is_open`."""
    numbers = folded("The numbers", table(drawing.head, drawing.rows), is_open=is_open)
    title = drawing.title if drawing.title.endswith("?") else f"{drawing.title}."
    return paragraphs(f"**{title}** {drawing.sentence}") + chart(drawing) + numbers
