"""A letter on the table of the lesson: what the advisor saw and what he would change, for this notebook's own table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from IPython import display as ipython

from readahead import units
from readahead.advisor import advice, report
from readahead.advisor.findings import findings
from readahead.chapters.your_data.chapter import YourData
from readahead.errors import BadValue
from readahead.panels import paper


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
    today = told.today
    rows = [
        (
            "as it lies",
            "",
            units.text(today.seconds, "s"),
            report.speed(told, today.seconds),
            today.bottleneck,
        )
    ]
    rows += [
        (
            one.says,
            f"{one.gain:.2f} ×",
            units.text(one.seconds, "s"),
            report.speed(told, one.seconds),
            one.bottleneck,
        )
        for one in told.options
    ]
    text = paper.words(f"**What lies at {Path(seen.asked).name}.**")
    text += paper.table(("What", "Seen"), findings(seen))
    text += paper.words(f"**On {told.device.name}.** The bottleneck is {report.REMEDY[today.bottleneck]}.")
    text += paper.table(("Change", "gain", "time", "throughput", "bottleneck then"), rows)
    show: Any = ipython
    show.display(show.HTML(text))
