"""The machine card: the facts of this machine that belong to every number measured on it."""

from __future__ import annotations

from dataclasses import asdict

from readahead import units
from readahead.devices import CatalogueEntry, calibrated
from readahead.errors import ReadaheadError
from readahead.measure import calibrate
from readahead.measure.sample import Machine, this_machine
from readahead.panels.markup import table
from readahead.questions.progress import Facts


def disk_text(entry: CatalogueEntry | None) -> str:
    """Return this machine's disk in words, as calibration left it, or how to calibrate it."""
    if entry is None:
        return "not calibrated yet: python -m readahead calibrate"
    own = entry.device
    seek = f", seek {units.text(own.seek_s, 's')}" if own.seek_s else ""
    return (
        f"{units.text(own.latency_s, 's')} a read{seek},"
        f" {units.text(own.bandwidth_bytes_per_s, 'bytes_per_s')}, {own.channels} in flight (calibrated)"
    )


def engine_text(table: str = "comments_narrow") -> str:
    """Return what DuckDB itself takes here, calibrating it now if that was never done: a few seconds, once."""
    try:
        costs = calibrate.engine(table).ensure()
    except ReadaheadError as error:
        return f"not calibrated: {error}"
    read, row = units.text(costs.dispatch_s, "s"), units.text(costs.row_s, "s")
    return f"{read} to hand out a read, {row} to decode a row (calibrated on this machine)"


def rows(machine: Machine, entry: CatalogueEntry | None, engine: str) -> list[tuple[str, str]]:
    """Return the machine card as a table: fact, value."""
    return [
        ("CPU", f"{machine.cpu}, {machine.cores} cores"),
        ("Memory", units.text(machine.memory_bytes, "bytes")),
        ("System", machine.system),
        ("File system", machine.file_system),
        ("Disk", disk_text(entry)),
        ("Engine", engine),
        ("Versions", f"Readahead {machine.readahead}, DuckDB {machine.duckdb}, Python {machine.python}"),
    ]


def facts() -> Facts:
    """Return this machine's card as it is kept beside measured values."""
    return asdict(this_machine())


def html() -> str:
    """Return this machine's card as HTML."""
    return table(("This machine", ""), rows(this_machine(), calibrated(), engine_text()))
