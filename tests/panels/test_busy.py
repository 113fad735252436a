"""A learner whose machine was busy while it was calibrated is told so, and can calibrate again."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from pathlib import Path

import pytest
from toybox import CHAPTER, EXPERIMENT, ROUNDS, study

from readahead.experiments.claim import NOISY, Claim
from readahead.experiments.experiment import DEVICE_OFF, OWN_OFF
from readahead.experiments.round import Applied, Round
from readahead.measure.calibrate import Calibration, engine
from readahead.measure.sample import Sample, exactly
from readahead.models.estimate import Estimate
from readahead.models.schedule import Costs
from readahead.panels import lesson as lessons
from readahead.panels.lesson import open_chapter
from readahead.panels.panel import Panel
from readahead.panels.state import static_html

pytestmark = pytest.mark.usefixtures("calibrated_as_ever")


@dataclass(frozen=True, kw_only=True)
class Toll:
    """What the toy takes."""

    row_s: float = 0.5


@pytest.fixture
def busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calibrated_as_ever: None) -> Calibration[Toll]:
    """Give the toy a calibration whose control runs all stray, and calibrate it."""
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("READAHEAD_PROGRESS", str(tmp_path / "progress.json"))
    recorded = itertools.chain([1.0], [1.4] * 3, itertools.repeat(1.0))
    sample = Sample(seconds=(1.0,), cpu_s=(1.0,), reads=(), bytes_read=0, where="toy")
    one = Calibration(
        name="toll",
        kind=Toll,
        cases=lambda: [lambda: sample],
        read_off=lambda seen: Toll(row_s=0.1),
        typical=Toll,
        turns=3,
        control=lambda: next(recorded),
    )
    monkeypatch.setattr(type(EXPERIMENT), "calibrations", lambda self, settings: (one,))
    engine("comments_narrow").keep(
        Costs()
    )  # the machine card has them: its own control runs are not the toy's
    one.run()
    return one


def test_the_panel_says_so_until_it_is_calibrated_again(busy: Calibration[Toll]) -> None:
    panel = Panel(EXPERIMENT)
    panel.background.join(60)
    assert "This machine was busy while it was calibrated" in panel.widget.status["note"]
    assert "strayed by 40 %" in static_html(panel.state)
    EXPERIMENT.calibrate()
    panel.measure()
    panel.background.join(60)
    assert panel.widget.status == {"note": "", "share": None}
    assert "busy" not in static_html(panel.state)
    panel.close()


def test_the_reveal_warns_and_the_lesson_calibrates_again(
    busy: Calibration[Toll], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[str] = []
    monkeypatch.setattr(lessons, "show", lambda page, data=None: pages.append(page))
    lesson = open_chapter(CHAPTER, reveal=True)
    lesson.reveal("fetch")
    assert "lesson.calibrate()" in pages[-1]
    lesson.calibrate()
    assert "The machine kept steady" in pages[-1]
    lesson.reveal("fetch")
    assert "lesson.calibrate()" not in pages[-1]


def halved(length: float) -> float:
    """Return half of it."""
    return length / 2


def test_a_law_of_given_numbers_does_not_depend_on_how_busy_the_machine_was(
    busy: Calibration[Toll], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[str] = []
    monkeypatch.setattr(lessons, "show", lambda page, data=None: pages.append(page))
    law = Round(law=lambda _: Applied(halved, length=2e6))
    monkeypatch.setitem(ROUNDS, "half", law)
    open_chapter(CHAPTER, reveal=True).reveal("half")
    assert "lesson.calibrate()" not in pages[-1]
    assert "halved" in pages[-1]


def test_what_strayed_widens_the_machine_s_own_part_of_the_model(
    busy: Calibration[Toll], monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Estimate(terms_s={"open": 0.1, "cpu": 0.2, "coordination": 0.2, "transfer": 0.3, "link": 0.2})
    monkeypatch.setattr(type(EXPERIMENT), "model", lambda self, settings: told)
    modeled = study().model.seconds()
    off, waits_s = math.hypot(0.4, OWN_OFF), 0.5 * DEVICE_OFF
    assert (modeled.low, modeled.median, modeled.high) == pytest.approx(
        (1 - 0.5 * (1 - 1 / (1 + off)) - waits_s, 1.0, 1 + waits_s + 0.5 * off)
    )
    claim = Claim(id="near", left=dict, right=dict, left_name="model", right_name="limit", relation="at most")
    assert claim.test(modeled, exactly(0.9)).verdict == NOISY
    busy.run()
    assert claim.test(study().model.seconds(), exactly(0.9)).verdict != NOISY
