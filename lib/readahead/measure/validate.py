"""The model against measurements: settings are drawn at random, the model answers first, then DuckDB is measured on
the emulated device. The errors are summed up for all settings, and for those that the device bounds."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure import calibrate
from readahead.measure.case import Case
from readahead.measure.engine import EngineSettings
from readahead.models.schedule import Timeline
from readahead.running import quietly, tell

TABLES = {"comments_narrow": ("tiny", "small"), "comments": ("tiny",), "lineitem": ("tiny",)}
"""What is drawn from; sizes at which a run takes a fraction of a second on most devices."""
ROW_GROUPS = (*(2_048 * 2**n for n in range(10)), 122_880)
LONGEST_S = 1.2
"""Settings predicted to take longer than this a run are drawn again, so that the examination ends."""
DEVICE_BOUND = 3.0
"""A run counts as device-bound when its I/O takes more than this many times its decoding."""
LEVELS = ("n", "median", "p90", "worst")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One setting, modeled and measured. Times in seconds."""

    case: str
    modeled_s: float
    measured_s: float
    seconds: tuple[float, ...]
    """Every repeat, raw."""
    device_bound: bool
    reads_modeled: int | None
    """None where only the time is modeled."""
    reads_measured: int
    bytes_modeled: int | None
    bytes_measured: int
    groups_modeled: float | None = None
    """Row groups that the model expects to be read; None where it says nothing of them."""
    groups_measured: int = 0
    control_s: float = 0.0
    """What one and the same scan took just before it: see `control_s`."""

    @property
    def ratio(self) -> float:
        """Return modeled / measured."""
        return self.modeled_s / self.measured_s

    @property
    def error(self) -> float:
        """Return the relative error, as a fraction."""
        return abs(self.ratio - 1)


CONTROL = Case(
    recipe=Recipe(table="comments_narrow", size="tiny", row_group_rows=65_536),
    device=calibrate.MEMORY,
    engine=EngineSettings(threads=1),
)
"""One and the same short scan, run between other measurements. The engine alone bounds it: what varies in it is the
machine's own, and no model can be nearer to a measurement than the measurement is to itself."""


def control_s() -> float:
    """Return the median seconds of the control run, now. Raises `Cancelled` when asked to stop."""
    with quietly():
        return CONTROL.measure(repeats=3).median_s


def draw(rng: random.Random) -> Case:
    """Draw one setting: every knob over its whole range, on a log scale."""

    def between(low: float, high: float) -> float:
        return math.exp(rng.uniform(math.log(low), math.log(high)))

    table = rng.choice(list(TABLES))
    recipe = Recipe(table=table, size=rng.choice(TABLES[table]), row_group_rows=rng.choice(ROW_GROUPS))
    device = Device(
        name="drawn",
        latency_s=between(0.5e-3, 30e-3),
        seek_s=rng.choice((0.0, 0.0, 0.004, 0.009)),
        bandwidth_bytes_per_s=between(50e6, 2e9),
        channels=round(between(1, 64)),
    )
    return Case(
        recipe=recipe,
        device=device,
        engine=EngineSettings(queue_depth=round(between(1, 64))),
        fragment_bytes=round(between(64 * 1024, 64 * 1024**2)) if device.seek_s else 0,
        keys=0 if rng.random() < 0.6 else round(between(1, 10_000)),
        seed=rng.randrange(10**6),
    )


def device_bound(timeline: Timeline) -> bool:
    """Return whether the device, not the engine, decides the time."""
    return timeline.arrived_s - timeline.opened_s > DEVICE_BOUND * timeline.decode_s


def examine(*, seed: int, configs: int, repeats: int = 3) -> Iterator[Row]:
    """Calibrate the engine on this machine, then yield one row a setting. Raises `Cancelled` when asked to stop.

    `repeats` is how often each setting is measured; the engine is calibrated in two turns more.
    """
    costs = {table: calibrate.engine(table).run(repeats + 2) for table in TABLES}
    rng = random.Random(seed)
    done = 0
    while done < configs:
        case = draw(rng)
        case.build()
        timeline = case.predict(costs[case.recipe.table])
        if timeline.finished_s > LONGEST_S:
            continue
        tell(done, configs, str(case))
        yield _row(case, timeline, repeats)
        done += 1
    tell(configs, configs, "done")


def _row(case: Case, timeline: Timeline, repeats: int) -> Row:
    steady_s = control_s()
    with quietly():
        sample = case.measure(repeats=repeats)
    return Row(
        case=str(case),
        modeled_s=timeline.finished_s,
        measured_s=sample.median_s,
        seconds=sample.seconds,
        device_bound=device_bound(timeline),
        reads_modeled=timeline.reads,
        reads_measured=len(sample.reads),
        bytes_modeled=timeline.bytes_read,
        bytes_measured=sample.bytes_read,
        control_s=steady_s,
    )


def summary(rows: Sequence[Row]) -> dict[str, float | int | None]:
    """Return the number of rows and the median, 90th percentile and worst relative error, as fractions."""
    return _levels([row.error for row in rows])


def steadiness(rows: Sequence[Row]) -> dict[str, float | int | None]:
    """Return the same of how far the scan between the settings was from its own median: what no model can better."""
    seen = [row.control_s for row in rows if row.control_s > 0]
    usual = float(np.median(seen)) if seen else 1.0
    return _levels([abs(one_s / usual - 1) for one_s in seen])


def _levels(errors: Sequence[float]) -> dict[str, float | int | None]:
    if not errors:
        return dict.fromkeys(LEVELS) | {"n": 0}
    return {
        "n": len(errors),
        "median": float(np.median(errors)),
        "p90": float(np.quantile(errors, 0.9)),
        "worst": max(errors),
    }


def report(rows: Sequence[Row]) -> dict[str, object]:
    """Return what `--json` writes: the summaries and every row."""
    return {
        "all": summary(rows),
        "device_bound": summary([row for row in rows if row.device_bound]),
        "machine": steadiness(rows),
        "rows": [{**asdict(row), "ratio": row.ratio, "error": row.error} for row in rows],
    }
