"""A ferry: cars of so many bytes, a crossing of so many seconds. Small enough to hold in the hand, and honest: its
measurement reads a real file piece by piece, waits the crossing for each, and keeps a real trace."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

from readahead.errors import BadValue
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.measure.sample import Sample, this_machine
from readahead.models.estimate import Estimate
from readahead.published import Figure
from readahead.running import check, tell
from readahead.storage.trace import Trace

FILE = 1_048_576
CROSSINGS = {"ferry": 1e-3, "bridge": 1e-5}
OLD = Figure(
    name="old", value=1e8, unit="bytes_per_s", printed="100 MB/s", system="A steam ferry", device="steam",
    date="1907", author="B. Master", title="On Crossing",
)  # fmt: skip


class Ferry(Experiment):
    """Pieces to carry over, one crossing each."""

    def follow(self, settings: Settings, changed: str) -> dict[str, Any]:
        moved = dict(settings)
        if changed == "device":
            moved["latency_s"] = CROSSINGS[settings["device"]]
        return moved

    def disabled(self, settings: Settings) -> dict[str, str]:
        return {"cars": "The bridge takes any number."} if settings["device"] == "bridge" else {}

    def model(self, settings: Settings) -> Estimate:
        if settings["latency_s"] == 0.013:
            raise BadValue("latency_s=0.013 is unlucky. Give 0.014.")
        pieces = FILE / settings["piece_bytes"]
        return Estimate(
            terms_s={"latency": pieces * settings["latency_s"], "transfer": FILE / 1e9},
            overlapped_s={"cpu": FILE / 4e9},
        )

    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        if settings["latency_s"] == 0.005:
            raise OSError("the ferry sank")
        seconds, trace, start_s = [], Trace(), 0.0
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cargo"
            path.write_bytes(bytes(FILE))
            for repeat in range(repeats):
                tell(repeat, repeats, f"crossing {repeat + 1} of {repeats}")
                trace.clear()
                start_s = time.perf_counter()
                self._cross(path, settings, trace)
                seconds.append(time.perf_counter() - start_s)
        return Sample(
            seconds=tuple(seconds), cpu_s=(0.0,) * repeats, reads=trace.reads(start_s=start_s), bytes_read=FILE,
            row_groups_scanned=1, row_groups_total=1, where="ferry", machine=this_machine(),
        )  # fmt: skip

    def _cross(self, path: Path, settings: Settings, trace: Trace) -> None:
        handle = os.open(path, os.O_RDONLY)
        try:
            for offset in range(0, FILE, settings["piece_bytes"]):
                asked_s = time.perf_counter()
                size = len(os.pread(handle, settings["piece_bytes"], offset))
                check()
                while (left_s := asked_s + settings["latency_s"] - time.perf_counter()) > 0:
                    time.sleep(min(0.005, left_s))
                    check()
                done_s = time.perf_counter()
                trace.note(offset, size, asked_s, done_s, done_s)
        finally:
            os.close(handle)

    def work(self, settings: Settings) -> float:
        return FILE

    def unit(self, settings: Settings) -> str:
        return "bytes_per_s"

    def published(self, settings: Settings, name: str) -> Any:
        return ((1e-3, 1e8, OLD),) if name == "latency_s" else ()


FERRY = Ferry(
    topic="ferry",
    title="The ferry",
    knobs=(
        Knob(name="device", label="Device", kind="choice", default="ferry", choices=tuple(CROSSINGS)),
        Knob(name="latency_s", label="Crossing", kind="s", default=1e-3, low=1e-5, high=0.05),
        Knob(
            name="piece_bytes", label="Piece", kind="bytes", default=131_072, low=16_384, high=1_048_576,
            steps=tuple(16_384 * 2.0**power for power in range(7)),
        ),
        Knob(name="cars", label="Cars", kind="count", default=8, low=1, high=64, folded=True),
    ),
)  # fmt: skip
