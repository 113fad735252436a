"""The engine's read-ahead switches, modeled and really thrown; and what the model says of what was printed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from readahead import devices, paths
from readahead.chapters import chapter
from readahead.chapters.read_ahead import laws
from readahead.chapters.read_ahead.chapter import (
    EXPERIMENT,
    FIGURES,
    LIMIT_DEPTH,
    ROUNDS,
    holed,
    in_print,
    sheas_device,
    switched,
)
from readahead.chapters.read_ahead.workload import (
    ALONE,
    AWAKE,
    LIMIT,
    NATIVE,
    OFF,
    ON,
    PARQUET,
    OwnReads,
    ReadAhead,
    limit_costs,
    native_costs,
    own_read_costs,
)
from readahead.devices import Device
from readahead.experiments.round import Study
from readahead.experiments.run import Run
from readahead.experiments.table_experiment import TableExperiment
from readahead.measure.calibrate import PROBE, Trial, typical_costs
from readahead.measure.run import spare_threads
from readahead.measure.sample import Sample
from readahead.models.reads import Reads
from readahead.models.schedule import Costs
from readahead.models.table_layout import VECTOR_ROWS
from readahead.panels.predictions import accounts
from readahead.storage.trace import Read
from readahead.units import KiB, MiB


@pytest.fixture(scope="module")
def study() -> Study:
    """Return the chapter's study, with one repeat."""
    return Study(EXPERIMENT, repeats=1)


def test_the_printed_figures_agree() -> None:
    errors = [one.error for one in in_print().residuals]
    assert float(np.median(errors)) <= 0.03 and max(errors) <= 0.1
    assert not any(one.role == "foretold" for one in in_print().residuals)


def test_a_scan_without_locks_is_asked_before_it_is_told() -> None:
    told = ROUNDS["nolock"]
    assert told.law(None).result == pytest.approx(734e6)  # type: ignore[misc, arg-type]
    assert [one.printed for one in told.published] == ["707MB/sec"]
    notebook = (paths.ROOT / "notebooks" / "02_read_ahead.ipynb").read_text(encoding="utf-8")
    assert "707" not in notebook and "680" not in notebook


def test_sheas_device_is_the_catalogues() -> None:
    own = devices.device("shea-array")
    assert sheas_device() == pytest.approx((own.latency_s, own.bandwidth_bytes_per_s), rel=0.01)


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_what_its_own_format_takes_is_seen_in_whole_few_and_many_row_groups(
    study: Study, share: float
) -> None:
    """Runs that an engine with such costs would have made: a row group is decoded when all of it is there."""

    def tried(rows: int, *, end_s: float, asked_s: Sequence[float]) -> Trial:
        changes = {"row_group_rows": rows, "queue_depth": 8}
        case = EXPERIMENT.case(study.settings(stored=NATIVE, read_ahead=ON, **changes))
        case.build()
        made = tuple(
            Read(offset=0, size_bytes=1, thread=0, submitted_s=at_s, due_s=0.01, done_s=0.01)
            for at_s in asked_s
        )
        sample = Sample(seconds=(end_s,), cpu_s=(0.0,), reads=made, bytes_read=1, where="nowhere")
        return Trial(case=case, sample=sample)

    parquet = Costs(row_s=2e-8, fresh_byte_s=1e-8, dispatch_s=90e-6)
    whole = tried(1_048_576, end_s=0.0, asked_s=[0.0])
    vector_s = 0.5 * parquet.decode_s(VECTOR_ROWS)  # as a row of DuckDB's own format usually takes
    end_s = 0.01 + 0.1e-3 + share * whole.case.predict(parquet).decode_s
    whole = tried(1_048_576, end_s=end_s, asked_s=[0.0])
    firsts_s = {rows: 4e-4 + 1e-5 * whole.case.recipe.rows / rows for rows in (65_536, 4_096)}
    few, many = (tried(rows, end_s=0.0, asked_s=[first_s]) for rows, first_s in firsts_s.items())
    alone = tried(65_536, end_s=0.01 + 0.1e-3 + vector_s, asked_s=[0.0])
    # eight in flight: four before any is back, four before slots are used again, and more
    asked_us = np.cumsum([0] + [40] * 3 + [100] + [55] * 3 + [70] * 72)
    streamed = tried(4_096, end_s=0.0, asked_s=(0.01 - 200e-6 + 1e-6 * asked_us).tolist())
    costs = native_costs(parquet, *([one] * 3 for one in (few, many, alone, whole, streamed)))
    assert costs.row_s == pytest.approx(share * parquet.row_s)
    assert (costs.plan_s, costs.open_group_s) == pytest.approx((4e-4, 1e-5))
    assert (costs.dispatch_s, costs.close_s) == pytest.approx((70e-6, 0.1e-3))
    assert costs.asking_s == pytest.approx(40e-6)
    assert costs.dispatch_s * (1 - costs.refill_share) == pytest.approx(55e-6)
    slower = [tried(4_096, end_s=0.0, asked_s=[1e-3 * read for read in range(80)])]
    assert native_costs(parquet, [few], [many], [alone], [whole], slower).dispatch_s == parquet.dispatch_s


def test_ten_rows_of_a_parquet_file_are_planned_found_and_told_in_their_own_time(study: Study) -> None:
    """Runs of a clock of ours: the footer is asked for, comes back 1 ms later, and the file is open after a while."""

    def tried(rows: int, *, open_s: float, last_s: float = 0.0) -> Trial:
        case = EXPERIMENT.case(study.settings(query=LIMIT, read_ahead=ON, row_group_rows=rows))
        case.build()
        footer = Read(offset=0, size_bytes=1, thread=0, submitted_s=0.2e-3, due_s=1.2e-3, done_s=1.2e-3)
        first = replace(footer, submitted_s=1.2e-3 + open_s, due_s=5e-3)
        reads = *[footer] * len(case.plan().footer), first
        sample = Sample(seconds=(5e-3 + last_s,), cpu_s=(0.0,), reads=reads, bytes_read=1, where="nowhere")
        return Trial(case=case, sample=sample)

    usual = Costs(row_s=2e-8, first_row_s=0.0)
    few, many = (tried(rows, open_s=0.3e-3) for rows in (65_536, 4_096))
    more = many.case.recipe.row_groups - few.case.recipe.row_groups
    many = tried(4_096, open_s=0.3e-3 + 2e-6 * more)
    alone = tried(65_536, open_s=0.0, last_s=0.1e-3 + usual.group_s + 2_048 * 2e-8)
    costs = limit_costs(usual, [few], [many], [alone])
    told = costs.plan_s, costs.open_s + few.case.recipe.row_groups * costs.open_group_s, costs.close_s
    assert told == pytest.approx((0.2e-3, 0.3e-3, 0.1e-3))
    assert costs.open_group_s == pytest.approx(2e-6)
    own = "plan_s", "open_s", "open_group_s", "close_s"
    assert replace(costs, **{name: getattr(usual, name) for name in own}) == usual


def test_a_worker_that_reads_for_itself_goes_on_at_once_and_sooner_if_it_stayed_awake(study: Study) -> None:
    def tried(device: Device, *begun_s: float) -> Trial:
        reads = [
            Read(offset=0, size_bytes=size, thread=0, submitted_s=at_s, due_s=at_s + 1e-3, done_s=at_s + 1e-3)
            for at_s, size in zip(
                begun_s, (256, 256, 256, 70_000, 256), strict=True
            )  # four headers, and a page
        ]
        sample = Sample(seconds=(1.0,), cpu_s=(1.0,), reads=tuple(reads), bytes_read=1, where="nowhere")
        return Trial(case=replace(EXPERIMENT.case(study.settings()), device=device), sample=sample)

    trials = (
        tried(PROBE, 0.0, 1.01e-3, 2.03e-3, 3.05e-3, 4.2e-3),
        tried(AWAKE, 0.0, 1.005e-3, 2.010e-3, 3.05e-3, 4.2e-3),
    )
    told = own_read_costs(trials)
    assert (told.read_s, told.awake_s) == (pytest.approx(20e-6), pytest.approx(5e-6))
    with typical_costs():
        slow, quick = (
            EXPERIMENT.costs(study.settings(read_ahead=OFF, latency_s=latency_s)).read_s
            for latency_s in (100e-6, 60e-6)
        )
    assert (slow, quick) == (OwnReads().read_s, OwnReads().awake_s)


@pytest.mark.parametrize(("depth", "more"), [(1, 1), (2, 2)])
def test_ten_rows_wait_for_what_is_in_flight_when_they_are_there(study: Study, depth: int, more: int) -> None:
    """A block read is asked for in each slot after the first row group's, and the query's end waits for it."""
    changes = {"query": LIMIT, "stored": NATIVE, "read_ahead": ALONE, "queue_depth": depth, "latency_s": 0.02}
    case = EXPERIMENT.case(study.settings(row_group_rows=65_536, **changes))
    case.build()
    told, wanted = case.predict(Costs()), len(case.plan().first(1).spans)
    waited_for = np.sort(told.reads_s[:, 1])[wanted + more - 1]
    assert told.finished_s == pytest.approx(waited_for + Costs().close_s)
    seen = case.measure(repeats=1)
    # on a busy machine the query ends before more is asked for
    assert wanted <= len(seen.reads) <= wanted + more
    assert seen.seconds[0] >= max(read.due_s for read in seen.reads)


def test_a_crowd_of_reads_goes_on_while_the_query_waits_for_its_turn_to_end(study: Study) -> None:
    """Whoever ends it waits for the interpreter's lock behind all whose reads are back: the whole window is read."""
    changes = {"query": LIMIT, "stored": NATIVE, "queue_depth": 64, "latency_s": 70e-6}
    case = EXPERIMENT.case(study.settings(row_group_rows=4_096, **changes))
    case.build()
    costs = Costs(dispatch_s=80e-6)
    told, most = case.predict(costs), len(case.plan().spans)
    asked_s, there_s = told.reads_s.T
    assert (asked_s <= told.groups_s[0, 1]).sum() < 0.8 * most  # when the rows are there
    assert 0.8 * most < (there_s <= told.finished_s - costs.close_s + 1e-12).sum()
    seen = sorted(len(case.measure(repeats=1).reads) for _ in range(3))[1]
    assert 0.8 * most < seen < 1.2 * most  # a block that two row groups share is read twice now and then


@pytest.mark.parametrize(
    "changes",
    [
        {"queue_depth": 1},
        {"queue_depth": 32},
        {"queue_depth": 128, "read_ahead": ALONE},
        switched(ON),
        switched(OFF, NATIVE),
        holed(1 * KiB),
        holed(1 * MiB),
    ],
    ids=str,
)
def test_duckdb_sends_the_very_reads_that_were_planned(study: Study, changes: dict[str, object]) -> None:
    sample = study.sample(**changes)
    case = EXPERIMENT.case(study.settings(**changes))
    assert sorted((read.offset, read.size_bytes) for read in sample.reads) == sorted(case.scan().listed)
    assert sample.max_in_flight <= case.window.slots


def test_for_ten_rows_duckdb_sends_nothing_that_was_not_planned(study: Study) -> None:
    changes = {"query": LIMIT, "queue_depth": 16}
    case = EXPERIMENT.case(study.settings(**changes))
    told, footer = case.scan(), len(case.plan().footer)
    sent = [(read.offset, read.size_bytes) for read in study.sample(**changes).reads]
    assert told.listed[:footer] == sent[:footer]
    # two threads ask for the row groups, either may be first, and the query ends when it has ten rows
    assert len(sent) > footer and set(sent) <= set(told.listed)


@pytest.mark.parametrize("changes", [switched(OFF), switched(ON, NATIVE)], ids=["pages", "blocks"])
def test_the_engines_clock_moves_no_more_reads_than_was_told(
    study: Study, changes: dict[str, object]
) -> None:
    sample, plan = study.sample(**changes), EXPERIMENT.case(study.settings(**changes)).plan()
    assert abs(len(sample.reads) - plan.count) <= plan.more_reads < plan.count
    assert abs(sample.bytes_read - plan.bytes_read) <= plan.moved_bytes < plan.bytes_read


def test_every_way_to_read_gives_the_same_answer(study: Study) -> None:
    answers = [
        study.sample(**switched(way, stored)).answer for way in (ON, OFF) for stored in (PARQUET, NATIVE)
    ]
    assert len(set(answers)) == 1


def test_async_threads_alone_keep_four_groups_a_worker_under_way(study: Study) -> None:
    assert study.sample(queue_depth=128, read_ahead=ALONE).max_in_flight <= 4 * spare_threads()
    assert study.sample(queue_depth=32).max_in_flight > 16


@pytest.mark.parametrize("name", ["switch", "switch_native", "depth", "alone", "hole"])
def test_it_pays_and_both_sources_answer(study: Study, name: str) -> None:
    ask = ROUNDS[name].ask
    assert ask is not None
    assert ask(study.model).median > 1.1
    assert ask(study.measured).median > 0  # how much it paid depends on who else is at work


def test_both_ends_of_every_knob_can_be_modeled() -> None:
    for knob in EXPERIMENT.knobs:
        if knob.name != "size":
            for value in knob.choices or (knob.low, knob.high):
                assert EXPERIMENT.model(EXPERIMENT.settings(**{knob.name: value})).seconds > 0


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_can_be_drawn(study: Study, name: str) -> None:
    picture = chapter("read_ahead").figure(name)(study)
    assert picture.sentence
    assert picture.rows


def test_what_the_questions_give_is_what_the_run_has() -> None:
    here = Study(EXPERIMENT, size="tiny", latency_s=0.005, threads=1)

    def planned(**changes: object) -> Reads:
        EXPERIMENT.case(here.settings(**changes)).build()  # the reads of a file that is there are exact
        return EXPERIMENT.case(here.settings(**changes)).scan()

    on, off, native_on, native_off, one, limit, apart, through = (
        planned(**changes)
        for changes in (switched(ON), switched(OFF), switched(ON, NATIVE), switched(OFF, NATIVE),
                        {"queue_depth": 1}, {"queue_depth": LIMIT_DEPTH}, holed(1 * KiB), holed(1 * MiB))
    )  # fmt: skip
    rows = f"{EXPERIMENT.case(here.base).recipe.rows:,} rows"
    wanted, groups = apart.bytes_read - apart.footer[:, 1].sum(), len(through.groups)
    hole = through.bytes_read - apart.bytes_read
    told = {
        "switch": (rows, f"{len(on.groups)} row groups", f"{on.count} reads", f"{off.count} reads", "2 ms", "90 MB/s"),
        "switch_native": (f"{native_off.count} reads of 64 KiB", f"{native_on.count} shorter waits"),
        "switch_here": (f"{off.count} reads one at a time against {on.count}",),
        "depth": (f"{one.count} reads of {one.bytes_read / one.count / 1000:.0f} KB", rows, "5 ms", "90 MB/s"),
        "alone": (f"{one.count} reads",),
        "waste": (f"{len(limit.groups)} row groups", "two reads for the footer"),
        "hole": (
            f"{groups} row groups", f"{wanted / groups / 1000:.0f} KB are wanted",
            f"{hole / groups / 1000:.0f} KB lie between", "The first read",
        ),
    }  # fmt: skip
    assert len(on.footer) == len(apart.footer) == 1 and len(one.footer) == len(limit.footer) == 2
    assert EXPERIMENT.device(here.base).channel_bandwidth_bytes_per_s == 90e6
    for name, givens in told.items():
        question = " ".join(chapter("read_ahead").question("predict", name).split())
        assert [given for given in givens if given not in question] == [], name


def test_the_laws_of_a_jump_and_of_a_window_meet_where_they_must() -> None:
    device = {"latency_s": 0.005, "bandwidth_bytes_per_s": 90e6}
    hole = laws.bytes_to_ask_for(**device)
    assert laws.jump_cost(1e5, hole, **device) == pytest.approx(1)
    assert laws.jump_cost(1e5, hole / 2, **device) > 1
    assert laws.window_share(1e5, 1_000, **device) == 1
    assert laws.asked_for(2, 128, 32) == 34
    none = laws.gain(open_s=0, waits_s=1, decode_s=0, first_s=0, ahead_s=1, hand_out_s=0)
    assert none == 1


@pytest.mark.parametrize("query", ["scan", "two", "limit"])
@pytest.mark.parametrize("stored", ["parquet", "native"])
def test_without_read_ahead_every_read_is_told(stored: str, query: str) -> None:
    settings = EXPERIMENT.settings(
        stored=stored, read_ahead="off", query=query, latency_s=1e-4, row_group_rows=32_768
    )
    case = EXPERIMENT.case(settings)
    case.build()
    told, sample = case.scan(), case.measure(repeats=1)
    assert (len(sample.reads), told.more_reads) == (told.count, 0)
    if stored == "native":
        assert sorted((read.offset, read.size_bytes) for read in sample.reads) == sorted(told.listed)
    else:
        assert [(read.offset, read.size_bytes) for read in sample.reads[:2]] == told.listed[:2]
        assert abs(sample.bytes_read - told.bytes_read) <= told.moved_bytes < 0.001 * told.bytes_read


@pytest.mark.parametrize(("stored", "open_"), [(PARQUET, False), (NATIVE, True)])
def test_the_band_reaches_as_far_as_the_clock_decides_how_many_reads_a_window_has(
    stored: str, open_: bool
) -> None:
    """Of a native file's window the query needs one row group and may ask for all; a Parquet file's is asked for."""
    limit = EXPERIMENT.settings(stored=stored, query=LIMIT, queue_depth=32, row_group_rows=8_192)
    case, told = EXPERIMENT.case(limit), EXPERIMENT.predicted(limit)
    case.build()
    whole_s = case.whole_window(EXPERIMENT.costs(limit)).finished_s
    assert bool(case.plan().more_reads) == open_ == (told.high > whole_s > 1.5 * told.median)


@pytest.mark.parametrize("read_ahead", ["on", "off"])
@pytest.mark.parametrize("stored", ["parquet", "native"])
def test_the_profile_counts_what_the_trace_does_or_it_is_said(stored: str, read_ahead: str) -> None:
    settings = EXPERIMENT.settings(
        stored=stored, read_ahead=read_ahead, latency_s=1e-4, row_group_rows=32_768
    )
    sample = EXPERIMENT.measure(settings, repeats=1)
    told = {name: texts for name, *texts in accounts(Run(EXPERIMENT, settings, sample))}["bytes read"]
    if (stored, read_ahead) == ("native", "off"):
        assert sample.profile["bytes_read"] < sample.bytes_read
        assert told[0].endswith(", which leaves some out")
    else:
        assert sample.profile["bytes_read"] == sample.bytes_read and told[0] == told[1]


def test_without_read_ahead_nothing_is_handed_over_and_two_columns_cost_their_share_or_what_they_showed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker that reads for itself pays for the device, for decoding, and for waking once."""
    free = Costs(**dict.fromkeys(Costs.__slots__, 0.0))
    here = Study(EXPERIMENT, size="tiny", latency_s=0.01, threads=1, read_ahead=OFF)

    def seconds(costs: Costs, own_s: float = 0.0, **changes: object) -> float:
        monkeypatch.setattr(TableExperiment, "costs", lambda *_: costs)
        own = SimpleNamespace(costs=lambda: OwnReads(read_s=own_s))
        monkeypatch.setattr(ReadAhead, "own_reads", lambda *_: own)
        return here.model.estimate(**changes).seconds

    device_s = seconds(free)
    plan = EXPERIMENT.case(here.settings()).scan()
    reads = len(plan.spans)
    assert seconds(replace(free, dispatch_s=1.0)) == seconds(replace(free, read_s=1.0)) == device_s
    assert seconds(free, 1e-4) - device_s == pytest.approx(1e-4 * plan.count, rel=0.01)
    for stored, begins in ((PARQUET, "open_s"), (NATIVE, "plan_s")):  # the first read is passed out no more
        begun = replace(free, **{begins: 1e-3}, dispatch_s=1e-4, returned_share=0.4)
        sooner_s = seconds(begun, stored=stored) - seconds(free, stored=stored)
        assert sooner_s == pytest.approx(0.94e-3)
    woken_s = seconds(replace(free, wake_s=1e-3)) - device_s
    assert woken_s == pytest.approx(0.5 * 1e-3 * reads, rel=0.05)  # 10 ms and a page: one tenfold each
    rows = EXPERIMENT.case(here.settings()).recipe.rows
    for query in ("scan", "two"):
        idle_s = seconds(free, query=query)
        assert seconds(replace(free, row_s=1e-6), query=query) - idle_s == pytest.approx(rows * 1e-6)
    monkeypatch.undo()
    with typical_costs():
        usual, *native, limit = (
            EXPERIMENT.costs(here.settings(stored=stored, query=query)).row_s
            for stored, query in ((PARQUET, "scan"), (NATIVE, "scan"), (NATIVE, "two"), (PARQUET, "limit"))
        )
    assert native == pytest.approx([0.5 * usual, 0.5 * 0.4 * usual])
    assert limit == usual


def test_two_columns_of_a_parquet_file_are_calibrated_by_themselves() -> None:
    names = {
        (stored, query, where): [
            one.name
            for one in EXPERIMENT.calibrations(EXPERIMENT.settings(stored=stored, query=query, where=where))
        ]
        for stored, query, where in itertools.product(
            (PARQUET, NATIVE), ("two", "scan"), ("emulated", "warm")
        )
    }
    assert [asked for asked, told in names.items() if "comments_narrow-two" in told] == [
        (PARQUET, "two", "emulated")
    ]
