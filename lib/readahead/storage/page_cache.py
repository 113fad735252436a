"""Empties the operating system's page cache of one file: what was read a moment ago comes from memory, not from the
disk."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from readahead.errors import DataError


def can_evict() -> bool:
    """Return whether this system lets a program empty one file's page cache without special rights."""
    return sys.platform == "linux" and hasattr(os, "posix_fadvise")


def require_evict() -> None:
    """Raise `DataError` where only warm runs can be measured, with the advice to do so."""
    if not can_evict():
        raise DataError(
            f"This system ({sys.platform}) gives programs no way to empty the page cache, so a cold run cannot be"
            " measured. Measure warm, or on an emulated device."
        )


def evict(path: Path) -> None:
    """Make the system forget the file's pages, so that the next read comes from the disk.

    Dirty pages cannot be dropped, so the file is written through first.
    """
    require_evict()
    with path.open("rb") as file:
        os.fsync(file)
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
