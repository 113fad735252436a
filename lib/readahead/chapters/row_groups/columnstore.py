"""A columnstore seen through a keyhole: two tables, four scans, some counters. What N. Neugebauer printed in "Clustered
Columnstore Indexes – part 50 (Columnstore IO)" is worked out here from his own figures and a few rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readahead import units
from readahead.chapters.row_groups import laws
from readahead.published import figure
from readahead.units import KiB, MiB

# -- a scan on one spindle, seen from outside ------------------------------------------------------------
PAGE_BYTES = 8 * KiB
READ_AHEAD_BYTES = 64 * PAGE_BYTES
"""The most that a row store of SQL Server reads at once: 64 pages (N. Neugebauer, part 50)."""
COLUMNSTORE_READ_BYTES = 8 * MiB
"""The most that its columnstore reads at once, as he says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableScan:
    """A scan of which only the outside is known."""

    name: str
    size_bytes: float
    cpu_s: float
    read_bytes: float
    """Length of one contiguous read; 0 for one that is to be found."""


def disk_scan_s(scan: TableScan, seek_s: float, rate_bytes_per_s: float, read_bytes: float = 0.0) -> float:
    """Return the seconds of a scan: sqrt(io² + cpu²), io = size / rate + reads · seek.

    The root of squares stands between an engine that overlaps disk and processor wholly (the larger counts) and one
    that takes turns (their sum); which one it was, nobody printed. An assumption of this workbook.
    """
    reads = scan.size_bytes / (scan.read_bytes or read_bytes)
    return float(np.hypot(scan.size_bytes / rate_bytes_per_s + reads * seek_s, scan.cpu_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFit:
    """What the elapsed times of some scans say of the drive, and of the one scan whose reads are not known."""

    seek_s: float
    read_bytes: float


def fit_disk(scans: Sequence[TableScan], elapsed_s: Sequence[float], rate_bytes_per_s: float) -> DiskFit:
    """Return the seek, and the read length of the scan that has none, with the least sum of squared log errors."""
    seeks = np.linspace(1e-3, 30e-3, 2901)
    known = [(s, t) for s, t in zip(scans, elapsed_s, strict=True) if s.read_bytes]
    misses = [
        sum(np.log(disk_scan_s(s, float(seek), rate_bytes_per_s) / t) ** 2 for s, t in known)
        for seek in seeks
    ]
    seek_s = float(seeks[int(np.argmin(misses))])
    found: float = READ_AHEAD_BYTES
    for scan, total_s in zip(scans, elapsed_s, strict=True):
        if not scan.read_bytes:  # it meets its own time exactly: io = sqrt(t² − cpu²)
            seeking_s = np.sqrt(total_s**2 - scan.cpu_s**2) - scan.size_bytes / rate_bytes_per_s
            found = float(scan.size_bytes * seek_s / seeking_s)
    return DiskFit(seek_s=seek_s, read_bytes=found)


# -- what Neugebauer printed, worked out -----------------------------------------------------------------
def _told(name: str) -> float:
    return figure("row_groups", name).best


def _drive_bytes_per_s() -> float:
    return figure("fragments", "drive_sequential_bytes_per_s").best


def full_groups() -> int:
    """Return the row groups of the table without text: full ones, 35."""
    return laws.groups(int(_told("table_rows")))


def narrow_bytes() -> float:
    """Return the bytes of the table without text: its row store's pages; its columnstore is "similar"."""
    return _told("narrow_rowstore_logical_reads_pages") * PAGE_BYTES


def text_bytes_per_row() -> float:
    """Return what the text adds to a row: the two row stores' difference, over the rows."""
    wide = _told("wide_rowstore_logical_reads_pages") * PAGE_BYTES
    return (wide - narrow_bytes()) / _told("table_rows")


def wide_groups() -> int:
    """Return the row groups of the table with text, whose dictionary fills first."""
    return laws.groups(int(_told("table_rows")), laws.rows_per_group(text_bytes_per_row()))


def dictionary_from_groups() -> float:
    """Return the dictionary that was full, in bytes, if the groups became as many times more as is printed."""
    groups = full_groups() * _told("row_group_number_factor")
    return laws.dictionary_bytes(_told("table_rows"), groups, text_bytes_per_row())


def counted_bytes_per_s() -> float:
    """Return what the read-ahead counter counts, a second."""
    pages = _told("narrow_columnstore_physical_reads_pages") + _told("narrow_columnstore_readahead_pages")
    return pages * PAGE_BYTES / _told("narrow_columnstore_elapsed_s")


def delivered_bytes_per_s() -> float:
    """Return what the drive delivered: the table once, in the printed time."""
    return narrow_bytes() / _told("narrow_columnstore_elapsed_s")


def _scans() -> tuple[list[TableScan], list[float]]:
    known = {"narrow_columnstore": COLUMNSTORE_READ_BYTES, "wide_columnstore": 0}
    names = ("narrow_columnstore", "narrow_rowstore", "wide_columnstore", "wide_rowstore")
    bytes_of = dict.fromkeys(names[:2], narrow_bytes()) | {
        names[2]: _told("wide_columnstore_bytes"),
        names[3]: _told("wide_rowstore_logical_reads_pages") * PAGE_BYTES,
    }
    scans = [
        TableScan(
            name=name,
            size_bytes=bytes_of[name],
            cpu_s=_told(f"{name}_cpu_s"),
            read_bytes=known.get(name, READ_AHEAD_BYTES),
        )
        for name in names
    ]
    return scans, [_told(f"{name}_elapsed_s") for name in names]


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """One table of published figures beside the model's."""

    table: str
    fitted: int
    """Parameters taken from these very figures."""
    rows: tuple[tuple[str, float, float, str], ...]
    """(figure, modeled, published, kind)."""
    misses: str = ""
    """Why the figures are missed that are missed by more than a tenth."""

    @property
    def errors(self) -> list[float]:
        """Return the relative errors."""
        return [abs(modeled / printed - 1.0) for _, modeled, printed, _ in self.rows]


def against_published() -> tuple[Against, ...]:
    """Return every table of the chapter, the model beside what was printed."""
    scans, elapsed = _scans()
    fit = fit_disk(scans, elapsed, _drive_bytes_per_s())
    times = [disk_scan_s(s, fit.seek_s, _drive_bytes_per_s(), fit.read_bytes) for s in scans]
    narrow_row = narrow_bytes() / _told("table_rows")
    number_bytes = np.log2(laws.rows_per_group(text_bytes_per_row())) / 8
    more = wide_groups() / full_groups()
    groups = (
        ("groups, times as many", more, _told("row_group_number_factor"), "times"),
        ("rows in a group, times fewer", more, _told("row_group_rows_factor"), "times"),
        (
            "bytes of a group, times smaller",
            more * narrow_row / (narrow_row + number_bytes),
            _told("row_group_bytes_factor"),
            "times",
        ),
    )
    share = _told("wide_columnstore_elapsed_s") / _told("wide_rowstore_elapsed_s") - 1.0
    sums = (
        (
            "the counter",
            counted_bytes_per_s(),
            _told("narrow_columnstore_counted_bytes_per_s"),
            "bytes_per_s",
        ),
        ("the difference of the two wide scans", share, _told("wide_elapsed_difference_share"), "1"),
        (
            "the wide row store",
            _told("wide_rowstore_logical_reads_pages") * PAGE_BYTES,
            _told("wide_rowstore_bytes"),
            "bytes",
        ),
    )
    timed = tuple((s.name, t, e, "s") for s, t, e in zip(scans, times, elapsed, strict=True))
    return (
        Against(table="Four scan times", fitted=2, rows=timed),
        Against(
            table="Row groups with and without text",
            fitted=0,
            rows=groups,
            misses="the sizes stand in a picture as 'almost 8 times'; a number in the dictionary may take more bits",
        ),
        Against(table="Sums", fitted=0, rows=sums),
    )


FITTED = 2
"""A seek time and a length of read, fitted to his four scans."""


def residuals() -> list[tuple[str, float, float]]:
    """Return (figure, model, printed) for every printed figure that the model foretells."""
    return [(name, modeled, told) for one in against_published() for name, modeled, told, _ in one.rows]


def report() -> str:
    """Return the tables as text: each figure, and median, worst and degrees of freedom."""
    lines: list[str] = []
    for one in against_published():
        lines.append(
            f"{one.table} ({len(one.rows)} figures, {one.fitted} fitted, {len(one.rows) - one.fitted} free)"
        )
        for (name, modeled, printed, kind), error in zip(one.rows, one.errors, strict=True):
            lines.append(
                f"  {name:38} {units.text(modeled, kind):>12} {units.text(printed, kind):>12} {error:7.1%}"
            )
        lines.append(f"  median {np.median(one.errors):.1%}, worst {max(one.errors):.1%}")
        if one.misses:
            lines.append(f"  missed: {one.misses}")
    return "\n".join(lines)
