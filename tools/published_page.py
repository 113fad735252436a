"""The tables of docs/published.md and data/README.md: every published figure, how far the models are off, and each sum
that does not agree.
"""

from __future__ import annotations

import importlib
import math

from readahead import published, units
from readahead.chapters import CONTENTS, is_written
from readahead.experiments.residual import ROLES, Residual, Tally
from readahead.published import Figure
from tools.published_checks import checks

ORDER = tuple(ROLES)
"""The roles, the one that could have failed first: where two chapters speak of a figure, the first role counts."""
NONE = "not compared"
_KINDS = {"bytes": "bytes", "bytes_per_s": "bytes_per_s", "s": "s", "rows_per_s": "rows_per_s", "1": "1"}


def _topics() -> list[str]:
    """Return the topics with published figures, in the order of the chapters."""
    order = {place.topic: place.number for place in CONTENTS}
    return sorted(published.topics(), key=lambda topic: order.get(topic, len(order)))


def tallies() -> dict[str, Tally]:
    """Return what each chapter's comparisons with print are worth."""
    found = {}
    for place in CONTENTS:
        if is_written(place.topic) and place.topic in published.topics():
            told = importlib.import_module(f"readahead.chapters.{place.topic}.chapter")
            many = len(told.FITTED) + len(told.CHOSEN_BY_LOOKING)
            found[place.topic] = Tally(residuals=tuple(told.residuals()), parameters=many)
    return found


def _percent(share: float) -> str:
    return f"{share:.1%}" if math.isfinite(share) else "–"


def _foretold(name: str, tally: Tally, *, null: bool = False) -> str:
    """Return the line of the figures that could have failed; with the null model where they are of one chapter."""
    worst, within = tally.worst, f"{tally.within:.0%}" if tally.foretold else "–"
    quantiles = (_percent(tally.quantile(share)) for share in (0.5, 0.9))
    told = f"{worst.error:.1%}: {worst.name}" if worst else "–"
    scatter = map(_percent, tally.scatter) if null else ()
    return _line(name, len(tally.foretold), *quantiles, within, told, *scatter)


def _beside(name: str, tally: Tally) -> str:
    """Return the line of what is no test, and of what was fitted."""
    others = (len(tally.of(role)) for role in ORDER[1:])
    misprints = sum(one.misprint for one in tally.residuals)
    return _line(name, len(tally.foretold), *others, misprints, tally.parameters, tally.free)


def _line(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def errors() -> str:
    """Return what the models are worth against print: by chapter, by author, and what could not have failed."""
    held = tallies()
    every = tuple(one for tally in held.values() for one in tally.residuals)
    together = Tally(residuals=every, parameters=sum(tally.parameters for tally in held.values()))
    titles = ("{}", "foretold", "median", "p90", "within 10 %", "worst")
    head = "|---|---:|---:|---:|---:|---|"
    by: dict[str, list[Residual]] = {}
    for one in every:
        by.setdefault(one.figure.author, []).append(one)
    authors = [
        _foretold(name, Tally(residuals=tuple(rows), parameters=0)) for name, rows in sorted(by.items())
    ]
    counts = ("chapter", *ORDER, "of them misprints", "fitted or chosen", "degrees of freedom")
    chosen = []
    for topic in held:
        told = importlib.import_module(f"readahead.chapters.{topic}.chapter")
        kinds = (("fitted", told.FITTED), ("chosen by looking", told.CHOSEN_BY_LOOKING))
        said = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds if names)
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
            why = published.not_compared(figure, topic)
            note = "; ".join(part for part in (why, note) if part)
            cells = (topic, f"`{figure.name}`", figure.printed, text(figure), roles.get(figure, NONE), note)
            parts.append("| " + " | ".join(map(_cell, cells)) + " |")
        parts.append("")
    return "\n".join(parts)
