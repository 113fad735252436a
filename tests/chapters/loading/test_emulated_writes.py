"""A device that takes its time to be written to, on a clock that the test owns."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from fake_clock import FakeClock

from readahead.chapters.loading.workload import WritingFileSystem
from readahead.devices import Device
from readahead.storage.emulated import PROTOCOL

SLOW = Device(name="slow", latency_s=0.01, bandwidth_bytes_per_s=1_000.0, channels=1)


def test_a_write_waits_for_its_bytes_and_a_close_for_the_sync(tmp_path: Path) -> None:
    clock = FakeClock()
    device = WritingFileSystem(SLOW, clock=clock)
    file = device.open(f"dev://{tmp_path}/a", "wb")
    assert file.write(b"x" * 100) == 100
    assert clock.now_s() == pytest.approx(0.01 + 0.1)
    file.close()
    file.close()  # a second time costs nothing
    assert clock.now_s() == pytest.approx(0.12)
    assert (tmp_path / "a").read_bytes() == b"x" * 100
    with pytest.raises(OSError, match="only read"):
        device.open(f"{tmp_path}/a", "ab")


def test_duckdb_writes_through_it_and_reads_back_what_it_wrote(tmp_path: Path) -> None:
    device = WritingFileSystem(SLOW.but(latency_s=1e-5, bandwidth_bytes_per_s=1e9))
    with duckdb.connect() as connection:
        connection.register_filesystem(device)
        name = f"'{PROTOCOL}://{tmp_path}/made.parquet'"
        connection.execute(
            f"COPY (SELECT range AS n FROM range(1000)) TO {name} (FORMAT parquet, USE_TMP_FILE false)"
        )
        writes = len(device.trace)
        (total,) = connection.execute(f"SELECT sum(n) FROM read_parquet({name})").fetchall()[0]
        connection.unregister_filesystem(PROTOCOL)
    assert writes >= 2 and total == 499_500
    sizes = [read.size_bytes for read in device.trace.reads(start_s=0.0)][:writes]
    assert sum(sizes) == (tmp_path / "made.parquet").stat().st_size
