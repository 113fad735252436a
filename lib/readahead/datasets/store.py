"""Builds the file of a recipe once and keeps it: ask for a recipe and get a path.

Whoever asks while it is built waits, and what was broken off never counts as built. The way of a file: lock → is there
room on the disk? → built in a folder of its own → is its content right? → the old manifest away, the file to its place,
the new manifest. Only the manifest says that a file is done, so a kill between any two steps leaves nothing that
counts; the next build removes it. A folder that can only be read serves as well, as long as the file is in it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import duckdb
from filelock import FileLock, Timeout

from readahead import paths, units
from readahead.datasets.build import POLL_S, build
from readahead.datasets.recipe import Recipe
from readahead.errors import Cancelled, DataError
from readahead.running import check, stopped, tell

BUILDING, LOCKS = ".building", ".locks"
_PROBES, _PROBE_BYTES = 16, 4_096


def path(recipe: Recipe) -> Path:
    """Return the recipe's file, building it if it is not there, whole and unchanged.

    Tells of the rows done. Raises `DataError` for a disk that is full or a folder that cannot be written, `Cancelled`
    within half a second when asked to stop; neither leaves anything behind.
    """
    target = location(recipe)
    if is_built(recipe):
        return target
    usual = path(recipe.usual) if recipe.usual else None
    try:
        for folder in (BUILDING, LOCKS):
            (target.parent / folder).mkdir(parents=True, exist_ok=True)
        with _locked(recipe, target):
            if not is_built(recipe):
                require_room(
                    f"A build of {recipe.table!r} at size {recipe.size!r}",
                    recipe.build_bytes,
                    target.parent,
                    "Choose a smaller size, or set READAHEAD_CACHE to a larger disk.",
                )
                _make(recipe, target, usual)
                paths.changed()
    except (OSError, duckdb.Error) as error:
        raise _explained(error, recipe, target) from error
    return target


def location(recipe: Recipe) -> Path:
    """Return where the recipe's file is or will be."""
    return _location(recipe, paths.cache_dir())


@functools.lru_cache(maxsize=1024)
def _location(recipe: Recipe, folder: Path) -> Path:
    return folder / "datasets" / recipe.file_name


@paths.asked_once
def is_built(recipe: Recipe) -> bool:
    """Return whether the file is there as its manifest says: its length, and a sample of its bytes."""
    target = location(recipe)
    try:
        told = paths.read_json(f"{target}.json")
        return (told["size_bytes"], told["fingerprint"]) == fingerprint(target)
    except (OSError, ValueError, KeyError, TypeError):
        return False


@paths.kept  # a model asks at every point of a curve
def fingerprint(target: Path) -> tuple[int, str]:
    """Return a file's length, and a hash of 16 stretches from the first byte to the last, 64 KiB in all.

    It notices a file cut short, written over, or left full of holes by a power cut, and takes less than a
    millisecond.
    """
    digest = hashlib.sha256()
    with target.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        last = max(0, size - _PROBE_BYTES)
        for probe in range(_PROBES):
            file.seek(last * probe // (_PROBES - 1))
            digest.update(file.read(_PROBE_BYTES))
    return size, digest.hexdigest()


def _locked(recipe: Recipe, target: Path) -> AbstractContextManager[object]:
    """Wait for whoever has the file's lock, and take it. The system takes it from a holder who dies."""
    lock = FileLock(target.parent / LOCKS / f"{target.name}.lock")
    try:
        return lock.acquire(timeout=0)
    except Timeout:
        tell(0, recipe.rows, f"waiting for another build of {target.name}")
    with contextlib.suppress(Timeout):
        return lock.acquire(poll_interval=POLL_S, cancel_check=stopped)
    raise Cancelled("It was cancelled while another build was waited for. Start it again when you like.")


def remove_if_left(folder: Path, lock: FileLock) -> None:
    """Remove a folder unless somebody alive holds its lock, which may lie in it: Windows removes no open file."""
    with contextlib.suppress(Timeout, OSError):
        with lock.acquire(timeout=0):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


WORK, IN_USE = ".readahead-", "in-use.lock"
"""How the name of a folder begins that is there for a while, and the file in it that its process keeps locked."""


@contextlib.contextmanager
def _folder(name: str, place: Path) -> Iterator[Path]:
    """Give a folder that is there for a while, and remove what dead processes left at that place."""
    for left in place.glob(f"{WORK}*/{IN_USE}"):
        remove_if_left(left.parent, FileLock(left))
    folder = Path(tempfile.mkdtemp(prefix=f"{WORK}{name}-", dir=place))
    try:
        with FileLock(folder / IN_USE):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def work_folder(name: str, parent: Path | None = None) -> Iterator[Path]:
    """Give a folder of one's own for a while, in the folder for such or in `parent`. It is removed in any case; after a
    kill, by the next who asks.

    Raises `DataError` if it cannot be made, and for any OSError inside the block: a disk that is full, most often.
    """
    place = parent or paths.work_dir()
    try:
        place.mkdir(parents=True, exist_ok=True)
        with _folder(name, place) as folder:
            yield folder
    except OSError as error:
        raise DataError(
            f"Files that are needed for a while could not be written to {place}: {error.strerror or error}."
            " Free some space there, or set READAHEAD_CACHE to another folder that can be written."
        ) from error


def require_room(what: str, need_bytes: int, folder: Path, advice: str) -> None:
    """Raise `DataError` if the disk of a folder has less room than is needed."""
    free_bytes = shutil.disk_usage(folder).free
    if need_bytes > free_bytes:
        raise DataError(
            f"{what} needs about {_size(need_bytes)} in {folder}, and {_size(free_bytes)} are free. {advice}"
        )


def _make(recipe: Recipe, target: Path, usual: Path | None) -> None:
    """Build under the lock, in a folder that goes away whatever happens."""
    begun_s = time.perf_counter()
    with _folder("build", target.parent / BUILDING) as folder:
        built = build(recipe, folder, usual)
        manifest, known = folder / "manifest.json", Path(f"{target}.json")
        size, hashed = fingerprint(built)
        told = {
            "recipe": recipe.facts,
            "rows": recipe.rows,
            "row_groups": recipe.row_groups,
            "size_bytes": size,
            "fingerprint": hashed,
            "built_in_s": round(time.perf_counter() - begun_s, 4),
            "built_by_process": os.getpid(),
        }
        manifest.write_text(json.dumps(told, indent=1), encoding="utf-8")
        check()
        known.unlink(missing_ok=True)
        built.replace(target)
        manifest.replace(known)
    tell(recipe.rows, recipe.rows, "built")


def _explained(error: Exception, recipe: Recipe, target: Path) -> DataError:
    """Say what went wrong with the disk, what is needed, what is free, and where else to go."""
    there = next(place for place in target.parents if place.is_dir())
    said = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return DataError(
        f"{target} could not be written: {said}. It needs about {_size(recipe.build_bytes)} in a folder that can be"
        f" written, and {_size(shutil.disk_usage(there).free)} are free. Free some space, or set READAHEAD_CACHE to"
        " another folder."
    )


def _size(count: int) -> str:
    return f"{units.text(count, 'bytes')} ({count:,} bytes)"
