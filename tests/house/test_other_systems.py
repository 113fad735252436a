"""What some systems lack is taken away, and the workbook goes another way round; no other such call is made."""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import os
import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from filelock import FileLock

from readahead import paths
from readahead.chapters.loading import workload
from readahead.commands import doctor, lab
from readahead.datasets import build, store
from readahead.datasets.recipe import Recipe
from readahead.datasets.tables import TABLES
from readahead.devices import Device
from readahead.errors import DataError
from readahead.measure import calibrate, disk, sample
from readahead.paths import ROOT
from readahead.questions.progress import by_papermill
from readahead.storage import page_cache
from readahead.storage.emulated import Clock, EmulatedFileSystem
from readahead.units import KiB, MiB

NOT_EVERYWHERE = {
    "os": {
        *(
            "O_DIRECT",
            "O_BINARY",
            "posix_fadvise",
            "POSIX_FADV_DONTNEED",
            "pread",
            "preadv",
            "pwrite",
            "sync",
            "fork",
        ),
        *(
            "getuid",
            "geteuid",
            "chown",
            "killpg",
            "setsid",
            "getpgid",
            "mkfifo",
            "statvfs",
            "sched_getaffinity",
        ),
        *(
            "sched_setaffinity",
            "nice",
            "getloadavg",
            "uname",
            "sysconf",
            "memfd_create",
            "sendfile",
            "fdatasync",
        ),
    },
    "signal": {"SIGKILL", "SIGALRM", "SIGHUP", "alarm", "setitimer", "pthread_kill"},
    "time": {"clock_gettime", "clock_gettime_ns", "tzset"},
}
MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "pty", "msvcrt", "winreg", "syslog"}
GONE_ROUND = {
    "lib/readahead/chapters/scale_out/cluster.py": {"SIGKILL"},
    "lib/readahead/commands/lab.py": {"geteuid"},
    "lib/readahead/datasets/build.py": {"SIGKILL", "killpg"},
    "lib/readahead/measure/calibrate.py": {"sched_getaffinity", "sched_setaffinity"},
    "lib/readahead/measure/disk.py": {"O_BINARY", "O_DIRECT", "preadv"},
    "lib/readahead/measure/sample.py": {"sched_getaffinity"},
    "lib/readahead/paths.py": {"getuid"},
    "lib/readahead/storage/emulated.py": {"pread"},
    "lib/readahead/storage/page_cache.py": {"POSIX_FADV_DONTNEED", "posix_fadvise"},
    "tools/bench/advisor.py": {"resource"},
    "tools/every_test.py": {"resource"},
    "tools/faults/hostile.py": {"mkfifo"},
    "tools/faults/processes.py": {"SIGKILL", "killpg"},
    "tools/faults/slow.py": {"SIGKILL", "killpg"},
    "tools/faults/tables.py": {"chown", "geteuid"},
}
"""Each file with its calls that not every system has. Those of the library are taken away by a test below; the
campaign of faults is not run where it has none of them."""


def calls(source: str) -> set[str]:
    """Return what a module uses that not every system has; a name in getattr and hasattr counts too."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {node.attr} & NOT_EVERYWHERE.get(node.value.id, set())
        elif isinstance(node, ast.Call) and len(node.args) > 1 and isinstance(node.args[0], ast.Name):
            named = node.args[1].value if isinstance(node.args[1], ast.Constant) else None
            found |= {named} & NOT_EVERYWHERE.get(node.args[0].id, set()) if isinstance(named, str) else set()
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or ""} & MODULES
    return found


def test_every_call_that_is_not_everywhere_is_known() -> None:
    files = [file for folder in ("lib", "tools") for file in (ROOT / folder).rglob("*.py")]
    used = {file.relative_to(ROOT).as_posix(): calls(file.read_text(encoding="utf-8")) for file in files}
    assert {file: found for file, found in used.items() if found} == GONE_ROUND


def take_away(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        monkeypatch.delattr(os, name, raising=False)


# -- reading ---------------------------------------------------------------------------------------------
@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "bytes.bin"
    file.write_bytes(random.Random(1).randbytes(1 * MiB))
    return file


def test_without_pread_threads_that_share_a_file_get_their_own_bytes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, "pread", "preadv")
    instant = Device(name="instant", latency_s=0.0, bandwidth_bytes_per_s=1e15, channels=64)
    whole = path.read_bytes()
    with EmulatedFileSystem(instant).open(str(path)) as file, ThreadPoolExecutor(8) as pool:

        def read(offset: int) -> bool:
            file.seek(offset)
            return file.read(4_096) == whole[offset : offset + 4_096]

        assert all(pool.map(read, range(0, 1_000_000, 2_500)))


@pytest.mark.parametrize(
    "gone", [("O_DIRECT", "posix_fadvise"), ("O_DIRECT", "posix_fadvise", "pread", "preadv")]
)
def test_a_disk_without_a_way_past_the_page_cache_is_measured_warm(
    gone: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, *gone)
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    found = disk.probe(file_bytes=1 * MiB, seconds_each=0.01, blocks=(4 * KiB, 64 * KiB), depths=(1, 3))
    assert found.how.startswith("warm: this system gives no way")
    assert all(cell.latencies_s for cell in found.cells) and list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "O_DIRECT"), reason="there is nothing to refuse")
def test_a_file_system_that_refuses_direct_reads_leaves_no_file_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> int:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "preadv", refused)
    process = psutil.Process()
    before = process.num_fds()
    with disk.RawFile(path, 4_096) as file:
        assert file.how in (disk.EVICTED, "warm") and process.num_fds() == before + 1
    assert process.num_fds() == before


def test_without_fadvise_cold_runs_are_refused_in_words(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take_away(monkeypatch, "posix_fadvise")
    with pytest.raises(DataError, match="Measure warm"):
        page_cache.evict(path)
    with pytest.raises(doctor.Note, match="no way to empty it"):
        doctor.eviction()


def test_without_linux_the_clock_asks_for_no_timer_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delattr("ctypes.CDLL")
    with ThreadPoolExecutor(1) as fresh:  # a thread that has not asked yet
        clock = Clock()
        assert fresh.submit(clock.wait_until, clock.now_s() + 1e-3).result() >= 0


# -- the machine and its users ---------------------------------------------------------------------------
def test_a_machine_without_proc_and_affinity_has_a_card(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    take_away(monkeypatch, "sched_getaffinity")
    with monkeypatch.context() as without:
        without.setattr(Path, "open", missing)
        name = sample._cpu_name()
    assert name and sample.this_machine.__wrapped__().cores >= 1


def test_where_no_core_can_be_chosen_the_control_run_is_made_on_any(
    calibrated_as_ever: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    assert calibrate.control_s() > 0
    assert not ours or os.sched_getaffinity(0) == ours
    take_away(monkeypatch, "sched_setaffinity")
    assert calibrate.control_s() > 0


def test_the_file_system_is_that_of_the_folder_not_of_one_with_a_longer_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mount(place: Path, kind: str) -> Any:
        return type("Mount", (), {"mountpoint": str(place), "fstype": kind})

    mounts = [mount(tmp_path, "ext4"), mount(tmp_path / "da", "nfs4")]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: mounts)  # noqa: A006
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "data"))
    assert sample._file_system() == "ext4"


def test_where_users_have_no_numbers_a_folder_of_one_s_own_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_away(monkeypatch, "getuid", "geteuid")
    assert paths._own_folder(tmp_path) == tmp_path / "readahead-0"
    assert "--allow-root" not in lab.arguments()


@pytest.mark.parametrize("program", ["papermill.exe", "Scripts/jupyter-nbconvert.exe", "/usr/bin/papermill"])
def test_a_program_is_known_by_its_name_with_and_without_exe(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("READAHEAD_RUN", raising=False)
    monkeypatch.setattr(psutil.Process, "cmdline", lambda _: ["python", program, "a.ipynb"])
    assert by_papermill()


@pytest.mark.skipif(os.name == "nt", reason="it has none to take away")
def test_a_worker_dies_where_there_is_no_sigkill() -> None:
    code = (
        "import signal; del signal.SIGKILL\n"
        "from readahead.chapters.scale_out.cluster import Part, answer\n"
        "from readahead.datasets.recipe import Recipe; from readahead.devices import Device\n"
        "slow = Device(name='slow', latency_s=0.5, bandwidth_bytes_per_s=1e6)\n"
        "recipe = Recipe(table='comments_narrow', size='tiny')\n"
        "answer(Part(node=0, recipe=recipe, device=slow, dies_after_s=0.0))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == -signal.SIGTERM, done.stderr.decode()


# -- files that are open ---------------------------------------------------------------------------------
def test_a_rename_that_is_refused_while_somebody_reads_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusals = [True, True, False]
    real = Path.replace

    def busy(self: Path, target: Path) -> Path:
        if refusals and refusals.pop(0):
            raise PermissionError(13, "The process cannot access the file: another process uses it")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", busy)
    paths.write_whole(tmp_path / "progress.json", "new")
    assert [left.name for left in tmp_path.iterdir()] == ["progress.json"]
    refusals[:] = [True] * 100
    with pytest.raises(PermissionError, match="another process"):
        paths.write_whole(tmp_path / "progress.json", "newer")
    assert [left.read_text() for left in tmp_path.iterdir()] == ["new"]


def test_a_dead_process_s_folder_goes_where_no_open_file_can_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "left"
    (folder / "below").mkdir(parents=True)
    (folder / "z").touch()
    lock = FileLock(folder / store.IN_USE)
    real = os.unlink

    def refuses_open(name: Any, *rest: Any, **more: Any) -> None:
        if Path(os.fsdecode(name)).name == store.IN_USE and lock.is_locked:
            raise PermissionError(13, "The process cannot access the file")
        real(name, *rest, **more)

    monkeypatch.setattr(os, "unlink", refuses_open)
    store.remove_if_left(folder, lock)
    assert list(tmp_path.iterdir()) == []


def test_a_batch_is_made_safe_where_a_folder_cannot_be_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    real = os.open

    def noted(place: Path, flags: int) -> int:
        opened.append(place)
        return real(place, flags)

    with monkeypatch.context() as windows:
        windows.setattr(os, "name", "nt")
        windows.setattr(os, "open", noted)
        workload._sync(path)
    assert opened == [path]


# -- words and programs ----------------------------------------------------------------------------------
def test_a_pipe_that_takes_few_letters_gets_every_line() -> None:
    command = [sys.executable, "-m", "readahead", "doctor"]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONIOENCODING": "cp1252"}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.startswith(b"\\N{CHECK MARK} Packages: all ")


def test_the_generator_is_found_wherever_pip_put_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda *_: "/nowhere")  # as with pip install --user
    assert build._generator().is_file()

    def none(_: str) -> None:
        raise importlib.metadata.PackageNotFoundError

    monkeypatch.setattr(importlib.metadata, "files", none)
    with pytest.raises(DataError, match="tpchgen-cli, is missing"):
        build._generator()


def test_the_benchmark_of_the_advisor_loads_without_resource(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resource", None)
    monkeypatch.delitem(sys.modules, "tools.bench.advisor", raising=False)
    assert importlib.import_module("tools.bench.advisor").DEVICES


def test_a_home_of_40_letters_leaves_windows_room_for_every_file_that_is_built() -> None:
    given = [{"table": "comments_narrow", "order": "shuffled", "part": 15, "parts": 16}]
    given += [
        {"table": "lineorder", "order": order, "disorder": 0.125} for order in TABLES["lineorder"].columns
    ]
    longest = max((Recipe(row_group_rows=1_048_576, **one).file_name for one in given), key=len)
    folder = f"{store.WORK}build-01234567"
    below = Path("readahead") / "data" / "cache" / "datasets" / store.BUILDING / folder / longest
    assert 40 + 1 + len(str(below)) < 260
