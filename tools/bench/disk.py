"""Benchmarks the disk's probe against fio, and the calibrated model of the disk against cold scans."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from readahead import devices, paths, units
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.measure import disk
from readahead.measure.calibrate import COLD, WARM, engine
from readahead.measure.case import Case
from readahead.storage import page_cache
from tools.bench.figure import Figure

FILE_BYTES = 256 * units.MiB
BLOCKS = (4 * units.KiB, 64 * units.KiB, 1 * units.MiB, 8 * units.MiB)
DEPTHS = (1, 4, 16)
TURNS = 3
SECONDS_EACH = 0.4


def against_fio() -> list[Figure]:
    """Compare our shuffled reads with fio's at every block size and depth, in turns, on the same kind of file."""
    fio = shutil.which("fio")
    if fio is None:
        return [
            Figure(name="raw reads against fio", value=float("nan"), unit="", note="fio is not installed")
        ]
    ours: dict[tuple[int, int], list[float]] = {}
    theirs: dict[tuple[int, int], list[float]] = {}
    for _ in range(TURNS):
        found = disk.probe(file_bytes=FILE_BYTES, seconds_each=SECONDS_EACH, blocks=BLOCKS, depths=DEPTHS)
        for cell in found.cells:
            if cell.order == "shuffled":
                ours.setdefault((cell.block_bytes, cell.depth), []).append(cell.reads_per_s)
        for key in ours:
            theirs.setdefault(key, []).append(_fio(fio, *key))
    figures = []
    for (block, depth), rates in ours.items():
        ratio = float(np.median(rates) / np.median(theirs[block, depth]))
        figures.append(
            Figure(
                name=f"raw reads against fio, {units.text(block, 'bytes')}, {depth} in flight",
                value=abs(ratio - 1) * 100,
                unit="% apart",
                aim=15,
                samples={"ours_reads_per_s": rates, "fio_reads_per_s": theirs[block, depth]},
                note=f"ours / fio {ratio:.2f}",
            )
        )
    return figures


def _fio(fio: str, block: int, depth: int) -> float:
    """Return fio's reads a second: `depth` threads of plain reads, as ours are."""
    with tempfile.TemporaryDirectory(dir=paths.cache_dir()) as folder:
        command = [
            fio, "--name=probe", f"--filename={Path(folder) / 'fio'}", f"--size={FILE_BYTES}", "--rw=randread",
            f"--bs={block}", "--ioengine=psync", "--thread", f"--numjobs={depth}", "--direct=1", "--time_based",
            f"--runtime={SECONDS_EACH}", "--group_reporting", "--output-format=json", "--randseed=1",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)["jobs"][0]["read"]["iops"])


def cold_scan() -> list[Figure]:
    """Hold the calibrated model of this disk to cold DuckDB scans on it, at several row-group sizes."""
    if not page_cache.can_evict():
        return [
            Figure(
                name="cold scan", value=float("nan"), unit="", note="this system cannot empty the page cache"
            )
        ]
    own: Device = disk.fit(disk.probe())
    devices.save_calibrated(own)
    for here in ("", WARM, COLD):
        costs = engine("comments_narrow", here).run()
    figures = []
    for rows in (2_048, 8_192, 32_768, 122_880, 1_048_576):
        case = Case(recipe=Recipe(table="comments_narrow", size="small", row_group_rows=rows), device=own)
        sample = case.measure_here(cold=True, repeats=7)
        ratio = case.predict(costs).finished_s / sample.median_s
        figures.append(
            Figure(
                name=f"model of this disk against a cold scan, groups of {rows:,} rows",
                value=abs(ratio - 1) * 100,
                unit="% apart",
                aim=20,
                samples={"seconds": sample.seconds},
                note=f"modeled / measured {ratio:.2f}",
            )
        )
    return figures
