"""Advises on a table's layout and queue depth: what each change would gain on a device, the largest gain first.

Every time here is the schedule's (`models.table_layout`), of a layout as it is or as it would be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from readahead import units
from readahead.datasets.survey import MOST_JUDGED, Survey
from readahead.devices import Device
from readahead.errors import BadValue, require_range
from readahead.measure import sample_run
from readahead.measure.run import spare_threads
from readahead.models import table_layout
from readahead.models.estimate import Estimate
from readahead.models.table_layout import AS_IT_LIES, Case, Layout, Workload, plans, skippable

LADDER = (8_192, 32_768, 122_880, 524_288, 1_048_576)
"""Row-group sizes that are always told."""
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
ENOUGH = 1.05
"""The least queue depth whose time is within this factor of the best is the one to set."""
MOST_KEYS = 1_000_000
LEAST_GAIN = 1.02
"""A change that gains less than this factor is not offered."""


def case_of(
    survey: Survey,
    device: Device,
    *,
    selectivity: float = 1.0,
    keys: int = 0,
    queue_depth: int = 8,
    threads: int = 0,
) -> Case:
    """Return a workload on a survey's table, with the engine set up as it is today.

    Raises `BadValue` for a number out of range, a filter without a column, and a range that is a lookup too.
    """
    most = min(MOST_KEYS, survey.table.rows)
    for name, value, low, high, advice in (
        ("selectivity", selectivity, 1e-9, 1, "Give a share, such as 0.1."),
        ("keys", keys, 0, most, "Give rows per lookup, of those there are; 0 for a scan."),
        ("queue_depth", queue_depth, 1, 1024, "Give reads in flight, such as 8."),
        ("threads", threads, 0, 256, "Give 0 for all cores but one."),
    ):
        require_range(name, value, low=low, high=high, advice=advice)
    if selectivity < 1 and keys:
        raise BadValue(
            f"selectivity={selectivity:g} and keys={keys} must be one or the other: a range, or a lookup of rows."
            " Leave one of them out."
        )
    workload = Workload(selectivity=selectivity, keys=keys)
    if workload.filters and not survey.by:
        raise BadValue(
            f"selectivity={selectivity:g} and keys={keys} need a column to filter by. Give one with --by COLUMN."
        )
    return Case(
        table=survey.table, workload=workload, device=device, costs=sample_run.guessed_costs(survey),
        queue_depth=queue_depth, threads=threads or spare_threads(),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One thing that could be done."""

    says: str
    layout: Layout
    queue_depth: int
    seconds: float
    gain: float
    """Today's time over this one's."""
    bottleneck: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """Everything modeled for one device."""

    case: Case
    """The table as it lies."""
    today: Estimate
    options: tuple[Option, ...]
    """What gains most first."""
    sizes: tuple[tuple[int, float], ...]
    """(rows of a row group, seconds) in the order of today."""
    depths: tuple[tuple[int, float], ...]
    """(queue depth, seconds) of the file as it is."""


def advise(survey: Survey, case: Case) -> Advice:
    """Return what could be done about a survey's table on one device, ranked by gain."""
    today = case.estimate()
    depths = tuple((depth, replace(case, queue_depth=depth).seconds()) for depth in DEPTHS)
    least = min(time_s for _, time_s in depths)
    deep = next(depth for depth, time_s in depths if time_s <= least * ENOUGH)
    sizes = table_layout.sizes(case.table)
    ladder = [rows for rows in LADDER if sizes[0] <= rows < 2 * case.table.rows] or sizes[:1]
    return Advice(
        case=case,
        today=today,
        options=tuple(_ranked(survey, case, deep, today.seconds)),
        sizes=tuple((rows, case.seconds(Layout(rows=rows))) for rows in ladder),
        depths=depths,
    )


def _ranked(survey: Survey, case: Case, deep: int, today_s: float) -> list[Option]:
    """Return each change alone, and then all together, fastest first; those that gain nothing are left out."""
    depth, files, filters = case.queue_depth, survey.found.total_files, case.workload.filters
    usual = max(table_layout.VECTOR_ROWS, case.table.usual_rows)
    order = f"sort by {survey.named(survey.by).shown}, " if filters else ""
    found: list[Option] = []

    def offer(says: str, layout: Layout = AS_IT_LIES, at: int = depth, least: float = LEAST_GAIN) -> None:
        told = replace(case, queue_depth=at).estimate(layout)
        gain = today_s / told.seconds
        if gain >= least:
            found.append(
                Option(
                    says=says, layout=layout, queue_depth=at, seconds=told.seconds, gain=gain,
                    bottleneck=told.bottleneck,
                )
            )  # fmt: skip

    if deep != depth:
        offer(f"set a queue depth of {deep}", at=deep)
    if files > 1:
        offer(f"write the {files:,} files as one, groups of {usual:,} rows", Layout(rows=usual))
    rows = case.best_rows()
    offer(f"row groups of {rows:,} rows", Layout(rows=rows))
    if filters:
        offer(f"{order}groups as large as today's", Layout(rows=usual, in_order=True))
        rows = case.best_rows(in_order=True)
        offer(f"{order}row groups of {rows:,} rows", Layout(rows=rows, in_order=True))
    if deep > depth:  # more change is only offered for more gain
        rows = replace(case, queue_depth=deep).best_rows(in_order=filters)
        more = LEAST_GAIN * max((one.gain for one in found), default=1.0)
        words = f"{order}row groups of {rows:,} rows, queue depth {deep}"
        offer(words, Layout(rows=rows, in_order=filters), deep, more)
    return sorted(found, key=lambda option: option.seconds)


# -- as text --------------------------------------------------------------------------------------------
REMEDY = {
    "seek": "the head moves too often: read longer pieces",
    "latency": "the waits for first bytes: make fewer reads, or more at once",
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
    """Return the throughput at so many seconds, as text: rows of a lookup, or bytes of the wanted columns."""
    if keys := advice.case.workload.keys:
        return units.text(keys / seconds, "rows_per_s")
    return units.text(advice.case.table.wanted_bytes / seconds, "bytes_per_s")


def _of_device(survey: Survey, advice: Advice) -> Iterator[str]:
    case, today, device = advice.case, advice.today, advice.case.device
    what = f"a lookup of {case.workload.keys:,} rows by {survey.by}" if case.workload.keys else "a scan"
    if case.workload.selectivity < 1:
        what += f" of {units.text(case.workload.selectivity, '1')} of the values of {survey.by}"
    yield (
        f"On {device.name} ({units.text(device.latency_s, 's')}, {device.channels} at once,"
        f" {units.text(device.bandwidth_bytes_per_s, 'bytes_per_s')}): {what}, queue depth {case.queue_depth}"
    )
    read = round(np.mean([plan.read_groups for plan in plans(case.table, case.workload, AS_IT_LIES)]))
    yield (
        f"  today   {units.text(today.seconds, 's'):>9}  {speed(advice, today.seconds):>12}"
        f"  {read:,} row groups read; bottleneck {today.bottleneck}"
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
    says = f"{len(rows):,} of {np.median(rows):,.0f} rows"
    if rows.min() < rows.max():
        says += f" (from {rows.min():,} to {rows.max():,})"
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
    nested = sum(len(column.path) > 1 for column in columns)
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
