"""The learner's own file from the command line: shown, handed in, begun anew, and never lost."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from readahead.__main__ import run
from readahead.questions.progress import Progress


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep a guess and two attempts in a file of their own."""
    path = tmp_path / "progress.json"
    monkeypatch.setenv("READAHEAD_PROGRESS", str(path))
    own = Progress.open()
    own.keep_guess("fragments", "yield", 0.2)
    own.keep_answer("fragments", "hole", "10 ms", "Wrong")
    own.keep_answer("fragments", "hole", "2 ms", "Right")
    return path


def test_it_tells_how_far_one_is(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["progress"]) == 0
    said = capsys.readouterr().out
    assert "Fragments" in said and "1 guessed" in said and "1 of 1 tried" in said


def test_it_is_exported_whole_and_begun_anew_with_a_backup(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "mine.json"
    assert run(["progress", "--export", str(target), "--reset"]) == 0
    told = json.loads(target.read_text(encoding="utf-8"))
    assert told["topics"]["fragments"]["guesses"]["yield"]["guess"] == 0.2
    assert not kept.exists()
    backup = Path(capsys.readouterr().out.split("kept in ")[1].strip())
    assert "fragments" in backup.read_text(encoding="utf-8")
    assert run(["progress", "--reset"]) == 0
    assert "nothing to reset" in capsys.readouterr().out


@pytest.mark.parametrize(("system", "before"), [("canvas", 5), ("moodle", 1)])
def test_a_folder_of_exports_becomes_a_grade_book_in_which_no_name_is_a_formula(
    system: str, before: int, kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "results"
    folder.mkdir()
    names = ["ada", "=1+cmd|' !A0", "+2", "-3", "@sum", " =4", 'o"neil, ü']
    for name in names:
        Progress.open().export(folder / f"{name}.json")
    (folder / "torn.json").write_text('{"format": 1', encoding="utf-8")
    assert run(["progress", "--csv", system, str(folder)]) == 0
    told = capsys.readouterr()
    head, *rows = csv.reader(io.StringIO(told.out))
    assert "torn.json is not a result" in told.err and told.err.count("\n") == 1
    column = head.index("Readahead 01 fragments")
    if system == "canvas":
        assert head[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
        first, *rows = rows
        assert first[0] == "Points Possible" and int(first[column]) >= 5
    assert len(rows) == len(names) and all(len(row) == len(head) for row in rows)
    assert all(row[column] == "1" and set(row[before:]) == {"0", "1"} for row in rows)
    logins = {row[head.index("SIS Login ID" if system == "canvas" else "Username")] for row in rows}
    assert {"ada", 'o"neil, ü', "'+2", "' =4"} <= logins
    assert not any(cell.lstrip().startswith(tuple("=+-@")) for row in rows for cell in row)


def test_a_folder_that_is_none_gives_no_grades(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["progress", "--csv", "canvas", str(tmp_path / "nowhere")]) != 0
    assert "nowhere" in capsys.readouterr().err
    assert run(["progress", "--csv", "excel", str(tmp_path)]) != 0


def test_a_place_that_cannot_be_written_is_named(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["progress", "--export", "/proc/nowhere/mine.json"]) == 1
    assert "/proc/nowhere/mine.json cannot be written" in capsys.readouterr().err
