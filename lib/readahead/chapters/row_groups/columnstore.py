"""Two tables and four scans of a columnstore, worked out from what N. Neugebauer printed of them in "Clustered
Columnstore Indexes – part 50 (Columnstore IO)".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from readahead import published
from readahead.chapters.row_groups import laws
from readahead.experiments.residual import Tally, tally
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
    elapsed_s: float = 0.0


def disk_scan_s(scan: TableScan, seek_s: float, read_bytes: float, rate_bytes_per_s: float) -> float:
    """Return the seconds of a scan: sqrt(io² + cpu²), io = size / rate + reads · seek.

    The root of squares stands between an engine that overlaps disk and processor wholly (the larger counts) and one
    that takes turns (their sum); which one it was, nobody printed. An assumption of this workbook.
    """
    reads = scan.size_bytes / (scan.read_bytes or read_bytes)
    return float(np.hypot(scan.size_bytes / rate_bytes_per_s + reads * seek_s, scan.cpu_s))


def fit_disk(scans: Sequence[TableScan], rate_bytes_per_s: float) -> tuple[float, float]:
    """Return the drive's seek in seconds, and the read length of the one scan of which it is not known.

    The seek has the least sum of squared log errors; the scan without a read length meets its own time exactly.
    """
    seeks = np.linspace(1e-3, 30e-3, 2901)
    known = [scan for scan in scans if scan.read_bytes]
    misses = [
        sum(np.log(disk_scan_s(scan, seek_s, 0.0, rate_bytes_per_s) / scan.elapsed_s) ** 2 for scan in known)
        for seek_s in seeks.tolist()
    ]
    [other] = [scan for scan in scans if not scan.read_bytes]
    io_s = np.sqrt(other.elapsed_s**2 - other.cpu_s**2)
    seek_s = float(seeks[int(np.argmin(misses))])
    return seek_s, float(other.size_bytes * seek_s / (io_s - other.size_bytes / rate_bytes_per_s))


# -- what Neugebauer printed, worked out -----------------------------------------------------------------
figure, printed = partial(published.figure, "row_groups"), partial(published.best, "row_groups")


def full_groups() -> int:
    """Return the row groups of the table without text: full ones, 35."""
    return laws.groups(int(printed("table_rows")))


def row_store_bytes(table: str) -> float:
    """Return the bytes of the narrow or the wide table in its row store; the narrow columnstore is "similar"."""
    return printed(f"logical_reads_pages.{table}_rowstore") * PAGE_BYTES


def text_bytes_per_row() -> float:
    """Return what the text adds to a row: the two row stores' difference, over the rows."""
    return (row_store_bytes("wide") - row_store_bytes("narrow")) / printed("table_rows")


def wide_groups() -> int:
    """Return the row groups of the table with text, whose dictionary fills first."""
    return laws.groups(int(printed("table_rows")), laws.rows_per_group(text_bytes_per_row()))


def dictionary_from_groups() -> float:
    """Return the dictionary that was full, in bytes, if the groups became as many times more as is printed."""
    groups = full_groups() * printed("row_group_number_factor")
    return laws.dictionary_bytes(printed("table_rows"), groups, text_bytes_per_row())


def in_print() -> Tally:
    """Return every printed figure that the model of his scans and of his row groups meets.

    Three scans are each foretold with the seek that the two others give. The fourth sets the length of its own reads.
    """
    told = {  # bytes, and the length of a read
        "narrow_columnstore": (row_store_bytes("narrow"), COLUMNSTORE_READ_BYTES),
        "narrow_rowstore": (row_store_bytes("narrow"), READ_AHEAD_BYTES),
        "wide_columnstore": (printed("bytes.wide_columnstore"), 0),
        "wide_rowstore": (row_store_bytes("wide"), READ_AHEAD_BYTES),
    }
    scans = [
        TableScan(
            name=name,
            size_bytes=size_bytes,
            cpu_s=printed(f"cpu_s.{name}"),
            read_bytes=read_bytes,
            elapsed_s=printed(f"elapsed_s.{name}"),
        )
        for name, (size_bytes, read_bytes) in told.items()
    ]
    models, bases = {}, {}
    rate_bytes_per_s = published.best("fragments", "drive_sequential_bytes_per_s")
    for scan in scans:
        name = f"elapsed_s.{scan.name}"
        rest = [one for one in scans if one is not scan or not scan.read_bytes]
        models[name] = disk_scan_s(scan, *fit_disk(rest, rate_bytes_per_s), rate_bytes_per_s)
        bases[name] = scan.size_bytes if scan.read_bytes else 1.0
    narrow_row = row_store_bytes("narrow") / printed("table_rows")
    number_bytes = np.log2(laws.rows_per_group(text_bytes_per_row())) / 8
    more = wide_groups() / full_groups()
    smaller = more * narrow_row / (narrow_row + number_bytes)
    models |= {
        "row_group_number_factor": more,
        "row_group_bytes_factor": smaller,
        "row_group_bytes.wide": row_store_bytes("narrow") / full_groups() / smaller,
    }
    return tally(__file__, models, bases)
