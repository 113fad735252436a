"""`python -m readahead sheet`: the whole workbook with one set of parameters, and a page that says how it went."""

from __future__ import annotations

from pathlib import Path

import click
from click.exceptions import Exit
from tqdm import tqdm

from readahead import paths
from readahead.commands import sheets
from readahead.commands.batch import FAILED, Played, desks, play
from readahead.commands.summary import page
from readahead.measure.machine import this_machine


@click.command()
@click.argument("name", required=False)
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Folder for the copies.  [out/NAME]"
)
@click.option("--jobs", type=int, help="Notebooks at once.  [half of the cores]")
@click.option("--again", is_flag=True, help="Run also what was run before.")
def sheet(name: str | None, out: Path | None, jobs: int | None, *, again: bool) -> None:
    """Run the notebooks of a sheet (a NAME, or a .yaml file); without a name, list the sheets.

    A run that was broken off goes on where it stopped. The exit code is 1 if a notebook failed.
    """
    if name is None:
        for known in sheets.names():
            click.echo(f"{known:15} {sheets.load(known).title}")
        return
    chosen = sheets.load(name)
    folder = out or Path("out") / chosen.name
    with tqdm(total=len(chosen.pieces), desc=chosen.name, unit="notebook", disable=None) as bar:

        def told(played: Played) -> None:
            bar.update()
            tqdm.write(_line(played))

        found = play(chosen, folder, jobs=desks() if jobs is None else jobs, again=again, told=told)
    summary = folder / "index.html"
    paths.write_whole(summary, page(chosen, found, this_machine()))
    click.echo(f"Summary: {summary}")
    if any(played.state == FAILED for played in found):
        raise Exit(1)


def _line(played: Played) -> str:
    differ = [claim["claim"] for claim in played.claims if claim["verdict"] != "agrees"]
    more = f"; not agreed: {', '.join(differ)}" if differ else ""
    why = f": {played.says}" if played.says else ""
    claims = f", {len(played.claims)} claims" if played.claims else ""
    return f"{played.notebook:18} {played.state} in {played.seconds:.0f} s{claims}{more}{why}"
