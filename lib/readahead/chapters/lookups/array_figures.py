"""Photographs of a machine of 2010: Chang's two tables beside the law that was fitted to them."""

from __future__ import annotations

from typing import Any

from readahead.chapters.lookups import array_of_disks, laws
from readahead.chapters.lookups.array_of_disks import COLD, FITTED, WARM, printed, residuals
from readahead.experiments.figure import Axis, Line, Picture
from readahead.experiments.round import Bench

_ROWS = Axis(label="rows a query", kind="rows")
_RATE = Axis(label="rows a second", kind="rows_per_s")
FEW = 26
_COLUMNS = {WARM: "8 KB", COLD: "64 KB"}


def _told(name: str) -> list[tuple[float, float]]:
    return [(float(rows), printed(f"{name}.n{rows}")) for rows in array_of_disks.ROWS]


def _law(law: Any, *extra: str) -> list[tuple[float, float]]:
    return [(float(rows), float(law(rows, *extra))) for rows in array_of_disks.ROWS]


def _pair(name: str, words: str, law: Any, *extra: str) -> tuple[Line, Line]:
    return (
        Line(name=f"{words}, model", points=_law(law, *extra)),
        Line(name=f"{words}, printed", points=_told(name), source="published", joined=False),
    )


def _rates(_: Bench) -> Picture:
    lines = [
        line
        for c, w in _COLUMNS.items()
        for line in _pair(f"disk_{c}_rows_per_s", w, array_of_disks.rows_per_s, c)
    ]
    return Picture(
        title="Chang's rows a second",
        sentence="Flat while reads come one by one; a leap where many go at once; then a slow climb, as full disks"
        " choose the nearest of many reads. In memory the rate is hundreds of times as high and knows no step.",
        x=_ROWS,
        y=_RATE,
        lines=(*lines, *_pair("memory_rows_per_s", "memory", array_of_disks.memory_rows_per_s)),
        marks={"25 | 26": 25.5},
    )


def _reads(_: Bench) -> Picture:
    lines = [
        line
        for c, w in _COLUMNS.items()
        for line in _pair(f"disk_{c}_reads_per_s", w, array_of_disks.reads_per_s, c)
    ]
    return Picture(
        title="Chang's disk reads a second",
        sentence="A cold cache reads 64 KB where 8 KB are wanted, in nearly as little time; what it loses is that it"
        " reads more often for each row, until rows begin to share what was read.",
        x=_ROWS,
        y=Axis(label="reads a second", kind="count"),
        lines=tuple(lines),
        marks={"25 | 26": 25.5},
    )


def _cpu(_: Bench) -> Picture:
    return Picture(
        title="Chang's processor time",
        sentence="A row in memory costs a few microseconds; a read of 8 KB costs several times that, less beyond the"
        " step; one of 64 KB costs far less than eight reads of 8 KB. The law misses the row in memory at 3,000"
        " rows.",
        x=_ROWS,
        y=Axis(label="processor time", kind="s"),
        lines=(
            *_pair("cpu_per_row_s.memory", "row in memory", array_of_disks.memory_cpu_s),
            *_pair("cpu_per_row_s.disk_8k", "row from disk", array_of_disks.cpu_per_row_s),
            *_pair("cpu_per_read_s.8k", "read of 8 KB", array_of_disks.cpu_per_read_s, WARM),
            *_pair("cpu_per_read_s.64k", "read of 64 KB", array_of_disks.cpu_per_read_s, COLD),
        ),
        marks={"25 | 26": 25.5},
    )


def _bins(_: Bench) -> Picture:
    disks = [1, 2, 4, 8, 16, 32, 64]
    lines = [
        Line(
            name=f"{reads:,} reads at once",
            points=[(float(d), reads / laws.fullest(reads, d)) for d in disks],
        )
        for reads in (FEW, 300, 10_000)
    ]
    return Picture(
        title="How many times faster than one by one",
        sentence="A few reads never fall evenly on the disks, so the fullest disk keeps everybody waiting; the more"
        " reads there are, the nearer the gain comes to the number of disks.",
        x=Axis(label="disks", kind="count"),
        y=Axis(label="speed-up", kind="times"),
        lines=(
            Line(name="as many as disks", points=[(float(d), float(d)) for d in disks], source="other"),
            *lines,
        ),
        marks={"Chang": float(array_of_disks.DISKS)},
    )


_WORDS = {
    f"disk_{column}_{what}_per_s": f"{words}, {what}/s"
    for column, words in _COLUMNS.items()
    for what in ("rows", "reads")
}


def _printed(_: Bench) -> Picture:
    rows = [row for row in residuals() if row[0].rpartition(".")[0] in array_of_disks.RATES]
    errors = sorted((abs(model / said - 1), name) for name, model, said in rows)
    middle, (worst, furthest) = errors[len(errors) // 2][0], errors[-1]
    column, _dot, rows_a_query = furthest.rpartition(".n")
    where, every = f"{_WORDS[column]} at {int(rows_a_query):,} rows", residuals()
    by_column: dict[str, list[tuple[float, float]]] = {}
    for name, model, said in rows:
        column, _dot, rows_a_query = name.rpartition(".n")
        by_column.setdefault(_WORDS[column], []).append((float(rows_a_query), model / said))
    return Picture(
        title="Model against print",
        sentence=f"{len(rows)} rates: the median is off by {middle:.1%}, the worst ({where}) by {worst:.0%}. With all"
        f" other figures, {len(every)} against {FITTED} fitted numbers leave {len(every) - FITTED} degrees of freedom."
        f" One of the fitted, a leap by {1 / array_of_disks.LEAP - 1:.0%} from 3,000 rows on, has no reason that"
        f" anybody could give; {len(array_of_disks.unexplained())} figures wait for one.",
        x=_ROWS,
        y=Axis(label="model / printed", kind="times"),
        lines=tuple(
            Line(name=column, points=points, source="published", joined=False)
            for column, points in by_column.items()
        ),
        marks={"unexplained": float(array_of_disks.LEAP_ROWS)},
    )


FIGURES = {"rates": _rates, "reads": _reads, "cpu": _cpu, "bins": _bins, "printed": _printed}
