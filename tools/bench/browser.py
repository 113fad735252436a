"""Benchmarks the wait in the browser: the browser tests' own stopwatch, in the Lab that we start and in a stock one."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from readahead import paths
from tools.bench.figure import Figure

AIMS_MS = {
    "make lab: Run All to first chart": 3_000.0,
    "make lab: Cancel to cancelled": 250.0,
    "make lab: longest task of a drag": 50.0,
}
"""Aims of the 95th percentile, in milliseconds."""
ECHOES = 1.5
"""How many times as long as a bare slider's echo in the same Lab a move of the panel may take."""
BESIDE = 2.0
"""How many times as long as alone a move may take beside a busy core."""


def waiting() -> list[Figure]:
    """Open the start notebook in headless Chromium and time it, key by key."""
    if shutil.which("chromium") is None:
        return [
            Figure(
                name="waiting in the browser", value=float("nan"), unit="", note="Chromium is not installed"
            )
        ]
    samples: dict[str, Sequence[float]] = _stopwatch().everything()
    return [*(_figure(name, found) for name, found in samples.items()), *_ratios(samples)]


def _ratios(samples: Mapping[str, Sequence[float]]) -> list[Figure]:
    """Return each kind of move against its yardstick of the same minutes: the 95th percentiles' ratio."""
    figures = []
    for name in samples:
        lab, _, what = name.partition(": ")
        if what.startswith("slider to redraw"):
            beside = what.endswith("busy core")
            yardstick = f"{lab}: {'slider to redraw' if beside else 'echo of a bare slider'}"
            ratio = float(np.quantile(samples[name], 0.95) / np.quantile(samples[yardstick], 0.95))
            against = "against alone" if beside else "against the echo"
            figures.append(
                Figure(name=f"{name}, {against}", value=ratio, unit="×", aim=BESIDE if beside else ECHOES)
            )
    return figures


def _figure(name: str, found: Sequence[float]) -> Figure:
    if name == "requests off the machine":
        return Figure(name=name, value=found[0], unit="requests", aim=0, samples={"requests": found})
    p50, p95 = (float(value) * 1e3 for value in np.quantile(found, (0.5, 0.95)))
    return Figure(
        name=f"{name}, 95th percentile" if len(found) > 1 else name,
        value=p95,
        unit="ms",
        aim=AIMS_MS.get(name),
        samples={"seconds": list(found)},
        note=f"median {p50:.0f} ms of {len(found)}" if len(found) > 1 else "",
    )


def _stopwatch() -> Any:
    """Load the stopwatch from the tests, where the reading room is."""
    path = paths.ROOT / "tests" / "browser" / "timing.py"
    spec = importlib.util.spec_from_file_location("readahead_timing", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path} is missing: run make bench from a clone of the repository.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
