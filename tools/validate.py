"""`make validate`, the model against measurements: settings are drawn at random, the model answers, DuckDB is measured.

All settings are measured in several passes, and the engine is calibrated in each: both then see the same minutes of a
machine that is quicker in one than in the other. Where the control run strayed beside a setting, or its own runs lie
far apart, it is measured again in a later pass, for a machine that is slow now is slow for some seconds. Of a setting's
runs those count that took least of the processor, for nobody slowed them down; or all of them, where the machine is
seldom quick, or where the engine's clock decides what is read: those that read less take less.
Errors are summed up for all settings, and for those that the device bounds. Beside them is told how far the first pass
lies from the others: a machine that is not the same in two minutes is no nearer to a model.
"""

from __future__ import annotations

import functools
import json
import math
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pandas as pd

from readahead import paths, units
from readahead.__main__ import run
from readahead.chapters import CONTENTS, chapter
from readahead.devices import Device
from readahead.experiments.experiment import Experiment, Settings
from readahead.experiments.table_experiment import DEVICE_KNOBS, TableExperiment, once
from readahead.measure import calibrate
from readahead.measure.calibrate import control_s
from readahead.measure.case import Case
from readahead.measure.sample import Sample, steady
from readahead.models.estimate import Estimate
from readahead.running import Event, check, listening, tell
from tools import draws

TABLES = {"comments_narrow": ("tiny", "small"), "comments": ("tiny",), "lineitem": ("tiny",)}
"""What is drawn from; sizes at which a run takes a fraction of a second on most devices."""
ROW_GROUPS = (*(2_048 * 2**n for n in range(10)), 122_880)
LONGEST_S = 1.2
"""Settings predicted to take longer than this a run are drawn again, so that it ends."""
PASSES, TURNS = 3, 4
"""How often all settings are measured, and in how many turns the engine is calibrated during each pass, evenly spread;
one more turn comes at the end."""
MOST_AGAIN = 3
"""How many passes follow at most, each of the settings that are not steady so far."""
KNOWN = 0.02
"""A setting is steady when the median of its runs is known this well: its standard error, as a share."""
SHORT_S, MOST_TIMES = 0.1, 3
"""Settings predicted to take less than this a run are repeated more often, up to so many times."""
RUNS = 2
"""Of a setting in one try, at least: runs of one moment are alike, those of another need not be."""
DEVICE_BOUND = 3.0
"""A run counts as device-bound when the device takes more than this many times what the engine, once open, takes."""
LEVELS = ("n", "median", "p90", "worst")
COUNTS = {"counted alike": "alike", "in the model's band": "in_band", "repeated": "repeated"}
"""Settings where model, trace and profile count alike; where the measured time lies in the model's own band; and that
were measured again, for the control run strayed or their runs lie far apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One setting, modeled and measured. Times in seconds."""

    case: str
    modeled_s: float
    measured_s: float
    """The median of the runs that count."""
    seconds: tuple[float, ...]
    """Every run, raw, the steadiest first."""
    cpu_s: tuple[float, ...]
    """What each of them took of the processor."""
    steady: int
    """So many of them count: see `sample.steady`."""
    device_bound: bool
    modeled: Mapping[str, float]
    """reads, bytes_read and row_groups that the model expects, as far as it says."""
    traced: Mapping[str, float]
    """reads and bytes_read of our trace; empty where there is none."""
    profiled: Mapping[str, float]
    """bytes_read and row_groups of DuckDB's own profile, as far as it tells."""
    band: Mapping[str, float] = field(default_factory=dict)
    """How far reads and bytes_read may lie from the model, because the engine's own clock decides."""
    modeled_low_s: float = 0.0
    modeled_high_s: float = math.inf
    """The model's own band."""
    strayed: float = 0.0
    """How far control runs beside it lay from the usual, in the median of its tries, as a share."""
    tries: int = PASSES
    """How often it was measured: once in each pass, and again as long as it was not steady."""
    apart: float = 0.0
    """How far the first pass lies from the others, the median of its runs from that of theirs, as a share."""

    @property
    def ratio(self) -> float:
        """Return modeled / measured."""
        return self.modeled_s / self.measured_s

    @property
    def error(self) -> float:
        """Return the relative error, as a fraction."""
        return abs(self.ratio - 1)

    @property
    def in_band(self) -> bool:
        """Return whether the measured time lies in the model's own band."""
        return self.modeled_low_s <= self.measured_s <= self.modeled_high_s

    @property
    def differences(self) -> list[str]:
        """Return where model, trace and profile count differently; row groups within 1 or 5 % count as the same."""
        found = []
        accounts = {"model": self.modeled, "trace": self.traced, "profile": self.profiled}
        for what in ("reads", "bytes_read", "row_groups"):
            told = {who: account[what] for who, account in accounts.items() if what in account}
            seen = [number for who, number in told.items() if who != "model"]
            room = max(1.0, 0.05 * max(told.values(), default=0)) if what == "row_groups" else 0
            off = [abs(number - told.get("model", number)) > room + self.band.get(what, 0) for number in seen]
            if any(off) or (seen and max(seen) - min(seen) > room):
                found.append(
                    f"{what.replace('_', ' ')}: {', '.join(f'{w} {n:,.0f}' for w, n in told.items())}"
                )
        return found


class EveryKnob(TableExperiment):
    """Scans and lookups with every knob over its whole range, on a log scale."""

    def calibrate(self, settings: Settings | None = None, turns: int = 0) -> None:
        """Calibrate the engine for each table."""
        for table in TABLES:
            calibrate.engine(table).run(turns)

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw the settings of one case."""

        def between(low: float, high: float) -> float:
            return math.exp(rng.uniform(math.log(low), math.log(high)))

        table = rng.choice(list(TABLES))
        drawn = {
            "dataset": table,
            "size": rng.choice(TABLES[table]),
            "row_group_rows": rng.choice(ROW_GROUPS),
            "latency_s": between(0.5e-3, 30e-3),
            "seek_s": rng.choice((0.0, 0.0, 0.004, 0.009)),
            "bandwidth_bytes_per_s": between(50e6, 2e9),
            "channels": round(between(1, 64)),
            "queue_depth": round(between(1, 64)),
        }
        drawn["fragment_bytes"] = round(between(64 * 1024, 64 * 1024**2)) if drawn["seek_s"] else 0
        drawn["query"] = "scan" if rng.random() < 0.6 else "lookup"
        drawn["rows_per_lookup"] = round(between(1, 10_000)) if drawn["query"] == "lookup" else 0
        return {**drawn, "key_draw": rng.randrange(10**6)}

    def device(self, settings: Settings) -> Device:
        """Return the device that was drawn."""
        return Device(name="drawn", **{name: settings[name] for name in DEVICE_KNOBS})

    @once
    def case(self, settings: Settings) -> Case:
        """Return the case that these settings describe."""
        return replace(super().case(settings), seed=settings["key_draw"])

    def describe(self, settings: Settings) -> str:
        """Return the case in one line, for a table."""
        case = self.case(settings)
        device, fragment_bytes = case.device, case.fragment_bytes
        return (
            f"{f'lookup of {case.keys:,}' if case.keys else 'scan'}, {case.recipe.table},"
            f" groups of {case.recipe.effective_row_group_rows:,},"
            f" fragments {units.text(fragment_bytes, 'bytes') if fragment_bytes else 'one'},"
            f" {units.text(device.latency_s, 's')} x {device.channels}"
            f" at {units.text(device.bandwidth_bytes_per_s, 'bytes_per_s')}, depth {case.engine.queue_depth}"
        )


EVERY_KNOB = EveryKnob(topic="every knob", title="Every knob", knobs=())


def validated(asked: Experiment, *, seed: int, configs: int, repeats: int = RUNS) -> list[Row]:
    """Return one row a setting, the engine calibrated on this machine. Raises `Cancelled` when asked to stop."""
    every = [_Measured(settings, []) for settings in _drawn(asked, seed, configs)]
    with calibrate.turns_add_up():
        for number, one in enumerate(_in_turn(every)):
            if number % math.ceil(configs / TURNS) == 0:
                asked.calibrate(turns=1)
            tell(number, (PASSES + MOST_AGAIN) * configs, _described(asked, one.settings))
            one.tries.append(_try(asked, one.settings, repeats))
        asked.calibrate(turns=1)  # whether the machine is often quick then counts alike for both
    tell(1, 1, "done")
    return [_row(asked, *one) for one in every]


def _drawn(asked: Experiment, seed: int, configs: int) -> list[Settings]:
    """Return settings, the same for a seed on every machine, none of which takes long."""
    rng, drawn = random.Random(seed), list[Settings]()
    with calibrate.typical_costs():
        while len(drawn) < configs:
            check()
            settings = asked.draw(rng) if isinstance(asked, EveryKnob) else draws.draw(asked, rng)
            if asked.model(settings).seconds <= LONGEST_S:
                drawn.append(settings)
    return drawn


def _described(asked: Experiment, settings: Settings) -> str:
    return asked.describe(settings) if isinstance(asked, EveryKnob) else draws.describe(asked, settings)


class _Try(NamedTuple):
    """A sample of a setting, and how far the control runs beside it strayed."""

    strayed: float
    sample: Sample


class _Measured(NamedTuple):
    """A setting, and its tries so far."""

    settings: Settings
    tries: list[_Try]

    @property
    def steady(self) -> bool:
        """Return whether the median of its runs is known, and the control run has not strayed beside as many tries as
        there are passes.
        """
        undisturbed = sum(one.strayed <= calibrate.STRAYED for one in self.tries)
        return undisturbed >= PASSES and self._median_off() <= KNOWN

    def _median_off(self) -> float:
        """Return the standard error of the median of its runs, as a share, as if they were normally distributed."""
        seconds = [run_s for one in self.tries for run_s in one.sample.seconds]
        low_s, median_s, high_s = np.quantile(seconds, (0.25, 0.5, 0.75))
        return float(0.93 * (high_s - low_s) / median_s / math.sqrt(len(seconds)))


def _in_turn(every: Sequence[_Measured]) -> Iterator[_Measured]:
    """Yield what is to be measured next: all settings in each pass, and then again those that are not steady."""
    for _ in range(PASSES):
        yield from every
    for _ in range(MOST_AGAIN):
        yield from [one for one in every if not one.steady]


def _try(source: Experiment, settings: Settings, repeats: int) -> _Try:
    """Measure one setting between two control runs."""
    times = min(MOST_TIMES, math.ceil(SHORT_S / source.model(settings).seconds))
    before_s = control_s()
    sample = source.measure(settings, repeats=repeats * times)
    return _Try(max(calibrate.strayed(took_s) for took_s in (before_s, control_s())), sample)


def _row(source: Experiment, settings: Settings, made: Sequence[_Try]) -> Row:
    """Return one setting, measured: the median of the runs that count."""
    runs = sorted(run for one in made for run in zip(one.sample.cpu_s, one.sample.seconds, strict=True))
    cpu_s, seconds = zip(*runs, strict=True)
    estimate = source.model(settings)  # the file is built now, so the model knows its exact reads
    predicted = source.predicted(settings)
    sample = made[-1].sample
    profile, reads = sample.profile, sample.reads
    modeled = dict(source.counts(settings))
    unprofiled_bytes = draws.unprofiled_bytes(source, settings)
    band = {"reads": modeled.pop("more_reads", 0), "bytes_read": modeled.pop("moved_bytes", 0)}
    count = steady(cpu_s, quick=calibrate.quick_for_long() and not band["reads"])
    undecided = f"give or take {band['reads']:,.0f} reads by the engine's clock" if band["reads"] else ""
    told = bool(profile.get("bytes_read")) and math.isfinite(unprofiled_bytes)
    profiled = {"bytes_read": profile["bytes_read"] + unprofiled_bytes} if told else {}
    if sample.row_groups_total:
        profiled["row_groups"] = sample.row_groups_scanned
    said = (_described(source, settings), draws.remark(source, settings, sample), undecided)
    return Row(
        case=", ".join(filter(None, said)),
        modeled_s=estimate.seconds,
        measured_s=float(np.median(seconds[:count])),
        seconds=seconds,
        cpu_s=cpu_s,
        steady=count,
        device_bound=device_bound(estimate),
        modeled=modeled,
        traced={"reads": len(reads), "bytes_read": sum(read.size_bytes for read in reads)} if reads else {},
        profiled=profiled,
        band=band,
        modeled_low_s=predicted.low,
        modeled_high_s=predicted.high,
        strayed=float(np.median([one.strayed for one in made])),
        tries=len(made),
        apart=abs(_median_s(made[:1]) / _median_s(made[1:]) - 1),
    )


def _median_s(made: Sequence[_Try]) -> float:
    return float(np.median([run_s for one in made for run_s in one.sample.seconds]))


def device_bound(estimate: Estimate) -> bool:
    """Return whether the device, not what is this machine's own, decides the time."""
    once_open_s = estimate.own_s - estimate.terms_s.get("open", 0.0) + estimate.overlapped_s.get("cpu", 0.0)
    return estimate.seconds - estimate.own_s > DEVICE_BOUND * once_open_s


def summary(rows: Sequence[Row]) -> dict[str, float | int | None]:
    """Return the number of rows and the median, 90th percentile and worst relative error, as fractions."""
    return _levels([row.error for row in rows])


def repeatability(rows: Sequence[Row]) -> dict[str, float | int | None]:
    """Return the same of how far one pass lies from the others: no model is nearer to a machine than it is itself."""
    return _levels([row.apart for row in rows])


def _levels(errors: Sequence[float]) -> dict[str, float | int | None]:
    if not errors:
        return dict.fromkeys(LEVELS) | {"n": 0}
    quantile = functools.partial(np.quantile, errors)
    return {
        "n": len(errors),
        "median": float(quantile(0.5)),
        "p90": float(quantile(0.9)),
        "worst": max(errors),
    }


def report(rows: Sequence[Row]) -> dict[str, Any]:
    """Return what `--json` writes: the summaries and every row."""
    return {
        "all": summary(rows),
        "device_bound": summary([row for row in rows if row.device_bound]),
        "one_pass": repeatability(rows),
        "repeated": sum(row.tries > PASSES for row in rows),
        "runs": sum(len(row.seconds) for row in rows),
        "steady": sum(row.steady for row in rows),
        "alike": sum(not row.differences for row in rows),
        "in_band": sum(row.in_band for row in rows),
        "rows": [
            {**asdict(row), "ratio": row.ratio, "error": row.error, "in_band": row.in_band} for row in rows
        ],
    }


# -- the command ------------------------------------------------------------------------------------------
@click.command()
@click.option("--seed", default=1, show_default=True, help="Which settings are drawn.")
@click.option(
    "--configs", default=24, show_default=True, type=click.IntRange(1, 10_000), help="How many settings."
)
@click.option(
    "--repeats", default=RUNS, show_default=True, type=click.IntRange(1, 100), help="Runs of each in a try."
)
@click.option(
    "--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all figures here too."
)
@click.option("--chapter", "topic", help="Draw from one chapter's knobs, such as fragments; or all of them.")
@click.pass_context
def validate(
    context: click.Context, seed: int, configs: int, repeats: int, json_path: Path | None, topic: str | None
) -> None:
    """Draw settings, model each, measure each on the emulated device, and print how far apart they are.

    Ends with 1 if model, trace and DuckDB's profile count reads, bytes or row groups differently anywhere.
    """
    if json_path is not None:
        paths.require_ordinary(json_path)
        paths.require_writable(json_path.parent)
    found, differs = dict[str, dict[str, Any]](), 0
    for name, source in _sources(topic).items():
        click.echo(f"Calibrating the engine on this machine, for {name} ...", err=True)
        click.echo(f"{name}\n{'modeled':>10} {'measured':>10} {'ratio':>6}  bound   setting")
        with listening(_progress):
            rows = validated(source, seed=seed, configs=configs, repeats=repeats)
        for row in rows:
            differs += bool(row.differences)
            click.echo(_shown(row))
        found[name] = report(rows)
        click.echo()
    click.echo(table(found))
    if json_path is not None:
        text = json.dumps(found if topic == "all" else next(iter(found.values())), indent=1)
        paths.write_whole(json_path, text, make_folder=True)
    if differs:
        click.echo(f"Model, trace and profile differ in {differs} settings: see the lines with !=.", err=True)
        context.exit(1)


def _sources(topic: str | None) -> dict[str, Experiment]:
    """Return what settings are drawn from, by name."""
    if topic is None:
        return {EVERY_KNOB.topic: EVERY_KNOB}
    written = [row.topic for row in CONTENTS] if topic == "all" else [topic]
    return {name: chapter(name).experiment for name in written}


def _progress(event: Event) -> None:
    if "build" in event.note:
        click.echo(f"  {event.note}", err=True)


def _shown(row: Row) -> str:
    bound = "device" if row.device_bound else "engine"
    modeled, measured = units.text(row.modeled_s, "s"), units.text(row.measured_s, "s")
    line = f"{modeled:>10} {measured:>10} {row.ratio:>6.3f}  {bound}  {row.case}"
    return "\n".join([line, *(f"{'!=':>32}  {difference}" for difference in row.differences)])


def table(found: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the summaries of what was drawn from as one table, a line each.

    Errors are medians, 90th percentiles and worst cases, in per cent; those of one pass are from the other passes.
    """
    lines = []
    for name, told in found.items():
        line: dict[str, Any] = {"": name}
        for label, kind in (("all", "all"), ("device-bound", "device_bound"), ("one pass", "one_pass")):
            levels = [told[kind][level] for level in LEVELS[1:]]
            line[f"{label} (n)"] = (
                f"{' / '.join(f'{100 * error:.1f}' for error in levels)} ({told[kind]['n']})"
                if told[kind]["n"]
                else "none"
            )
        every = told["all"]["n"]
        line |= {head: f"{told[key]} of {every}" for head, key in COUNTS.items()}
        line["runs that count"] = f"{told['steady']} of {told['runs']}"
        lines.append(line)
    return str(pd.DataFrame(lines).to_string(index=False))


if __name__ == "__main__":
    sys.exit(run(command=validate, name="python -m tools.validate"))
