"""Weighing the engine before asking it to carry something. A handful of short runs on emulated devices, on this
machine, tell what DuckDB itself takes: to plan, to open a file, to issue a read, to decode a row.

The runs are made with the same schedule that later predicts, and the costs are those with which the schedule comes
closest to what was measured (least squares on relative errors). Nothing is taken from another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from readahead.devices import Device
from readahead.measure.sample import Sample
from readahead.models.schedule import Costs, Timeline

FITTED = ("read_s", "dispatch_s", "group_s", "row_s")
"""What is fitted; the rest is read off the traces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One short run: what was measured, and the schedule of the same run as a function of the costs."""

    sample: Sample
    predict: Callable[[Costs], Timeline]
    footer_reads: int
    groups: int
    keys: int


def probe_device(latency_s: float, *, bandwidth_bytes_per_s: float = 2e9, channels: int = 64) -> Device:
    """Return the plain device that calibration runs on."""
    return Device(
        name=f"probe-{latency_s * 1e3:g}ms",
        latency_s=latency_s,
        bandwidth_bytes_per_s=bandwidth_bytes_per_s,
        channels=channels,
    )


def fit_costs(trials: Sequence[Trial]) -> Costs:
    """Return the costs with which the schedules of all trials come closest to their measured medians."""
    from scipy.optimize import least_squares

    costs = _read_off(trials)
    start = np.log([getattr(costs, name) for name in FITTED])

    def errors(logs: np.ndarray) -> np.ndarray:
        tried = replace(costs, **dict(zip(FITTED, np.exp(logs).tolist(), strict=True)))
        return np.array(
            [np.log(trial.predict(tried).finished_s / trial.sample.median_s) for trial in trials]
        )

    low, high = np.log([2e-6, 2e-6, 1e-6, 2e-10]), np.log([2e-3, 1e-3, 5e-3, 2e-6])
    start = np.clip(start, low + 1e-6, high - 1e-6)
    found = least_squares(errors, start, bounds=(low, high), loss="soft_l1", f_scale=0.03, diff_step=0.02)
    return replace(costs, **dict(zip(FITTED, np.exp(found.x).tolist(), strict=True)))


def _read_off(trials: Sequence[Trial]) -> Costs:
    """Take the costs of planning, opening and closing straight from the traces' times."""
    before = [(trial.keys, trial.sample.reads[0].submitted_s) for trial in trials]
    plan_s, plan_key_s = _line([x for x, _ in before], [y for _, y in before])
    opened = [(trial.groups, _opening_s(trial)) for trial in trials if len(trial.sample.reads) > trial.footer_reads]
    open_s, open_group_s = _line([x for x, _ in opened], [y for _, y in opened])
    return Costs(plan_s=plan_s, plan_key_s=plan_key_s, open_s=open_s, open_group_s=open_group_s)


def _opening_s(trial: Trial) -> float:
    """Return the time from the footer's arrival to the first data read."""
    reads = trial.sample.reads
    return reads[trial.footer_reads].submitted_s - reads[trial.footer_reads - 1].done_s


def _line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Fit y = a + b x through medians of equal x, with neither below a nanosecond."""
    xs = np.unique(x)
    ys = np.array([np.median([value for at, value in zip(x, y, strict=True) if at == one]) for one in xs])
    if len(xs) == 1:
        return max(1e-9, float(ys[0])), 1e-9
    slope, intercept = np.polyfit(xs, ys, 1)
    if intercept < 0:
        return float(ys.min()), 1e-9
    return float(max(1e-9, intercept)), float(max(1e-9, slope))
