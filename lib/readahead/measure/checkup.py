"""A thermometer, a lamp and a list, for a laptop on the evening before. Each check looks at one thing that has spoilt a
workshop before, and says in plain words what it found and what to do about it.
"""

from __future__ import annotations

import importlib.metadata
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
from packaging.requirements import Requirement

from readahead import paths, units
from readahead.devices import Device
from readahead.errors import ReadaheadError
from readahead.measure.engine import EngineSettings
from readahead.measure.machine import this_machine
from readahead.measure.run import Query, run_emulated
from readahead.storage import page_cache
from readahead.storage.clock import RealClock
from readahead.units import GiB, MiB

FINE, NOTE, PROBLEM = "fine", "note", "problem"
ROOM_BYTES, MEMORY_BYTES = 2 * GiB, 1 * GiB
"""What the chapters take at size small: files that are built, and memory for a kernel with DuckDB in it."""
LATE = 0.05
"""A wait of a millisecond may be longer by this share before it is mentioned."""
_FRONT_ENDS = ("@jupyter-widgets/jupyterlab-manager", "anywidget")
_PAST_NETWORKS = ("nfs", "cifs", "smb", "9p", "fuse.sshfs", "afs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found."""

    about: str
    state: str
    """fine, note (works, with a limit) or problem."""
    says: str
    fix: str = ""
    """What to do; empty if all is well."""

    @property
    def line(self) -> str:
        """Return it in a line or two of plain words."""
        mark = {FINE: "✓", NOTE: "!", PROBLEM: "✗"}[self.state]
        return f"{mark} {self.about}: {self.says}" + (f"\n    → {self.fix}" if self.fix else "")


def versions(wanted: list[str] | None = None) -> Finding:
    """Check every package against the versions that the workbook was tested with."""
    named = importlib.metadata.requires("readahead") or [] if wanted is None else wanted
    wrong = []
    for requirement in map(Requirement, named):
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        try:
            found = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if not requirement.specifier.contains(found, prereleases=True):
            wrong.append(f"{requirement.name} is {found}, and {requirement.specifier} is wanted")
    python = ".".join(map(str, sys.version_info[:3]))
    if wrong:
        fix = "Run make lab again in the workbook's folder, or: pip install -r requirements.lock"
        return Finding(about="Packages", state=PROBLEM, says="; ".join(wrong) + ".", fix=fix)
    return Finding(about="Packages", state=FINE, says=f"all {len(named)} as tested, Python {python}.")


def room(free_bytes: int | None = None) -> Finding:
    """Check that the files of the chapters can be built."""
    place = paths.cache_dir()
    there = next(folder for folder in (place, *place.parents) if folder.exists())
    free = psutil.disk_usage(str(there)).free if free_bytes is None else free_bytes
    said = f"{units.text(free, 'bytes')} are free in {place}"
    if free < ROOM_BYTES:
        fix = "Free some space, set READAHEAD_CACHE to a larger disk, or keep to size = 'tiny'."
        wanted = units.text(ROOM_BYTES, "bytes")
        return Finding(about="Disk space", state=PROBLEM, says=f"{said}; {wanted} are wanted.", fix=fix)
    return Finding(about="Disk space", state=FINE, says=f"{said}.")


def memory(free_bytes: int | None = None) -> Finding:
    """Check that a kernel with DuckDB in it finds memory."""
    free = psutil.virtual_memory().available if free_bytes is None else free_bytes
    said = f"{units.text(free, 'bytes')} are free"
    if free < MEMORY_BYTES:
        fix = "Close other programs, browsers first, and keep to size = 'tiny'."
        return Finding(about="Memory", state=PROBLEM, says=f"{said}; 1 GiB is wanted.", fix=fix)
    return Finding(about="Memory", state=FINE, says=f"{said}.")


def rights(folders: tuple[Path, ...] | None = None) -> Finding:
    """Check that files may be written where the workbook writes: what is built, and the notebooks themselves."""
    for folder in folders or (paths.work_dir(), paths.NOTEBOOKS):
        try:
            paths.require_writable(folder)
        except OSError as error:
            return Finding(
                about="Write rights",
                state=PROBLEM,
                says=f"{folder} cannot be written ({error.strerror or error}).",
                fix="Copy the workbook to a folder of your own, and set READAHEAD_CACHE to another.",
            )
    if folders is None and paths.work_dir() != paths.cache_dir():
        return Finding(
            about="Write rights",
            state=NOTE,
            says=f"{paths.cache_dir()} can only be read: the tables in it can be used, and none be added.",
            fix="Have it filled beforehand (docs/hosting.md), or set READAHEAD_CACHE to a folder of your own.",
        )
    return Finding(about="Write rights", state=FINE, says="files can be built and notebooks saved.")


def widgets(prefixes: tuple[Path, ...] = (Path(sys.prefix),)) -> Finding:
    """Check that JupyterLab will find the front ends of the sliders and the charts."""
    homes = [prefix / "share" / "jupyter" / "labextensions" for prefix in prefixes]
    lost = [
        name for name in _FRONT_ENDS if not any((home / name / "package.json").exists() for home in homes)
    ]
    if lost:
        return Finding(
            about="Widgets",
            state=PROBLEM,
            says=f"JupyterLab would not find {', '.join(lost)}: sliders would show as text.",
            fix="Start JupyterLab by make lab, so that it is the one of .venv.",
        )
    return Finding(about="Widgets", state=FINE, says="sliders and charts are installed for this JupyterLab.")


def forgetting() -> Finding:
    """Check whether cold runs can be measured."""
    if page_cache.can_evict():
        return Finding(
            about="Page cache", state=FINE, says="can be emptied for a file: cold runs are possible."
        )
    return Finding(
        about="Page cache",
        state=NOTE,
        says=f"{sys.platform} has no way to empty it: runs on your own disk are warm.",
        fix="Nothing to do: the emulated device is as cold as it says.",
    )


def cache_place(file_system: str | None = None) -> Finding:
    """Check that the built files do not lie across a network."""
    kind = file_system or this_machine().file_system
    if kind.lower().startswith(_PAST_NETWORKS):
        return Finding(
            about="File system",
            state=NOTE,
            says=f"the files lie on {kind}: your own disk is somebody else's, across a network.",
            fix="Set READAHEAD_CACHE to a folder on this machine.",
        )
    return Finding(about="File system", state=FINE, says=f"{kind}.")


def cores(count: int | None = None) -> Finding:
    """Check that DuckDB and the sliders need not share one core."""
    found = count or this_machine().cores
    if found < 2:
        return Finding(
            about="Cores",
            state=NOTE,
            says="there is one: while DuckDB measures, sliders answer late.",
            fix="Take the tick from 'when a slider rests' and press Measure yourself.",
        )
    return Finding(about="Cores", state=FINE, says=f"{found}.")


def timer(waits: int = 60) -> Finding:
    """Check how late the machine wakes who waits a millisecond: the emulated device lives by it."""
    clock, late = RealClock(), []
    for _ in range(waits):
        due_s = clock.now_s() + 0.001
        clock.wait_until(due_s)
        late.append((clock.now_s() - due_s) / 0.001)
    middle = statistics.median(late)
    said = f"a wait of 1 ms is {units.text(middle, '1')} too long"
    if middle > LATE:
        fix = "Plug the laptop in, close other programs, or turn Slow motion under More knobs."
        return Finding(
            about="Timer", state=NOTE, says=f"{said}: very fast devices come out too slow.", fix=fix
        )
    return Finding(about="Timer", state=FINE, says=f"{said}.")


def trial() -> Finding:
    """Run one small query through the emulated device, and see that it was delayed."""
    import duckdb

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trial's.parquet"
        target = str(path).replace("'", "''")
        duckdb.sql(f"COPY (SELECT range AS n FROM range(20000)) TO '{target}'")
        device = Device(name="trial", latency_s=0.02, bandwidth_bytes_per_s=100 * MiB, channels=1)
        query = Query(sql="SELECT sum(n) FROM {table}", path=path)
        try:
            sample = run_emulated(query, device, EngineSettings(threads=1), repeats=2)
        except ReadaheadError as error:
            return Finding(
                about="A query", state=PROBLEM, says=str(error), fix="Run make test and report it."
            )
    waited_s = len(sample.reads) * device.latency_s
    if sample.answer != (199990000,) or sample.median_s < waited_s:
        return Finding(
            about="A query",
            state=PROBLEM,
            says=f"DuckDB {this_machine().duckdb} did not go through the emulated device.",
            fix="Run make test and report it with the name of your system.",
        )
    took = units.text(sample.median_s, "s")
    return Finding(
        about="A query", state=FINE, says=f"{len(sample.reads)} reads through the emulated device in {took}."
    )


CHECKS: tuple[Callable[[], Finding], ...] = (
    versions, rights, room, memory, cores, widgets, trial, timer, forgetting, cache_place,
)  # fmt: skip


def checkup() -> Iterator[tuple[Finding, float]]:
    """Yield each finding, and the seconds its check took. A check that fails itself is a problem, never a traceback."""
    for check in CHECKS:
        start_s = time.perf_counter()
        try:
            found = check()
        except Exception as error:  # noqa: BLE001 - whatever fails is what the doctor was called for
            said = f"the check failed: {type(error).__name__}: {error}."
            fix = "Run make test and report it with the name of your system."
            found = Finding(about=check.__name__.capitalize(), state=PROBLEM, says=said, fix=fix)
        yield found, time.perf_counter() - start_s
