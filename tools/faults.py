"""`make faults`, or `python -m tools.faults NAME`: faults at random instants and random bytes, over and over, counted.

A trial is one fault, in a folder of its own. It ends with nothing said if nothing was lost, nothing half-built counts
and the next run needs no hand; else with what was wrong. Seed, name and number of a trial repeat it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import duckdb
import nbformat
import psutil

from readahead.commands import sheet
from readahead.datasets import store
from readahead.datasets.build import literal
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.errors import Cancelled, ReadaheadError
from readahead.measure.run import EngineSettings, Query, run_emulated
from readahead.panels.class_view import exercises_table, guesses_table, machine_row, read_results
from readahead.questions.progress import Progress
from readahead.running import listening
from readahead.storage.emulated import EmulatedFileSystem

PATIENCE_S = 60.0
"""How long a process may take that nothing has happened to."""
HOSTILE_S, HOSTILE_BYTES = 10.0, 2 * 2**30
"""What a hostile file may take of the processor's time and of memory."""
_KEPT = tempfile.TemporaryDirectory(prefix="readahead-faults-")
"""For what all trials use."""
Trial = Callable[[random.Random, Path], str]


# -- processes that meet a fault ---------------------------------------------------------------------------
def start(code: str, folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start Python in a folder, which is its cache too, and wait until it says that it is ready."""
    environment = os.environ | {"READAHEAD_CACHE": str(folder / "cache"), "READAHEAD_RUN": ""}
    child = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
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


@contextmanager
def cache(folder: Path) -> Iterator[Path]:
    """Make a folder the cache of this process for a while."""
    before = os.environ.get("READAHEAD_CACHE")
    os.environ["READAHEAD_CACHE"] = str(folder)
    try:
        yield folder
    finally:
        if before is None:
            del os.environ["READAHEAD_CACHE"]
        else:
            os.environ["READAHEAD_CACHE"] = before


def lying(folder: Path) -> set[str]:
    """Return the names of the files in a folder and below it, but for locks."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.name for path in found if path.parent.name != store.LOCKS and path.suffix != ".lock"}


# -- datasets --------------------------------------------------------------------------------------------
RECIPES: tuple[dict[str, object], ...] = (
    {"table": "comments_narrow", "size": "tiny"},
    {"table": "comments", "size": "tiny", "order": "shuffled"},
    {"table": "comments_narrow", "size": "tiny", "format": "native", "index": True},
    {"table": "lineitem", "size": "tiny"},
)
BUILD = """
import json, sys
from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.errors import DataError
print("ready", flush=True)
{limit}
try:
    store.path(Recipe(**json.loads(sys.argv[1])))
except DataError as error:
    print("told:", error)
"""
LIMIT = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
"""
"""A limit on the length of a file stands in for a full disk: the system refuses the write just so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a build comes to that nothing happens to."""

    digest: str
    size_bytes: int
    seconds: float


@functools.cache
def reference(recipe: Recipe) -> Built:
    """Build a recipe in peace."""
    with tempfile.TemporaryDirectory() as folder, cache(Path(folder)):
        began_s = time.perf_counter()
        path = store.path(recipe)
        took_s = time.perf_counter() - began_s
        return Built(digest=_digest(path), size_bytes=path.stat().st_size, seconds=took_s)


def _digest(path: Path) -> str:
    """Return a hash of a Parquet file's bytes, or of a native file's rows, which has another identity each time."""
    if path.suffix == ".parquet":
        return hashlib.sha256(path.read_bytes()).hexdigest()
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH {literal(path)} AS file (READ_ONLY)")
        return str(connection.execute("SELECT count(*), bit_xor(hash(t)) FROM file.t").fetchone())


def _after(recipe: Recipe, folder: Path) -> str:
    """Say what is wrong with a recipe's file after a fault, and with the next build."""
    with cache(folder):
        for when in ("after the fault", "built anew"):
            if when == "built anew":
                store.path(recipe)
            if store.is_built(recipe) and _digest(store.location(recipe)) != reference(recipe).digest:
                return f"{when} the file is another, and counts as built"
        left = lying(folder) - {recipe.file_name, f"{recipe.file_name}.json"}
    return f"left lying: {', '.join(sorted(left))}" if left else ""


def _recipe(rng: random.Random) -> tuple[Recipe, str]:
    told: dict[str, Any] = rng.choice(RECIPES)
    return Recipe(**told), json.dumps(told)


def build_killed(rng: random.Random, folder: Path) -> str:
    """Kill a build."""
    recipe, told = _recipe(rng)
    child = start(BUILD.format(limit=""), folder, told)
    kill(child, rng.uniform(0, 1.2 * reference(recipe).seconds))
    return _after(recipe, folder / "cache")


def build_on_a_full_disk(rng: random.Random, folder: Path) -> str:
    """Let a build meet a disk that is full after so many bytes."""
    recipe, told = _recipe(rng)
    most = rng.randrange(int(1.2 * reference(recipe).size_bytes))
    said, _ = start(BUILD.format(limit=LIMIT), folder, told, str(most)).communicate(timeout=PATIENCE_S)
    if said and not (said.startswith("told:") and said.count("\n") == 1):
        return f"it said: {said[-500:]}"
    if said and (left := lying(folder / "cache")):
        return f"left lying: {', '.join(sorted(left))}"
    return _after(recipe, folder / "cache")


def build_cancelled(rng: random.Random, folder: Path) -> str:
    """Cancel a build in this process."""
    (recipe, _), stop = _recipe(rng), threading.Event()
    timer = threading.Timer(rng.uniform(0, 1.1 * reference(recipe).seconds), stop.set)
    with cache(folder):
        timer.start()
        try:
            with listening(None, stop):
                store.path(recipe)
        except Cancelled:
            if left := lying(folder):
                return f"left lying: {', '.join(sorted(left))}"
        finally:
            timer.cancel()
    if any(thread.name.startswith("readahead-build") for thread in threading.enumerate()):
        return "a thread went on"
    if any("tpchgen" in " ".join(child.cmdline()) for child in psutil.Process().children()):
        return "the generator went on"
    return _after(recipe, folder)


# -- what a learner keeps ----------------------------------------------------------------------------------
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


# -- hostile files ---------------------------------------------------------------------------------------
JUDGE = """
import resource, sys, time
from readahead.__main__ import run
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print("ready", flush=True)
for line in sys.stdin:
    begun_s = time.process_time()
    code = run(["advise", line.rstrip("\\n"), "--device", "nvme"])
    most_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print("\\nended", code, most_bytes, time.process_time() - begun_s, flush=True)
"""


@dataclass(slots=True)
class Judge:
    """A process that advises on one file after the other, and is replaced when one of them ends it."""

    child: subprocess.Popen[str] | None = None
    folder: tempfile.TemporaryDirectory[str] = field(default_factory=tempfile.TemporaryDirectory)

    def ask(self, path: Path) -> str:
        """Return what is wrong with what comes of a file, if anything."""
        if self.child is None:
            self.child = start(JUDGE, Path(self.folder.name))
        child = self.child
        assert child.stdin is not None and child.stdout is not None
        print(path, file=child.stdin, flush=True)
        said, over_s = "", time.monotonic() + PATIENCE_S
        while "\nended" not in said or not said.endswith("\n"):
            ready = select.select([child.stdout], [], [], max(0.0, over_s - time.monotonic()))[0]
            more = os.read(child.stdout.fileno(), 65_536).decode(errors="replace") if ready else ""
            said += more
            if not more:
                self.child = None
                child.kill()
                child.wait()
                return (
                    f"{'no answer in time' if not ready else f'it died: {child.returncode}'}: {said[-300:]}"
                )
        code, most_bytes, took_s = map(float, said.rsplit("ended", maxsplit=1)[1].split())
        if "Traceback" in said or code not in (0, 1) or (code and said.count("\n") > 3):
            return f"it said: {said[-500:]}"
        if most_bytes > HOSTILE_BYTES or took_s > HOSTILE_S:
            return f"it took {most_bytes:,.0f} bytes and {took_s:.0f} s"
        return ""


@functools.cache
def _judge() -> Judge:
    return Judge()


@functools.cache
def _whole_files() -> tuple[bytes, ...]:
    """Return Parquet files of several kinds: flat, nested, many groups, with every compression."""
    rows = "SELECT i AS id, hash(i) AS h, 'word ' || i % 50 AS w, i / 7 AS f FROM range(20000) r(i)"
    nested = "SELECT i AS id, {'a': i, 'b': [i, i + 1]} AS s, map {'k': i} AS m FROM range(5000) r(i)"
    found = []
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        target = Path(folder, "one.parquet")
        for sql in (rows, nested):
            for options in (
                "ROW_GROUP_SIZE 2048, COMPRESSION snappy",
                "COMPRESSION zstd",
                "COMPRESSION uncompressed",
            ):
                connection.execute(f"COPY ({sql}) TO {literal(target)} (FORMAT parquet, {options})")
                found.append(target.read_bytes())
    return tuple(found)


def damaged(rng: random.Random, whole: bytes) -> bytes:
    """Return a Parquet file with some damage: most of it in its footer, where every structure is told."""
    data = bytearray(whole)
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    for _ in range(rng.choice((1, 1, 2, 5, 40))):
        begin = rng.choice((0, footer, footer, footer, len(data) - 8))
        at = rng.randrange(min(begin, len(data) - 1), len(data))
        match rng.randrange(6):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at] = rng.choice((0, 1, 0x7F, 0x80, 0xFF))
            case 2:
                data[at : at + 5] = b"\xff\xff\xff\xff\x0f"  # the largest length there is
            case 3:
                del data[at : at + rng.randrange(1, 64)]
            case 4:
                data[at:at] = rng.randbytes(rng.randrange(1, 64))
            case 5:
                data[at:] = data[at:][: rng.randrange(len(data) - at)] + data[-8:]
        if len(data) < 16:
            break
    if rng.random() < 0.1:
        data[-8:-4] = rng.randbytes(4)
    return bytes(data)


def hostile_parquet(rng: random.Random, folder: Path) -> str:
    """Advise on a damaged Parquet file."""
    path = folder / "hostile.parquet"
    path.write_bytes(damaged(rng, rng.choice(_whole_files())))
    return _judge().ask(path)


@functools.cache
def _whole_database() -> bytes:
    path = Path(_KEPT.name, "whole.duckdb")
    with duckdb.connect() as connection:
        sql = "SELECT i AS id, hash(i) AS h, 'word ' || i % 50 AS w FROM range(20000) r(i)"
        connection.execute(f"ATTACH {literal(path)} AS file (BLOCK_SIZE 16384)")
        connection.execute(f"CREATE TABLE file.t AS {sql}; DETACH file")
    return path.read_bytes()


def hostile_database(rng: random.Random, folder: Path) -> str:
    """Advise on a damaged database."""
    data = bytearray(_whole_database())
    for _ in range(rng.choice((1, 2, 5, 40))):
        at = rng.randrange(
            rng.choice((12_288, len(data)))
        )  # where its metadata lies is told in the first pages
        data[at : at + 8] = rng.randbytes(8)
    path = folder / "hostile.duckdb"
    path.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.1 else data)
    return _judge().ask(path)


def hostile_result(rng: random.Random, folder: Path) -> str:
    """Read a class of two learners' results, one of them with values that nobody would have written."""
    own = Progress(folder / "own.progress")
    own.keep_guess("fragments", "yield", 0.4)
    own.keep_reveal("fragments", "yield", 0.5)
    own.keep_answer("fragments", "hole", "?", "Wrong", "an idea")
    text = own.export(folder / "good.json").read_text(encoding="utf-8")
    words = (
        "1e308",
        "-1e308",
        "1e999",
        "5e-324",
        "NaN",
        "null",
        "[]",
        "{}",
        '"<script>"',
        "true",
        "[" * 9_999,
    )
    old = rng.choice(("0.4", "0.5", '"?"', '"Wrong"', '"an idea"', "{}", "1", '"fragments"', '"yield"'))
    (folder / "bad.json").write_text(text.replace(old, rng.choice(words)), encoding="utf-8")
    try:
        results = read_results(folder)
        found = guesses_table(results)
        exercises_table(results)
        [machine_row(book) for book in results.books.values()]
    except ReadaheadError as error:
        return f"one result spoils all: {error}"
    except Exception as error:  # noqa: BLE001 - whatever is raised is what was looked for
        return f"{type(error).__name__}: {error}"
    return "" if found.off.between(1, 1e60).all() and "good" in results.books else "a factor that nothing has"


# -- races -------------------------------------------------------------------------------------------------
@functools.cache
def _table() -> tuple[Path, tuple[object, ...]]:
    folder = Path(_KEPT.name)
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
    path, right = _table()
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
    whole, right = _table()
    path = Path(shutil.copy(whole, folder))
    harm = (
        (lambda: os.truncate(path, rng.randrange(path.stat().st_size))) if rng.random() < 0.5 else path.unlink
    )
    slow = Device(name="slow", latency_s=0.002, bandwidth_bytes_per_s=1e9, channels=4)
    query = Query(sql="SELECT count(*), bit_xor(hash(id, h, w)) FROM {table}", path=path)
    timer, begun, before = threading.Timer(rng.uniform(0, 0.4), harm), time.monotonic(), _held()
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
    return f"it holds {_held()} threads and files, {before} before" if _held() > before else ""


def _held() -> int:
    """Return how many threads and open files this process has."""
    return threading.active_count() + int(psutil.Process().num_fds())


# -- the campaign ------------------------------------------------------------------------------------------
TRIALS: tuple[Trial, ...] = (
    build_killed, build_on_a_full_disk, build_cancelled, progress_killed, progress_on_a_full_disk, sheet_killed,
    advise_killed, probe_killed, hostile_parquet, hostile_database, hostile_result, device_races,
    table_spoilt,
)  # fmt: skip


@dataclass(slots=True)
class Count:
    """How one kind of trial went."""

    name: str
    tried: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Write it as a line of the table."""
        return f"{self.name:26} {self.tried:6} {self.tried - len(self.faults):9} {self.seconds:8.0f}"


def campaign(trial: Trial, seconds: float, seed: int) -> Count:
    """Repeat one kind of trial for so many seconds, at least once."""
    count, began_s = Count(name=trial.__name__.replace("_", " ")), time.monotonic()
    while not count.tried or time.monotonic() < began_s + seconds:
        rng = random.Random(f"{seed} {count.name} {count.tried}")
        with tempfile.TemporaryDirectory(prefix="readahead-fault-", ignore_cleanup_errors=True) as folder:
            try:
                fault = trial(rng, Path(folder))
            except Exception as error:  # noqa: BLE001 - a trial that ends so has not survived
                fault = f"{type(error).__name__}: {error}"
        if fault:
            count.faults.append(f"{count.name}, number {count.tried} of seed {seed}: {fault}")
        count.tried += 1
    count.seconds = time.monotonic() - began_s
    return count


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([trial.__name__ for trial in TRIALS]))
@click.option("--minutes", default=20.0, show_default=True, help="For all of them together.")
@click.option("--seed", default=1, show_default=True, help="Which instants and bytes.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Keep the counts.")
def faults(names: tuple[str, ...], minutes: float, seed: int, json_path: Path | None) -> None:
    """Try all kinds of faults, or those NAMES, and print how many were tried and survived; exit code 1 if not all."""
    chosen = [trial for trial in TRIALS if not names or trial.__name__ in names]
    click.echo(f"{'fault':26} {'tried':>6} {'survived':>9} {'seconds':>8}")
    counts = []
    for trial in chosen:
        counts.append(campaign(trial, 60 * minutes / len(chosen), seed))
        click.echo(str(counts[-1]))
        for fault in counts[-1].faults[:5]:
            click.echo(f"  {fault}", err=True)
    if json_path:
        told = [{"name": one.name, "tried": one.tried, "faults": one.faults} for one in counts]
        json_path.write_text(json.dumps(told, indent=1), encoding="utf-8")
    tried, lost = sum(one.tried for one in counts), sum(len(one.faults) for one in counts)
    click.echo(f"{'all':26} {tried:6} {tried - lost:9} {sum(one.seconds for one in counts):8.0f}")
    sys.exit(bool(lost))


if __name__ == "__main__":
    faults()
