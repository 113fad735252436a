"""Every test has a cache of its own, empty at the start."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

LIB = Path(__file__).resolve().parents[2] / "lib"
Start = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which this test's datasets will lie."""
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "datasets"


@pytest.fixture
def start(cache: Path) -> Iterator[Start]:
    """Return a function that starts a Python program as a process of its own on the same cache."""
    running: list[subprocess.Popen[str]] = []

    def begin(program: str) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(LIB), *filter(None, [os.environ.get("PYTHONPATH")])])
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield begin
    for process in running:
        process.kill()
        process.communicate()
