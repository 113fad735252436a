"""A column of trucks over a pass. How long a scan takes is decided by the narrowest place on its way: the reads in
flight, the device's channels, the link they share, the one hand that passes reads out, or the cooks that decode.

The closed form of `schedule.simulate` for a file of equal row groups: every argument may be a numpy array, so a
whole curve costs microseconds. A lookup is a scan of the row groups in which its keys lie.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from readahead.devices import Device
from readahead.models.estimate import Estimate
from readahead.models.schedule import SCRAMBLED, Costs, Window

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A file seen as equal row groups, each read in one piece. Every number may be an array."""

    rows: ArrayLike
    row_group_rows: ArrayLike
    bytes_per_row: ArrayLike
    fragment_bytes: ArrayLike = 0.0
    """Length of the contiguous pieces on the device; 0 for one piece."""
    footer_bytes_per_group: float | Array = 350.0
    keys: ArrayLike = 0.0
    """Rows looked up at random by an ordered key; 0 scans everything."""
    probes_per_read: float = 0.0
    """Bloom filters that are asked before a read, one after the other."""
    probe_bytes: float = 0.0
    """Length of one."""

    @property
    def groups(self) -> Array:
        """Return the number of row groups."""
        return np.asarray(np.ceil(np.asarray(self.rows, float) / np.asarray(self.row_group_rows, float)))

    @property
    def touched(self) -> Array:
        """Return the row groups that must be read: for k random keys m(1 − (1 − 1/m)^k) (Cardenas, 1975)."""
        groups, keys = self.groups, np.asarray(self.keys, float)
        with np.errstate(divide="ignore", invalid="ignore"):
            hit = groups * -np.expm1(keys * np.log1p(-1.0 / groups))
        return np.where(keys > 0, np.maximum(hit, np.minimum(keys, 1.0)), groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """Many devices at once: the numbers of a `Device`, each of which may be an array."""

    latency_s: ArrayLike
    seek_s: ArrayLike
    bandwidth_bytes_per_s: ArrayLike
    channel_bandwidth_bytes_per_s: ArrayLike
    channels: ArrayLike
    stripe_bytes: int

    @classmethod
    def like(cls, device: Device, **changes: ArrayLike) -> Devices:
        """Return `device` with some of its numbers replaced by arrays."""
        return cls(**{name: changes.get(name, getattr(device, name)) for name in cls.__slots__})


@dataclass(frozen=True, slots=True, kw_only=True)
class Windows:
    """Many windows at once: the numbers of a `Window`, each of which may be an array."""

    slots: ArrayLike
    depth: ArrayLike
    threads: ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanTimes:
    """Where the seconds of a scan go. Each is an array of the shape of the question."""

    open_s: Array
    """Planning, footer, metadata: before the first data read."""
    io_s: Array
    """From the first data read to the last byte."""
    cpu_s: Array
    """From the first data read to the last row, if only decoding mattered."""
    tail_s: Array
    """Decoding what arrives last, which nothing hides."""
    close_s: float
    per_read_s: dict[str, Array]
    """What one read's time is made of: seek, latency, transfer, engine."""
    link_bound: NDArray[np.bool_]
    """Whether the shared link is the narrowest place."""

    @property
    def seconds(self) -> Array:
        """Return the elapsed time: while the device works, the workers decode."""
        return self.open_s + np.maximum(self.io_s + self.tail_s, self.cpu_s) + self.close_s


def scan_times(device: Device | Devices, layout: Layout, window: Window | Windows, costs: Costs) -> ScanTimes:
    """Return the closed form of the schedule: the narrowest of five places, and what cannot overlap with it."""
    heads, depth = np.asarray(device.channels, float), np.asarray(window.depth, float)
    all_slots, threads = np.asarray(window.slots, float), np.asarray(window.threads, float)
    link_rate = np.asarray(device.bandwidth_bytes_per_s, float)
    seek_each_s, latency_each_s = np.asarray(device.seek_s, float), np.asarray(device.latency_s, float)
    striped = device.stripe_bytes > 0
    groups, touched = layout.groups, layout.touched
    keys, total_rows = np.asarray(layout.keys, float), np.asarray(layout.rows, float)
    rows = np.minimum(np.asarray(layout.row_group_rows, float), total_rows)
    single = touched <= np.minimum(all_slots, heads)  # one wave: the longest group decides, not the mean
    rows = np.where(single, rows, total_rows / groups)
    size = rows * np.asarray(layout.bytes_per_row, float)

    # one read
    drives = heads if striped else 1.0
    rate = np.minimum(np.asarray(device.channel_bandwidth_bytes_per_s, float) * drives, link_rate)
    fragment = np.asarray(layout.fragment_bytes, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = np.where(fragment > 0, size / fragment, 0.0)
    density = touched / groups
    elsewhere = 1.0 - density if striped else np.where(heads > 1, 1.0, 1.0 - density)
    ones = np.ones_like(size)
    per_read_s = {
        "seek": (elsewhere + crossings) * seek_each_s * ones,
        "latency": latency_each_s * ones,
        "transfer": size / rate,
        "engine": costs.read_s * ones,
    }
    service_s = per_read_s["seek"] + per_read_s["latency"] + per_read_s["transfer"]
    prune_s = keys * costs.prune_key_s
    decode_s = costs.group_s + rows * costs.row_s + prune_s

    # the five narrow places
    channels = np.ones_like(heads) if striped else heads
    in_window = np.minimum(1.0 + (depth - 1) * density, touched)
    slots = np.minimum(all_slots, in_window)
    cycle_s = service_s + per_read_s["engine"]
    by_slots = np.where(slots >= all_slots, np.ceil(touched / slots - 1e-9), touched / slots) * cycle_s
    by_window = touched / in_window * (cycle_s + decode_s) - decode_s
    scrambled = (1 - 1 / SCRAMBLED) * np.maximum(0.0, slots - 1.0) * (1.0 - elsewhere) * seek_each_s
    by_channels = np.ceil(touched / channels - 1e-9) * service_s + per_read_s["engine"] + scrambled
    link_s = np.minimum(touched * size, total_rows * np.asarray(layout.bytes_per_row, float))
    by_link = link_s / link_rate + latency_each_s + per_read_s["engine"]
    probe_s = seek_each_s + latency_each_s + layout.probe_bytes / rate
    behind_s = np.where(
        layout.probes_per_read > 0, size / link_rate, 0.0
    )  # the read before it is on the link
    by_gate = touched * np.maximum(costs.dispatch_s, layout.probes_per_read * probe_s + behind_s) + service_s
    places = np.broadcast_arrays(by_slots, by_window, by_channels, by_link, by_gate)
    io_s = np.maximum.reduce(places)
    link_bound = by_link >= io_s * (1 - 1e-12)

    # what comes before, meanwhile and after
    footer_bytes = groups * layout.footer_bytes_per_group
    guess_bytes = np.clip(total_rows * np.asarray(layout.bytes_per_row, float) / 1000, 16_384, 262_144)
    footers = 1.0 + (footer_bytes > guess_bytes)
    footer_s = footers * (latency_each_s + seek_each_s + costs.read_s)
    footer_s = footer_s + (1.4 * guess_bytes + np.where(footers > 1, footer_bytes, 0.0)) / rate
    open_s = (
        costs.plan_s
        + keys * (costs.plan_key_s + costs.open_key_s)
        + footer_s
        + costs.open_s
        + groups * costs.open_group_s
    )
    workers = np.minimum(threads, touched)
    cpu_s = cycle_s + touched * decode_s / workers + (groups - touched) * (costs.skip_group_s + prune_s)
    arriving = np.where(link_bound | (heads == 1), 1.0, (touched - 1e-9) % all_slots)
    return ScanTimes(
        open_s=open_s,
        io_s=io_s,
        cpu_s=cpu_s,
        tail_s=np.maximum(arriving, 1.0) * decode_s / workers,
        close_s=costs.close_s,
        per_read_s=per_read_s,
        link_bound=link_bound,
    )


def estimate(times: ScanTimes, seconds: float | None = None) -> Estimate:
    """Return the closed form of one setting as named terms; with `seconds`, scaled to a schedule's total.

    The narrowest place gets the time: a full link makes all of it transfer; else a read's own parts share it.
    """
    io_s, cpu_s, tail_s = float(times.io_s), float(times.cpu_s), float(times.tail_s)
    parts = {name: float(value) for name, value in times.per_read_s.items()}
    if bool(times.link_bound):
        parts["transfer"] = max(0.0, io_s - parts["latency"] - parts["engine"])
        parts["seek"] = 0.0
    scale = io_s / (sum(parts.values()) or 1.0)
    io = {name: value * scale for name, value in parts.items()}
    fixed = {"open": float(times.open_s) + times.close_s}
    if io_s + tail_s >= cpu_s:
        terms, hidden = {**fixed, **io, "cpu": tail_s}, {"cpu": max(0.0, cpu_s - tail_s)}
    else:
        first_s = sum(float(value) for value in times.per_read_s.values())
        first = {name: float(value) for name, value in times.per_read_s.items()}
        terms = {**fixed, **first, "cpu": max(0.0, cpu_s - first_s)}
        hidden = {name: max(0.0, io[name] - first[name]) for name in io}
    if seconds is not None:
        factor = seconds / sum(terms.values())
        terms = {name: value * factor for name, value in terms.items()}
        hidden = {name: value * factor for name, value in hidden.items()}
    return Estimate(terms_s=terms, overlapped_s=hidden)
