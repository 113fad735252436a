"""The rules of who imports whom, run on the house, and on a copy of it with something wrong in it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from readahead.paths import ROOT


def house(tmp_path: Path) -> Path:
    """Copy the package and its rules."""
    shutil.copytree(
        ROOT / "lib",
        tmp_path / "lib",
        ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "*.csv"),
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def contracts(folder: Path) -> str:
    """Run all rules and return the report."""
    lint = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run(
        [sys.executable, "-c", lint, "--no-cache", "--no-logo"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "lib"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout + done.stderr


def write(folder: Path, name: str, text: str) -> None:
    (folder / "lib" / "readahead" / name).write_text(text, encoding="utf-8")


def test_the_house_keeps_its_rules(tmp_path: Path) -> None:
    report = contracts(house(tmp_path))
    assert " 0 broken." in report, report
    kept = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    assert {one["id"] for one in kept} >= {"floors", "chapters", "arithmetic", "silent", "dask"}


@pytest.mark.parametrize(
    ("file", "text", "rule"),
    [
        ("utils.py", "", "every file has a floor"),
        ("models/estimate.py", "import duckdb", "Models and facts are arithmetic"),
        ("devices.py", "import readahead.measure.sample", "only from the floors beneath"),
        ("measure/sample.py", "import plotly", "Measuring draws nothing"),
        ("datasets/recipe.py", "import readahead.storage.trace", "only from the floors beneath"),
        ("measure/run.py", "import dask", "Dask lives in chapters.scale_out.cluster alone"),
        ("panels/stray.py", "import readahead.commands.run", "only from the floors beneath"),
    ],
)
def test_what_is_out_of_place_is_caught(tmp_path: Path, file: str, text: str, rule: str) -> None:
    copy = house(tmp_path)
    write(copy, file, f'"""Out of place."""\n\n{text}\n')
    report = contracts(copy)
    broken = [line for line in report.splitlines() if " BROKEN" in line]
    assert any(rule in line for line in broken), report


def test_a_chapter_that_imports_another_chapter_is_caught(tmp_path: Path) -> None:
    copy = house(tmp_path)
    write(copy, "chapters/loading/stray.py", '"""One."""\n\nimport readahead.chapters.scale_out.laws\n')
    assert "A chapter never imports another chapter BROKEN" in contracts(copy)


def test_dask_may_live_in_its_own_file(tmp_path: Path) -> None:
    copy = house(tmp_path)
    write(copy, "chapters/scale_out/cluster.py", '"""Many."""\n\nimport dask\nimport distributed\n')
    assert " 0 broken." in contracts(copy)
