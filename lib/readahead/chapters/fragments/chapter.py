"""Fragments: what a disk with a head keeps of its speed when a file lies in pieces, and when many read at once."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from readahead import published
from readahead.chapters.fragments import laws
from readahead.chapters.fragments.workload import EXPERIMENT, READERS
from readahead.devices import device
from readahead.experiments.figure import Axis, Line, Picture
from readahead.experiments.residuals import against_print
from readahead.experiments.round import Bench, Round, along, traces
from readahead.units import KiB, MiB

figure = functools.partial(published.figure, "fragments")
PAGE_BYTES = 8 * KiB
ONE_PIECE = 64 * MiB


def on(name: str, **more: Any) -> dict[str, Any]:
    """Return the knobs that put the bench on a device of the catalogue."""
    chosen = device(name)
    return {
        "device": name,
        "latency_s": max(chosen.latency_s, EXPERIMENT.knob("latency_s").low),
        "channels": min(chosen.channels, int(EXPERIMENT.knob("channels").high)),
        "bandwidth_bytes_per_s": chosen.bandwidth_bytes_per_s,
        **({"seek_s": chosen.seek_s} if chosen.seek_s else {}),
        **more,
    }


def plain(**more: Any) -> dict[str, Any]:
    """Return the knobs of plain readers."""
    return {"workload": READERS, "seek_s": 0.004, **more}


def half_speed_bytes(bench: Bench) -> float:
    """Return the half-speed size of the disk."""
    numbers = {name: bench.base[name] for name in ("seek_s", "bandwidth_bytes_per_s")}
    return laws.half_speed_bytes(**numbers)


IN_PIECES, WHOLE = {"fragment_bytes": 512 * KiB}, {"fragment_bytes": ONE_PIECE}
ALONE = plain(readers=1, channels=1)
ON_ONE_HEAD, ON_EIGHT = plain(readers=8, channels=1), plain(readers=8, channels=8)
FLASH, FLASH_WHOLE = on("sata-ssd", fragment_bytes=64 * KiB), on("sata-ssd", fragment_bytes=ONE_PIECE)

ROUNDS = {
    "yield": Round(
        ask=lambda see: see.throughput(**IN_PIECES) / see.throughput(**WHOLE),
        published=(figure("yield_share"),),
    ),
    "half_speed": Round(model=half_speed_bytes, measures=False, published=(figure("seek_costs_bytes"),)),
    "rebuild": Round(
        ask=lambda see: (
            see.seconds(fragment_bytes=225 * PAGE_BYTES) / see.seconds(fragment_bytes=1767 * PAGE_BYTES)
        )
    ),
    "one_head": Round(ask=lambda see: see.seconds(**ON_ONE_HEAD) / see.seconds(**ALONE)),
    "eight_heads": Round(ask=lambda see: see.seconds(**ALONE) / see.seconds(**ON_EIGHT)),
    "flash": Round(ask=lambda see: see.seconds(**FLASH) / see.seconds(**FLASH_WHOLE)),
}


# -- the figures -----------------------------------------------------------------------------------------
def _yield(bench: Bench) -> Picture:
    printed = figure("yield_share").value * bench.base["bandwidth_bytes_per_s"]
    third = Line(name="mark's 33 %", points=[(512.0 * KiB, printed)], source="published", joined=False)
    return Picture(
        x=Axis(label="fragment size", kind="bytes"),
        y=Axis(label="throughput", kind="bytes_per_s"),
        lines=(*along(bench, "fragment_bytes", seen=(64 * KiB, 512 * KiB, 4 * MiB, ONE_PIECE)), third),
        marks={"half speed": half_speed_bytes(bench)},
    )


def _readers(bench: Bench) -> Picture:
    lines: list[Line] = []
    for heads, label in ((1, "1 head"), (8, "8 heads")):
        lines += along(bench, "readers", seen=(1, 8), label=label, by="measured", **plain(channels=heads))
    x, y = Axis(label="readers", kind="count"), Axis(label="throughput of all", kind="bytes_per_s")
    return Picture(x=x, y=y, lines=tuple(lines))


FIGURES = {
    "yield": _yield,
    "readers": _readers,
    "pieces": lambda bench: traces(bench, runs={"pieces of 512 KB": IN_PIECES, "one piece": WHOLE}),
    "arms": lambda bench: traces(
        bench,
        runs={
            "one reader": ALONE,
            "eight readers, one head": ON_ONE_HEAD,
            "eight readers, eight heads": ON_EIGHT,
        },
    ),
    "no_arm": lambda bench: traces(bench, runs={"pieces of 64 KB": FLASH, "one piece": FLASH_WHOLE}),
    "printed": lambda _: against_print(residuals(), FITTED),
}


# -- in print --------------------------------------------------------------------------------------------
def residuals() -> Sequence[tuple[str, float, float]]:
    """Return (figure, model, printed) for every printed figure that the model predicts; nothing is fitted."""
    printed = {name: figure(name).best for name in (
        "seek_s", "seek_costs_bytes", "fragment_bytes", "fragment_pages", "yield_share", "drive_4k_read_bytes",
        "drive_4k_bytes_per_s", "drive_sequential_bytes_per_s")}  # fmt: skip
    drive, rate = device("usb-disk"), printed["seek_costs_bytes"] / printed["seek_s"]
    small, fragment = printed["drive_4k_read_bytes"], printed["fragment_bytes"]
    small_s = drive.latency_s + drive.seek_s + small / drive.channel_bandwidth_bytes_per_s
    modeled = {
        "yield_share": laws.yield_share(fragment, seek_s=printed["seek_s"], bandwidth_bytes_per_s=rate),
        "fragment_bytes": printed["fragment_pages"] * PAGE_BYTES,
        "drive_4k_bytes_per_s": small / small_s,
        "drive_sequential_bytes_per_s": drive.channel_bandwidth_bytes_per_s,
    }
    return [(name, model, printed[name]) for name, model in modeled.items()]


FITTED = 3
"""Seek and bandwidth of the catalogue's USB disk come from two of the figures, the comment's disk from its own."""
