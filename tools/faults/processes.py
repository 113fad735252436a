"""What all trials use: processes that meet a fault, and what is left lying afterwards."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from unittest import mock

import psutil

from readahead.datasets import store

PATIENCE_S = 60.0
"""How long a process may take that nothing has happened to."""
PROMISED_S = 0.5
"""How soon cancelled work is to be over."""
KEPT = tempfile.TemporaryDirectory(prefix="readahead-faults-")
"""For what all trials use."""
Trial = Callable[[random.Random, Path], str]


# -- processes that meet a fault ---------------------------------------------------------------------------
def start(
    code: str, folder: Path, *arguments: str, before: Sequence[str] = (), **more: Any
) -> subprocess.Popen[str]:
    """Start Python in a folder, whose `cache` is its cache, and wait until it says that it is ready.

    `before` are words of a command that runs it; `more` are options of Popen.
    """
    environment = os.environ | {"READAHEAD_CACHE": str(folder / "cache"), "READAHEAD_RUN": ""}
    child = subprocess.Popen(
        [*before, sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        **more,
    )
    assert child.stdout is not None
    if (said := child.stdout.readline()) != "ready\n":
        raise RuntimeError(f"It did not begin: {said}{child.stdout.read()}")
    return child


def kill(child: subprocess.Popen[str], after_s: float, *, all_of_it: bool = False) -> str:
    """Kill a process after a while, if all of it with what it started, and return what it had said."""
    try:
        child.wait(after_s)
    except subprocess.TimeoutExpired:
        if all_of_it:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
    return child.communicate()[0]


def cache(folder: Path) -> AbstractContextManager[Any]:
    """Make a folder the cache of this process for a while."""
    return mock.patch.dict(os.environ, READAHEAD_CACHE=str(folder))


def lying(folder: Path) -> set[str]:
    """Return the names of the files in a folder and below it, but for locks."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.name for path in found if path.parent.name != store.LOCKS and path.suffix != ".lock"}


def held() -> int:
    """Return how many threads and open files this process has."""
    return threading.active_count() + int(psutil.Process().num_fds())


class Cancel:
    """An order to stop at a random moment, and how long ago it was given."""

    def __init__(self, after_s: float) -> None:
        self.stop = threading.Event()
        self._given_s = 0.0
        self._timer = threading.Timer(after_s, self._give)
        self._timer.start()

    def _give(self) -> None:
        self._given_s = time.monotonic()
        self.stop.set()

    def late(self) -> str:
        """Say so if the work was over later than promised."""
        took_s = time.monotonic() - self._given_s
        return f"cancelled, it was over after {took_s:.2f} s" if took_s > PROMISED_S else ""

    def end(self) -> None:
        """Give no order any more."""
        self._timer.cancel()
        self._timer.join()
