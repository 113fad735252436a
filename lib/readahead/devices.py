"""Storage devices as five numbers, from a disk with one arm to an object store with thousands of channels.

A read waits for a free channel, then the channel is busy for

    latency_s + seek_s (if the read does not begin where the last one ended) + size / channel bandwidth

and its bytes cross one link that all channels share. The same frozen value is given to the models and to the emulated
device, so that what differs between the two is the engine's doing.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from readahead import paths
from readahead.errors import BadValue, DataError, require_range
from readahead.published import RESTORE, rows

THIS_MACHINE = "this-machine"
"""The name of the device that calibration adds to the catalogue."""
MOST_CHANNELS = 100_000
MOST_S = 1e6
"""Of a wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """What a storage device can do, in SI units."""

    name: str
    latency_s: float
    """From asking to the first byte, paid by every read."""
    bandwidth_bytes_per_s: float
    """Of the link that all channels share."""
    channel_bandwidth_bytes_per_s: float = math.inf
    """Of one channel (a drive, a flash die, a connection)."""
    channels: int = 1
    """Reads served at the same time."""
    seek_s: float = 0.0
    """Moving the head: paid by a read that does not continue the last one, and at a fragment's end."""
    stripe_bytes: int = 0
    """If above 0, byte x lives on channel (x // stripe) % channels; else any free channel serves it."""

    def __post_init__(self) -> None:
        wait, rate = "Give seconds, such as 0.0001 for 100 µs.", "Give bytes per second, such as 2e8."
        for name, low, high, advice in (
            ("latency_s", 0, MOST_S, wait),
            ("seek_s", 0, MOST_S, wait),
            ("bandwidth_bytes_per_s", 1, math.inf, rate),
            ("channel_bandwidth_bytes_per_s", 1, math.inf, rate),
            ("channels", 1, MOST_CHANNELS, "Give 1, 8 or 64."),
            ("stripe_bytes", 0, math.inf, "Give 0 for no stripes, or 65536."),
        ):
            value, whole = getattr(self, name), name in ("channels", "stripe_bytes")
            if advice is rate and value == math.inf:
                continue
            of = f"on device {self.name!r}"
            require_range(name, value, low=low, high=high, whole=whole, of=of, advice=advice)
            if whole:
                object.__setattr__(self, name, int(value))

    def but(self, **changes: Any) -> Device:
        """Return this device with some of its numbers changed (by a slider, say)."""
        return replace(self, **changes)


_NUMBERS = [field.name for field in fields(Device) if field.name != "name"]
_NEEDED = ("name", "title", "kind", "source", "latency_s", "bandwidth_bytes_per_s", "channels")
COLUMNS = [
    "name", "title", "kind", "latency_s", "seek_s", "channel_bandwidth_bytes_per_s", "bandwidth_bytes_per_s",
    "channels", "stripe_bytes", "source",
]  # fmt: skip
"""The columns of the catalogue."""


def catalogue(path: Path | None = None) -> dict[str, Device]:
    """Return every known device by name; this machine's own comes last, once it was calibrated.

    Raises `DataError` if the catalogue is missing or a row of it cannot be read.
    """
    path, own = path or paths.DATA / "devices.csv", calibrated()
    try:
        found = _read(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}. {RESTORE}") from error
    return found | ({own.name: own} if own else {})


@paths.kept  # a slider asks for it many times a second
def _read(path: Path) -> dict[str, Device]:
    found: dict[str, Device] = {}
    for line, row in enumerate(rows(path, COLUMNS), start=2):
        try:
            empty = [name for name in _NEEDED if not row[name]]
            if empty:
                raise BadValue(f"{', '.join(empty)} must have a value. Mend the line.")
            numbers: dict[str, Any] = {name: float(row[name]) for name in _NUMBERS if row[name]}
            one = Device(name=row["name"], **numbers)
            if one.name in found:
                raise BadValue(f"name={one.name!r} must be there once. Give each device its own.")
        except ValueError as error:
            raise DataError(f"Line {line} of {path} is not a device: {str(error)[:500]}") from error
        found[one.name] = one
    if not found:
        raise DataError(f"The device catalogue {path} holds no devices. Restore it from the repository.")
    return found


def device(name: str) -> Device:
    """Return one device of the catalogue. Raises `BadValue` for a name that is not in it."""
    known = catalogue()
    if name not in known:
        hint = " Calibrate first: python -m readahead calibrate." if name == THIS_MACHINE else ""
        raise BadValue(f"device={name!r} must be one of: {', '.join(known)}.{hint}")
    return known[name]


def device_or_stand_in(name: str) -> Device:
    """Return one device of the catalogue; this machine's own, before it was calibrated, stands in as an NVMe drive."""
    if name == THIS_MACHINE and calibrated() is None:
        return device("nvme").but(name=THIS_MACHINE)
    return device(name)


@paths.asked_once
def calibrated() -> Device | None:
    """Return this machine's own device as calibration left it, or None before the first calibration.

    A damaged file counts as none: calibration is cheap to repeat.
    """
    try:
        saved = paths.read_json(f"{paths.cache_dir()}{os.sep}calibrated.json")
        own = Device(**saved["device"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return own if own.name == THIS_MACHINE else None


def save_calibrated(own: Device) -> Path:
    """Keep `own` as this machine's device. It replaces the one before."""
    path = paths.cache_dir() / "calibrated.json"
    paths.write_whole(path, json.dumps({"device": asdict(own)}, indent=1), make_folder=True)
    return path
