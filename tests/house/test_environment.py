"""pyproject.toml, the two locks and environment.yml say the same, each in its own way."""

import re
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from readahead import __version__
from readahead.paths import ROOT

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = PROJECT["dependency-groups"]
LEARNERS = [*PROJECT["project"]["dependencies"], *GROUPS["build"]]
WANTED = [*LEARNERS, *(wanted for wanted in GROUPS["dev"] if isinstance(wanted, str))]
LOCKS = {"requirements.lock": LEARNERS, "requirements-dev.lock": WANTED}
"""Each lock with what it must hold; the second is for those who change the workbook."""
CHECKED_PYTHON = "3.11"
"""The version that the tests of every change run with."""


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
