"""`python -m readahead calibrate`, `published` and `validate`: what the models start from, and how right they are.

The first measures this machine, the second compares with printed figures, the third with measurements made here.
"""

from __future__ import annotations

import importlib
import json
import math
from pathlib import Path
from typing import Any

import click
import numpy as np

from readahead import devices, paths, units
from readahead.chapters import CONTENTS, chapter, is_written
from readahead.datasets.tables import TABLES
from readahead.experiments.experiment import Experiment
from readahead.experiments.residual import Tally
from readahead.experiments.validate import EVERY_KNOB, Row, report
from readahead.experiments.validate import validate as validated
from readahead.measure import disk
from readahead.measure.calibrate import COLD, WARM, engine
from readahead.measure.sample import this_machine
from readahead.published import Figure, topics
from readahead.running import Event, listening


@click.command()
@click.option("--quick", is_flag=True, help="Read the disk for a few seconds only.")
def calibrate(*, quick: bool) -> None:
    """Measure this machine's disk and engine, and keep what was found for the models and the machine card."""
    click.echo("Reading this machine's disk ...", err=True)
    found = disk.probe(seconds_each=0.04, depths=(1, 4, 16)) if quick else disk.probe()
    own = disk.fit(found)
    machine = this_machine()
    title = f"This machine's disk ({machine.file_system}, {machine.cpu})"
    click.echo(f"{'block':>9} {'in flight':>9}  {'order':<10} {'measured':>10} {'modeled':>10}  ratio")
    errors = []
    for cell, rate in zip(found.cells, disk.modeled_reads_per_s(own, found.cells), strict=True):
        errors.append(abs(rate / cell.reads_per_s - 1))
        measured, modeled = (
            units.text(each * cell.block_bytes, "bytes_per_s") for each in (cell.reads_per_s, rate)
        )
        click.echo(
            f"{units.text(cell.block_bytes, 'bytes'):>9} {cell.depth:>9}  {cell.order:<10}"
            f" {measured:>10} {modeled:>10}  {rate / cell.reads_per_s:.2f}"
        )
    click.echo(f"\n{found.how}; median misfit {units.text(float(np.median(errors)), '1')}")
    click.echo(
        f"{own.name}: latency {units.text(own.latency_s, 's')}, seek {units.text(own.seek_s, 's')},"
        f" {own.channels} channels of {units.text(own.channel_bandwidth_bytes_per_s, 'bytes_per_s')},"
        f" together {units.text(own.bandwidth_bytes_per_s, 'bytes_per_s')}"
    )
    where = devices.save_calibrated(own, title=title, source=f"Calibrated here; {found.how}")
    for table in TABLES:
        costs, _, cold = (engine(table, here).run() for here in ("", WARM, COLD))
        click.echo(
            f"DuckDB on {table}: {units.text(costs.dispatch_s, 's')} a read, {units.text(costs.row_s, 's')} a row;"
            f" on this disk {units.text(cold.group_s, 's')} a row group"
        )
        if doubt := next(filter(None, (engine(table, here).doubt for here in ("", WARM, COLD))), ""):
            click.echo(doubt.replace("lesson.calibrate()", "python -m readahead calibrate"))
    click.echo(f"Kept in {where.parent}")


@click.command()
def published() -> None:
    """Print each chapter's model against the published figures: what could have failed, and what is no test."""
    every: list[Tally] = []
    ratios: set[Figure] = set()
    for place in CONTENTS:
        if place.topic not in topics() or not is_written(place.topic):
            continue  # of the learner's own data nothing is printed
        told = importlib.import_module(f"readahead.chapters.{place.topic}.chapter")
        tally = Tally(
            residuals=tuple(told.residuals()), parameters=len(told.FITTED) + len(told.CHOSEN_BY_LOOKING)
        )
        every.append(tally)
        ratios |= {told.figure for turn in chapter(place.topic).rounds.values() for told in turn.beside}
        click.echo(f"{place.title}: {len(tally.residuals)} figures, {len(tally.foretold)} foretold")
        for one in tally.residuals:
            pair = f"{one.model:14.6g} {one.figure.value:14.6g} {one.ratio - 1:+8.1%}"
            click.echo(f"  {one.name:44} {pair}  {one.role:9} {one.why}".rstrip())
            if one.misprint:
                mended = f"{one.figure.best:14.6g} {one.corrected_ratio - 1:+7.1%}"
                click.echo(f"  {'  a misprint; corrected':44} {'':14} {mended}")
        click.echo(f"  {tally.sentence}")
        model, null = tally.scatter
        if math.isfinite(null):
            click.echo(
                f"  Scatter {model:.1%}, of the null model {null:.1%}; {tally.free} degrees of freedom"
            )
        for kind, names in (("Fitted", told.FITTED), ("Chosen by looking", told.CHOSEN_BY_LOOKING)):
            if names:
                click.echo(f"  {kind}: {', '.join(names)}")
        click.echo()
    residuals = tuple(one for tally in every for one in tally.residuals)
    click.echo(Tally(residuals=residuals, parameters=sum(tally.parameters for tally in every)).sentence)
    click.echo(f"{len(ratios)} printed figures stand as ratios beside those of a run.")


@click.command()
@click.option("--seed", default=1, show_default=True, help="Which settings are drawn.")
@click.option(
    "--configs", default=24, show_default=True, type=click.IntRange(1, 10_000), help="How many settings."
)
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(1, 100), help="Runs of each.")
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
        paths.require_place(json_path)
    found, lines, differs = {}, [], 0
    for name, source in _sources(topic).items():
        click.echo(f"Calibrating the engine on this machine, for {name} ...", err=True)
        rows: list[Row] = []
        click.echo(f"{name}\n{'modeled':>10} {'measured':>10} {'ratio':>6}  bound   setting")
        with listening(_progress):
            for row in validated(source, seed=seed, configs=configs, repeats=repeats):
                rows.append(row)
                differs += bool(row.differences)
                click.echo(_row(row))
        found[name] = report(rows)
        lines.append(_summary(name, rows, found[name]))
        click.echo()
    click.echo("\n".join(lines))
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
    written = [row.topic for row in CONTENTS if is_written(row.topic)] if topic == "all" else [topic]
    return {name: chapter(name).experiment for name in written}


def _progress(event: Event) -> None:
    if "build" in event.note:
        click.echo(f"  {event.note}", err=True)


def _row(row: Row) -> str:
    bound = "device" if row.device_bound else "engine"
    modeled, measured = units.text(row.modeled_s, "s"), units.text(row.measured_s, "s")
    line = f"{modeled:>10} {measured:>10} {row.ratio:>6.3f}  {bound}  {row.case}"
    return "\n".join([line, *(f"{'!=':>32}  {difference}" for difference in row.differences)])


def _summary(name: str, rows: list[Row], told: dict[str, Any]) -> str:
    parts = [f"{name}: {_line('all', told['all'])}; {_line('device-bound', told['device_bound'])}"]
    parts.append(f"  {_line('the control run from its own median', told['machine'])};")
    parts.append(f"  {told['repeated']} of {len(rows)} settings repeated because it strayed")
    known = [row for row in rows if "reads" in row.modeled]
    if known:
        exact = sum(not row.differences for row in known)
        parts.append(f"  model, trace and profile count alike in {exact} of {len(known)} settings")
    return "\n".join(parts)


def _line(name: str, errors: dict[str, Any]) -> str:
    if not errors["n"]:
        return f"{name}: no setting of this kind"
    levels = " / ".join(units.text(errors[level], "1") for level in ("median", "p90", "worst"))
    return f"{name} ({errors['n']}): {levels}"
