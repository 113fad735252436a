"""`python -m readahead doctor`: looks a laptop over before the session, in a few seconds and in plain words."""

from __future__ import annotations

import click
from click.exceptions import Exit

from readahead.measure.checkup import NOTE, PROBLEM, checkup


@click.command()
def doctor() -> None:
    """Check this machine for a workshop; the exit code is 1 if something has to be mended."""
    states = []
    for finding, _ in checkup():
        click.echo(finding.line)
        states.append(finding.state)
    problems, notes = states.count(PROBLEM), states.count(NOTE)
    if problems:
        click.echo(f"\n{problems} to mend before the session.")
        raise Exit(1)
    click.echo(f"\nReady{f', with {notes} to know about' if notes else ''}.")
