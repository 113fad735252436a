"""`python -m readahead progress`: shows a learner's progress, exports it to hand it in, or begins anew."""

from __future__ import annotations

from pathlib import Path

import click

from readahead.chapters import CONTENTS
from readahead.devices import calibrated
from readahead.panels import disk_text
from readahead.questions.progress import Progress


@click.command()
@click.option(
    "--export",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write it all to one file, to hand in.",
)
@click.option("--reset", is_flag=True, help="Begin anew; the old file is kept beside it as a backup.")
def progress(target: Path | None, *, reset: bool) -> None:
    """Show how far you are: guesses and right answers, chapter by chapter."""
    own = Progress.open()
    if target is not None:
        click.echo(f"Exported to {own.export(target, {'disk': disk_text(calibrated())})}")
    if reset:
        backup = own.reset()
        click.echo(
            f"Begun anew; what was there is kept in {backup}" if backup else "There was nothing to reset."
        )
    if target is None and not reset:
        click.echo(f"{own.path}")
        for place in CONTENTS:
            guesses, answers = own.section(place.topic, "guesses"), own.section(place.topic, "answers")
            right = sum(any(one.get("outcome") == "Right" for one in tries) for tries in answers.values())
            if guesses or answers:
                click.echo(
                    f"  {place.title:60} {len(guesses):3} guessed {right:3} of {len(answers)} tried are right"
                )
    for notice in own.notices:
        click.echo(notice, err=True)
