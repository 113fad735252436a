"""Shows the advisor's report in the lesson on the learner's own data: what was seen, and which change helps most."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from readahead import units
from readahead.advisor import advice, report
from readahead.advisor.report import findings
from readahead.chapters.your_data.workload import YourData
from readahead.errors import BadValue
from readahead.panels.markup import paragraphs, show, table


def letter(lesson: Any) -> None:
    """Show the advisor's report on the table, the device and the filter that a lesson was opened with.

    Raises `BadValue` for a lesson of another chapter, `DataError` for a table that cannot be read.
    """
    study = lesson.study
    experiment, settings = study.experiment, study.base
    if not isinstance(experiment, YourData):
        raise BadValue(f"lesson={experiment.topic!r} must be the lesson of 'your_data'. Open that chapter.")
    seen = experiment.survey(settings)
    share = settings["selectivity"] if seen.by else 1.0
    asked = advice.Asked.of(seen, selectivity=share, queue_depth=settings["queue_depth"])
    told = advice.advise(seen, experiment.device(settings), asked)

    def row(name: str, gain: str, seconds: float, bottleneck: str) -> tuple[str, ...]:
        return (name, gain, units.text(seconds, "s"), report.speed(told, seconds), bottleneck)

    rows = [row("as it lies", "", told.today.seconds, told.today.bottleneck)]
    rows += [row(one.says, f"{one.gain:.2f} ×", one.seconds, one.bottleneck) for one in told.options]
    head = ("Change", "gain", "time", "throughput", "bottleneck then")
    remedy = report.REMEDY[told.today.bottleneck]
    show(
        paragraphs(f"**What lies at {Path(seen.asked).name}.**")
        + table(("What", "Seen"), findings(seen))
        + paragraphs(f"**On {told.case.device.name}.** The bottleneck is {remedy}.")
        + table(head, rows)
    )
