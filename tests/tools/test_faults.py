"""The campaign of faults in small: each kind once or for a moment, and damaged files as hypothesis thinks them up."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from readahead import paths
from tools.faults import __main__ as faults
from tools.faults import hostile, processes, promises

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals and limits")


@pytest.mark.parametrize("trial", faults.TRIALS, ids=lambda trial: trial.__name__)
def test_every_fault_is_survived_for_a_while(trial: faults.Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PROMISED_S", processes.PATIENCE_S)  # beside other tests all is late
    assert faults.campaign(trial, seconds=0.5, seed=1).faults == []


@settings(max_examples=50)
@given(rng=st.randoms(use_true_random=False))
def test_no_damage_to_a_parquet_file_is_more_than_a_sentence(
    rng: random.Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert hostile.hostile_parquet(rng, tmp_path_factory.getbasetemp()) == ""


def test_what_is_not_survived_is_counted_told_and_can_be_repeated(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def sometimes(rng: random.Random, folder: Path) -> str:
        return "it was lost" if rng.random() < 0.5 else ""

    monkeypatch.setattr(faults, "TRIALS", (sometimes,))
    monkeypatch.setattr(faults, "LONG", ())
    one, again = (faults.campaign(sometimes, seconds=0.2, seed=3) for _ in range(2))
    assert 0 < len(one.faults) < one.tried
    assert one.faults[:5] == again.faults[:5] and "of seed 3: it was lost" in one.faults[0]
    json_path = tmp_path / "faults.json"
    options = ["--minutes", "0.002", "--seed", "3", "--json", str(json_path)]
    told = CliRunner().invoke(faults.faults, options)
    assert told.exit_code == 1 and "survived" in told.output
    kept = json.loads(json_path.read_text(encoding="utf-8"))["trials"]["sometimes"]
    assert 0 < kept["survived"] < kept["tried"]


def test_every_trial_holds_a_promise_and_every_test_named_is_there() -> None:
    assert promises.unpromised() == set()
    named = {name for promise in promises.PROMISES for name in promise.tests.split()}
    assert [name for name in sorted(named) if not (paths.ROOT / "tests" / name).is_file()] == []


def test_the_counts_of_a_campaign_stand_beside_the_promises(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(promises, "COUNTS", tmp_path / "faults.json")
    assert "| 1,200 |" not in promises.table() and "Counted in" not in promises.table()
    told = {
        "build_killed": {"tried": 1_200, "survived": 1_199},
        "build_cancelled": {"tried": 3, "survived": 3},
    }
    text = json.dumps({"seed": 5, "minutes": 20.0, "trials": told})
    promises.COUNTS.write_text(text, encoding="utf-8")
    assert "| 1,203 | 1,202 |" in promises.table()
    assert promises.table().endswith("Counted in 20 minutes, seed 5.")
