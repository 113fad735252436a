"""An old ledger, added up again. Chang's pages of 2010: what his two columns betray about a page, a row and a load, and
what follows from that for his other figures."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from readahead import published
from readahead.chapters.io_cpu import laws
from readahead.chapters.io_cpu.laws import PAGE_BYTES

ROWS = (1, 2, 5, 10, 20, 40, 80, 158, 323)
"""Rows on a page in Chang's table."""


def printed(name: str) -> float:
    """Return a figure of this chapter, in SI units."""
    return published.figure("io_cpu", name).best


def column(name: str, rows: Sequence[int] = ROWS) -> list[float]:
    """Return a column of Chang's table, in CPU seconds a page: memory, disk or aggregate."""
    return [printed(f"cpu_per_page_s.{name}.r{count}") for count in rows]


@functools.cache
def pages() -> laws.PageCosts:
    """Return the five costs that his two columns of a needle in a haystack betray."""
    return laws.fit(ROWS, column("memory"), column("disk"))


@functools.cache
def summed() -> laws.PageCosts:
    """Return the four costs of his aggregate, fitted without the page of 323 rows."""
    return laws.fit(ROWS[:-1], column("aggregate", ROWS[:-1]))


def foretold(rows: int) -> float:
    """Return the CPU seconds of a page in memory, from the pages of at most 40 rows."""
    short = [count for count in ROWS if count <= 40]
    return float(laws.page_cpu_s(laws.fit(short, column("memory", short)), rows))


def sigma() -> float:
    """Return the contention that "6-7X" on eight cores means, taken in the middle."""
    middle = (printed("scaling_factor.low") + printed("scaling_factor.high")) / 2
    return laws.contention(middle, int(printed("scaling_cores")))


FITTED = 5
"""What a page, a row, a first touch and a load cost, and how many rows touch first."""


def residuals() -> Sequence[tuple[str, float, float]]:
    """Return (figure, model, printed) for every printed figure that the model foretells."""
    rows = []
    for name in ("memory", "disk"):
        told = laws.page_cpu_s(pages(), ROWS, loaded=name == "disk")
        rows += [
            (f"{name}, {count} rows a page", float(model), figure)
            for count, model, figure in zip(ROWS, told, column(name), strict=True)
        ]
    few, many = (float(laws.page_cpu_s(pages(), count, loaded=True)) for count in (ROWS[0], ROWS[-1]))
    lookups = published.figure("lookups", "cpu_per_row_s.disk_8k.n25").best
    batched = [published.figure("lookups", f"cpu_per_row_s.disk_8k.n{n}").best for n in (30, 100, 1000)]
    q1_bytes = (printed("q1_bytes.low") + printed("q1_bytes.high")) / 2
    return (
        *rows,
        ("loading a page, low", pages().load_s, printed("load_cpu_per_page_s.low")),
        ("evicting a page", printed("load_and_evict_cpu_per_page_s") - few, printed("evict_cpu_per_page_s")),
        ("a core's scan, dense pages", PAGE_BYTES / many, printed("scan_bytes_per_core_s.low")),
        ("a core's scan, sparse pages", PAGE_BYTES / few, printed("scan_bytes_per_core_s.high")),
        ("a core's random reads, one by one", 1 / lookups, printed("random_reads_per_core_s.low")),
        ("a core's random reads, in batches", 1 / float(np.median(batched)), printed("random_reads_per_core_s.high")),
        ("Query 1, bytes a CPU second", q1_bytes / printed("q1_cpu_s"), printed("q1_bytes_per_cpu_s")),
    )  # fmt: skip
