"""What the processor pays for input and output: Chang's pages of 2010, worked out from his own table, and the same
questions put to DuckDB on this machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from readahead import devices, published
from readahead.chapters.io_cpu import laws
from readahead.chapters.io_cpu.cpu_time import Run, cpu_more, cpu_value
from readahead.chapters.io_cpu.laws import PAGE_BYTES
from readahead.chapters.io_cpu.printed import (
    FITTED,
    ROWS,
    column,
    foretold,
    pages,
    residuals,
    sigma,
    summed,
)
from readahead.chapters.io_cpu.workload import EVERY, ONE, QUERY, REPORT, Working
from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.experiments.figure import Axis, Line, Picture, Traces
from readahead.experiments.knobs import DISK_WARM, knob
from readahead.experiments.residuals import against_print
from readahead.experiments.round import Bench, Round, traces
from readahead.measure.engine import EngineSettings
from readahead.measure.machine import this_machine
from readahead.measure.run import Query
from readahead.measure.value import Value
from readahead.storage import page_cache
from readahead.units import GB, MB, MiB

_SSD = devices.device("sata-ssd")

EXPERIMENT = Working(
    topic="io_cpu",
    title="The CPU cost of I/O: device and processor, whoever is slower",
    knobs=(
        knob("device", default=_SSD.name),
        knob("bandwidth_bytes_per_s", default=_SSD.bandwidth_bytes_per_s, low=10e6, folded=False),
        knob("threads", default=1, folded=False),
        QUERY,
        knob("row_group_rows", default=16_384, folded=True),
        knob("latency_s", default=_SSD.latency_s, folded=True),
        knob("queue_depth"),
        knob("channels", default=_SSD.channels),
        knob("size", default="tiny"),
        knob("where"),
    ),
    fixed={"dataset": "lineitem"},
)

BANDWIDTHS = (50 * MB, 200 * MB, 800 * MB, 3_200 * MB)
AMPLE, TIGHT = 1_024 * MiB, 16 * MiB
"""Memory limits above and below the table of the eviction round."""


# -- this machine ----------------------------------------------------------------------------------------
def cores() -> int:
    """Return the workers that this machine has a core for."""
    return min(this_machine().cores, int(EXPERIMENT.knob("threads").high))


def _more(dear: Run, cheap: Run) -> Value:
    """Return what 8 KiB of a table cost the processor more in one way than in the other.

    The table is in DuckDB's own format, whose blocks go through its buffer manager.
    """
    recipe = Recipe(table="comments_narrow", size="small", format="native")
    path = store.path(recipe)
    query = Query(sql=f"SELECT {recipe.source.every_column} FROM {{table}}", path=path)
    share = PAGE_BYTES / path.stat().st_size
    return cpu_more(query, dear, cheap, share)


def _alone(memory_bytes: int) -> EngineSettings:
    return EngineSettings(threads=1, more={"memory_limit": f"{memory_bytes}B"})


def loading(_: Bench) -> Value:
    """Return what 8 KiB cost the processor more from this disk than from memory: Chang's method."""
    return _more(Run(engine=_alone(AMPLE), cold=True), Run(engine=_alone(AMPLE)))


def evicting(_: Bench) -> Value:
    """Return what 8 KiB cost the processor more when DuckDB's memory is smaller than the table.

    The operating system has the file in memory in both runs, so that no disk is in the difference.
    """
    return _more(Run(engine=_alone(TIGHT)), Run(engine=_alone(AMPLE)))


def cpu_ratio(bench: Bench) -> Value:
    """Return how many times the processor seconds of one sum Query 1 takes, from memory."""
    dear, cheap = (cpu_value(bench.sample(report=report, where=DISK_WARM)) for report in (REPORT, ONE))
    return dear / cheap


def knee_modeled(bench: Bench) -> float:
    """Return the device bandwidth, in bytes/s, at which one worker has no time to wait for a scan."""
    settings = bench.settings(report=EVERY, where=DISK_WARM)
    costs, recipe = EXPERIMENT.costs(settings), EXPERIMENT.case(settings).recipe
    cpu_s = recipe.rows * costs.row_s + recipe.row_groups * costs.group_s
    return float(laws.rate_per_core(cpu_s, EXPERIMENT.work(settings)))


def knee_measured(bench: Bench) -> Value:
    """Return the same from the processor seconds of a warm scan."""
    return cpu_value(bench.sample(report=EVERY, where=DISK_WARM, threads=1)).inverse(
        EXPERIMENT.work(bench.settings(report=EVERY))
    )


def on_bandwidth(bandwidth_bytes_per_s: float, report: str = REPORT, **more: Any) -> dict[str, Any]:
    """Return the knobs of a query on a device of another bandwidth."""
    return {"report": report, "bandwidth_bytes_per_s": bandwidth_bytes_per_s, "threads": 1, **more}


_LOAD = tuple(published.figure("io_cpu", f"load_cpu_per_page_s.{end}") for end in ("low", "high"))

ROUNDS = {
    "load": Round(model=lambda _: pages().load_s, measures=False, published=_LOAD),
    "rows158": Round(
        model=lambda _: foretold(158),
        measures=False,
        published=(published.figure("io_cpu", "cpu_per_page_s.memory.r158"),),
    ),
    "rows323": Round(
        model=lambda _: float(laws.page_cpu_s(summed(), 323)),
        measures=False,
        published=(published.figure("io_cpu", "cpu_per_page_s.aggregate.r323"),),
    ),
    "load_here": Round(measured=loading, measures=page_cache.can_evict(), published=_LOAD),
    "evict_here": Round(measured=evicting, published=(published.figure("io_cpu", "evict_cpu_per_page_s"),)),
    "query1": Round(model=lambda _: 6.0, measured=cpu_ratio),
    "cores": Round(
        model=lambda _: float(laws.scaling(cores(), sigma())),
        measured=lambda bench: (
            bench.measured.seconds(report=REPORT, where=DISK_WARM, threads=1)
            / bench.measured.seconds(report=REPORT, where=DISK_WARM, threads=cores())
        ),
    ),
    "knee": Round(
        model=knee_modeled,
        measured=knee_measured,
        published=tuple(
            published.figure("io_cpu", f"scan_bytes_per_core_s.{end}") for end in ("low", "high")
        ),
    ),
    "tenfold": Round(
        ask=lambda see: see.seconds(**on_bandwidth(500 * MB)) / see.seconds(**on_bandwidth(5 * GB))
    ),
}


# -- the pictures ----------------------------------------------------------------------------------------
def _scan_cpu(_: Bench) -> Picture:
    counts = np.geomspace(1, 323, 60)
    lines = []
    for name, costs, loaded in (
        ("memory", pages(), False), ("disk", pages(), True), ("aggregate", summed(), False),
    ):  # fmt: skip
        modeled = laws.page_cpu_s(costs, counts, loaded=loaded)
        lines.append(
            Line(name=f"model, {name}", points=list(zip(counts.tolist(), modeled.tolist(), strict=True)))
        )
        told = [(float(count), figure) for count, figure in zip(ROWS, column(name), strict=True)]
        lines.append(Line(name=f"Chang, {name}", points=told, source="published", joined=False))
    return Picture(
        title="What a page costs the processor",
        sentence="Fetching a page costs the same however many rows lie on it, so the two lower lines run together as"
        " the rows take over; the aggregate keeps to its line until the densest page, and leaves it there.",
        x=Axis(label="rows on a page", kind="count"),
        y=Axis(label="CPU time a page", kind="s"),
        lines=tuple(lines),
        marks={"cache lines in hand": pages().touched_rows},
    )


def _row_width(bench: Bench) -> Picture:
    points = []
    for report in (EVERY, REPORT, ONE):
        settings = bench.settings(report=report)
        share = PAGE_BYTES / EXPERIMENT.work(settings)
        rows = EXPERIMENT.case(settings).recipe.rows * share
        points.append((rows, cpu_value(bench.sample(report=report, where=DISK_WARM), share).median))
    chang = [(float(count), figure) for count, figure in zip(ROWS, column("memory"), strict=True)]
    return Picture(
        title="Rows in 8 KiB, then and now",
        sentence="A row store of 2010 and a column store of today on one paper: what a query leaves unread makes its"
        " rows short, and the processor pays by the value.",
        x=Axis(label="rows in 8 KiB of what is read", kind="count"),
        y=Axis(label="CPU time for 8 KiB", kind="s"),
        lines=(
            Line(name="Chang, needle in memory", points=chang, source="published", joined=False),
            Line(name="DuckDB, warm: all columns, Query 1, one sum", points=points, source="measured", joined=False),
        ),
        marks={},
    )  # fmt: skip


def _roofline(bench: Bench) -> Picture:
    wide = EXPERIMENT.knob("bandwidth_bytes_per_s").grid(50)
    lines = []
    for report in (EVERY, REPORT):
        curve = EXPERIMENT.curve(
            bench.settings(**on_bandwidth(500 * MB, report)), "bandwidth_bytes_per_s", wide
        )
        lines.append(
            Line(name=f"model, {report}", points=list(zip(wide.tolist(), curve.tolist(), strict=True)))
        )
        seen = [
            (float(rate), bench.measured.throughput(**on_bandwidth(rate, report)).median)
            for rate in BANDWIDTHS
        ]
        lines.append(Line(name=f"DuckDB, {report}", points=seen, source="measured", joined=False))
    for rows in (ROWS[0], ROWS[-1]):
        core = laws.rate_per_core(laws.page_cpu_s(pages(), rows, loaded=True))
        roof = laws.roofline(wide, core)
        lines.append(
            Line(
                name=f"Chang's core of 2010, {rows} row{'s' * (rows > 1)} a page", source="other",
                points=list(zip(wide.tolist(), roof.tolist(), strict=True)),
            )
        )  # fmt: skip
    return Picture(
        title="Two roofs",
        sentence="On the slope the device sets the pace and money for bandwidth is well spent; on the flat the"
        " processor does, and a faster device changes nothing.",
        x=Axis(label="bandwidth of the device", kind="bytes_per_s"),
        y=Axis(label="throughput", kind="bytes_per_s"),
        lines=tuple(lines),
        marks={},
    )


def _waiting(bench: Bench) -> Traces:
    return traces(
        bench,
        title="Who waits for whom",
        sentence="From the slow device one read follows the other without a pause; from the fast one they come in"
        " bursts, and between them the device waits for the processor.",
        runs={
            "50 MB/s": on_bandwidth(50 * MB, EVERY),
            "5 GB/s": on_bandwidth(5 * GB, EVERY),
        },
    )


FIGURES = {
    "scan_cpu": _scan_cpu,
    "row_width": _row_width,
    "roofline": _roofline,
    "waiting": _waiting,
    "printed": lambda _: against_print(residuals(), FITTED),
}

__all__ = ["EXPERIMENT", "FIGURES", "FITTED", "ROUNDS", "residuals"]
