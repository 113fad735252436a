"""More nodes: ten printed times, the study that is asked, and a model that is held to it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from readahead.chapters import chapter
from readahead.chapters.scale_out import laws
from readahead.chapters.scale_out.chapter import (
    EXPERIMENT,
    JOINED,
    LARGE_SMALL,
    NEAR,
    NOT_FITTED,
    SMALL_SMALL,
    _waits,
    outstanding,
    product,
    totals,
)
from readahead.chapters.scale_out.cluster import LOCAL, NODE_THREADS, POLL_S, cluster, tasks
from readahead.chapters.scale_out.workload import way
from readahead.errors import BadValue, DataError
from readahead.experiments.round import Study
from readahead.units import MiB


@pytest.fixture(scope="module")
def study() -> Iterator[Study]:
    """Return the chapter's study, with one repeat; its cluster is closed after."""
    yield Study(EXPERIMENT, repeats=1)
    cluster(LOCAL).close()


def test_eight_of_the_printed_times_are_one_product_and_find_the_two_that_are_not() -> None:
    errors = {name: time.value / product(name).result for name, time in totals().items()}
    assert len(errors) == 10
    odd = [errors.pop(name) for name in NOT_FITTED]
    assert all(1.2 < excess < 1.26 for excess in odd)
    assert all(abs(error - 1) <= 0.03 for error in errors.values())


def test_the_two_tiers_of_memory_have_the_ratio_that_was_printed_for_them(study: Study) -> None:
    line = chapter("scale_out").figure("caches")(study).lines[0]
    gains = dict(line.points)
    assert gains[0.5] == max(gains.values())
    assert gains[0.5] == pytest.approx((0.5 / 1.8 + 0.5) / (0.5 / 1.8))
    assert gains[1.0] == pytest.approx(2)


def test_the_givens_of_the_notebook_are_those_of_the_runs(study: Study) -> None:
    def reads(**changes: object) -> list[tuple[int, int]]:
        parts = EXPERIMENT.parts(study.settings(size="tiny", **changes))
        return [(len(plan.footer), len(plan.spans)) for plan in (part.plan() for part in parts)]

    assert reads(nodes=1) == [(2, 128)] and reads(**NEAR) == [(2, 64)] * 2
    asked = ({"nodes": 1}, NEAR, outstanding(20), outstanding(32))
    assert [_waits(study, size="tiny", **{"queue_depth": 1, **one}) - 2 for one in asked] == [128, 64, 7, 4]
    assert (LARGE_SMALL, POLL_S, tasks(2)) == (3 * MiB, 0.1, 8)
    assert EXPERIMENT.large_bytes(study.settings(**JOINED)) == pytest.approx(2.06e6, rel=0.01)


@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_each_node_reads_its_own_part_and_the_sums_are_the_same(study: Study, nodes: int) -> None:
    changes = {**NEAR, "nodes": nodes}
    sample = study.sample(**changes)
    assert sample.answer == study.sample(**{**NEAR, "nodes": 1}).answer
    planned = [part.plan().listed for part in EXPERIMENT.parts(study.settings(**changes))]
    for node, spans in enumerate(planned):
        reads = [read for read in sample.reads if read.thread // NODE_THREADS == node]
        assert sorted((read.offset, read.size_bytes) for read in reads) == sorted(spans)


def test_no_join_changes_with_the_way_it_is_done(study: Study) -> None:
    ways = [
        study.sample(**JOINED, join=way, small_bytes=SMALL_SMALL).answer for way in ("pushed", "shuffled")
    ]
    one = study.sample(**{**JOINED, "nodes": 1}, join="pushed", small_bytes=SMALL_SMALL).answer
    assert ways == [one, one]


def test_the_limit_says_how_a_join_is_done() -> None:
    settings = EXPERIMENT.settings(join="limit", small_bytes=MiB)
    assert way({**settings, "limit_bytes": MiB}) == "pushed"
    assert way({**settings, "limit_bytes": MiB // 2}) == "shuffled"


def test_a_killed_worker_changes_nothing_of_the_answer(study: Study) -> None:
    assert study.sample(copies="two", failing="killed").answer == study.sample().answer


def test_without_a_copy_there_is_no_answer(study: Study) -> None:
    with pytest.raises(DataError, match="nobody alive has a copy"):
        study.sample(copies="one", failing="killed")


def test_the_model_waits_for_the_slowest_node() -> None:
    told = [
        EXPERIMENT.model(EXPERIMENT.settings(**{**NEAR, **changes}))
        for changes in ({}, {"slow_times": 8.0}, {"latency_s": 8 * NEAR["latency_s"]})
    ]
    usual, slow, both = (one.seconds - one.terms_s["coordination"] for one in told)
    assert slow > 5 * usual
    assert slow == pytest.approx(both, rel=1e-3)


def test_two_nodes_are_faster_and_not_by_more_than_two(study: Study) -> None:
    assert 1.3 < (study.model.seconds(nodes=1) / study.model.seconds(nodes=2)).median < 2.1


def test_turning_to_a_killed_node_gives_it_a_neighbour_with_a_copy() -> None:
    moved = EXPERIMENT.follow(EXPERIMENT.settings(nodes=1, failing="killed", join="pushed"), "failing")
    assert (moved["copies"], moved["nodes"], moved["join"]) == ("two", 2, "none")


@pytest.mark.parametrize("address", ["", "nowhere", 8786])
def test_what_is_no_address_is_refused(address: object) -> None:
    with pytest.raises(BadValue, match="scheduler="):
        EXPERIMENT.settings(scheduler=address)
    assert EXPERIMENT.settings(scheduler="tcp://10.0.0.1:8786")["scheduler"] == "tcp://10.0.0.1:8786"
    assert EXPERIMENT.settings(scheduler="this machine")["scheduler"] == LOCAL


def test_both_ends_of_every_knob_can_be_modeled_and_drawn() -> None:
    for knob in EXPERIMENT.knobs:
        for value in knob.choices or (knob.low, knob.high):
            if knob.name != "size":
                assert EXPERIMENT.model(EXPERIMENT.settings(**{knob.name: value})).seconds > 0
        if knob.kind != "choice":
            curve = EXPERIMENT.curve(EXPERIMENT.settings(), knob.name, knob.grid(12))
            assert curve.shape == (12,)
            assert np.all(curve > 0)


def test_the_law_through_both_printed_gains_is_above_and_below_two() -> None:
    alphas = {name: laws.contention(said, 2) for name, said in (("warm", 2.55), ("cold", 1.65))}
    assert alphas["warm"] < 0 < alphas["cold"]


@pytest.mark.parametrize("name", chapter("scale_out").figures)
def test_every_figure_can_be_drawn(study: Study, name: str) -> None:
    picture = chapter("scale_out").figure(name)(study)
    assert picture.sentence
    assert picture.rows
