"""A disk with a head, and a file in fragments: DuckDB scans it, or plain readers share it."""

from __future__ import annotations

import random
from typing import Any

from readahead.chapters.fragments.readers import SHARED_BYTES, Readers
from readahead.devices import device
from readahead.experiments.experiment import Knob, Settings
from readahead.experiments.knobs import knob, powers
from readahead.experiments.table_experiment import TableExperiment
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.units import KiB

SCAN, READERS = "scan", "readers"


class Fragments(TableExperiment):
    """A scan by DuckDB, or plain readers on one head or with a head each."""

    def readers(self, settings: Settings) -> Readers:
        """Return the plain readers; with several heads, each reader's part lies on a head of its own."""
        heads, count = settings["channels"], settings["readers"]
        one = Readers(device=self.device({**settings, "channels": 1}), readers=count)
        if heads == 1:
            return one
        rate = one.device.channel_bandwidth_bytes_per_s
        many = one.device.but(
            channels=heads, stripe_bytes=SHARED_BYTES // count, bandwidth_bytes_per_s=rate * heads
        )
        return Readers(device=many, readers=count)

    def model(self, settings: Settings) -> Estimate:
        """Return the scan's estimate, or that of the plain readers."""
        return super().model(settings) if settings["workload"] == SCAN else self.readers(settings).estimate()

    def counts(self, settings: Settings) -> dict[str, float]:
        """Return the reads and bytes of the scan, or of the plain readers."""
        return super().counts(settings) if settings["workload"] == SCAN else self.readers(settings).counts

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Let DuckDB scan, or plain readers read: of a file that is at least small, for a tiny one is too short."""
        if settings["workload"] == SCAN:
            return super().measure(settings, repeats)
        size = "small" if settings["size"] == "tiny" else settings["size"]
        path = self.case({**settings, "size": size}).build()
        return self.readers(settings).measure(path, repeats=repeats, facts=settings)

    def work(self, settings: Settings) -> float:
        """Return the bytes that are read."""
        return super().work(settings) if settings["workload"] == SCAN else float(SHARED_BYTES)

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a scan or plain readers, as often one as the other."""
        chosen = super().draw(rng)
        if rng.random() < 0.5:
            return chosen
        drawn = {name: self.knob(name).draw(rng) for name in ("readers", "channels")}
        return {**chosen, "workload": READERS, **drawn}


_DISK = device("textbook-disk")

EXPERIMENT = Fragments(
    topic="fragments",
    title="Fragments: what a seek costs",
    knobs=(
        knob("device", default=_DISK.name),
        knob("fragment_bytes", default=512 * KiB),
        knob("seek_s", default=_DISK.seek_s, folded=False),
        knob("latency_s", default=_DISK.latency_s),
        knob("row_group_rows", default=32_768),
        Knob(
            name="workload", label="Who reads", kind="choice", default=SCAN, choices=(SCAN, READERS),
            labels={SCAN: "DuckDB scan", READERS: "plain readers"},
        ),
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
