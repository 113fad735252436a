"""Faults while a table is built, and in the cache that keeps it."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import random
import shutil
import tempfile
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import psutil

from readahead.datasets import store
from readahead.datasets.build import literal
from readahead.datasets.recipe import Recipe
from readahead.errors import Cancelled
from readahead.questions.progress import Progress
from readahead.running import listening
from tools.faults.processes import PATIENCE_S, Cancel, cache, kill, lying, start

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
    recipe, _ = _recipe(rng)
    cancel = Cancel(rng.uniform(0, 1.1 * reference(recipe).seconds))
    with cache(folder):
        try:
            with listening(None, cancel.stop):
                store.path(recipe)
        except Cancelled:
            if (late := cancel.late()) or (left := lying(folder)):
                return late or f"left lying: {', '.join(sorted(left))}"
        finally:
            cancel.end()
    if any(thread.name.startswith("readahead-build") for thread in threading.enumerate()):
        return "a thread went on"
    if any("tpchgen" in " ".join(child.cmdline()) for child in psutil.Process().children()):
        return "the generator went on"
    return _after(recipe, folder)


# -- a cache that is not one's own alone ---------------------------------------------------------------
ASK = """
import json, sys, threading
from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.devices import device
from readahead.errors import ReadaheadError
from readahead.measure.run import EngineSettings, Query, run_emulated
from readahead.running import listening
print("ready", flush=True)
sys.stdin.readline()
recipe, built = Recipe(**json.loads(sys.argv[1])), []
def ask():
    try:
        with listening(lambda event: built.append(event.note)):
            store.path(recipe)
        if recipe.format == "parquet":
            query = Query(sql="SELECT count(*) FROM {table}", path=store.location(recipe))
            run_emulated(query, device("nvme"), EngineSettings(), repeats=1)
    except ReadaheadError as error:
        sys.stdout.write(f"told: {error}\\n")  # in one piece, beside the other thread
threads = [threading.Thread(target=ask) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print("builds", built.count("built"))
"""
"""Two threads ask for a table and measure it, once they are told to go on."""
WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
"""Root who may no more than another user."""


def builders_at_once(rng: random.Random, folder: Path) -> str:
    """Let eight processes with two threads each ask one cold cache for a table at the same moment."""
    recipe, told = _recipe(rng)
    children = [start(ASK, folder, told) for _ in range(8)]
    for child in children:
        assert child.stdin is not None
        print(file=child.stdin, flush=True)
    said = [child.communicate(timeout=PATIENCE_S)[0] for child in children]
    if sorted(said) != ["builds 0\n"] * 7 + ["builds 1\n"]:
        return f"they said: {said}"
    return _after(recipe, folder / "cache")


def cache_of_another_user(rng: random.Random, folder: Path) -> str:
    """Use a cache that another user built with any umask, in a folder with any rights."""
    shared = folder / "cache"
    shared.mkdir()
    mine, told = _recipe(rng)
    first = start(ASK, folder, told, umask=rng.choice((0o000, 0o022, 0o027, 0o077)))
    if (said := first.communicate("\n", timeout=PATIENCE_S)[0]) != "builds 1\n":
        return f"the first user was told: {said}"
    is_root = os.geteuid() == 0
    if is_root:
        for path in (shared, *shared.rglob("*")):
            os.chown(path, 1_001, 1_001, follow_symlinks=False)
    shared.chmod(rng.choice((0o755, 0o777, 0o1777, 0o555)))
    wanted, told = rng.choice(((mine, told), _recipe(rng)))
    before = WITHOUT_RIGHTS if is_root else ()
    second = start(ASK, folder, told, before=before, umask=rng.choice((0o022, 0o077)))
    said = second.communicate("\n", timeout=PATIENCE_S)[0]
    *sentences, last = said.splitlines()
    if not last.startswith("builds") or not all(one.startswith("told:") for one in sentences):
        return f"the second user was told: {said[-900:]}"
    with cache(shared):
        for recipe in {mine, wanted}:
            if store.is_built(recipe) and _digest(store.location(recipe)) != reference(recipe).digest:
                return "the file is another, and counts as built"
    shared.chmod(0o755)
    return ""


def cache_on_another_disk(rng: random.Random, folder: Path) -> str:
    """Build and measure where cache and temporary files lie on different file systems."""
    memory = Path("/dev/shm")
    recipe, told = _recipe(rng)
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as other:
        places = [folder, Path(other)]
        rng.shuffle(places)
        cached, temporary = places
        (folder / "cache").symlink_to(cached / "own")
        with mock.patch.dict(os.environ, TMPDIR=str(temporary)):
            said = start(ASK, folder, told).communicate("\n", timeout=PATIENCE_S)[0]
        return _after(recipe, cached / "own") if said == "builds 1\n" else f"it said: {said}"


def clock_set_back(rng: random.Random, folder: Path) -> str:
    """Keep tables and a learner's progress while the clock jumps by years."""
    recipe, _ = _recipe(rng)
    now = datetime.now(UTC)
    own = Progress(folder / "progress.json", lambda: now + timedelta(days=rng.randrange(-4_000, 4_000)))
    with cache(folder):
        store.path(recipe)
        for path in folder.rglob("*"):
            at = time.time() + 86_400 * rng.randrange(-9_000, 9_000)
            os.utime(path, (at, at))
        if not store.is_built(recipe):
            return "a table is built anew"
        (folder / "progress.json.1.part").touch()
        for number in range(3):
            own.keep_guess("topic", str(number), 1.0)
            own.keep_reveal("topic", str(number), 2.0)
        shutil.rmtree(folder / "datasets" / store.LOCKS)
    again = Progress(own.path)
    if len(again.section("topic", "guesses")) != 3 or own.notices or again.notices:
        return f"not all guesses are there: {own.notices} {again.notices}"
    if again.keep_guess("topic", "0", 9.0):
        return "a guess was changed after its answer was shown"
    return ""
