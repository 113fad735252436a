"""The CPU cost of I/O: Chang's pages of 2010, worked out from his own table, and the same questions put to DuckDB on
this machine.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from readahead import devices
from readahead.chapters.io_cpu import laws, page_costs
from readahead.chapters.io_cpu.laws import PAGE_BYTES
from readahead.chapters.io_cpu.page_costs import in_print as in_print  # noqa: PLC0414 (what the chapter offers)
from readahead.chapters.io_cpu.workload import EVERY, QUERY_1, SUM, Reports, cpu_more, cpu_value
from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import DISK_COLD, DISK_WARM
from readahead.experiments.figure import Line, Picture, curve, dots
from readahead.experiments.knobs import experiment
from readahead.experiments.round import Applied, Round, Study, along, compared
from readahead.experiments.steps import Frame, scan_frames
from readahead.measure.run import EngineSettings, Query, run_local
from readahead.measure.sample import Value, exactly, this_machine
from readahead.published import Ratio
from readahead.questions.question import Computed
from readahead.storage import page_cache
from readahead.units import GB, MB, MiB

EXPERIMENT = experiment(
    Reports,
    __file__,
    "The CPU cost of I/O: device and processor, whoever is slower",
    fixed={"dataset": "lineitem"},
    calibrated_each=("report",),
)

SHORT = tuple(rows for rows in page_costs.ROWS if rows <= 40)
"""The pages from which the next ones are foretold."""
BANDWIDTHS = (50 * MB, 200 * MB, 800 * MB, 3_200 * MB)
AMPLE, TIGHT = 1_024 * MiB, 16 * MiB
"""Memory limits above and below the table of the eviction round."""


# -- this machine ----------------------------------------------------------------------------------------
def cores() -> int:
    """Return the workers that this machine has a core for."""
    return min(this_machine().cores, int(EXPERIMENT.knob("threads").high))


WARM: dict[str, Any] = {
    "where": DISK_WARM,
    "size": "small",
    "queue_depth": max(EXPERIMENT.knob("queue_depth").default, cores()),
}
"""From memory, a table that takes the processor longer than opening its file, whatever the notebook's size, and a row
group for every worker."""


def more_a_page(*, cold: bool, memory_bytes: int) -> Value:
    """Return what 8 KiB of a table cost the processor more in one way than from memory with room for all of it.

    From this disk that is the cost of fetching them: Chang's method. With a memory smaller than the table it is that of
    evicting: the operating system has the file in memory in both runs, so that no disk is in the difference. The table
    is in DuckDB's own format, whose blocks go through its buffer manager.
    """
    recipe = Recipe(table="comments_narrow", size="small", format="native")
    path = store.path(recipe)
    query = Query(sql=f"SELECT {recipe.source.every_column} FROM {{table}}", path=path)
    dear, cheap = (
        EngineSettings(threads=1, more={"memory_limit": f"{limit}B"}) for limit in (memory_bytes, AMPLE)
    )
    return cpu_more(
        partial(run_local, query, dear, cold=cold, repeats=1),
        partial(run_local, query, cheap, cold=False, repeats=1),
        PAGE_BYTES / path.stat().st_size,
    )


def spent(study: Study, report: str, **more: Any) -> Value:
    """Return the processor seconds of a query from memory."""
    return cpu_value(study.sample(report=report, **WARM, **more))


def core_rate(study: Study, report: str = EVERY) -> Applied:
    """Return the law of the bytes a second that one worker gets through of a query."""
    settings = study.settings(report=report, **WARM)
    costs, recipe = EXPERIMENT.costs(settings), EXPERIMENT.case(settings).recipe
    cpu_s = recipe.row_groups * costs.decode_s(recipe.rows / recipe.row_groups)
    return Applied(laws.rate_per_core, cpu_s=cpu_s, size_bytes=EXPERIMENT.work(settings))


def dear_law(study: Study) -> Applied:
    """Return the law of the processor time of Query 1 over that of one sum."""
    both = [EXPERIMENT.costs(study.settings(report=report, **WARM)) for report in (QUERY_1, SUM)]
    recipe = EXPERIMENT.case(study.settings(**WARM)).recipe
    group_rows = recipe.rows / recipe.row_groups
    dear_row_s, cheap_row_s = ((costs.decode_s(group_rows) - costs.group_s) / group_rows for costs in both)
    return Applied(
        laws.times_as_dear,
        rows=recipe.rows,
        row_groups=recipe.row_groups,
        dear_row_s=dear_row_s,
        cheap_row_s=cheap_row_s,
        group_s=both[1].group_s,
    )


def bytes_per_cpu_s(study: Study, report: str, **more: Any) -> Value:
    """Return the bytes that a query from memory gets through in a processor second."""
    work = EXPERIMENT.work(study.settings(report=report, **WARM))
    return exactly(work) / spent(study, report, **more)


def speed_up(see: Any) -> Any:
    """Return how many times faster Query 1 is from memory with a worker on each core than with one."""
    one, all_cores = (see.seconds(report=QUERY_1, **WARM, threads=threads) for threads in (1, cores()))
    return one / all_cores


def on_bandwidth(bandwidth_bytes_per_s: float, report: str = QUERY_1) -> dict[str, Any]:
    """Return the knobs of a query on a device of another bandwidth."""
    return {"report": report, "bandwidth_bytes_per_s": bandwidth_bytes_per_s, "threads": 1}


_LOAD = tuple(page_costs.figure(f"load_cpu_per_page_s.{end}") for end in ("low", "high"))
_SCAN = tuple(page_costs.figure(f"scan_bytes_per_core_s.{end}") for end in ("low", "high"))

ROUNDS = {
    "load": Round(
        model=lambda _: page_costs.fitted(*page_costs.SCAN).load_s,
        published=_LOAD,
        law=lambda _: Applied(
            laws.loading_s,
            from_disk_s=page_costs.printed("cpu_per_page_s.disk.r10"),
            in_memory_s=page_costs.printed("cpu_per_page_s.memory.r10"),
        ),
        model_also="is fitted to all lines of both columns",
    ),
    "rows158": Round(
        law=lambda _: page_costs.fitted("memory", rows=SHORT).law(158),
        published=(page_costs.figure("cpu_per_page_s.memory.r158"),),
    ),
    "rows323": Round(
        law=lambda _: page_costs.fitted("aggregate", rows=page_costs.USUAL).law(323),
        published=(page_costs.figure("cpu_per_page_s.aggregate.r323"),),
    ),
    "load_here": Round(
        measured=(lambda _: more_a_page(cold=True, memory_bytes=AMPLE)) if page_cache.can_evict() else None,
        published=_LOAD,
    ),
    "evict_here": Round(
        measured=lambda _: more_a_page(cold=False, memory_bytes=TIGHT),
        published=(page_costs.figure("evict_cpu_per_page_s"),),
    ),
    "query1": Round(law=dear_law, measured=lambda study: spent(study, QUERY_1) / spent(study, SUM)),
    "cores": Round(
        law=lambda _: Applied(laws.scaling, cores=cores(), sigma=page_costs.sigma()),
        measured=lambda study: speed_up(study.measured),
    ),
    "knee": Round(
        law=core_rate, measured=lambda study: bytes_per_cpu_s(study, EVERY, threads=1), published=_SCAN
    ),
    "tenfold": compared(
        on_bandwidth(500 * MB),
        on_bandwidth(5 * GB),
        law=lambda study, *_: Applied(
            laws.roof_gain,
            slow_bytes_per_s=500 * MB,
            fast_bytes_per_s=5 * GB,
            cpu_bytes_per_s=core_rate(study, QUERY_1),
        ),
    ),
}


def _from_disk(study: Study, _: Ratio) -> Value:
    """Return the processor time of a scan of this disk over that from memory."""
    cold, warm = (cpu_value(study.sample(report=EVERY, where=where)) for where in (DISK_COLD, DISK_WARM))
    return cold / warm


ANALOGUES = {
    "from_disk": _from_disk,
    "a_core": lambda study, _: speed_up(study.measured) / exactly(cores()),
    "query_1": lambda study, _: bytes_per_cpu_s(study, QUERY_1) / bytes_per_cpu_s(study, EVERY),
}

CLAIMS = {
    "sums_differ": Sides(left=lambda study: spent(study, QUERY_1), right=lambda study: spent(study, SUM)),
    "more_workers": Sides(
        left={"report": QUERY_1, **WARM, "threads": cores()},
        right={"report": QUERY_1, **WARM, "threads": 1},
        when={"this_machine_has": lambda left, right, study: cores() == 1},
    ),
    "slope": Sides(left=on_bandwidth(200 * MB, EVERY), right=on_bandwidth(50 * MB, EVERY)),
    "model_holds": Sides(
        left=on_bandwidth(200 * MB),
        right=lambda study: study.model.seconds(**on_bandwidth(200 * MB)),
    ),
}

ANSWERS = {
    "evict": Computed(answer=lambda _: page_costs.evicting_s()),
    "upgrade": Computed(
        law=lambda given: Applied(laws.cores_for, **given, sigma=page_costs.sigma()),
        wrong={
            "cores_add_up": lambda given: given["bytes_per_s"] / given["core_bytes_per_s"],
            "the_loss_of_eight": lambda given: given["bytes_per_s"] / given["core_bytes_per_s"] * 8 / 6.5,
        },
    ),
}


# -- figures ---------------------------------------------------------------------------------------------
def _printed(name: str, label: str) -> Line:
    return dots(label, zip(map(float, page_costs.ROWS), page_costs.column(name), strict=True), "published")


def _scan_cpu(_: Study) -> Picture:
    counts, lines = np.unique(np.geomspace(1, 323, 60).round()), list[Line]()
    scan, sums = page_costs.fitted(*page_costs.SCAN), page_costs.fitted("aggregate", rows=page_costs.USUAL)
    for name, costs in (("memory", scan), ("disk", scan), ("aggregate", sums)):
        modeled = costs.cpu_s(counts, loaded=name == "disk")
        lines += [curve(f"model, {name}", counts, modeled), _printed(name, f"Chang, {name}")]
    return Picture(lines=tuple(lines), marks={"cache lines in hand": scan.touched_rows})


def _row_width(study: Study) -> Picture:
    points = []
    for report in (EVERY, QUERY_1, SUM):
        settings = study.settings(report=report, **WARM)
        share = PAGE_BYTES / EXPERIMENT.work(settings)
        rows = EXPERIMENT.case(settings).recipe.rows * share
        points.append((rows, cpu_value(study.sample(report=report, **WARM), share).median))
    here = dots("DuckDB, warm: all columns, Query 1, one sum", points)
    return Picture(lines=(_printed("memory", "Chang, needle in memory"), here))


def _roofline(study: Study) -> Picture:
    name, lines = "bandwidth_bytes_per_s", list[Line]()
    for report in (EVERY, QUERY_1):
        label = EXPERIMENT.knob("report").text(report)
        lines += along(study, name, seen=BANDWIDTHS, label=label, report=report, threads=1)
    wide = EXPERIMENT.knob(name).grid(50)
    for rows in (page_costs.ROWS[0], page_costs.ROWS[-1]):
        core = laws.rate_per_core(float(page_costs.fitted(*page_costs.SCAN).cpu_s(rows, loaded=True)))
        who = f"Chang's core of 2010, {rows} row{'s' * (rows > 1)} a page"
        lines.append(curve(who, wide, np.minimum(wide, core), "other"))
    return Picture(lines=tuple(lines))


FIGURES = {
    "scan_cpu": _scan_cpu,
    "row_width": _row_width,
    "roofline": _roofline,
    "waiting": {"50 MB/s": on_bandwidth(50 * MB, EVERY), "5 GB/s": on_bandwidth(5 * GB, EVERY)},
}


def _turns(_: Study) -> list[Frame]:
    drive = devices.Device(name="given", latency_s=0.001, bandwidth_bytes_per_s=100e6)
    scan: dict[str, Any] = {"reads": 4, "read_bytes": 300_000, "slots": 1, "group_s": 0.006}
    return [
        *scan_frames(drive, depth=1, lead="A window of one row group.", **scan),
        *scan_frames(drive, depth=2, lead="A window of two.", **scan),
    ]


STEPS = {"turns": _turns}
