"""Every notebook runs: in a kernel as the sheet `ci` has it, and its cells with every knob at its low or its high end.

At the ends at which a notebook is not run, its rounds are asked alone.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import nbformat
import pytest
from executed import odd_answers, odd_numbers
from papermill import inspect_notebook

from readahead import paths
from readahead.chapters import chapter
from readahead.commands import sheet
from readahead.commands.run import digest, run_notebook
from readahead.experiments.claim import AGREES, DIFFERS, NOISY
from readahead.experiments.experiment import Experiment
from readahead.experiments.round import Study

NOTEBOOKS = sorted(paths.NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
CI = sheet.load("ci").runs


def experiment(path: Path) -> Experiment:
    """Return the experiment that a notebook shows."""
    return chapter(path.stem[3:]).experiment


def ends(first: str, second: str) -> list[tuple[Path, dict]]:
    """Return (notebook, parameters): every numeric knob that is a parameter at one of its ends, low or high.

    Of the notebooks in turn, the one has `first` and the next one `second`.
    """
    found = []
    for number, path in enumerate(NOTEBOOKS):
        end, named = (first, second)[number % 2], inspect_notebook(str(path))
        knobs = [knob for knob in experiment(path).knobs if knob.name in named and knob.kind != "choice"]
        found.append((path, {knob.name: knob.check(getattr(knob, end)) for knob in knobs}))
    return found


def calibrate_in_one_try(asked: Experiment) -> None:
    """Calibrate whatever a notebook takes from this machine. Its kernel would try three times beside other tests."""
    knobs = [knob for knob in asked.knobs if knob.name in ("where", "target", *asked.calibrated_each)]
    turned = [asked.settings(**{knob.name: choice}) for knob in knobs for choice in knob.choices]
    for settings in (asked.settings(), *turned):
        for one in asked.calibrations(settings):
            one.ensure()


def run_cells(path: Path, parameters: dict) -> list[str]:
    """Run the code cells of a notebook in this process, one after the other, and return them as they ran.

    A kernel is what `run_notebook` starts; here it is only asked whether every cell gets through.
    """
    names: dict = {}
    ran = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, path.name, "exec"), names)
            ran.append(cell.source)
            if "parameters" in cell.metadata.get("tags", []):
                names |= parameters
    return ran


@pytest.fixture(autouse=True)
def _few_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure as seldom as can be: what is measured does not matter here, only that it can be."""
    monkeypatch.setenv("READAHEAD_REPEATS", "1")
    monkeypatch.setenv("READAHEAD_RUN", "papermill")
    monkeypatch.setenv("READAHEAD_OUT", str(tmp_path))


def called(case: object) -> str:
    """Return how a notebook, or its parameters, are called in a test's name."""
    return case.stem if isinstance(case, Path) else str(case)


@pytest.mark.notebook
@pytest.mark.parametrize(("path", "changes"), ends("low", "high"), ids=called)
def test_a_notebook_runs_with_every_knob_at_its_end(path: Path, changes: dict) -> None:
    assert len(run_cells(path, {"size": "tiny", "reveal": True, **changes})) >= 3


@pytest.mark.parametrize(("path", "changes"), ends("high", "low"), ids=called)
def test_at_the_other_ends_every_round_has_its_model_and_its_law_and_the_query_can_be_run(
    path: Path, changes: dict
) -> None:
    """That the model is right there, and that a notebook with such knobs runs, others see; here nothing is drawn."""
    opened = chapter(path.stem[3:])
    size = {knob.name: "tiny" for knob in opened.experiment.knobs if knob.name == "size"}
    study = Study(opened.experiment, repeats=1, **size, **changes)
    for one in opened.rounds.values():
        value = one.modeled_value(study)
        assert value is None or -math.inf < value.low <= value.median <= value.high < math.inf
        assert one.law is None or math.isfinite(one.law(study).result)
    sample = study.sample()
    assert sample.median_s > 0 and sample.where


@pytest.mark.notebook
@pytest.mark.parametrize(("path", "given"), CI.items(), ids=lambda x: x.stem if isinstance(x, Path) else "")
def test_a_notebook_runs_as_the_sheet_of_ci_has_it(path: Path, given: dict, tmp_path: Path) -> None:
    assert given["size"] == "tiny"
    calibrate_in_one_try(experiment(path))
    executed = run_notebook(path, tmp_path, given)
    played = sheet._executed(tmp_path / path.name, digest(path, given))
    assert played is not None
    opened = chapter(path.stem[3:])
    odd, with_law = odd_answers(executed, opened)
    assert odd == []
    assert with_law == {name for name, one in opened.rounds.items() if one.law}
    assert odd_numbers(executed) == []
    found = played.claims
    asked = [cell for cell in executed.cells if "lesson.claim(" in cell.source]
    assert len(found) == len(asked)
    assert all(told["verdict"] in (AGREES, DIFFERS, NOISY) for told in found)
    if path.stem == "00_start_here":  # it writes its result beside itself
        result = json.loads((tmp_path / "00_start_here.json").read_text(encoding="utf-8"))
        assert result["settings"]["size"] == "tiny"
        assert len(json.dumps(result["machine"])) > 20


def test_the_sheet_of_ci_leaves_no_notebook_out() -> None:
    assert list(CI) == NOTEBOOKS


@pytest.mark.notebook
@pytest.mark.parametrize("changes", [{"latency_s": 4.0}, {"row_group_rows": 1}, {"device": "floppy"}])
def test_a_value_out_of_range_fails_the_run_and_names_the_parameter(changes: dict) -> None:
    with pytest.raises(Exception, match=next(iter(changes))):
        run_cells(paths.NOTEBOOKS / "00_start_here.ipynb", changes)
