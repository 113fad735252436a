"""A quotation says what its document says, and what is wrong with a printed figure is left to be found."""

from __future__ import annotations

import json
import re
import statistics
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
APPENDIX = {"outside", "one_link", "cached", "against_itself"}
PROOFS = (
    "464",
    "farther out",
    "62.5",
    "156.5",
    "4.24",
    "1.36 GB",
    "cut off",
    "48 Gbit",
    "36.6 million",
)
"""What proves that a document is against itself: in the solutions of the appendix and in no notebook."""


@pytest.mark.parametrize("name", FOUND_BY_THE_LEARNER)
def test_nothing_above_an_exercise_gives_its_misprint_away(name: str) -> None:
    exercise, words = FOUND_BY_THE_LEARNER[name]
    text = (paths.ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    above, call, _ = text.partition(f'lesson.exercise(\\"{exercise}\\")')
    assert call
    assert [word for word in words if word in above] == []


def test_the_appendix_is_spoiled_by_no_notebook() -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in NOTEBOOKS}
    assert all(f'lesson.exercise(\\"{name}\\")' in texts["10_loading"] for name in APPENDIX)
    assert [(name, proof) for name, text in texts.items() for proof in PROOFS if proof in text] == []


def test_the_sums_of_the_appendix_come_out() -> None:
    def told(topic: str, name: str) -> float:
        return published.figure(topic, name).value

    tests = [
        told("loading", f"elapsed_s.{name}") for name in ("best_before", *(f"test{n}" for n in range(1, 6)))
    ]
    far = [abs(one - statistics.median(tests)) / statistics.stdev(tests) for one in tests]
    assert [round(one, 2) for one in sorted(far) if one > 1] == [1.01, 1.18, 1.39]
    pages = told("lookups", "table_bytes") - told("io_cpu", "memory_bytes")
    assert pages / told("lookups", "table_bytes") == 0.625
    reads = [
        told("lookups", f"disk_8k_reads_per_s.n{n}") / told("lookups", f"disk_8k_rows_per_s.n{n}")
        for n in (10, 1000)
    ]
    assert [round(one, 2) for one in reads] == [1.14, 0.97]
    peaks = [published.figure("loading", f"peak_bytes_per_s.{name}_test1").best for name in ("sata", "scsi")]
    assert sum(peaks) == 156_512_000
    assert (
        peaks[0]
        < told("loading", "table_bytes") / told("loading", "elapsed_s.test1")
        == pytest.approx(51.7e6, rel=1e-3)
    )
    page = told("read_ahead", "page_bytes")
    assert told("row_groups", "logical_reads_pages.narrow_columnstore") * page == pytest.approx(
        1.36e9, rel=5e-3
    )
    assert told("row_groups", "logical_reads_pages.narrow_rowstore") * page == pytest.approx(0.71e9, rel=5e-3)
    assert f"{told('row_groups', 'table_rows') / 1e6:.1f}" == "36.6"
    loads = [
        told("io_cpu", f"cpu_per_page_s.disk.r{n}") - told("io_cpu", f"cpu_per_page_s.memory.r{n}")
        for n in (1, 2, 5)
    ]
    assert [f"{1e6 * one:.2f}" for one in loads] == ["4.34", "4.24", "4.29"]
    assert [
        n for n in (10, 20, 25, 26, 30, 10000) if told("lookups", f"cpu_per_read_s.64k.n{n}") < 44e-6
    ] == [30, 10000]
    assert told("index_pages", "entry_bytes.wide") - told("index_pages", "key_bytes.wide") + 8 == 20
