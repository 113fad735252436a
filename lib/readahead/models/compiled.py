"""Machine code from plain loops, by numba, kept on the disk for the next kernel.

Where nothing can be compiled, the same functions run as Python, some hundred times slower.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from readahead import paths


def _folder() -> Path:
    """Return where machine code is kept: beside the built files, for the package may stand where none can be written.

    Numba looks whether a function's own file has changed, but not those of the functions it calls; hence the digest.
    """
    digest = hashlib.sha256()
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    return paths.work_dir() / "compiled" / digest.hexdigest()[:12]


os.environ.setdefault("NUMBA_CACHE_DIR", str(_folder()))

try:
    import numba
except (ImportError, OSError):  # not installed, or its compiler cannot be loaded here
    numba = None  # type: ignore[assignment]

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Return a function over numbers and arrays, compiled at its first call and kept on the disk."""
    if numba is None:
        return function
    quick: Any
    try:
        quick = numba.njit(cache=True)(function)
    except RuntimeError:  # there is no folder to keep it in
        quick = numba.njit(function)
    return quick  # type: ignore[no-any-return]
