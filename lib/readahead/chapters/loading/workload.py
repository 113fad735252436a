"""A loading bay with sliders: how many writers, how large a batch, how slow a device, and whether it is one at all."""

from __future__ import annotations

import random
from typing import Any

from readahead import devices
from readahead.chapters.loading import laws
from readahead.chapters.loading.writers import EMULATED_FILES, load_calibration, run_writers
from readahead.experiments.experiment import Experiment, Settings
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate

BATCHES = {"tiny": 64, "small": 256, "full": 1_024}
"""How many batches are loaded at each size."""
_VOLUME = devices.device("cloud-volume")


class Loading(Experiment):
    """Batches, writers, and where they write."""

    def device(self, settings: Settings) -> devices.Device:
        """Return the emulated device with the numbers that the sliders say."""
        return _VOLUME.but(latency_s=settings["latency_s"], channels=settings["channels"])

    def rows(self, settings: Settings) -> int:
        """Return how many rows are loaded."""
        return int(BATCHES[settings["size"]] * settings["commit_rows"])

    def model(self, settings: Settings) -> Estimate:
        """Return the predicted time; into one database, or on this disk, one batch after the other."""
        costs, batches = load_calibration(settings["target"]).costs(), BATCHES[settings["size"]]
        cpu_s = batches * (costs.batch_s + settings["commit_rows"] * costs.row_s)
        if settings["target"] != EMULATED_FILES:
            return Estimate(
                terms_s={"commit": batches * costs.batch_s, "rows": cpu_s - batches * costs.batch_s}
            )
        rate = laws.rows_per_s(
            self.device(settings), costs, writers=settings["writers"], commit_rows=settings["commit_rows"]
        )
        seconds = self.rows(settings) / float(rate)
        alone_s = batches * float(
            laws.batch_service_s(self.device(settings), settings["commit_rows"] * costs.bytes_per_row)
        )
        shown_s = seconds * cpu_s / (cpu_s + alone_s) if seconds > cpu_s * (1 + 1e-9) else seconds
        return Estimate(terms_s={"device": seconds - shown_s, "cpu": shown_s})

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Let the writers write, calibrating a batch first if that was never done."""
        load_calibration(settings["target"]).ensure()
        return run_writers(
            settings["target"],
            self.device(settings),
            writers=settings["writers"],
            commit_rows=settings["commit_rows"],
            rows=self.rows(settings),
            repeats=repeats,
            facts=settings,
        )

    def calibrate(self) -> None:
        """Calibrate a batch and a row into files on an emulated device."""
        load_calibration(EMULATED_FILES).run()

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Draw a load onto an emulated device, no batch so large that only the processor counts."""
        return {**super().draw(rng), "target": EMULATED_FILES, "channels": rng.choice((1, 4, 16, 64))}

    def work(self, settings: Settings) -> float:
        """Return the rows."""
        return float(self.rows(settings))

    def unit(self, settings: Settings) -> str:
        """Return rows_per_s."""
        return "rows_per_s"

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say which knobs do nothing now, and why."""
        if settings["target"] == EMULATED_FILES:
            return {}
        own = "It is this machine's own disk: its latency is what it is. Write to the emulated device to set it."
        return {"latency_s": own, "channels": own}
