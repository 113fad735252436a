"""The learner's own table, as it lies, in other row groups or in another order: what changes would gain.

The model knows it by its metadata alone, and DuckDB reads a sample of it on the device that is chosen.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.datasets.survey import Survey, survey
from readahead.devices import THIS_MACHINE, Device, calibrated, device
from readahead.errors import BadValue
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.experiments.figure import Axis, Line, Picture, Traces
from readahead.experiments.knobs import knob
from readahead.experiments.round import Bench, Round, traces
from readahead.measure import sample_run
from readahead.measure.engine import EngineSettings, spare_threads
from readahead.measure.sample import Sample
from readahead.models import table_layout
from readahead.models.estimate import Estimate
from readahead.models.reads import Reads
from readahead.models.schedule import Costs
from readahead.models.table_layout import Case, Layout, Table, Workload

OURS = "our table"
AS_IT_LIES, PACKED, SORTED = "as it lies", "other row groups", "sorted by the filter"
OUR_ROWS, OUR_COLUMN = 4_096, "post_id"
TENTH = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Words(Knob):
    """A knob that takes any words: a path, or the name of a column."""

    def check(self, value: Any) -> Any:
        """Return the words. Raises `BadValue` for what is none."""
        if not isinstance(value, str):
            raise BadValue(f"{self.name}={value!r} must be words in quotes. {self.help}")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class YourData(Experiment):
    """A file of the learner's, or one of ours in its place."""

    # -- what is asked -------------------------------------------------------------------------------
    def survey(self, settings: Settings) -> Survey:
        """Return what the metadata says; ours is built if need be.

        The column to filter by is the one asked for, ours, or the first whose values are known, one a row. Raises
        `DataError` for what cannot be read, `BadValue` for no such column, or none to sort by.
        """
        path, by = Path(settings["path"]), settings["by"]
        if settings["path"] == OURS:
            recipe = Recipe(table="comments_narrow", size=settings["size"], row_group_rows=OUR_ROWS)
            path, by = store.path(recipe), by or OUR_COLUMN
        changed = path.stat().st_mtime_ns if path.exists() else 0
        seen = _surveyed(str(path), by, changed)
        if not by:
            plain = (name for name in seen.orders if not seen.named(name).in_list)
            seen = _surveyed(str(path), next(plain, ""), changed)
        if settings["layout"] == SORTED and not seen.by:
            raise BadValue(
                f"layout={SORTED!r} must have a column to sort by, and no column of {path} tells its smallest and"
                " largest value. Give one with by, or choose another layout."
            )
        return seen

    def device(self, settings: Settings) -> Device:
        """Return the device; this machine's own, before it was calibrated, stands in as an NVMe drive."""
        name = settings["device"]
        if name == THIS_MACHINE and calibrated() is None:
            return device("nvme").but(name=THIS_MACHINE)
        return device(name)

    def case(self, settings: Settings) -> Case:
        """Return the sample and what is asked of it, with the filter in the middle of the column as in the query."""
        seen = self.survey(settings)
        known = _costs.get((seen.asked, seen.by, settings["selectivity"]))
        return Case(
            table=_sample(seen),
            workload=Workload(selectivity=settings["selectivity"] if seen.by else 1.0, place=0.5),
            device=self.device(settings),
            costs=known[settings["layout"] == SORTED] if known else sample_run.guessed_costs(seen),
            queue_depth=settings["queue_depth"],
            threads=spare_threads(),
        )

    def layout(self, settings: Settings) -> Layout:
        """Return how the rows are stored."""
        if settings["layout"] == AS_IT_LIES:
            return Layout()
        return Layout(rows=settings["row_group_rows"], in_order=settings["layout"] == SORTED)

    def plan(self, settings: Settings) -> Reads:
        """Return the reads."""
        return self._plans(self.case(settings), settings)[0]

    def _plans(self, case: Case, settings: Settings) -> list[Reads]:
        return _plans(case.table, case.workload, self.layout(settings))

    def best(self, settings: Settings, layout: str) -> int:
        """Return the advised row-group size in a layout, wherever the filter may lie."""
        case = self.case(settings)
        anywhere = replace(case, workload=replace(case.workload, place=None))
        return int(self.knob("row_group_rows").nearest(anywhere.best_rows(in_order=layout == SORTED)))

    # -- the sources of truth ------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the sample's reads, as named terms."""
        case = self.case(settings)
        return case.timed(self._plans(case, settings))

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Write the sample in this layout, read it on the emulated device, and remove it."""
        seen, case = self.survey(settings), self.case(settings)
        engine = EngineSettings(threads=case.threads, queue_depth=case.queue_depth)
        with sample_run.sample_of(seen, case.workload, engine, repeats=repeats, facts=settings) as sample:
            key = (seen.asked, seen.by, settings["selectivity"])
            if key not in _costs:
                _costs[key] = sample.calibrate()
            return sample.measure(sample.write(self.layout(settings)), case.device)

    def work(self, settings: Settings) -> float:
        """Return the bytes of the sample."""
        return self.case(settings).table.wanted_bytes

    def unit(self, settings: Settings) -> str:
        """Return bytes_per_s."""
        return "bytes_per_s"


@functools.lru_cache(maxsize=32)
def _surveyed(path: str, by: str, _changed: int) -> Survey:
    return survey(path, by=by)


@functools.lru_cache(maxsize=32)
def _sample(seen: Survey) -> Table:
    return table_layout.first(seen.table, sample_run.sample_rows(seen))


_plans = functools.lru_cache(maxsize=512)(table_layout.plans)
"""What a slider does not change is kept."""

_costs: dict[tuple[str, str, float], dict[bool, Costs]] = {}
"""What the engine takes for each sample that was measured, until the kernel ends: in order (True), or as it lies."""


def _no_row_groups(settings: Settings) -> str:
    as_it_lies = settings["layout"] == AS_IT_LIES
    return "The file as it lies has its own. Choose another layout to set them." if as_it_lies else ""


EXPERIMENT = YourData(
    topic="your_data",
    title="Your data: what would you change?",
    knobs=(
        knob("device", default="object-store"),
        Knob(name="layout", label="Layout", kind="choice", default=AS_IT_LIES, choices=(AS_IT_LIES, PACKED, SORTED)),
        knob("row_group_rows", default=32_768, idle=_no_row_groups),
        Knob(
            name="selectivity", label="Filter keeps", kind="1", default=TENTH, low=0.001, high=1.0,
            help="Share of the rows that the filter keeps.",
        ),
        knob("queue_depth", folded=False),
        Words(
            name="path", label="Table", kind="choice", default=OURS, choices=(OURS,), folded=True,
            help="A Parquet file, a folder, a pattern, or a DuckDB database.",
        ),
        Words(
            name="by", label="Filtered by", kind="choice", default="", choices=("",), folded=True,
            help="A column of the table; if empty, one is chosen.",
        ),
        knob("size", default="tiny"),
    ),
)  # fmt: skip


# -- the rounds ------------------------------------------------------------------------------------------
def packed(settings: Settings, layout: str) -> dict[str, Any]:
    """Return the knobs of a layout with the row groups that are advised for it."""
    return {"layout": layout, "row_group_rows": EXPERIMENT.best({**settings, "layout": AS_IT_LIES}, layout)}


def gain(see: Any, layout: str) -> Any:
    """Return how many times as long the sample takes as it lies as in a layout."""
    return see.seconds(layout=AS_IT_LIES) / see.seconds(**packed(see.bench.base, layout))


def amplified(bench: Bench) -> float:
    """Return the row groups that the metadata cannot rule out over those that would hold the wanted rows."""
    plan = EXPERIMENT.plan(bench.settings(layout=AS_IT_LIES))
    return plan.read_groups / len(plan.rows) / float(bench.base["selectivity"])


def seen_amplified(bench: Bench) -> float:
    """Return the same of the row groups that DuckDB went through."""
    sample = bench.sample(layout=AS_IT_LIES)
    return sample.row_groups_scanned / sample.row_groups_total / float(bench.base["selectivity"])


ROUNDS = {
    "touched": Round(model=amplified, measured=seen_amplified),
    "other_groups": Round(ask=lambda see: gain(see, PACKED)),
    "other_order": Round(ask=lambda see: gain(see, SORTED)),
}


# -- the pictures ----------------------------------------------------------------------------------------
def _layouts(bench: Bench) -> Picture:
    table, high = EXPERIMENT.case(bench.base).table, EXPERIMENT.knob("row_group_rows").high
    grid = [float(rows) for rows in table_layout.sizes(table, points=40) if rows <= high]
    lines = []
    for layout in (PACKED, SORTED):
        speeds = EXPERIMENT.curve(bench.settings(layout=layout), "row_group_rows", grid)
        lines.append(Line(name=f"{layout}, model", points=list(zip(grid, speeds.tolist(), strict=True))))
        chosen = packed(bench.base, layout)
        point = (float(chosen["row_group_rows"]), bench.measured.throughput(**chosen).median)
        lines.append(Line(name=f"{layout}, measured", points=[point], source="measured", joined=False))
    now = bench.measured.throughput(layout=AS_IT_LIES).median
    usual = float(EXPERIMENT.survey(bench.base).table.usual_rows)
    lines.append(Line(name="as it lies, measured", points=[(usual, now)], source="measured", joined=False))
    return Picture(
        title="The same rows, packed otherwise",
        sentence=f"On {bench.base['device']}: as it lies the table is read at {now / 1e6:,.3g} MB/s. The lines say what"
        " other row groups would do, in the old order and sorted by the filter; the dots were written and read.",
        x=Axis(label="rows in a row group", kind="rows"),
        y=Axis(label="throughput", kind="bytes_per_s"),
        lines=tuple(lines),
        marks={"today": usual},
    )


def _reads(bench: Bench) -> Traces:
    return traces(
        bench,
        title="Before and after",
        sentence="One question, the same rows: as the table lies, in other row groups, and sorted by the filter.",
        runs={
            AS_IT_LIES: {"layout": AS_IT_LIES},
            PACKED: packed(bench.base, PACKED),
            SORTED: packed(bench.base, SORTED),
        },
    )


FIGURES = {"layouts": _layouts, "reads": _reads}
