"""The emulated device gives the same bytes as the file, at the time the device says, whoever reads."""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from fake_clock import FakeClock

from readahead.devices import Device
from readahead.errors import BadValue
from readahead.measure.run import EngineSettings, Query, run_emulated
from readahead.models.queue import DeviceQueue
from readahead.storage.emulated import EmulatedFileSystem

SLOW = Device(name="slow", latency_s=0.01, seek_s=0.005, bandwidth_bytes_per_s=1e6)
INSTANT = Device(name="instant", latency_s=0.0, bandwidth_bytes_per_s=1e15, channels=64)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file of a million bytes that are all different from their neighbours."""
    file = tmp_path / "bytes.bin"
    file.write_bytes(random.Random(1).randbytes(1_000_000))
    return file


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Make the interpreter change threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_time_passes_as_the_queue_says(path: Path) -> None:
    clock = FakeClock(100.0)
    device = EmulatedFileSystem(SLOW, fragment_bytes=1000, clock=clock)
    queue, expected = DeviceQueue(SLOW, 1000), 0.0
    with device.open(str(path)) as file:
        for offset, size in ((0, 500), (500, 500), (1000, 3000), (7, 10)):
            file.seek(offset)
            file.read(size)
            expected, _ = queue.book(expected, offset, size)
            assert clock.now_s() == pytest.approx(100.0 + expected)


def test_slow_motion_stretches_every_wait(path: Path) -> None:
    plain, slow = FakeClock(), FakeClock()
    for clock, scale in ((plain, 1.0), (slow, 10.0)):
        with EmulatedFileSystem(SLOW, clock=clock, time_scale=scale).open(str(path)) as file:
            file.read(1000)
            file.read(1000)
    assert slow.now_s() == pytest.approx(10 * plain.now_s())


@pytest.mark.parametrize("threads", [1, 2, 8, 32])
@pytest.mark.usefixtures("eager_switching")
def test_shared_handle_gives_every_thread_its_own_bytes(path: Path, threads: int) -> None:
    whole, wrong = path.read_bytes(), []
    file = EmulatedFileSystem(INSTANT).open(str(path))

    def read_some(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(200):
            offset, size = rng.randrange(900_000), rng.randrange(1, 5_000)
            file.seek(offset)
            if file.read(size) != whole[offset : offset + size]:
                wrong.append((seed, offset, size))

    workers = [threading.Thread(target=read_some, args=(n,)) for n in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    file.close()
    assert wrong == []


def test_a_thread_that_never_sought_reads_where_the_last_one_stood(path: Path) -> None:
    file, found = EmulatedFileSystem(INSTANT).open(str(path)), []
    file.seek(123)
    other = threading.Thread(target=lambda: found.append(file.read(10)))
    other.start()
    other.join()
    assert found == [path.read_bytes()[123:133]]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.usefixtures("eager_switching")
def test_duckdb_gets_the_same_answer_through_it_again_and_again(narrow_path: Path, threads: int) -> None:
    sql = "SELECT sum(hash(id)), sum(hash(creation_date)), sum(hash(post_id)), sum(hash(user_id)) FROM "
    right = duckdb.sql(f"{sql} read_parquet('{narrow_path}')").fetchall()
    device = EmulatedFileSystem(INSTANT.but(latency_s=0.0002))
    with duckdb.connect() as connection:
        connection.register_filesystem(device)
        connection.execute(f"SET threads = {threads}; SET async_threads = 16; SET read_ahead_depth = 16")
        answers = [
            connection.execute(f"{sql} read_parquet('dev://{narrow_path}')").fetchall() for _ in range(10)
        ]
        connection.unregister_filesystem("dev")
    assert answers == [right] * 10


def test_every_read_is_written_down_in_order(path: Path) -> None:
    clock = FakeClock(50.0)
    device = EmulatedFileSystem(SLOW, clock=clock)
    with device.open(str(path)) as file:
        file.read(100)
        file.seek(700)
        file.read(50)
    reads = device.trace.reads(start_s=50.0)
    assert [(r.offset, r.size_bytes, r.seeks, r.thread) for r in reads] == [(0, 100, 1, 0), (700, 50, 1, 0)]
    assert reads[0].done_s == pytest.approx(reads[0].due_s) == pytest.approx(reads[1].submitted_s)


def test_fresh_forgets_trace_and_head(path: Path) -> None:
    device = EmulatedFileSystem(SLOW, clock=FakeClock())
    with device.open(str(path)) as file:
        file.read(100)
        device.fresh()
        assert len(device.trace) == 0
        file.read(100)
    assert device.trace.reads(start_s=0)[0].seeks == 1


def test_it_is_read_only_and_says_so(path: Path) -> None:
    with pytest.raises(OSError, match="the emulated device is only read"):
        EmulatedFileSystem(SLOW).open(str(path), "wb")


def test_a_missing_file_is_missing_as_on_a_local_disk(tmp_path: Path) -> None:
    device = EmulatedFileSystem(SLOW)
    assert not device.exists(f"dev://{tmp_path}/none")
    with pytest.raises(FileNotFoundError):
        device.open(f"dev://{tmp_path}/none")


def test_slow_motion_below_one_is_refused() -> None:
    with pytest.raises(BadValue, match="time_scale=0.5 must be from 1 to 1000"):
        EmulatedFileSystem(SLOW, time_scale=0.5)


def test_a_hundred_measurements_leave_no_open_file(path: Path) -> None:
    """DuckDB drops the handles that it opened without closing them."""
    resource = pytest.importorskip("resource")
    folder = Path("/proc/self/fd") if Path("/proc/self/fd").exists() else Path("/dev/fd")
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT range AS k FROM range(20_000)) TO '{path}' (FORMAT parquet)")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = len(list(folder.iterdir()))
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, before + 100), hard))
    try:
        for _ in range(100):
            run_emulated(
                Query(sql="SELECT sum(k) FROM {table}", path=path), INSTANT, EngineSettings(), repeats=1
            )
        assert len(list(folder.iterdir())) <= before + 2
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
