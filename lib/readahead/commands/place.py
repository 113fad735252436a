"""A table that is laid before the meal: whether what comes out at the end will have a place."""

from __future__ import annotations

from pathlib import Path

from readahead import paths
from readahead.errors import DataError


def require_place(path: Path) -> None:
    """Make the folder of a file that is to be written later.

    Raises `DataError` if it cannot be written, so that this is known before anything is measured for it.
    """
    try:
        paths.require_ordinary(path)
        paths.require_writable(path.parent)
    except OSError as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror or error}. Give a file in a folder that you may write."
        ) from error
