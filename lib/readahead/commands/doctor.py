"""Check packages, disk, memory, timer and widgets, and say what to do about each fault.

`python -m readahead doctor` runs it. A check returns a sentence if all is well. Otherwise it raises `Problem` or
`Note`: what was found, and what to do.
"""

from __future__ import annotations

import importlib.metadata
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import duckdb
import psutil
from click.exceptions import Exit
from jupyter_core.paths import jupyter_path
from packaging.requirements import Requirement

from readahead import paths, units
from readahead.datasets.build import literal
from readahead.devices import Device
from readahead.errors import ReadaheadError
from readahead.measure.run import EngineSettings, Query, run_emulated
from readahead.measure.sample import this_machine
from readahead.storage import page_cache
from readahead.storage.emulated import Clock
from readahead.units import GiB, MiB

WANTED_DISK_BYTES, WANTED_MEMORY_BYTES = 2 * GiB, 1 * GiB
"""What the chapters take at size small: files that are built, and memory for a kernel with DuckDB in it."""
LATE = 0.05
"""A wait of a millisecond may be longer by this share before it is mentioned."""
_FRONT_ENDS = ("@jupyter-widgets/jupyterlab-manager", "anywidget")
_NETWORK_FILE_SYSTEMS = ("nfs", "cifs", "smb", "9p", "fuse.sshfs", "afs")
_REPORT = "Run make test and report it with the name of your system."


class Problem(Exception):
    """Something to mend before the session: what was found, and what to do."""

    mark = "✗"


class Note(Problem):
    """Something that works, with a limit."""

    mark = "!"


def packages(wanted: list[str] | None = None) -> str:
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
    if wrong:
        fix = "Run make lab again in the workbook's folder, or install the workbook anew."
        raise Problem(f"{'; '.join(wrong)}.", fix)
    return f"all {len(named)} as tested, Python {'.'.join(map(str, sys.version_info[:3]))}."


def write_rights(folders: tuple[Path, ...] | None = None) -> str:
    """Check that files may be written where the workbook writes: what is built, and the notebooks themselves."""
    for folder in folders or (paths.work_dir(), paths.NOTEBOOKS if paths.IS_CHECKOUT else paths.ROOT):
        try:
            paths.require_writable(folder)
        except OSError as error:
            fix = (
                "Copy the notebooks to a folder of your own, `python -m readahead lab FOLDER`, and set READAHEAD_CACHE"
                " to another, and READAHEAD_PROGRESS to a file in it."
            )
            raise Problem(f"{folder} cannot be written ({error.strerror or error}).", fix) from error
    if folders is None and paths.work_dir() != paths.cache_dir():
        raise Note(
            f"{paths.cache_dir()} can only be read: the tables in it can be used, and none be added.",
            "Have it filled beforehand (docs/hosting.md), or set READAHEAD_CACHE to a folder of your own.",
        )
    return "files can be built and notebooks saved."


def disk_space(free_bytes: int | None = None) -> str:
    """Check that the files of the chapters can be built."""
    place = paths.cache_dir()
    there = next(folder for folder in (place, *place.parents) if folder.exists())
    free = psutil.disk_usage(str(there)).free if free_bytes is None else free_bytes
    fix = "Free some space, set READAHEAD_CACHE to a larger disk, or keep to size = 'tiny'."
    return _enough(free, WANTED_DISK_BYTES, f" in {place}", fix)


def _enough(free: int, wanted: int, where: str, fix: str) -> str:
    said = f"{units.text(free, 'bytes')} are free{where}"
    if free < wanted:
        raise Problem(f"{said}; {units.text(wanted, 'bytes')} are wanted.", fix)
    return f"{said}."


def memory(free_bytes: int | None = None) -> str:
    """Check that a kernel with DuckDB in it finds memory."""
    free = psutil.virtual_memory().available if free_bytes is None else free_bytes
    fix = "Close other programs, browsers first, and keep to size = 'tiny'."
    return _enough(free, WANTED_MEMORY_BYTES, "", fix)


def cores(count: int | None = None) -> str:
    """Check that DuckDB and the sliders need not share one core."""
    found = count or this_machine().cores
    if found < 2:
        fix = "Take the tick from 'when a slider rests' and press Measure yourself."
        raise Note("there is one: while DuckDB measures, sliders answer late.", fix)
    return f"{found}."


def widgets(places: Sequence[str] | None = None) -> str:
    """Check that JupyterLab will find the front ends of the sliders and the charts."""
    homes = [Path(place) for place in places or jupyter_path("labextensions")]
    lost = [
        name for name in _FRONT_ENDS if not any((home / name / "package.json").exists() for home in homes)
    ]
    if lost:
        fix = "Start JupyterLab by make lab, so that it is the one of .venv."
        raise Problem(f"JupyterLab would not find {', '.join(lost)}: sliders would show as text.", fix)
    return "sliders and charts are installed for this JupyterLab."


def query() -> str:
    """Run one small query through the emulated device, and see that it was delayed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trial's.parquet"
        duckdb.sql(f"COPY (SELECT range AS n FROM range(20000)) TO {literal(path)}")
        device = Device(name="trial", latency_s=0.02, bandwidth_bytes_per_s=100 * MiB, channels=1)
        asked = Query(sql="SELECT sum(n) FROM {table}", path=path)
        try:
            sample = run_emulated(asked, device, EngineSettings(threads=1), repeats=2)
        except ReadaheadError as error:
            raise Problem(str(error), _REPORT) from error
    if sample.answer != (199990000,) or sample.median_s < len(sample.reads) * device.latency_s:
        raise Problem(f"DuckDB {duckdb.__version__} did not go through the emulated device.", _REPORT)
    return f"{len(sample.reads)} reads through the emulated device in {units.text(sample.median_s, 's')}."


def timer(waits: int = 60) -> str:
    """Check how late the machine wakes who waits a millisecond: the emulated device lives by it."""
    clock, late = Clock(), []
    for _ in range(waits):
        due_s = clock.now_s() + 0.001
        clock.wait_until(due_s)
        late.append((clock.now_s() - due_s) / 0.001)
    middle = statistics.median(late)
    said = f"a wait of 1 ms is {units.text(middle, '1')} too long"
    if middle > LATE:
        fix = "Plug the laptop in, close other programs, or turn Slow motion under More knobs."
        raise Note(f"{said}: very fast devices come out too slow.", fix)
    return f"{said}."


def eviction() -> str:
    """Check whether cold runs can be measured."""
    if not page_cache.can_evict():
        fix = "Nothing to do: the emulated device is as cold as it says."
        raise Note(f"{sys.platform} has no way to empty it: runs on your own disk are warm.", fix)
    return "can be emptied for a file: cold runs are possible."


def file_system(kind: str | None = None) -> str:
    """Check that the built files do not lie across a network."""
    kind = kind or this_machine().file_system
    if kind.lower().startswith(_NETWORK_FILE_SYSTEMS):
        fix = "Set READAHEAD_CACHE to a folder on this machine."
        raise Note(f"the files lie on {kind}: your own disk is somebody else's, across a network.", fix)
    return f"{kind}."


CHECKS: dict[str, Callable[[], str]] = {
    "Packages": packages,
    "Write rights": write_rights,
    "Disk space": disk_space,
    "Memory": memory,
    "Cores": cores,
    "Widgets": widgets,
    "A query": query,
    "Timer": timer,
    "Page cache": eviction,
    "File system": file_system,
}


def look(about: str, check: Callable[[], str]) -> tuple[str, str]:
    """Return the mark of a check (✓, ! or ✗) and what it says. One that fails itself is a problem, no traceback."""
    try:
        return "✓", f"✓ {about}: {check()}"
    except Problem as found:
        mark, (says, fix) = found.mark, found.args
    except Exception as error:  # noqa: BLE001 - whatever fails is what the doctor was called for
        mark, says, fix = "✗", f"the check failed: {type(error).__name__}: {error}.", _REPORT
    return mark, f"{mark} {about}: {says}\n    → {fix}"


@click.command()
def doctor() -> None:
    """Check this machine for a workshop; the exit code is 1 if something has to be mended."""
    marks = []
    for about, check in CHECKS.items():
        mark, line = look(about, check)
        click.echo(line)
        marks.append(mark)
    problems, notes = marks.count("✗"), marks.count("!")
    if problems:
        click.echo(f"\n{problems} to mend before the session.")
        raise Exit(1)
    click.echo(f"\nReady{f', with {notes} to know about' if notes else ''}.")
