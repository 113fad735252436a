"""A file counts as made only when it is whole: whoever asks, whatever dies, however full the disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.errors import Cancelled, DataError
from readahead.running import Event, listening

Start = Callable[[str], "subprocess.Popen[str]"]

TINY = Recipe(table="comments_narrow", size="tiny")
LONG = Recipe(table="comments", size="small", order="shuffled")
GENERATED = Recipe(table="lineitem", size="small")

ASK = """
from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.running import listening
print('ready', flush=True)
notes = []
with listening(lambda event: notes.append(event.note)):
    path = store.path(Recipe(table={table!r}, size={size!r}))
print(path.name, 'built' if 'built' in notes else 'found')
"""


def lying(cache: Path) -> set[str]:
    """Return the names of what lies in the cache, except the locks."""
    return {str(p.relative_to(cache)) for p in cache.rglob("*") if p.is_file() and p.parent.name != ".locks"}


def test_the_second_ask_finds_what_the_first_built(cache: Path) -> None:
    news = list[Event]()
    with listening(news.append):
        path = store.path(TINY)
    assert news[-1] == Event(done=TINY.rows, total=TINY.rows, note="built")
    assert all(0 <= event.done <= event.total == TINY.rows for event in news)
    assert lying(cache) == {TINY.file_name, f"{TINY.file_name}.json"}
    before = path.stat()
    with listening(lambda event: pytest.fail("built twice")):
        assert store.path(TINY) == path
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_size,
    )


@pytest.mark.parametrize("damage", ["cut", "holes", "manifest cut", "manifest gone", "gone"])
def test_a_damaged_file_is_built_anew(cache: Path, damage: str) -> None:
    path = store.path(TINY)
    whole, manifest = path.read_bytes(), path.with_name(path.name + ".json")
    if damage == "cut":
        path.write_bytes(whole[:-1_000])
    elif damage == "holes":
        path.write_bytes(whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2))
    elif damage == "manifest cut":
        manifest.write_text(manifest.read_text()[:20])
    else:
        (manifest if damage == "manifest gone" else path).unlink()
    assert not store.is_built(TINY)
    assert store.path(TINY).read_bytes() == whole


def test_three_who_ask_at_once_get_one_build(start: Start, cache: Path) -> None:
    askers = [start(ASK.format(table="comments", size="tiny")) for _ in range(3)]
    said = [asker.communicate(timeout=120)[0].split() for asker in askers]
    assert [asker.returncode for asker in askers] == [0, 0, 0]
    assert len({words[1] for words in said}) == 1
    assert sorted(words[2] for words in said) == ["built", "found", "found"]
    manifest = json.loads((cache / f"{said[0][1]}.json").read_text())
    builder = next(asker for asker, words in zip(askers, said, strict=True) if words[2] == "built")
    assert manifest["built_by_process"] == builder.pid


def test_two_threads_that_ask_at_once_get_one_build(cache: Path) -> None:
    built: list[str] = []

    def ask() -> None:
        with listening(lambda event: built.append(event.note) if event.note == "built" else None):
            store.path(TINY)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == ["built"]


@pytest.mark.parametrize("next_one", [Recipe(table="comments", size="small"), TINY])
def test_a_kill_in_the_middle_leaves_nothing_that_counts(start: Start, cache: Path, next_one: Recipe) -> None:
    victim = start(ASK.format(table="comments", size="small"))
    recipe = Recipe(table="comments", size="small")
    deadline = time.monotonic() + 60
    while not any(p.stat().st_size > 1_000_000 for p in cache.glob(".building/*/*.parquet")):
        assert victim.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert not store.is_built(recipe)
    assert any(name.startswith(".building") for name in lying(cache))
    store.path(next_one)
    assert lying(cache) == {next_one.file_name, f"{next_one.file_name}.json"}


def test_the_generator_ends_with_its_builder(start: Start, cache: Path) -> None:
    victim = start(ASK.format(table="lineitem", size="small"))
    generators: list[psutil.Process] = []
    deadline = time.monotonic() + 60
    while not any(cache.glob(".building/*/lineitem.parquet*")):
        assert victim.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    generators = psutil.Process(victim.pid).children(recursive=True)
    assert any("tpchgen" in " ".join(one.cmdline()) for one in generators)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert not psutil.wait_procs(generators, timeout=20)[1]


def test_a_folder_for_a_while_is_removed_after_a_kill_by_the_next_who_asks(
    start: Start, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    victim = start(
        "import time; from pathlib import Path; from readahead.datasets import store\n"
        f"with store.work_folder('one', Path({str(work)!r})) as folder:\n"
        "    (folder / 'much').write_bytes(bytes(1000)); print('in', flush=True); time.sleep(60)"
    )
    assert victim.stdout and victim.stdout.readline() == "in\n"
    with store.work_folder("two", work):
        assert len(list(work.iterdir())) == 2  # whose process lives is left alone
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert [left.name[:15] for left in work.iterdir()] == [".readahead-one-"]
    with store.work_folder("three", work) as mine:
        assert list(work.iterdir()) == [mine]
    assert not list(work.iterdir())


def test_a_sweep_leaves_a_running_build_alone(start: Start, cache: Path) -> None:
    other = start(ASK.format(table="comments", size="small"))
    deadline = time.monotonic() + 60
    while not list(cache.glob(".building/*/*.parquet")):
        assert time.monotonic() < deadline
        time.sleep(0.005)
    store.path(TINY)
    out, errors = other.communicate(timeout=120)
    assert (other.returncode, errors) == (0, "")
    assert out.split()[-1] == "built"


@pytest.mark.parametrize("recipe", [LONG, GENERATED], ids=["query", "generator"])
def test_a_stop_ends_the_build_and_leaves_nothing(cache: Path, recipe: Recipe) -> None:
    stop, started, ended = threading.Event(), threading.Event(), threading.Event()

    def ask() -> None:
        with (
            pytest.raises(Cancelled, match="Nothing of it was kept"),
            listening(lambda event: started.set(), stop),
        ):
            store.path(recipe)
        ended.set()

    asker = threading.Thread(target=ask)
    asker.start()
    assert started.wait(30)
    time.sleep(0.3)
    assert not ended.is_set()  # it is in the midst of it
    stop.set()
    asker.join(60)
    assert ended.is_set()
    assert lying(cache) == set()
    assert not [thread for thread in threading.enumerate() if thread.name == "readahead-build"]


def test_a_stop_is_heard_while_another_builds(cache: Path) -> None:
    (cache / ".locks").mkdir(parents=True)
    stop, notes = threading.Event(), []

    def news(event: Event) -> None:
        notes.append(event.note)
        stop.set()

    with ThreadPoolExecutor(max_workers=1) as other:
        held = FileLock(cache / ".locks" / f"{TINY.file_name}.lock")
        lock = other.submit(held.acquire).result()
        with pytest.raises(Cancelled), listening(news, stop):
            store.path(TINY)
        other.submit(lock.lock.release).result()
    assert notes == [f"waiting for another build of {TINY.file_name}"]


def test_an_error_of_the_listener_ends_the_build(cache: Path) -> None:
    def news(event: Event) -> None:
        raise RuntimeError("the panel is gone")

    with pytest.raises(RuntimeError, match="the panel is gone"), listening(news):
        store.path(TINY)
    assert lying(cache) == set()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(DataError, match=r"Not a directory.*needs about .* bytes\).*READAHEAD_CACHE"):
        store.path(TINY)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_disk_without_room_is_told_before_the_build(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TINY.source.rows, "full", 10**15)
    with pytest.raises(DataError, match=r"needs about .*TiB \([\d,]+ bytes\).*\([\d,]+ bytes\) are free"):
        store.path(Recipe(table="comments_narrow", size="full"))
    assert lying(cache) == set()


@pytest.mark.parametrize(
    ("table", "form", "why"),
    [
        ("comments_narrow", "parquet", "File too large"),
        ("comments_narrow", "native", "File too large"),
        ("lineitem", "parquet", "tpchgen-cli ended with code 1: Error: External: File too large"),
    ],
)
def test_a_disk_that_fills_up_in_the_middle_is_one_clear_error(
    start: Start, cache: Path, table: str, form: str, why: str
) -> None:
    """A limit on the length of a file stands in for the full disk: the system refuses the write just so."""
    limited = start(
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))\n"
        "from readahead.datasets import store\n"
        "from readahead.datasets.recipe import Recipe\n"
        "from readahead.errors import DataError\n"
        "try:\n"
        f"    store.path(Recipe(table={table!r}, size='tiny', format={form!r}))\n"
        "except DataError as error:\n"
        "    print(error)\n"
    )
    out, errors = limited.communicate(timeout=60)
    assert (limited.returncode, errors) == (0, "")
    assert "could not be written: " in out and why in out
    assert "bytes) are free. Free some space, or set READAHEAD_CACHE" in out
    assert lying(cache) == set()


def test_a_cache_that_can_only_be_read_serves(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.path(TINY)
    for name in (".building", ".locks"):
        for left in (cache / name).iterdir():
            left.unlink()
        (cache / name).rmdir()
        (cache / name).write_text("nothing can be made here")
    assert store.path(TINY) == path
    with pytest.raises(DataError, match="could not be written"):
        store.path(Recipe(table="comments_narrow", size="tiny", order="shuffled"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends Ctrl-C another way")
@pytest.mark.parametrize("recipe", [LONG, GENERATED], ids=["query", "generator"])
def test_ctrl_c_ends_the_build_and_leaves_nothing(cache: Path, recipe: Recipe) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with (
            pytest.raises(KeyboardInterrupt),
            listening(lambda event: None if timer.is_alive() else timer.start()),
        ):
            store.path(recipe)
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()
    assert lying(cache) == set()
    assert not [thread for thread in threading.enumerate() if thread.name == "readahead-build"]
