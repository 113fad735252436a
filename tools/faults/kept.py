"""Faults while something of the learner's is written: progress, the run of a sheet, a proof, a calibration."""

from __future__ import annotations

import os
import random
from pathlib import Path

import duckdb
import nbformat

from readahead import paths
from readahead.commands import sheet
from readahead.datasets import store
from readahead.datasets.build import literal
from readahead.measure import calibrate
from readahead.models.schedule import Costs
from readahead.questions.progress import Progress
from tools.faults.processes import PATIENCE_S, cache, kill, lying, start
from tools.faults.tables import LIMIT

KEEP = """
import itertools, sys
from pathlib import Path
from readahead.questions.progress import Progress
own = Progress(Path("progress.json"))
print("ready", flush=True)
{limit}
for number in itertools.count():
    own.keep_guess("topic", str(number), float(number + 1))
    if own.notices:
        break
    print(number, flush=True)
"""


def _kept(said: str, folder: Path) -> str:
    """Say what of the guesses that were kept is not there, or what stands in the way of the next."""
    numbers = {line for line in said.split() if line.isdecimal()}
    own = Progress(folder / "progress.json")
    there = own.section("topic", "guesses")
    if own.notices or not numbers <= there.keys():
        return f"kept {len(numbers)}, there {len(there)}: {own.notices}"
    own.keep_guess("topic", "next", 1.0)
    if own.notices or Progress(own.path).kept("topic", "guesses", "next") is None:
        return f"the next is not kept: {own.notices}"
    for half in folder.glob("*.part"):
        os.utime(half, (0, 0))  # as if a minute had passed
    own.keep_guess("topic", "last", 1.0)
    left = lying(folder) - {"progress.json"}
    return f"left lying: {', '.join(sorted(left))}" if left else ""


def progress_killed(rng: random.Random, folder: Path) -> str:
    """Kill a kernel that keeps one guess after the other."""
    return _kept(kill(start(KEEP.format(limit=""), folder), rng.uniform(0, 0.3)), folder)


def progress_on_a_full_disk(rng: random.Random, folder: Path) -> str:
    """Let a kernel that keeps guesses meet a full disk."""
    child = start(KEEP.format(limit=LIMIT), folder, "", str(rng.randrange(4_000)))
    return _kept(child.communicate(timeout=PATIENCE_S)[0], folder)


SHEET = """
from pathlib import Path
from readahead.commands import sheet
chosen = sheet.load("a.yaml", Path("notebooks"))
print("ready", flush=True)
sheet.run_sheet(chosen, Path("out"), jobs=2)
"""


def sheet_killed(rng: random.Random, folder: Path) -> str:
    """Kill the run of a sheet with all that it started."""
    (folder / "notebooks").mkdir()
    (folder / "a.yaml").write_text("title: One", encoding="utf-8")
    for name in ("01_one", "02_two"):
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(1)")])
        nbformat.write(made, folder / "notebooks" / f"{name}.ipynb")
    kill(start(SHEET, folder), rng.uniform(0, 8), all_of_it=True)
    chosen = sheet.load(str(folder / "a.yaml"), folder / "notebooks")
    found = sheet.run_sheet(chosen, folder / "out", jobs=2)
    if any(one.state == sheet.FAILED for one in found):
        return f"the next run failed: {[one.says for one in found]}"
    left = lying(folder / "out") - {"01_one.ipynb", "02_two.ipynb"}
    return f"left lying: {', '.join(sorted(left))}" if left else ""


ADVISE = """
import sys
from readahead.__main__ import run
print("ready", flush=True)
sys.exit(run(["advise", "table.parquet", "--device", "nvme", "--verify"]))
"""
PROBE = """
from readahead.measure import disk
print("ready", flush=True)
disk.probe(file_bytes=2**23, seconds_each=0.005, depths=(1, 4))
"""


def advise_killed(rng: random.Random, folder: Path) -> str:
    """Kill the check of a piece of advice, which writes a sample beside the table."""
    with duckdb.connect() as connection:
        sql = "SELECT i AS id, hash(i) AS x FROM range(200000) r(i)"
        connection.execute(f"COPY ({sql}) TO {literal(folder / 'table.parquet')} (ROW_GROUP_SIZE 4096)")
    before = (folder / "table.parquet").read_bytes()
    kill(start(ADVISE, folder), rng.uniform(0, 3))
    with store.work_folder("next", folder):
        pass
    left = lying(folder) - {"table.parquet"} - lying(folder / "cache")
    if (folder / "table.parquet").read_bytes() != before:
        return "the table was changed"
    return f"left lying: {', '.join(sorted(left))}" if left else ""


def probe_killed(rng: random.Random, folder: Path) -> str:
    """Kill the calibration of a disk while it writes or reads its file."""
    kill(start(PROBE, folder), rng.uniform(0, 1))
    with store.work_folder("next", folder / "cache"):
        pass
    left = lying(folder / "cache")
    return f"left lying: {', '.join(sorted(left))}" if left else ""


CALIBRATE = """
from readahead.measure.calibrate import engine
print("ready", flush=True)
while True:
    engine("comments_narrow").run(1)
"""
WRITE = """
import itertools, sys
from pathlib import Path
from readahead.paths import write_whole
print("ready", flush=True)
{limit}
try:
    for number in itertools.count(1):
        write_whole(Path("page.html"), f"{number}\\n" * 100_000)
        print(number, flush=True)
except OSError:
    pass
"""


def calibration_killed(rng: random.Random, folder: Path) -> str:
    """Kill the calibration of the engine: what is kept is whole, and the next is kept too."""
    kill(start(CALIBRATE, folder), rng.uniform(0, 6))
    with cache(folder / "cache"):
        known = calibrate.engine("comments_narrow")
        before = known.kept()
        if known.path.exists() and before is None:
            return f"it kept: {known.path.read_text(encoding='utf-8')[:300]}"
        for half in known.path.parent.glob("*.part"):
            os.utime(half, (0, 0))  # as if a minute had passed
        calibrate.usual_s(0.01)
        known.keep(Costs())
        with store.work_folder("next"):
            pass
        left = {name for name in lying(folder / "cache") if ".part" in name or name == store.IN_USE}
        if known.kept() != Costs() or left:
            return f"the next is not kept, or there is left lying: {', '.join(sorted(left))}"
    return ""


def page_killed(rng: random.Random, folder: Path) -> str:
    """Kill the writer of a page, or let its disk be full: one page stands there, whole."""
    full = rng.random() < 0.5
    child = start(WRITE.replace("{limit}", LIMIT if full else ""), folder, "", str(rng.randrange(900_000)))
    numbers = [line for line in kill(child, rng.uniform(0, 0.3)).split() if line.isdecimal()]
    page = folder / "page.html"
    found = page.read_text(encoding="utf-8") if page.exists() else ""
    number = found.partition("\n")[0]
    if found != f"{number}\n" * 100_000 * bool(number) or int(number or 0) < int((numbers or ["0"])[-1]):
        return f"{len(found)} characters of page {number}, and {numbers[-1:]} was written"
    for half in folder.glob("*.part"):
        os.utime(half, (0, 0))
    paths.write_whole(page, "next")
    left = lying(folder) - {"page.html"} - lying(folder / "cache")
    return f"left lying: {', '.join(sorted(left))}" if left else ""
