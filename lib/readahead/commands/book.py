"""`python -m readahead book`: runs every notebook with everything open, and writes the book from the executed copies.

The copies are kept among the built files: a notebook that is as it was is not run again.
"""

from __future__ import annotations

from pathlib import Path

import click
import nbformat
from click.exceptions import Exit

from readahead import paths
from readahead.book.pages import Page, write
from readahead.chapters import CONTENTS, chapter
from readahead.commands.sheet import Sheet, run_sheet


@click.command()
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the pages."
)
@click.option("--size", default="tiny", show_default=True, type=click.Choice(["tiny", "small", "full"]))
@click.option("--again", is_flag=True, help="Run also what was run before.")
def book(out: Path, size: str, *, again: bool) -> None:
    """Write every chapter as a page with its answers: offline, without a kernel, for a phone or for print.

    The answers are measured on this machine, one chapter after the other: what runs beside a measurement disturbs it.
    The exit code is 1 if a notebook failed; the page of that one says why.
    """
    paths.require_writable(out)
    notebooks = [paths.NOTEBOOKS / place.notebook for place in CONTENTS]
    whole = Sheet(name="book", title="", runs={path: {"reveal": True, "size": size} for path in notebooks})
    folder = paths.work_dir() / "book" / size
    pages = [
        Page(
            stem=outcome.notebook,
            title=place.title,
            minutes=chapter(place.topic).minutes,
            notebook=nbformat.read(
                paths.NOTEBOOKS / place.notebook if outcome.says else folder / place.notebook, as_version=4
            ),
            failed=outcome.says,
        )
        for place, outcome in zip(CONTENTS, run_sheet(whole, folder, jobs=1, again=again), strict=True)
    ]
    write(out, pages)
    click.echo(f"The book: {out / 'index.html'}")
    if any(page.failed for page in pages):
        raise Exit(1)
