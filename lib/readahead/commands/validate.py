"""`python -m readahead validate`: the models, held to measurements on this machine at settings drawn at random."""

from __future__ import annotations

import json
from pathlib import Path

import click

from readahead import paths, units
from readahead.experiments.validate import EveryKnob, Row, Source, report
from readahead.experiments.validate import validate as validated
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
        lines.append(_summary(name, rows))
        click.echo()
    click.echo("\n".join(lines))
    if json_path is not None:
        text = json.dumps(found if topic == "all" else next(iter(found.values())), indent=1)
        paths.write_whole(json_path, text, make_folder=True)
    if differs:
        click.echo(f"Model, trace and profile differ in {differs} settings: see the lines with !=.", err=True)
        context.exit(1)


def _sources(topic: str | None) -> dict[str, Source]:
    """Return what settings are drawn from, by name."""
    if topic is None:
        return {"every knob": EveryKnob()}
    from readahead.chapters import CONTENTS, chapter, is_written

    topics = [row.topic for row in CONTENTS if is_written(row.topic)] if topic == "all" else [topic]
    return {name: chapter(name).experiment for name in topics}


def _progress(event: Event) -> None:
    if "build" in event.note:
        click.echo(f"  {event.note}", err=True)


def _row(row: Row) -> str:
    bound = "device" if row.device_bound else "engine"
    modeled, measured = units.text(row.modeled_s, "s"), units.text(row.measured_s, "s")
    line = f"{modeled:>10} {measured:>10} {row.ratio:>6.3f}  {bound}  {row.case}"
    return "\n".join([line, *(f"{'!=':>32}  {difference}" for difference in row.differences)])


def _summary(name: str, rows: list[Row]) -> str:
    told = report(rows)
    parts = [f"{name}: {_line('all', told['all'])}; {_line('device-bound', told['device_bound'])}"]
    parts.append(f"  {_line('the control run from its own median', told['machine'])};")
    parts.append(f"  {told['repeated']} of {len(rows)} settings repeated because it strayed")
    known = [row for row in rows if "reads" in row.modeled]
    if known:
        exact = sum(not row.differences for row in known)
        parts.append(f"  model, trace and profile count alike in {exact} of {len(known)} settings")
    return "\n".join(parts)


def _line(name: str, told: object) -> str:
    errors = dict(told) if isinstance(told, dict) else {}
    if not errors.get("n"):
        return f"{name}: no setting of this kind"
    levels = " / ".join(units.text(errors[level], "1") for level in ("median", "p90", "worst"))
    return f"{name} ({errors['n']}): {levels}"
