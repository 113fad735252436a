"""`python -m readahead book`: runs every notebook with everything open, and writes the book from the executed copies.

The copies are kept among the built files: a notebook that is as it was is not run again.
"""

from __future__ import annotations

from pathlib import Path

import click
import nbformat
from click.exceptions import Exit
from tqdm import tqdm

from readahead import paths
from readahead.book.pages import Page, write
from readahead.chapters import CONTENTS, chapter
from readahead.commands.sheet import FAILED, Outcome, Sheet, run_sheet
from readahead.measure.sample import this_machine


@click.command()
@click.option(
    "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder for the pages."
)
@click.option("--size", default="small", show_default=True, type=click.Choice(["tiny", "small", "full"]))
@click.option("--again", is_flag=True, help="Run also what was run before.")
def book(out: Path, size: str, *, again: bool) -> None:
    """Write every chapter as a page with its answers: offline, without a kernel, for a phone or for print.

    The answers are measured on this machine. The exit code is 1 if a notebook failed; the page of that one says why.
    """
    paths.require_writable(out)
    found = executed(size, again=again)
    pages = [
        Page(
            stem=path.stem,
            title=place.title,
            minutes=chapter(place.topic).minutes,
            notebook=nbformat.read(path, as_version=4),
            failed=failed,
        )
        for place, (path, failed) in zip(CONTENTS, found, strict=True)
    ]
    write(out, pages)
    click.echo(f"The book: {out / 'index.html'}")
    if any(page.failed for page in pages):
        raise Exit(1)


def executed(size: str, *, again: bool = False) -> list[tuple[Path, str]]:
    """Run every notebook at one size and return its copy; of one that failed itself, and why."""
    notebooks = [paths.NOTEBOOKS / place.notebook for place in CONTENTS]
    runs = {path: {"reveal": True, "size": size} for path in notebooks}
    folder = paths.work_dir() / "book" / size
    jobs = min(2, max(1, this_machine().cores // 2))  # each of them measures with two
    with tqdm(total=len(runs), desc="book", unit="notebook", disable=None) as bar:

        def told(outcome: Outcome) -> None:
            bar.update()
            tqdm.write(f"{outcome.notebook:18} {outcome.state} in {outcome.seconds:.0f} s")

        outcomes = run_sheet(
            Sheet(name="book", title="The book", runs=runs), folder, jobs=jobs, again=again, told=told
        )
    return [
        (path, outcome.says) if outcome.state == FAILED else (folder / path.name, "")
        for path, outcome in zip(notebooks, outcomes, strict=True)
    ]
