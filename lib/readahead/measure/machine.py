"""The machine that measures, so that numbers of two machines are never mixed."""

from __future__ import annotations

import functools
import os
import platform
from dataclasses import dataclass
from pathlib import Path

import psutil

from readahead import __version__, paths


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
    place = str(paths.cache_dir())
    mounts = [m for m in psutil.disk_partitions(all=True) if place.startswith(m.mountpoint)]
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
