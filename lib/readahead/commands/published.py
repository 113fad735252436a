"""`python -m readahead published`: every model beside what was printed, chapter by chapter."""

from __future__ import annotations

import importlib

import click
import numpy as np

from readahead.chapters import CONTENTS, is_written
from readahead.published import topics


@click.command()
def published() -> None:
    """Print each chapter's model against the published figures, with its degrees of freedom."""
    for place in CONTENTS:
        if (
            not is_written(place.topic) or place.topic not in topics()
        ):  # of the learner's own data nothing is printed
            continue
        told = importlib.import_module(f"readahead.chapters.{place.topic}.chapter")
        rows, fitted = told.residuals(), told.FITTED
        errors = [abs(modeled / printed - 1) for _, modeled, printed in rows]
        click.echo(
            f"{place.title}: {len(rows)} figures, {fitted} parameters, {len(rows) - fitted} degrees of freedom"
        )
        for (name, modeled, printed), error in zip(rows, errors, strict=True):
            why = getattr(told, "UNEXPLAINED", {}).get(name, "")
            click.echo(f"  {name:44} {modeled:14.6g} {printed:14.6g} {error:7.1%}{f'  {why}' if why else ''}")
        within = float(np.mean(np.array(errors) <= 0.1))
        click.echo(f"  median {np.median(errors):.1%}, worst {max(errors):.1%}, within 10 %: {within:.0%}\n")
