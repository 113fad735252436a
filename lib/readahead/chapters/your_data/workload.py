"""The learner's own table, as it lies, in other row groups or in another order: its model, and a measured sample.

The model knows the table by its metadata alone, and DuckDB reads a sample of it on the device that is chosen.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.datasets.survey import Survey, survey
from readahead.devices import Device, device_or_stand_in
from readahead.errors import BadValue
from readahead.experiments.experiment import Experiment, Settings
from readahead.experiments.round import Applied
from readahead.experiments.table_experiment import query_law
from readahead.measure import calibrate, sample_run
from readahead.measure.calibrate import Calibration, only_typical
from readahead.measure.run import EngineSettings, spare_threads
from readahead.measure.sample import Sample
from readahead.models import table_layout
from readahead.models.estimate import Estimate
from readahead.models.reads import Reads
from readahead.models.schedule import Costs
from readahead.models.table_layout import Case, Layout, Table, Workload

OURS = "ours"
"""The table of this workbook, for who has none at hand."""
TODAY, REGROUPED, SORTED = "today", "regrouped", "sorted"
OUR_ROWS, OUR_COLUMN = 4_096, "post_id"


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
        return device_or_stand_in(settings["device"])

    def case(self, settings: Settings) -> Case:
        """Return the sample and what is asked of it, with the filter in the middle of the column as in the query."""
        seen = self.survey(settings)
        known = None if only_typical() else _costs.get((seen.asked, seen.by, settings["selectivity"]))
        costs = sample_run.guessed_costs(seen)
        if known:
            costs = replace(costs, row_s=known[settings["layout"] == SORTED].row_s)
        return Case(
            table=_sample(seen),
            workload=Workload(selectivity=settings["selectivity"] if seen.by else 1.0, place=0.5),
            device=self.device(settings),
            costs=costs,
            queue_depth=settings["queue_depth"],
            threads=spare_threads(),
        )

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return the calibration of what the engine takes whatever table it reads."""
        return (calibrate.engine(calibrate.KEYED),)

    def layout(self, settings: Settings) -> Layout:
        """Return how the rows are stored."""
        if settings["layout"] == TODAY:
            return Layout()
        return Layout(rows=settings["row_group_rows"], in_order=settings["layout"] == SORTED)

    def plan(self, settings: Settings) -> Reads:
        """Return the reads."""
        case = self.case(settings)
        return _plans(case.table, case.workload, self.layout(settings))[0]

    def best(self, settings: Settings, layout: str) -> int:
        """Return the advised row-group size in a layout, wherever the filter may lie."""
        case = self.case(settings)
        anywhere = replace(case, workload=replace(case.workload, place=None))
        return int(self.knob("row_group_rows").nearest(anywhere.best_rows(in_order=layout == SORTED)))

    # -- the sources of truth ------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the schedule of the sample's reads, as named terms."""
        case = self.case(settings)
        return case.timed(_plans(case.table, case.workload, self.layout(settings)))

    def law(self, settings: Settings) -> Applied:
        """Return the law of the query's time with the numbers of its reads, its device and its engine."""
        case, reads = self.case(settings), self.plan(settings)
        rows, groups = int(reads.rows[reads.is_read].sum()), reads.read_groups
        decode_s = groups * case.costs.decode_s(rows / groups)
        return query_law(reads, case.device, case.window, case.costs, self.model(settings), decode_s)

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Write the sample in this layout, read it on the emulated device, and remove it."""
        self.ensure_calibrated(settings)  # a row's price is read off beside all others
        seen, case = self.survey(settings), self.case(settings)
        engine = EngineSettings(threads=case.threads, queue_depth=case.queue_depth)
        with sample_run.sample_of(seen, case.workload, engine, repeats=repeats) as sample:
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
