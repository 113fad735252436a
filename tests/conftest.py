"""What every test may use: a cache of its own, small devices, a tiny dataset built once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.measure import calibrate
from readahead.measure.calibrate import Calibration
from readahead.measure.run import run_emulated

settings.register_profile("readahead", deadline=None)  # how fast a law is checked is nobody's business
settings.load_profile("readahead")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a job that a script has put in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Build datasets where all workers of this run share them, and never in the learner's cache."""
    before = os.environ.get("READAHEAD_CACHE")
    root = tmp_path_factory.getbasetemp()
    shared = root.parent if os.environ.get("PYTEST_XDIST_WORKER") else root
    os.environ["READAHEAD_CACHE"] = before or str(shared / "cache")
    yield
    if before is None:
        del os.environ["READAHEAD_CACHE"]


_COSTS, _KEEP, _RUN = Calibration.costs, Calibration.keep, Calibration.run
_NAMES = ("control_s", "strayed")
_MODULE = {name: getattr(calibrate, name) for name in _NAMES}
_SHARE = calibrate.OtherPrograms.share


@pytest.fixture(scope="session", autouse=True)
def _calibrated_in_one_try() -> None:
    """Beside other tests no machine is quiet.

    Each run of a calibration is made once, and taken for a steady one; models take what is typical.
    What is measured counts as undisturbed.
    """
    Calibration.costs = lambda self: self.typical()  # type: ignore[method-assign]
    calibrate.control_s, calibrate.strayed = lambda: 1.0, lambda _: 0.0
    calibrate.OtherPrograms.share = lambda self: 0.0  # type: ignore[method-assign]
    Calibration.run = lambda self, turns=0: _RUN(self, 1)  # type: ignore[method-assign]
    Calibration.keep = lambda self, costs, *_: _KEEP(self, costs)  # type: ignore[method-assign]


@pytest.fixture(scope="session", autouse=True)
def _cold_engines() -> None:
    """Count the first run of each measurement in this process: no test asserts how long one took. Kernels warm up."""
    run_emulated.__kwdefaults__["warm_ups"] = 0


@pytest.fixture
def calibrated_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a calibration know again when it was disturbed, and models take its costs."""
    monkeypatch.setattr(Calibration, "costs", _COSTS)
    for name, value in _MODULE.items():
        monkeypatch.setattr(calibrate, name, value)
    monkeypatch.setattr(calibrate.OtherPrograms, "share", _SHARE)
    monkeypatch.setattr(Calibration, "run", _RUN)
    monkeypatch.setattr(Calibration, "keep", _KEEP)


@pytest.fixture(scope="session")
def narrow() -> Recipe:
    """Return the recipe of a small file with 32 row groups."""
    return Recipe(table="comments_narrow", size="tiny", row_group_rows=8_192)


@pytest.fixture(scope="session")
def narrow_path(narrow: Recipe) -> Path:
    """Return that file, built."""
    return store.path(narrow)
