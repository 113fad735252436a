"""Every notebook runs by itself: as the sheet `ci` has it, and with each of its knobs at either end. No exceptions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from papermill import inspect_notebook

from readahead import paths
from readahead.chapters import chapter
from readahead.chapters.start_here.chapter import EXPERIMENT
from readahead.commands import sheet, sheets
from readahead.commands.run import digest, run_notebook
from readahead.experiments.claim import AGREES, DIFFERS, NOISY
from readahead.experiments.experiment import Experiment

NOTEBOOKS = sorted(paths.NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
CI = sheets.load("ci").runs


def experiment(path: Path) -> Experiment:
    """Return the experiment that a notebook shows."""
    topic = path.stem[3:]
    return EXPERIMENT if topic == "start_here" else chapter(topic).experiment


def ends() -> list[tuple[Path, dict]]:
    """Return (notebook, parameters): both ends of every numeric knob that is a parameter."""
    found = []
    for path in NOTEBOOKS:
        named = inspect_notebook(str(path))
        for knob in experiment(path).knobs:
            if knob.name in named and knob.kind != "choice":
                found += [(path, {knob.name: knob.check(end)}) for end in (knob.low, knob.high)]
    return found


@pytest.mark.notebook
@pytest.mark.parametrize(("path", "changes"), ends(), ids=lambda x: x.stem if isinstance(x, Path) else str(x))
def test_a_notebook_runs_at_both_ends_of_its_knobs(
    path: Path, changes: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_REPEATS", "1")  # what it measures does not matter here, only that it can
    executed = run_notebook(path, tmp_path, {"size": "tiny", "reveal": True, **changes})
    assert [
        cell for cell in executed.cells if cell.cell_type == "code" and cell.source and cell.execution_count
    ]
    assert not list(tmp_path.glob("*.failed.ipynb"))


@pytest.mark.notebook
@pytest.mark.parametrize(("path", "given"), CI.items(), ids=lambda x: x.stem if isinstance(x, Path) else "")
def test_a_notebook_runs_as_the_sheet_of_ci_has_it(path: Path, given: dict, tmp_path: Path) -> None:
    assert given["size"] == "tiny"
    executed = run_notebook(path, tmp_path, given)
    played = sheet._executed(tmp_path / path.name, digest(path, given))
    assert played is not None
    found = played.claims
    asked = [cell for cell in executed.cells if "lesson.claim(" in cell.source]
    assert len(found) == len(asked)
    assert all(told["verdict"] in (AGREES, DIFFERS, NOISY) for told in found)


def test_the_sheet_of_ci_leaves_no_notebook_out() -> None:
    assert list(CI) == NOTEBOOKS


@pytest.mark.notebook
def test_the_start_notebook_writes_its_result_beside_itself(tmp_path: Path) -> None:
    run_notebook(paths.NOTEBOOKS / "00_start_here.ipynb", tmp_path, {"size": "tiny", "latency_s": 0.004})
    told = json.loads((tmp_path / "00_start_here.json").read_text(encoding="utf-8"))
    assert told["settings"]["latency_s"] == 0.004
    assert len(json.dumps(told["machine"])) > 20


@pytest.mark.notebook
@pytest.mark.parametrize("changes", [{"latency_s": 4.0}, {"row_group_rows": 1}, {"device": "floppy"}])
def test_a_value_out_of_range_fails_the_run_and_names_the_parameter(changes: dict, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=next(iter(changes))):
        run_notebook(paths.NOTEBOOKS / "00_start_here.ipynb", tmp_path, changes)
