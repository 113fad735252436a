"""Many at once, or at a bad moment: threads on one device, Cancel, a slider that is shaken, a kernel interrupted."""

from __future__ import annotations

import functools
import os
import random
import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
from jupyter_client.manager import KernelManager

from readahead.chapters import chapter
from readahead.datasets.build import literal
from readahead.devices import Device
from readahead.errors import Cancelled, ReadaheadError
from readahead.measure.run import EngineSettings, Query, run_emulated
from readahead.models import schedule
from readahead.panels.panel import Panel
from readahead.running import listening
from readahead.storage.emulated import EmulatedFileSystem
from tools.faults.processes import KEPT, PATIENCE_S, Cancel, held

CHECKED = "SELECT count(*), bit_xor(hash(id, h, w)) FROM {table}"


@functools.cache
def table() -> tuple[Path, tuple[object, ...]]:
    """Return a table of many row groups, and the answer of `CHECKED` on it."""
    folder = Path(KEPT.name)
    with duckdb.connect() as connection:
        sql = "SELECT i AS id, hash(i) AS h, 'word ' || i % 50 AS w FROM range(100000) r(i)"
        connection.execute(f"COPY ({sql}) TO {literal(folder / 'table.parquet')} (ROW_GROUP_SIZE 2048)")
        right = connection.execute(
            f"SELECT count(*), bit_xor(hash(id, h, w)) FROM {literal(folder / 'table.parquet')}"
        ).fetchone()
    assert right is not None
    return folder / "table.parquet", right


def device_races(rng: random.Random, _folder: Path) -> str:
    """Read through the emulated device from many threads, on one handle and by DuckDB, with forced thread switches."""
    path, right = table()
    device = Device(
        name="races", latency_s=rng.choice((0.0, 1e-5, 1e-3)), bandwidth_bytes_per_s=1e12,
        channels=rng.choice((1, 3, 64)),
    )  # fmt: skip
    before = sys.getswitchinterval()
    sys.setswitchinterval(10 ** rng.uniform(-6, -3))
    try:
        query = Query(sql="SELECT count(*), bit_xor(hash(id, h, w)) FROM {table}", path=path)
        settings = EngineSettings(threads=rng.randint(1, 8), queue_depth=rng.choice((1, 2, 7, 32)))
        sample = run_emulated(query, device, settings, repeats=1)
        if sample.answer != right:
            return f"DuckDB read other rows: {sample.answer}, not {right}"
        return _one_handle(path, rng)
    finally:
        sys.setswitchinterval(before)


def _one_handle(path: Path, rng: random.Random) -> str:
    whole, threads = path.read_bytes(), rng.randint(2, 32)
    instant = Device(name="instant", latency_s=0.0, bandwidth_bytes_per_s=1e15, channels=64)
    with EmulatedFileSystem(instant).open(str(path)) as file, ThreadPoolExecutor(threads) as pool:

        def wrong(seed: int) -> int:
            own, count = random.Random(seed), 0
            for _ in range(50):
                offset, size = own.randrange(len(whole)), own.randrange(1, 9_999)
                file.seek(offset)
                count += file.read(size) != whole[offset : offset + size]
            return count

        count = sum(pool.map(wrong, [rng.randrange(2**30) for _ in range(threads)]))
    return f"{count} reads of one handle gave other bytes" if count else ""


def table_spoilt(rng: random.Random, folder: Path) -> str:
    """Cut off or remove a table while it is measured."""
    whole, right = table()
    path = Path(shutil.copy(whole, folder))
    harm = (
        (lambda: os.truncate(path, rng.randrange(path.stat().st_size))) if rng.random() < 0.5 else path.unlink
    )
    slow = Device(name="slow", latency_s=0.002, bandwidth_bytes_per_s=1e9, channels=4)
    query = Query(sql="SELECT count(*), bit_xor(hash(id, h, w)) FROM {table}", path=path)
    timer, begun, before = threading.Timer(rng.uniform(0, 0.4), harm), time.monotonic(), held()
    timer.start()
    try:
        sample = run_emulated(query, slow, EngineSettings(threads=2, queue_depth=4), repeats=3)
        if sample.answer != right:
            return f"DuckDB read other rows: {sample.answer}, not {right}"
    except ReadaheadError:
        pass
    finally:
        timer.join()
    if time.monotonic() - begun > PATIENCE_S:
        return "it took too long"
    return f"it holds {held()} threads and files, {before} before" if held() > before else ""


def measurement_cancelled(rng: random.Random, _folder: Path) -> str:
    """Cancel a measurement at a random moment: it is over soon, and nothing is left."""
    path, right = table()
    device = Device(
        name="far",
        latency_s=10 ** rng.uniform(-5, 0),
        bandwidth_bytes_per_s=10 ** rng.uniform(5, 9),
        channels=2,
    )
    settings = EngineSettings(threads=rng.randint(1, 4), queue_depth=rng.choice((1, 8, 32)))
    schedule.warm()
    before, cancel = held(), Cancel(rng.uniform(0, 0.5))
    try:
        with listening(None, cancel.stop):
            sample = run_emulated(Query(sql=CHECKED, path=path), device, settings, repeats=20)
            if sample.answer != right:
                return f"DuckDB read other rows: {sample.answer}, not {right}"
    except Cancelled:
        if late := cancel.late():
            return late
    finally:
        cancel.end()
    return f"it holds {held()} threads and files, {before} before" if held() > before else ""


def _message(rng: random.Random, panel: Panel) -> dict[str, Any]:
    """Return what a browser may send, and what it never would."""
    knob = rng.choice(panel.experiment.knobs)
    wild = ("", "x", "1e999", "-1", "4 ms", "nan", "9" * 99, "<b>")
    return rng.choice((
        {"turn": knob.name, "stop": rng.randrange(-3, 90)},
        {"turn": knob.name, "stop": rng.randrange(40)},
        {"turn": knob.name, "text": rng.choice(wild)},
        {"turn": knob.name, "choice": rng.choice((*knob.choices, "none"))},
        {"do": rng.choice(("measure", "cancel", "pin", "swap", "nothing"))},
        {"auto": rng.random() < 0.5},
        {"unfolded": rng.random() < 0.5},
        {"turn": "no knob", "stop": 1},
        {},
    ))  # fmt: skip


def slider_shaken(rng: random.Random, _folder: Path) -> str:
    """Send a panel messages on two threads while DuckDB measures: it ends with one true state and no thread."""
    experiment = chapter(rng.choice(("fragments", "read_ahead", "row_groups"))).experiment
    panel = Panel(experiment, size="tiny")
    raised: list[BaseException] = []

    def shake(seed: int, end_s: float) -> None:
        own = random.Random(seed)
        try:
            while time.monotonic() < end_s:
                panel.heard(_message(own, panel))
                time.sleep(own.choice((0.0, 0.001, 0.02, 0.5)))
        except BaseException as error:  # noqa: BLE001 - in a thread it would be shown nowhere
            raised.append(error)

    end_s = time.monotonic() + rng.uniform(0.2, 3)
    hands = [threading.Thread(target=shake, args=(rng.random(), end_s)) for _ in range(2)]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join(PATIENCE_S)
    begun_s = time.monotonic()
    panel.close()
    took_s = time.monotonic() - begun_s
    if raised or any(hand.is_alive() for hand in hands):
        return f"the panel hangs, or raised {raised}"
    if panel.state.settings != panel.settings or panel.background.busy:
        return f"it shows {panel.state.settings}, and stands at {panel.settings}"
    if any(run.settings.keys() != panel.settings.keys() for run in panel.runs):
        return "a measurement has other settings"
    return f"it was closed after {took_s:.2f} s" if took_s > PATIENCE_S else ""


PHASES = """
from pathlib import Path
from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.devices import device
from readahead.measure import calibrate, disk
from readahead.measure.run import EngineSettings, Query, run_emulated
path = store.path(Recipe(table="comments", size="tiny", row_group_rows=ROWS))
query = Query(sql="SELECT count(*), sum(id) FROM {table}", path=path)
answer = run_emulated(query, device("sata-ssd"), EngineSettings(), repeats=2).answer
store.path(Recipe(table="lineitem", size="tiny", row_group_rows=ROWS))
calibrate.engine("comments_narrow").run(1)
disk.probe(file_bytes=2**22, seconds_each=0.002, depths=(1, 4))
print("whole", answer)
"""
"""Every phase of work in one cell: import, build, measure, generate, calibrate, probe."""


@functools.cache
def _manager() -> KernelManager:
    made = KernelManager(kernel_name="python3", transport="ipc")
    made.start_kernel(env=os.environ | {"READAHEAD_CACHE": f"{KEPT.name}/kernel", "READAHEAD_RUN": ""})
    return made


def kernel_interrupted(rng: random.Random, _folder: Path) -> str:
    """Interrupt or restart a kernel in any phase: it says so, and the same cell then works."""
    manager, cell = _manager(), PHASES.replace("ROWS", str(2_048 * rng.randint(1, 30)))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE_S)
        asked = client.execute(cell)
        time.sleep(rng.uniform(0, 8))
        if rng.random() < 0.2:
            manager.restart_kernel(now=True)
        else:
            manager.interrupt_kernel()
            reply = client.get_shell_msg(timeout=PATIENCE_S)
            while reply["parent_header"].get("msg_id") != asked:
                reply = client.get_shell_msg(timeout=PATIENCE_S)
            if (name := reply["content"].get("ename", "KeyboardInterrupt")) != "KeyboardInterrupt":
                return f"interrupted, it said {name}: {reply['content']['evalue'][:300]}"
        client.wait_for_ready(timeout=PATIENCE_S)
        reply = client.execute_interactive(cell, timeout=PATIENCE_S, output_hook=lambda _: None)
        content = reply["content"]
        return "" if content["status"] == "ok" else f"the next run said {content['evalue'][:300]}"
    finally:
        client.stop_channels()


def end() -> None:
    """End the kernel that the trials share."""
    if _manager.cache_info().currsize:
        _manager().shutdown_kernel(now=True)
        _manager.cache_clear()
