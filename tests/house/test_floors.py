"""The rules of who imports whom, run on the house, and on a copy of it with something wrong in it."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from readahead.exercises.chapters import CONTENTS
from readahead.paths import ROOT

TOPICS = [place.topic for place in CONTENTS if place.topic != "start_here"]
ROOMS = ("models", "experiments", "exercises")


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
    """Add to the rules that a topic never imports another topic, run them all, and return the report."""
    rules = folder / "pyproject.toml"
    rules.write_text(rules.read_text(encoding="utf-8") + independence(folder), encoding="utf-8")
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


def independence(folder: Path) -> str:
    """Return one contract a room: its topics, as far as they are written, do not know one another."""
    text = ""
    for room in ROOMS:
        written = [t for t in TOPICS if (folder / "lib" / "readahead" / room / f"{t}.py").exists()]
        if len(written) > 1:
            modules = ", ".join(f'"readahead.{room}.{topic}"' for topic in written)
            text += f'\n[[tool.importlinter.contracts]]\nid = "topics-{room}"\ntype = "independence"\n'
            text += f'name = "A topic of {room} never imports another topic"\nmodules = [{modules}]\n'
    return text


def write(folder: Path, name: str, text: str) -> None:
    (folder / "lib" / "readahead" / name).write_text(text, encoding="utf-8")


def test_the_house_keeps_its_rules(tmp_path: Path) -> None:
    report = contracts(house(tmp_path))
    assert " 0 broken." in report, report
    kept = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    assert {one["id"] for one in kept} >= {"floors", "arithmetic", "silent", "dask"}


@pytest.mark.parametrize(
    ("file", "text", "rule"),
    [
        ("utils.py", "", "every file has a floor"),
        ("models/estimate.py", "import duckdb", "Models and facts are arithmetic"),
        ("shapes.py", "import readahead.measure.sample", "only from the floors beneath"),
        ("measure/sample.py", "import plotly", "Measuring draws nothing"),
        ("datasets/recipe.py", "import readahead.storage.trace", "only from the floors beneath"),
        ("measure/run.py", "import dask", "Dask lives in measure.cluster alone"),
        ("panels/stray.py", "import readahead.commands.run", "only from the floors beneath"),
    ],
)
def test_what_is_out_of_place_is_caught(tmp_path: Path, file: str, text: str, rule: str) -> None:
    copy = house(tmp_path)
    write(copy, file, f'"""Out of place."""\n\n{text}\n')
    report = contracts(copy)
    broken = [line for line in report.splitlines() if " BROKEN" in line]
    assert any(rule in line for line in broken), report


def test_a_topic_that_imports_another_topic_is_caught(tmp_path: Path) -> None:
    copy = house(tmp_path)
    write(copy, "models/loading.py", '"""One topic."""\n\nimport readahead.models.scale_out\n')
    write(copy, "models/scale_out.py", '"""Another."""\n')
    assert "A topic of models never imports another topic BROKEN" in contracts(copy)


def test_dask_may_live_in_its_own_file(tmp_path: Path) -> None:
    copy = house(tmp_path)
    write(copy, "measure/cluster.py", '"""Many machines."""\n\nimport dask\nimport distributed\n')
    assert " 0 broken." in contracts(copy)
