"""A larder where everything is made once. Ask for a recipe and get a path: if the file is not there it is built,
whoever asks at the same time waits, and what was broken off never counts as made.

The way of a file: lock → room on the disk? → a temporary beside it → is its content right? → rename. The manifest,
written last, is what says that a file is done.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import duckdb
from filelock import FileLock

from readahead import paths, units
from readahead.datasets import build
from readahead.datasets.recipe import Recipe
from readahead.errors import Cancelled, DataError

News = Callable[[int, int, str], None]
"""Called with (done, total, note) while a file is built."""


def path(recipe: Recipe, on_event: News | None = None, stop: threading.Event | None = None) -> Path:
    """Return the recipe's file, building it if it is not there.

    Raises `DataError` for a disk that is full or a folder that cannot be written, `Cancelled` within half a second
    of `stop` being set; neither leaves anything behind.
    """
    target = location(recipe)
    if is_built(recipe):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_suffix(".lock")):
            if not is_built(recipe):
                _build(recipe, target, on_event, stop)
    except OSError as error:
        raise DataError(
            f"{target} could not be written: {error.strerror or error}. Free some space or set READAHEAD_CACHE to a"
            " folder that can be written."
        ) from error
    return target


def location(recipe: Recipe) -> Path:
    """Return where the recipe's file is or will be."""
    return paths.cache_dir() / "datasets" / recipe.file_name


def is_built(recipe: Recipe) -> bool:
    """Return whether the file is there, whole: its length is what its manifest says."""
    target = location(recipe)
    try:
        told = json.loads(_manifest(target).read_text(encoding="utf-8"))
        return bool(told["size_bytes"] == target.stat().st_size)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _manifest(target: Path) -> Path:
    return target.with_name(target.name + ".json")


def _build(recipe: Recipe, target: Path, on_event: News | None, stop: threading.Event | None) -> None:
    """Build under the lock. Whatever an earlier build left half-done is swept first."""
    for left in target.parent.glob(target.name + ".*"):
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    target.unlink(missing_ok=True)
    need, free = 3 * recipe.estimated_bytes, shutil.disk_usage(target.parent).free
    if need > free:
        raise DataError(
            f"Dataset {recipe.table!r} of size {recipe.size!r} needs about {units.text(need, 'bytes')} in"
            f" {target.parent} while it is built, and {units.text(free, 'bytes')} is free. Choose a smaller size, or"
            " set READAHEAD_CACHE to a larger disk."
        )
    if on_event:
        on_event(
            0,
            1,
            f"building {recipe.table} ({recipe.size}), row groups of {recipe.effective_row_group_rows:,}",
        )
    part = target.with_name(f"{target.name}.part")
    try:
        _write(recipe, part, stop)
        size_bytes = part.stat().st_size
        part.replace(target)
        beside = _manifest(target).with_suffix(".json.part")
        beside.write_text(json.dumps({"size_bytes": size_bytes, "rows": recipe.rows}), encoding="utf-8")
        beside.replace(_manifest(target))
    finally:
        for left in target.parent.glob(f"{target.name}.*part*"):
            left.unlink(missing_ok=True)
    if on_event:
        on_event(1, 1, "built")


def _write(recipe: Recipe, part: Path, stop: threading.Event | None) -> None:
    """Write and check the file, giving up as soon as `stop` is set."""
    over = threading.Event()
    connection = duckdb.connect()

    def watch() -> None:
        while not over.wait(0.05):
            if stop is not None and stop.is_set():
                connection.interrupt()

    watcher = threading.Thread(target=watch, name="readahead-build", daemon=True)
    watcher.start()
    try:
        build.write(connection, recipe, part)
        _check(connection, recipe, part)
    except duckdb.Error as error:
        if stop is not None and stop.is_set():
            raise Cancelled("Building the dataset was cancelled. Nothing of it was kept.") from error
        raise DataError(
            f"DuckDB could not write {part.name}: {error}. Free some space or set READAHEAD_CACHE to a larger disk."
        ) from error
    finally:
        over.set()
        watcher.join()
        connection.close()
    if stop is not None and stop.is_set():
        raise Cancelled("Building the dataset was cancelled. Nothing of it was kept.")


def _check(connection: duckdb.DuckDBPyConnection, recipe: Recipe, part: Path) -> None:
    """Ask the file itself whether it holds what the recipe says."""
    if recipe.format == "native":
        connection.execute(f"ATTACH {build.literal(part)} AS made (READ_ONLY)")
        found = connection.execute("SELECT count(*), NULL FROM made.t").fetchone()
        connection.execute("DETACH made")
        want: tuple[int, int | None] = (recipe.rows, None)
    else:
        found = connection.execute(
            f"SELECT num_rows, num_row_groups FROM parquet_file_metadata({build.literal(part)})"
        ).fetchone()
        want = (recipe.rows, recipe.row_groups)
    if found != want:
        raise DataError(
            f"{part.name} came out with (rows, row groups) {found}, not {want}. Delete it and try again."
        )
