"""`python -m readahead progress`: shows a learner's progress, exports it to hand it in, or begins anew.

For a leader it prints what a folder of exports comes to, in the form that a course's grade book imports.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import click

from readahead.chapters import CONTENTS, chapter
from readahead.panels import disk_text
from readahead.panels.class_view import ClassResults, read_results, right_in
from readahead.questions.progress import Progress

LEARNER_COLUMNS = {
    "canvas": ("Student", "ID", "SIS User ID", "SIS Login ID", "Section"),
    "moodle": ("Username",),
}
"""What stands before the grades. Canvas finds a learner by the login, Moodle by the column that its import is told."""


@click.command()
@click.option(
    "--export",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write it all to one file, to hand in.",
)
@click.option(
    "--csv",
    "grade_book",
    type=(click.Choice(list(LEARNER_COLUMNS)), click.Path(file_okay=False, path_type=Path)),
    metavar="canvas|moodle FOLDER",
    help="Print the right exercises of each chapter for the exports in a folder, named after learners' logins.",
)
@click.option("--reset", is_flag=True, help="Begin anew; the old file is kept beside it as a backup.")
def progress(target: Path | None, grade_book: tuple[str, Path] | None, *, reset: bool) -> None:
    """Show how far you are: guesses and right answers, chapter by chapter."""
    if grade_book is not None:
        results = read_results(grade_book[1])
        click.echo(grades_csv(results, grade_book[0]), nl=False)
        for why in results.skipped:
            click.echo(why, err=True)
        return
    own = Progress.open()
    if target is not None:
        click.echo(f"Exported to {own.export(target, {'disk': disk_text()})}")
    if reset:
        backup = own.reset()
        click.echo(
            f"Begun anew; what was there is kept in {backup}" if backup else "There was nothing to reset."
        )
    if target is None and not reset:
        click.echo(f"{own.path}")
        for place in CONTENTS:
            guesses, answers = own.section(place.topic, "guesses"), own.section(place.topic, "answers")
            right = f"{right_in(answers.values()):3} of {len(answers)} tried are right"
            if guesses or answers:
                click.echo(f"  {place.title:60} {len(guesses):3} guessed {right}")
    for notice in own.notices:
        click.echo(notice, err=True)


def grades_csv(results: ClassResults, grade_book: str) -> str:
    """Return a row for each learner with the right exercises of each chapter, as Canvas or Moodle imports it."""
    written = [chapter(place.topic) for place in CONTENTS]
    columns = [f"Readahead {one.place.number:02} {one.place.topic}" for one in written]
    lines = io.StringIO()
    rows = csv.writer(lines, lineterminator="\n")
    rows.writerow([*LEARNER_COLUMNS[grade_book], *columns])
    if grade_book == "canvas":
        rows.writerow(["Points Possible", "", "", "", "", *(len(one.exercises) for one in written)])
    for name, book in results.books.items():
        computes = name.lstrip().startswith(("=", "+", "-", "@"))  # in a spreadsheet
        login = f"'{name}" if computes else name
        learner = [login, "", "", login, ""] if grade_book == "canvas" else [login]
        answers = {topic: sections.get("answers", {}) for topic, sections in book["topics"].items()}
        points = [
            right_in(answers.get(one.place.topic, {}).get(asked.id, ()) for asked in one.exercises)
            for one in written
        ]
        rows.writerow([*learner, *points])
    return lines.getvalue()
