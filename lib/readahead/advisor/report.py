"""The advisor's report as text: what the metadata shows, what it costs today, and what to change first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from readahead import units
from readahead.advisor.advice import Advice
from readahead.datasets.survey import MOST_JUDGED, Survey
from readahead.models.table_layout import skippable

REMEDY = {
    "seek": "the head moves too often: read longer pieces",
    "latency": "the trips: make fewer of them, or more at once",
    "transfer": "the bytes: read fewer columns, skip groups, compress",
    "engine": "handing out reads: make fewer and larger ones",
    "cpu": "decoding: more threads, fewer columns",
    "open": "opening: fewer files, a shorter footer",
}
"""What helps against each term."""
TENTH = 0.1
"""The range of a filter by which the order of a column is judged."""
SHOWN = 12
"""Columns that are listed one by one."""


def letter(survey: Survey, advices: list[Advice]) -> Iterator[str]:
    """Yield the report, line by line."""
    seen = findings(survey)
    wide = max(len(what) for what, _ in seen)
    yield f"What lies at {survey.asked}"
    for what, says in seen:
        yield f"  {what:<{wide}}  {says}"
    for advice in advices:
        yield ""
        yield from _of_device(survey, advice)


def speed(advice: Advice, seconds: float) -> str:
    """Return the throughput at so many seconds, as text."""
    return units.text(advice.work / seconds, advice.unit)


def _of_device(survey: Survey, advice: Advice) -> Iterator[str]:
    case, today, device = advice.case, advice.today, advice.case.device
    what = f"a lookup of {case.workload.keys:,} rows by {survey.by}" if case.workload.keys else "a scan"
    if case.workload.selectivity < 1:
        what += f" of {units.text(case.workload.selectivity, '1')} of the values of {survey.by}"
    yield (
        f"On {device.name} ({units.text(device.latency_s, 's')}, {device.channels} at once,"
        f" {units.text(device.bandwidth_bytes_per_s, 'bytes_per_s')}): {what}, queue depth {case.queue_depth}"
    )
    yield (
        f"  today   {units.text(today.seconds, 's'):>9}  {speed(advice, today.seconds):>12}"
        f"  {case.read_groups():,} row groups read; bottleneck {today.bottleneck}"
        f" ({units.text(today.share(today.bottleneck), '1', 2)}): {REMEDY.get(today.bottleneck, '')}"
    )
    for number, option in enumerate(advice.options, start=1):
        yield (
            f"  {number}. {option.gain:5.2f} × {units.text(option.seconds, 's'):>9}"
            f"  {speed(advice, option.seconds):>12}  {option.says}; then the bottleneck is {option.bottleneck}"
        )
    if not advice.options:
        yield "  Nothing would gain: leave it as it is."
    yield "  row groups of " + ", ".join(f"{r:,}: {speed(advice, s)}" for r, s in advice.sizes)
    yield "  queue depth " + ", ".join(f"{d}: {speed(advice, s)}" for d, s in advice.depths)


# -- what the metadata shows -----------------------------------------------------------------------------
def findings(survey: Survey) -> list[tuple[str, str]]:
    """Return what the metadata shows, as (what, sentence)."""
    return [*_files(survey), *_groups(survey), *_columns(survey), *_orders(survey)]


def _files(survey: Survey) -> Iterator[tuple[str, str]]:
    found, size = survey.found, units.text(survey.found.total_bytes, "bytes")
    if survey.table_name:
        yield "Table", f"{survey.table_name!r} of a DuckDB database of {size}"
    elif found.total_files == 1:
        yield "File", f"one Parquet file of {size}"
    else:
        looked = len(found.files) + len(found.damaged)
        more = f"; {looked} of them were looked at and stand for all" if looked < found.total_files else ""
        yield "Files", f"{found.total_files:,} Parquet files, {size}{more}"
    if found.small_files > 1:
        says = f"{found.small_files:,} are smaller than 1 MiB: each costs a footer and its own trips"
        yield "Small files", says
    if found.damaged:
        yield "Left out", f"{len(found.damaged)} cannot be read. The first: {found.damaged[0]}"


def _groups(survey: Survey) -> Iterator[tuple[str, str]]:
    rows, sizes = survey.table.reads.rows, np.array(survey.group_bytes)
    low, middle, high = (units.text(v, "bytes") for v in (sizes.min(), np.median(sizes), sizes.max()))
    says = f"{len(rows):,} of {np.median(rows):,.0f} rows (from {rows.min():,} to {rows.max():,})"
    yield "Row groups", f"{says}; {middle} each (from {low} to {high})"
    if len(rows) == 1:
        yield "One group", "a single row group: nobody can share the work, and no filter can skip anything"
    if not survey.table_name:
        share = survey.footer_bytes / max(1, int(sizes.sum()) + survey.footer_bytes)
        count = len(survey.found.files)
        says = f"{units.text(survey.footer_bytes, 'bytes')}{f' in {count}' if count > 1 else ''}"
        says += f", {units.text(share, '1')} of what they describe, read before anything else"
        yield "Footers" if count > 1 else "Footer", says


def _columns(survey: Survey) -> Iterator[tuple[str, str]]:
    reads, columns = survey.table.reads, survey.columns
    nested = sum(column.nested for column in columns)
    says = f"{len({c.top for c in columns}):,}, of which the query reads {len(survey.wanted):,}"
    if nested:
        says += f"; {len(columns):,} column chunks a group, {nested:,} of them nested"
    yield "Columns", says
    middle = units.text(float(np.median(reads.spans[:, 1])), "bytes")
    yield "Reads", f"{reads.counts.sum():,} for a scan, {np.mean(reads.counts):.3g} a row group, of {middle}"
    for column in sorted(columns, key=lambda c: -c.size_bytes)[:SHOWN]:
        says = units.text(column.size_bytes, "bytes")
        if column.raw_bytes:
            says += f", packed {column.raw_bytes / max(1, column.size_bytes):.1f} times"
        says += f"; {column.encodings}; dictionary in {column.dictionary_chunks} of {column.chunks} chunks"
        yield f"· {column.shown}", says
    if len(columns) > SHOWN:
        yield "·", f"and {len(columns) - SHOWN:,} smaller ones"


def _orders(survey: Survey) -> Iterator[tuple[str, str]]:
    if len(survey.group_bytes) < 2:
        return
    judged = sorted(((skippable(r, TENTH), name) for name, r in survey.orders.items()), reverse=True)
    for share, name in judged[:SHOWN]:
        says = f"a filter on a tenth of its values skips {units.text(share, '1', 2)} of the row groups"
        if share < 0.05:
            says = "nothing to skip: every group reaches over nearly all values"
        yield f"Order of {survey.named(name).shown}", says
    silent = len(survey.columns) - len(survey.orders)
    if silent:
        says = f"{silent:,} columns: without smallest and largest, or after the first {MOST_JUDGED}"
        yield "Not judged", says
