"""The benchmarks run and keep what they saw. How good the figures are, no test asks."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
from click.testing import CliRunner

from readahead.experiments.claim import AGREES, DIFFERS, NOISY
from tools.bench import claims, device, models
from tools.bench.__main__ import bench
from tools.bench.figure import Figure


def test_a_figure_knows_whether_its_aim_is_met() -> None:
    fast = Figure(name="speed", value=60, unit="×", aim=50, at_least=True)
    slow = Figure(name="delay", value=60, unit="ms", aim=50)
    assert (fast.met, slow.met, Figure(name="told", value=1, unit="").met) == (True, False, None)
    assert str(fast).endswith("met")
    assert "aim ≤ 50" in str(slow)
    assert str(slow).endswith("MISSED")


def test_the_command_prints_and_keeps_raw_samples(tmp_path: Path) -> None:
    target = tmp_path / "bench.json"
    ended = CliRunner().invoke(bench, ["models", "--json", str(target)])
    assert ended.exit_code == 0
    told = json.loads(target.read_text(encoding="utf-8"))
    assert {"schedule_s", "simpy_s"} <= told["figures"][0]["samples"].keys()
    assert "against SimPy" in ended.output


def test_simpy_is_run_for_real() -> None:
    (figure,) = models.against_simpy(repeats=1)
    assert figure.value == figure.samples["simpy_s"][0] / figure.samples["schedule_s"][0]


def test_delivered_latencies_are_kept_read_by_read() -> None:
    figures = device.delivered_latency(seconds_each=0.004)
    assert len(figures) == 4 * 6 + 1
    assert all(value >= 0.0005 for value in figures[0].samples["delivered_s"])


def test_a_claim_is_turned_that_agrees_alone_and_differs_beside_a_busy_core() -> None:
    alone = {"one": AGREES, "two": AGREES, "three": DIFFERS, "four": AGREES}
    *told, wrong = claims.turned(alone, {"one": NOISY, "two": DIFFERS, "three": DIFFERS, "four": AGREES})
    assert (wrong.value, wrong.note, wrong.met) == (1, "two", False)
    assert {figure.name: figure.value for figure in told} == {
        "claims: agrees, alone": 3,
        "claims: differs, alone": 1,
        "claims: agrees, beside a busy core": 1,
        "claims: differs, beside a busy core": 2,
        f"claims: {NOISY}, beside a busy core": 1,
    }
    assert [figure.note for figure in told] == ["", "three", "", "two, three", "one"]


def test_a_core_is_busy_until_the_claims_are_tested() -> None:
    with claims._busy_core():
        [beside] = [one for one in psutil.Process().children() if claims.BUSY in one.cmdline()]
        assert beside.is_running()
    assert not psutil.pid_exists(beside.pid)


def test_claims_are_tested_on_measurements_of_their_own() -> None:
    assert claims._verdicts(["row_groups"])
