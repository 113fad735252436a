"""A quotation says what its document says, and what is wrong with a printed figure is left to be found."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from readahead import paths, published

NOTEBOOKS = sorted((paths.ROOT / "notebooks").glob("*.ipynb"))
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
PRINTED: dict[str, set[str]] = {}
for one in (figure for topic in published.topics() for figure in published.figures(topic)):
    PRINTED.setdefault(one.author, set()).update(
        NUMBER.findall(f"{one.printed} {one.x_value:g}" if isinstance(one.x_value, float) else one.printed)
    )
NAMES = {
    "MariaDB": {"1", "2", "3"},  # a query by its number, bar 2, nodes
    "Joe Chang": {"2008", "8,000"},  # SQL Server 2008; 8000 as it is written here
    "Paul Randal": {"4", "10", "1"},  # part 4 of a series, RAID 10, a queue of 1
    "mark": set(),
    "Niko Neugebauer": {"50"},  # part 50 of a series
    "Linchi Shea": set(),
}
"""Numbers that are names, and not figures."""


def quotations(path: Path) -> list[tuple[str, str]]:
    """Return (author, text) of each block that names its document."""
    found = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        for block in re.findall(r"(?:^>.*\n?)+", "".join(cell["source"]), re.MULTILINE):
            for author, text in re.findall(r"\*\*([\w .]+?), [^*]*\*\*:((?:(?!\*\*)[\s\S])*)", block):
                if author in NAMES:
                    found.append((author, text))
    return found


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_number_of_a_quotation_is_one_that_its_author_printed(path: Path) -> None:
    odd = [
        (author, number)
        for author, text in quotations(path)
        for number in NUMBER.findall(text)
        if number not in PRINTED[author] | NAMES[author]
    ]
    assert odd == []


def test_there_are_quotations_to_read() -> None:
    assert sum(len(quotations(path)) for path in NOTEBOOKS) > 25


FOUND_BY_THE_LEARNER = {
    "02_read_ahead": ("cannot_be", ("25,000", "cannot be 20", "too few pages")),
    "03_row_groups": ("difference", ("0.34", "0.336", "misprint")),
    "06_index_pages": ("steady", ("4.475", "4.48")),
    "08_cache_tiers": ("block_cache", ("2355", "2,355", "misprint")),
    "10_loading": ("peaks", ("106 MB", "KB/s", "unit of the peaks")),
}
"""Each misprint has an exercise; what would give it away stands nowhere above."""


@pytest.mark.parametrize("name", FOUND_BY_THE_LEARNER)
def test_nothing_above_an_exercise_gives_its_misprint_away(name: str) -> None:
    exercise, words = FOUND_BY_THE_LEARNER[name]
    text = (paths.ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    above, call, _ = text.partition(f'lesson.exercise(\\"{exercise}\\")')
    assert call
    assert [word for word in words if word in above] == []
