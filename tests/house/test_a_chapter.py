"""A chapter is the files that docs/a-chapter.md shows, and nothing else: they are put into a copy of the repository,
and what every chapter must pass is run there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from readahead.paths import ROOT

DOCUMENT = (ROOT / "docs" / "a-chapter.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^\*\*`([^`]+)`\*\*\n\n```\w+\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL))
"""The files of the walk, by their paths."""
TOPIC, NOTEBOOK = "connections", "notebooks/12_connections.ipynb"
ONE_TRY = (
    "from readahead.__main__ import run; from tools import validate;"
    " validate.PASSES, validate.TURNS, validate.MOST_AGAIN = 1, 1, 0"
)
"""Beside other tests no machine is quiet: nothing is measured again because of that, and all in one pass."""
LEFT_OUT = shutil.ignore_patterns(".*", "cache", "out", "build", "__pycache__", "*.egg-info")


def notebook(listing: str) -> nbformat.NotebookNode:
    """Return the notebook that a listing shows: `%%` begins a cell, and says of which kind it is."""
    made = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    for number, part in enumerate(re.split(r"^%% ", listing, flags=re.MULTILINE)[1:]):
        kind, _, source = part.partition("\n")
        new = nbformat.v4.new_markdown_cell if kind == "markdown" else nbformat.v4.new_code_cell
        cell = new(source.strip(), id=f"c{number:02}")
        cell.metadata.update({"tags": [kind]} if kind in ("parameters", "yours") else {})
        made.cells.append(cell)
    return made


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository with the chapter of the document in it."""
    root = tmp_path_factory.mktemp("with_a_chapter") / "repository"
    shutil.copytree(ROOT, root, ignore=LEFT_OUT)
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".ipynb":
            nbformat.write(notebook(text), path)
        else:
            path.write_text(text, encoding="utf-8")
    return root


def python(root: Path, *arguments: str) -> str:
    """Run Python on the copy and return what it printed."""
    env = {**os.environ, "PYTHONPATH": str(root / "lib"), "READAHEAD_REPEATS": "1"}
    env.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(
        [sys.executable, *arguments], cwd=root, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_document_shows_every_file_that_it_lists() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|", DOCUMENT, re.MULTILINE)
    assert len(listed) == 8
    assert {name.replace("TOPIC", TOPIC).replace("NN", "12") for name in listed} <= set(FILES)


def test_it_is_found_by_everything_that_lists_chapters(copy: Path) -> None:
    python(copy, "-m", "tools.pages")
    pages = [(copy / page).read_text(encoding="utf-8") for page in ("README.md", "INSTRUCTORS.md")]
    assert all("Connections: how many requests fill a link" in page for page in pages)
    assert "| connections |" in (copy / "docs" / "published.md").read_text(encoding="utf-8")
    assert "Connections: how many requests" in python(copy, "-m", "tools.published_page")


def test_it_passes_what_every_chapter_must_pass(copy: Path) -> None:
    python(
        copy,
        "-m",
        "ruff",
        "check",
        "-q",
        f"lib/readahead/chapters/{TOPIC}",
        f"tests/chapters/{TOPIC}",
        NOTEBOOK,
    )
    of_all = ("chapters/test_chapters", "chapters/test_every_exercise", "chapters/test_scales", "chapters/test_steps",
              "house/test_topics", "notebooks/test_skeleton", "questions/test_words",
              "tools/test_published_page")  # fmt: skip
    files = [f"tests/chapters/{TOPIC}", *(f"tests/{name}.py" for name in of_all)]
    said = python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, "-k", TOPIC)
    assert int(re.findall(r"(\d+) passed", said)[0]) >= 40, said


@pytest.mark.notebook
def test_its_notebook_runs_and_its_model_is_held_to_measurements(copy: Path, tmp_path: Path) -> None:
    asked = ("--chapter", TOPIC, "--configs", "2", "--repeats", "1")  # first: it calibrates, in one try
    said = python(copy, "-c", f"{ONE_TRY}; raise SystemExit(run({asked!r}, validate.validate))")
    assert re.search(rf"^{TOPIC} .*\(2\)", said, re.MULTILINE), said
    parameters = ("-p", "size", "tiny", "-p", "reveal", "true")
    python(copy, "-m", "readahead", "run", NOTEBOOK, "--out", str(tmp_path), *parameters)
    executed = json.loads((tmp_path / Path(NOTEBOOK).name).read_text(encoding="utf-8"))
    shown = json.dumps([cell.get("outputs") for cell in executed["cells"]])
    for words in ("This machine", "Amazon Web Services", "the model says", "Requests under way", "Solution"):
        assert words in shown, words
