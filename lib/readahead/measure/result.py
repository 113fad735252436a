"""One measurement beside its prediction, as JSON for a machine to read.

It is written into the folder that READAHEAD_OUT names, beside the executed notebook and under its name; a second
one of the same run gets a number.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from readahead import paths
from readahead.errors import DataError
from readahead.measure.machine import this_machine
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate

_MEASURED = (
    "seconds", "median_s", "cpu_s", "bytes_read", "max_in_flight", "row_groups_scanned", "row_groups_total", "where",
    "time_scale",
)  # fmt: skip
_written: list[Path] = []
"""The files of this process."""


def facts(
    *,
    topic: str,
    settings: Mapping[str, Any],
    estimate: Estimate,
    sample: Sample | None,
    throughput_unit: str,
    work: float,
) -> dict[str, Any]:
    """Return everything as plain values: seconds, bytes, and the throughput in `throughput_unit`."""
    measured = None
    if sample is not None:
        measured = {name: getattr(sample, name) for name in _MEASURED} | {
            "interval_s": sample.interval_s(),
            "throughput": work / sample.median_s,
            "reads": len(sample.reads),
            "warnings": sample.warnings(),
        }
    return {
        "topic": topic,
        "settings": dict(settings),
        "throughput_unit": throughput_unit,
        "work": work,
        "modeled": {
            "seconds": estimate.seconds,
            "throughput": work / estimate.seconds,
            "terms_s": dict(estimate.terms_s),
            "overlapped_s": dict(estimate.overlapped_s),
            "bottleneck": estimate.bottleneck,
        },
        "measured": measured,
        "machine": asdict(this_machine()),
    }


def write(found: Mapping[str, Any], name: str) -> Path | None:
    """Write the result of notebook `name` and return its path, or None where READAHEAD_OUT names no folder.

    Raises `DataError` if the folder cannot be written.
    """
    folder = os.environ.get("READAHEAD_OUT")
    if not folder:
        return None
    number = len(_written) + 1
    path = Path(folder) / (f"{name}.json" if number == 1 else f"{name}.{number}.json")
    try:
        paths.write_whole(path, json.dumps(_plain(found), indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise DataError(
            f"The result {path} cannot be written: {error}. Give a folder that can be."
        ) from error
    _written.append(path)
    return path


def _plain(thing: Any) -> Any:
    """Return it as JSON has it: numpy's numbers as Python's, and no infinity."""
    if isinstance(thing, Mapping):
        return {str(key): _plain(value) for key, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [_plain(value) for value in thing]
    if hasattr(thing, "item"):
        thing = thing.item()
    return None if isinstance(thing, float) and not math.isfinite(thing) else thing
