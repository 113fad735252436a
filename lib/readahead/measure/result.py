"""The slip that goes into the file: one measurement beside its prediction, for a machine to read.

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

_written: list[Path] = []
"""The slips of this process."""


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
        "measured": None if sample is None else _measured(sample, work),
        "machine": asdict(this_machine()),
    }


def _measured(sample: Sample, work: float) -> dict[str, Any]:
    low_s, high_s = sample.interval_s()
    return {
        "seconds": list(sample.seconds),
        "median_s": sample.median_s,
        "interval_s": [low_s, high_s],
        "throughput": work / sample.median_s,
        "cpu_s": list(sample.cpu_s),
        "bytes_read": sample.bytes_read,
        "reads": len(sample.reads),
        "max_in_flight": sample.max_in_flight,
        "row_groups_scanned": sample.row_groups_scanned,
        "row_groups_total": sample.row_groups_total,
        "where": sample.where,
        "time_scale": sample.time_scale,
        "warnings": list(sample.warnings()),
    }


def write(found: Mapping[str, Any], name: str) -> Path | None:
    """Write the slip of notebook `name` and return its path, or None where READAHEAD_OUT names no folder.

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
