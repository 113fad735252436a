"""Readers that learn the next address from the bytes they read: the same pages either way, nothing left behind."""

from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest

from readahead import paths
from readahead.chapters.index_pages.laws import COUNT, DETAILED, INDEX_WAYS, LIMITED, MAP
from readahead.chapters.index_pages.page_chain import run_index
from readahead.chapters.index_pages.page_index import PageIndex
from readahead.devices import Device
from readahead.errors import Cancelled, DataError
from readahead.running import Event, listening
from readahead.units import KiB

INDEX = PageIndex(leaf_pages=1_024, fanout=40)
QUICK = Device(name="quick", latency_s=0.0005, bandwidth_bytes_per_s=1e9, channels=64)


def leftovers() -> list[str]:
    """Return index files that are still there."""
    return [path.name for path in paths.cache_dir().glob("index-*.part")]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))


def test_a_chain_has_one_read_under_way_however_deep_the_queue() -> None:
    sample = run_index(INDEX, QUICK, way=LIMITED, queue_depth=64, repeats=1)
    assert sample.max_in_flight == 1
    assert len(sample.reads) == INDEX.upper_pages + 1
    assert leftovers() == []


def test_links_and_map_read_the_same_pages() -> None:
    linked = run_index(INDEX, QUICK, way=LIMITED, read_bytes=16 * KiB, repeats=1)
    listed = run_index(INDEX, QUICK, way=MAP, read_bytes=16 * KiB, queue_depth=8, repeats=1)
    assert sorted(r.offset for r in linked.reads) == sorted(r.offset for r in listed.reads)
    assert linked.bytes_read == listed.bytes_read
    assert 1 < listed.max_in_flight <= 8
    assert linked.answer[1] == listed.answer[1] == INDEX.leaf_pages


def test_all_ways_that_see_it_agree_on_what_they_see() -> None:
    told = {way: run_index(INDEX, QUICK, way=way, queue_depth=16, repeats=1).answer for way in INDEX_WAYS}
    assert {answer[1] for answer in told.values()} == {INDEX.leaf_pages}
    assert told[LIMITED][0] == told[DETAILED][0] > 0
    assert told[COUNT][2] == pytest.approx(told[DETAILED][2])
    assert told[LIMITED][2] is None


def test_a_sample_of_a_large_index_is_near_the_whole() -> None:
    large = PageIndex(leaf_pages=10_240, fanout=404)
    device = QUICK.but(latency_s=0.0, bandwidth_bytes_per_s=1e11)
    sampled = run_index(large, device, way=INDEX_WAYS[2], queue_depth=4, repeats=1)
    assert len(sampled.reads) == 1 + large.upper_pages + 103
    whole = run_index(large, device, way=COUNT, read_bytes=64 * KiB, queue_depth=4, repeats=1)
    assert sampled.answer[2] == pytest.approx(whole.answer[2], rel=0.2)


@pytest.mark.parametrize("way", [LIMITED, DETAILED])
def test_it_can_be_stopped_and_leaves_nothing(way: str) -> None:
    stop, heard = threading.Event(), []

    def listen(event: Event) -> None:
        heard.append(event)
        if len(heard) == 4:
            stop.set()

    slow = QUICK.but(latency_s=0.05, channels=1)
    with pytest.raises(Cancelled), listening(listen, stop):
        run_index(INDEX, slow, way=way, queue_depth=2)
    assert len(heard) < 20
    assert leftovers() == []
    assert not [t for t in threading.enumerate() if t.name.startswith("readahead-hand")]


def test_a_folder_that_cannot_be_used_is_said_in_one_sentence(tmp_path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "file"))
    with pytest.raises(DataError, match="READAHEAD_CACHE"):
        run_index(INDEX, QUICK, way=LIMITED)


def test_the_clock_of_the_trace_is_the_clock_of_the_seconds() -> None:
    sample = run_index(
        INDEX, QUICK.but(latency_s=0.002), way=DETAILED, read_bytes=64 * KiB, queue_depth=8, repeats=2
    )
    ends = max(read.done_s for read in sample.reads)
    assert ends <= sample.seconds[-1]
    assert np.all(np.diff([read.submitted_s for read in sample.reads]) >= 0)
    chain = list(sample.reads)[: INDEX.upper_pages + 1]
    for before, after in itertools.pairwise(chain):
        assert after.submitted_s >= before.done_s
