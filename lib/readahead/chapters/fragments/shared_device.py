"""A shelf with one ladder, and people who share it. The common bench with a second workload: plain readers without an
engine, on one head or with a head each."""

from __future__ import annotations

import random
from typing import Any

from readahead.chapters.fragments import laws
from readahead.chapters.fragments.readers import run_readers
from readahead.devices import Device
from readahead.experiments.experiment import Settings
from readahead.experiments.scanning import Scanning
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.units import KiB, MiB

SCAN, READERS = "DuckDB scan", "plain readers"
REQUEST_BYTES, SHARED_BYTES = 128 * KiB, 16 * MiB
"""What plain readers ask for at a time, and what they read between them."""


class Sharing(Scanning):
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
        total_s = laws.readers_s(
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

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Let DuckDB scan, or plain readers read."""
        if settings["workload"] == SCAN:
            return super().measure(settings, repeats)
        large = (
            "small" if settings["size"] == "tiny" else settings["size"]
        )  # a tiny file is shorter than the parts
        path = self.case({**settings, "size": large}).build()
        return run_readers(
            path,
            self._shared(settings),
            readers=settings["readers"],
            request_bytes=REQUEST_BYTES,
            total_bytes=SHARED_BYTES,
            repeats=repeats,
            facts=settings,
        )

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a scan or plain readers, as often one as the other."""
        chosen = super().draw(rng)
        if rng.random() < 0.5:
            return chosen
        readers, heads = self.knob("readers").draw(rng), self.knob("channels").draw(rng)
        return {**chosen, "workload": READERS, "readers": readers, "channels": heads}

    def work(self, settings: Settings) -> float:
        """Return the bytes that are read."""
        return float(SHARED_BYTES) if settings["workload"] == READERS else super().work(settings)
