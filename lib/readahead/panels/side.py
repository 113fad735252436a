"""The second sheet of the panel: the bill above, the seismograph below it, in one figure, since every figure
carries its own five megabytes of JavaScript.
"""

from __future__ import annotations

from typing import Any

from readahead import units
from readahead.panels import terms, theme, trace
from readahead.panels.curve import HEIGHT
from readahead.panels.view import Dot, View

_BILL, _READS, _FLIGHT = (0.78, 0.935), (0.235, 0.635), (0.075, 0.17)
"""Where the three stand, from the bottom (0) to the top (1)."""


def _heading(y: float) -> dict[str, Any]:
    return {
        "text": "",
        "x": 0,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "xshift": -66,
        "showarrow": False,
        "font": {"size": 14},
    }


class Side:
    """The figure and the names of its parts."""

    def __init__(self) -> None:
        bill = terms.bar()
        reads = [line.update(xaxis="x2", yaxis="y2") for line in trace.lines()]
        flight = trace.stairs().update(xaxis="x3", yaxis="y3")
        self.figure = theme.widget(
            [bill, *reads, flight],
            theme.layout(
                height=HEIGHT,
                margin={"l": 76, "r": 14, "t": 8, "b": 8},
                xaxis=theme.axis(domain=[0, 1], anchor="y", showgrid=False),
                yaxis=theme.axis(
                    domain=_BILL,
                    anchor="x",
                    showgrid=False,
                    categoryorder="array",
                    categoryarray=terms.ROWS,
                    range=(-0.5, 2.5),
                    ticks="",
                    showline=False,
                ),
                xaxis2=theme.axis(domain=[0, 1], anchor="y2", showticklabels=False, ticks=""),
                yaxis2=theme.axis(domain=_READS, anchor="x2"),
                xaxis3=theme.axis(domain=[0, 1], anchor="y3"),
                yaxis3=theme.axis(
                    domain=_FLIGHT, anchor="x3", title={"text": "in<br>flight", "font": {"size": 12}}
                ),
                annotations=[_heading(_BILL[1] + 0.005), _heading(_READS[1] + 0.015)],
                font={"family": theme.FONT, "size": 13, "color": theme.INK},
            ),
        )
        data, layout = self.figure.data, self.figure.layout
        self._bill = data[0]
        self._names = {
            "reads": data[1:-1],
            "flight": data[-1],
            "time": layout.xaxis2,
            "place": layout.yaxis2,
            "below": layout.xaxis3,
            "depth": layout.yaxis3,
        }
        self._drawn: Dot | str | None = "nothing"

    def draw(self, view: View, newest: Dot | None) -> None:
        """Bring both up to date, in one message; the reads only when there are new ones."""
        head, reads = self.figure.layout.annotations
        estimate = view.estimate
        said = f"<b>Where the time goes</b>: model {units.text(estimate.seconds, 's')}, mostly {estimate.bottleneck}"
        with self.figure.batch_update():
            if head.text != said:
                head.text = said
            heading = trace.said(newest, earlier=newest is not view.here)
            if reads.text != heading:
                reads.text = heading
            terms.draw(self._bill, self.figure.layout.xaxis, view)
            if newest is not self._drawn:
                self._drawn = newest
                trace.draw(self._names, newest)
