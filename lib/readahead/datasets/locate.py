"""Finds what lies at a path: Parquet files, or a DuckDB database; what cannot be read is named with its reason.

Nothing is opened for writing and nothing is read but the ends of files.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from readahead import paths
from readahead.datasets.inspect import footer_length
from readahead.errors import DataError

SUFFIXES = (".parquet", ".parq", ".pq")
SAMPLE = ".readahead-"
"""How the name of a folder begins in which a sample lies for a while: none of the learner's data."""
MOST_LOOKED_AT = 64
"""Files of a folder whose metadata is read; more are sampled evenly by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What lies at a path."""

    kind: str
    """parquet or duckdb."""
    files: tuple[Path, ...]
    """Those that are looked at."""
    total_files: int
    total_bytes: int
    """Of all files."""
    small_files: int
    """Parquet files below 1 MiB, of all."""
    damaged: tuple[str, ...] = ()
    """Why some of the files cannot be looked at, a sentence each."""


def find(asked: str) -> Found:
    """Return what lies at a path, in a folder or behind a pattern. Raises `DataError` for what cannot be advised on."""
    if not asked.strip():
        raise DataError(
            "The path is empty. Give a Parquet file, a folder or a pattern of them, or a DuckDB database."
        )
    try:
        listed = _listed(asked)
    except PermissionError as error:
        raise DataError(
            f"{error.filename} may not be read by you. Change its rights, or give a path that you may read."
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{asked} cannot be read: {error}. Give a file, a folder or a pattern.") from error
    total, first = len(listed), listed[0][0]
    if total == 1 and _is_database(first):
        return Found(kind="duckdb", files=(first,), total_files=1, total_bytes=listed[0][1], small_files=0)
    step = max(1.0, total / MOST_LOOKED_AT)
    chosen = [listed[int(n * step)][0] for n in range(min(total, MOST_LOOKED_AT))]
    good, bad = [], []
    for path in chosen:
        fault = why_not(path)
        if fault:
            bad.append(fault)
        else:
            good.append(path)
    if not good:
        raise DataError(
            bad[0] if total == 1 else f"None of {len(bad)} files can be read. The first: {bad[0]}"
        )
    return Found(
        kind="parquet",
        files=tuple(good),
        total_files=total,
        total_bytes=sum(size for _, size in listed),
        small_files=sum(size < 2**20 for _, size in listed),
        damaged=tuple(bad),
    )


def why_not(path: Path) -> str:
    """Return why a file is no Parquet file to be read, as one sentence; nothing if it is one."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(4)
            file.seek(max(0, size - 4))
            tail = file.read(4)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}. Change its rights, or give another file."
    if not size:
        return f"{path} is empty (0 bytes). Give a file that was written to its end."
    if b"PARE" in (head, tail):
        return f"{path} is an encrypted Parquet file, whose metadata cannot be read. Give a decrypted copy."
    if head == b"PAR1" and tail != b"PAR1":
        return f"{path} is cut off: it begins as a Parquet file and has no footer. Copy or write it again."
    if tail != b"PAR1":
        return f"{path} is neither a Parquet file nor a DuckDB database. Give one of these, or a folder of the former."
    try:
        footer_length(path)
    except DataError as error:
        return str(error)
    return ""


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return False


def _listed(asked: str) -> list[tuple[Path, int]]:
    """Return the files that are meant, with their bytes, by name. A name with a star in it may also be a real file."""
    path = paths.expanded(asked)
    if path.is_file() or path.is_dir():
        path = path.absolute()
        found = [(path, path.stat().st_size)] if path.is_file() else sorted(_inside(path))
        advice = f"The folder {path} holds no Parquet files ({', '.join(SUFFIXES)}). Give another."
    else:
        matches = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(asked) else []  # noqa: PTH207  # a pattern may be absolute
        found = [(p.absolute(), p.stat().st_size) for p in map(Path, matches) if p.is_file()]
        advice = (
            f"{asked} is not there. Give a Parquet file, a folder or a pattern of them, or a DuckDB database."
        )
    if not found:
        raise DataError(advice)
    return found


def _inside(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield every Parquet file below a folder, but for our own samples.

    A folder that may not be read is an error, not an empty one.
    """
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name.startswith(SAMPLE):
                    continue
                yield from _inside(Path(entry.path))
            elif entry.name.lower().endswith(SUFFIXES) and entry.is_file():
                yield Path(entry.path), entry.stat().st_size
