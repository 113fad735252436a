"""Two tables and four scans of a columnstore, worked out from what N. Neugebauer printed of them in "Clustered
Columnstore Indexes – part 50 (Columnstore IO)".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
def printed(name: str) -> float:
    """Return one of his figures, in SI units."""
    return figure("row_groups", name).best


def _drive_bytes_per_s() -> float:
    return figure("fragments", "drive_sequential_bytes_per_s").best


def full_groups() -> int:
    """Return the row groups of the table without text: full ones, 35."""
    return laws.groups(int(printed("table_rows")))


def narrow_bytes() -> float:
    """Return the bytes of the table without text: its row store's pages; its columnstore is "similar"."""
    return printed("logical_reads_pages.narrow_rowstore") * PAGE_BYTES


def text_bytes_per_row() -> float:
    """Return what the text adds to a row: the two row stores' difference, over the rows."""
    wide = printed("logical_reads_pages.wide_rowstore") * PAGE_BYTES
    return (wide - narrow_bytes()) / printed("table_rows")


def wide_groups() -> int:
    """Return the row groups of the table with text, whose dictionary fills first."""
    return laws.groups(int(printed("table_rows")), laws.rows_per_group(text_bytes_per_row()))


def dictionary_from_groups() -> float:
    """Return the dictionary that was full, in bytes, if the groups became as many times more as is printed."""
    groups = full_groups() * printed("row_group_number_factor")
    return laws.dictionary_bytes(printed("table_rows"), groups, text_bytes_per_row())


def counted_bytes_per_s() -> float:
    """Return what the read-ahead counter counts, a second."""
    pages = printed("physical_reads_pages.narrow_columnstore") + printed("readahead_pages.narrow_columnstore")
    return pages * PAGE_BYTES / printed("elapsed_s.narrow_columnstore")


def _scans() -> tuple[list[TableScan], list[float]]:
    known = {"narrow_columnstore": COLUMNSTORE_READ_BYTES, "wide_columnstore": 0}
    names = ("narrow_columnstore", "narrow_rowstore", "wide_columnstore", "wide_rowstore")
    bytes_of = dict.fromkeys(names[:2], narrow_bytes()) | {
        names[2]: printed("bytes.wide_columnstore"),
        names[3]: printed("logical_reads_pages.wide_rowstore") * PAGE_BYTES,
    }
    scans = [
        TableScan(
            name=name,
            size_bytes=bytes_of[name],
            cpu_s=printed(f"cpu_s.{name}"),
            read_bytes=known.get(name, READ_AHEAD_BYTES),
        )
        for name in names
    ]
    return scans, [printed(f"elapsed_s.{name}") for name in names]


FITTED = 2
"""A seek time and a length of read, fitted to his four scans."""


def residuals() -> list[tuple[str, float, float]]:
    """Return (figure, model, printed) for every printed figure that the model predicts."""
    scans, elapsed = _scans()
    fit = fit_disk(scans, elapsed, _drive_bytes_per_s())
    timed = [disk_scan_s(scan, fit.seek_s, _drive_bytes_per_s(), fit.read_bytes) for scan in scans]
    narrow_row = narrow_bytes() / printed("table_rows")
    number_bytes = np.log2(laws.rows_per_group(text_bytes_per_row())) / 8
    more = wide_groups() / full_groups()
    smaller = more * narrow_row / (narrow_row + number_bytes)
    wide = printed("logical_reads_pages.wide_rowstore") * PAGE_BYTES
    return [
        *((scan.name, model, seen) for scan, model, seen in zip(scans, timed, elapsed, strict=True)),
        ("groups, times as many", more, printed("row_group_number_factor")),
        ("rows in a group, times fewer", more, printed("row_group_rows_factor")),
        ("bytes of a group, times smaller", smaller, printed("row_group_bytes_factor")),
        ("the counter", counted_bytes_per_s(), printed("counted_bytes_per_s.narrow_columnstore")),
        ("the wide row store", wide, printed("bytes.wide_rowstore")),
    ]
