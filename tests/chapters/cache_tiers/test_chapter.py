"""DuckDB's cache of external files, held to a cache that drops the least recently used; and what others printed."""

from __future__ import annotations

import random
import re
from bisect import bisect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from readahead.chapters import chapter
from readahead.chapters.cache_tiers import workload
from readahead.chapters.cache_tiers.cached_case import AccessTrace, QueryCosts
from readahead.chapters.cache_tiers.calibration import QUERIES
from readahead.chapters.cache_tiers.chapter import (
    EXPERIMENT,
    FIGURES,
    ROUNDS,
    TIGHT,
    again,
    blocks,
    counted,
    far,
    five_minute_rule,
    in_print,
    replayed,
    scanned,
    seen,
)
from readahead.chapters.cache_tiers.workload import DISK, DROP, SCAN, UNIFORM, ZIPF
from readahead.experiments.round import Study
from readahead.measure.sample import Sample
from readahead.models.schedule import Costs
from readahead.units import KiB, MiB
from tools import draws


@pytest.fixture(scope="module")
def study() -> Study:
    """Return the chapter's study, with one repeat."""
    return Study(EXPERIMENT, repeats=1)


def test_the_printed_figures_agree() -> None:
    assert max(one.error for one in in_print().residuals) <= 0.1


@pytest.mark.parametrize(
    ("access", "rows", "share"),
    [(UNIFORM, 8_192, 0.75), (ZIPF, 4_096, 0.25), (ZIPF, 8_192, 0.25), (ZIPF, 8_192, 0.75)],
)
def test_duckdb_hits_as_an_lru_cache_does(study: Study, share: float, access: str, rows: int) -> None:
    changes = counted(access, memory_share=share, row_group_rows=rows)
    hits = sorted(seen(Study(EXPERIMENT, repeats=1), **changes) for _ in range(3))[1]  # one may be disturbed
    assert hits == pytest.approx(replayed(study, **changes), abs=0.05)


@pytest.mark.parametrize(("share", "depth"), [(0.9, 2), (0.9, 8), (1.1, 8), (1.25, 2)])
def test_a_scan_that_comes_back_falls_off_the_cliff(study: Study, share: float, depth: int) -> None:
    """Held to the least of several runs.

    Beside busy cores a scan may drop a few blocks more than it needs room for; from then on it finds the rest. Seen in
    the trace: the first blocks are read anew, in order, and none of the later ones.
    """
    changes = scanned(share, queue_depth=depth)
    found = min(seen(Study(EXPERIMENT, repeats=1), **changes) for _ in range(5))
    assert found == pytest.approx(replayed(study, **changes), abs=0.1)


def test_the_disk_between_keeps_the_device_out_of_it_unless_blocks_are_short(study: Study) -> None:
    assert seen(study, **far(DISK)) > 0.9 > seen(study, **far(DROP))
    assert seen(study, **far(DISK, 2_048)) < 0.9
    assert [EXPERIMENT.case(study.settings(**far(DISK, rows))).spills for rows in (2_048, 4_096)] == [
        False,
        True,
    ]


def reads_after_one_another(sample: Sample) -> int:
    """Return in how many rounds a run reads; a round is all reads that are asked for before its first has arrived."""
    reads = sorted(sample.reads, key=lambda read: read.submitted_s)
    begins, rounds, at = [read.submitted_s for read in reads], 0, 0
    while at < len(reads):
        rounds, at = rounds + 1, bisect(begins, reads[at].due_s)
    return rounds


@pytest.mark.parametrize("block_bytes", [64 * KiB, 1 * MiB])
def test_as_many_reads_are_in_flight_where_neighbours_of_a_remote_file_share_a_block(
    study: Study, block_bytes: int
) -> None:
    """Whether a row group is several blocks or one: a thread that waits for another's block is then not missed."""
    changes = scanned(0.2, row_group_rows=2_048, latency_s=0.02, queue_depth=4, block_bytes=block_bytes)
    for way in (DROP, DISK):
        runs = [Study(EXPERIMENT, repeats=1).glance(**changes, spill=way) for _ in range(3)]
        assert min(map(reads_after_one_another, runs)) < 1.3 * len(runs[0].reads) / 4  # one may be disturbed
        # the end of a block that a row group shares with the footer may come beside the four; and of a remote file
        # DuckDB now and then holds the two more that `CachedCase.settings` has room for: of 36 runs 5 had six in all
        assert max(run.max_in_flight for run in runs) <= (6 if way == DISK else 5)
    here, there = (
        EXPERIMENT.case(study.settings(**changes, spill=way)).estimate(Costs()) for way in (DROP, DISK)
    )
    assert there.seconds == pytest.approx(here.seconds, rel=0.05)


def test_every_tier_gives_the_same_answer(study: Study) -> None:
    knobs = [far(DROP), far(DISK), {**far(DROP), "run": 1}]
    assert len({study.glance(**one).answer for one in knobs}) == 1
    knobs = [scanned(0.9), scanned(1.25), blocks(16 * KiB)]
    assert len({study.glance(**one).answer for one in knobs}) == 1


def test_an_empty_cache_reads_each_row_group_once_and_a_full_one_none(study: Study) -> None:
    first = [(read.offset, read.size_bytes) for read in study.glance(**again(1)).reads]
    trace = EXPERIMENT.case(study.settings(**again(1))).trace
    assert len(first) == len(set(first)) == len(set(trace.asked))
    assert sum(size for _, size in first) == sum(trace.sizes[item] for item in set(trace.asked))
    assert study.glance(**again(2)).reads == ()


def test_blocks_cut_the_reads_and_not_the_bytes(study: Study) -> None:
    whole, cut = study.glance(**blocks(1 * MiB)), study.glance(**blocks(16 * KiB))
    assert max(read.size_bytes for read in cut.reads) <= 16 * KiB
    assert len(cut.reads) > 10 * len(whole.reads)
    assert sum(read.size_bytes for read in cut.reads) == pytest.approx(whole.bytes_read, rel=0.05)


def test_the_givens_of_the_notebook_are_what_the_runs_do(study: Study) -> None:
    def trace(**changes: object) -> AccessTrace:
        return EXPERIMENT.case(study.settings(size="tiny", **changes)).trace

    assert len(trace(**counted(UNIFORM)).sizes) == 64
    assert EXPERIMENT.case(study.settings(**scanned(0.5))).window.slots == 2
    for rows, size in ((4_096, 330e3), (2_048, 165e3)):
        assert np.mean(trace(**far(DROP, rows)).sizes) == pytest.approx(size, rel=0.01)
    # 20 by the rule; on a busy machine a few find what another is fetching, or what was dropped too early.
    assert 16 <= len(study.glance(**far(DROP)).reads) <= 22
    assert len(set(trace(**again(1)).asked)) == 19
    assert int(TIGHT * 64) == 16
    assert [len(study.glance(**blocks(size)).reads) for size in (1 * MiB, 16 * KiB)] == [64, 1_333]


def test_the_fourth_run_finds_what_the_second_found(study: Study) -> None:
    told = [replayed(study, **again(run, TIGHT)) for run in (2, 4)]
    assert told[0] == pytest.approx(told[1])
    for found in (seen(study, **again(run, TIGHT)) for run in (2, 4)):
        # Beside a busy core blocks are dropped later now and then, and more is found (up to 0.75); never less.
        assert told[0] - 0.05 < found < 0.9  # no run finds all of it, so that a third could have learned more


def test_a_break_even_counts_what_is_given_and_nothing_twice(study: Study) -> None:
    assert five_minute_rule(study).result == pytest.approx(200 / 500_000 / (4_096 * 4 / 2**30))
    other = Study(
        EXPERIMENT, repeats=1, bandwidth_bytes_per_s=1e9
    )  # of the emulated device, not of the drive
    assert five_minute_rule(other).result == five_minute_rule(study).result
    assert five_minute_rule(study, 64 * KiB).result == pytest.approx(five_minute_rule(study).result)
    assert five_minute_rule(study, 2 * KiB).result == pytest.approx(2 * five_minute_rule(study).result)


def test_a_price_is_no_formula() -> None:
    questions = chapter("cache_tiers")
    shown = [entry.solution + " ".join(entry.hints) for entry in questions.exercises]
    shown += [entry.because for entry in questions.predictions]
    shown += [questions.question("exercise", entry.id) for entry in questions.exercises]
    assert [text for text in shown if re.search(r"\$\d", text)] == []  # it would be set as mathematics


def test_the_panel_opens_where_the_device_is_what_takes_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    never = replace(QUERIES, name="never run")  # typical costs
    monkeypatch.setattr(workload, "QUERIES", never)
    estimate = EXPERIMENT.model(EXPERIMENT.settings(queries=97))  # a case that was not kept
    assert estimate.terms_s["latency"] > 0.5 * estimate.seconds


@pytest.mark.parametrize("access", [UNIFORM, SCAN])
@pytest.mark.parametrize("spill", [DROP, DISK])
def test_both_ends_of_every_knob_can_be_modeled(access: str, spill: str) -> None:
    for knob in EXPERIMENT.knobs:
        if knob.kind != "choice":
            for value in (knob.low, knob.high):
                settings = EXPERIMENT.settings(**{"access": access, "spill": spill, knob.name: value})
                assert EXPERIMENT.model(settings).seconds > 0


def test_a_knob_that_does_nothing_says_why() -> None:
    prices = {"dram_dollars_per_gib", "drive_dollars", "drive_reads_per_s"}
    assert set(EXPERIMENT.disabled(EXPERIMENT.settings(access=ZIPF))) == prices
    assert set(EXPERIMENT.disabled(EXPERIMENT.settings(access="the whole table"))) == {
        *prices,
        "skew",
        "queries",
    }


def test_an_examination_draws_what_decides_the_hits_and_tells_them(study: Study) -> None:
    drawn = [draws.draw(EXPERIMENT, random.Random(7)) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert {draws.draw(EXPERIMENT, random.Random(seed))["access"] for seed in range(30)} == {
        UNIFORM,
        ZIPF,
        SCAN,
    }
    changes = counted(UNIFORM, memory_share=0.75, row_group_rows=8_192)
    assert "hits" in draws.remark(EXPERIMENT, study.settings(**changes), study.glance(**changes))


def test_a_case_has_the_costs_that_were_calibrated_since_and_the_file_that_was_built_since(
    study: Study, calibrated_as_ever: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    settings = study.settings(row_group_rows=4_096)
    before = EXPERIMENT.case(settings)
    QUERIES.keep(replace(QueryCosts(), row_s=1e-6))
    assert EXPERIMENT.case(settings).query_costs.row_s == 1e-6 != before.query_costs.row_s
    before.build()
    assert EXPERIMENT.case(settings).trace.sizes != before.trace.sizes


@pytest.mark.parametrize("name", ROUNDS)
def test_every_round_has_its_answers(study: Study, name: str) -> None:
    round_ = ROUNDS[name]
    modeled = round_.modeled_value(study)
    measured = round_.measured_value(study)
    assert modeled is not None
    assert (measured is None) == (not round_.measures)
    if name in ("scan_gain", "spill", "second", "tiny_blocks"):
        assert modeled.median > 1.1


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn(study: Study, name: str) -> None:
    picture = chapter("cache_tiers").figure(name)(study)
    assert picture.sentence.endswith(".")
    assert picture.rows
