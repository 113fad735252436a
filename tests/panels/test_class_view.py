"""The class view, drawn from real result files."""

from __future__ import annotations

from pathlib import Path

import pytest

from readahead import paths
from readahead.commands.run import run_notebook
from readahead.errors import BadValue
from readahead.panels import class_view
from readahead.questions.progress import Progress


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the results of a room in which later guesses are nearer."""
    place = tmp_path / "results"
    place.mkdir()
    for name, early, late in (("ada <3", 4.0, 1.2), ("ben", 0.2, 0.9)):
        own = Progress(tmp_path / f"{name}.progress")
        own.keep_machine({"cpu": "a cpu", "cores": 2})
        for topic, question, factor in (("fragments", "yield", early), ("row_groups", "far", late)):
            own.keep_guess(topic, question, 0.5 * factor, "an <b>arm</b>", "fairly sure")
            own.keep_reveal(topic, question, 0.5)
        own.keep_answer("fragments", "hole", "10 ms", "Wrong", "the seek of the textbook")
        own.export(place / f"{name}.json")
    return place


@pytest.mark.parametrize("name", [" ", "\u202e", "$x$", "_"])
def test_a_learner_s_file_may_have_any_name(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "ben.json").rename(folder / f"{name}.json")
    shown: list[str] = []
    monkeypatch.setattr(class_view, "show", shown.append)
    class_view.open_class(folder, names=True).guesses("fragments")
    assert "2 guesses" in shown[-1]


def test_the_room_is_shown_without_names_unless_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for names in (False, True):
        shown: list[str] = []
        monkeypatch.setattr(class_view, "show", shown.append)
        room = class_view.open_class(folder, names=names)
        room.devices()
        room.calibration()
        room.sureness()
        room.guesses("fragments")
        room.reasons("fragments")
        room.exercises()
        told = "".join(shown)
        assert ("ben" in told) is names
        assert "ada <3" not in told  # a file's name is no markup
        assert "2 results" in told and "a cpu" in told
        assert "Within a factor of 2 of the truth were 2 of 4 at" in told
        assert "an &lt;b&gt;arm&lt;/b&gt; (1)" in told and "<b>arm" not in told
        assert "2 guesses, 1 of them too high" in told
        assert (
            "typically off by 4.5×" in told and "by 1.16×." in told
        )  # the medians of 4 and 5, of 1.2 and 1.11
        assert "the seek of the textbook (2)" in told and "0 of 2" in told


def test_a_chapter_without_guesses_is_said(folder: Path) -> None:
    room = class_view.open_class(folder)
    with pytest.raises(BadValue, match="Nobody in this room"):
        room.guesses("read_ahead")


@pytest.mark.notebook
def test_the_notebook_runs_on_a_folder_of_results(folder: Path, tmp_path: Path) -> None:
    made = run_notebook(paths.NOTEBOOKS / "class_view.ipynb", tmp_path / "out", {"folder": str(folder)})
    shown = [cell for cell in made.cells if cell.cell_type == "code" and cell.get("outputs")]
    assert len(shown) == 7
