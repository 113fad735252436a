"""DuckDB's cache of external files, held to a cache that drops the least recently used; and what others printed."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from readahead.chapters.cache_tiers import tier_times
from readahead.chapters.cache_tiers.access_trace import SCAN, UNIFORM, ZIPF
from readahead.chapters.cache_tiers.chapter import EXPERIMENT, FIGURES, FITTED, ROUNDS, residuals
from readahead.chapters.cache_tiers.experiment import again, blocks, far, quick, replayed, scanned, seen
from readahead.chapters.cache_tiers.tier_times import DROP, SPILL
from readahead.experiments.round import Bench
from readahead.models.schedule import Costs
from readahead.units import KiB, MiB


@pytest.fixture(scope="module")
def bench() -> Bench:
    """Return the chapter's bench, with one repeat."""
    return Bench(EXPERIMENT, repeats=1)


def test_the_printed_figures_agree_but_for_the_named_one() -> None:
    errors = {name: abs(model / said - 1) for name, model, said in residuals()}
    assert float(np.median(list(errors.values()))) <= 0.03
    assert [name for name, error in errors.items() if error > 0.1] == ["total_s.cold.sorted, two nodes"]
    assert 0 < errors["block_cache_bytes.dedicated"] < 0.01
    assert len(errors) > FITTED


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("access", [UNIFORM, ZIPF])
@pytest.mark.parametrize("rows", [4_096, 8_192])
def test_duckdb_hits_as_an_lru_cache_does(bench: Bench, share: float, access: str, rows: int) -> None:
    changes = quick(memory_share=share, access=access, row_group_rows=rows)
    assert seen(bench, **changes).hit_ratio == pytest.approx(replayed(bench, **changes), abs=0.05)


@pytest.mark.parametrize(("share", "depth"), [(0.9, 2), (0.9, 8), (1.1, 8), (1.25, 2)])
def test_a_scan_that_comes_back_falls_off_the_cliff(bench: Bench, share: float, depth: int) -> None:
    changes = scanned(share, queue_depth=depth)
    assert seen(bench, **changes).hit_ratio == pytest.approx(replayed(bench, **changes), abs=0.1)


@pytest.mark.parametrize("rows", [2_048, 4_096, 8_192])
def test_the_cache_is_as_large_as_it_was_asked_to_be(bench: Bench, rows: int) -> None:
    changes = quick(access=UNIFORM, memory_share=0.5, row_group_rows=rows)
    room = EXPERIMENT.shelf(bench.settings(**changes)).room_bytes
    one = max(EXPERIMENT.shelf(bench.settings(**changes)).sizes)
    assert abs(seen(bench, **changes).cached_bytes - room) <= 1.5 * one


def test_the_disk_between_keeps_the_device_out_of_it_unless_blocks_are_short(bench: Bench) -> None:
    dropped, spilled = seen(bench, **far(DROP)), seen(bench, **far(SPILL))
    assert spilled.hit_ratio > 0.9 > dropped.hit_ratio
    assert spilled.spilled_bytes > 0 == dropped.spilled_bytes
    assert seen(bench, **far(SPILL, 2_048)).spilled_bytes == 0
    assert not EXPERIMENT.spills(bench.settings(**far(SPILL, 2_048)))


def test_neighbours_of_a_remote_file_wait_for_the_block_that_they_share(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(EXPERIMENT), "costs", lambda _self, _settings: Costs())
    near, remote = (
        seen(bench, **scanned(1.25, run=1, latency_s=0.005, queue_depth=2, spill=way))
        for way in (DROP, SPILL)
    )
    assert (near.max_in_flight, remote.max_in_flight) == (2, 1)
    here, there = (
        EXPERIMENT.model(bench.settings(**scanned(1.25, run=1, latency_s=0.01, queue_depth=2, spill=way)))
        for way in (DROP, SPILL)
    )
    assert there.terms_s["latency"] == pytest.approx(2 * here.terms_s["latency"], rel=0.2)


def test_every_tier_gives_the_same_answer(bench: Bench) -> None:
    answers = [seen(bench, **far(way)).answer for way in (DROP, SPILL)]
    answers += [seen(bench, **far(DROP), run=1).answer]
    assert len(set(answers)) == 1
    scans = [seen(bench, **scanned(share)).answer for share in (0.9, 1.25)]
    assert len({*scans, seen(bench, **blocks(16 * KiB)).answer}) == 1


def test_an_empty_cache_reads_each_row_group_once_and_a_full_one_none(bench: Bench) -> None:
    shelf = EXPERIMENT.shelf(bench.settings(**again(1)))
    first = [(read.offset, read.size_bytes) for read in seen(bench, **again(1)).reads]
    assert len(first) == len(set(first)) == len(set(shelf.asked))
    assert sum(size for _, size in first) == sum(shelf.sizes[item] for item in set(shelf.asked))
    assert seen(bench, **again(2)).reads == ()


def test_blocks_cut_the_reads_and_not_the_bytes(bench: Bench) -> None:
    whole, cut = seen(bench, **blocks(1 * MiB)), seen(bench, **blocks(16 * KiB))
    assert max(read.size_bytes for read in cut.reads) <= 16 * KiB
    assert len(cut.reads) > 10 * len(whole.reads)
    assert sum(read.size_bytes for read in cut.reads) == pytest.approx(whole.bytes_read, rel=0.05)


@pytest.mark.parametrize("access", EXPERIMENT.knob("access").choices)
@pytest.mark.parametrize("spill", EXPERIMENT.knob("spill").choices)
def test_there_is_a_curve_along_every_number(access: str, spill: str) -> None:
    settings = EXPERIMENT.settings(access=access, spill=spill)
    for knob in EXPERIMENT.knobs:
        if knob.kind != "choice":
            curve = EXPERIMENT.curve(settings, knob.name, knob.grid(12))
            assert curve.shape == (12,)
            assert np.all(curve > 0)


def test_both_ends_of_every_knob_can_be_modeled() -> None:
    for access in (UNIFORM, SCAN):
        for knob in EXPERIMENT.knobs:
            if knob.name not in ("size", "access"):
                for value in knob.choices or (knob.low, knob.high):
                    settings = EXPERIMENT.settings(**{"access": access, knob.name: value})
                    assert EXPERIMENT.model(settings).seconds > 0
                    assert EXPERIMENT.cache(settings).memory_limit_bytes > 0


def test_a_remark_tells_the_hits(bench: Bench) -> None:
    changes = quick(access=UNIFORM, memory_share=0.5)
    assert "hits" in EXPERIMENT.remark(bench.settings(**changes), bench.glance(**changes))


def test_an_examination_draws_the_same_settings_for_the_same_seed() -> None:
    drawn = [EXPERIMENT.draw(random.Random(7)) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert {EXPERIMENT.draw(random.Random(seed))["access"] for seed in range(30)} == {UNIFORM, ZIPF, SCAN}


@pytest.mark.parametrize("name", ROUNDS)
def test_every_round_has_its_answers(bench: Bench, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    never = replace(tier_times.CACHE, name="never run")  # typical costs, whatever this machine does meanwhile
    monkeypatch.setattr(tier_times, "CACHE", never)
    round_ = ROUNDS[name]
    modeled, measured = round_.modeled_value(bench), round_.measured_value(bench)
    assert modeled is not None
    assert (measured is None) == (not round_.measures)
    if name in ("scan_gain", "spill", "second", "tiny_blocks"):
        assert modeled.median > 1.1


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn(bench: Bench, name: str) -> None:
    picture = FIGURES[name](bench)
    assert picture.sentence
    assert picture.rows
