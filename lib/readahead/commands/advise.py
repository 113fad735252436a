"""`python -m readahead advise PATH`: what the metadata of a file says, what it costs, what to change first."""

from __future__ import annotations

from typing import Any

import click

from readahead.advisor import advice, verify
from readahead.datasets.survey import survey
from readahead.devices import THIS_MACHINE, Device, calibrated, catalogue
from readahead.devices import device as named
from readahead.errors import BadValue, printable
from readahead.running import Event, listening


@click.command()
@click.argument("path")
@click.option(
    "--device", "devices", multiple=True, help="Of the catalogue; may be given again. 'all' for all."
)
@click.option(
    "--columns", default="", help="Columns that the query reads, with commas between; all, if none."
)
@click.option("--by", default="", help="The column that is filtered by, or looked up by.")
@click.option(
    "--selectivity", default=1.0, show_default=True, help="Share of the rows that the filter keeps."
)
@click.option("--keys", default=0, show_default=True, help="Rows of a lookup; 0 for a scan.")
@click.option("--queue-depth", default=8, show_default=True, help="Reads that DuckDB keeps under way today.")
@click.option("--threads", default=0, help="Threads that decode; 0 for all cores but one.")
@click.option("--table", default="", help="Table of a database; the largest, if none.")
@click.option(
    "--verify", "proven", is_flag=True, help="Rewrite a sample beside the file, measure both, tell."
)
@click.option("--here", is_flag=True, help="With --verify: measure on this machine's own disk.")
def advise(path: str, devices: tuple[str, ...], columns: str, by: str, table: str, **more: Any) -> None:
    """Look at a Parquet file, a folder or a pattern of them, or a DuckDB database at PATH, and say what to change."""
    proven, here = more.pop("proven"), more.pop("here")
    wanted = [name.strip() for name in columns.split(",") if name.strip()]
    if columns and not wanted:
        raise BadValue(
            f"columns={columns!r} must name a column or more. Put commas between them, or leave it out."
        )
    if here and not proven:
        raise BadValue(
            "here=True must come with --verify, which is what measures. Add it, or leave --here out."
        )
    known = _devices(devices)
    seen = survey(path, columns=wanted, by=by, table=table)
    told = [advice.advise(seen, advice.case_of(seen, one, **more)) for one in known]
    for line in advice.letter(seen, told):
        click.echo(printable(line))
    if proven:
        click.echo()
        with listening(_progress):
            proof = verify.verify(seen, told[0], here=here)
        for line in proof.lines():
            click.echo(printable(line))
    elif any(one.options for one in told):
        click.echo("\nThese are models. --verify rewrites a sample, measures it, and says whether they hold.")


def _devices(names: tuple[str, ...]) -> list[Device]:
    """Return the devices that were named, each known; without a name the usual two."""
    found = [named(name) for name in names if name != "all"]
    if "all" in names:
        return list(catalogue().values())
    return found or [named(THIS_MACHINE if calibrated() else "nvme"), named("object-store")]


def _progress(event: Event) -> None:
    if event.done < event.total:
        click.echo(f"  {printable(event.note)}", err=True)
