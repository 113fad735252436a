"""A letter on the table of the lesson: what the advisor saw and what he would change, for this notebook's own table."""

from __future__ import annotations

import html
from typing import Any

from IPython import display as ipython

from readahead.advisor import advice, report
from readahead.errors import BadValue
from readahead.experiments.your_data import YourData


def letter(lesson: Any) -> None:
    """Show the advisor's report on the table, the device and the filter that a lesson was opened with.

    Raises `BadValue` for a lesson of another chapter, `DataError` for a table that cannot be read.
    """
    bench = lesson.bench
    experiment, settings = bench.experiment, bench.base
    if not isinstance(experiment, YourData):
        raise BadValue(f"lesson={experiment.topic!r} must be the lesson of 'your_data'. Open that chapter.")
    seen = experiment.survey(settings)
    share = settings["selectivity"] if seen.by else 1.0
    asked = advice.Asked.of(seen, selectivity=share, queue_depth=settings["queue_depth"])
    told = advice.advise(seen, experiment.device(settings), asked)
    text = html.escape("\n".join(report.letter(seen, [told])))
    show: Any = ipython
    show.display(show.HTML(f'<pre style="white-space: pre-wrap; max-width: 70em">{text}</pre>'))
