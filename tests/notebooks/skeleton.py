"""Checks that a chapter's notebook has its blocks in their order, thin code, no outputs, and no number in its prose
that another machine would make a lie.

The blocks, in order:

    title        first cell: `# Title`, and a question (a sentence ending in `?`)
    objectives   `## Objectives`: two to six list items, each beginning with a verb
    parameters   a code cell tagged `parameters`: plain values only, `reveal` and `size` among them
    card         the code cell with `open_chapter(…)`, which shows the machine card
    questions    directly above each `.predict/.claim/.exercise("x")`, a cell that begins with **Predict.** …
    rounds       three to five `## Round N: …`, each with `.predict("x")`, then `.reveal("x")`, then words that lead
                 on (what draws the lesson is shown by the reveal), a cell of the learner's own, and exercises
    exercises    `## Exercises`, for those that span rounds; it may be missing, but two exercises there must be
    key points   `## Key points`: a list
    next         `## Next`: a link to a notebook (or `## Next` without a link in the last chapter)

A cell tagged `yours` holds the learner's own lines: below a Markdown cell that says what to try, it may import pandas,
plotly.express and duckdb besides readahead, draw with `px.` and print. A chapter that has one has one in every round,
and takes its published tables from `lesson.published("name")`, never retyped.

Numbers with a unit of time or rate (8 ms, 90 MB/s, 3x faster) stand only in a question, or in a blockquote that names
where they are from: its first line begins with `> **Author, Title (year)**`, or with `> **Given**` for what is assumed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

LINES = 8
"""Lines of a code cell, at most."""
BYTES = 60_000
"""Of a notebook file."""
BLOCKS = ("title", "objectives", "parameters", "card", "rounds", "exercises", "key points", "next")
OPTIONAL = {"exercises"}
YOURS = "yours"
"""The tag of a cell of the learner's own."""
OWN_IMPORTS = ("duckdb", "pandas", "plotly.express")
"""What such a cell may import besides readahead."""
KNOWING = {"understand", "know", "learn", "appreciate", "see", "be"}
"""Verbs that nobody can check."""

_NUMBER = r"(?<![\w.])(?:\d[\d,.]*|\bhalf a|\ba few|\bseveral)\s*"
_UNIT = (
    r"(?:ns|µs|μs|us|ms|s|sec(?:ond)?s?|(?:nano|micro|milli)seconds?|min(?:ute)?s?|hours?"
    r"|(?:[kKMGT]i?)?B/s|(?:bytes|rows|reads|lookups|pages)(?:/| a | per )s(?:econd)?|IOPS)(?![\w/])"
)
_FACTOR = r"(?:x|×|times|-fold| ?%)\s*(?:faster|slower|as fast|as slow|quicker|speed-?up)"
NUMBERED = re.compile(rf"{_NUMBER}(?:{_UNIT}|{_FACTOR})|\b(?:twice|half) as (?:fast|slow)\b", re.IGNORECASE)
SOURCED = re.compile(r"^>\s*\*\*(?:Given|[^*]+,[^*]+\((?:\d{4}|undated)\))\*\*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is not as it should be."""

    rule: str
    cell: int
    """Counted from 0; -1 for the notebook as a whole."""
    says: str


def inspect(notebook: dict[str, Any], *, imports: Sequence[str] = ("readahead",)) -> list[Fault]:
    """Return every fault of a notebook (as read by json), in reading order."""
    cells = notebook["cells"]
    faults = [fault for number, cell in enumerate(cells) for fault in _cell_faults(number, cell, imports)]
    faults += _block_faults(cells)
    faults += _question_faults(cells)
    faults += _yours_faults(cells)
    faults += _parameter_faults(cells)
    if notebook.get("metadata", {}).get("widgets"):
        faults.append(Fault("no outputs", -1, "Saved widget state: clear all outputs."))
    if len(str(notebook)) > BYTES:
        faults.append(Fault("small file", -1, f"Larger than {BYTES:,} bytes."))
    return sorted(faults, key=lambda fault: fault.cell)


def source(cell: dict[str, Any]) -> str:
    """Return the text of a cell, which may be kept as lines."""
    text = cell["source"]
    return text if isinstance(text, str) else "".join(text)


# -- one cell --------------------------------------------------------------------------------------
def _cell_faults(number: int, cell: dict[str, Any], imports: Sequence[str]) -> Iterator[Fault]:
    text = source(cell)
    if cell["cell_type"] == "markdown":
        if text.startswith(tuple(_LABELS.values())):
            return  # what a question gives may have a unit, and a claim tests itself
        for found in NUMBERED.finditer(_prose(text)):
            yield Fault("no number in prose", number, f"{found[0]!r}: make it a claim, or quote its source.")
        return
    if cell["cell_type"] != "code":
        yield Fault("cell kinds", number, f"A {cell['cell_type']} cell. Use code or markdown.")
        return
    if cell.get("outputs") or cell.get("execution_count") is not None:
        yield Fault("no outputs", number, "Clear all outputs before committing.")
    form = "parameters" in _tags(cell)  # a form to fill in, a line each: no code
    if len(text.splitlines()) > LINES and not form:
        yield Fault("short cells", number, f"{len(text.splitlines())} lines; at most {LINES}.")
    yield from _code_faults(number, text, imports, yours=YOURS in _tags(cell))


def _tags(cell: dict[str, Any]) -> list[str]:
    tags: list[str] = cell.get("metadata", {}).get("tags", [])
    return tags


def _prose(markdown: str) -> str:
    """Return a markdown cell without code, link targets, and blockquotes that name their source."""
    blocks: list[list[str]] = [[]]
    for line in markdown.splitlines():
        quoted = line.lstrip().startswith(">")
        if blocks[-1] and quoted != blocks[-1][-1].lstrip().startswith(">"):
            blocks.append([])
        blocks[-1].append(line)
    kept = [line for block in blocks if not (block and SOURCED.match(block[0].lstrip())) for line in block]
    text = re.sub(r"```.*?```", "", "\n".join(kept), flags=re.DOTALL)
    return re.sub(r"`[^`]*`|\]\([^)]*\)", "", text)


_FORBIDDEN: dict[type[ast.AST], str] = {
    ast.FunctionDef: "def",
    ast.AsyncFunctionDef: "def",
    ast.ClassDef: "class",
    ast.Lambda: "lambda",
    ast.For: "for",
    ast.While: "while",
    ast.ListComp: "a loop",
    ast.DictComp: "a loop",
    ast.SetComp: "a loop",
    ast.GeneratorExp: "a loop",
    ast.Try: "try",
    ast.With: "with",
}
_DRAWING = {"display", "HTML", "print", "show", "plot", "savefig", "FigureWidget", "Figure", "eval", "exec"}


def _code_faults(number: int, text: str, imports: Sequence[str], *, yours: bool = False) -> Iterator[Fault]:
    if re.search(r"^\s*[%!]", text, re.MULTILINE):
        yield Fault("thin code", number, "A magic or shell line: put it in the library.")
        return
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        yield Fault("thin code", number, f"Not Python: {error}.")
        return
    for node in ast.walk(tree):
        word = _FORBIDDEN.get(type(node))
        if word is not None:
            yield Fault("thin code", number, f"{word}: put it in the library.")
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.split(".")[0] not in imports and not (yours and name in OWN_IMPORTS):
                own = f", and in a cell tagged {YOURS!r} {' and '.join(OWN_IMPORTS)}"
                yield Fault("imports", number, f"import {name}: a notebook imports only readahead{own}.")
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            px = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "px"
            if (called in _DRAWING and not (yours and called == "print")) or (px and not yours):
                says = f"{called}(): use lesson.figure, with words and table."
                yield Fault("figures with words", number, says)


# -- the blocks ------------------------------------------------------------------------------------
def _heading(cell: dict[str, Any]) -> str:
    match = re.match(r"\s*#{1,2} +(.+)", source(cell)) if cell["cell_type"] == "markdown" else None
    return match[1].strip().lower() if match else ""


def _kind(number: int, cell: dict[str, Any]) -> str:
    """Return which block a cell begins, or nothing."""
    if cell["cell_type"] == "code":
        if "parameters" in _tags(cell):
            return "parameters"
        return "card" if "open_chapter(" in source(cell) else ""
    heading = _heading(cell)
    if number == 0 and re.match(r"\s*# ", source(cell)):
        return "title"
    if heading.startswith("round "):
        return "rounds"
    return heading if heading in BLOCKS else ""


def _block_faults(cells: list[dict[str, Any]]) -> Iterator[Fault]:
    begun = [(kind, number) for number, cell in enumerate(cells) if (kind := _kind(number, cell))]
    order = [
        kind for i, (kind, _) in enumerate(begun) if kind != "rounds" or i == 0 or begun[i - 1][0] != "rounds"
    ]
    for block in BLOCKS:
        if block not in order and block not in OPTIONAL:
            yield Fault("blocks", -1, f"No block {block!r}.")
    if (count := len(_calls(cells, "exercise"))) < 2:
        yield Fault("exercises", -1, f"{count} exercises; at least two.")
    if order != [block for block in BLOCKS if block in order]:
        yield Fault("blocks", -1, f"Blocks come as {', '.join(order)}; in order: {', '.join(BLOCKS)}.")
    ends = [*(number for _, number in begun[1:]), len(cells)][: len(begun)]
    rounds = 0
    for (kind, start), end in zip(begun, ends, strict=True):
        if kind == "rounds":
            rounds += 1
            yield from _round_faults(start, cells[start:end], rounds)
        elif kind in _CHECKS:
            yield from _CHECKS[kind](start, cells[start:end])
    if rounds and not 3 <= rounds <= 5:
        yield Fault("rounds", -1, f"{rounds} rounds; three to five.")


def _calls(cells: Sequence[dict[str, Any]], method: str) -> list[tuple[int, str]]:
    """Return where `.method("name")` is called in code cells, and with which name."""
    found = []
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            names = re.findall(rf"\.{method}\(\s*[\"']([^\"']+)[\"']", source(cell))
            found += [(number, name) for name in names]
    return found


def _round_faults(start: int, cells: Sequence[dict[str, Any]], number: int) -> Iterator[Fault]:
    if not _heading(cells[0]).startswith(f"round {number}:"):
        yield Fault("rounds", start, f"This is round {number}: begin it with '## Round {number}: …'.")
    asked = {name: place for place, name in reversed(_calls(cells, "predict"))}
    shown = {name: place for place, name in reversed(_calls(cells, "reveal"))}  # the first one counts
    if not asked:
        yield Fault("rounds", start, "Nothing is predicted.")
    for name in set(asked) ^ set(shown):
        yield Fault("rounds", start, f"{name!r} must be predicted and revealed in the same round.")
    for name in set(asked) & set(shown):
        if asked[name] >= shown[name]:
            yield Fault("rounds", start + shown[name], f"{name!r}: predict it in a cell above its reveal.")
    last = max(shown.values(), default=len(cells))
    words = (source(cell).strip() for cell in cells[last + 1 :] if cell["cell_type"] == "markdown")
    if not any(text and not text.startswith(tuple(_LABELS.values())) for text in words):
        yield Fault("rounds", start, "No words after the reveal that lead on.")
    for place, name in _calls(cells, "exercise"):
        if place < last < len(cells):
            yield Fault(
                "exercises", start + place, f"{name!r}: practice comes after the round's last reveal."
            )


_LABELS = {"predict": "**Predict.** ", "claim": "**Claim.** ", "exercise": "**Exercise.** "}


def _question_faults(cells: Sequence[dict[str, Any]]) -> Iterator[Fault]:
    """The question stands in words directly above the call that collects the answer."""
    for method, label in _LABELS.items():
        for number, name in _calls(cells, method):
            above = cells[number - 1]
            if above["cell_type"] != "markdown" or not source(above).startswith(label):
                yield Fault(
                    "questions", number, f"No cell of words that begins with {label!r} above {name!r}."
                )


def _yours_faults(cells: Sequence[dict[str, Any]]) -> Iterator[Fault]:
    """The learner's own lines stand in every round of a chapter that has any, below words that say what to try."""
    yours = [number for number, cell in enumerate(cells) if YOURS in _tags(cell)]
    if not yours:
        return
    rounds = [number for number, cell in enumerate(cells) if _kind(number, cell) == "rounds"]
    ends = [number for number, cell in enumerate(cells) if _kind(number, cell) in ("exercises", "key points")]
    for start, end in zip(rounds, [*rounds[1:], min(ends, default=len(cells))][: len(rounds)], strict=True):
        if not any(start < number < end for number in yours):
            yield Fault(YOURS, start, f"No cell tagged {YOURS!r} in this round.")
    for number in yours:
        above = cells[number - 1]
        if above["cell_type"] != "markdown" or source(above).startswith(tuple(_LABELS.values())):
            yield Fault(YOURS, number, "No sentence directly above that says what to try.")
    for number, cell in enumerate(cells):
        quoted = SOURCED.search(source(cell)) and "**Given**" not in source(cell)
        if cell["cell_type"] == "markdown" and quoted and re.search(r"^>\s*\|", source(cell), re.MULTILINE):
            yield Fault("retyped", number, 'A table that was printed: show it by lesson.published("name").')


def _items(cells: Sequence[dict[str, Any]]) -> list[str]:
    return re.findall(r"^\s*[-*] +(.+)$", "\n".join(source(cell) for cell in cells), re.MULTILINE)


def _title(start: int, cells: Sequence[dict[str, Any]]) -> Iterator[Fault]:
    if "?" not in source(cells[0]):
        yield Fault("title", start, "No question under the title.")


def _objectives(start: int, cells: Sequence[dict[str, Any]]) -> Iterator[Fault]:
    items = _items(cells)
    if not 2 <= len(items) <= 6:
        yield Fault("objectives", start, f"{len(items)} objectives; two to six list items.")
    for item in items:
        verb = item.split()[0].strip("*_").lower()
        if verb in KNOWING or not verb.isalpha():
            yield Fault(
                "objectives", start, f"{item!r}: begin with a verb that can be checked (predict, compute)."
            )


def _key_points(start: int, cells: Sequence[dict[str, Any]]) -> Iterator[Fault]:
    if not _items(cells):
        yield Fault("key points", start, "No list of key points.")


_CHECKS = {"title": _title, "objectives": _objectives, "key points": _key_points}


def _parameter_faults(cells: list[dict[str, Any]]) -> Iterator[Fault]:
    """Papermill puts its values in after this cell and derives nothing anew: only plain values will do."""
    tagged = [n for n, cell in enumerate(cells) if "parameters" in _tags(cell)]
    if len(tagged) > 1:
        yield Fault("parameters", tagged[1], "A second cell is tagged 'parameters'.")
    for number in tagged[:1]:
        names = set()
        try:
            tree = ast.parse(source(cells[number]))
        except SyntaxError:
            return
        for node in tree.body:
            if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not _plain(node.value):
                yield Fault("parameters", number, f"{ast.unparse(node)!r} is no plain value.")
                continue
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
        for needed in ("reveal", "size"):
            if needed not in names:
                yield Fault("parameters", number, f"No parameter {needed!r}.")


def _plain(node: ast.expr | None) -> bool:
    try:
        ast.literal_eval(node)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return False
    return True
