"""Loaders at work: every row arrives once, nothing stays, and one that is killed has lost nothing it reported."""

from __future__ import annotations

import threading
from dataclasses import asdict
from pathlib import Path

import pytest

from readahead import devices, paths
from readahead.chapters.loading import laws, workload
from readahead.chapters.loading.laws import LoadCosts
from readahead.chapters.loading.workload import (
    EMULATED_FILES,
    FILES,
    TARGETS,
    crashed,
    load_calibration,
    run_writers,
)
from readahead.errors import Cancelled, DataError
from readahead.measure.sample import Sample
from readahead.running import listening
from readahead.storage.trace import Read

VOLUME = devices.device("cloud-volume").but(latency_s=1e-4)


@pytest.fixture(autouse=True)
def cupboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a cupboard of its own."""
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("count", [1, 5])
def test_every_row_arrives_once_and_nothing_stays(target: str, count: int, cupboard: Path) -> None:
    sample = run_writers(target, VOLUME, writers=count, commit_rows=90, rows=1_000, repeats=2)
    assert sample.answer == (1_000,)
    assert len(sample.seconds) == 2 and min(sample.seconds) > 0
    assert bool(sample.reads) == (target == EMULATED_FILES)
    assert [path for path in cupboard.iterdir() if path != paths.own_dir()] == []  # compiled code stays


def test_a_batch_is_written_and_then_synced() -> None:
    sample = run_writers(EMULATED_FILES, VOLUME, writers=2, commit_rows=100, rows=1_000, repeats=1)
    syncs = [read for read in sample.reads if read.size_bytes == 0]
    assert len(syncs) == 10
    assert len(sample.reads) == 20


def test_a_load_is_cancelled_and_leaves_nothing(cupboard: Path) -> None:
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()
    with pytest.raises(Cancelled), listening(stop=stop):
        run_writers(
            EMULATED_FILES,
            VOLUME.but(latency_s=0.02),
            writers=1,
            commit_rows=10,
            rows=10**7,
            repeats=1,
        )
    timer.join()
    assert [path for path in cupboard.iterdir() if path != paths.own_dir()] == []  # compiled code stays


def test_a_cupboard_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", "/proc/nowhere")
    with pytest.raises(DataError, match="READAHEAD_CACHE"):
        run_writers(FILES, VOLUME, writers=1, commit_rows=10, rows=10)


def test_a_failing_writer_is_one_clear_error(cupboard: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload, "ROWS_SQL", "SELECT no_such_column FROM range({0}, {1}) t(i)")
    with pytest.raises(DataError, match="A batch could not be written"):
        run_writers(EMULATED_FILES, VOLUME, writers=3, commit_rows=10, rows=100, repeats=1)
    assert [path for path in cupboard.iterdir() if path != paths.own_dir()] == []  # compiled code stays


def test_a_batch_and_a_row_have_a_price(cupboard: Path, calibrated_as_ever: None) -> None:
    costs = load_calibration(EMULATED_FILES).run(turns=1)
    assert costs.batch_s > 0 and costs.row_s > 0 and 5 < costs.bytes_per_row < 60
    assert load_calibration(EMULATED_FILES).costs() == costs == load_calibration(EMULATED_FILES).ensure()


def test_a_killed_loader_has_lost_nothing_it_reported(cupboard: Path) -> None:
    left = crashed(200, after_commits=5)
    assert left.reported_rows >= 1_000
    assert left.found_rows >= left.reported_rows
    assert left.found_rows % 200 == 0
    assert [path for path in cupboard.iterdir() if path != paths.own_dir()] == []  # compiled code stays


def test_what_a_load_takes_is_read_off_the_runs_of_its_calibration() -> None:
    """Their seconds are those that the law says: it gives back what it was made with."""
    costs = LoadCosts(
        batch_s=2e-3, row_s=1e-7, row_share=0.5, share_2=0.7, share_4=0.6, share_8=0.7, share_64=0.9, start_s=3e-3,
        writer_s=1e-4, bytes_per_row=14.0, wake_8_s=4e-4, wake_32_s=2e-3,
    )  # fmt: skip
    own, samples = load_calibration(EMULATED_FILES), []
    for case in own.cases():
        device, writers, rows = case.args[1], case.keywords["writers"], case.keywords["commit_rows"]
        batches = case.keywords["rows"] // rows
        took_s = laws.load_s(device, costs, writers=writers, commit_rows=rows, batches=batches)
        ends_s = took_s - writers * costs.writer_s
        first_s = costs.batch_s + rows * costs.row_s + costs.start_s
        writes = [
            Read(offset=0, size_bytes=size_bytes, thread=0, submitted_s=at_s, due_s=at_s, done_s=at_s)
            for size_bytes, at_s in ((14 * rows * batches, first_s), (0, ends_s))
        ]
        samples.append(
            Sample(seconds=(took_s,), cpu_s=(took_s,), reads=tuple(writes), bytes_read=0, where="a law")
        )
    told = own.read_off(samples)
    for name, seconds in asdict(costs).items():
        assert getattr(told, name) == pytest.approx(seconds, rel=0.05, abs=2e-5), name
