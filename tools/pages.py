"""`make pages`: writes the parts of pages that are made from the chapters: the README's table of chapters, the leader's
agendas and exercises, every published figure. A test holds the pages to what is written here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
from click import ClickException
from click.exceptions import Exit

from readahead import paths
from tools import leaders_guide, published_page
from tools.faults import promises

BEGIN, END = "<!-- made by make pages: {} -->", "<!-- end of {} -->"

PAGES: dict[Path, dict[str, Callable[[], str]]] = {
    paths.ROOT / "docs" / "published.md": {
        "errors": published_page.errors,
        "figures": published_page.figures,
    },
    paths.DATA / "README.md": {"sums": published_page.sums},
    paths.ROOT / "README.md": {"chapters": leaders_guide.chapters, "promises": promises.table},
    paths.ROOT / "INSTRUCTORS.md": {
        "agendas": leaders_guide.agendas,
        "places": leaders_guide.places,
        "questions": leaders_guide.questions,
    },
}
"""Each page with its made parts, which stand between two comments."""


def made(page: Path) -> str:
    """Return a page with its made parts set anew; what stands around them is left as it is.

    Raises `ClickException` for a page that is not there or has lost one of the comments between which a part stands.
    """
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ClickException(f"{page} cannot be read: {error}. Take it from git again.") from error
    for name, write in PAGES[page].items():
        begin, end = BEGIN.format(name), END.format(name)
        if text.count(begin) != 1 or text.partition(begin)[2].count(end) != 1:
            raise ClickException(f"{page} must hold {begin} and, after it, {end}, once each. Put them back.")
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n\n{write().strip()}\n\n{end}{after}"
    return text


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; the exit code is 1 if a page is not up to date.")
def pages(*, check: bool) -> None:
    """Write the made parts of the README, the published page and the leader's guide anew."""
    anew = {page: made(page) for page in PAGES}
    stale = [page for page in PAGES if page.read_text(encoding="utf-8") != anew[page]]
    for page in stale:
        click.echo(f"{page.relative_to(paths.ROOT)} {'is not up to date' if check else 'written'}")
        if not check:
            paths.write_whole(page, anew[page])
    if not stale:
        click.echo("All pages are up to date.")
    if check and stale:
        raise Exit(1)


if __name__ == "__main__":
    pages()
