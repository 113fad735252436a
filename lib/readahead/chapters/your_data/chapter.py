"""Your data: what another row-group size or another order would gain on a table of the learner's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from readahead.chapters.your_data import laws
from readahead.chapters.your_data.workload import REGROUPED, SORTED, TODAY, YourData
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import Settings
from readahead.experiments.figure import Line, Picture, Traces, dots
from readahead.experiments.knobs import experiment
from readahead.experiments.round import Applied, Round, Study, along, compared, traces
from readahead.experiments.steps import Frame, scan_frames
from readahead.experiments.table_experiment import times_law
from readahead.units import MB

EXPERIMENT = experiment(YourData, __file__, "Your data: what would you change?")


# -- the rounds ------------------------------------------------------------------------------------------
AS_IT_LIES = {"layout": TODAY}


def advised(settings: Settings, layout: str) -> dict[str, Any]:
    """Return the knobs of a layout with the row groups that are advised for it."""
    return {"layout": layout, "row_group_rows": EXPERIMENT.best({**settings, **AS_IT_LIES}, layout)}


def amplification(study: Study) -> Applied:
    """Return the law with the row groups that the metadata cannot rule out."""
    reads, share = EXPERIMENT.plan(study.settings(layout=TODAY)), float(study.base["selectivity"])
    groups = {"read_groups": reads.read_groups, "groups": len(reads.rows)}
    return Applied(laws.amplification, **groups, selectivity=share)


def seen_amplification(study: Study) -> float:
    """Return the same of the row groups that DuckDB went through."""
    sample, share = study.sample(layout=TODAY), float(study.base["selectivity"])
    scanned, groups = sample.row_groups_scanned, sample.row_groups_total
    return laws.amplification(scanned, groups=groups, selectivity=share)


ROUNDS = {
    "touched": Round(law=amplification, measured=seen_amplification),
    "other_groups": compared(AS_IT_LIES, lambda study: advised(study.base, REGROUPED), times_law),
    "other_order": compared(AS_IT_LIES, lambda study: advised(study.base, SORTED), times_law),
}


CLAIMS = {
    "promise_groups": Sides(
        left=lambda study: study.measured.seconds(**advised(study.base, REGROUPED)),
        right=lambda study: study.model.seconds(**advised(study.base, REGROUPED)),
        when={"the_query_takes": lambda left, right, study: right.median < 0.02},
    ),
    "order_pays": Sides(
        left=lambda study: study.measured.seconds(**advised(study.base, SORTED)),
        right=lambda study: study.measured.seconds(**advised(study.base, REGROUPED)),
        when={"the_filter_keeps": lambda left, right, study: study.base["selectivity"] > 0.5},
    ),
}


# -- the pictures ----------------------------------------------------------------------------------------
def _said(layout: str) -> str:
    return EXPERIMENT.knob("layout").text(layout)


def _layouts(study: Study) -> Picture:
    usual, now = EXPERIMENT.survey(study.base).table.usual_rows, study.measured.throughput(layout=TODAY)
    today, lines = (float(usual), now.median), list[Line]()
    for layout in (REGROUPED, SORTED):
        best = advised(study.base, layout)["row_group_rows"]
        label = _said(layout)
        lines += along(study, "row_group_rows", seen=(best,), label=label, by="measured", layout=layout)
    lines.append(dots(f"measured, {_said(TODAY)}", [today]))
    return Picture(
        values={"device": study.base["device"], "mb_per_s": today[1] / MB},
        lines=tuple(lines),
        marks={"today": today[0]},
    )


def _reads(study: Study) -> Traces:
    chosen = {layout: advised(study.base, layout) for layout in (REGROUPED, SORTED)}
    runs = {TODAY: {"layout": TODAY}, **chosen}
    return traces(study, runs={_said(layout): changes for layout, changes in runs.items()})


FIGURES = {"layouts": _layouts, "reads": _reads}


def _first_reads(study: Study) -> Iterator[Frame]:
    """Return the schedule of the first reads of the table as it lies, each as long as they are on average."""
    plan, slots = EXPERIMENT.plan(study.settings(layout=TODAY)), min(8, study.base["queue_depth"])
    count = max(1, len(plan.spans))  # a filter may rule everything out
    first: dict[str, Any] = {"reads": min(16, count), "read_bytes": plan.data_bytes // count}
    drive = EXPERIMENT.device(study.base)
    return scan_frames(drive, **first, slots=slots, depth=slots + 1, open_s=drive.latency_s, group_s=0.001)


STEPS = {"first_reads": _first_reads}
