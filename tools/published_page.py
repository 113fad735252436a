"""The tables of docs/published.md and data/README.md: every published figure, how far the models are off, and each sum
that does not agree.

`python -m tools.published_page` prints each comparison by itself.
"""

from __future__ import annotations

import fnmatch
import importlib
import math
from collections.abc import Iterator

import click

from readahead import published, units
from readahead.chapters import CONTENTS, chapter
from readahead.experiments.residual import Residual, Tally
from readahead.published import Figure
from tools.null_model import scatter
from tools.published_checks import checks

ORDER = ("foretold", "fitted", "identity", "assumed")
"""The roles, the one that could have failed first: where two chapters speak of a figure, the first role counts."""
NONE = "not compared"
_KINDS = {"bytes": "bytes", "bytes_per_s": "bytes_per_s", "s": "s", "rows_per_s": "rows_per_s", "1": "1"}


def _topics() -> list[str]:
    """Return the topics with published figures, in the order of the chapters."""
    order = {place.topic: place.number for place in CONTENTS}
    return sorted(published.topics(), key=lambda topic: order.get(topic, len(order)))


def _set_by_hand(tally: Tally) -> Iterator[str]:
    """Yield what of a chapter's models was fitted to print, and what was chosen by looking at it."""
    for kind, names in (("fitted", tally.fitted), ("chosen by looking", tally.chosen)):
        if names:
            yield f"{kind}: {', '.join(names)}"


def not_compared(one: Figure, topic: str) -> str:
    """Return why no model is held against a figure, or nothing if `not_compared.csv` does not name it.

    A name there may have * for any letters; the first line that fits counts.
    """
    lines = published.rows(published.FOLDER / "not_compared.csv", ["topic", "name", "reason"])
    fits = (line for line in lines if line["topic"] == topic and fnmatch.fnmatchcase(one.name, line["name"]))
    return next((line["reason"] for line in fits), "")


def tallies() -> dict[str, Tally]:
    """Return what each chapter's comparisons with print are worth."""
    held = [row.topic for row in CONTENTS if row.topic in published.topics()]
    return {
        topic: importlib.import_module(f"readahead.chapters.{topic}.chapter").in_print() for topic in held
    }


def _together(held: dict[str, Tally]) -> Tally:
    every = tuple(one for tally in held.values() for one in tally.residuals)
    identities = tuple(one for tally in held.values() for one in tally.identities)
    set_by_hand = tuple(name for tally in held.values() for name in (*tally.fitted, *tally.chosen))
    return Tally(residuals=every, identities=identities, fitted=set_by_hand)


def _percent(share: float) -> str:
    return f"{share:.1%}" if math.isfinite(share) else "–"


def _foretold(name: str, tally: Tally, *, null: bool = False) -> str:
    """Return the line of the figures that could have failed; with the null model where they are of one chapter."""
    worst, within = tally.worst, f"{tally.within:.0%}" if tally.foretold else "–"
    quantiles = (_percent(tally.quantile(share)) for share in (0.5, 0.9))
    told = f"{worst.error:.1%}: {worst.name}" if worst else "–"
    spread = map(_percent, scatter(tally)) if null else ()
    return _line(name, len(tally.foretold), *quantiles, within, told, *spread)


def _beside(name: str, tally: Tally) -> str:
    """Return the line of what is no test, and of what was fitted."""
    others, misprints = tally.no_tests.values(), sum(one.corrected is not None for one in tally.identities)
    return _line(name, len(tally.foretold), *others, misprints, tally.parameters, tally.free)


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def errors() -> str:
    """Return what the models are worth against print: by chapter, by author, and what could not have failed."""
    held = tallies()
    together = _together(held)
    titles = ("{}", "foretold", "median", "p90", "within 10 %", "worst")
    head = "|---|---:|---:|---:|---:|---|"
    by: dict[str, list[Residual]] = {}
    for one in together.residuals:
        by.setdefault(one.figure.author, []).append(one)
    for figure in together.identities:
        by.setdefault(figure.author, [])
    authors = [_foretold(name, Tally(residuals=tuple(rows))) for name, rows in sorted(by.items())]
    counts = ("chapter", *ORDER, "of them misprints", "fitted or chosen", "degrees of freedom")
    chosen = []
    for topic, tally in held.items():
        said = "; ".join(_set_by_hand(tally))
        chosen.append(f"- {topic}: {said or 'nothing'}.")
    parts = (
        f"{_line(*titles, 'scatter', 'null model')}\n{head}---:|---:|".format("chapter"),
        *(_foretold(topic, tally, null=True) for topic, tally in held.items()),
        f"{_foretold('all', together)} – | – |",
        "",
        f"{_line(*titles)}\n{head}".format("author"),
        *authors,
        "",
        f"{_line(*counts)}\n|---|{'---:|' * (len(counts) - 1)}",
        *(_beside(topic, tally) for topic, tally in held.items()),
        _beside("all", together),
        "",
        *chosen,
    )
    return "\n".join(parts)


def sums() -> str:
    """Return how many sums agree, and each one that does not."""
    every = checks()
    odd = [check for check in every if check.verdict == "disagrees"]
    lines = [
        f"Of {len(every)} sums {len(every) - len(odd)} agree and {len(odd)} do not:",
        "",
        "| topic | sum | gives | why |\n|---|---|---|---|",
    ]
    for one in odd:
        said = f"`{one.left}` {one.relation} `{one.right}`"
        lines.append(_line(one.topic, said, f"{one.left_value:.4g} against {one.right_value:.4g}", one.why))
    return "\n".join(lines)


def text(figure: Figure) -> str:
    """Return the value of a figure as people write it; of a misprint, what it must have been."""
    kind = _KINDS.get(figure.unit)
    return units.text(figure.best, kind) if kind else f"{figure.best:,.6g} {figure.unit}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def figures() -> str:
    """Return every printed figure: document by document, chapter by chapter."""
    roles: dict[Figure, str] = {}
    for tally in tallies().values():
        for one in tally.residuals:
            roles[one.figure] = min(one.role, roles.get(one.figure, one.role), key=ORDER.index)
        for figure in tally.identities:
            roles.setdefault(figure, "identity")
    documents: dict[tuple[str, str], list[tuple[str, Figure]]] = {}
    for topic in _topics():
        for figure in published.figures(topic):
            documents.setdefault((figure.author, figure.title), []).append((topic, figure))
    parts = []
    for (author, title), found in sorted(documents.items()):
        parts += [f"### {author}: {title}", "", f"{len(found)} figures.", ""]
        parts += ["| chapter | figure | printed | that is | role | note |", "|---|---|---|---|---|---|"]
        for topic, figure in found:
            note = figure.note or ("misprint, corrected" if figure.corrected is not None else "")
            why = not_compared(figure, topic)
            note = "; ".join(part for part in (why, note) if part)
            cells = (topic, f"`{figure.name}`", figure.printed, text(figure), roles.get(figure, NONE), note)
            parts.append("| " + " | ".join(map(_cell, cells)) + " |")
        parts.append("")
    return "\n".join(parts)


@click.command()
def compare() -> None:
    """Print each chapter's model against the published figures: what could have failed, and what is no test."""
    held = tallies()
    for place in CONTENTS:
        if place.topic in held:
            click.echo("\n".join(_compared(place.title, held[place.topic])) + "\n")
    ratios = {
        told.figure for topic in held for turn in chapter(topic).rounds.values() for told in turn.beside
    }
    click.echo(_together(held).sentence)
    click.echo(f"{len(ratios)} printed figures stand as ratios beside those of a run.")


def _compared(title: str, tally: Tally) -> Iterator[str]:
    held = len(tally.residuals) + len(tally.identities)
    yield f"{title}: {held} figures, {len(tally.foretold)} foretold"
    for one in tally.residuals:
        pair = f"{one.model:14.6g} {one.figure.value:14.6g} {one.ratio - 1:+8.1%}"
        yield f"  {one.name:44} {pair}  {one.role:9} {one.why}".rstrip()
    yield f"  {tally.sentence}"
    model, null = scatter(tally)
    if math.isfinite(null):
        yield f"  Scatter {model:.1%}, of the null model {null:.1%}; {tally.free} degrees of freedom"
    for line in _set_by_hand(tally):
        yield f"  {line}"


if __name__ == "__main__":
    compare()
