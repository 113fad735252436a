"""Each check finds the very thing it is for, says it in a sentence, and gives the way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from readahead.__main__ import run
from readahead.commands import doctor
from readahead.commands.doctor import look
from readahead.storage import page_cache
from readahead.units import GiB


def test_this_machine_is_looked_over_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor"]) == 0
    said = capsys.readouterr().out
    assert [line for line in said.splitlines() if line.startswith("✓ Packages: all ")]
    assert all(f"{about}: " in said for about in doctor.CHECKS) and "\nReady" in said


@pytest.mark.parametrize(
    ("check", "mark", "word"),
    [
        (lambda: doctor.packages(["duckdb<1", "no-such-package"]), "✗", "no-such-package is missing"),
        (lambda: doctor.packages(["duckdb>=2"]), "✓", "as tested"),
        (lambda: doctor.packages(["no-such-package; sys_platform == 'never'"]), "✓", "as tested"),
        (lambda: doctor.disk_space(10**6), "✗", "READAHEAD_CACHE"),
        (lambda: doctor.disk_space(100 * GiB), "✓", "free"),
        (lambda: doctor.memory(10**8), "✗", "browsers"),
        (lambda: doctor.cores(1), "!", "one"),
        (lambda: doctor.cores(8), "✓", "8"),
        (lambda: doctor.file_system("nfs4"), "!", "network"),
        (lambda: doctor.file_system("ext4"), "✓", "ext4"),
        (lambda: doctor.write_rights((Path("/proc/nowhere"),)), "✗", "/proc/nowhere cannot be written"),
    ],
)
def test_a_check_tells_good_from_bad(check: Callable[[], str], mark: str, word: str) -> None:
    found, line = look("It", check)
    assert found == mark
    assert line.startswith(f"{mark} It: ") and word in line
    assert ("\n    → " in line) == (mark != "✓")


def test_widgets_are_looked_for_wherever_jupyterlab_looks(tmp_path: Path) -> None:
    places = [str(tmp_path / "environment"), str(tmp_path / "user")]
    assert look("Widgets", lambda: doctor.widgets(places))[0] == "✗"
    for place, name in zip(places, ("@jupyter-widgets/jupyterlab-manager", "anywidget"), strict=True):
        (Path(place) / name).mkdir(parents=True)
        (Path(place) / name / "package.json").write_text("{}")
    assert look("Widgets", lambda: doctor.widgets(places))[0] == "✓"


def test_the_trial_goes_through_the_emulated_device() -> None:
    assert look("A query", doctor.query)[0] == "✓"
    assert look("Page cache", doctor.eviction)[0] == ("✓" if page_cache.can_evict() else "!")


def test_a_check_that_fails_is_a_problem_and_the_exit_code_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> str:
        raise RuntimeError("a fuse")

    monkeypatch.setattr(doctor, "CHECKS", {"Fuses": broken})
    assert run(["doctor"]) == 1
    assert "✗ Fuses: the check failed: RuntimeError: a fuse." in capsys.readouterr().out
