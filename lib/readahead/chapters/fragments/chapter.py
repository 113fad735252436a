"""A disk with a head, and a file in pieces. DuckDB scans it, or plain readers share it, so that the head's part in the
time can be told from the engine's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from readahead import devices, published
from readahead.chapters.fragments import laws
from readahead.chapters.fragments.shared_device import READERS, SCAN, Sharing
from readahead.experiments.experiment import Knob
from readahead.experiments.figure import Axis, Line, Picture, Traces
from readahead.experiments.knobs import knob, powers
from readahead.experiments.residuals import against_print
from readahead.experiments.round import Bench, Round, traces
from readahead.units import KiB, MiB

PAGE_BYTES = 8 * KiB
_DISK = devices.device("textbook-disk")

EXPERIMENT = Sharing(
    topic="fragments",
    title="Fragments: what a seek costs",
    knobs=(
        knob("device", default=_DISK.name),
        knob("fragment_bytes", default=512 * KiB),
        knob("seek_s", default=_DISK.seek_s, folded=False),
        knob("latency_s", default=_DISK.latency_s),
        knob("row_group_rows", default=32_768),
        Knob(name="workload", label="Who reads", kind="choice", default=SCAN, choices=(SCAN, READERS)),
        Knob(
            name="readers", label="Readers", kind="count", default=8, low=1, high=32, steps=powers(1, 32),
            folded=True, help="Plain readers, each with its own part of the file.",
        ),
        knob("channels", default=1, label="Heads", high=32, steps=powers(1, 32)),
        knob("bandwidth_bytes_per_s", default=_DISK.bandwidth_bytes_per_s),
        knob("queue_depth", default=2),
        knob("size"),
    ),
)  # fmt: skip

ONE_PIECE = 64 * MiB


def on(name: str, **more: Any) -> dict[str, Any]:
    """Return the knob values of a catalogue device, to change to."""
    chosen = devices.device(name)
    return {
        "device": name,
        "latency_s": max(chosen.latency_s, EXPERIMENT.knob("latency_s").low),
        "channels": min(chosen.channels, int(EXPERIMENT.knob("channels").high)),
        "bandwidth_bytes_per_s": chosen.bandwidth_bytes_per_s,
        **({"seek_s": chosen.seek_s} if chosen.seek_s else {}),
        **more,
    }


def plain(**more: Any) -> dict[str, Any]:
    """Return the knob values of plain readers, to change to."""
    return {"workload": READERS, "seek_s": 0.004, **more}


ROUNDS = {
    "yield": Round(
        ask=lambda see: see.throughput(fragment_bytes=512 * KiB) / see.throughput(fragment_bytes=ONE_PIECE),
        published=(published.figure("fragments", "yield_share"),),
    ),
    "half_speed": Round(
        model=lambda bench: laws.half_speed_bytes(
            seek_s=bench.base["seek_s"], bandwidth_bytes_per_s=bench.base["bandwidth_bytes_per_s"]
        ),
        measures=False,
        published=(published.figure("fragments", "seek_costs_bytes"),),
    ),
    "rebuild": Round(
        ask=lambda see: (
            see.seconds(fragment_bytes=225 * PAGE_BYTES) / see.seconds(fragment_bytes=1767 * PAGE_BYTES)
        )
    ),
    "one_head": Round(
        ask=lambda see: (
            see.seconds(**plain(readers=8, channels=1)) / see.seconds(**plain(readers=1, channels=1))
        )
    ),
    "eight_heads": Round(
        ask=lambda see: (
            see.seconds(**plain(readers=1, channels=1)) / see.seconds(**plain(readers=8, channels=8))
        )
    ),
    "flash": Round(
        ask=lambda see: (
            see.seconds(**on("sata-ssd", fragment_bytes=64 * KiB))
            / see.seconds(**on("sata-ssd", fragment_bytes=ONE_PIECE))
        )
    ),
}


def _yield(bench: Bench) -> Picture:
    """Draw throughput against fragment size, modeled, measured and published."""
    sizes = EXPERIMENT.knob("fragment_bytes").grid(60)
    rates = EXPERIMENT.curve(bench.base, "fragment_bytes", sizes)
    measured = [
        (float(size), bench.measured.throughput(fragment_bytes=int(size)).median)
        for size in (64 * KiB, 512 * KiB, 4 * MiB, ONE_PIECE)
    ]
    share = published.figure("fragments", "yield_share").value
    half = laws.half_speed_bytes(
        seek_s=bench.base["seek_s"], bandwidth_bytes_per_s=bench.base["bandwidth_bytes_per_s"]
    )
    return Picture(
        title="What is left of the disk's speed",
        sentence="The shorter the pieces, the less of the disk's speed is left; at the half-speed size half of it.",
        x=Axis(label="fragment size", kind="bytes"),
        y=Axis(label="throughput", kind="bytes_per_s"),
        lines=(
            Line(name="model", points=list(zip(sizes.tolist(), rates.tolist(), strict=True))),
            Line(name="DuckDB", points=measured, source="measured", joined=False),
            Line(
                name="mark's 33 %",
                points=[(512.0 * KiB, share * bench.base["bandwidth_bytes_per_s"])],
                source="published",
                joined=False,
            ),
        ),
        marks={"half speed": half},
    )


def _readers(bench: Bench) -> Picture:
    """Draw what one reader and eight get from one head and from eight."""
    lines = []
    for heads in (1, 8):
        counts = (1, 2, 4, 8)
        modeled = [
            (float(n), bench.model.throughput(**plain(readers=n, channels=heads)).median) for n in counts
        ]
        lines.append(Line(name=f"model, {heads} head{'s' * (heads > 1)}", points=modeled))
        seen = [
            (float(n), bench.measured.throughput(**plain(readers=n, channels=heads)).median) for n in (1, 8)
        ]
        lines.append(Line(name=f"measured, {heads} head{'s' * (heads > 1)}", points=seen, source="measured"))
    return Picture(
        title="Many readers, one head or many",
        sentence="On one head every further reader takes the arm from the others; with a head each, they all gain.",
        x=Axis(label="readers", kind="count"),
        y=Axis(label="throughput of all", kind="bytes_per_s"),
        lines=tuple(lines),
        marks={},
    )


def _pieces(bench: Bench) -> Traces:
    """Draw the reads of the file in pieces, and of the file in one piece."""
    return traces(
        bench,
        title="The same file, in pieces and in one",
        sentence="DuckDB asks for the same bytes in the same order; in pieces, each read takes longer, because the arm"
        " moves within it.",
        runs={"pieces of 512 KB": {"fragment_bytes": 512 * KiB}, "one piece": {"fragment_bytes": ONE_PIECE}},
    )


def _arms(bench: Bench) -> Traces:
    """Draw the reads of one reader, of eight on one head and of eight on eight."""
    return traces(
        bench,
        title="One reader, and eight",
        sentence="One reader goes through the file in a line; eight on one head wait for each other at every read;"
        " with a head each they draw eight lines at once.",
        runs={
            "one reader": plain(readers=1, channels=1),
            "eight readers, one head": plain(readers=8, channels=1),
            "eight readers, eight heads": plain(readers=8, channels=8),
        },
    )


def _no_arm(bench: Bench) -> Traces:
    """Draw the reads on flash, in small pieces and in one."""
    return traces(
        bench,
        title="Flash: pieces, and one piece",
        sentence="Without an arm the two cannot be told apart: no read waits for a place.",
        runs={
            "pieces of 64 KB": on("sata-ssd", fragment_bytes=64 * KiB),
            "one piece": on("sata-ssd", fragment_bytes=ONE_PIECE),
        },
    )


def residuals() -> Sequence[tuple[str, float, float]]:
    """Return (figure, model, printed) for every printed figure that the model foretells; nothing is fitted."""

    def printed(name: str) -> float:
        return published.figure("fragments", name).best

    seek_s, drive = printed("seek_s"), devices.device("usb-disk")
    disk_rate = printed("seek_costs_bytes") / seek_s
    share = laws.yield_share(printed("fragment_bytes"), seek_s=seek_s, bandwidth_bytes_per_s=disk_rate)
    small = printed("drive_4k_read_bytes")
    small_s = drive.latency_s + drive.seek_s + small / drive.channel_bandwidth_bytes_per_s
    return (
        ("yield_share", float(share), printed("yield_share")),
        ("fragment_bytes", printed("fragment_pages") * PAGE_BYTES, printed("fragment_bytes")),
        ("drive_4k_bytes_per_s", small / small_s, printed("drive_4k_bytes_per_s")),
        (
            "drive_sequential_bytes_per_s",
            drive.channel_bandwidth_bytes_per_s,
            printed("drive_sequential_bytes_per_s"),
        ),
    )


FITTED = 3
"""Seek and bandwidth of the catalogue's USB disk come from two of the figures, the comment's disk from its own."""

FIGURES = {
    "yield": _yield,
    "pieces": _pieces,
    "readers": _readers,
    "arms": _arms,
    "no_arm": _no_arm,
    "printed": lambda _: against_print(residuals(), FITTED),
}
