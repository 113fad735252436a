"""The learner's own file from the command line: shown, handed in, begun anew, and never lost."""

from __future__ import annotations

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


def test_a_place_that_cannot_be_written_is_named(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["progress", "--export", "/proc/nowhere/mine.json"]) == 1
    assert "/proc/nowhere/mine.json cannot be written" in capsys.readouterr().err
