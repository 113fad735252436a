"""A class in small: a few kernels open the start notebook at the same moment, and share one cupboard."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import nbformat
import psutil
import pytest

from readahead import paths
from readahead.chapters import chapter

KERNELS = 4


class Watch(threading.Thread):
    """Looks into the cupboard and at the kernels' memory until it is told to stop."""

    def __init__(self, cache: Path, processes: list[subprocess.Popen[str]]) -> None:
        super().__init__(daemon=True)
        self.cache, self.processes, self.over = cache, processes, threading.Event()
        self.built: dict[str, set[tuple[int, int]]] = {}
        """Every (inode, time of writing) that a dataset was ever seen with: one each, if it was built once."""
        self.kernels: dict[int, int] = {}
        """The most memory of its own that each kernel had, in bytes."""

    def run(self) -> None:
        """Look five times a second."""
        while not self.over.wait(0.2):
            for path in self.cache.glob("datasets/*.parquet"):
                found = path.stat()
                self.built.setdefault(path.name, set()).add((found.st_ino, found.st_mtime_ns))
            for process in self.processes:
                try:
                    for child in psutil.Process(process.pid).children(recursive=True):
                        if child.ppid() in self.kernels:
                            continue  # a kernel starts a program: until that has begun it goes by the kernel's name
                        if "ipykernel_launcher" in " ".join(child.cmdline()):
                            own = child.memory_full_info().uss
                            self.kernels[child.pid] = max(self.kernels.get(child.pid, 0), own)
                except psutil.Error:
                    continue  # it has ended meanwhile


def first_minute(folder: Path) -> Path:
    """Return a copy of the start notebook that ends with its panel: what a class opens at the same moment."""
    notebook = nbformat.read(paths.NOTEBOOKS / "00_start_here.ipynb", as_version=4)
    panel = next(n for n, cell in enumerate(notebook.cells) if "explore(" in cell.source)
    notebook.cells = notebook.cells[: panel + 1]
    path = folder / "00_start_here.ipynb"
    nbformat.write(notebook, path)
    return path


def calibrated_in(cache: Path) -> None:
    """Give a new cache the costs of the engine: on a busy machine each kernel would calibrate, again and again."""
    experiment = chapter("start_here").experiment
    cache.mkdir()
    for one in experiment.calibrations(experiment.settings(size="tiny")):
        one.ensure()
        shutil.copy(one.path, cache)


@pytest.mark.notebook
def test_kernels_at_once_share_one_cache_and_build_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache = tmp_path / "cache"
    calibrated_in(cache)
    env = {**os.environ, "READAHEAD_CACHE": str(cache), "READAHEAD_REPEATS": "1"}
    start = [sys.executable, "-m", "readahead", "run", str(first_minute(tmp_path))]
    begun_s = time.monotonic()
    processes = [
        subprocess.Popen(
            [*start, "--out", str(tmp_path / f"out{n}"), "-p", "size", "tiny"],
            env=env,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for n in range(KERNELS)
    ]
    watch = Watch(cache, processes)
    watch.start()
    said = [process.communicate()[1] for process in processes]
    watch.over.set()
    watch.join()
    assert [process.returncode for process in processes] == [0] * KERNELS, "\n".join(said)
    answers = [
        json.loads((tmp_path / f"out{n}" / "00_start_here.json").read_text(encoding="utf-8"))["settings"]
        for n in range(KERNELS)
    ]
    assert all(answer == answers[0] for answer in answers)
    assert watch.built and all(len(seen) == 1 for seen in watch.built.values())
    assert len(watch.kernels) == KERNELS
    assert not list(cache.rglob("*.part"))
    most = max(watch.kernels.values())
    with capsys.disabled():
        print(
            f"\n{KERNELS} kernels on one cache: {time.monotonic() - begun_s:.0f} s, at most"
            f" {most / 2**20:.0f} MiB a kernel, one build of {', '.join(watch.built)}"
        )
