"""A folder for the files that one measurement writes, on the disk of the datasets, removed afterwards."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from readahead import paths
from readahead.errors import DataError


@contextmanager
def work_folder(prefix: str) -> Iterator[Path]:
    """Give a folder of one's own, which is removed in any case.

    Raises `DataError` if it cannot be made, and for any OSError inside the block: a disk that is full, most often.
    """
    parent = paths.work_dir()
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=prefix, dir=parent, ignore_cleanup_errors=True) as folder:
            yield Path(folder)
    except OSError as error:
        raise DataError(
            f"The files of a measurement could not be written to {parent}: {error.strerror or error}."
            " Free some space there, or set READAHEAD_CACHE to another folder that can be written."
        ) from error
