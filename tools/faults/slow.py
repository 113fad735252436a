"""What is slow, fails or goes away: an emulated device, and the workers and the scheduler of a cluster."""

from __future__ import annotations

import functools
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import psutil

from readahead.chapters.scale_out.cluster import Cluster, Part, answer, merged, warm
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.errors import Cancelled, ReadaheadError
from readahead.measure.run import EngineSettings, Query, run_emulated
from readahead.running import listening
from readahead.storage import emulated
from tools.faults.processes import PATIENCE_S, held
from tools.faults.races import CHECKED, table

Pread = Callable[[int, int], bytes]


def _faulty(rng: random.Random) -> Callable[[int], Pread]:
    """Return what opens files of a device that stalls, returns too few bytes or too many, or fails: one read or all."""
    kind = rng.choice(("stalls", "short", "empty", "long", "fails"))
    first, last = rng.choice(((1, 1), (1, 10**9), (100, 100), (rng.randrange(1, 200),) * 2))
    opened: Callable[[int], Pread] = emulated.pread_for
    count = 0

    def open_one(number: int) -> Pread:
        inner = opened(number)

        def pread(size: int, offset: int) -> bytes:
            nonlocal count
            count += 1
            if not first <= count <= last:
                return inner(size, offset)
            if kind == "fails":
                raise OSError(5, "Input/output error")
            if kind == "stalls":
                time.sleep(0.3 if first == last else 0.002)
            asked = {"short": size // 2, "empty": 0}.get(kind, size)
            return inner(asked, offset) + b"more" * (kind == "long")

        return pread

    return open_one


def device_fails(rng: random.Random, _folder: Path) -> str:
    """Measure on a device that stalls, returns too few bytes, or fails: the right answer comes, or one sentence."""
    path, right = table()
    device = Device(name="faulty", latency_s=1e-4, bandwidth_bytes_per_s=1e9, channels=4)
    settings = EngineSettings(threads=rng.randint(1, 4), queue_depth=rng.choice((1, 8)))
    before, begun_s = held(), time.monotonic()
    with mock.patch.object(emulated, "pread_for", _faulty(rng)):
        try:
            sample = run_emulated(Query(sql=CHECKED, path=path), device, settings, repeats=2)
            if sample.answer != right:
                return f"DuckDB read other rows: {sample.answer}, not {right}"
        except ReadaheadError as error:
            if "Traceback" in str(error) or "\n" in str(error):
                return f"it said: {error}"
    if time.monotonic() - begun_s > PATIENCE_S:
        return "it took too long"
    return f"it holds {held()} threads and files, {before} before" if held() > before else ""


# -- a cluster ---------------------------------------------------------------------------------------------
SUMS = "SELECT count(*), sum(id), sum(score) FROM {table}"
_started: list[subprocess.Popen[bytes]] = []


def _dask(*words: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, "-m", *words], env=environment, stdout=quiet, stderr=quiet, start_new_session=True
    )
    _started.append(process)
    return process


@functools.cache
def _cluster() -> tuple[Cluster, psutil.Process]:
    """Start a scheduler and two workers as processes of their own; return the coordinator and the scheduler."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = str(door.getsockname()[1])
    at = ("--host", "127.0.0.1")
    scheduler = _dask(
        "distributed.cli.dask_scheduler", *at, "--port", port, "--dashboard-address", ":0", "--no-show"
    )
    for name in "01":
        _dask(
            "distributed.cli.dask_worker", f"tcp://127.0.0.1:{port}", *at, "--nthreads", "4", "--no-dashboard",
            "--name", name, "--death-timeout", "60",
        )  # fmt: skip
    own, end_s = Cluster(f"tcp://127.0.0.1:{port}").open(), time.monotonic() + PATIENCE_S
    while len(own.addresses) < 2 and time.monotonic() < end_s:
        time.sleep(0.1)
    return own, psutil.Process(scheduler.pid)


def end() -> None:
    """End the cluster that the trials share."""
    if _cluster.cache_info().currsize:
        _cluster()[0].close()
        _cluster.cache_clear()
    for process in _started:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    _started.clear()


def cluster_harmed(rng: random.Random, _folder: Path) -> str:
    """Kill or stop a worker or the scheduler during a query: the answer comes or a sentence, and then the next."""
    own, scheduler = _cluster()
    device = Device(name="far", latency_s=0.02, bandwidth_bytes_per_s=2e8, channels=32)
    parts = [
        Part(
            node=at, recipe=Recipe(table="comments_narrow", size="tiny", row_group_rows=2_048, part=at, parts=2),
            device=device, engine=EngineSettings(threads=1, queue_depth=1), sql=SUMS,
            copy_on=1 - at if rng.random() < 0.5 else None,
        ) for at in range(2)
    ]  # fmt: skip
    warm(own, parts)
    right = merged(own.run(answer, parts))
    worker = psutil.Process(rng.choice(list(own._client.run(os.getpid).values())))
    harmed = rng.choice((worker, worker, scheduler))
    kills = rng.random() < (0.2 if harmed is scheduler else 0.5)
    cancelled, stop = rng.random() < 0.3, threading.Event()
    timers = [threading.Timer(rng.uniform(0, 1), harmed.kill if kills else harmed.suspend)]
    timers += [] if kills else [threading.Timer(rng.uniform(2, 6), harmed.resume)]
    timers += [threading.Timer(rng.uniform(0, 2), stop.set)] if cancelled else []
    for timer in timers:
        timer.start()
    begun_s, fault = time.monotonic(), ""
    try:
        with listening(None, stop):
            if (found := merged(own.run(answer, parts))) != right:
                fault = f"it answered {found}, not {right}"
    except (ReadaheadError, Cancelled) as error:
        fault = f"it said: {error}" if "\n" in str(error) else ""
    took_s = time.monotonic() - begun_s
    for timer in timers:
        timer.join()
    if took_s > PATIENCE_S:
        fault = f"it took {took_s:.0f} s"
    if kills and harmed is scheduler:
        end()
    elif not fault and merged(own.open().run(answer, parts)) != right:
        fault = "the next answer is another"
    return fault
