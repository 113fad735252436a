"""This machine's disk: real files, real reads, and a fit that finds a device it knows."""

from __future__ import annotations

import errno
import random
import threading
from concurrent.futures import Future
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readahead import devices
from readahead.__main__ import run
from readahead.devices import Device
from readahead.errors import Cancelled, DataError
from readahead.measure import disk
from readahead.measure.disk import Cell, Probe, RawFile
from readahead.models.queue import DeviceQueue
from readahead.running import listening
from readahead.units import KiB, MiB

BLOCKS = (4 * KiB, 64 * KiB, 1 * MiB)
ORDERS = (disk.SEQUENTIAL, disk.SHUFFLED)


def cell(device: Device, block: int, depth: int, order: str, reads: int = 400) -> Cell:
    """Return what a disk would answer that is exactly `device`: the physics of the emulated device, without waiting."""
    queue, rng = DeviceQueue(device), random.Random(1)
    slots, latencies = [0.0] * depth, []
    for number in range(reads):
        now_s = min(slots)
        offset = number * block if order == "sequential" else rng.randrange(10**12)
        due_s, _ = queue.book(now_s, offset, block)
        slots[slots.index(now_s)] = due_s
        latencies.append(due_s - now_s)
    return Cell(
        block_bytes=block, depth=depth, order=order, elapsed_s=max(slots), latencies_s=tuple(latencies)
    )


@settings(max_examples=12)
@given(st.floats(2e-5, 2e-3), st.floats(2e8, 5e9), st.integers(1, 8), st.sampled_from([1.0, 3.0]))
def test_the_fit_finds_flash_again(latency_s: float, link: float, channels: int, wider: float) -> None:
    true = Device(
        name="true", latency_s=latency_s, bandwidth_bytes_per_s=link,
        channel_bandwidth_bytes_per_s=link / wider, channels=channels,
    )  # fmt: skip
    cells = tuple(cell(true, b, d, o) for b in disk.BLOCKS for d in disk.DEPTHS for o in ORDERS)
    found = disk.fit(Probe(cells=cells, how="cold"))
    for one, modeled in zip(cells, disk.modeled_reads_per_s(found, cells), strict=True):
        assert modeled == pytest.approx(one.reads_per_s, rel=0.35)
    assert found.seek_s == 0


def test_the_fit_sees_the_head_of_a_disk_with_one() -> None:
    spinning = devices.device("sas-15k")
    cells = tuple(cell(spinning, b, 1, o) for b in disk.BLOCKS for o in ORDERS)
    found = disk.fit(Probe(cells=cells, how="cold"))
    assert found.seek_s == pytest.approx(spinning.seek_s, rel=0.1)
    assert found.channels == 1


def test_a_real_disk_is_read_with_every_block_depth_and_order_and_left_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    found = disk.probe(file_bytes=4 * MiB, seconds_each=0.01, blocks=BLOCKS, depths=(1, 3))
    assert len(found.cells) == 3 * 2 * 2
    assert all(one.latencies_s and one.reads_per_s > 0 for one in found.cells)
    assert found.how.startswith(("cold", "warm"))
    assert list(tmp_path.iterdir()) == []
    assert all(rate > 0 for rate in disk.modeled_reads_per_s(disk.fit(found), found.cells))


def test_a_cancelled_probe_leaves_no_file_and_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(Cancelled), listening(stop=stop):
        disk.probe(file_bytes=4 * MiB, seconds_each=20.0)
    assert list(tmp_path.iterdir()) == []
    assert not [thread for thread in threading.enumerate() if thread.name == "readahead-probe"]


def test_an_interrupt_waits_for_every_reader_before_the_file_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    failed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: failed.append(told.exc_value))

    def interrupted(_self: Future[None]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Future, "result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        disk.probe(file_bytes=4 * MiB, seconds_each=20.0, blocks=BLOCKS, depths=(8,))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("readahead-probe")]
    assert failed == [] and list(tmp_path.iterdir()) == []


def test_a_read_that_fails_is_told_and_no_reader_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))

    def broken(_self: RawFile, _offset: int, _size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(RawFile, "read_at", broken)
    with pytest.raises(DataError, match="could not read .*: Input/output error. Check the disk"):
        disk.probe(file_bytes=4 * MiB, seconds_each=20.0, blocks=BLOCKS, depths=(8,))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("readahead-probe")]
    assert list(tmp_path.iterdir()) == []


def test_a_disk_too_full_and_a_folder_that_is_none_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    with pytest.raises(DataError, match="Reading the disk needs .* are free. Free some space"):
        disk.probe(file_bytes=10**18)
    (tmp_path / "file").touch()
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(DataError, match="could not be written to .*: Not a directory"):
        disk.probe(file_bytes=MiB)


def test_the_command_puts_this_machine_into_the_catalogue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    monkeypatch.setattr("readahead.commands.calibrate.TABLES", {"comments_narrow": None})
    assert run(["calibrate", "--quick"]) == 0
    assert devices.device(devices.THIS_MACHINE).latency_s > 0
    assert "this-machine: latency" in capsys.readouterr().out
