"""How a load is run: the knobs, and the writers or the law that they ask for."""

from __future__ import annotations

import random
from typing import Any

from readahead import devices
from readahead.chapters.loading import laws
from readahead.chapters.loading.writers import EMULATED_FILES, TARGETS, load_calibration, run_writers
from readahead.experiments.experiment import Experiment, Knob, Settings, knob, powers
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
        rows, commit_rows = self.rows(settings), settings["commit_rows"]
        batch_s, row_s = batches * costs.batch_s, rows * costs.row_s
        if settings["target"] != EMULATED_FILES:
            return Estimate(terms_s={"commit": batch_s, "rows": row_s})
        device, cpu_s = self.device(settings), batch_s + row_s
        rate = laws.rows_per_s(device, costs, writers=settings["writers"], commit_rows=commit_rows)
        seconds = rows / rate
        alone_s = batches * laws.batch_service_s(device, commit_rows * costs.bytes_per_row)
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


def _on_this_disk(settings: Settings) -> str:
    own = "It is this machine's own disk: its latency is what it is. Write to the emulated device to set it."
    return "" if settings["target"] == EMULATED_FILES else own


EXPERIMENT = Loading(
    topic="loading",
    title="Loading: writers, batches, and where they write",
    knobs=(
        Knob(
            name="writers", label="Writers", kind="count", default=4, low=1, high=64, steps=powers(1, 64),
            help="Threads that each write batch after batch.",
        ),
        Knob(
            name="commit_rows", label="Rows a commit", kind="rows", default=500, low=10, high=10_000,
            steps=(10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000),
            help="How many rows are made safe together.",
        ),
        knob("latency_s", default=0.004, low=100e-6, high=0.02, label="Write latency", idle=_on_this_disk),
        Knob(
            name="target", label="Into", kind="choice", default=EMULATED_FILES, choices=tuple(TARGETS), labels=TARGETS
        ),
        knob("channels", default=16, idle=_on_this_disk),
        knob("size", default="tiny"),
    ),
)  # fmt: skip
