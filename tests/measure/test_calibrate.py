"""Costs are read off runs on this machine, and kept for it and no other."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from readahead import devices
from readahead.datasets.recipe import Recipe
from readahead.errors import Cancelled
from readahead.measure import calibrate
from readahead.measure.calibrate import (
    AT_ONCE,
    COLD,
    DECODING_SHARE,
    WARM,
    Calibration,
    Trial,
    engine,
    fitted,
    line,
)
from readahead.measure.case import Case
from readahead.measure.run import EngineSettings
from readahead.measure.sample import Sample
from readahead.models import schedule
from readahead.models.schedule import Costs, waking
from readahead.running import Event, listening
from readahead.storage.trace import Read

RUNS = [(1, 1e4), (1, 1e6), (20, 1e4), (20, 1e6)]
"""Reads and rows of runs whose costs are fitted."""


@dataclass(frozen=True, kw_only=True)
class Toll:
    """What a toy takes."""

    row_s: float = 0.5
    bytes_per_row: float = 200.0


def toll(
    runs: list[str] | None = None,
    *,
    of_disk: bool = False,
    controls: Iterable[float] = (),
    seconds: Iterable[float] = (),
) -> Calibration[Toll]:
    """Return a calibration of two runs, `a` and `b`, whose cost is a tenth of the number of those that count.

    They take `seconds`, all of it the processor's, its control runs `controls`, and a second each after that.
    """
    recorded, took = (itertools.chain(given, itertools.repeat(1.0)) for given in (controls, seconds))
    heard = [] if runs is None else runs

    def run(name: str) -> Sample:
        heard.append(name)
        seconds = (next(took),)
        return Sample(seconds=seconds, cpu_s=seconds, reads=(), bytes_read=0, where=name)

    return Calibration(
        name="toll",
        kind=Toll,
        cases=lambda: [lambda: run("a"), lambda: run("b")],
        read_off=lambda seen: Toll(row_s=len(seen) / 10),
        typical=Toll,
        turns=3,
        of_disk=of_disk,
        control=lambda: next(recorded),
    )


@pytest.fixture
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a test a cache of its own."""
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def _own_costs(_own_folder: None, calibrated_as_ever: None) -> None:
    """Give a test a cache of its own, and calibrations as a learner has them."""


@pytest.mark.usefixtures("_own_costs")
def test_all_runs_are_made_in_turns_and_told_of() -> None:
    runs, news = list[str](), list[Event]()
    with listening(news.append):
        assert toll(runs).run() == Toll(row_s=0.6)
    assert runs == ["a", "b"] * 3
    assert [(event.done, event.total) for event in news] == [(done, 6) for done in range(7)]


@pytest.mark.usefixtures("_own_costs")
def test_costs_are_typical_until_they_are_calibrated_and_then_kept() -> None:
    assert toll().kept() is None and toll().costs() == Toll()
    runs: list[str] = []
    assert toll(runs).ensure() == Toll(row_s=0.2) == toll().costs()  # in one turn
    assert toll(runs).ensure() == Toll(row_s=0.2) and runs == ["a", "b"]
    assert toll().run() == Toll(row_s=0.6) == toll().ensure()


@pytest.mark.usefixtures("_own_costs")
def test_a_cost_that_noise_made_negative_is_nothing_and_is_kept() -> None:
    noisy = replace(toll(), read_off=lambda _: Toll(row_s=-0.001))
    assert noisy.run(1) == Toll(row_s=0.0) == noisy.costs() == noisy.ensure()


@pytest.mark.usefixtures("_own_costs")
def test_costs_hold_for_this_machine_only() -> None:
    toll().run()
    told = json.loads(toll().path.read_text(encoding="utf-8"))
    other = {**told["holds_for"], "machine": {**told["holds_for"]["machine"], "cpu": "another"}}
    toll().path.write_text(json.dumps({**told, "holds_for": other}), encoding="utf-8")
    assert toll().kept() is None


def busy(control_s: float) -> list[float]:
    """Return the control runs beside seven runs on a machine that is busy after the first."""
    return [1.0, *[control_s] * 7]


@pytest.mark.parametrize(
    ("controls", "strayed"),
    [((1.0, 1.02, 0.97, 1.0), 0.0), ((1.0, 1.3), 0.0), (busy(1.2), 0.2)],
    ids=["quiet", "disturbed for a moment", "never quiet"],
)
@pytest.mark.usefixtures("_own_costs")
def test_what_was_disturbed_is_never_silently_kept(controls: Sequence[float], strayed: float) -> None:
    toll(controls=controls).run()
    assert toll().strayed == pytest.approx(strayed)
    assert bool(toll().doubt) == (strayed > 0.1)
    assert not toll().doubt or ("20 %" in toll().doubt and "lesson.calibrate()" in toll().doubt)
    toll().run()
    assert not toll().doubt


@pytest.mark.usefixtures("_own_costs")
def test_a_run_beside_which_the_control_run_strayed_is_made_again_and_only_the_undisturbed_counts() -> None:
    heard, runs = list[float](), list[str]()
    asked = toll(runs, controls=[1.0, 1.0, 1.3, 1.0, 1.0], seconds=[1.0, 6.0, 5.0])
    replace(asked, read_off=lambda seen: heard.extend(one.median_s for one in seen) or Toll()).run(1)
    assert runs == ["a", "b", "b"] and heard == [1.0, 5.0]


@pytest.mark.usefixtures("_own_costs")
def test_runs_are_not_made_again_while_that_does_not_help() -> None:
    runs = list[str]()
    toll(runs, controls=[1.0, 1.0, 1.3, 1.3, 1.3, 1.0, 1.0, 1.3, 1.0]).run()
    # disturbed: both of the first `b`, the two after them, and the first of the last `b`
    assert runs == [*"abb", *"ab", *"abb"]


@pytest.mark.usefixtures("_own_costs")
def test_of_each_run_the_turns_count_that_took_least_of_the_processor() -> None:
    """Two of three turns of `a`, and all of `b`; one of `a` comes again, so that the last turn is whole."""
    heard: list[float] = []
    asked = replace(
        toll(seconds=[1.0, 5.2, 1.5, 5.0, 1.05, 5.1]),
        read_off=lambda seen: heard.extend(one.median_s for one in seen) or Toll(),
    )
    asked.run()
    assert heard == [1.0, 5.0, 1.05, 5.1, 1.05, 5.2]


@pytest.mark.parametrize(("few", "many"), [(2, 3), (3, 4), (5, 5), (22, 33), (23, 33)])
@pytest.mark.usefixtures("_own_costs")
def test_quick_and_slow_runs_of_a_case_come_again_alike(few: int, many: int) -> None:
    """One case was run more often than the other, for it was made again: what is usual for the other stays as it is."""

    def runs(count: int) -> list[Sample]:
        took_s = np.linspace(1.0, 1.0 + calibrate.DISTURBED, count).tolist()
        return [Sample(seconds=(s,), cpu_s=(s,), reads=(), bytes_read=0, where="here") for s in took_s]

    rare, often = runs(few), runs(many)
    kept = calibrate._steadiest_turns([rare, often])
    assert kept[1::2] == often
    counts = [kept[::2].count(one) for one in rare]
    assert sum(counts) == many and max(counts) - min(counts) <= 1
    assert np.average(range(few), weights=counts) == pytest.approx((few - 1) / 2, abs=0.2)


@pytest.mark.usefixtures("_own_costs")
def test_the_turns_of_calibrations_that_are_run_again_add_up_where_they_are_told_to() -> None:
    with calibrate.turns_add_up():
        assert [toll().run(1).row_s, toll().run(2).row_s] == pytest.approx([0.2, 0.6])
        # three turns, and one run made again
        assert toll(controls=busy(1.5)).run().row_s == pytest.approx(1.4)
        assert 0 < toll().strayed < 0.5  # half of all the runs, not of the last
    assert toll().run(1).row_s == pytest.approx(0.2)


@pytest.mark.usefixtures("_own_costs")
def test_how_runs_scatter_is_how_far_the_model_may_be_off_and_no_doubt() -> None:
    toll(seconds=[1.0, 5.0, 1.0, 6.0, 1.4, 5.0]).run()  # a: 1, 1, 1.4; b: 5, 6, 5
    assert toll().off == pytest.approx(0.3)  # nine times in ten less, of 0, 0, 0, 0, 0.2 and 0.4
    assert toll().strayed == 0 and not toll().doubt
    toll(controls=busy(1.09)).run()
    assert toll().off == toll().strayed == pytest.approx(0.09)


@pytest.mark.usefixtures("_own_costs")
def test_a_machine_that_is_slow_all_the_time_is_known_by_what_it_took_before() -> None:
    toll().run()
    toll(controls=busy(1.5)).run()
    assert toll().strayed == pytest.approx(0.5)


@pytest.mark.usefixtures("_own_costs")
def test_what_was_kept_while_the_machine_stood_still_is_flagged_and_not_calibrated_again() -> None:
    toll().run()
    toll(controls=busy(20.0)).run()
    runs: list[str] = []
    toll(runs).ensure()
    assert toll().strayed == pytest.approx(19) and toll().doubt and not runs


@pytest.mark.parametrize(
    ("took_s", "often"),
    [
        ([1.0] * 20 + [1.9] * 30, True),
        ([1.0] * 10 + [1.9] * 30, False),
        ([0.5] * 2 + [1.9] * 48, True),
        ([1.0, 1.9] * 25, False),
    ],
    ids=["two of five", "one of four", "but for two flukes always alike", "every other one"],
)
@pytest.mark.usefixtures("_own_costs")
def test_where_a_machine_is_seldom_quick_or_never_for_long_all_turns_of_a_calibration_count(
    took_s: list[float], often: bool
) -> None:
    toll().run(1)
    path = toll().path.with_name("controls.json")
    told = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**told, "took_s": took_s, "last_s": time.time()}), encoding="utf-8")
    assert calibrate.quick_for_long() == often
    heard: list[float] = []
    asked = replace(
        toll(controls=[took_s[-1]] * 8, seconds=[1.0, 1.0, 1.7, 1.7, 1.7, 1.7]),
        read_off=lambda seen: heard.extend(one.median_s for one in seen[::2]) or Toll(),
    )
    asked.run()
    assert set(heard) == ({1.0} if often else {1.0, 1.7})


@pytest.mark.usefixtures("_own_costs")
def test_a_machine_without_a_control_run_counts_as_quick() -> None:
    assert calibrate.quick_for_long()


@pytest.mark.parametrize(
    "damage",
    [
        {"holds_for": None},
        {"took_s": ["x"]},
        {"took_s": [0]},
        {"took_s": {}},
        {"last_s": None},
        {"boot_s": []},
    ],
    ids=str,
)
@pytest.mark.usefixtures("_own_costs")
def test_a_damaged_control_run_counts_as_none(damage: dict[str, object]) -> None:
    toll().run()
    path = toll().path.with_name("controls.json")
    told = json.loads(path.read_text(encoding="utf-8"))
    for facts in ({**told, **damage}, {name: value for name, value in told.items() if name not in damage}):
        path.write_text(json.dumps(facts), encoding="utf-8")
        assert calibrate.usual_s(3.0) == 3.0
    assert (calibrate.usual_s(2.0), calibrate.usual_s(4.0)) == (2.0, 3.0)


@pytest.mark.usefixtures("_own_costs")
def test_what_is_usual_lasts_through_a_busy_minute_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(time=lambda: 0.0)
    monkeypatch.setattr(calibrate, "time", clock)

    def usual(*took_s: float) -> list[float]:
        told = []
        for one_s in took_s:
            before_s = clock.time()
            clock.time = lambda now_s=before_s + 1.0: now_s
            told.append(calibrate.usual_s(one_s))
        return told

    assert set(usual(*[1.0] * 70)) == {1.0}
    assert set(usual(0.9, *[2.0] * 60)) == {1.0}  # a quick moment is not usual, nor is a busy minute
    assert usual(*[2.0] * 540)[-1] == 2.0  # nor what was long ago


@pytest.mark.usefixtures("_own_costs")
def test_of_each_second_one_control_run_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibrate, "time", SimpleNamespace(time=lambda: 1e6))
    for took_s in (1.0, 1.1, 1.2, 1.3):
        assert calibrate.usual_s(took_s) == 1.0
    assert json.loads(toll().path.with_name("controls.json").read_text(encoding="utf-8"))["took_s"] == [1.0]


@pytest.mark.usefixtures("_own_costs")
def test_after_a_restart_it_is_calibrated_anew_and_until_then_the_old_costs_are_better_than_none() -> None:
    toll().run()
    for path in (toll().path, toll().path.with_name("controls.json")):
        told = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**told, "boot_s": told["boot_s"] - 3_600}), encoding="utf-8")
    runs: list[str] = []
    assert toll(runs).costs() == Toll(row_s=0.6) and not runs
    assert toll(runs, controls=[1.5] * 4).ensure() == Toll(row_s=0.2) and runs == ["a", "b"]
    assert toll().strayed == 0.0  # what it took before the restart is no measure


@pytest.mark.parametrize("of_disk", [True, False])
@pytest.mark.usefixtures("_own_costs")
def test_costs_of_the_disk_hold_until_it_is_calibrated_anew(*, of_disk: bool) -> None:
    toll(of_disk=of_disk).run()
    own = devices.device("nvme").but(name=devices.THIS_MACHINE)
    devices.save_calibrated(own)
    assert (toll(of_disk=of_disk).kept() is None) == of_disk


@pytest.mark.parametrize("value", ["x", None, 1e308, float("nan"), float("inf"), -5, True, 10**400], ids=str)
@pytest.mark.usefixtures("_own_costs")
def test_a_time_that_no_run_takes_counts_as_none(value: object) -> None:
    toll().run()
    told = json.loads(toll().path.read_text(encoding="utf-8"))
    costs = {**told["costs"], "row_s": value}
    toll().path.write_text(json.dumps({**told, "costs": costs}), encoding="utf-8")
    assert toll().kept() is None
    others = [
        json.dumps({**told, "costs": costs})
        for costs in ([5], {"row_s": 0.1}, {**told["costs"], "more_s": 1})
    ]
    for text in ("{", "[" * 100_000, "5", *others):
        toll().path.write_text(text, encoding="utf-8")
        assert toll().kept() is None and not toll().doubt


def test_a_folder_that_can_only_be_read_keeps_the_costs_in_memory(
    calibrated_as_ever: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "file"))
    toll().keep(Toll(row_s=3e-9))
    assert toll().costs() == Toll(row_s=3e-9)
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "other"))
    assert toll().kept() is None


@pytest.mark.usefixtures("_own_folder")
def test_the_engine_s_costs_are_positive_and_this_disk_is_calibrated_apart() -> None:
    assert engine("comments_narrow").costs() == Costs()
    cold = engine("comments_narrow", COLD).ensure()
    kept = asdict(engine("comments_narrow").kept())
    assert min(kept.values()) >= 0
    assert {name for name, value in kept.items() if value == 0} <= {
        "close_group_s",
        "close_lookup_s",
        "copy_byte_s",
        "fetch_byte_s",
        "first_row_s",
        "fresh_byte_s",
        "large_byte_s",
        "lost_read_s",
        "match_s",
        "open_lookup_s",
        "other_core_s",
        "refill_share",
        "returned_share",
        "shared_read_s",
        "stale_early_share",
        "stale_page_s",
        "wake_s",
    }
    assert cold == engine("comments_narrow", WARM).kept()  # the disk's own share is not known yet
    assert cold != engine("comments_narrow").kept()
    own = devices.device("nvme").but(name=devices.THIS_MACHINE)
    devices.save_calibrated(own)
    assert engine("comments_narrow", COLD).kept() is None
    assert engine("comments_narrow", COLD).ensure().row_s >= cold.row_s


@pytest.mark.usefixtures("_own_folder")
def test_from_memory_no_row_is_dearer_than_another() -> None:
    engine("comments_narrow").keep(replace(Costs(), first_row_s=1e-9, fresh_byte_s=1e-9, copy_byte_s=1e-9))
    warm = engine("comments_narrow", WARM).run(turns=1)
    assert warm.row_s > 0 and (warm.first_row_s, warm.fresh_byte_s, warm.copy_byte_s) == (0, 0, 0)


def one_by_one(rows: int, pause_s: float) -> Trial:
    """Return a trial of one read at a time, as measured, but with a clock of ours: each pause is as told."""
    (case,) = (
        case
        for case in calibrate._engine_cases("comments_narrow")
        if case.engine.queue_depth == 1
        and case.recipe.row_group_rows == rows
        and case.device != calibrate.SLOW
        and not case.keys
    )
    sample = case.measure(repeats=1)
    each_s = 0.001 + pause_s
    reads = tuple(
        replace(read, submitted_s=i * each_s, due_s=i * each_s + 0.001, done_s=i * each_s + 0.001)
        for i, read in enumerate(sample.reads)
    )
    seconds = (len(reads) * each_s,)
    return Trial(case=case, sample=replace(sample, reads=reads, seconds=seconds))


@pytest.mark.parametrize("rows", [2_048, 65_536])
def test_a_pause_between_two_reads_is_read_off_the_trace(rows: int) -> None:
    trial = one_by_one(rows, 0.0004)
    assert (trial.pause_s(), len(trial.pauses())) == pytest.approx((0.0004, trial.case.recipe.row_groups - 1))
    assert (trial.opening_s(), trial.closing_s()) == pytest.approx((0.0004, 0.0004))


def test_passing_over_row_groups_is_read_off_the_pauses_of_a_lookup() -> None:
    """With a clock of ours: so long a pause, and so much for each row group that is passed over."""
    (case,) = (one for one in calibrate._engine_cases(calibrate.KEYED) if one.keys == 20)
    sample, plan = case.measure(repeats=1), case.plan()
    gaps = np.diff(np.flatnonzero(plan.counts)) - 1
    assert sum(gaps) > plan.read_groups  # most row groups are passed over
    begins_s = np.cumsum([0.0, *(0.001 for _ in plan.footer), *(0.001 + 300e-6 + 7e-6 * gap for gap in gaps)])
    reads = tuple(
        replace(read, submitted_s=at_s, due_s=at_s + 0.001)
        for read, at_s in zip(sample.reads, begins_s, strict=True)
    )
    seen = Trial(case=case, sample=replace(sample, reads=reads)).passed_over()
    assert [gap for gap, _ in seen] == gaps.tolist()
    assert line(seen) == pytest.approx((300e-6, 7e-6))


TAKES = {
    "plan_s": 0.5e-3, "open_s": 1e-3, "open_group_s": 8e-6, "read_s": 60e-6, "dispatch_s": 40e-6, "group_s": 50e-6,
    "row_s": 20e-9, "first_row_s": 2e-9, "fresh_byte_s": 0.6e-9, "copy_byte_s": 0.2e-9, "close_s": 0.2e-3,
    "wake_s": 0.3e-3, "asleep_s": 6e-3, "shared_read_s": 0.11e-3, "large_byte_s": 0.3e-9,
    "cached_bytes": 5e6,
}  # fmt: skip


def test_what_opening_and_closing_take_a_lookup_more_is_read_off_its_first_read_and_its_last() -> None:
    """With a clock of ours; what is passed over before the first row group and after the last is not counted again."""
    (case,) = (one for one in calibrate._engine_cases(calibrate.KEYED) if one.keys == 20)
    takes = {**TAKES, "copy_byte_s": 0.0, "open_key_s": 3e-6, "prune_key_s": 1e-8, "skip_group_s": 7e-6}
    sample, plan, costs = case.measure(repeats=1), case.plan(), Costs(**takes)
    groups, wanted = case.recipe.row_groups, np.flatnonzero(plan.counts)
    passing_s = 7e-6 + 20 * 1e-8
    opening_s = costs.open_s + groups * costs.open_group_s + 20 * 3e-6 + wanted[0] * passing_s + 1.5e-3
    closing_s = costs.decode_s(case.recipe.row_group_rows) + 20 * 1e-8
    closing_s += (groups - 1 - wanted[-1]) * passing_s + costs.close_s + 0.4e-3
    begins_s = [0.0] * len(plan.footer) + [
        0.001 + opening_s + 0.002 * at for at in range(len(sample.reads) - len(plan.footer))
    ]
    reads = tuple(
        replace(read, submitted_s=at_s, due_s=at_s + 0.001)
        for read, at_s in zip(sample.reads, begins_s, strict=True)
    )
    seconds = (begins_s[-1] + 0.001 + closing_s,)
    found = calibrate._lookup_costs(
        [Trial(case=case, sample=replace(sample, reads=reads, seconds=seconds))], costs
    )
    assert found == pytest.approx({"open_lookup_s": 1.5e-3, "close_lookup_s": 0.4e-3})


@pytest.mark.parametrize(("each_us", "fetched"), [(300, True), (41, True), (40, False), (20, False)])
def test_what_fetching_a_byte_takes_is_the_time_between_reads_asked_for_at_once(
    each_us: int, fetched: bool
) -> None:
    """With a clock of ours; where handing a read out takes as long, 40 us here, it is not seen."""
    (case,) = (one for one in calibrate._engine_cases(calibrate.KEYED) if one.device == calibrate.LONG)
    assert (case.engine.queue_depth, case.plan().read_groups) == (AT_ONCE, 8)
    sample, spans, known = case.measure(repeats=1), case.plan().spans, Costs(**TAKES)
    footer = len(sample.reads) - len(spans)
    begins_s = [0.0] * footer + [each_us * 1e-6 * number for number in range(8)]
    reads = tuple(
        replace(read, submitted_s=at_s, due_s=at_s + 0.005)
        for read, at_s in zip(sample.reads, begins_s, strict=True)
    )
    found_s = calibrate._fetch_byte_s([Trial(case=case, sample=replace(sample, reads=reads))], known)
    assert found_s == pytest.approx(fetched * each_us * 1e-6 / spans[:, 1].mean(), rel=1e-6)


@pytest.mark.parametrize(("more_us", "match_us"), [(0, 0.0), (250, 0.5), (-250, 0.0)])
def test_what_a_matching_row_takes_is_what_a_pause_is_longer_than_a_scans(
    more_us: int, match_us: float
) -> None:
    """With a clock of ours: 4,000 of 262,144 rows match, 500 of the 32,768 in each row group."""
    (case,) = (one for one in calibrate._engine_cases(calibrate.KEYED) if one.keys == calibrate.MATCHED_KEYS)
    assert (case.recipe.rows, case.recipe.row_group_rows, case.keys) == (262_144, 32_768, 4_000)
    known = Costs(**TAKES, prune_key_s=1e-8)
    sample, spans = case.measure(repeats=1), case.plan().spans
    begins_s = [0.0] * (len(sample.reads) - len(spans)) + [0.0]
    for _, size in spans[:-1]:
        pause_s = 60e-6 + known.decode_s(32_768) + 0.2e-9 * size + 4_000 * 1e-8 + more_us * 1e-6
        begins_s.append(begins_s[-1] + 0.001 + pause_s)
    reads = tuple(
        replace(read, submitted_s=at_s, due_s=at_s + 0.001)
        for read, at_s in zip(sample.reads, begins_s, strict=True)
    )
    found_s = calibrate._match_s([Trial(case=case, sample=replace(sample, reads=reads))], known)
    assert found_s == pytest.approx(match_us * 1e-6, rel=0.01, abs=2e-9)


def test_what_other_cores_take_is_how_much_later_reads_are_asked_for_than_told() -> None:
    """With a clock of ours: 64 reads, 8 in flight, so that slots are used again seven times."""
    (case,) = (one for one in calibrate._engine_cases(calibrate.KEYED) if one.device == calibrate.SLEEP)
    known, sample = Costs(**TAKES), case.measure(repeats=1)
    told_s = case.predict(known).reads_s[:, 0]
    assert (len(told_s), case.window.slots) == (64, 8)

    def slept(more_s: float) -> Trial:
        footer = sample.reads[: len(case.plan().footer)]
        late = [
            replace(read, submitted_s=at_s + more_s * number / 63)
            for number, (read, at_s) in enumerate(
                zip(sample.reads[len(footer) :], sorted(told_s), strict=True)
            )
        ]
        return Trial(case=case, sample=replace(sample, reads=(*footer, *late)))

    assert calibrate._other_core_s([slept(0.0021)], known) == pytest.approx(0.0003)
    assert calibrate._other_core_s([slept(-0.0021)], known) == 0.0


def timed(case: Case) -> Trial:
    """Return a trial of an engine that takes exactly `TAKES`, by a clock of ours: the reads are those of the case."""
    footer, groups = case.plan().footer.tolist(), case.plan().groups
    recipe, takes, reads = case.recipe, dict(TAKES), list[Read]()

    def read(span: tuple[int, int], at_s: float) -> float:
        done_s = at_s + case.device.latency_s
        one = Read(
            offset=span[0], size_bytes=span[1], thread=0, submitted_s=at_s, due_s=done_s, done_s=done_s
        )
        reads.append(one)
        return done_s

    now_s = takes["plan_s"]
    for span in footer:
        now_s = read(span, now_s)
    now_s += takes["open_s"] + len(groups) * takes["open_group_s"]
    rows = recipe.effective_row_group_rows
    prices = {name: takes[name] for name in ("group_s", "row_s", "first_row_s")}
    sizes, depth, size = case.plan().sizes, case.window.depth, 0
    each_large_s = takes["large_byte_s"] * schedule.large_bytes(sizes, depth, takes["cached_bytes"])
    for number, spans in enumerate(groups):
        large_s = each_large_s[number]
        decode_s = schedule.decode_s(rows, **prices) + large_s
        for at, span in enumerate(spans):
            size += span[1]
            if (
                case.engine.queue_depth > 1
            ):  # many in flight: handed out one by one, or as fast as they are decoded
                each_s = max(takes["dispatch_s"], decode_s / case.engine.threads / len(spans))
                done_s = read(span, now_s + (number * len(spans) + at) * each_s)
            else:
                done_s = read(span, now_s)
                last = at + 1 == len(spans)
                pause_s = takes["read_s"] + takes["copy_byte_s"] * span[1] + (decode_s if last else 0.0)
                now_s = done_s + pause_s + TAKES["wake_s"] * waking(case.device.latency_s, TAKES["asleep_s"])
    last_s = schedule.decode_s(recipe.rows % rows or rows, **prices) + large_s
    end_s = done_s + takes["copy_byte_s"] * span[1] + last_s + takes["close_s"]
    reading_s = takes["shared_read_s"] * sum(map(len, groups)) + takes["copy_byte_s"] * size
    full_s = (len(groups) - 1) * schedule.decode_s(rows, **prices) - large_s + reading_s
    cpu_s = takes["plan_s"] + takes["open_s"] + len(groups) * takes["open_group_s"] + full_s + end_s - done_s
    fresh_s = takes["fresh_byte_s"] * schedule.fresh_bytes(sizes, depth) / DECODING_SHARE
    cpu_s += np.maximum(fresh_s, each_large_s).sum()
    sample = Sample(
        seconds=(end_s,), cpu_s=(cpu_s,), reads=tuple(reads), bytes_read=0, where="a clock of ours"
    )
    return Trial(case=case, sample=sample)


@pytest.mark.parametrize("table", ["comments_narrow", "comments", "lineitem", "lineorder"])
def test_many_in_flight_are_few_beside_the_row_groups_of_the_file(table: str) -> None:
    crowded = [case for case in calibrate._engine_cases(table) if 1 < case.engine.queue_depth < AT_ONCE]
    assert len(crowded) == (6 if table == calibrate.KEYED else 4) and all(
        case.recipe.row_groups >= 4 * case.engine.queue_depth for case in crowded
    )


@pytest.mark.usefixtures("_own_folder")
@pytest.mark.parametrize("light_s", [None, 30e-6, 1e-3])
def test_handing_out_takes_no_longer_for_a_query_than_it_was_measured_to_take_where_little_is_decoded(
    light_s: float | None,
) -> None:
    case = Case(
        recipe=Recipe(table="comments_narrow", size="tiny"), device=calibrate.PROBE, columns=("score",)
    )
    if light_s is not None:
        engine("comments_narrow").keep(replace(Costs(), dispatch_s=light_s))
    trials = [timed(one) for one in calibrate._scans(case)]
    alone_s = calibrate._scan_costs(trials)["dispatch_s"]
    told = calibrate.query(case, "score", Costs).read_off(trials)
    assert told.dispatch_s == (alone_s if light_s is None else min(light_s, alone_s))


@pytest.mark.usefixtures("_own_folder")
@pytest.mark.parametrize(("light_s", "read_s"), [(10e-6, 60e-6), (80e-6, 80e-6), (1.0, 99e-6)])
def test_handing_over_takes_no_less_for_a_query_than_for_the_light_table_and_the_rest_of_a_pause_is_decoding(
    light_s: float, read_s: float
) -> None:
    engine(calibrate.KEYED).keep(replace(Costs(), read_s=light_s))
    told = calibrate._reading_alike({"read_s": 60e-6, "group_s": 40e-6, "dispatch_s": 1e-6})
    assert (told["read_s"], told["group_s"]) == pytest.approx((read_s, 100e-6 - read_s))


@pytest.mark.parametrize(("copy_byte_s", "off"), [(0.0, 1e-3), (0.2e-9, 2e-2)], ids=["uncopied", "copied"])
@pytest.mark.parametrize("columns", [("score",), ("id", "score"), ()], ids=["one", "apart", "all"])
def test_the_costs_of_a_query_are_those_of_its_own_columns(
    columns: tuple[str, ...], copy_byte_s: float, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where bytes are copied it is not quite so exact: a row has not as many of them in every row group."""
    monkeypatch.setitem(TAKES, "copy_byte_s", copy_byte_s)
    recipe = Recipe(table="comments_narrow", size="tiny", row_group_rows=16_384)
    asked = Case(
        recipe=recipe, device=calibrate.PROBE, columns=columns, engine=EngineSettings(column_gap_bytes=1)
    )
    cases = calibrate._scans(asked)
    assert {case.columns for case in cases} == {columns}
    runs = {len(spans) for case in cases for spans in case.plan().groups}
    assert runs == ({2} if len(columns) == 2 else {1})
    found = calibrate._scan_costs([timed(case) for case in cases])
    prices = {name: TAKES[name] for name in ("group_s", "row_s", "first_row_s")}
    small_s = schedule.decode_s(2_048, **prices)  # handing out is hidden where decoding takes longer
    assert TAKES["dispatch_s"] <= found.pop("dispatch_s") <= small_s * (1 + 1e-9)
    shares = found.pop("returned_share"), found.pop("refill_share")
    assert shares == pytest.approx((0, 0), abs=1e-9)  # at one pace, whatever comes back
    assert found.pop("copy_byte_s") == pytest.approx(copy_byte_s, rel=0.15, abs=1e-13)
    assert found.pop("large_byte_s") == 0.2e-9  # all of the file has 4.8 MB
    clear_s = calibrate.clearing_s(found["read_s"], found["group_s"])
    assert found.pop("clear_s") == clear_s == pytest.approx(0.16 * 110e-6, rel=off)
    assert found == pytest.approx({name: TAKES[name] for name in found}, rel=off)
    # long waits are tried once for all queries
    elsewhere = {"dispatch_s", "copy_byte_s", "shared_read_s", "large_byte_s", "wake_s", "asleep_s"}
    assert found.keys() == TAKES.keys() - elsewhere


@pytest.mark.parametrize("cached_bytes", [5e6, 3.5e6, 2.64e6])
def test_row_groups_that_are_too_large_are_not_taken_for_ones_that_copy_nothing(
    cached_bytes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole file of `comments` is one, and 65,536 of its rows are, in part; shorter ones tell copying from
    decoding. No first row is dearer there.
    """
    monkeypatch.setitem(TAKES, "first_row_s", 0.0)
    monkeypatch.setitem(TAKES, "cached_bytes", cached_bytes)
    cases = calibrate._engine_cases("comments")
    found = calibrate._scan_costs([timed(case) for case in cases])
    told = {name: found[name] for name in ("large_byte_s", "cached_bytes", "copy_byte_s", "row_s")}
    assert told == pytest.approx({name: TAKES[name] for name in told}, rel=0.03)


@pytest.mark.parametrize(
    ("long_s", "found"),
    [
        (32_768 * 5e-9 + 8_192 * 2e-9, (0.0, 5e-9, 2e-9)),
        (32_768 * 7e-9, (0.0, 7e-9, 0.0)),
        (32_768 * 9e-9, (0.0, 8e-9, 0.0)),
        (0.0, (0.4e-3, 0.0, 0.0)),
    ],
    ids=["cheaper", "alike", "dearer", "nothing"],
)
def test_the_first_rows_of_a_row_group_are_dearer_or_all_are_alike(
    long_s: float, found: tuple[float, float, float]
) -> None:
    pauses = {rows: 0.2e-3 + rows * 7e-9 for rows in (2_048, 8_192)}
    told = calibrate._row_costs({**pauses, 32_768: 0.2e-3 + long_s}, {})
    assert (told["row_s"], told["first_row_s"]) == pytest.approx(found[1:], rel=0.2, abs=1e-9)
    assert told["group_s"] == pytest.approx(0.2e-3, rel=0.5)
    assert (told["read_s"], told["copy_row_s"]) == pytest.approx((0, 0), abs=1e-6)


@pytest.mark.parametrize(
    ("flight_us", "group_us"), [(75, 42), (200, 90)], ids=["decoding is quicker than a pause", "hidden"]
)
def test_decoding_takes_no_longer_than_from_one_row_group_to_the_next_in_flight(
    flight_us: float, group_us: float
) -> None:
    """A pause takes 90 us, and 1 ns for each row; decoding may be hidden behind what takes longer in flight."""
    pauses = {rows: 90e-6 + rows * 1e-9 for rows in (2_048, 8_192, 65_536)}
    told = calibrate._row_costs(pauses, {32_768: flight_us * 1e-6})
    assert told["group_s"] == pytest.approx(group_us * 1e-6, abs=1e-6)
    assert told["group_s"] + told["read_s"] == pytest.approx(90e-6, abs=2e-6)
    assert told["copy_row_s"] == 0


def test_what_decoding_loses_to_reads_is_kept_where_passing_out_hides_it() -> None:
    """Reads are passed out after 1 ms each, decoded in a tenth of that, and take far longer than the model says."""
    case = Case(
        recipe=Recipe(table="comments_narrow", size="tiny", row_group_rows=8_192),
        device=calibrate.QUICK,
        engine=EngineSettings(queue_depth=8),
    )
    slow = Sample(seconds=(1.0,), cpu_s=(1.0,), reads=(), bytes_read=0, where="a clock of ours")
    trials = [Trial(case=case, sample=slow)]
    hidden = Costs(dispatch_s=1e-3, group_s=1e-4, row_s=0.0, lost_read_s=7e-6)
    assert calibrate._with_contention(hidden, trials).lost_read_s == 7e-6
    assert calibrate._with_contention(replace(hidden, dispatch_s=1e-6), trials).lost_read_s > 7e-6


@pytest.mark.parametrize(
    ("asked_us", "returned", "refill"),
    [
        ([0, 30, 60, 90, 120, 180, 240], 0.5, 0.0),
        ([0, 30, 60, 90, 120, 165, 210, 255], 0.25, 0.25),
        ([0, 60, 120, 180, 240, 300, 360], 0.0, 0.0),
        ([0, 600], 0.0, 0.0),
    ],
    ids=["sooner before any is back", "sooner in slots never used", "alike", "one"],
)
def test_what_passing_out_takes_before_any_read_is_back_is_seen_by_itself(
    asked_us: list[int], returned: float, refill: float
) -> None:
    """The first read comes back after 130 us, and once all slots have been used passing out takes 60."""
    case = Case(
        recipe=Recipe(table="comments_narrow", size="tiny", row_group_rows=2_048),
        device=calibrate.PROBE,
        engine=EngineSettings(queue_depth=8),
    )
    footer = Read(offset=0, size_bytes=1, thread=0, submitted_s=0.0, due_s=0.0, done_s=0.0)
    reads = (
        footer,
        *(replace(footer, submitted_s=1e-6 * at, due_s=1e-6 * (at + 130)) for at in asked_us),
    )
    sample = Sample(seconds=(1.0,), cpu_s=(1.0,), reads=reads, bytes_read=0, where="a clock of ours")
    told = calibrate.passing_out(60e-6, [Trial(case=case, sample=sample)])
    shares = {"refill_share": refill, "returned_share": returned}
    assert told == pytest.approx({"dispatch_s": 60e-6, **shares}, abs=1e-9)


@pytest.mark.parametrize("copy_row_s", [0.0, 3e-9])
def test_what_a_row_adds_to_a_pause_and_not_to_decoding_is_copied(copy_row_s: float) -> None:
    takes = {"group_s": 60e-6, "row_s": 12e-9, "first_row_s": 2e-9}
    decoded = {rows: schedule.decode_s(rows, **takes) for rows in (2_048, 8_192, 32_768, 65_536)}
    pauses = {rows: 80e-6 + decode_s + rows * copy_row_s for rows, decode_s in decoded.items()}
    told = calibrate._row_costs(
        {rows: pauses[rows] for rows in (2_048, 8_192, 65_536)},
        {rows: decoded[rows] for rows in (32_768, 8_192)},
    )
    assert told == pytest.approx({**takes, "read_s": 80e-6, "copy_row_s": copy_row_s}, abs=1e-12)


def of_processor(case: Case, cpu_s: float) -> Trial:
    """Return a trial of which nothing is known but what it took the processor."""
    return Trial(
        case=case, sample=Sample(seconds=(cpu_s,), cpu_s=(cpu_s,), reads=(), bytes_read=0, where="nowhere")
    )


def test_what_fresh_memory_takes_is_what_the_processor_takes_longer_for_all_at_once_than_for_few() -> None:
    """Three quarters of it: the rest goes to those who read. Columns whose bytes fit the memory that is used again show
    nothing: theirs is what was seen of other tables.
    """
    cases = calibrate._engine_cases("comments")
    at_once, few = (
        next(one for one in cases if one.engine.queue_depth == depth and one.recipe.row_group_rows == 32_768)
        for depth in (AT_ONCE, 2)
    )
    assert at_once.recipe.row_groups < AT_ONCE
    more_s = 3e-9 * (of_processor(at_once, 0.0).fresh_bytes - of_processor(few, 0.0).fresh_bytes)
    for columns, price_s in {(): 2.25e-9, ("score",): 0.6e-9}.items():
        long, short = (replace(one, columns=columns) for one in (at_once, few))
        trials = [of_processor(long, 0.5 + more_s)], [of_processor(short, 0.5)]
        assert calibrate._fresh_byte_s(*trials) == pytest.approx(price_s)


@pytest.mark.parametrize("page_s", [0.0, 0.1e-6, 1.5e-6])
def test_long_waits_show_what_a_stale_page_takes(page_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decoding uses 1.2 pages in 1 us."""
    scans = [of_processor(case, 0.0) for case in calibrate._engine_cases(calibrate.KEYED) if not case.keys]

    def share(one: Trial, waits: int = 1) -> float:
        shares = waits * one.case.device.latency_s / 0.036
        return shares if shares < 1 else shares**0.8

    def pause_s(one: Trial) -> float:
        return 0.5e-3 + page_s * (1_300 * share(one) + 600 * (one.case.device == calibrate.SLOW))

    def opening_s(one: Trial) -> float:
        parsed = 1.2e6 * one.case.recipe.row_groups * 8e-6
        opened = (1_900 + parsed) * share(one, len(one.case.plan().footer))
        return 1e-3 + page_s * (1_300 * share(one) + opened)

    monkeypatch.setattr(Trial, "pause_s", pause_s)
    monkeypatch.setattr(Trial, "opening_s", opening_s)
    assert calibrate._stale_page_s(scans) == pytest.approx(page_s, rel=0.02)


@pytest.mark.parametrize(
    ("page_s", "longer_s", "share"),
    [
        (0.5e-6, 1.65e-3, 0.5),
        (0.5e-6, 5e-3, 1.0),
        (0.5e-6, -1e-3, 0.0),
        (1.5e-6, 2e-3, 0.5),
        (0.01e-6, 1e-3, 0.33),
    ],
)
def test_a_wait_shows_how_early_pages_are_stale(
    page_s: float, longer_s: float, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decoding the whole file takes 5.5 ms and may take 3.3 ms longer, or the 4 ms that it may at most."""
    scans = [of_processor(case, 0.0) for case in calibrate._engine_cases(calibrate.KEYED) if not case.keys]

    def closing_s(one: Trial) -> float:
        handing_s = page_s * 1_300 * 0.012 / 0.036
        return 5.5e-3 + (handing_s + longer_s) * (one.case.device == calibrate.EARLY)

    monkeypatch.setattr(Trial, "closing_s", closing_s)
    assert calibrate._stale_early_share(scans, page_s) == pytest.approx(share)


@pytest.mark.parametrize(("seen_share", "share"), [(1.2, 1.0), (0.7, 0.7), (0.1, 0.2)])
@pytest.mark.parametrize(("table", "keys"), [("comments", calibrate.CACHED_KEYS), (calibrate.KEYED, 20)])
def test_what_caches_hold_is_by_how_much_sooner_a_lookup_of_few_rows_is_open(
    table: str, keys: int, seen_share: float, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planning takes 1 ms, and opening 2 and 10 us a row group; keys, and what is passed over first, do not count."""
    (case,) = (one for one in calibrate._engine_cases(table) if one.keys == keys)
    known = Costs(plan_s=1e-3, open_s=2e-3, open_group_s=1e-5, prune_key_s=1e-8)
    first = int(np.flatnonzero(case.plan().counts)[0])
    besides_s = keys * (known.plan_key_s + known.open_key_s) + first * (known.skip_group_s + keys * 1e-8)
    monkeypatch.setattr(Trial, "planning_s", lambda _: 1e-3 * seen_share)
    opened_s = (2e-3 + 1e-5 * case.recipe.row_groups) * seen_share + besides_s
    monkeypatch.setattr(Trial, "opening_s", lambda _: opened_s)
    assert calibrate._cached_share([of_processor(case, 0.0)], known) == pytest.approx(share)


def test_of_pauses_and_opening_and_closing_what_stale_pages_take_is_left_out() -> None:
    case = next(one for one in calibrate._engine_cases(calibrate.KEYED) if one.device == calibrate.SLEEP)
    seen = timed(case)
    known = replace(seen, stale_page_s=1e-9)
    share = 0.01 / 0.036
    early_share = 0.8 * Costs().stale_early_share  # after 10 ms of 12
    used = 1_300 * share + 1.2e6 * seen.pause_s() * early_share
    assert seen.pause_s() - known.pause_s() == pytest.approx(1e-9 * used)
    parsed = 1.2e6 * case.recipe.row_groups * 8e-6
    opened = 1_300 * share + (1_900 + parsed) * len(case.plan().footer) * 0.01 / 0.036
    assert seen.opening_s() - known.opening_s() == pytest.approx(1e-9 * opened)
    closed = 1_300 * share + 1.2e6 * seen.closing_s() * early_share
    closed += 350 * schedule.stale_early(seen.sample.seconds[0], Costs().stale_early_share)
    assert seen.closing_s() - known.closing_s() == pytest.approx(1e-9 * closed)


@pytest.mark.parametrize("lost_s", [0.0, 0.02e-3, 0.2e-3])
@pytest.mark.parametrize("shared_s", [0.0, 0.05e-3, 0.4e-3])
def test_what_workers_lose_to_a_read_makes_the_model_as_long_as_the_scans(
    lost_s: float, shared_s: float
) -> None:
    costs = Costs(row_s=90e-9)  # decoding is what is waited for
    lost = {"lost_read_s": lost_s, "shared_read_s": shared_s}
    for most in (False, True):
        told = replace(costs, **(dict.fromkeys(lost, 1.0) if most else lost))
        cases = calibrate._scans(calibrate._engine_cases("comments")[0])
        trials = [of_processor(case, case.predict(told).finished_s) for case in cases]
        found = calibrate._with_contention(replace(costs, lost_read_s=1e-4, shared_read_s=1e-4), trials)
        expected = dict.fromkeys(lost, calibrate.MOST_LOST_S) if most else lost
        assert {name: getattr(found, name) for name in lost} == pytest.approx(expected, abs=1e-8)


def test_costs_are_fitted_to_all_runs_at_once_and_what_these_do_not_show_stays_as_usual() -> None:
    usual = Costs(open_s=1e-3, read_s=1e-4, row_s=1e-8, plan_s=5e-4)

    def told(costs: Costs) -> list[float]:
        return [costs.open_s + reads * costs.read_s + rows * costs.row_s for reads, rows in RUNS]

    true = replace(usual, open_s=1.5e-3, read_s=3e-4, row_s=4e-9)
    found = fitted(usual, told, told(true))
    shown = [getattr(found, name) for name in ("open_s", "read_s", "row_s")]
    assert shown == pytest.approx([1.5e-3, 3e-4, 4e-9], rel=0.05)
    hidden = {"open_s", "read_s", "row_s"}
    assert {name: cost for name, cost in asdict(found).items() if name not in hidden} == pytest.approx(
        {name: cost for name, cost in asdict(usual).items() if name not in hidden}
    )


def test_of_two_paces_the_middle_is_between_and_what_stalled_once_does_not_count() -> None:
    paces = [[1.0, 2.0], [1.6, 3.2]] * 5
    assert calibrate.trimmed_mean(paces) == pytest.approx([1.3, 2.6])
    assert calibrate.trimmed_mean([*paces[:9], [50.0, 3.2]]) == pytest.approx([1.3, 2.6], rel=0.05)
    assert calibrate.trimmed_mean([[1.0, 7.0]]) == pytest.approx([1.0, 7.0])


def test_a_run_that_somebody_slowed_down_makes_no_cost_of_a_fit_nothing() -> None:
    """Read off the difference of two runs, a read would take less than nothing."""
    usual = Costs(open_s=1e-3, read_s=1e-4)
    found = fitted(usual, lambda costs: [costs.open_s + n * costs.read_s for n in (1, 10)], [3e-3, 2.9e-3])
    assert 0.2 * usual.read_s < found.read_s < usual.read_s
    assert usual.open_s < found.open_s < 3e-3


def test_a_line_goes_through_its_points() -> None:
    assert line([(0.0, 1.0), (10.0, 2.0)]) == pytest.approx((1.0, 0.1))
    points = [(float(rows), 20e-6 + 30e-9 * rows) for rows in (2_048, 16_384, 65_536)]
    assert line(points) == pytest.approx((20e-6, 30e-9))


@pytest.mark.parametrize(
    ("points", "found"),
    [
        ([(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)], (2.0, 0.0)),
        ([(1.0, 1.0), (2.0, 3.0)], (0.0, 1.25)),
        ([(5.0, 2.0), (5.0, 4.0), (5.0, 3.0)], (3.0, 0.0)),
        ([(1.0, -1.0), (2.0, -2.0)], (0.0, 0.0)),
    ],
    ids=["level", "in proportion", "one place", "below nothing"],
)
def test_noise_makes_no_cost_negative(points: list[tuple[float, float]], found: tuple[float, float]) -> None:
    assert line(points) == pytest.approx(found, abs=1e-8)


def test_it_can_be_cancelled() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled), listening(stop=stop):
        engine("comments_narrow").run()


class Times(NamedTuple):
    """Seconds of all cores since a machine was started."""

    user: float
    system: float
    idle: float
    iowait: float
    guest: float


@pytest.mark.usefixtures("calibrated_as_ever")
def test_what_other_programs_take_is_all_that_is_taken_but_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cores for ten seconds: three on our own, four of others, a guest among them, who is told twice."""
    before, after = Times(5.0, 1.0, 90.0, 1.0, 0.0), Times(10.0, 3.0, 101.0, 3.0, 1.0)
    times, clock, own = iter([before, after]), iter([100.0, 110.0]), iter([2.0, 5.0])
    monkeypatch.setattr(calibrate.psutil, "cpu_times", lambda: next(times))
    monkeypatch.setattr(calibrate.os, "cpu_count", lambda: 2)
    clocks = SimpleNamespace(perf_counter=lambda: next(clock), process_time=lambda: next(own))
    monkeypatch.setattr(calibrate, "time", clocks)
    assert calibrate.OtherPrograms().share() == pytest.approx(0.2)
