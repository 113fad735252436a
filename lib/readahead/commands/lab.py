"""`python -m readahead lab`: what `make lab` calls, and the way in where there is no make."""

from __future__ import annotations

from pathlib import Path

import click

from readahead.lab.server import start


@click.command()
@click.option("--no-browser", is_flag=True, help="Print the address, open nothing.")
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Use this port or fail. Without it: 8888 or the next free."
)
@click.argument("notebook", required=False, type=click.Path(path_type=Path))
def lab(notebook: Path | None, no_browser: bool, port: int | None) -> None:  # noqa: FBT001 (click calls by name)
    """Open the workbook, or one NOTEBOOK, in JupyterLab."""
    start(notebook, browser=not no_browser, port=port)
