"""The tables of docs/published.md: every published figure, and how far the models are from those that they predict."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator, Sequence

import numpy as np

from readahead import published, units
from readahead.chapters import CONTENTS, is_written
from readahead.published import Figure

Row = tuple[str, float, float]
_KINDS = {"bytes": "bytes", "bytes_per_s": "bytes_per_s", "s": "s", "rows_per_s": "rows_per_s", "1": "1"}


def _topics() -> list[str]:
    """Return the topics with published figures, in the order of the chapters."""
    order = {place.topic: place.number for place in CONTENTS}
    return sorted(published.topics(), key=lambda topic: order.get(topic, len(order)))


def _held() -> Iterator[tuple[str, Sequence[Row], int]]:
    for place in CONTENTS:
        if is_written(place.topic) and place.topic in published.topics():
            told = importlib.import_module(f"readahead.chapters.{place.topic}.chapter")
            yield place.topic, told.residuals(), told.FITTED


def _author(topic: str, printed: float) -> str:
    """Return whose figure it is, by its value; a sum over several figures is its chapter's."""
    for other in (topic, *_topics()):
        for figure in published.figures(other):
            if any(math.isclose(printed, value, rel_tol=1e-6) for value in (figure.value, figure.best)):
                return figure.author
        if other == topic and not published.figures(topic):
            break
    return "worked out from several"


def _error_line(name: str, rows: Sequence[Row], fitted: str, free: str) -> str:
    off = [abs(model / printed - 1) for _, model, printed in rows]
    worst = rows[int(np.argmax(off))][0].replace("_", " ")
    within = np.mean(np.array(off) <= 0.1)
    cells = (
        name,
        len(rows),
        fitted,
        free,
        f"{np.median(off):.1%}",
        f"{within:.0%}",
        f"{max(off):.1%}: {worst}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def errors() -> str:
    """Return the errors of the models against print, by chapter with degrees of freedom, and by author."""
    held = list(_held())
    titles = ("{}", "figures", "fitted", "degrees of freedom", "median", "within 10 %", "worst")
    head = f"| {' | '.join(titles)} |\n|---|{'---:|' * 5}---|"
    chapters = [
        _error_line(topic, rows, str(fitted), str(len(rows) - fitted)) for topic, rows, fitted in held
    ]
    by: dict[str, list[Row]] = {}
    for topic, rows, _ in held:
        for row in rows:
            by.setdefault(_author(topic, row[2]), []).append(row)
    authors = [_error_line(name, rows, "", "") for name, rows in sorted(by.items())]
    tables = (head.format("chapter"), *chapters, "", head.format("author"), *authors)
    return "\n".join(tables)


def _said(figure: Figure) -> str:
    kind = _KINDS.get(figure.unit)
    return units.text(figure.best, kind) if kind else f"{figure.best:,.6g} {figure.unit}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def figures() -> str:
    """Return every printed figure: document by document, chapter by chapter."""
    documents: dict[tuple[str, str], list[tuple[str, Figure]]] = {}
    for topic in _topics():
        for figure in published.figures(topic):
            documents.setdefault((figure.author, figure.title), []).append((topic, figure))
    parts = []
    for (author, title), found in sorted(documents.items()):
        parts += [f"### {author}: {title}", "", f"{len(found)} figures.", ""]
        parts += ["| chapter | figure | printed | that is | note |", "|---|---|---|---|---|"]
        for topic, figure in found:
            note = figure.note or ("misprint, corrected" if figure.corrected is not None else "")
            cells = (topic, f"`{figure.name}`", figure.printed, _said(figure), note)
            parts.append("| " + " | ".join(map(_cell, cells)) + " |")
        parts.append("")
    return "\n".join(parts)
