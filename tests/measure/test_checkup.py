"""Each check finds the very thing it is for, says it in a sentence, and gives the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from readahead.measure import checkup
from readahead.measure.checkup import FINE, NOTE, PROBLEM, Finding
from readahead.storage import page_cache
from readahead.units import GiB


def test_this_machine_is_looked_over_without_a_traceback() -> None:
    found = [finding for finding, _ in checkup.checkup()]
    assert [finding.about for finding in found][:2] == ["Packages", "Write rights"]
    assert len(found) == len(checkup.CHECKS)
    assert not [finding.line for finding in found if finding.state == PROBLEM]


@pytest.mark.parametrize(
    ("finding", "state", "word"),
    [
        (checkup.versions(["duckdb<1", "no-such-package"]), PROBLEM, "no-such-package is missing"),
        (checkup.versions(["duckdb>=2"]), FINE, "as tested"),
        (checkup.versions(["no-such-package; sys_platform == 'never'"]), FINE, "as tested"),
        (checkup.room(10**6), PROBLEM, "READAHEAD_CACHE"),
        (checkup.room(100 * GiB), FINE, "free"),
        (checkup.memory(10**8), PROBLEM, "browsers"),
        (checkup.cores(1), NOTE, "one"),
        (checkup.cores(8), FINE, "8"),
        (checkup.cache_place("nfs4"), NOTE, "network"),
        (checkup.cache_place("ext4"), FINE, "ext4"),
        (checkup.rights((Path("/proc/nowhere"),)), PROBLEM, "/proc/nowhere cannot be written"),
    ],
    ids=str,
)
def test_a_check_tells_good_from_bad(finding: Finding, state: str, word: str) -> None:
    assert finding.state == state
    assert word in finding.line
    assert bool(finding.fix) == (state != FINE)


def test_widgets_of_another_python_are_not_taken_for_ours(tmp_path: Path) -> None:
    assert checkup.widgets((tmp_path,)).state == PROBLEM
    for name in ("@jupyter-widgets/jupyterlab-manager", "anywidget"):
        (tmp_path / "share" / "jupyter" / "labextensions" / name).mkdir(parents=True)
        (tmp_path / "share" / "jupyter" / "labextensions" / name / "package.json").write_text("{}")
    assert checkup.widgets((tmp_path,)).state == FINE


def test_the_trial_goes_through_the_emulated_device() -> None:
    assert checkup.trial().state == FINE
    assert checkup.forgetting().state == (FINE if page_cache.can_evict() else NOTE)


def test_a_check_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Finding:
        raise RuntimeError("a fuse")

    monkeypatch.setattr(checkup, "CHECKS", (broken,))
    [(finding, _)] = checkup.checkup()
    assert finding.state == PROBLEM and "a fuse" in finding.says
