"""The toy chapter from top to bottom with nobody watching, as every chapter must run."""

import os
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest

TOYBOX = Path(__file__).parents[1] / "toybox"


def run(tmp_path: Path, **parameters: Any) -> str:
    """Run the toy notebook and return everything it printed."""
    out = tmp_path / "out.ipynb"
    papermill.execute_notebook(
        TOYBOX / "90_toy.ipynb",
        out,
        parameters=parameters,
        cwd=str(tmp_path),
        progress_bar=False,
        store_widget_state=False,
    )
    notebook = nbformat.read(out, as_version=4)
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [
        output for output in shown if "application/vnd.jupyter.widget-view+json" in output.get("data", {})
    ]
    assert out.stat().st_size < 200_000
    return "\n".join(output.get("data", {}).get("text/html", "") for output in shown)


@pytest.fixture
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(TOYBOX), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("READAHEAD_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setenv("READAHEAD_RUN", "papermill")
    return tmp_path


def test_it_opens_everything_and_leaves_the_progress_file_alone(quiet: Path) -> None:
    (quiet / "progress.json").write_text("the learner's own", encoding="utf-8")
    shown = run(quiet)
    for words in (
        "This machine",
        "the model says 25.3 ms",
        "A. Farmer",
        "Differs, likely because:",
        "Solution",
    ):
        assert words in shown, words
    assert shown.count("<svg") == 4  # three reveals with a scale, one figure
    assert (quiet / "progress.json").read_text(encoding="utf-8") == "the learner's own"
    assert {file.name for file in quiet.iterdir()} == {"progress.json", "out.ipynb"}


def test_a_longer_rope_moves_the_half_speed_bucket(quiet: Path) -> None:
    assert "977 KiB" in run(quiet, rope_s=0.01)


def test_a_parameter_out_of_range_stops_the_run_with_its_name(quiet: Path) -> None:
    with pytest.raises(
        papermill.PapermillExecutionError, match=r"rope_s=99 must be from 1e-05 to 0\.1\. Rope goes"
    ):
        run(quiet, rope_s=99)
