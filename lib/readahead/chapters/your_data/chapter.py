"""Your own table on the bench. It is read as it lies, or its first rows are packed again with other row groups and in
another order; the model knows it by its metadata alone, and DuckDB reads a sample of it on the device you choose.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.datasets.survey import Survey, survey
from readahead.devices import THIS_MACHINE, Device, calibrated, device
from readahead.errors import BadValue
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.experiments.figure import Axis, Line, Picture, Traces
from readahead.experiments.knobs import knob
from readahead.experiments.round import Bench, Round, traces
from readahead.measure import rewritten, sample_run
from readahead.measure.engine import EngineSettings, spare_threads
from readahead.measure.sample import Sample
from readahead.models import search, table_layout
from readahead.models.estimate import Estimate
from readahead.models.reads import Reads
from readahead.models.schedule import Costs, Window
from readahead.models.table_layout import Table, Workload

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
    def path(self, settings: Settings) -> str:
        """Return where the table lies; ours is built if need be."""
        if settings["path"] != OURS:
            return str(settings["path"])
        recipe = Recipe(table="comments_narrow", size=settings["size"], row_group_rows=OUR_ROWS)
        return str(store.path(recipe))

    def survey(self, settings: Settings) -> Survey:
        """Return what the metadata says.

        Raises `DataError` for what cannot be read, `BadValue` for no such column, or none to sort by.
        """
        path = self.path(settings)
        at = Path(path)
        changed = at.stat().st_mtime_ns if at.exists() else 0
        seen = _surveyed(path, self.column(settings, path), changed)
        if settings["layout"] == SORTED and not seen.by:
            raise BadValue(
                f"layout={SORTED!r} must have a column to sort by, and no column of {path} tells its smallest and"
                " largest value. Give one with by, or choose another layout."
            )
        return seen

    def column(self, settings: Settings, path: str) -> str:
        """Return the column to filter by: as asked, ours, or the first whose values are known, one a row."""
        if settings["by"]:
            return str(settings["by"])
        if settings["path"] == OURS:
            return OUR_COLUMN
        at = Path(path)
        plain = _surveyed(path, "", at.stat().st_mtime_ns if at.exists() else 0)
        return next((name for name in plain.orders if not plain.named(name).in_list), "")

    def device(self, settings: Settings) -> Device:
        """Return the device; this machine's own, before it was calibrated, stands in as an NVMe drive."""
        name = settings["device"]
        if name == THIS_MACHINE and calibrated() is None:
            return device("nvme").but(name=THIS_MACHINE)
        return device(name)

    def table(self, settings: Settings) -> Table:
        """Return the sample, as the arithmetic knows it."""
        return _sample(self.survey(settings))

    def workload(self, settings: Settings) -> Workload:
        """Return the filter, in the middle of the column as the query has it."""
        selectivity = settings["selectivity"] if self.survey(settings).by else 1.0
        return Workload(selectivity=selectivity, place=0.5)

    def plans(self, settings: Settings) -> list[Reads]:
        """Return the reads."""
        layout = settings["layout"]
        rows = 0 if layout == AS_IT_LIES else settings["row_group_rows"]
        return _plans(self.table(settings), self.workload(settings), rows, layout == SORTED or None)

    def best(self, settings: Settings, layout: str) -> int:
        """Return the advised row-group size in a layout, wherever the filter may lie."""
        anywhere = Workload(selectivity=self.workload(settings).selectivity)
        args = (self.table(settings), anywhere, self.device(settings), self._window(settings))
        rows, _ = search.best_rows(*args, self._costs(settings), by_filter=layout == SORTED or None)
        return int(self.knob("row_group_rows").nearest(rows))

    def _window(self, settings: Settings) -> Window:
        return table_layout.window(settings["queue_depth"], spare_threads())

    def _costs(self, settings: Settings) -> Costs:
        seen = self.survey(settings)
        weights = _weights.get((seen.asked, seen.by, settings["selectivity"]))
        in_order = settings["layout"] == SORTED
        return weights.of(in_order=in_order) if weights else sample_run.guessed_costs(seen)

    # -- the sources of truth ------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the sample's reads, as named terms."""
        args = (self.device(settings), self._window(settings), self._costs(settings))
        return table_layout.explained(self.plans(settings), *args)

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Write the sample in this layout, read it on the emulated device, and remove it."""
        seen = self.survey(settings)
        engine = EngineSettings(threads=spare_threads(), queue_depth=settings["queue_depth"])
        runner = sample_run.Runner(settings=engine, repeats=repeats, facts=dict(settings))
        workload = self.workload(settings)
        with rewritten.folder_beside(seen) as folder:
            lies = folder / "as-it-lies.parquet"
            rewritten.write(seen, lies, group_rows=seen.table.usual_rows, in_order=False)
            sample = survey(str(lies), columns=seen.wanted, by=seen.by)
            asked = sample_run.clause(sample, workload)
            key = (seen.asked, seen.by, settings["selectivity"])
            if key not in _weights:
                _weights[key] = sample_run.calibrate(sample, workload, runner, asked)
            path, layout = lies, settings["layout"]
            if layout != AS_IT_LIES:
                path = folder / "packed.parquet"
                rows = settings["row_group_rows"]
                rewritten.write(
                    sample, path, group_rows=rows, in_order=layout == SORTED, rows=sample.table.rows
                )
            return runner.measure(sample_run.query(sample, path, asked), self.device(settings))

    def work(self, settings: Settings) -> float:
        """Return the bytes of the sample."""
        return self.table(settings).wanted_bytes

    def unit(self, settings: Settings) -> str:
        """Return bytes_per_s."""
        return "bytes_per_s"

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say that the file as it lies has its own row groups."""
        if settings["layout"] == AS_IT_LIES:
            return {"row_group_rows": "The file as it lies has its own. Choose another layout to set them."}
        return {}


@functools.lru_cache(maxsize=32)
def _sample(seen: Survey) -> Table:
    return table_layout.first(seen.table, rewritten.sample_rows(seen))


@functools.lru_cache(maxsize=512)
def _plans(table: Table, workload: Workload, rows: int, by_filter: bool | None) -> list[Reads]:  # noqa: FBT001
    """Return the reads of a table packed in row groups of so many rows, or as it lies if that is 0."""
    if not rows:
        return table_layout.today(table, workload)
    return table_layout.packed(table, workload, rows, by_filter=by_filter)


@functools.lru_cache(maxsize=32)
def _surveyed(path: str, by: str, _changed: int) -> Survey:
    return survey(path, by=by)


_weights: dict[tuple[str, str, float], sample_run.SampleCosts] = {}
"""What the engine takes for each sample that was measured, until the kernel ends."""

EXPERIMENT = YourData(
    topic="your_data",
    title="Your data: what would you change?",
    knobs=(
        knob("device", default="object-store"),
        Knob(name="layout", label="Layout", kind="choice", default=AS_IT_LIES, choices=(AS_IT_LIES, PACKED, SORTED)),
        knob("row_group_rows", default=32_768),
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
    [plan] = EXPERIMENT.plans(bench.settings(layout=AS_IT_LIES))
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
    grid = np.array(search.sizes(EXPERIMENT.table(bench.base), points=40), float)
    high = EXPERIMENT.knob("row_group_rows").high
    lines = []
    for layout in (PACKED, SORTED):
        settings = bench.settings(layout=layout)
        speeds = [
            EXPERIMENT.throughput(
                settings, EXPERIMENT.model({**settings, "row_group_rows": int(rows)}).seconds
            )
            for rows in grid[grid <= high]
        ]
        lines.append(Line(name=f"{layout}, model", points=list(zip(grid.tolist(), speeds, strict=False))))
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
