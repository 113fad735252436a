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
from readahead.errors import DataError

MAGIC = b"PAR1"
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
        files = _listed(asked)
        sizes = [path.stat().st_size for path in files]
    except PermissionError as error:
        raise DataError(
            f"{error.filename} may not be read by you. Change its rights, or give a path that you may read."
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{asked} cannot be read: {error}. Give a file, a folder or a pattern.") from error
    total = len(files)
    if total == 1 and _is_database(files[0]):
        return Found(kind="duckdb", files=(files[0],), total_files=1, total_bytes=sizes[0], small_files=0)
    step, good, bad = max(1.0, total / MOST_LOOKED_AT), [], []
    for path in (files[int(n * step)] for n in range(min(total, MOST_LOOKED_AT))):
        try:
            footer_length(path)
            good.append(path)
        except DataError as error:
            bad.append(str(error))
    if not good:
        raise DataError(
            bad[0] if total == 1 else f"None of {len(bad)} files can be read. The first: {bad[0]}"
        )
    return Found(
        kind="parquet",
        files=tuple(good),
        total_files=total,
        total_bytes=sum(sizes),
        small_files=sum(size < 2**20 for size in sizes),
        damaged=tuple(bad),
    )


def footer_length(path: Path) -> int:
    """Return the length of a Parquet file's metadata, from its last eight bytes.

    Raises `DataError` that says why a file is no Parquet file to be read.
    """
    try:
        with path.open("rb") as file:
            head, size = file.read(4), file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 8))
            end = file.read()
    except OSError as error:
        raise DataError(
            f"{path} cannot be read: {error.strerror}. Change its rights, or give another file."
        ) from error
    length, tail = int.from_bytes(end[:4], "little"), end[-4:]
    says = f"({size} bytes) does not end as a Parquet file does. Build or copy it again."
    if not size:
        says = "is empty (0 bytes). Give a file that was written to its end."
    elif b"PARE" in (head, tail):
        says = "is an encrypted Parquet file, whose metadata cannot be read. Give a decrypted copy."
    elif tail != MAGIC and head == MAGIC:
        says = "is cut off: it begins as a Parquet file and has no footer. Copy or write it again."
    elif tail != MAGIC:
        says = (
            "is neither a Parquet file nor a DuckDB database. Give one of these, or a folder of the former."
        )
    elif length + 12 <= size:
        return length
    raise DataError(f"{path} {says}")


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(12)[8:] == b"DUCK"
    except OSError:
        return False


def _listed(asked: str) -> list[Path]:
    """Return the files that are meant, by name. A name with a star in it may also be a real file."""
    path = paths.expanded(asked)
    if path.is_file():
        return [path.absolute()]
    if path.is_dir():
        found = sorted(_inside(path.absolute()))
        advice = f"The folder {path} holds no Parquet files ({', '.join(SUFFIXES)}). Give another."
    else:
        matches = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(asked) else []  # noqa: PTH207  # a pattern may be absolute
        found = [match.absolute() for match in map(Path, matches) if match.is_file()]
        advice = (
            f"{asked} is not there. Give a Parquet file, a folder or a pattern of them, or a DuckDB database."
        )
    if not found:
        raise DataError(advice)
    return found


def _inside(folder: Path) -> Iterator[Path]:
    """Yield every Parquet file below a folder, but for our own samples. Raises OSError for one that may not be read."""

    def refuse(error: OSError) -> None:
        raise error

    for place, folders, names in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(SAMPLE)]
        for name in names:
            if name.lower().endswith(SUFFIXES) and (path := Path(place, name)).is_file():
                yield path
