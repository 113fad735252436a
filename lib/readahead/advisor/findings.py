"""What a doctor notes before he says what to do: a line for each thing seen, in the words of the field."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from readahead import units
from readahead.datasets.survey import MOST_JUDGED, Survey
from readahead.models.table_layout import skippable

TENTH = 0.1
"""The range of a filter by which the order of a column is judged."""
SHOWN = 12
"""Columns that are listed one by one."""


def findings(survey: Survey) -> list[tuple[str, str]]:
    """Return what the metadata shows, as (what, sentence)."""
    return [*_files(survey), *_groups(survey), *_chunks(survey), *_footers(survey), *_orders(survey)]


def _files(survey: Survey) -> Iterator[tuple[str, str]]:
    found = survey.found
    size = units.text(found.total_bytes, "bytes")
    if survey.table_name:
        yield "Table", f"{survey.table_name!r} of a DuckDB database of {size}"
    elif found.total_files == 1:
        yield "File", f"one Parquet file of {size}"
    else:
        looked = len(found.files) + len(found.damaged)
        more = f"; {looked} of them were looked at and stand for all" if looked < found.total_files else ""
        yield "Files", f"{found.total_files:,} Parquet files, {size}{more}"
    if found.small_files > 1:
        yield (
            "Small files",
            f"{found.small_files:,} are smaller than 1 MiB: each costs a footer and its own trips",
        )
    if found.damaged:
        yield "Left out", f"{len(found.damaged)} cannot be read. The first: {found.damaged[0]}"


def _groups(survey: Survey) -> Iterator[tuple[str, str]]:
    rows, sizes = survey.table.reads.rows, np.array(survey.group_bytes)
    low, middle, high = (units.text(v, "bytes") for v in (sizes.min(), np.median(sizes), sizes.max()))
    yield (
        "Row groups",
        (
            f"{len(rows):,} of {np.median(rows):,.0f} rows (from {rows.min():,} to {rows.max():,});"
            f" {middle} each (from {low} to {high})"
        ),
    )
    if len(rows) == 1:
        yield "One group", "a single row group: nobody can share the work, and no filter can skip anything"


def _chunks(survey: Survey) -> Iterator[tuple[str, str]]:
    table = survey.table
    reads, length = table.reads.counts, table.reads.spans[:, 1]
    nested = sum(column.nested for column in survey.columns)
    yield (
        "Columns",
        f"{len({c.top for c in survey.columns}):,}, of which the query reads {len(survey.wanted):,}"
        + (f"; {len(survey.columns):,} column chunks a group, {nested:,} of them nested" if nested else ""),
    )
    yield (
        "Reads",
        (
            f"{reads.sum():,} for a scan, {np.mean(reads):.3g} a row group,"
            f" of {units.text(float(np.median(length)), 'bytes')}"
        ),
    )
    for column in sorted(survey.columns, key=lambda c: -c.size_bytes)[:SHOWN]:
        packed = (
            f", packed {column.raw_bytes / max(1, column.size_bytes):.1f} times" if column.raw_bytes else ""
        )
        yield (
            f"· {column.shown}",
            (
                f"{units.text(column.size_bytes, 'bytes')}{packed}; {column.encodings};"
                f" dictionary in {column.dictionary_chunks} of {column.chunks} chunks"
            ),
        )
    if len(survey.columns) > SHOWN:
        yield "·", f"and {len(survey.columns) - SHOWN:,} smaller ones"


def _footers(survey: Survey) -> Iterator[tuple[str, str]]:
    if survey.table_name:
        return
    share = survey.footer_bytes / max(1, sum(survey.group_bytes) + survey.footer_bytes)
    count = len(survey.found.files)
    yield (
        "Footers" if count > 1 else "Footer",
        (
            f"{units.text(survey.footer_bytes, 'bytes')}{f' in {count}' if count > 1 else ''},"
            f" {units.text(share, '1')} of what they describe, read before anything else"
        ),
    )


def _orders(survey: Survey) -> Iterator[tuple[str, str]]:
    if len(survey.group_bytes) < 2:
        return
    judged = sorted(((skippable(r, TENTH), name) for name, r in survey.orders.items()), reverse=True)
    for share, name in judged[:SHOWN]:
        words = "nothing to skip: every group reaches over nearly all values" if share < 0.05 else (
            f"a filter on a tenth of its values skips {units.text(share, '1', 2)} of the row groups"
        )  # fmt: skip
        yield f"Order of {survey.named(name).shown}", words
    told = len(survey.orders)
    if told < len(survey.columns):
        yield (
            "Not judged",
            f"{len(survey.columns) - told:,} columns: without smallest and largest, or after the first {MOST_JUDGED}",
        )
