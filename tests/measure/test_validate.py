"""The examination draws what it should, adds up what it saw, and stops when told."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from readahead.__main__ import run
from readahead.errors import Cancelled
from readahead.measure import validate
from readahead.measure.validate import Row
from readahead.running import listening

ROW = Row(
    case="a case", modeled_s=1.1, measured_s=1.0, seconds=(1.0,), device_bound=True,
    reads_modeled=3, reads_measured=3, bytes_modeled=10, bytes_measured=10,
)  # fmt: skip


def test_the_same_seed_draws_the_same_settings_and_another_seed_others() -> None:
    first, again, other = ([str(validate.draw(random.Random(seed))) for _ in range(1)] for seed in (5, 5, 6))
    assert first == again != other


def test_what_is_drawn_covers_the_asked_ranges() -> None:
    rng = random.Random(2)
    cases = [validate.draw(rng) for _ in range(400)]
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
    rows = [replace(ROW, control_s=control_s) for control_s in (0.010, 0.010, 0.010, 0.014, 0.009)]
    assert validate.report(rows)["machine"] == pytest.approx({"n": 5, "median": 0, "p90": 0.28, "worst": 0.4})
    assert validate.steadiness([ROW]) == {"n": 0, "median": None, "p90": None, "worst": None}


def test_the_command_writes_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two settings, really measured; how close they are is for `make validate` to tell, on a quiet machine."""
    target = tmp_path / "deep" / "figures.json"
    assert run(["validate", "--seed", "3", "--configs", "2", "--repeats", "1", "--json", str(target)]) == 0
    told = json.loads(target.read_text(encoding="utf-8"))
    assert told["all"]["n"] == len(told["rows"]) == 2
    assert all(row["reads_modeled"] == row["reads_measured"] for row in told["rows"])
    said = capsys.readouterr().out
    assert "relative error of 2 settings" in said and "one and the same scan" in said
    assert all(row["control_s"] > 0 for row in told["rows"])
    assert list(target.parent.iterdir()) == [target]


def test_it_can_be_cancelled() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled), listening(stop=stop):
        next(validate.examine(seed=1, configs=1))
