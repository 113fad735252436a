"""The same table in smaller and larger crates. Row-group size against throughput, on a drive at hand and on a store
far away, in the engine; and the tables that N. Neugebauer measured, worked out from his own figures.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from readahead import units
from readahead.chapters.row_groups import columnstore, dictionaries, laws
from readahead.chapters.row_groups.columnstore import FITTED, residuals
from readahead.chapters.row_groups.workload import COMPRESSION, FORMAT, Packing
from readahead.datasets.recipe import VECTOR_ROWS, Recipe
from readahead.devices import device
from readahead.experiments.experiment import Settings
from readahead.experiments.figure import Axis, Line, Picture, Traces
from readahead.experiments.knobs import DISK_COLD, DISK_WARM, knob
from readahead.experiments.residuals import against_print
from readahead.experiments.round import Bench, Question, Round, traces
from readahead.measure.calibrate import engine_costs
from readahead.measure.case import Case
from readahead.measure.engine import EngineSettings, spare_threads
from readahead.models.schedule import Costs
from readahead.published import figure
from readahead.storage import page_cache

NEAR, FAR = "nvme", "object-store"
SMALL_ROWS, LITTLE_ROWS, LARGE_ROWS = 2_048, 8_192, 1_048_576


# -- the bench -------------------------------------------------------------------------------------------
_START = device(NEAR)

EXPERIMENT = Packing(
    topic="row_groups",
    title="Row groups: how many rows belong together?",
    knobs=(
        knob("device", default=NEAR),
        knob("row_group_rows", default=32_768),
        knob("latency_s", default=_START.latency_s),
        knob("queue_depth", folded=False),
        knob("dataset", default="comments_narrow", choices=("comments", "comments_narrow")),
        FORMAT,
        COMPRESSION,
        knob("bandwidth_bytes_per_s", default=_START.bandwidth_bytes_per_s),
        knob("channels", default=_START.channels),
        knob("seek_s"),
        knob("threads", default=spare_threads()),
        knob("size", default="tiny"),
        knob("where"),
    ),
)


def on(name: str) -> dict[str, Any]:
    """Return the knobs that put the bench on a device of the catalogue, its own numbers on the sliders."""
    there = EXPERIMENT.follow(EXPERIMENT.settings(device=name), "device")
    return {
        knob: there[knob] for knob in ("device", "latency_s", "bandwidth_bytes_per_s", "channels", "seek_s")
    }


def one_each(settings: Settings) -> int:
    """Return the row-group size that gives every read in flight one group of the table."""
    case = EXPERIMENT.case(settings)
    rows = -(-case.recipe.rows // case.window.slots)
    return int(min(-(-rows // VECTOR_ROWS) * VECTOR_ROWS, LARGE_ROWS))


def against_one_each(rows: int, name: str) -> Question:
    """Return the question how many times longer a scan takes than with one group for each read in flight."""

    def ask(see: Any) -> Any:
        there = on(name)
        return see.seconds(**there, row_group_rows=rows) / see.seconds(
            **there, row_group_rows=one_each(see.bench.base)
        )

    return ask


def latency_moves(queue_depth: int = 1, table: str = "comments") -> float:
    """Return how many times larger the smallest good row group is with the store's latency than with the drive's.

    The drive stays what it is in all else, and the table is the full one.
    """
    near, far = (_smallest_good(device(name).latency_s, queue_depth, table) for name in (NEAR, FAR))
    return far / near


def _smallest_good(latency_s: float, queue_depth: int, table: str) -> float:
    """Return the smallest good row group of the full table on the drive with another latency."""
    rows = laws.sizes(points=40)
    seconds = [scan_s(latency_s, int(count), queue_depth, table, engine_costs(table)) for count in rows]
    return float(laws.sweet_spot(rows, seconds).smallest_rows)


@functools.lru_cache(maxsize=4096)
def scan_s(latency_s: float, rows: int, queue_depth: int, table: str, costs: Costs) -> float:
    """Return the seconds of a scan of the full table in row groups of so many rows."""
    case = Case(
        recipe=Recipe(table=table, size="full", row_group_rows=rows),
        device=device(NEAR).but(latency_s=latency_s),
        engine=EngineSettings(queue_depth=queue_depth),
    )
    return case.predict(costs).finished_s


def packed(see: Any, compression: str) -> Any:
    """Return the scan time of the table with text, in small groups on the far store, compressed in one way."""
    return see.seconds(**on(FAR), dataset="comments", row_group_rows=LITTLE_ROWS, compression=compression)


def here(see: Any) -> Any:
    """Return how many times longer small groups take than large ones on this machine's own disk.

    Cold where the system can empty its page cache, warm elsewhere; the table is large enough to be timed.
    """
    own = {"where": DISK_COLD if page_cache.can_evict() else DISK_WARM, "size": "small"}
    return see.seconds(**own, row_group_rows=SMALL_ROWS) / see.seconds(
        **own, row_group_rows=one_each(see.bench.base)
    )


# -- the rounds ------------------------------------------------------------------------------------------
ROUNDS = {
    "groups": Round(model=lambda bench: columnstore.full_groups(), measures=False),
    "text": Round(
        model=lambda bench: columnstore.wide_groups() / columnstore.full_groups(),
        measures=False,
        published=lambda: (figure("row_groups", "row_group_number_factor"),),
    ),
    "dictionary": Round(
        model=lambda _: dictionaries.modeled_bytes(dictionaries.NONE) / dictionaries.modeled_bytes(None),
        measured=lambda _: dictionaries.written_bytes(dictionaries.NONE) / dictionaries.written_bytes(None),
    ),
    "near": Round(ask=against_one_each(SMALL_ROWS, NEAR)),
    "far": Round(ask=against_one_each(SMALL_ROWS, FAR)),
    "moves": Round(model=lambda bench: latency_moves(), measures=False),
    "too_large": Round(ask=against_one_each(LARGE_ROWS, FAR)),
    "packed": Round(ask=lambda see: packed(see, "uncompressed") / packed(see, "zstd")),
    "here": Round(ask=here),
    "counter": Round(
        model=lambda bench: columnstore.delivered_bytes_per_s(),
        measures=False,
        published=lambda: (figure("row_groups", "narrow_columnstore_counted_bytes_per_s"),),
    ),
}


# -- the pictures ----------------------------------------------------------------------------------------
_ROWS = Axis(label="rows in a row group", kind="rows")
_SPEED = Axis(label="throughput", kind="bytes_per_s")


def _line(bench: Bench, name: str, **changes: Any) -> Line:
    settings = bench.settings(**changes)
    rows = laws.sizes(points=60)
    speeds = EXPERIMENT.curve(settings, "row_group_rows", rows)
    return Line(name=name, points=list(zip(rows.tolist(), speeds.tolist(), strict=True)))


def _points(bench: Bench, name: str, sizes: Sequence[int], **changes: Any) -> Line:
    all_rows = EXPERIMENT.case(bench.base).recipe.rows
    points = [
        (float(min(rows, all_rows)), bench.measured.throughput(**changes, row_group_rows=rows).median)
        for rows in sizes
    ]
    return Line(name=name, points=points, source="measured", joined=changes.get("format") == "native")


def _sweet_spots(bench: Bench) -> Picture:
    sizes = sorted({SMALL_ROWS, one_each(bench.base), LARGE_ROWS})
    lines, marks = [], {}
    for name, words in ((NEAR, "NVMe"), (FAR, "store")):
        lines.append(_points(bench, f"{words}, measured", sizes, **on(name)))
        lines.append(_line(bench, f"{words}, model", **on(name)))
        curve = lines[-1].points
        best = max(speed for _, speed in curve)
        marks[words] = min(rows for rows, speed in curve if speed * (1 + laws.NEAR) >= best)
    near, far = marks.values()
    return Picture(
        title="One table, two distances",
        sentence=(
            f"Groups of {near:,.0f} rows are good enough on the NVMe drive; the object store asks for {far:,.0f}."
            " Beyond the sweet spot both fall again: too few groups are left for the reads in flight."
        ),
        x=_ROWS,
        y=_SPEED,
        lines=tuple(lines),
        marks=marks,
    )


def _latency(_: Bench) -> Picture:
    latencies = np.geomspace(20e-6, 0.05, 12).tolist()
    lines = [
        Line(
            name=f"queue depth {depth}",
            points=[(latency_s, _smallest_good(latency_s, depth, "comments")) for latency_s in latencies],
        )
        for depth in (1, 8, 32)
    ]
    return Picture(
        title="The smallest good row group moves with the latency",
        sentence=(
            "The full table with text, on devices that differ in nothing but latency: from the drive's latency to the"
            f" store's the smallest good row group grows {latency_moves(1):,.0f} times with a queue depth of 1,"
            f" {latency_moves(8):,.0f} times with 8, and {latency_moves(32):,.0f} times with 32."
        ),
        x=Axis(label="latency of the device", kind="s"),
        y=_ROWS,
        lines=tuple(lines),
        marks={"NVMe": device(NEAR).latency_s, "object store": device(FAR).latency_s},
    )


def _in_flight(bench: Bench) -> Picture:
    lines = tuple(_line(bench, f"queue depth {d}", **on(FAR), queue_depth=d) for d in (1, 8, 64))
    return Picture(
        title="Reads in flight and row groups",
        sentence=(
            "With one read in flight the largest group is the best; the more reads in flight, the smaller the groups"
            " that serve them all, and the more a few large ones cost."
        ),
        x=_ROWS,
        y=_SPEED,
        lines=lines,
        marks={},
    )


def _formats(bench: Bench) -> Picture:
    sizes = (one_each(bench.base), LARGE_ROWS)
    lines = [
        _points(bench, f"{form}, measured", sizes, **on(FAR), format=form) for form in ("parquet", "native")
    ]
    parquet, native = (
        bench.sample(**on(FAR), row_group_rows=sizes[0], format=form) for form in ("parquet", "native")
    )
    return Picture(
        title="Another format, another unit of reading",
        sentence=(
            f"In groups of {sizes[0]:,} rows Parquet took {len(parquet.reads)} reads"
            f" ({units.text(parquet.bytes_read, 'bytes')}), DuckDB's own format {len(native.reads)}"
            f" ({units.text(native.bytes_read, 'bytes')}): its reads are runs of blocks and do not follow the groups."
            " What a Parquet footer tells it learned when the file was attached, before the clock ran."
        ),
        x=_ROWS,
        y=_SPEED,
        lines=(_line(bench, "Parquet, model", **on(FAR)), *lines),
        marks={},
    )


def _trips(bench: Bench) -> Traces:
    many = one_each(bench.base)
    return traces(
        bench,
        title="Small groups, good ones, too large ones",
        sentence="The same rows from the object store: a long row of short trips, one trip for each read in flight, and"
        " a single trip that nobody shares.",
        runs={
            f"{rows:,} rows a group": {**on(FAR), "row_group_rows": rows}
            for rows in (SMALL_ROWS, many, LARGE_ROWS)
        },
    )


FIGURES = {
    "sweet_spots": _sweet_spots,
    "latency": _latency,
    "in_flight": _in_flight,
    "formats": _formats,
    "trips": _trips,
    "dictionaries": dictionaries.picture,
    "printed": lambda _: against_print(residuals(), FITTED),
}

UNEXPLAINED = {
    "bytes of a group, times smaller": "read from a picture as almost 8 times; nothing else is printed of it",
}
"""The figures farther than 10 % from the model, each with what is known of why."""

__all__ = ["EXPERIMENT", "FIGURES", "FITTED", "ROUNDS", "UNEXPLAINED", "residuals"]
