"""What stands folded below an answer: the law with this run's numbers, the query with DuckDB's account, the reads."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from readahead import units
from readahead.experiments.figure import Traces
from readahead.experiments.round import Applied
from readahead.experiments.run import Run
from readahead.panels.chart import chart
from readahead.panels.markup import code, folded, formula, paragraphs, table

MOST_RUNS = 3
"""Runs that are shown of one answer; of more, the first ones."""
_COPY = (
    "<button type='button' onclick='navigator.clipboard.writeText(this.parentElement.querySelector(\"pre\").innerText)'"
    " title='Copy the lines below'>Copy</button>"
)


def folds(law: Applied | None, runs: Sequence[Run], base: Mapping[str, Any], kind: str) -> str:
    """Return the folds of one answer: those that there is something to say of. `kind` is that of the answer."""
    shown = [run for run in runs if run.sql][:MOST_RUNS]
    parts = [law_fold(law, kind)] if law is not None else []
    if shown:
        parts.append(folded("The query", "".join(_query(run, base) for run in shown)))
    read = tuple((_name(run, base), run.sample.reads) for run in shown if run.sample.reads)
    if read:
        what = "write" if any(run.sample.wrote for run in shown) else "read"
        sentence = f"Each {what} of the last run, from when it was asked for to when it was there."
        parts.append(folded("The reads", chart(Traces(sentence=sentence, runs=read, what=what))))
    return "".join(parts)


def law_fold(law: Applied, kind: str) -> str:
    """Return the law: formula, symbols, source, the call with this run's numbers, and the function itself."""
    cited = f"Source: {law.cited}" if law.cited else ""
    result = f"{law.call}\n# {law.result:.6g}: {units.text(law.result, kind)}"
    own = folded("The function", code(law.source))
    words = "".join(paragraphs(part) for part in (law.symbols, cited) if part)
    return folded("The law", paragraphs(law.fact) + formula(law.formula) + words + code(result) + own)


def _name(run: Run, base: Mapping[str, Any]) -> str:
    """Return the knobs in which a run differs from the notebook's settings, in words."""
    knobs = {knob.name: knob for knob in run.experiment.knobs}
    changed = [
        knobs[name] for name, value in run.settings.items() if name in knobs and base.get(name) != value
    ]
    said = (f"{knob.label.lower()} {knob.text(run.settings[knob.name])}" for knob in changed)
    return ", ".join(said) or "as the notebook has it"


def _query(run: Run, base: Mapping[str, Any]) -> str:
    """Return one query, its settings, and what DuckDB, our trace and the model say of it."""
    settings = "\n".join(f"SET {name} = {value};" for name, value in run.engine.items())
    script = f"<div>{_COPY}{code(run.script)}</div>"
    return (
        f"<h5 style='margin:.6em 0 .2em'>{html.escape(_name(run, base))}</h5>"
        + code(f"{settings}\n{_short(run.sql)};")
        + table(("", "DuckDB's profile", "our trace", "the model"), accounts(run))
        + folded("The same for a plain DuckDB", script)
    )


def _short(sql: str, most: int = 600) -> str:
    return sql if len(sql) <= most else f"{sql[: most // 2]} … {sql[-most // 2 :]}"


def accounts(run: Run) -> list[tuple[str, ...]]:
    """Return the rows of the table: what is counted, by DuckDB, by our trace, and by the model."""
    profile, counts, traced = run.profile, run.counts, run.sample.reads
    rows: list[tuple[str, ...]] = []
    for name, kind, key, mine in (
        ("bytes read", "bytes", "bytes_read", sum(read.size_bytes for read in traced) if traced else None),
        ("reads", "count", "reads", len(traced) if traced else None),
        ("row groups", "count", "row_groups", None),
        ("processor time", "s", "cpu_s", None),
    ):
        told = [profile.get(key), mine, counts.get(key)]
        if any(value is not None for value in told):
            rows.append((name, *(units.text(value, kind) if value is not None else "" for value in told)))
    return rows
