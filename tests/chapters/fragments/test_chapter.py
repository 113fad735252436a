"""The disk with a head, modeled and really measured."""

from __future__ import annotations

import threading

import pytest

from readahead.chapters import chapter
from readahead.chapters.fragments.chapter import EXPERIMENT, FIGURES, READERS, ROUNDS, plain
from readahead.chapters.fragments.workload import Readers
from readahead.errors import Cancelled
from readahead.experiments.round import Study
from readahead.models.queue import DeviceQueue
from readahead.running import listening
from readahead.units import KiB


@pytest.fixture(scope="module")
def study() -> Study:
    """Return the chapter's study on a quick disk, so that a test takes no long."""
    return Study(EXPERIMENT, repeats=1, size="tiny", seek_s=0.002)


@pytest.mark.parametrize("fragment_bytes", [64 * KiB, 512 * KiB])
def test_the_device_seeks_as_often_as_the_model_says(study: Study, fragment_bytes: int) -> None:
    """One read at a time comes in order, so the seeks are exact."""
    settings = study.settings(fragment_bytes=fragment_bytes, queue_depth=1)
    sample = EXPERIMENT.measure(settings, repeats=1)
    case = EXPERIMENT.case(settings)
    queue = DeviceQueue(case.device, fragment_bytes)
    expected = [queue.book(0.0, offset, size)[1] for offset, size in case.plan().listed]
    assert [read.seeks for read in sample.reads] == expected


def test_short_pieces_are_slower_on_a_disk_and_not_on_flash(study: Study) -> None:
    pieces, whole = ({"fragment_bytes": size} for size in (64 * KiB, 64 * 1024 * KiB))
    disk = study.model.seconds(**pieces) / study.model.seconds(**whole)
    assert disk.median > 1.5
    seeks = [sum(read.seeks for read in study.sample(**piece).reads) for piece in (pieces, whole)]
    assert seeks[0] > 4 * seeks[1] > 0
    flash = ROUNDS["flash"].ask
    assert flash is not None
    assert flash(study.model).median == pytest.approx(1.0, abs=0.02)


def test_eight_readers_hurt_one_head_and_help_eight(study: Study) -> None:
    one, eight = ROUNDS["one_head"].ask, ROUNDS["eight_heads"].ask
    assert one is not None
    assert eight is not None
    assert one(study.model).median > 2
    assert eight(study.model).median > 2
    seeks = {
        readers: sum(read.seeks for read in study.sample(**plain(readers=readers, channels=1)).reads)
        for readers in (1, 8)
    }
    assert seeks[8] > 4 * seeks[1]


def test_readers_read_every_byte_of_their_part(study: Study) -> None:
    settings = study.settings(workload=READERS, readers=4, channels=1)
    sample = EXPERIMENT.measure(settings, repeats=1)
    assert sample.bytes_read == EXPERIMENT.work(settings)
    assert EXPERIMENT.counts(settings) == {"reads": len(sample.reads), "bytes_read": sample.bytes_read}
    assert len({read.offset for read in sample.reads}) == len(sample.reads)
    assert sample.max_in_flight == 4


def test_readers_can_be_cancelled_and_leave_no_thread(study: Study) -> None:
    stop = threading.Event()
    settings = study.settings(workload=READERS, readers=2)
    path = EXPERIMENT.case(settings).build()
    slow = EXPERIMENT.device(settings).but(latency_s=50.0)
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(Cancelled), listening(stop=stop):
        Readers(device=slow, readers=2, request_bytes=64 * KiB, total_bytes=1024 * KiB).measure(path)
    assert not [t for t in threading.enumerate() if t.name.startswith("readahead")]


def test_both_ends_of_every_knob_can_be_modeled() -> None:
    for knob in EXPERIMENT.knobs:
        for value in knob.choices or (knob.low, knob.high):
            assert EXPERIMENT.model(EXPERIMENT.settings(**{knob.name: value})).seconds > 0


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn(study: Study, name: str) -> None:
    picture = chapter("fragments").figure(name)(study)
    assert picture.sentence
    assert picture.rows


def test_model_and_measurement_are_asked_the_same_of_the_disk() -> None:
    """Opening and decoding are in neither, so that the comment's third is met by both."""
    disk = Study(EXPERIMENT, repeats=1, size="tiny", seek_s=0.0099)
    for name in ("yield", "rebuild"):
        modeled, measured = ROUNDS[name].modeled_value(disk), ROUNDS[name].measured_value(disk)
        assert modeled is not None
        assert measured is not None
        assert measured.median == pytest.approx(modeled.median, rel=0.05)


def test_half_speed_is_claimed_of_a_file_that_outlasts_its_opening() -> None:
    study = Study(EXPERIMENT, repeats=1, size="tiny", seek_s=0.0099, queue_depth=2)
    claim = chapter("fragments").claim("half_is_half")
    with study.noting() as noted:
        claim.on(study)
    half, whole = (study.model.seconds(**settings) for settings in noted.values())
    finding = claim.test(half, whole, study)
    assert finding.verdict == "agrees", finding.says


def test_the_readers_have_the_notebook_s_own_disk() -> None:
    assert "seek_s" not in plain()
    quick, slow = (Study(EXPERIMENT, size="tiny", seek_s=seek_s) for seek_s in (0.001, 0.0099))
    cost = [ROUNDS["one_head"].modeled_value(study) for study in (quick, slow)]
    assert cost[0] is not None
    assert cost[1] is not None
    assert cost[1].median > 4 * cost[0].median
