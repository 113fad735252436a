"""A disk with a head, and a file in pieces. DuckDB scans it, or plain readers share it, so that the head's part in the
time can be told from the engine's."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from readahead import devices, published
from readahead.devices import Device
from readahead.experiments.experiment import Knob, OnEvent, Settings
from readahead.experiments.knobs import knob, powers
from readahead.experiments.picture import Axis, Line, Picture
from readahead.experiments.round import Bench, Round
from readahead.experiments.scanning import Scanning
from readahead.measure.readers import run_readers
from readahead.measure.sample import Sample
from readahead.models import fragments
from readahead.models.estimate import Estimate
from readahead.units import KiB, MiB

SCAN, READERS = "DuckDB scan", "plain readers"
REQUEST_BYTES, SHARED_BYTES = 128 * KiB, 16 * MiB
"""What plain readers ask for at a time, and what they read between them."""
PAGE_BYTES = 8 * KiB
_DISK = devices.device("textbook-disk")


class Fragments(Scanning):
    """The common bench, and a second workload without an engine."""

    def _shared(self, settings: Settings) -> Device:
        """Return the device of plain readers: with several heads, each reader's part lies on a head of its own."""
        one = self.device({**settings, "channels": 1})
        heads = settings["channels"]
        if heads == 1:
            return one
        rate = one.channel_bandwidth_bytes_per_s
        return one.but(
            channels=heads,
            stripe_bytes=SHARED_BYTES // settings["readers"],
            channel_bandwidth_bytes_per_s=rate,
            bandwidth_bytes_per_s=rate * heads,
        )

    def model(self, settings: Settings) -> Estimate:
        """Return the scan's estimate, or for plain readers that of the head they share."""
        if settings["workload"] == SCAN:
            return super().model(settings)
        device = self._shared(settings)
        readers = settings["readers"]
        total_s = fragments.readers_s(
            device, readers=readers, request_bytes=REQUEST_BYTES, total_bytes=SHARED_BYTES
        )
        alone = min(device.channels, readers) * device.channel_bandwidth_bytes_per_s
        transfer_s = SHARED_BYTES / alone
        latency_s = SHARED_BYTES / REQUEST_BYTES / min(device.channels, readers) * device.latency_s
        return Estimate(
            terms_s={
                "seek": max(0.0, total_s - transfer_s - latency_s),
                "latency": latency_s,
                "transfer": transfer_s,
            }
        )

    def curve(self, settings: Settings, name: str, values: np.ndarray) -> np.ndarray:
        """Return throughput along one knob; for plain readers point by point, at a few places."""
        if settings["workload"] == SCAN and name != "readers":
            return super().curve(settings, name, values)
        if name not in ("readers", "channels", "latency_s", "seek_s", "bandwidth_bytes_per_s"):
            return np.full(len(values), self.throughput(settings, self.model(settings).seconds))
        few = np.unique(np.geomspace(values[0], values[-1], 9).round(9))
        at = self.knob(name)
        rates = [
            self.throughput(
                settings, self.model({**settings, name: at.check(min(max(v, at.low), at.high))}).seconds
            )
            for v in few
        ]
        return np.asarray(np.interp(np.log(values), np.log(few), rates), float)

    def measure(
        self,
        settings: Settings,
        on_event: OnEvent | None = None,
        stop: threading.Event | None = None,
        repeats: int = 3,
    ) -> Sample:
        """Let DuckDB scan, or plain readers read."""
        if settings["workload"] == SCAN:
            return super().measure(settings, on_event, stop, repeats)
        large = (
            "small" if settings["size"] == "tiny" else settings["size"]
        )  # a tiny file is shorter than the parts
        path = self.case({**settings, "size": large}).build(on_event, stop)
        return run_readers(
            path,
            self._shared(settings),
            readers=settings["readers"],
            request_bytes=REQUEST_BYTES,
            total_bytes=SHARED_BYTES,
            repeats=repeats,
            facts=settings,
            on_event=on_event,
            stop=stop,
        )

    def work(self, settings: Settings) -> float:
        """Return the bytes that are read."""
        return float(SHARED_BYTES) if settings["workload"] == READERS else super().work(settings)


EXPERIMENT = Fragments(
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
        model=lambda bench: fragments.half_speed_bytes(
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
    half = fragments.half_speed_bytes(
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


FIGURES = {"yield": _yield, "readers": _readers}


def held_to_print() -> Sequence[tuple[str, float, float]]:
    """Return (figure, model, printed) for every printed figure that the model foretells; nothing is fitted."""

    def printed(name: str) -> float:
        return published.figure("fragments", name).best

    seek_s, drive = printed("seek_s"), devices.device("usb-disk")
    disk_rate = printed("seek_costs_bytes") / seek_s
    share = fragments.yield_share(printed("fragment_bytes"), seek_s=seek_s, bandwidth_bytes_per_s=disk_rate)
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
