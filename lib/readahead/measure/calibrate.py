"""Weighing the engine before asking it to carry something. A handful of short runs on emulated devices, on this
machine, tell what DuckDB itself takes: to plan, to open a file, to issue a read, to decode a row.

Each cost is read off the runs that show it, not fitted all at once: one read at a time shows the pause between an
arrival and the next request, which grows with the rows to decode; many in flight show the narrowest hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from readahead import paths
from readahead.datasets.recipe import Recipe
from readahead.devices import Device, calibrated
from readahead.measure.case import Case
from readahead.measure.engine import EngineSettings, spare_threads
from readahead.measure.kept import keep, kept
from readahead.measure.machine import this_machine
from readahead.measure.sample import Sample
from readahead.models.schedule import Costs
from readahead.running import quietly, tell
from readahead.storage import page_cache

MEMORY = Device(name="memory", latency_s=1e-6, bandwidth_bytes_per_s=1e10, channels=64)
"""What a warm file is read from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A case, and what came of it."""

    case: Case
    sample: Sample

    @property
    def group_rows(self) -> int:
        """Return the rows of a full row group."""
        return self.case.recipe.effective_row_group_rows

    def pauses_s(self) -> np.ndarray:
        """Return, for one read at a time, the pauses between an arrival and the next request."""
        data = self.sample.reads[len(self.case.reads()[0]) :]
        return np.array([after.submitted_s - before.done_s for before, after in pairwise(data)])

    def per_group_s(self) -> float:
        """Return, for many in flight, the time from one row group to the next."""
        data = self.sample.reads[len(self.case.reads()[0]) :]
        quarter = len(data) // 4  # the start and the end of a scan have their own pace
        middle = sorted(read.done_s for read in data)[quarter:-quarter]
        return (middle[-1] - middle[0]) / (len(middle) - 1)

    def opening_s(self) -> float:
        """Return the time from the footer's arrival to the first data read."""
        footer = len(self.case.reads()[0])
        return self.sample.reads[footer].submitted_s - self.sample.reads[footer - 1].done_s

    def closing_s(self) -> float:
        """Return the time from the last arrival to the answer, of the run whose reads were kept: the last one."""
        return self.sample.seconds[-1] - max(read.done_s for read in self.sample.reads)

    @property
    def last_rows(self) -> int:
        """Return the rows of the last row group, which may be part full."""
        return self.case.recipe.rows % self.group_rows or self.group_rows


TYPICAL = {"comments": Costs(dispatch_s=250e-6, group_s=1e-6, row_s=110e-9)}
"""As weighed on a machine of 2 cores with one worker, where that is far from the usual: text takes its time."""


def engine_costs(table: str, *, here: str = "") -> Costs:
    """Return what the engine takes for `table` on this machine: as last weighed, or typical figures before that.

    `here` is "cold" or "warm" for reads of this machine's own disk, which do not pass through the emulated device.
    """
    return saved_costs(table, here=here) or saved_costs(table) or TYPICAL.get(table, Costs())


def saved_costs(table: str, *, here: str = "") -> Costs | None:
    """Return the costs as last weighed on this machine, with these versions and this calibration, or None."""
    return kept(_costs_path(table, here=here), Costs, weighed_on(here))


def weighed_on(here: str = "") -> dict[str, Any]:
    """Return what costs hold for: a cold read's are told from the disk as it is calibrated."""
    own = calibrated() if here == "cold" else None
    return {"machine": asdict(this_machine()), "device": asdict(own.device) if own else None}


def ensure_costs(table: str, *, here: str = "") -> Costs:
    """Return the costs as weighed on this machine, weighing the engine now if that was never done."""
    known = saved_costs(table) or weigh_engine(table, repeats=2)
    if here:
        if saved_costs(table, here=here) is None:
            weigh_here(table, repeats=3)
        return engine_costs(table, here=here)
    return known


def _costs_path(table: str, *, here: str) -> Path:
    return paths.cache_dir() / f"engine-{table}{f'-{here}' if here else ''}.json"


def keep_costs(table: str, costs: Costs, *, here: str) -> None:
    """Keep the costs for this machine, these versions and this calibration."""
    keep(_costs_path(table, here=here), costs, weighed_on(here))


def weigh_engine(table: str, *, repeats: int = 5) -> Costs:
    """Run the calibration cases for `table` in turns, fit the engine's costs, keep them and return them.

    Each of the `repeats` rounds runs every case once, and each cost is a median over the rounds: a machine that is
    slow for a second then spoils one round, not one cost.
    Takes a few seconds. Raises `Cancelled` when asked to stop; what was kept before then stays.
    """
    cases = calibration_cases(table) * repeats
    trials = []
    for number, case in enumerate(cases):
        tell(number, len(cases), "weighing the engine on this machine")
        with quietly():
            trials.append(Trial(case=case, sample=case.measure(repeats=1)))
    costs = read_costs(trials)
    keep_costs(table, costs, here="")
    tell(len(cases), len(cases), "done")
    return costs


def weigh_here(table: str, *, repeats: int = 5) -> None:
    """Weigh what row groups and rows cost on this machine's own disk, warm and cold, and keep both.

    DuckDB reads its own disk by itself, where a read of the emulated device passes through Python. Warm scans of many
    small groups and of fewer large ones tell the price of a group and of a row. What a cold scan takes beyond the
    calibrated device and these costs is the price of fetching its pages, and is laid on the rows: it is read off one
    row-group size, and `make bench` holds the others to it. Takes a few seconds more than `weigh_engine`, which it
    needs. Raises `Cancelled` when asked to stop.
    """
    known = ensure_costs(table)
    size = "small" if table == "comments_narrow" else "tiny"
    cases = [
        Case(
            recipe=Recipe(table=table, size=size, row_group_rows=rows),
            device=MEMORY,
            engine=EngineSettings(threads=1),
        )
        for rows in (2_048, 16_384, 122_880)
    ]
    seen = []
    for number, case in enumerate(cases):
        tell(number, len(cases) + 1, "weighing the engine on this machine's own disk")
        with quietly():
            seen.append(case.measure_here(cold=False, repeats=repeats).median_s - known.plan_s)
    groups, rows = [case.recipe.row_groups for case in cases], cases[0].recipe.rows
    row_s, group_s = line([(count / rows, took / rows) for count, took in zip(groups, seen, strict=True)])
    warm = replace(
        known,
        dispatch_s=min(known.dispatch_s, group_s),
        read_s=min(known.read_s, group_s),
        open_s=min(known.open_s, group_s),
        group_s=group_s,
        row_s=row_s,
    )
    keep_costs(table, warm, here="warm")
    own, more_s = calibrated(), 0.0
    if own is not None and page_cache.can_evict():
        middle = replace(cases[1], device=own.device)
        with quietly():
            cold_s = middle.measure_here(cold=True, repeats=repeats).median_s
        more_s = max(0.0, cold_s - middle.predict(warm).finished_s)
    keep_costs(table, replace(warm, row_s=row_s + more_s / rows), here="cold")
    tell(len(cases) + 1, len(cases) + 1, "done")


def calibration_cases(table: str) -> list[Case]:
    """Return short cases that between them show each cost: one read at a time, many in flight, and lookups."""
    busy = "small" if table == "comments_narrow" else "tiny"  # the wide tables keep the engine busy enough
    grid = [
        ("tiny", 2_048, 1, 0), ("tiny", 16_384, 1, 0), ("tiny", 65_536, 1, 0),
        (busy, 2_048, 32, 0), (busy, 8_192, 32, 0),
        ("tiny", 2_048, 32, 20), ("tiny", 2_048, 32, 4_000),
    ]  # fmt: skip
    probe = Device(name="probe", latency_s=0.001, bandwidth_bytes_per_s=4e9, channels=64)
    return [
        Case(
            recipe=Recipe(table=table, size=size, row_group_rows=rows),
            device=probe,
            engine=EngineSettings(threads=spare_threads(), queue_depth=depth),
            keys=keys,
        )
        for size, rows, depth, keys in grid
    ]


def read_costs(trials: Sequence[Trial]) -> Costs:
    """Return the costs that the trials of `calibration_cases` show, each case tried once or more."""
    one_by_one = [t for t in trials if t.case.engine.queue_depth == 1]
    crowded = [t for t in trials if t.case.engine.queue_depth > 1 and not t.case.keys]
    in_flight = {
        rows: float(np.median([t.per_group_s() for t in crowded if t.group_rows == rows]))
        for rows in {t.group_rows for t in crowded}
    }
    lookups = [t for t in trials if t.case.keys]
    threads = trials[0].case.engine.threads
    pause_s, row_s = line([(float(t.group_rows), float(np.median(t.pauses_s()))) for t in one_by_one])
    small, large = min(in_flight), max(in_flight)
    dispatch_s = in_flight[small]
    group_s = max(1e-6, in_flight[large] * threads - large * row_s)
    plan_s, plan_key_s = line([(float(t.case.keys), t.sample.reads[0].submitted_s) for t in trials])
    scans = [t for t in trials if not t.case.keys]
    open_s, open_group_s = line([(float(t.case.recipe.row_groups), t.opening_s()) for t in scans])
    _, open_key_s = line([(float(t.case.keys), t.opening_s()) for t in lookups])
    keys = max(t.case.keys for t in lookups)
    many = [t for t in lookups if t.case.keys == keys]
    per_group_s = float(np.median([t.per_group_s() for t in many]))
    pruning_s = per_group_s * threads - group_s - many[0].group_rows * row_s
    close_s = float(np.median([t.closing_s() - group_s - t.last_rows * row_s for t in one_by_one]))
    return Costs(
        plan_s=plan_s,
        plan_key_s=plan_key_s,
        open_s=open_s,
        open_group_s=open_group_s,
        open_key_s=open_key_s,
        prune_key_s=max(1e-10, pruning_s / keys),
        read_s=max(1e-6, pause_s - group_s),
        dispatch_s=dispatch_s,
        group_s=group_s,
        row_s=row_s,
        close_s=max(1e-6, close_s),
    )


def line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Fit y = a + b x, both in seconds and neither below 0, through the medians of points with equal x.

    Where noise would make one of them negative it is left out: y then stays level, or grows in proportion.
    """
    xs = sorted({x for x, _ in points})
    ys = [max(1e-9, float(np.median([y for x, y in points if x == at]))) for at in xs]
    weights = [1 / y for y in ys]  # relative errors: a small pause is known as well as a long one
    slope, intercept = np.polyfit(xs, ys, 1, w=weights) if len(xs) > 1 else (0.0, ys[0])
    if slope <= 0:
        return float(np.median(ys)), 1e-10
    if intercept < 0:
        return 1e-9, float(np.median([y / x for x, y in zip(xs, ys, strict=True) if x > 0]))
    return float(max(1e-9, intercept)), float(slope)
