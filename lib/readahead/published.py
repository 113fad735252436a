"""The figures that others published: `data/published/<topic>.csv`, a row a figure, each with author, date and device.

A value is in SI units and means what the page says, misprints included; `corrected` is what it must have been.
`data/README.md` has the columns.
"""

from __future__ import annotations

import csv
import difflib
import math
from dataclasses import dataclass
from pathlib import Path

from readahead import paths
from readahead.errors import BadValue, DataError, require_choice

FOLDER = paths.DATA / "published"
RESTORE = "Restore a file from the repository with git checkout, or mend the line."

UNITS = (
    "s", "bytes", "bytes_per_s", "rows", "rows_per_s", "reads_per_s", "pages", "pages_per_s", "hz", "count",
    "1",
)  # fmt: skip
"""The units a value may have; 1 is a share or a ratio."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One published number."""

    name: str
    value: float
    unit: str
    printed: str
    """What stood on the page. In square brackets: a unit that stood in the heading or the sentence."""
    system: str
    device: str
    date: str
    """When it was published, as far as the document tells; often empty."""
    author: str
    title: str
    note: str = ""
    """If the figure disagrees with its neighbours: why."""
    table: str = ""
    """The table it belongs to, if it stood in one."""
    x_name: str = ""
    """For a point of a series: what changes from point to point."""
    x_value: float | str | None = None
    prefix: str = ""
    """What K, M and G mean here: decimal (10^3), binary (2^10) or mixed (1 MB is 1000 KiB)."""
    corrected: float | None = None
    """What a misprinted value must have been; None for all others."""

    @property
    def best(self) -> float:
        """Return the corrected value of a misprint, and the printed value of any other figure."""
        return self.value if self.corrected is None else self.corrected

    @property
    def source(self) -> str:
        """Return author, title and date in one line, for a caption."""
        return f"{self.author}, {self.title}" + (f" ({self.date})" if self.date else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A printed ratio that has an analogue in DuckDB: a figure over another, or one that is a ratio itself."""

    says: str
    """What it is a ratio of, in a few words."""
    figure: Figure
    over: Figure | None = None
    asked: str = ""
    """The name of what DuckDB is asked; empty where the round itself measures it."""

    @property
    def value(self) -> float:
        """Return the figure over the other."""
        return self.figure.value / (self.over.value if self.over is not None else 1.0)

    @property
    def printed(self) -> str:
        """Return what stood on the page, without the unit that stood elsewhere."""
        both = (one.printed.partition(" [")[0] for one in (self.figure, self.over) if one is not None)
        return " / ".join(both)


# -- reading the tables --------------------------------------------------------------------------------
def rows(path: Path, columns: list[str]) -> list[dict[str, str]]:
    """Return the rows of a CSV with just these columns. Raises `DataError` that names line and column."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *lines = list(csv.reader(file)) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {error}. {RESTORE}") from error
    if head != columns:
        odd = sorted(set(columns) ^ set(head)) or head
        raise DataError(f"Line 1 of {path}: column {odd[0]!r} is missing, extra or out of place. {RESTORE}")
    for line, cells in enumerate(lines, start=2):
        if len(cells) != len(columns):
            raise DataError(
                f"Line {line} of {path} has {len(cells)} cells, after column "
                f"{columns[min(len(cells), len(columns)) - 1]!r}; {len(columns)} are due. {RESTORE}"
            )
    return [dict(zip(columns, cells, strict=True)) for cells in lines]


def _finite(text: str) -> float | None:
    try:
        return value if math.isfinite(value := float(text)) else None
    except ValueError:
        return None


def number(path: Path, line: int, column: str, text: str) -> float:
    """Return a cell as a finite number. Raises `DataError` that names line and column."""
    value = _finite(text)
    if value is None:
        raise DataError(
            f"Line {line} of {path}, column {column!r}: {text!r} is not a number. "
            "Write it in SI units, such as 0.0041 for 4.1 ms."
        )
    return value


COLUMNS = [
    "name", "value", "unit", "printed", "prefix", "corrected", "system", "device", "date", "author", "title",
    "table", "x_name", "x_value", "note",
]  # fmt: skip
"""The columns of a topic's file."""


@paths.kept
def _read(path: Path) -> tuple[Figure, ...]:
    found: dict[str, Figure] = {}
    for line, row in enumerate(rows(path, COLUMNS), start=2):
        x = row.pop("x_value")
        numbers = {
            "value": number(path, line, "value", row.pop("value")),
            "corrected": number(path, line, "corrected", c) if (c := row.pop("corrected")) else None,
            "x_value": x or None if (place := _finite(x)) is None else place,
        }
        if row["unit"] not in UNITS:
            raise DataError(
                f"Line {line} of {path}, column 'unit': {row['unit']!r} must be one of: {', '.join(UNITS)}."
            )
        if row["name"] in found:
            raise DataError(
                f"Line {line} of {path}, column 'name': {row['name']!r} is there twice. Rename one of them."
            )
        found[row["name"]] = Figure(**row, **numbers)  # type: ignore[arg-type]
    return tuple(found.values())


def topics(folder: Path | None = None) -> list[str]:
    """Return the topics with published figures: those that have a file in the folder."""
    return sorted(path.stem for path in (folder or FOLDER).glob("*.csv") if path.stem not in BESIDE)


BESIDE = ("beside", "checks", "not_compared")
"""Files about the figures, beside those that hold them."""


def figures(topic: str, folder: Path | None = None) -> tuple[Figure, ...]:
    """Return every published figure of a topic, in the order of its document.

    Raises `BadValue` for a topic that has no file, `DataError` for a damaged one.
    """
    require_choice(
        "topic", topic, topics(folder), advice=f"See data/README.md for what each holds. {RESTORE}"
    )
    path = (folder or FOLDER) / f"{topic}.csv"
    return _read(path)


def figure(topic: str, name: str, folder: Path | None = None) -> Figure:
    """Return one figure of a topic, or of another one that the name begins with: `topic:figure`.

    Raises `BadValue` that lists the names near it, if there is none.
    """
    there, _, name = name.rpartition(":")
    topic = there or topic
    known = {one.name: one for one in figures(topic, folder)}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=5, cutoff=0.5)
    near = near or [one for one in known if name.split(".", maxsplit=1)[0] in one][:5] or list(known)[:5]
    raise BadValue(
        f"{name!r} is not a published figure of {topic!r}. Near it: {', '.join(near)}. "
        f"All {len(known)} stand in data/published/{topic}.csv."
    )


def best(topic: str, name: str) -> float:
    """Return the value of one figure, corrected where it is a misprint."""
    return figure(topic, name).best


def series(topic: str, name: str) -> list[tuple[float, float, Figure]]:
    """Return x, value and figure of each point of a series, those named `name.…`, in the order of the page.

    Misprints are corrected. Raises `BadValue` if there are none.
    """
    points = [one for one in figures(topic) if one.name.startswith(f"{name}.")]
    if not points:
        raise BadValue(f"{name!r} is no series of {topic!r}. See data/published/{topic}.csv for the names.")
    return [(float(one.x_value or 0), one.best, one) for one in points]


@paths.kept
def _beside(path: Path) -> list[dict[str, str]]:
    return rows(path, ["topic", "round", "says", "figure", "over", "asked"])


def ratios(topic: str, name: str) -> tuple[Ratio, ...]:
    """Return the printed ratios that stand beside what a round measures, the most telling first.

    A figure of another topic is named `topic:figure`. Raises `BadValue` for a figure that is none.
    """
    return tuple(
        Ratio(
            says=line["says"],
            figure=figure(topic, line["figure"]),
            over=figure(topic, line["over"]) if line["over"] else None,
            asked=line["asked"],
        )
        for line in _beside(FOLDER / "beside.csv")
        if (line["topic"], line["round"]) == (topic, name)
    )
