"""The ways to see a part: planned to the read, really taken, held to print."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import numpy as np
import pytest

from readahead.chapters import chapter
from readahead.chapters.index_pages.chapter import (
    CHAIN,
    DEEP,
    EVERYTHING,
    EXPERIMENT,
    FIGURES,
    NATIVE_SAMPLE,
    NATIVE_WHOLE,
    ROUNDS,
    SHALLOW,
    half_width,
    half_width_law,
    in_print,
    printed,
    table,
)
from readahead.chapters.index_pages.workload import (
    CHOSEN,
    DETAILED,
    IN_ORDER,
    INDEX_WAYS,
    LIMITED,
    METADATA,
    NATIVE,
    PARQUET,
    SHUFFLED,
    TABLE,
    TABLE_WAYS,
    TABLESAMPLE,
    reads_of,
)
from readahead.experiments.round import Study
from readahead.units import KiB
from tools import draws


@pytest.fixture(scope="module")
def study() -> Study:
    """Return the chapter's study, with one repeat."""
    return Study(EXPERIMENT, repeats=1, latency_s=0.001)


def test_randals_figures_agree_but_for_those_that_are_named() -> None:
    far = {one.figure.name for one in in_print().residuals if one.error > 0.1}
    assert far == {"elapsed_s.count", "entry_bytes.bigint"}


@pytest.mark.parametrize("way", INDEX_WAYS)
@pytest.mark.parametrize("more", [{}, {"read_bytes": 8 * KiB, "fanout": 9, "leaf_pages": 1_024}], ids=str)
def test_the_readers_send_the_very_reads_that_were_planned(study: Study, way: str, more: dict) -> None:
    changes = {"way": way, "bandwidth_bytes_per_s": 1e9, **more}
    inspection = EXPERIMENT.inspection(study.settings(**changes))
    planned = np.concatenate(reads_of(inspection.index, way, inspection.read_bytes))
    sample = study.sample(**changes)
    assert sorted([read.offset, read.size_bytes] for read in sample.reads) == sorted(planned.tolist())


@pytest.mark.parametrize("way", [METADATA, CHOSEN, TABLESAMPLE, TABLE])
@pytest.mark.parametrize("order", [IN_ORDER, SHUFFLED])
def test_duckdb_reads_what_was_planned_of_a_parquet_file(study: Study, way: str, order: str) -> None:
    changes = table(way, order=order, latency_s=0.001)
    settings, sample = study.settings(**changes), study.sample(**changes)
    told = EXPERIMENT.case(settings).predict(EXPERIMENT.costs(settings))
    assert (len(sample.reads), sample.bytes_read) == (told.reads, told.bytes_read)


def test_tablesample_on_parquet_reads_all_of_it_and_on_the_own_format_less(study: Study) -> None:
    seen = {
        (way, stored): study.sample(**table(way, stored=stored, latency_s=latency_s))
        for way, stored, latency_s in (
            (TABLESAMPLE, PARQUET, 0.001),
            (TABLE, PARQUET, 0.001),
            (TABLESAMPLE, NATIVE, 0.001),
            (TABLE, NATIVE, 0.01),  # longer than a busy machine takes to ask for the next
        )
    }
    assert seen[TABLESAMPLE, PARQUET].bytes_read == seen[TABLE, PARQUET].bytes_read
    assert seen[TABLESAMPLE, NATIVE].bytes_read < 0.8 * seen[TABLE, NATIVE].bytes_read
    assert seen[TABLESAMPLE, NATIVE].max_in_flight <= 2 < seen[TABLE, NATIVE].max_in_flight


def test_what_was_drawn_are_whole_groups_and_the_truth_is_in_the_table(study: Study) -> None:
    whole = study.sample(**table(TABLE, latency_s=0.001))
    rows, early, _ = whole.answer
    assert sum(early) / sum(rows) == pytest.approx(0.5, abs=0.01)
    drawn = EXPERIMENT.case(study.settings(**table(CHOSEN))).chosen()
    part = study.sample(**table(CHOSEN, latency_s=0.001))
    assert len(part.answer[0]) == len(drawn)
    assert part.row_groups_scanned == len(drawn)


@pytest.mark.parametrize("order", [IN_ORDER, SHUFFLED])
def test_the_arithmetic_of_a_sample_is_near_what_was_drawn(study: Study, order: str) -> None:
    assert half_width(study, order) == pytest.approx(half_width_law(study, order).result, rel=0.6)
    changes = table(CHOSEN, order=order)
    share, give = EXPERIMENT.case(study.settings(**changes)).early_share(study.sample(**changes))
    assert abs(share - 0.5) <= 1.5 * give


def test_a_sample_that_drew_nothing_claims_nothing(study: Study) -> None:
    changes = table(TABLESAMPLE, stored=NATIVE, sample_share=0.02, latency_s=0.001)
    empty = replace(study.sample(**changes), answer=(None, None, None))
    share, give = EXPERIMENT.case(study.settings(**changes)).early_share(empty)
    assert np.isnan(share) and give == np.inf


@pytest.mark.parametrize("name", ["all_leaves", "eighth", "map"])
def test_it_pays_and_both_sources_answer(study: Study, name: str) -> None:
    ask = ROUNDS[name].ask
    assert ask is not None
    assert ask(study.model).median > 1.1
    assert ask(study.measured).median > 0  # how much it paid depends on who else is at work


def test_the_model_of_a_chain_does_not_know_the_queue_depth() -> None:
    one, many = (EXPERIMENT.model(EXPERIMENT.settings(**run)) for run in (SHALLOW, DEEP))
    assert one.seconds == many.seconds
    assert "queue_depth" in EXPERIMENT.disabled(EXPERIMENT.settings(way=LIMITED))


@pytest.mark.parametrize("way", [*INDEX_WAYS, *TABLE_WAYS])
def test_there_is_a_model_at_both_ends_of_every_number(way: str) -> None:
    settings = EXPERIMENT.settings(**(table(way) if way not in INDEX_WAYS else {"way": way}))
    for knob in EXPERIMENT.knobs:
        for end in () if knob.kind == "choice" else (knob.low, knob.high):
            assert EXPERIMENT.model({**settings, knob.name: knob.check(end)}).seconds > 0


def test_an_examination_is_about_the_index() -> None:
    rng = random.Random(3)
    drawn = [draws.draw(EXPERIMENT, rng) for _ in range(40)]
    assert {one["way"] for one in drawn} == set(INDEX_WAYS)
    assert all(one["latency_s"] >= 0.001 for one in drawn)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn(study: Study, name: str) -> None:
    picture = chapter("index_pages").figure(name)(study)
    assert picture.sentence and picture.rows


def test_the_two_halves_are_a_chain_and_a_flood(study: Study) -> None:
    sample = study.sample(way=DETAILED)
    upper = EXPERIMENT.inspection(study.settings(way=DETAILED)).index.upper_pages
    chain = sample.reads[: upper + 1]
    assert all(after.submitted_s >= before.done_s for before, after in itertools.pairwise(chain))
    assert sample.max_in_flight > 4


def test_what_the_questions_give_is_what_the_run_has() -> None:
    here = Study(EXPERIMENT, size="tiny", fanout=213, queue_depth=32)
    small, chain = (EXPERIMENT.inspection(here.settings(**run)) for run in (EVERYTHING, CHAIN))
    _, listed = reads_of(small.index, small.way, small.read_bytes)
    device = EXPERIMENT.device(here.base)
    waits, link = f"{1000 * device.latency_s:.3g} ms", f"{device.bandwidth_bytes_per_s / 1e6:.3g} MB/s"
    part, whole = (EXPERIMENT.case(here.settings(**run)).scan() for run in (NATIVE_SAMPLE, NATIVE_WHOLE))
    drawn = EXPERIMENT.case(here.settings(**table(CHOSEN)))
    groups = f"{len(drawn.chosen())} row groups"
    told = {
        "upper": ("8,096 bytes",),
        "all_leaves": (
            f"{small.index.leaf_pages:,} leaf pages", f"{small.index.upper_pages} pages", f"{len(listed)} reads",
            f"waits {waits}", f"link of {link}", f"{small.queue_depth} of them",
        ),
        "behind": (f"{printed('elapsed_s.limited'):.0f} s", f"{printed('upper_pages'):,.0f} pages", "14.5 MB/s"),
        "sampled": (f"{printed('elapsed_s.limited'):.0f} s", f"{printed('elapsed_s.detailed'):,.0f} s"),
        "eighth": (f"chain of {1 + chain.index.upper_pages} reads", waits, link),
        "deep": (f"chain of {1 + chain.index.upper_pages} reads", f"depth of {DEEP['queue_depth']}"),
        "map": (f"{chain.index.upper_pages} pages", f"{chain.queue_depth} reads", waits, link),
        "sample_parquet": (f"{drawn.recipe.row_groups} row groups",),
        "sample_native": (
            f"{whole.bytes_read // (64 * KiB)} blocks of 64 KB in {whole.count} reads",
            f"{part.bytes_read // (64 * KiB)} blocks in {part.count} reads",
        ),
        "wrong": (f"{groups} of {drawn.recipe.row_groups}, of {drawn.cluster_rows:,} rows",),
        "wrong_shuffled": (f"{groups} of {drawn.cluster_rows:,} rows",),
    }  # fmt: skip
    assert set(told) == set(ROUNDS)
    for name, givens in told.items():
        question = " ".join(chapter("index_pages").question("predict", name).split())
        assert [given for given in givens if given not in question] == [], name
