"""A file of linked pages, and readers that learn the next address from the bytes they read."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from readahead import paths
from readahead.chapters.index_pages.laws import PAGE_BYTES
from readahead.chapters.index_pages.workload import (
    COUNT,
    COUNTED,
    DETAILED,
    INDEX_WAYS,
    LIMITED,
    MAP,
    NEXT,
    PROBES,
    SAMPLED,
    Inspection,
    PageIndex,
    layout,
    page_in,
    pages_of_reads,
    reader_costs,
    reads_of,
    write,
)
from readahead.devices import Device
from readahead.errors import Cancelled, DataError
from readahead.measure.sample import Sample
from readahead.models.schedule import Costs, waking
from readahead.running import Event, listening
from readahead.units import KiB

INDEX = PageIndex(leaf_pages=1_024, fanout=40)
QUICK = Device(name="quick", latency_s=0.0005, bandwidth_bytes_per_s=1e9, channels=64)


def inspect(device: Device, *, repeats: int = 1, index: PageIndex = INDEX, **more: Any) -> Sample:
    """Return the sample of an inspection."""
    return Inspection(index=index, device=device, **more).measure(repeats=repeats)


def leftovers() -> list[str]:
    """Return index files that are still there."""
    return [path.name for path in paths.cache_dir().glob("index-*")]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))


def test_a_chain_has_one_read_under_way_however_deep_the_queue() -> None:
    sample = inspect(QUICK, way=LIMITED, queue_depth=64)
    assert sample.max_in_flight == 1
    assert len(sample.reads) == INDEX.upper_pages + 1
    assert leftovers() == []


def test_links_and_map_read_the_same_pages() -> None:
    linked = inspect(QUICK, way=LIMITED, read_bytes=16 * KiB)
    by_map = inspect(QUICK, way=MAP, read_bytes=16 * KiB, queue_depth=8)
    assert sorted(r.offset for r in linked.reads) == sorted(r.offset for r in by_map.reads)
    assert linked.bytes_read == by_map.bytes_read
    assert 1 < by_map.max_in_flight <= 8
    assert linked.answer[0] == by_map.answer[0] == INDEX.leaf_pages


def test_all_ways_that_see_it_agree_on_what_they_see() -> None:
    told = {way: inspect(QUICK, way=way, queue_depth=16).answer for way in INDEX_WAYS}
    assert {answer[0] for answer in told.values()} == {INDEX.leaf_pages}
    assert told[COUNT][1] == pytest.approx(told[DETAILED][1])
    assert told[LIMITED][1] is None


def test_a_sample_of_a_large_index_is_near_the_whole() -> None:
    large = PageIndex(leaf_pages=10_240, fanout=404)
    device = QUICK.but(latency_s=0.0, bandwidth_bytes_per_s=1e11)
    sampled = inspect(device, way=SAMPLED, queue_depth=4, index=large)
    assert len(sampled.reads) == 1 + large.upper_pages + 103
    whole = inspect(device, way=COUNT, read_bytes=64 * KiB, queue_depth=4, index=large)
    assert sampled.answer[1] == pytest.approx(whole.answer[1], rel=0.2)


@pytest.mark.parametrize("way", [LIMITED, DETAILED])
def test_it_can_be_stopped_and_leaves_nothing(way: str) -> None:
    stop, heard = threading.Event(), []

    def listen(event: Event) -> None:
        heard.append(event)
        if len(heard) == 2:
            stop.set()

    slow = QUICK.but(latency_s=0.002, channels=1)
    with pytest.raises(Cancelled), listening(listen, stop):
        inspect(slow, way=way, queue_depth=2, repeats=3)
    assert len(heard) == 2  # in the midst of the second run
    assert leftovers() == []
    assert not [t for t in threading.enumerate() if t.name.startswith("readahead-reader")]


def test_nothing_is_told_while_a_run_is_timed() -> None:
    heard: list[str] = []
    with listening(lambda event: heard.append(event.note)):
        inspect(QUICK, way=DETAILED, queue_depth=4, repeats=2)
    assert [note.split(":")[0] for note in heard] == ["run 1 of 2", "run 2 of 2", "done"]


def test_the_probes_show_what_readers_take() -> None:
    def seen(probe: Inspection, read_s: float, wake_s: float, turn_s: float, asleep_s: float) -> Sample:
        linked, known = reads_of(probe.index, probe.way, probe.read_bytes)
        slept_s = wake_s * waking(probe.device.latency_s, asleep_s)
        alone_s = probe.device.latency_s + read_s + slept_s
        more_pages = len(known) * (probe.pages_a_read - 1)
        together_s = (len(known) - 1) * turn_s + probe.threads * 30e-6 + more_pages * 4e-6 + 90e-6 + alone_s
        return SimpleNamespace(median_s=len(linked) * alone_s + (together_s if len(known) else 0))

    slow = [seen(probe, 90e-6, 50e-6, 80e-6, 5e-3) for probe in PROBES]
    usual = [seen(probe, 20e-6, 40e-6, 50e-6, 8e-3) for probe in PROBES]
    costs = reader_costs([*usual, *slow, *usual])
    found = costs.read_s, costs.wake_s, costs.asleep_s, costs.dispatch_s
    assert found == pytest.approx((20e-6, 40e-6, 8e-3, 50e-6))
    assert (costs.open_s, costs.row_s, costs.close_s) == pytest.approx((30e-6, 4e-6, 90e-6))
    assert costs.plan_s == costs.group_s == 0


def test_each_page_of_a_read_but_the_first_takes_its_time() -> None:
    short, long = (
        Inspection(index=PageIndex(leaf_pages=1_024, fanout=64), device=QUICK, way=COUNT, read_bytes=size)
        for size in (8 * KiB, 64 * KiB)
    )
    assert short.pages_a_read == 1 and 7 < long.pages_a_read <= 8
    costs = Costs(read_s=20e-6, dispatch_s=50e-6, open_s=30e-6, row_s=4e-6)
    told = short.side_by_side(costs)
    assert (told.read_s, told.dispatch_s, told.open_s) == (20e-6, 50e-6, 30e-6)
    told, more_s = replace(long, queue_depth=16).side_by_side(costs), (long.pages_a_read - 1) * 4e-6
    assert (told.read_s, told.dispatch_s) == pytest.approx((20e-6 + more_s, 50e-6 + more_s))
    assert told.open_s == pytest.approx(16 * 30e-6)


def test_pages_of_a_read_are_known_before_it_and_each_page_is_in_one() -> None:
    index = PageIndex(leaf_pages=1_024, fanout=64)
    reads = pages_of_reads(index, DETAILED, 64 * KiB)
    assert sorted(page for _, pages in reads for page in pages) == sorted(layout(index)[1].tolist())
    for span, pages in reads:
        assert {index.block(page, 64 * KiB) for page in pages} == {span}
    assert [span for span, _ in reads] == [
        tuple(span) for span in reads_of(index, DETAILED, 64 * KiB)[1].tolist()
    ]


def test_a_folder_that_cannot_be_used_is_said_in_one_sentence(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match="READAHEAD_CACHE"):
        inspect(QUICK, way=LIMITED)


def test_the_clock_of_the_trace_is_the_clock_of_the_seconds() -> None:
    sample = inspect(QUICK.but(latency_s=0.002), way=DETAILED, read_bytes=64 * KiB, queue_depth=8, repeats=2)
    assert min(read.submitted_s for read in sample.reads) >= 0
    seconds = dict(
        zip(sample.cpu_s, sample.seconds, strict=True)
    )  # the reads are of the run that took the least
    assert max(read.done_s for read in sample.reads) <= seconds[min(sample.cpu_s)]
    assert np.all(np.diff([read.submitted_s for read in sample.reads]) >= 0)
    chain = list(sample.reads)[: INDEX.upper_pages + 1]
    for before, after in itertools.pairwise(chain):
        assert after.submitted_s >= before.done_s


# -- the file --------------------------------------------------------------------------------------------
SMALL = PageIndex(leaf_pages=1_000, fanout=37)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of the small index."""
    path = tmp_path_factory.mktemp("index") / "small.part"
    write(SMALL, path)
    return path.read_bytes()


def test_the_links_lead_through_every_upper_page_and_count_every_leaf_once(data: bytes) -> None:
    seen, below, page = [], 0, page_in(data, 0, 0)[NEXT]
    while page >= 0:
        seen.append(page)
        read = page_in(data, 0, page)
        below += read[COUNTED]
        page = read[NEXT]
    upper, leaves = layout(SMALL)
    assert seen == upper.tolist() and len(seen) == SMALL.upper_pages
    assert below == len(leaves) == SMALL.leaf_pages
    assert sorted([0, *seen, *leaves.tolist()]) == list(range(SMALL.pages))
    assert len(data) == SMALL.pages * PAGE_BYTES


def test_the_chain_does_not_lie_in_order() -> None:
    upper, _ = layout(SMALL)
    assert np.any(np.diff(upper) < 0)


@pytest.mark.parametrize("read_bytes", [8_192, 65_536])
def test_a_read_has_its_page_in_it_and_stays_in_the_file(data: bytes, read_bytes: int) -> None:
    for page in (0, 1, SMALL.pages // 2, SMALL.pages - 1):
        offset, size = SMALL.block(page, read_bytes)
        assert offset % read_bytes == 0 and offset + size <= SMALL.pages * PAGE_BYTES
        assert page_in(data[offset : offset + size], offset, page)[1] == page


def test_another_page_and_a_short_file_are_noticed(data: bytes) -> None:
    for piece, page in ((data[PAGE_BYTES : 2 * PAGE_BYTES], 0), (data[:100], 0), (bytes(PAGE_BYTES), 0)):
        with pytest.raises(DataError, match="damaged"):
            page_in(piece, 0, page)
