"""The raw seconds, reads and facts of repeated runs, and the machine they ran on.

A median with its interval is a way to look at them, and what makes them doubtful is said in words. A modeled or
published number has an interval of no width, so that all compare alike.
"""

from __future__ import annotations

import functools
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from readahead import __version__, paths, units
from readahead.errors import BadValue
from readahead.storage.trace import Read, in_flight


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """The facts that must agree before two samples may be pooled."""

    cpu: str
    cores: int
    memory_bytes: int
    system: str
    file_system: str
    python: str
    duckdb: str
    readahead: str


def _cpu_name() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        return names[0] if names else platform.machine()
    except OSError:
        return platform.processor() or platform.machine()


def _file_system() -> str:
    """Return the type of the file system that holds the built files, such as ext4 or apfs."""
    place = paths.cache_dir()
    mounts = [m for m in psutil.disk_partitions(all=True) if place.is_relative_to(m.mountpoint)]
    return max(mounts, key=lambda mount: len(mount.mountpoint)).fstype if mounts else "unknown"


@functools.cache
def this_machine() -> Machine:
    """Return the facts of the machine that runs this."""
    import duckdb

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else psutil.cpu_count() or 1
    return Machine(
        cpu=_cpu_name(),
        cores=cores,
        memory_bytes=psutil.virtual_memory().total,
        system=f"{platform.system()} {platform.release()}",
        file_system=_file_system(),
        python=platform.python_version(),
        duckdb=duckdb.__version__,
        readahead=__version__,
    )


FEW = 5
"""Repeats below which no claim is printed."""
MANY = 50
"""Repeats above which repeating is no advice."""
TOO_FAST_S = 0.02
"""Below this the time that the system takes to wake a thread counts, which no model of ours tells."""
DISTURBED = 0.10
"""A repeat that took so much more of the processor than the least was slowed down by others, as a share."""
RESAMPLES = 999
"""How often repeats are drawn again for an interval."""
UNSTEADY = 0.10
"""Half-width of the interval, as a share of the median, above which a result carries a warning."""


def steady(cpu_s: Sequence[float], *, quick: bool) -> int:
    """Return how many repeats of one query count, of those that took least of the processor; `cpu_s` are its seconds.

    The same work takes the same, but for a core that others slow down meanwhile, as the other half of a core does that
    a virtual machine shares: a control run beside the repeat does not see that, its own seconds do. Those count that
    took at most `DISTURBED` more than the least; a third of them at least. Where the machine is not `quick` for long,
    see `calibrate.quick_for_long`, all count.
    """
    if not quick:
        return len(cpu_s)
    limit = (1 + DISTURBED) * min(cpu_s)
    return max(math.ceil(len(cpu_s) / 3), sum(one_s <= limit for one_s in cpu_s))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Repeats of one query on one device."""

    seconds: tuple[float, ...]
    """Elapsed seconds of each repeat, already divided by `time_scale`."""
    cpu_s: tuple[float, ...]
    """Processor seconds of each repeat (all threads), not divided."""
    reads: tuple[Read, ...]
    """Every read of the steadiest repeat, times from its start; empty where the system gives no trace."""
    wrote: bool = False
    """Whether what is listed as reads were writes."""
    bytes_read: int
    row_groups_scanned: int = 0
    row_groups_total: int = 0
    where: str
    """'emulated device', 'this disk, cold' or 'this disk, warm'."""
    machine: Machine = field(default_factory=this_machine)
    answer: tuple[object, ...] = ()
    """The first row that the query returned: two samples of one query must agree on it."""
    sql: str = ""
    """The query as DuckDB got it."""
    setup: tuple[str, ...] = ()
    """What was run before it, untimed."""
    engine: Mapping[str, str | int | bool] = field(default_factory=dict)
    """DuckDB's settings, by name."""
    profile: Mapping[str, Any] = field(default_factory=dict)
    """What DuckDB says of that repeat: bytes_read, row_groups (scanned), row_groups_total, cpu_s, operators."""
    time_scale: float = 1.0
    """The device ran this many times slower, and the seconds were divided by it."""

    @property
    def median_s(self) -> float:
        """Return the median of the repeats."""
        return float(np.median(self.seconds))

    def interval_s(self) -> tuple[float, float]:
        """Return the bootstrap interval of the median, at 95 % (percentile method, Efron 1979).

        With fewer than three repeats it is the range of what was seen.
        """
        if len(self.seconds) < 3 or len(set(self.seconds)) == 1:
            return min(self.seconds), max(self.seconds)
        drawn = np.random.default_rng(0).choice(self.seconds, (RESAMPLES, len(self.seconds)))
        low, high = np.quantile(np.median(drawn, axis=1), (0.025, 0.975))
        return min(float(low), self.median_s), max(float(high), self.median_s)  # whatever was rounded

    @property
    def max_in_flight(self) -> int:
        """Return the largest number of reads that were under way at once."""
        return max(in_flight(self.reads)[1])

    def warnings(self) -> tuple[str, ...]:
        """Return what makes this result doubtful and what to do, in words; nothing if nothing does."""
        said = []
        low, high = self.interval_s()
        width = (high - low) / 2 / self.median_s if self.median_s else 0.0
        if len(self.seconds) < FEW:
            often = "once" if len(self.seconds) == 1 else f"{len(self.seconds)} times"
            said.append(f"Measured {often}: for a claim, repeat at least {FEW} times.")
        elif width > UNSTEADY:
            more = int(np.ceil(len(self.seconds) * (width / UNSTEADY) ** 2))
            cure = f"or repeat about {more} times" if more <= MANY else "and measure again when it is quiet"
            said.append(
                f"The median is only known within ±{units.text(width, '1', 2)}: close other programs, {cure}."
            )
        if self.median_s < TOO_FAST_S:
            said.append(
                f"A run below {units.text(TOO_FAST_S, 's')} is too fast to tell on this machine, for waking a thread"
                " counts in it: choose a larger size or a slower device."
            )
        if self.time_scale > 1 and np.median(self.cpu_s) > 0.3 * self.median_s * self.time_scale:
            said.append(
                f"The device ran {self.time_scale:g} times slower and the processor did not, so its share is"
                " understated: raise the latency to measure without scaling."
            )
        return tuple(said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A median with its interval, in SI units."""

    median: float
    low: float
    high: float
    repeats: int = 0
    """How often it was measured; 0 for a number that was not."""
    warnings: tuple[str, ...] = ()
    """Why it may be wrong, in words, each with what to do."""

    def __post_init__(self) -> None:
        if not self.low <= self.median <= self.high:
            raise BadValue(
                f"median={self.median:g} must lie from low={self.low:g} to high={self.high:g}."
                " Give the interval that belongs to this median."
            )

    @property
    def few(self) -> bool:
        """Return whether it was measured, but too few times to claim anything."""
        return 0 < self.repeats < FEW

    def text(self, kind: str) -> str:
        """Write it for people, with its interval if it has one: `4.1 ms (4 ms to 4.3 ms)`."""
        said = units.text(self.median, kind)
        if self.low == self.high:
            return said
        return f"{said} ({units.text(self.low, kind)} to {units.text(self.high, kind)})"

    def __truediv__(self, other: Value) -> Value:
        """Return the ratio; the intervals' relative widths add as squares, on a log scale (first order).

        Raises `BadValue` unless both are above 0.
        """
        if not (self.low > 0 and other.low > 0):
            raise BadValue(
                f"{self.low:g} / {other.low:g} must both be above 0 to be compared as a ratio."
                " Compare times, sizes or rates that really happened."
            )
        ratio = self.median / other.median
        down = math.hypot(math.log(self.median / self.low), math.log(other.high / other.median))
        up = math.hypot(math.log(self.high / self.median), math.log(other.median / other.low))
        counts = [count for count in (self.repeats, other.repeats) if count]
        return Value(
            median=ratio,
            low=ratio * math.exp(-down),
            high=ratio * math.exp(up),
            repeats=min(counts, default=0),
            warnings=tuple(dict.fromkeys(self.warnings + other.warnings)),
        )


def exactly(number: float) -> Value:
    """Return a number with an interval of no width: modeled, published, or agreed."""
    return Value(median=float(number), low=float(number), high=float(number))


def value(thing: Value | Sample | float) -> Value:
    """Return whatever is given as a `Value`: of a sample its time, with interval, repeats and warnings."""
    if isinstance(thing, Sample):
        low, high = thing.interval_s()
        repeats, warnings = len(thing.seconds), thing.warnings()
        return Value(median=thing.median_s, low=low, high=high, repeats=repeats, warnings=warnings)
    return thing if isinstance(thing, Value) else exactly(thing)
