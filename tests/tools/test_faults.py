"""The campaign of faults in small: each kind for a few seconds, and damaged files as hypothesis thinks them up."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from tools import faults

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals and limits")


@pytest.mark.parametrize("trial", faults.TRIALS, ids=lambda trial: trial.__name__)
def test_every_fault_is_survived_for_a_while(trial: faults.Trial) -> None:
    assert faults.campaign(trial, seconds=1.5, seed=1).faults == []


@settings(max_examples=50)
@given(rng=st.randoms(use_true_random=False))
def test_no_damage_to_a_parquet_file_is_more_than_a_sentence(
    rng: random.Random, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert faults.hostile_parquet(rng, tmp_path_factory.getbasetemp()) == ""


def test_what_is_not_survived_is_counted_told_and_can_be_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def sometimes(rng: random.Random, folder: Path) -> str:
        return "it was lost" if rng.random() < 0.5 else ""

    monkeypatch.setattr(faults, "TRIALS", (sometimes,))
    one, again = (faults.campaign(sometimes, seconds=0.2, seed=3) for _ in range(2))
    assert 0 < len(one.faults) < one.tried
    assert one.faults[:5] == again.faults[:5] and "of seed 3: it was lost" in one.faults[0]
    told = CliRunner().invoke(faults.faults, ["--minutes", "0.002", "--seed", "3"])
    assert told.exit_code == 1 and "survived" in told.output
