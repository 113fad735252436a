"""Row groups: row-group size against throughput, on a drive at hand and on a store far away, in DuckDB; and the tables
that N. Neugebauer measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from readahead import units
from readahead.chapters.row_groups import columnstore, laws
from readahead.chapters.row_groups.columnstore import in_print as in_print  # noqa: PLC0414 (what the chapter offers)
from readahead.chapters.row_groups.laws import chunk_bytes
from readahead.chapters.row_groups.workload import (
    ANY,
    EXPERIMENT,
    FAR,
    NEAR,
    NONE,
    USUAL_ROWS,
    columns,
    modeled_bytes,
    written_bytes,
)
from readahead.datasets.recipe import Recipe
from readahead.devices import device
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import DISK_COLD, DISK_WARM, Settings
from readahead.experiments.figure import Line, Picture, Traces, curve, dots
from readahead.experiments.round import Applied, Round, Study, along, compared, traces
from readahead.experiments.steps import Frame, scan_frames
from readahead.experiments.table_experiment import times_law
from readahead.measure import calibrate
from readahead.models.table_layout import VECTOR_ROWS
from readahead.published import figure
from readahead.questions.question import Computed
from readahead.storage import page_cache

SMALL_ROWS, LITTLE_ROWS, LARGE_ROWS = 2_048, 8_192, 1_048_576


def one_each(settings: Settings) -> int:
    """Return the row-group size that gives every read in flight one group of the table."""
    case = EXPERIMENT.case(settings)
    rows = -(-case.recipe.rows // min(case.window.slots, case.window.depth))
    return int(min(-(-rows // VECTOR_ROWS) * VECTOR_ROWS, LARGE_ROWS))


def sized(name: str, rows: int = 0) -> Callable[[Study], Settings]:
    """Return the knobs of a device and groups of so many rows, or one group for each read in flight."""
    return lambda study: {"device": name, "row_group_rows": rows or one_each(study.base)}


def latency_moves(queue_depth: int = 1) -> float:
    """Return how many times larger the smallest good row group is with the store's latency than with the drive's.

    The drive stays what it is in all else, and the table is the full one.
    """
    near, far = (_smallest_good(device(name).latency_s, queue_depth) for name in (NEAR, FAR))
    return far / near


def _smallest_good(latency_s: float, queue_depth: int) -> float:
    """Return the smallest good row group of the full table on the drive with another latency."""
    rows, name = laws.sizes(points=40), "row_group_rows"
    drive = EXPERIMENT.turned(dataset="comments", size="full", device=NEAR, latency_s=latency_s)
    return laws.smallest_good(rows, 1 / EXPERIMENT.curve({**drive, "queue_depth": queue_depth}, name, rows))


def packed(compression: str) -> dict[str, Any]:
    """Return the knobs of the table with text, in small groups on the far store, compressed in one way."""
    return {"device": FAR, "dataset": "comments", "row_group_rows": LITTLE_ROWS, "compression": compression}


def here(study: Study, rows: int = 0) -> Settings:
    """Return the knobs of a scan on this machine's own disk, in groups of so many rows, or one for each read in flight.

    Cold where the system can empty its page cache, warm elsewhere; the table is large enough to be timed.
    """
    where = DISK_COLD if page_cache.can_evict() else DISK_WARM
    return {"where": where, "size": "small", "row_group_rows": rows or one_each(study.base)}


def dictionary_law(_: Study) -> Applied:
    """Return the law of the file's length with what a row of the order lines takes in both forms."""
    plain = {one.name: one.value_bytes for one in columns()}
    written = {one.name: chunk_bytes(one, USUAL_ROWS) / USUAL_ROWS for one in columns()}
    shorter = [name for name in plain if written[name] < plain[name]]
    return Applied(
        laws.dictionary_gain,
        row_bytes=sum(plain.values()),
        in_dictionaries=sum(plain[name] for name in shorter),
        number_bytes=sum(written[name] for name in shorter),
    )


def _growth_law(_: Study) -> Applied:
    drive, costs = device(NEAR), calibrate.engine("comments").costs()
    row_bytes = Recipe(table="comments", size="full").source.bytes_per_row
    return Applied(
        laws.growth,
        near_latency_s=drive.latency_s,
        far_latency_s=device(FAR).latency_s,
        engine_s=costs.read_s + costs.group_s,
        row_s=costs.row_s + row_bytes / drive.channel_bandwidth_bytes_per_s,
    )


# -- the rounds ------------------------------------------------------------------------------------------
_TABLE_ROWS, _FILLED_ROWS = int(columnstore.printed("table_rows")), 105_000
"""Neugebauer's rows, and after how many of them the dictionary is full."""

ROUNDS = {
    "groups": Round(law=lambda _: Applied(laws.groups, rows=_TABLE_ROWS)),
    "text": Round(
        law=lambda _: Applied(laws.times_as_many, rows=_TABLE_ROWS, cut_rows=_FILLED_ROWS),
        published=(figure("row_groups", "row_group_number_factor"),),
    ),
    "dictionary": Round(
        model=lambda _: modeled_bytes(NONE) / modeled_bytes(None),
        measured=lambda _: written_bytes(NONE) / written_bytes(None),
        law=dictionary_law,
        model_also="counts each row group of the file by itself",
    ),
    "near": compared(sized(NEAR, SMALL_ROWS), sized(NEAR), times_law),
    "far": compared(sized(FAR, SMALL_ROWS), sized(FAR), times_law),
    "moves": Round(
        model=lambda study: latency_moves(),
        law=_growth_law,
        model_also="follows the reads of scans in forty sizes and takes the smallest good one",
    ),
    "too_large": compared(sized(FAR, LARGE_ROWS), sized(FAR), times_law),
    "packed": compared(packed("uncompressed"), packed("zstd"), times_law),
    "here": compared(partial(here, rows=SMALL_ROWS), here, times_law),
    "counter": Round(
        law=lambda _: Applied(
            laws.delivered_bytes_per_s,
            pages=columnstore.printed("logical_reads_pages.narrow_rowstore"),
            elapsed_s=columnstore.printed("elapsed_s.narrow_columnstore"),
        )
    ),
}


CLAIMS = {
    "far_hurts_more": Sides(
        left=lambda study: ROUNDS["far"].ask(study.measured),  # type: ignore[misc]
        right=lambda study: ROUNDS["near"].ask(study.measured),  # type: ignore[misc]
        when={"with_so_many": lambda left, right, study: study.base["queue_depth"] > 16},
    ),
    "too_large_idles": Sides(
        left=lambda study: study.measured.seconds(device=FAR, row_group_rows=one_each(study.base)),
        right=lambda study: study.measured.seconds(device=FAR, row_group_rows=LARGE_ROWS),
        when={"with_a_queue": lambda left, right, study: study.base["queue_depth"] == 1},
    ),
    "trips_not_bytes": Sides(
        left=packed("uncompressed"),
        right=packed("zstd"),
        when={"unpacking_zstd_took": lambda left, right, study: left.median < right.median},
    ),
}

MONDAY: dict[str, Any] = {
    "row_bytes": 40, "latency_s": 0.02, "dispatch_s": 0.0003, "bandwidth_bytes_per_s": 80e6,
    "table_rows": 200_000_000, "in_flight": 16,
}  # fmt: skip

ANSWERS = {
    "monday": Computed(
        law=lambda given: Applied(laws.rows_to_write, **{**MONDAY, **given}),
        wrong={
            "the_link_s": lambda given: laws.rows_to_write(
                **{**MONDAY, **given, "bandwidth_bytes_per_s": 10e9 / 8}
            ),
            "as_long_as": lambda given: laws.rows_to_write(**{**MONDAY, **given}) / 10,
        },
    ),
    "dictionary": Computed(answer=lambda _: columnstore.dictionary_from_groups()),
}


# -- the figures -----------------------------------------------------------------------------------------
def _sizes(study: Study, name: str, label: str, *sizes: int, **changes: Any) -> tuple[Line, ...]:
    """Return the model's line over the row-group sizes on a device, and DuckDB's points at some of them."""
    rows = EXPERIMENT.case(study.base).recipe.rows
    seen = sorted({min(size, rows) for size in sizes})
    return along(study, "row_group_rows", seen=seen, label=label, device=name, **changes)


def _sweet_spots(study: Study) -> Picture:
    lines: list[Line] = []
    marks = {}
    for name, label in ((NEAR, "NVMe"), (FAR, "store")):
        model, seen = _sizes(study, name, label, SMALL_ROWS, one_each(study.base), LARGE_ROWS)
        lines += [model, seen]
        marks[label] = laws.smallest_good(*np.array([(x, 1 / y) for x, y in model.points]).T)
    return Picture(
        lines=tuple(lines),
        marks=marks,
        values={"near": float(f"{marks['NVMe']:.2g}"), "far": float(f"{marks['store']:.2g}")},
    )


def _latency(_: Study) -> Picture:
    latencies = np.geomspace(20e-6, 0.05, 30).tolist()
    depths = (1, 8, 32)
    return Picture(
        values={f"depth_{depth}": latency_moves(depth) for depth in depths},
        lines=tuple(
            curve(f"queue depth {depth}", latencies, [_smallest_good(one_s, depth) for one_s in latencies])
            for depth in depths
        ),
        marks={"NVMe": device(NEAR).latency_s, "object store": device(FAR).latency_s},
    )


def _in_flight(study: Study) -> Picture:
    lines = [line for d in (1, 8, 64) for line in _sizes(study, FAR, f"queue depth {d}", queue_depth=d)]
    return Picture(lines=tuple(lines))


def _formats(study: Study) -> Picture:
    sizes = (one_each(study.base), LARGE_ROWS)
    model, parquet = _sizes(study, FAR, "Parquet", *sizes)
    _, native = _sizes(study, FAR, "DuckDB's own format", *sizes, format="native")
    values: dict[str, object] = {"rows": sizes[0]}
    for form in ("parquet", "native"):
        sample = study.sample(device=FAR, row_group_rows=sizes[0], format=form)
        values[f"{form}_reads"] = len(sample.reads)
        values[f"{form}_bytes"] = units.text(sample.bytes_read, "bytes")
    return Picture(lines=(model, parquet, replace(native, joined=True)), values=values)


def _dictionaries(_: Study) -> Picture:
    limits = [10.0 ** (n / 4) for n in range(25)]
    lines = [
        curve(f"model, groups of {rows:,} rows", limits, [modeled_bytes(int(one), rows) for one in limits])
        for rows in (USUAL_ROWS, LITTLE_ROWS)
    ]
    written = [(float(limit), written_bytes(limit)) for limit in (NONE, 100, 10_000, ANY)]
    seen = dots(f"DuckDB, groups of {USUAL_ROWS:,} rows", written)
    return Picture(lines=(*lines, seen), marks={"DuckDB's own rule": USUAL_ROWS / 5})


def _trips(study: Study) -> Traces:
    sizes = (SMALL_ROWS, one_each(study.base), LARGE_ROWS)
    return traces(study, runs={f"{n:,} rows a group": {"device": FAR, "row_group_rows": n} for n in sizes})


FIGURES = {
    "sweet_spots": _sweet_spots,
    "latency": _latency,
    "in_flight": _in_flight,
    "formats": _formats,
    "trips": _trips,
    "dictionaries": _dictionaries,
}


def _cut(_: Study) -> list[Frame]:
    store, scan = device("object-store"), {"slots": 2, "depth": 4}
    return [
        *scan_frames(store, reads=8, read_bytes=300_000, group_s=0.002, lead="Eight groups.", **scan),
        *scan_frames(store, reads=2, read_bytes=1_200_000, group_s=0.008, lead="Two groups.", **scan),
    ]


STEPS = {"cut": _cut}
