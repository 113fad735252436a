"""`python -m readahead validate`: the models, held to measurements on this machine at settings drawn at random."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from readahead import paths, units
from readahead.measure.validate import Row, examine, report
from readahead.running import Event, listening


@click.command()
@click.option("--seed", default=1, show_default=True, help="Which settings are drawn.")
@click.option(
    "--configs", default=24, show_default=True, type=click.IntRange(1, 10_000), help="How many settings."
)
@click.option("--repeats", default=3, show_default=True, type=click.IntRange(1, 100), help="Runs of each.")
@click.option(
    "--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Write all figures here too."
)
@click.option("--chapter", "topic", help="Draw from the knobs of one chapter, such as fragments.")
def validate(seed: int, configs: int, repeats: int, json_path: Path | None, topic: str | None) -> None:
    """Draw settings, model each, measure each on the emulated device, and print how far apart they are."""
    if json_path is not None:
        paths.require_place(json_path)
    click.echo("Calibrating the engine on this machine ...", err=True)
    rows: list[Row] = []
    click.echo(f"{'modeled':>10} {'measured':>10} {'ratio':>6}  bound   setting")
    with listening(_progress):
        for row in _examine(topic, seed=seed, configs=configs, repeats=repeats):
            rows.append(row)
            click.echo(_row(row))
    found = report(rows)
    click.echo()
    for name in ("all", "device_bound"):
        click.echo(f"{name.replace('_', '-'):>12}: {_line(found[name])}")
    click.echo(f"{'machine':>12}: {_steady(found['machine'])}")
    known = [row for row in rows if row.reads_modeled is not None]
    exact = sum(r.reads_modeled == r.reads_measured and r.bytes_modeled == r.bytes_measured for r in known)
    if known:
        click.echo(f"{'reads':>12}: number and bytes predicted exactly in {exact} of {len(known)} settings")
    pruned = [(row.groups_modeled, row.groups_measured) for row in rows if row.groups_modeled is not None]
    near = sum(abs(told - seen) <= max(1.0, 0.05 * seen) for told, seen in pruned)
    if pruned:
        click.echo(
            f"{'row groups':>12}: predicted within 1 or 5 % in {near} of {len(pruned)} settings (model / DuckDB)"
        )
    if json_path is not None:
        paths.write_whole(json_path, json.dumps(found, indent=1), make_folder=True)


def _examine(topic: str | None, **asked: Any) -> Iterator[Row]:
    """Return the rows of all settings, or of one chapter's."""
    if topic is None:
        return examine(**asked)
    from readahead.chapters import chapter
    from readahead.experiments import examine as of_chapter

    return of_chapter.examine(chapter(topic).experiment, **asked)


def _progress(event: Event) -> None:
    if "build" in event.note:
        click.echo(f"  {event.note}", err=True)


def _row(row: Row) -> str:
    bound = "device" if row.device_bound else "engine"
    modeled, measured = units.text(row.modeled_s, "s"), units.text(row.measured_s, "s")
    groups = f"; row groups {row.groups_modeled:.1f} / {row.groups_measured}" if row.groups_modeled else ""
    return f"{modeled:>10} {measured:>10} {row.ratio:>6.3f}  {bound}  {row.case}{groups}"


def _steady(told: object) -> str:
    """Say how far the machine was from itself: a short scan in memory, the same before each setting."""
    strays = dict(told) if isinstance(told, dict) else {}
    if not strays.get("n"):
        return "its steadiness was not looked at"
    parts = [f"{level} {units.text(strays[level], '1')}" for level in ("median", "p90", "worst")]
    return f"one and the same scan in memory, run before each, strayed from its median by: {', '.join(parts)}"


def _line(told: object) -> str:
    errors = dict(told) if isinstance(told, dict) else {}
    if not errors.get("n"):
        return "no setting of this kind was drawn; raise --configs"
    parts = [f"{level} {units.text(errors[level], '1')}" for level in ("median", "p90", "worst")]
    return f"relative error of {errors['n']} settings: {', '.join(parts)}"
