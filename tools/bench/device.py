"""Benchmarks the emulated device: its cost where it should cost nothing, its error where it should be on time."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np

from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure.run import EngineSettings, Query, engine
from readahead.storage.emulated import EmulatedFileSystem, pread_for
from tools.bench.figure import Figure

INSTANT = Device(name="instant", latency_s=0.0, bandwidth_bytes_per_s=1e15, channels=64)
READ_BYTES = 65_536


def against_native(*, repeats: int = 15) -> list[Figure]:
    """Compare DuckDB through the emulated device without delay with DuckDB's own reader, warm, run by run."""
    path = store.path(Recipe(table="comments", size="small"))
    table = Recipe(table="comments").source
    figures = []
    for what, select, aim in (
        ("full-width scan", table.every_column, 0.9),
        ("scan of one column", "sum(post_id)", 0.75),
    ):
        query = Query(sql=f"SELECT {select} FROM {{table}}", path=path)
        native, emulated = _alternate(query, repeats)
        ratio = float(np.median(native) / np.median(emulated))
        samples = {"native_s": native, "emulated_s": emulated}
        figures.append(
            Figure(
                name=f"emulated device at zero latency, {what}",
                value=ratio,
                unit="of native speed",
                aim=aim,
                at_least=True,
                samples=samples,
            )
        )
    return figures


def _alternate(query: Query, repeats: int) -> tuple[list[float], list[float]]:
    """Time both readers in turns, so that what disturbs one disturbs the other."""
    filesystem = EmulatedFileSystem(INSTANT)
    native: list[float] = []
    emulated: list[float] = []
    with engine(EngineSettings(), filesystem) as connection, filesystem.instant():
        for turn in range(repeats + 2):
            for through_us, seconds in ((False, native), (True, emulated)):
                sql = query.texts(emulated=through_us)[0]
                start_s = time.perf_counter()
                connection.execute(sql).fetchall()
                if turn >= 2:  # two turns to warm up
                    seconds.append(time.perf_counter() - start_s)
    return native, emulated


def cost_per_read(*, reads: int = 20_000) -> list[Figure]:
    """Time reads of 64 KiB through the emulated file, without delay, less the same reads of the plain file."""
    path = store.path(Recipe(table="comments", size="small"))
    offsets = np.random.default_rng(1).integers(0, path.stat().st_size - READ_BYTES, reads).tolist()
    filesystem = EmulatedFileSystem(INSTANT)
    costs = []
    with filesystem.open(str(path)) as file, path.open("rb") as plain:
        pread = pread_for(plain.fileno())
        for _ in range(7):
            filesystem.fresh()
            start_s = time.perf_counter()
            for offset in offsets:
                file.seek(offset)
                file.read(READ_BYTES)
            middle_s = time.perf_counter()
            for offset in offsets:
                pread(READ_BYTES, offset)
            costs.append((2 * middle_s - start_s - time.perf_counter()) / reads)
    return [
        Figure(
            name="cost of one emulated read of 64 KiB, over a plain one",
            value=float(np.median(costs)) * 1e6,
            unit="µs",
            aim=20,
            samples={"cost_s": costs},
        )
    ]


def delivered_latency(*, seconds_each: float = 0.6) -> list[Figure]:
    """Ask for latencies at several depths and compare with what was delivered, read by read."""
    path = store.path(Recipe(table="comments_narrow", size="tiny"))
    figures, errors_in_aim = [], []
    for latency_s in (0.0005, 0.001, 0.004, 0.008):
        for depth in (1, 2, 4, 8, 16, 32):
            delivered = _deliver(path, latency_s, depth, max(8, int(seconds_each / latency_s)))
            errors = np.abs(np.array(delivered) / latency_s - 1)
            if latency_s >= 0.001 and depth <= 8:
                errors_in_aim.extend(errors.tolist())
            figures.append(
                Figure(
                    name=f"delivered against asked latency, {latency_s * 1e3:g} ms, {depth} in flight",
                    value=float(np.median(errors)) * 100,
                    unit="% median error",
                    samples={"delivered_s": delivered},
                    note=f"p90 {np.quantile(errors, 0.9) * 100:.2g} %",
                )
            )
    whole = Figure(
        name="delivered against asked latency, from 1 ms, up to 8 in flight",
        value=float(np.median(errors_in_aim)) * 100,
        unit="% median error",
        aim=0.3,
        samples={"error": errors_in_aim},
        note=f"p90 {np.quantile(errors_in_aim, 0.9) * 100:.2g} %",
    )
    return [*figures, whole]


def _deliver(path: Path, latency_s: float, depth: int, reads_each: int) -> list[float]:
    """Return the time from request to bytes of every read, with `depth` threads asking."""
    device = Device(name="probe", latency_s=latency_s, bandwidth_bytes_per_s=1e15, channels=depth)
    filesystem = EmulatedFileSystem(device)
    file = filesystem.open(str(path))

    def ask(seed: int) -> None:
        for number in range(reads_each):
            file.seek((seed * 7919 + number * 4096) % (file.size - 4096))
            file.read(4096)

    askers = [threading.Thread(target=ask, args=(n,)) for n in range(depth)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    file.close()
    return [read.done_s - read.submitted_s for read in filesystem.trace.reads(start_s=0.0)]
