"""A notice board on which only tested sentences hang. Each claim is pinned up with what this run says of it:
agrees, differs and why, or too noisy and what to do.
"""

from __future__ import annotations

import ipywidgets as widgets

from readahead.experiments.claim import AGREES, DIFFERS, NOISY, Claim, Finding
from readahead.experiments.round import Bench
from readahead.panels import paper, theme
from readahead.panels.waiting import Waiting

_MARKS = {
    AGREES: ("✓", "Agrees.", theme.COLOURS["measured"]),
    DIFFERS: ("≠", "Differs, likely because:", theme.COLOURS["guess"]),
    NOISY: ("?", "Too noisy to say. Do this:", theme.COLOURS["other"]),
}


def printed(finding: Finding) -> str:
    """Return the finding as HTML."""
    mark, title, colour = _MARKS[finding.verdict]
    seen = paper.words(finding.says.split(". ", 1)[-1])
    more = paper.listing(finding.reasons)
    body = seen + more if finding.verdict == AGREES else more + seen
    return paper.box(mark, title, body, colour)


class Pinned:
    """One claim; tests itself at once, in the background. `face` is what to display."""

    def __init__(self, claim: Claim, bench: Bench) -> None:
        self._claim, self._bench = claim, bench
        self.body = widgets.HTML()
        self.again = widgets.Button(description="Test again")
        self.again.on_click(lambda _: self._once_more())
        self.waiting: Waiting[Finding] = Waiting(self._test, self._tested)
        self.face = widgets.VBox([self.body, self.waiting.face, self.again])
        self.waiting.start()

    def _test(self) -> Finding:
        return self._claim.on(self._bench)

    def _tested(self, finding: Finding) -> None:
        self.body.value = printed(finding)

    def _once_more(self) -> None:
        if not self.waiting.busy:
            self._bench.forget()
            self.waiting.start()
