"""`python -m readahead pages`: the pages that are made from the code, set anew: every printed figure with the model
beside it, and the leader's tables. A test holds the pages to what this command writes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
from click.exceptions import Exit

from readahead import paths
from readahead.commands import guide, print_page

BEGIN, END = "<!-- made by python -m readahead pages: {} -->", "<!-- end of {} -->"

PAGES: dict[Path, dict[str, Callable[[], str]]] = {
    paths.ROOT / "docs" / "published.md": {"errors": print_page.errors, "figures": print_page.figures},
    paths.ROOT / "README.md": {"chapters": guide.chapters},
    paths.ROOT / "INSTRUCTORS.md": {"agendas": guide.agendas, "questions": guide.questions},
}
"""Each page with its made parts, which stand between two comments."""


def made(page: Path) -> str:
    """Return a page with its made parts set anew; what stands around them is left as it is."""
    text = page.read_text(encoding="utf-8")
    for name, write in PAGES[page].items():
        begin, end = BEGIN.format(name), END.format(name)
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n\n{write().strip()}\n\n{end}{after}"
    return text


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; the exit code is 1 if a page is not up to date.")
def pages(*, check: bool) -> None:
    """Write the made parts of the README, the published page and the leader's guide anew."""
    stale = [page for page in PAGES if page.read_text(encoding="utf-8") != made(page)]
    for page in stale:
        click.echo(f"{page.relative_to(paths.ROOT)} {'is not up to date' if check else 'written'}")
        if not check:
            paths.write_whole(page, made(page))
    if not stale:
        click.echo("All pages are up to date.")
    if check and stale:
        raise Exit(1)
