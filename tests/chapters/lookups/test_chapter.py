"""Lookups modeled and really made: through an index, past the step, from Parquet, on disks that own their blocks."""

from __future__ import annotations

import random
import re
import sys
import threading
from dataclasses import replace

import pytest

from readahead.chapters import chapter
from readahead.chapters.lookups import laws
from readahead.chapters.lookups.chapter import (
    AFTER,
    BEFORE,
    EXPERIMENT,
    FIGURES,
    MANY,
    ROUNDS,
    at_the_step,
    break_even,
    by_index,
    groups_hit,
    in_print,
    printed,
    wait_s,
)
from readahead.chapters.lookups.workload import (
    ANY_CHANNEL,
    NATIVE,
    NEIGHBOURS,
    OWN_DISK,
    PARQUET,
    SHUFFLED,
    UNSORTED,
)
from readahead.errors import Cancelled
from readahead.experiments.round import Study
from readahead.models.reads import Reads
from readahead.running import listening
from readahead.units import KiB
from tools import draws

LARGE = {"block_bytes": 64 * KiB, "row_group_rows": 16_384}


@pytest.fixture(scope="module")
def study() -> Study:
    """Return the chapter's study, with one repeat."""
    return Study(EXPERIMENT, repeats=1)


def planned(study: Study, **changes: object) -> Reads:
    """Return the reads that the model plans."""
    return EXPERIMENT.case(study.settings(**changes)).scan()


def test_through_the_index_one_read_is_under_way_and_past_the_step_many(study: Study) -> None:
    assert study.sample(rows_per_lookup=BEFORE).max_in_flight == 1
    assert study.sample(rows_per_lookup=AFTER).max_in_flight > 3
    assert study.sample(rows_per_lookup=AFTER, step_rows=100).max_in_flight == 1


@pytest.mark.parametrize("table_order", EXPERIMENT.knob("table_order").choices)
@pytest.mark.parametrize("file", [{}, LARGE, {"block_bytes": 16 * KiB}], ids=["usual", "large", "small"])
@pytest.mark.parametrize(("rows", "step"), [(1, 25), (10, 25), (100, 100), (26, 25)])
def test_through_the_index_the_very_blocks_are_read_that_were_planned(
    study: Study, file: dict[str, int], table_order: str, rows: int, step: int
) -> None:
    changes = {"rows_per_lookup": rows, "step_rows": step, "table_order": table_order, **file}
    sample = study.sample(**changes, latency_s=20e-6, queue_depth=1)
    spans = planned(study, **changes, queue_depth=1).listed
    assert sorted((read.offset, read.size_bytes) for read in sample.reads) == sorted(spans)


@pytest.mark.skipif(sys.platform != "linux", reason="another C++ library puts keys in another order")
@pytest.mark.parametrize("rows", [27, 100, 1_000])
def test_past_the_step_the_index_is_left_after_the_very_key_that_was_planned(study: Study, rows: int) -> None:
    changes = {"rows_per_lookup": rows, "step_rows": 10, "block_bytes": 16 * KiB, "queue_depth": 1}
    sample = study.sample(**changes, latency_s=20e-6)
    plan = planned(study, **changes)
    walked = [(read.offset, read.size_bytes) for read in sample.reads[: len(plan.footer)]]
    assert walked == [tuple(span) for span in plan.footer.tolist()]
    assert sorted((read.offset, read.size_bytes) for read in sample.reads) == sorted(plan.listed)


@pytest.mark.parametrize(
    "changes",
    [
        MANY,
        {**MANY, "table_order": SHUFFLED},
        {**MANY, "rows_per_lookup": 300},
        {**MANY, "table_order": SHUFFLED, "asked": NEIGHBOURS, "rows_per_lookup": 5},
        {**MANY, "table_order": SHUFFLED, "asked": NEIGHBOURS, "rows_per_lookup": 5, "queue_depth": 1},
    ],
    ids=str,
)
def test_of_parquet_the_very_reads_were_planned(study: Study, changes: dict[str, object]) -> None:
    seen = study.sample(**changes).reads  # of a file that is built: before that it is only expected
    assert sorted((r.offset, r.size_bytes) for r in seen) == sorted(planned(study, **changes).listed)


def test_every_way_gives_the_same_rows(study: Study) -> None:
    ways = [
        {"rows_per_lookup": BEFORE, "stored": stored, "table_order": order, **more}
        for stored in (NATIVE, PARQUET)
        for order in EXPERIMENT.knob("table_order").choices
        for more in ({}, {"asked": UNSORTED}, {"step_rows": 1})
    ]
    assert len({study.sample(**way, latency_s=20e-6).answer for way in ways}) == 1


def test_the_order_of_the_keys_changes_no_read(study: Study) -> None:
    sorted_reads, mixed = (
        study.sample(rows_per_lookup=BEFORE, **way).reads for way in ({}, {"asked": UNSORTED})
    )
    assert {r.offset for r in sorted_reads} == {r.offset for r in mixed}


def test_keys_without_a_gap_pass_by_the_index(study: Study) -> None:
    sample = study.sample(rows_per_lookup=BEFORE, asked=NEIGHBOURS)
    index = {planned(study, rows_per_lookup=1).listed[0][0]}
    assert not index & {read.offset for read in sample.reads}
    assert len(sample.reads) < 20


@pytest.mark.parametrize("name", ["eight", "step"])
def test_asking_at_once_pays_and_both_sources_answer(study: Study, name: str) -> None:
    ask = ROUNDS[name].ask
    assert ask is not None
    assert ask(study.model).median > 1.1
    assert ask(study.measured).median > 0  # how much it paid depends on who else is at work


def test_reads_wait_longer_together(study: Study) -> None:
    assert wait_s(study, **MANY) > wait_s(study, **{**MANY, "queue_depth": 1})


def test_cardenas_counts_the_row_groups_that_duckdb_reads(study: Study) -> None:
    for keys in (10, 100):
        due = laws.distinct(128, keys)
        assert abs(groups_hit(study, keys, [1]) - due) <= 4 * laws.spread(128, keys) + 1
        assert groups_hit(study, keys) == pytest.approx(due, rel=0.08)


def test_the_break_even_is_where_it_turns(study: Study) -> None:
    rows, every = break_even(study), study.model.seconds(query="scan").median
    assert 1 < rows < 1_000
    for count, later in ((rows - 1, False), (rows, True)):
        assert (study.model.seconds(**by_index(count)).median >= every) == later


def test_a_disk_of_the_menu_brings_its_numbers(study: Study) -> None:
    moved = EXPERIMENT.follow({**study.base, "device": "sas-15k"}, "device")
    assert moved["latency_s"] == pytest.approx(0.0041)
    assert moved["placed"] == ANY_CHANNEL
    assert EXPERIMENT.follow({**study.base, "device": "sas-15k-x8"}, "device")["placed"] == OWN_DISK
    own = EXPERIMENT.device(study.settings(channels=16))
    assert own.bandwidth_bytes_per_s == pytest.approx(16 * own.channel_bandwidth_bytes_per_s)


@pytest.mark.parametrize("stored", EXPERIMENT.knob("stored").choices)
def test_both_ends_of_every_knob_can_be_modeled(stored: str) -> None:
    for knob in EXPERIMENT.knobs:
        if knob.name not in ("size", "where"):
            for value in knob.choices or (knob.low, knob.high):
                settings = EXPERIMENT.settings(**{"stored": stored, knob.name: value})
                assert EXPERIMENT.model(settings).seconds > 0
                assert set(EXPERIMENT.disabled(settings)) <= set(settings)


@pytest.mark.parametrize("stored", EXPERIMENT.knob("stored").choices)
def test_rows_are_looked_up_on_this_disk_too(study: Study, stored: str) -> None:
    sample = study.sample(stored=stored, where="this disk, warm")
    assert sample.seconds[0] > 0
    assert sample.answer == study.sample(stored=stored).answer


def test_what_an_examination_draws_can_be_asked() -> None:
    rng = random.Random(3)
    drawn = [draws.draw(EXPERIMENT, rng) for _ in range(30)]
    assert {settings["stored"] for settings in drawn} == {NATIVE, PARQUET}
    assert all(EXPERIMENT.settings(**settings) == settings for settings in drawn)


def test_a_lookup_stops_when_told() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled), listening(stop=stop):
        EXPERIMENT.measure(EXPERIMENT.settings())


def test_print_is_held_with_degrees_of_freedom() -> None:
    assert sum(one.role == "foretold" for one in in_print().residuals) > 80
    points = EXPERIMENT.published(EXPERIMENT.settings(), "rows_per_lookup")
    assert len(points) == 11
    assert not EXPERIMENT.published(EXPERIMENT.settings(query="scan"), "rows_per_lookup")


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn(study: Study, name: str) -> None:
    picture = chapter("lookups").figure(name)(study)
    assert picture.sentence
    assert picture.rows


def test_what_the_questions_give_is_what_the_run_has() -> None:
    here = Study(EXPERIMENT, channels=8, queue_depth=32)
    EXPERIMENT.case(here.base).build()  # of a file that is not there the reads are expected ones
    case, above = (EXPERIMENT.case(here.settings(rows_per_lookup=rows)) for rows in (BEFORE, AFTER))
    groups, read_ms = case.recipe.row_groups, f"{1000 * here.base['latency_s']:.3g} ms"
    alone, together = len(above.scan().footer), above.scan().count - len(above.scan().footer)
    reads_a_row = printed("disk_8k_reads_per_s.n25") / printed("disk_8k_rows_per_s.n25")
    slow_ms, queued_ms = (f"{1000 * printed(f'read_latency_s.{at}'):.3g} ms" for at in ("n25", "n26"))
    told = {
        "one_by_one": (f"{slow_ms} a read", f"{reads_a_row:.3g} reads a row"),
        "disks": (f"{BEFORE} random keys", f"{here.base['block_bytes'] // KiB} KiB", f"{read_ms} a read"),
        "balls": (f"{AFTER} reads", f"{slow_ms} for a read"),
        "eight": (f"{AFTER} rows", f"{read_ms} a read"),
        "little": (f"{printed('disk_8k_reads_per_s.n26'):,} reads a second", f"of {queued_ms}"),
        "wait": (f"the {AFTER} rows lie in some {round(laws.distinct(groups, AFTER))} row groups",),
        "step": (f"{case.scan().count} reads", f"{alone} reads", f"then {together} that", f"{read_ms} each"),
        "distinct": (f"{groups} of them", f"row groups of {case.recipe.effective_row_group_rows:,} rows"),
        "break_even": (f"{case.recipe.rows:,} rows", f"of {BEFORE} rows"),
    }
    assert set(told) == set(ROUNDS)
    for name, givens in told.items():
        question = " ".join(chapter("lookups").question("predict", name).split())
        assert [given for given in givens if given not in question] == [], name


def test_what_comes_together_at_the_step_is_bounded_by_the_device() -> None:
    here = Study(EXPERIMENT, channels=8, queue_depth=32)
    EXPERIMENT.case(here.base).build()
    case, law = EXPERIMENT.case(here.settings(rows_per_lookup=AFTER)), at_the_step(here)
    together = case.scan().count - law["alone"]
    idle = case.predict(replace(EXPERIMENT.costs(here.base), dispatch_s=0.0, group_s=0.0, row_s=0.0))
    device_s = idle.arrived_s - idle.opened_s  # with an engine that takes no time to hand out reads
    assert laws.in_flight(together / device_s, law["service_s"]) == pytest.approx(4.45, rel=0.02)
    assert device_s <= law["together_s"] < together * law["service_s"]


def test_a_figure_says_no_more_digits_than_matter(study: Study) -> None:
    sentence = chapter("lookups").figure("amplified")(study).sentence
    numbers = [int(number.replace(",", "")) for number in re.findall(r"\d+,\d+", sentence)]
    assert numbers
    assert all(number == float(f"{number:.2g}") for number in numbers)


@pytest.mark.parametrize(("draw", "rows"), [(129, 8_192), (2, 16_384), (3, 65_536)])
def test_a_range_of_keys_passes_over_the_first_segment_only(draw: int, rows: int) -> None:
    changes = {"asked": NEIGHBOURS, "row_group_rows": rows, "rows_per_lookup": 2, "key_draw": draw}
    case = EXPERIMENT.case(EXPERIMENT.settings(size="tiny", latency_s=0.0005, **changes))
    case.build()
    told, sample = case.scan(), case.measure(repeats=1)
    assert told.more_reads == 0
    assert sorted((read.offset, read.size_bytes) for read in sample.reads) == sorted(told.listed)
