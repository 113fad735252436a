"""The engine is weighed on this machine and nowhere else."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from readahead import devices
from readahead.chapters.cache_tiers import calibrate_cache
from readahead.chapters.cache_tiers.laws import CacheCosts
from readahead.errors import Cancelled
from readahead.measure import calibrate
from readahead.measure.calibrate import Trial, engine_costs, line, saved_costs, weigh_engine
from readahead.models.schedule import Costs
from readahead.running import listening


def test_before_it_is_weighed_an_engine_has_typical_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    assert saved_costs("comments_narrow") is None
    assert engine_costs("comments_narrow") == Costs()


def test_weighing_finds_positive_costs_and_keeps_them_for_this_machine_only() -> None:
    costs = weigh_engine("comments_narrow", repeats=2)
    assert all(value > 0 for value in asdict(costs).values())
    assert saved_costs("comments_narrow") == costs
    path = calibrate._costs_path("comments_narrow", here="")
    told = json.loads(path.read_text(encoding="utf-8"))
    weighed = {**told["weighed"], "machine": {**told["weighed"]["machine"], "cpu": "another"}}
    path.write_text(json.dumps({**told, "weighed": weighed}), encoding="utf-8")
    assert saved_costs("comments_narrow") is None
    path.write_text("{", encoding="utf-8")
    assert engine_costs("comments_narrow") == Costs()


@pytest.mark.parametrize("value", ["x", None, 1e308, float("nan"), float("inf"), -5, True, 10**400], ids=str)
@pytest.mark.parametrize("of", ["engine", "cache"])
def test_costs_that_no_weighing_finds_count_as_none(
    value: object, of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    keep = {"weighed": calibrate.weighed_on()}
    path, costs, saved = {
        "engine": (tmp_path / "engine-comments.json", Costs(), lambda: saved_costs("comments")),
        "cache": (tmp_path / "engine-comments-cache.json", CacheCosts(), calibrate_cache._saved),
    }[of]
    path.write_text(json.dumps({**keep, "costs": asdict(costs)}), encoding="utf-8")
    assert saved() == costs
    path.write_text(json.dumps({**keep, "costs": {**asdict(costs), "row_s": value}}), encoding="utf-8")
    assert saved() is None
    for text in ("[" * 100_000, "5", json.dumps({**keep, "costs": [5]})):
        path.write_text(text, encoding="utf-8")
        assert saved() is None


def test_a_cupboard_that_can_only_be_read_keeps_the_costs_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "file"))
    kept = Costs(row_s=3e-9)
    calibrate.keep_costs("comments_narrow", kept, here="")
    assert engine_costs("comments_narrow") == kept
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "other"))
    assert saved_costs("comments_narrow") is None


def test_this_disk_is_weighed_apart_and_anew_after_a_calibration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))
    costs = calibrate.ensure_costs("comments_narrow", here="cold")
    assert saved_costs("comments_narrow", here="cold") == costs
    assert saved_costs("comments_narrow", here="warm") is not None
    assert saved_costs("comments_narrow") != costs
    own = devices.device("nvme").but(name=devices.THIS_MACHINE)
    devices.save_calibrated(own, title="A disk", source="a test")
    assert saved_costs("comments_narrow", here="cold") is None  # its share in the old costs is not known
    assert saved_costs("comments_narrow", here="warm") is not None


def one_by_one(rows: int, pause_s: float) -> Trial:
    """Return a trial of one read at a time, as measured, but with a clock of ours: each pause is as told."""
    (case,) = (
        case
        for case in calibrate.calibration_cases("comments_narrow")
        if case.engine.queue_depth == 1 and case.recipe.row_group_rows == rows
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
    assert trial.pauses_s() == pytest.approx([0.0004] * (trial.case.recipe.row_groups - 1))
    assert (trial.opening_s(), trial.closing_s()) == pytest.approx((0.0004, 0.0004))


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


def test_weighing_can_be_cancelled() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled), listening(stop=stop):
        weigh_engine("comments_narrow")
