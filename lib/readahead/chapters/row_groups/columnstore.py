"""Two tables and four scans of a columnstore, worked out from what N. Neugebauer printed of them in "Clustered
Columnstore Indexes – part 50 (Columnstore IO)".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from readahead.chapters.row_groups import laws
from readahead.experiments.residual import Residual
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


FITTED: tuple[str, ...] = ("seek_s of his drive", "read_bytes of the wide columnstore")
"""Fitted to his four scans."""
CHOSEN_BY_LOOKING: tuple[str, ...] = ("the root of squares of disk and processor",)
"""Their sum would give up to 35 % more, the larger of both up to 27 % less."""


def residuals() -> list[Residual]:
    """Return every printed figure that the model of his scans and of his row groups meets.

    Three scans are each foretold with the seek that the two others give. The fourth sets the length of its own reads.
    """
    scans, elapsed = _scans()
    rate, found = _drive_bytes_per_s(), []
    for out, scan in enumerate(scans):
        rest = [n for n in range(len(scans)) if n != out or not scan.read_bytes]
        fit = fit_disk([scans[n] for n in rest], [elapsed[n] for n in rest], rate)
        took_s = disk_scan_s(scan, fit.seek_s, rate, fit.read_bytes)
        role = "foretold" if scan.read_bytes else "fitted"
        one = figure("row_groups", f"elapsed_s.{scan.name}")
        found.append(Residual(one, took_s, role, base=scan.size_bytes if scan.read_bytes else 1.0))
    narrow_row = narrow_bytes() / printed("table_rows")
    number_bytes = np.log2(laws.rows_per_group(text_bytes_per_row())) / 8
    more = wide_groups() / full_groups()
    smaller = more * narrow_row / (narrow_row + number_bytes)
    took = {way: printed(f"elapsed_s.wide_{way}") for way in ("columnstore", "rowstore")}
    wide = printed("logical_reads_pages.wide_rowstore") * PAGE_BYTES
    worked_out = {
        "row_group_rows_factor": more,  # one fact with the number of groups
        "counted_bytes_per_s.narrow_columnstore": counted_bytes_per_s(),
        "wide_elapsed_difference_share": took["columnstore"] / took["rowstore"] - 1.0,
        "wide_elapsed_difference_s": took["columnstore"] - took["rowstore"],
        "bytes.wide_rowstore": wide,
        "table_rows.rounded": printed("table_rows"),
        "table_rows.rounded_down": printed("table_rows"),
        "readahead_pages.narrow_columnstore.rounded": printed("readahead_pages.narrow_columnstore"),
        "readahead_pages.narrow_rowstore.rounded": printed("readahead_pages.narrow_rowstore"),
        "cpu_s.wide_columnstore.rounded": printed("cpu_s.wide_columnstore"),
        "cpu_s.wide_rowstore.rounded": printed("cpu_s.wide_rowstore"),
        "wide_elapsed_s.rounded": took["rowstore"],
        "text_bytes": 2 * printed("text_characters"),
    }
    return [
        *found,
        Residual(figure("row_groups", "row_group_number_factor"), more, "foretold"),
        Residual(figure("row_groups", "row_group_bytes_factor"), smaller, "foretold", READ_OFF),
        Residual(
            figure("row_groups", "row_group_bytes.wide"), narrow_bytes() / full_groups() / smaller, "foretold"
        ),
        *(
            Residual(figure("row_groups", name), model, "identity", WHY.get(name, ""))
            for name, model in worked_out.items()
        ),
    ]


READ_OFF = "unexplained; he read it off a picture as almost 8 times, and nothing else is printed of it"
WHY = {
    "wide_elapsed_difference_share": "a misprint, held against both",
    "wide_elapsed_difference_s": "around 1 second, he says",
}
