"""Weighing the engine before asking it to carry something. A handful of short runs on emulated devices, on this
machine, tell what DuckDB itself takes: to plan, to open a file, to issue a read, to decode a row.

The runs are made with the same schedule that later predicts, and the costs are those with which the schedule comes
closest to what was measured (least squares on relative errors). Nothing is taken from another machine.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from readahead import paths
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure.case import Case
from readahead.measure.engine import EngineSettings, spare_threads
from readahead.measure.events import OnEvent, tell
from readahead.measure.machine import this_machine
from readahead.measure.sample import Sample
from readahead.models.schedule import Costs

FITTED = ("read_s", "dispatch_s", "group_s", "row_s")
"""What is fitted; the rest is read off the traces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A case, and what came of it."""

    case: Case
    sample: Sample

    def error(self, costs: Costs) -> float:
        """Return the logarithm of predicted over measured."""
        return float(np.log(self.case.predict(costs).finished_s / self.sample.median_s))


def engine_costs(table: str, *, threads: int | None = None) -> Costs:
    """Return what the engine takes for `table` on this machine: as last weighed, or typical figures before that."""
    return saved_costs(table, threads=threads) or Costs()


def saved_costs(table: str, *, threads: int | None = None) -> Costs | None:
    """Return the costs as last weighed on this very machine with these versions, or None."""
    try:
        told = json.loads(_costs_path(table, threads).read_text(encoding="utf-8"))
        return Costs(**told["costs"]) if told["machine"] == asdict(this_machine()) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _costs_path(table: str, threads: int | None) -> Path:
    return paths.cache_dir() / f"engine-{table}-{threads or spare_threads()}.json"


def weigh_engine(
    table: str,
    *,
    threads: int | None = None,
    repeats: int = 3,
    on_event: OnEvent | None = None,
    stop: threading.Event | None = None,
) -> Costs:
    """Run the calibration cases for `table`, fit the engine's costs, keep them and return them.

    Takes a few seconds. Raises `Cancelled` when `stop` is set; what was kept before then stays.
    """
    cases = calibration_cases(table, threads=threads)
    trials = []
    for number, case in enumerate(cases):
        tell(on_event, number, len(cases), "weighing the engine on this machine")
        trials.append(Trial(case=case, sample=case.measure(repeats=repeats, stop=stop)))
    costs = fit_costs(trials)
    path = _costs_path(table, threads)
    beside = path.with_suffix(".part")
    facts = {"machine": asdict(this_machine()), "costs": asdict(costs)}
    beside.write_text(json.dumps(facts, indent=1), encoding="utf-8")
    beside.replace(path)
    tell(on_event, len(cases), len(cases), "done")
    return costs


def calibration_cases(table: str, *, threads: int | None = None) -> list[Case]:
    """Return a few short cases that between them show each cost: many reads and few, in flight and one by one."""
    grid = [
        (2_048, 0.001, 16, 0), (2_048, 0.004, 8, 0), (2_048, 0.002, 2, 20), (8_192, 0.001, 1, 0),
        (8_192, 0.001, 8, 0), (8_192, 0.002, 16, 200), (122_880, 0.002, 1, 0), (122_880, 0.001, 8, 0),
    ]  # fmt: skip
    return [
        Case(
            recipe=Recipe(table=table, size="tiny", row_group_rows=rows),
            device=Device(
                name="probe", latency_s=latency_s, bandwidth_bytes_per_s=2e9, channels=64
            ),
            engine=EngineSettings(threads=threads or spare_threads(), queue_depth=depth),
            keys=keys,
        )
        for rows, latency_s, depth, keys in grid
    ]


def fit_costs(trials: Sequence[Trial]) -> Costs:
    """Return the costs with which the schedules of all trials come closest to their measured medians."""
    from scipy.optimize import least_squares

    costs = _read_off(trials)
    start = np.log([getattr(costs, name) for name in FITTED])

    def errors(logs: np.ndarray) -> np.ndarray:
        tried = replace(costs, **dict(zip(FITTED, np.exp(logs).tolist(), strict=True)))
        return np.array([trial.error(tried) for trial in trials])

    low, high = np.log([2e-6, 2e-6, 1e-6, 2e-10]), np.log([2e-3, 1e-3, 5e-3, 2e-6])
    start = np.clip(start, low + 1e-6, high - 1e-6)
    found = least_squares(errors, start, bounds=(low, high), loss="soft_l1", f_scale=0.03, diff_step=0.02)
    return replace(costs, **dict(zip(FITTED, np.exp(found.x).tolist(), strict=True)))


def _read_off(trials: Sequence[Trial]) -> Costs:
    """Take the costs of planning and opening straight from the traces' times."""
    planned = [(float(trial.case.keys), trial.sample.reads[0].submitted_s) for trial in trials]
    plan_s, plan_key_s = _line(planned)
    opened = [(float(len(trial.case.reads()[1])), _opening_s(trial)) for trial in trials if not trial.case.keys]
    open_s, open_group_s = _line(opened)
    return Costs(plan_s=plan_s, plan_key_s=plan_key_s, open_s=open_s, open_group_s=open_group_s)


def _opening_s(trial: Trial) -> float:
    """Return the time from the footer's arrival to the first data read."""
    reads, footer = trial.sample.reads, len(trial.case.reads()[0])
    return reads[footer].submitted_s - reads[footer - 1].done_s


def _line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Fit y = a + b x through the medians of points with equal x; neither is below a nanosecond."""
    xs = sorted({x for x, _ in points})
    ys = [float(np.median([y for x, y in points if x == at])) for at in xs]
    if len(xs) == 1:
        return max(1e-9, ys[0]), 1e-9
    slope, intercept = np.polyfit(xs, ys, 1)
    if intercept < 0:
        return min(ys), 1e-9
    return float(max(1e-9, intercept)), float(max(1e-9, slope))
