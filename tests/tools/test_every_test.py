"""Both parts of `make test` run, what each says is shown, and neither's failure is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from readahead.paths import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no make, and other limits")

PASSES, FAILS = "def test_one(): pass\n", "def test_one(): assert 1 == 2\n"
MARKED = "import pytest\npytestmark = pytest.mark.browser\n"
LIMIT = "import resource\ndef test_one(): assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == {}\n"
WAITS = """
import pathlib, time
def test_one(tmp_path_factory):
    try:
        pathlib.Path(__file__).with_suffix(".begun").touch()
        time.sleep(120)
    finally:
        pathlib.Path(__file__).with_suffix(".ended").touch()
"""


def started(folder: Path, others: str, browser: str) -> subprocess.Popen[str]:
    """Start both parts on a folder with a test of each kind."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = browser\n", encoding="utf-8")
    (folder / "test_others.py").write_text(others, encoding="utf-8")
    (folder / "test_browser.py").write_text(MARKED + browser, encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.Popen(
        [sys.executable, "-m", "tools.every_test", str(folder)],
        cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("others", "browser", "code"),
    [(LIMIT.format(256), LIMIT.format(1024), 0), (FAILS, PASSES, 1), (PASSES, FAILS, 1)],
)
def test_a_failure_of_either_part_is_the_failure_of_both(
    tmp_path: Path, others: str, browser: str, code: int
) -> None:
    process = started(tmp_path, others, browser)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == code, said
    first, _, last = said.partition("With a browser, at the same time:")
    assert ("1 failed" if others == FAILS else "1 passed") in first
    assert ("1 failed" if browser == FAILS else "1 passed") in last


@pytest.mark.parametrize("whom", ["all", "the first"])
def test_ctrl_c_ends_both_parts_and_each_puts_away_what_it_has(tmp_path: Path, whom: str) -> None:
    process = started(tmp_path, WAITS, WAITS)
    while len(list(tmp_path.glob("*.begun"))) < 2:
        assert process.poll() is None
        time.sleep(0.1)
    if whom == "all":  # as a terminal does
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.terminate()
    said, _ = process.communicate(timeout=120)
    assert process.returncode not in (0, None), said
    assert len(list(tmp_path.glob("*.ended"))) == 2
