"""The knobs that several experiments have: each is defined once, and taken with a default of the experiment's own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from readahead.datasets.recipe import COMPRESSIONS, FORMATS, SIZES
from readahead.datasets.tables import TABLES
from readahead.devices import THIS_MACHINE, catalogue
from readahead.experiments.experiment import Knob
from readahead.measure.engine import spare_threads
from readahead.units import GB, MB, KiB, MiB

EMULATED, DISK_COLD, DISK_WARM = "emulated", "cold", "warm"


def powers(low: float, high: float, *extra: float) -> tuple[float, ...]:
    """Return the powers of two from `low` to `high`, and some values of note between them."""
    steps = [low]
    while steps[-1] * 2 <= high:
        steps.append(steps[-1] * 2)
    return tuple(sorted({*steps, *extra}))


_KNOBS = (
    Knob(
        name="fragment_bytes", label="Fragment size", kind="bytes", default=16 * MiB, low=64 * KiB, high=64 * MiB,
        steps=powers(64 * KiB, 64 * MiB), help="How long the contiguous pieces are in which the file lies on the disk.",
    ),
    Knob(
        name="row_group_rows", label="Row group", kind="rows", default=122_880, low=2_048, high=1_048_576,
        steps=powers(2_048, 1_048_576, 122_880), help="How many rows are stored, and read, together.",
    ),
    Knob(
        name="rows_per_lookup", label="Rows per lookup", kind="rows", default=100, low=1, high=10_000,
        steps=(1, 2, 5, 10, 25, 26, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000),
        help="How many rows one query fetches by their keys.",
    ),
    Knob(
        name="latency_s", label="Device latency", kind="s", default=0.001, low=20e-6, high=0.05,
        help="From asking the device to the first byte.",
    ),
    Knob(
        name="seek_s", label="Seek", kind="s", default=0.004, low=10e-6, high=0.02, folded=True,
        help="Moving the head, on a device that has one.",
    ),
    Knob(
        name="bandwidth_bytes_per_s", label="Bandwidth", kind="bytes_per_s", default=200 * MB, low=1 * MB,
        high=20 * GB, folded=True, help="Of the link that all channels share.",
    ),
    Knob(
        name="channels", label="Channels", kind="count", default=8, low=1, high=128, steps=powers(1, 128),
        folded=True, help="Reads that the device serves at the same time.",
    ),
    Knob(
        name="queue_depth", label="Queue depth", kind="count", default=8, low=1, high=128, steps=powers(1, 128),
        folded=True, help="Reads that DuckDB keeps under way: async_threads and read_ahead_depth together.",
    ),
    Knob(
        name="threads", label="Threads", kind="count", default=1, low=1, high=64, steps=powers(1, 64), folded=True,
        help="Workers that decode.",
    ),
    Knob(
        name="time_scale", label="Slow motion", kind="count", default=1, low=1, high=100,
        folded=True, steps=(1, 2, 5, 10, 20, 50, 100),
        help="Run the emulated device this many times slower and divide the result.",
    ),
    Knob(name="dataset", label="Table", kind="choice", default="comments_narrow", choices=tuple(TABLES), folded=True),
    Knob(name="size", label="Size", kind="choice", default="small", choices=SIZES, folded=True),
    Knob(name="format", label="Format", kind="choice", default="parquet", choices=FORMATS, folded=True),
    Knob(
        name="compression", label="Compression", kind="choice", default="snappy", choices=COMPRESSIONS, folded=True,
        help="How the column chunks of a Parquet file are compressed.",
    ),
    Knob(name="query", label="Query", kind="choice", default="scan", choices=("scan", "lookup")),
    Knob(
        name="where", label="Measured on", kind="choice", default=EMULATED,
        choices=(EMULATED, DISK_COLD, DISK_WARM), folded=True,
        labels={EMULATED: "emulated device", DISK_COLD: "this disk, cold", DISK_WARM: "this disk, warm"},
    ),
)  # fmt: skip


USUAL = {one.name: one.default for one in _KNOBS} | {
    "device": "nvme",
    "fragment_bytes": 0,
    "threads": spare_threads(),
}
"""What a setting is where no knob sets it, by name: a file in one piece, and all cores but one."""


def knob(name: str, **changes: Any) -> Knob:
    """Return one of these knobs, with a default (or anything else) of the experiment's own."""
    if name == "device":
        choices = tuple(dict.fromkeys((*catalogue(), THIS_MACHINE)))
        found = Knob(name="device", label="Device", kind="choice", default=USUAL["device"], choices=choices)
    else:
        found = next(known for known in _KNOBS if known.name == name)
    return replace(found, **changes)
