"""pyproject.toml, the two locks and environment.yml say the same, each in its own way."""

import json
import re
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from click import Context
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from readahead import __version__
from readahead.__main__ import main
from readahead.paths import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = PROJECT["dependency-groups"]
LEARNERS = [*PROJECT["project"]["dependencies"], *GROUPS["build"]]
WANTED = [*LEARNERS, *(wanted for wanted in GROUPS["dev"] if isinstance(wanted, str))]
LOCKS = {"requirements.lock": LEARNERS, "requirements-dev.lock": WANTED}
"""Each lock with what it must hold; the second is for those who change the workbook."""
CHECKED_PYTHON = "3.11"
"""The version that the tests of every change run with."""
WORKFLOW = ROOT / ".github" / "workflows" / "test.yml"


def text_of(lock: str) -> str:
    return (ROOT / lock).read_text(encoding="utf-8")


def locked(lock: str) -> list[Requirement]:
    """Return the pins of a lock, without their hashes."""
    lines = [line.split(" \\")[0] for line in text_of(lock).splitlines() if re.match(r"[a-zA-Z0-9]", line)]
    return [Requirement(line) for line in lines]


def applies(marker: Marker | None) -> bool:
    return marker is None or marker.evaluate(
        {"python_full_version": f"{CHECKED_PYTHON}.9", "python_version": "3.11"}
    )


@pytest.mark.parametrize(("lock", "wanted"), [(lock, one) for lock, all_ in LOCKS.items() for one in all_])
def test_a_lock_holds_every_dependency_within_its_bounds(lock: str, wanted: str) -> None:
    requirement = Requirement(wanted)
    pins = [p for p in locked(lock) if canonicalize_name(p.name) == canonicalize_name(requirement.name)]
    pins = [pin for pin in pins if applies(pin.marker)]
    assert len(pins) == 1, f"{wanted} is not in {lock}. Run: make lock"
    [exact] = list(pins[0].specifier)
    assert exact.operator == "=="
    assert requirement.specifier.contains(exact.version), f"{pins[0]} is outside {wanted}. Run: make lock"


def test_developers_have_what_learners_have_and_learners_no_more_than_they_use() -> None:
    learners, developers = ({(pin.name, str(pin.specifier)) for pin in locked(lock)} for lock in LOCKS)
    assert learners < developers
    assert not {name for name, _ in learners} & {
        "playwright",
        "mypy",
        "ruff",
        "hypothesis",
        "pytest",
        "simpy",
    }


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_its_hashes(lock: str) -> None:
    blocks = re.split(r"\n(?=[a-zA-Z0-9])", text_of(lock))
    assert len(blocks) == len(locked(lock)) > 100
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_place_to_fetch_from(lock: str) -> None:
    assert [
        line for line in text_of(lock).splitlines() if "://" in line or line.startswith("-") or " @ " in line
    ] == []


def test_every_dependency_says_why_it_is_there() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    silent = [wanted for wanted in WANTED if not re.search(re.escape(f'"{wanted}",') + r"\s+# \w.{3,}", text)]
    assert silent == []


def test_conda_installs_the_lock_on_the_python_that_is_checked() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    # A single `=`: with a range, Binder quietly takes another Python.
    assert environment["dependencies"] == [f"python={CHECKED_PYTHON}", "pip"]
    assert PROJECT["project"]["requires-python"] == f">={CHECKED_PYTHON}"
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + CHECKED_PYTHON.replace(".", "")
    assert PROJECT["tool"]["mypy"]["python_version"] == CHECKED_PYTHON


@pytest.mark.parametrize("file", ["Makefile", "postBuild", "README.md"])
def test_every_way_in_installs_the_same(file: str) -> None:
    text = (ROOT / file).read_text(encoding="utf-8")
    # pip must not look for more than the lock holds: it leaves out what [tool.uv] overrides.
    assert re.search(r"pip install .*--no-deps --require-hashes -r requirements\.lock", text)
    assert re.search(r"pip install .*--no-build-isolation --no-deps -e \.", text)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no executable bit")
@pytest.mark.parametrize("script", ["postBuild", ".ci/run"])
def test_scripts_can_be_started(script: str) -> None:
    path: Path = ROOT / script
    assert path.stat().st_mode & stat.S_IXUSR
    assert path.read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")


def test_the_library_and_the_project_have_one_version() -> None:
    assert PROJECT["project"]["version"] == __version__


def test_make_help_lists_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    [phony] = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    told = re.findall(r"^([a-z]+):.*## ", text, re.MULTILINE)
    assert sorted(told) == sorted(phony.split())


# -- files for machines that are not here ------------------------------------------------------------------
def test_the_pythons_that_are_named_are_those_that_are_tested() -> None:
    named = [
        line.rpartition(" ")[2] for line in PROJECT["project"]["classifiers"] if ":: Python :: 3." in line
    ]
    assert named[0] == CHECKED_PYTHON
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    assert jobs["make"]["strategy"]["matrix"]["python"] == named
    assert set(jobs["windows"]["strategy"]["matrix"]["python"]) <= set(named)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"You need Python {', '.join(named[:-1])} or {named[-1]}, and `make`" in readme


def test_the_workflow_says_that_it_is_untried_and_runs_what_there_is() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    assert "Untried" in text.partition("\nname:")[0]
    jobs = yaml.safe_load(text)["jobs"]
    steps = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert steps["make"][-1].split()[:2] == ["make", "test"]
    windows = [line.strip() for line in readme_s("Windows")]
    assert windows[0].partition(" -m ")[2] == steps["windows"][0].partition(" -m ")[2]
    assert windows[1:3] == steps["windows"][1:3]
    assert "--require-hashes -r requirements-dev.lock" in steps["windows"][3]
    for file in re.findall(r"tests/[\w/]+\.py|requirements[\w-]*\.lock|\.ci/run", text):
        assert (ROOT / file).is_file(), file


def readme_s(way: str) -> list[str]:
    """Return the commands of a way in, as the README has them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return text.partition(f"**{way}**")[2].split("```")[1].strip().splitlines()


def test_the_image_is_made_of_what_there_is_and_runs_as_nobody_special() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    told = [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]
    assert told[0] == ["FROM", f"python:{CHECKED_PYTHON}-slim"]
    runs = [rest for word, rest in told if word == "RUN"]
    assert "./postBuild" in runs and (ROOT / "postBuild").is_file()
    user = told.index(["USER", "learner"])
    assert all(word != "RUN" for word, _ in told[user:]) and runs[0].endswith(" learner")
    [[_, started]] = [one for one in told if one[0] == "CMD"]
    [filled] = [run for run in runs if "readahead sheet" in run]
    assert json.loads(started)[:4] == ["python", "-m", "readahead", "lab"]
    assert (ROOT / "data" / "sheets" / f"{filled.split()[4]}.yaml").is_file()
    for command in (json.loads(started)[3:], filled.partition(" && ")[0].split()[3:]):
        known = {
            option for part in main.get_command(Context(main), command[0]).params for option in part.opts
        }
        assert {word for word in command if word.startswith("--")} <= known


def test_what_is_built_or_a_learner_s_own_stays_out_of_the_image() -> None:
    left_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert {".git", ".venv", "data/cache", "build", "out"} <= set(left_out)
    assert "progress*.json" in left_out
