"""Validation draws what it should, adds up what it saw, measures again while the machine strays, and can be stopped."""

from __future__ import annotations

import json
import random
import re
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from readahead.__main__ import run
from readahead.chapters import CONTENTS, chapter
from readahead.errors import Cancelled
from readahead.measure import calibrate
from readahead.measure.calibrate import Calibration
from readahead.measure.sample import Sample
from readahead.running import listening
from tools import draws, validate
from tools.validate import EVERY_KNOB, Row

ROW = Row(
    case="a case", modeled_s=1.1, measured_s=1.0, seconds=(1.0,), cpu_s=(1.0,), steady=1, device_bound=True,
    modeled={"reads": 3, "bytes_read": 10}, traced={"reads": 3, "bytes_read": 10}, profiled={"bytes_read": 10},
)  # fmt: skip


@pytest.fixture(autouse=True)
def calibrated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calibrate a table once for all tests, in one turn: what is measured here need not be near."""
    anew = Calibration.run
    monkeypatch.setattr(Calibration, "run", lambda self, *_: self.kept() or anew(self, 1))


def test_the_same_seed_draws_the_same_settings_and_another_seed_others() -> None:
    first, again, other = (
        [str(EVERY_KNOB.draw(random.Random(seed))) for _ in range(1)] for seed in (5, 5, 6)
    )
    assert first == again != other


def test_what_is_drawn_covers_the_asked_ranges() -> None:
    rng = random.Random(2)
    cases = [EVERY_KNOB.case(EVERY_KNOB.draw(rng)) for _ in range(400)]
    assert all(0.5e-3 <= case.device.latency_s <= 30e-3 for case in cases)
    assert all(50e6 <= case.device.bandwidth_bytes_per_s <= 2e9 for case in cases)
    assert {case.device.channels for case in cases} >= {1, 64} or max(c.device.channels for c in cases) > 55
    assert {bool(case.keys) for case in cases} == {True, False}
    assert {case.recipe.table for case in cases} == set(validate.TABLES)


def test_errors_are_fractions_of_what_was_measured() -> None:
    assert ROW.error == pytest.approx(0.1)
    report = validate.report([ROW])
    assert report["all"] == pytest.approx({"n": 1, "median": 0.1, "p90": 0.1, "worst": 0.1})
    assert validate.summary([]) == {"n": 0, "median": None, "p90": None, "worst": None}


def test_a_machine_that_is_not_steady_is_told_apart_from_a_model_that_is_wrong() -> None:
    rows = [replace(ROW, apart=apart) for apart in (0.0, 0.01, 0.0, 0.4, 0.1)]
    assert validate.report(rows)["one_pass"] == pytest.approx(
        {"n": 5, "median": 0.01, "p90": 0.28, "worst": 0.4}
    )
    assert validate.repeatability([]) == {"n": 0, "median": None, "p90": None, "worst": None}


def test_the_first_pass_is_held_to_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three passes of three runs each, whose medians are 3, 2 and 2 s: 50 % apart."""
    told = iter([(1.0, 3.0, 5.0), (2.0, 2.0, 9.0), (1.0, 2.0, 2.0)])

    def measured(_: object, settings: object, *, repeats: int) -> Sample:
        seconds = next(told)
        return Sample(seconds=seconds, cpu_s=seconds, reads=(), bytes_read=0, where="")

    monkeypatch.setattr(validate, "control_s", lambda: 1.0)
    monkeypatch.setattr(validate, "KNOWN", np.inf)
    monkeypatch.setattr(type(EVERY_KNOB), "calibrate", lambda _, **__: None)
    monkeypatch.setattr(type(EVERY_KNOB), "measure", measured)
    [row] = validate.validated(EVERY_KNOB, seed=3, configs=1)
    assert row.apart == pytest.approx(0.5) and len(row.seconds) == 9


def test_the_command_writes_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two settings, really measured; how close they are is for `make validate` to tell, on a quiet machine."""
    target = tmp_path / "deep" / "figures.json"
    asked = ["--seed", "3", "--configs", "2", "--repeats", "1", "--json", str(target)]
    assert run(asked, validate.validate) == 0
    told = json.loads(target.read_text(encoding="utf-8"))
    assert told["all"]["n"] == len(told["rows"]) == 2
    assert all(row["modeled"]["reads"] == row["traced"]["reads"] for row in told["rows"])
    said = capsys.readouterr().out
    assert re.search(r"every knob +[\d.]+ / [\d.]+ / [\d.]+ \(2\)", said)
    assert "counted alike" in said and "2 of 2" in said
    assert told["in_band"] == sum(row["in_band"] for row in told["rows"])
    assert all(row["strayed"] >= 0 for row in told["rows"])
    assert list(target.parent.iterdir()) == [target]


def test_it_can_be_cancelled() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled), listening(stop=stop):
        validate.validated(EVERY_KNOB, seed=1, configs=1)


def test_what_is_counted_differently_is_named() -> None:
    assert ROW.differences == []
    assert replace(ROW, profiled={"bytes_read": 11}).differences == [
        "bytes read: model 10, trace 10, profile 11"
    ]
    near = replace(ROW, modeled={"row_groups": 100.0}, profiled={"row_groups": 104})
    assert near.differences == []
    assert replace(near, profiled={"row_groups": 110}).differences == ["row groups: model 100, profile 110"]


@pytest.mark.parametrize(
    ("controls", "tries", "strayed"),
    [([1.02, 1.0] * 3, 3, 0.02), ([1.3, 1.0, *[1.0] * 6], 4, 0.0), ([1.0, 1.4] * 6, 6, 0.4)],
    ids=["quiet", "once disturbed", "never quiet"],
)
def test_a_setting_is_measured_in_each_pass_and_again_while_the_control_run_strays(
    controls: list[float], tries: int, strayed: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control runs are given; what is measured between them is real, and no run is left out."""
    told = iter(controls)
    monkeypatch.setattr(validate, "control_s", lambda: next(told))
    monkeypatch.setattr(validate, "MOST_TIMES", 1)
    monkeypatch.setattr(validate, "KNOWN", np.inf)
    monkeypatch.setattr(calibrate, "strayed", lambda took_s: abs(took_s - 1))
    monkeypatch.setattr(type(EVERY_KNOB), "calibrate", lambda _, **__: None)
    [row] = validate.validated(EVERY_KNOB, seed=3, configs=1, repeats=1)
    assert (row.tries, len(row.seconds), row.strayed) == (tries, tries, pytest.approx(strayed))
    assert not [*told] and 1 <= row.steady <= tries
    assert validate.report([row])["repeated"] == (tries > 3)


def test_what_was_disturbed_is_measured_again_after_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two settings the first is disturbed once, in the first of three passes."""
    controls, order = iter([1.3, *[1.0] * 13]), []

    def measured(_: object, settings: dict[str, object], *, repeats: int) -> Sample:
        order.append(settings["key_draw"])
        return Sample(seconds=(1.0,), cpu_s=(1.0,), reads=(), bytes_read=0, where="")

    monkeypatch.setattr(validate, "control_s", lambda: next(controls))
    monkeypatch.setattr(calibrate, "strayed", lambda took_s: abs(took_s - 1))
    monkeypatch.setattr(type(EVERY_KNOB), "calibrate", lambda _, **__: None)
    monkeypatch.setattr(type(EVERY_KNOB), "measure", measured)
    first, second = validate.validated(EVERY_KNOB, seed=3, configs=2)
    assert (first.tries, second.tries) == (4, 3)
    assert order == [*order[:2] * 3, order[0]] and order[0] != order[1]


@pytest.mark.parametrize(
    ("seconds", "steady"),
    [([1.0, 1.0, 1.0, 1.0, 1.3], True), ([1.0, 1.0, 1.1, 1.1], False), ([1.0, 1.0, 1.03, 1.03] * 2, True)],
    ids=["one is slow", "far apart", "near"],
)
def test_a_setting_is_steady_when_the_median_of_its_runs_is_known(seconds: list[float], steady: bool) -> None:
    """By the standard error of a median: 0.93 times what the middle half spans, over the root of how many there are."""
    each = [Sample(seconds=(run_s,), cpu_s=(1.0,), reads=(), bytes_read=0, where="") for run_s in seconds]
    made = validate._Measured({}, [validate._Try(0.0, sample) for sample in each])
    assert made.steady == steady


@pytest.mark.parametrize(("more_reads", "counted", "measured_s"), [(0, 2, 0.30), (210, 6, 0.37)])
def test_where_the_engines_clock_decides_what_is_read_all_runs_count(
    more_reads: int, counted: int, measured_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs that read less take less of the processor: nobody slowed the others down."""
    seconds, cpu_s = (0.26, 0.34, 0.36, 0.38, 0.40, 0.41), (0.042, 0.050, 0.052, 0.054, 0.058, 0.060)
    samples = [
        Sample(seconds=seconds[at::2], cpu_s=cpu_s[at::2], reads=(), bytes_read=0, where="") for at in (0, 1)
    ]
    counts = {"reads": 330.0, "bytes_read": 2.0, "more_reads": float(more_reads), "moved_bytes": 0.0}
    monkeypatch.setattr(calibrate, "quick_for_long", lambda: True)
    monkeypatch.setattr(type(EVERY_KNOB), "counts", lambda *_: counts)
    settings = validate._drawn(EVERY_KNOB, 3, 1)[0]
    row = validate._row(EVERY_KNOB, settings, [validate._Try(0.0, sample) for sample in samples])
    assert (row.steady, row.measured_s) == (counted, pytest.approx(measured_s))


WRITTEN = [place.topic for place in CONTENTS]


@pytest.mark.parametrize("topic", WRITTEN)
def test_every_chapter_can_be_drawn_from_and_modeled(topic: str) -> None:
    experiment = chapter(topic).experiment
    rng = random.Random(1)
    drawn = [draws.draw(experiment, rng) for _ in range(12)]
    assert all(settings["size"] == "tiny" for settings in drawn)
    assert len({str(settings) for settings in drawn}) >= 5
    assert all(experiment.model(settings).seconds > 0 for settings in drawn)


def test_a_chapter_is_held_to_its_own_knobs() -> None:
    (row,) = validate.validated(chapter("fragments").experiment, seed=4, configs=1, repeats=1)
    assert row.modeled_s > 0 and row.measured_s == np.median(row.seconds[: row.steady])
    assert row.modeled["reads"] == row.traced["reads"]
