"""A window on a corridor. The same scan with the engine's own read-ahead on and off, with a window from one read to
many, and what is asked for in vain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from readahead import devices, published
from readahead.chapters.read_ahead import laws
from readahead.chapters.read_ahead.workload import (
    ALONE,
    LIMIT,
    NATIVE,
    OFF,
    ON,
    PARQUET,
    SCAN,
    TWO,
    Switching,
)
from readahead.experiments.experiment import Knob
from readahead.experiments.figure import Axis, Line, Picture, Proof, Traces
from readahead.experiments.knobs import DISK_COLD, DISK_WARM, knob, powers
from readahead.experiments.residuals import against_print
from readahead.experiments.round import Bench, Round, traces
from readahead.storage import page_cache
from readahead.units import GB, KiB, MiB

_NETWORK = devices.device("object-store")

EXPERIMENT = Switching(
    topic="read_ahead",
    title="Read-ahead: asking before you need it",
    knobs=(
        knob("device", default=_NETWORK.name),
        knob("queue_depth", default=8, folded=False),
        knob("latency_s", default=0.005),
        Knob(name="read_ahead", label="Read-ahead", kind="choice", default=ON, choices=(ON, OFF, ALONE)),
        knob("row_group_rows", default=2_048),
        Knob(name="stored", label="Format", kind="choice", default=PARQUET, choices=(PARQUET, NATIVE)),
        knob("query", choices=(SCAN, TWO, LIMIT), default=SCAN),
        Knob(
            name="column_gap_bytes", label="Hole read through", kind="bytes", default=16 * KiB, low=1 * KiB,
            high=4 * MiB, steps=powers(1 * KiB, 4 * MiB), folded=True,
            help="Two wanted columns with a smaller hole between them are read as one.",
        ),
        knob("channels", default=128),
        knob("bandwidth_bytes_per_s", default=_NETWORK.bandwidth_bytes_per_s),
        knob("threads", default=1),
        knob("size", default="tiny"),
        knob("where"),
    ),
)  # fmt: skip

DEPTHS = (1, 2, 4, 8, 16, 32, 64, 128)
SSD_BYTES_PER_S, SSD_LATENCY_S = 3 * GB, 100e-6
"""A fast drive, as the second round gives it."""
FILE_COPY_BYTES = published.figure("read_ahead", "file_copy_read_bytes").value
LIMIT_DEPTH = 32


def switched(way: str, stored: str = PARQUET) -> dict[str, Any]:
    """Return the knobs of the on-and-off rounds: groups and a latency at which "off" ends within a breath."""
    return {"read_ahead": way, "stored": stored, "row_group_rows": 16_384, "latency_s": 0.002}


def switched_here(way: str) -> dict[str, Any]:
    """Return the knobs of the on-and-off round on this machine's own disk, cold where the system can forget."""
    own = DISK_COLD if page_cache.can_evict() else DISK_WARM
    return {"read_ahead": way, "row_group_rows": 16_384, "where": own}


def holed(gap_bytes: int) -> dict[str, Any]:
    """Return the knobs for two columns with a hole between them, one read at a time."""
    return {"query": TWO, "column_gap_bytes": gap_bytes, "row_group_rows": 16_384, "queue_depth": 1}


# -- what others printed ---------------------------------------------------------------------------------
def printed(name: str) -> float:
    """Return a figure of this chapter, in SI units."""
    return published.figure("read_ahead", name).value


def sheas_device() -> tuple[float, float]:
    """Return the (latency in s, bandwidth in bytes/s) that both of Shea's times betray."""
    return laws.device_of(
        (printed("read_bytes.off"), printed("elapsed_s.off")),
        (printed("read_bytes.on"), printed("elapsed_s.on")),
        total_bytes=printed("table_bytes"),
    )


def _shea_rate(size_bytes: float) -> float:
    latency_s, bandwidth = sheas_device()
    return float(laws.window_rate(size_bytes, 1, latency_s=latency_s, bandwidth_bytes_per_s=bandwidth))


FITTED = 4
"""Of the figures below, Shea's two rates and his two expected times are his own table over his own times: any device
that was fitted to these times gives them. The figures to which three numbers were fitted are not listed at all.
"""


def residuals() -> Sequence[tuple[str, float, float]]:
    """Return (figure, model, printed) for every printed figure that the model foretells.

    Three numbers are fitted: latency and bandwidth to Shea's two times, and the time of one of Chang's windows to his
    slowest scan. His other scan asks for twice as much in that time. The figures that were fitted are not listed.
    """
    pages = printed("table_bytes") / printed("page_bytes")
    window_s = printed("scan_read_bytes.low") / printed("scan_bytes_per_s.read_committed_cold")
    copy = printed("rowstore_read_pages") * printed("page_bytes")
    return (
        (
            "scan_bytes_per_s.on_high",
            _shea_rate(printed("read_bytes.on")),
            printed("scan_bytes_per_s.on_high"),
        ),
        ("scan_bytes_per_s.off", _shea_rate(printed("read_bytes.off")), printed("scan_bytes_per_s.off")),
        ("expected_s.off", printed("elapsed_s.off"), printed("expected_s.off")),
        ("expected_s.on", printed("elapsed_s.on"), printed("expected_s.on")),
        ("readahead_pages_per_s.on", pages / printed("elapsed_s.on"), printed("readahead_pages_per_s.on")),
        ("rowstore_read_bytes", copy, printed("rowstore_read_bytes")),
        ("rowstore_read_bytes.rounded", copy, printed("rowstore_read_bytes.rounded")),
        (
            "columnstore_read_bytes",
            printed("columnstore_read_factor") * copy,
            printed("columnstore_read_bytes"),
        ),
        (
            "scan_bytes_per_s.nolock_cold",
            printed("scan_read_bytes.high") / window_s,
            printed("scan_bytes_per_s.nolock_cold"),
        ),
    )


ROUNDS = {
    "shea": Round(
        model=lambda bench: _shea_rate(printed("read_bytes.off")),
        measures=False,
        published=(published.figure("read_ahead", "scan_bytes_per_s.off"),),
    ),
    "file_copy": Round(
        model=lambda bench: (
            float(
                laws.window_rate(
                    FILE_COPY_BYTES, 1, latency_s=SSD_LATENCY_S, bandwidth_bytes_per_s=SSD_BYTES_PER_S
                )
            )
            / SSD_BYTES_PER_S
        ),
        measures=False,
    ),
    "switch": Round(ask=lambda see: see.seconds(**switched(OFF)) / see.seconds(**switched(ON))),
    "switch_native": Round(
        ask=lambda see: see.seconds(**switched(OFF, NATIVE)) / see.seconds(**switched(ON, NATIVE))
    ),
    "switch_here": Round(
        ask=lambda see: see.seconds(**switched_here(OFF)) / see.seconds(**switched_here(ON)),
    ),
    "depth": Round(ask=lambda see: see.seconds(queue_depth=1) / see.seconds(queue_depth=128)),
    "alone": Round(
        ask=lambda see: see.seconds(queue_depth=1) / see.seconds(queue_depth=128, read_ahead=ALONE)
    ),
    "waste": Round(
        model=lambda bench: _limit_reads(bench, LIMIT_DEPTH),
        measured=lambda bench: float(len(bench.measured.sample(query=LIMIT, queue_depth=LIMIT_DEPTH).reads)),
    ),
    "hole": Round(ask=lambda see: see.seconds(**holed(1 * KiB)) / see.seconds(**holed(1 * MiB))),
}


def _limit_reads(bench: Bench, depth: int) -> float:
    """Return the reads of a query that stops after ten rows: the footer's, and a window of row groups."""
    settings = bench.settings(query=LIMIT, queue_depth=depth)
    EXPERIMENT.case(settings).build()
    return float(EXPERIMENT.plan(settings).count)


def _depth(bench: Bench) -> Picture:
    """Draw throughput against depth: both settings together, and `async_threads` alone."""
    lines = []
    for way, steps in ((ON, DEPTHS), (ALONE, (16, 128))):
        modeled = [(float(q), bench.model.throughput(queue_depth=q, read_ahead=way).median) for q in DEPTHS]
        seen = [(float(q), bench.measured.throughput(queue_depth=q, read_ahead=way).median) for q in steps]
        name = "both settings" if way == ON else way
        lines.append(Line(name=f"model, {name}", points=modeled))
        lines.append(Line(name=f"DuckDB, {name}", points=seen, source="measured", joined=False))
    size = EXPERIMENT.work(bench.base) / EXPERIMENT.case(bench.base).recipe.row_groups
    device = EXPERIMENT.device(bench.base)
    enough = laws.depth_to_ask_for(
        size, latency_s=device.latency_s, bandwidth_bytes_per_s=device.bandwidth_bytes_per_s
    )
    return Picture(
        title="Asking for more at a time",
        sentence="Each doubling of the window nearly doubles the throughput, until something else is the narrowest"
        " place; with async_threads alone it stays flat almost from the start.",
        x=Axis(label="queue depth", kind="count"),
        y=Axis(label="throughput", kind="bytes_per_s"),
        lines=tuple(lines),
        marks={"bandwidth × delay": float(enough)},
    )


def _window(_bench: Bench) -> Picture:
    """Draw what one request at a time gets out of Shea's device, with what he printed."""
    latency_s, bandwidth = sheas_device()
    sizes = [float(4 * KiB * 2**n) for n in range(12)]
    rates = laws.window_rate(sizes, 1, latency_s=latency_s, bandwidth_bytes_per_s=bandwidth)
    said = [
        (printed("read_bytes.off"), printed("scan_bytes_per_s.off")),
        (printed("read_bytes.on"), printed("scan_bytes_per_s.on_low")),
        (printed("read_bytes.on"), printed("scan_bytes_per_s.on_high")),
    ]
    counter = [
        (printed("read_bytes.on"), printed("readahead_pages_per_s.on") * printed("page_bytes")),
    ]
    return Picture(
        title="One device, two request sizes",
        sentence="One latency and one bandwidth explain both of Shea's scans; his page counter lies below all of it.",
        x=Axis(label="request size", kind="bytes"),
        y=Axis(label="throughput", kind="bytes_per_s"),
        lines=(
            Line(name="one request at a time", points=list(zip(sizes, rates.tolist(), strict=True))),
            Line(name="Shea's rates", points=said, source="published", joined=False),
            Line(name="Shea's page counter", points=counter, source="published", joined=False),
        ),
        marks={"half speed": latency_s * bandwidth},
    )


def _printed(_bench: Bench) -> Proof:
    """Set the model against each printed figure."""
    return against_print(residuals(), FITTED)


def _waste(bench: Bench) -> Picture:
    """Draw how many reads ten rows cost, against depth."""
    modeled = [(float(depth), _limit_reads(bench, depth)) for depth in DEPTHS]
    seen = [
        (float(depth), float(len(bench.measured.sample(query=LIMIT, queue_depth=depth).reads)))
        for depth in (1, 8, LIMIT_DEPTH, 128)
    ]
    return Picture(
        title="Ten rows, please",
        sentence="The deeper the window, the more is asked for before anybody notices that ten rows are enough.",
        x=Axis(label="queue depth", kind="count"),
        y=Axis(label="reads", kind="count"),
        lines=(
            Line(name="model", points=modeled),
            Line(name="DuckDB", points=seen, source="measured", joined=False),
        ),
        marks={},
    )


def _asked(bench: Bench) -> Traces:
    """Draw the reads with the engine's switch on and off."""
    return traces(
        bench,
        title="On, and off",
        sentence="With read-ahead, some reads are always under way and each is as long as a row group; without it there"
        " is one at a time, and every second one only asks how long the next has to be.",
        runs={"read-ahead on": switched(ON), "read-ahead off": switched(OFF)},
    )


def _deep(bench: Bench) -> Traces:
    """Draw the reads at three depths."""
    return traces(
        bench,
        title="How many at a time",
        sentence="The same reads: one after the other, eight side by side, and as many as there are groups.",
        runs={f"queue depth {depth}": {"queue_depth": depth} for depth in (1, 8, 128)},
    )


FIGURES = {
    "window": _window, "printed": _printed, "asked": _asked, "depth": _depth, "deep": _deep, "waste": _waste,
}  # fmt: skip

UNEXPLAINED = {
    "readahead_pages_per_s.on": "his counter says 20,000 pages a second; his time and table ask for 25,000",
}
"""The figures farther than 10 % from the model, each with what is known of why."""
