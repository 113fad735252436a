"""Reads what an executed notebook shows: its laws, to be computed anew from the page alone, and its numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bs4 import BeautifulSoup, Tag

from readahead import units
from readahead.chapters import Chapter


def shown(cell: dict[str, Any]) -> Iterator[str]:
    """Return what a cell shows, an output after the other: HTML as it is, all else as text."""
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        yield data.get("text/html") or data.get("text/plain") or output.get("text", "")


# -- laws ------------------------------------------------------------------------------------------
def law_of(page: str) -> Tag | None:
    """Return the fold of the law in the HTML of an answer, or None."""
    folds = BeautifulSoup(page, "html.parser").find_all("details")
    return next((fold for fold in folds if fold.summary and fold.summary.get_text() == "The law"), None)


def recomputed(law: Tag) -> tuple[float, str]:
    """Return what the code gives that is shown of a law, run with nothing besides, and the result that is shown."""
    call, functions = (block.get_text() for block in law.find_all("pre"))
    imported, _, typed = call.partition("\n\n")
    assert all(line.startswith("from readahead.") for line in imported.splitlines()), imported
    foreign = re.findall(r"^\s*(?:from|import) (readahead\S*)", functions, re.MULTILINE)
    assert set(foreign) <= {"readahead.errors"}, foreign
    known: dict[str, Any] = {}
    exec(functions, known)
    return float(eval(typed, known)), typed.rpartition("# ")[2]


def odd_answers(notebook: Any, opened: Chapter) -> tuple[list[str], set[str]]:
    """Return what cannot be computed anew of the answers of an executed notebook, and which of them have a law."""
    faults, found = [], set()
    for cell in notebook.cells:
        name = re.search(r'lesson\.reveal\("(\w+)"\)', cell.source)
        page = "".join(shown(cell)) if name and cell.cell_type == "code" else ""
        law = law_of(page)
        if name is None or law is None:
            continue
        found.add(name[1])
        asked = opened.prediction(name[1])
        answer, printed = recomputed(law)
        number, _, text = printed.partition(": ")
        if abs(answer - float(number)) > 2e-5 * abs(answer) or text != units.text(answer, asked.kind):
            faults.append(f"{name[1]}: the lines give {answer}, and the page says {printed}")
        rows = BeautifulSoup(page, "html.parser").find_all("tr")
        [model] = [row.td.get_text() for row in rows if row.th and row.th.get_text() == "Model"]
        choice = asked.choice_of(answer) if asked.choice_of else None
        apart = re.search(
            r"The law alone gives (.+?); the model, which .+?, says (.+?)\.(?!\d)", law.get_text()
        )
        if apart is None and not re.match(rf"{re.escape(choice or text)}( \(|$)", model):
            faults.append(f"{name[1]}: the law gives {text}, the model {model}, and nothing says why")
        if apart is not None and (apart[1] != text or not (choice or model.startswith(apart[2]))):
            faults.append(f"{name[1]}: {apart[0]!r}, but {text} and {model}")
    return faults, found


# -- numbers ---------------------------------------------------------------------------------------
MOST_DIGITS = 6
ODD = {
    "an exponent": re.compile(r"(?<![\w.-])\d(?:\.\d+)?e[+-]?\d+"),
    "nothing of a large unit": re.compile(r"(?<![\d.,])0(?:\.0*)? (?:[KMGT]iB|[kMGT]B(?:/s)?|[kMG] rows/s)"),
    "too large a unit": re.compile(r"(?<![\d.,])0\.(?:0{6,}\d|0{3,}\d+ ?(?:s|ms|[kKMGT]i?B)\b)"),
}
"""Spellings of numbers that no reader needs."""
_DECIMAL = re.compile(r"(?<![\w.,-])\d[\d,]*\.\d+(?!\w|\.\d)")


def words_of(page: str) -> str:
    """Return what is read of an output: no formulas, and no code, whose numbers Python has to read."""
    if not page.lstrip().startswith("<"):
        return page
    soup = BeautifulSoup(page, "html.parser")
    for code in soup.find_all(["pre", "math"]):
        code.decompose()
    return soup.get_text(" ")


def odd_numbers(notebook: Any) -> list[str]:
    """Return the numbers of an executed notebook that are not written for people, with a few words around each."""
    found = []
    for cell in notebook.cells:
        for words in map(words_of, shown(cell)):
            hits = [(why, hit) for why, pattern in ODD.items() for hit in pattern.finditer(words)]
            for hit in _DECIMAL.finditer(words):
                digits = hit[0].replace(",", "").replace(".", "").strip("0")
                if len(digits) > MOST_DIGITS:
                    hits.append(("more digits than mean something", hit))
            for why, hit in hits:
                around = " ".join(words[max(0, hit.start() - 40) : hit.end() + 20].split())
                found.append(f"{cell.source.splitlines()[0]}: {why}: …{around}…")
    return found
