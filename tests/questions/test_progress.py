"""Progress survives restarts, two writers, damage, and a place that cannot be written."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from readahead.errors import DataError
from readahead.questions.progress import Progress, by_papermill


def clock() -> datetime:
    return datetime(2026, 11, 21, 6, 30, tzinfo=UTC)


@pytest.fixture
def own(tmp_path: Path) -> Progress:
    return Progress(tmp_path / "progress.json", clock)


def test_what_is_kept_is_there_after_a_restart(own: Progress) -> None:
    own.keep_guess("toy", "fetch", 0.008)
    own.keep_answer("toy", "rank", ["a", "b"], "Wrong", "small is quick")
    own.keep_answer("toy", "rank", ["b", "a"], "Right")
    own.keep("toy", "settings", "explore", {"rope_s": 0.01})
    own.keep_machine({"cpu": "one"})
    again = Progress(own.path, clock)
    assert again.kept("toy", "guesses", "fetch") == {
        "guess": 0.008,
        "because": "",
        "sure": "",
        "at": "2026-11-21T06:30:00+00:00",
    }
    assert [attempt["outcome"] for attempt in again.answers("toy", "rank")] == ["Wrong", "Right"]
    assert again.kept("toy", "settings", "explore") == {"rope_s": 0.01, "at": "2026-11-21T06:30:00+00:00"}
    assert again.read()["machine"] == {"cpu": "one"} and set(again.read()["versions"]) == {
        "readahead",
        "python",
    }
    assert again.kept("toy", "guesses", "other") is None and again.answers("moon", "x") == []


def test_a_guess_may_change_until_it_is_revealed_and_keeps_its_first_truth(own: Progress) -> None:
    assert own.keep_guess("toy", "fetch", 1.0) and own.keep_guess("toy", "fetch", 2.0)
    own.keep_reveal("toy", "fetch")
    assert not own.keep_guess("toy", "fetch", 3.0)
    own.keep_reveal("toy", "fetch", 8.0)
    own.keep_reveal("toy", "fetch", 9.0)
    entry = own.kept("toy", "guesses", "fetch")
    assert entry and (entry["guess"], entry["truth"]) == (2.0, 8.0)


def test_nothing_is_revealed_that_was_not_guessed(own: Progress) -> None:
    own.keep_reveal("toy", "fetch", 8.0)
    assert own.kept("toy", "guesses", "fetch") is None


WRITER = """
import sys
from pathlib import Path
from readahead.questions.progress import Progress
own = Progress(Path(sys.argv[1]))
for number in range(40):
    own.keep_guess(sys.argv[2], f"guess{number}", float(number))
    own.keep_answer("shared", "exercise", f"{sys.argv[2]}{number}", "Wrong")
assert not own.notices, own.notices
"""


def test_two_kernels_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    names = ("one", "two", "three")
    kernels = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in names]
    assert [kernel.wait(timeout=60) for kernel in kernels] == [0, 0, 0]
    own = Progress(path)
    for name in names:
        assert len(own.section(name, "guesses")) == 40
    answers = [attempt["answer"] for attempt in own.answers("shared", "exercise")]
    assert sorted(answers) == sorted(f"{name}{number}" for name in names for number in range(40))
    assert {file.name for file in tmp_path.iterdir()} <= {"progress.json", "progress.json.lock"}


@pytest.mark.parametrize(
    "damage",
    [
        '{"format": 1, "topics": {"toy"',
        "",
        "\x00\x00",
        "[]",
        '{"format": 99}',
        '{"format": 1, "topics": 3, "machine": {}}',
        '{"format": 1, "topics": {"toy": {"guesses": []}}, "machine": {}}',
        '{"format": 1, "topics": {"toy": {"guesses": {"fetch": {"guess": [1]}}}}, "machine": {}}',
        '{"format": 1, "topics": {"toy": {"guesses": {"fetch": {"guess": 1e999}}}}, "machine": {}}',
        '{"format": 1, "topics": {"toy": {"guesses": {"fetch": {"guess": 1, "truth": "x"}}}}, "machine": {}}',
        '{"format": 1, "topics": {"toy": {"answers": {"hole": {}}}}, "machine": {}}',
        '{"format": 1, "topics": {"toy": {"answers": {"hole": ["Right"]}}}, "machine": {}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_set_aside_with_a_message(own: Progress, damage: str) -> None:
    assert own.path
    own.path.write_text(damage, encoding="utf-8")
    assert own.read()["topics"] == {}
    aside = own.path.with_name("progress.damaged-20261121-063000.json")
    assert aside.read_text(encoding="utf-8") == damage
    assert len(own.notices) == 1 and aside.name in own.notices[0] and "rename it back" in own.notices[0]
    own.keep_guess("toy", "fetch", 1.0)
    assert Progress(own.path).kept("toy", "guesses", "fetch") and len(own.notices) == 1


def test_half_a_letter_in_the_file_does_not_end_the_keeping(own: Progress) -> None:
    own.keep_guess("fragments", "yield", 0.1, "why \ud83d")
    assert own.path is not None
    own.path.write_text(
        own.path.read_text(encoding="utf-8").replace("why ?", r"why \ud83d"), encoding="utf-8"
    )
    own.keep_guess("fragments", "other", 0.2)
    again = Progress(own.path).section("fragments", "guesses")
    assert again["yield"]["because"] == "why ?" and "other" in again and own.notices == []


def test_bytes_that_are_no_text_are_damage_too(own: Progress) -> None:
    assert own.path
    own.path.write_bytes(b"\xff\xfe\xff")
    assert own.read()["topics"] == {} and len(own.notices) == 1


def test_two_damaged_files_in_one_second_are_both_kept(own: Progress) -> None:
    assert own.path
    for damage in ("first", "second"):
        own.path.write_text(damage, encoding="utf-8")
        own.read()
    asides = sorted(own.path.parent.glob("progress.damaged-*"))
    assert sorted(file.read_text(encoding="utf-8") for file in asides) == ["first", "second"]


def test_a_place_that_cannot_be_written_is_told_and_the_work_goes_on(tmp_path: Path) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("not a folder", encoding="utf-8")
    own = Progress(blocked / "progress.json", clock)
    assert own.keep_guess("toy", "fetch", 1.0)
    assert (own.kept("toy", "guesses", "fetch") or {})["guess"] == 1.0
    assert "cannot be" in own.notices[-1] and "READAHEAD_PROGRESS" in own.notices[-1]


@pytest.mark.skipif(os.name == "nt", reason="Windows asks for rights to make a link")
def test_a_file_that_cannot_be_read_is_not_overwritten(tmp_path: Path) -> None:
    endless = tmp_path / "progress.json"
    endless.symlink_to(endless)  # unreadable for everybody, root too, and yet a rename could replace it
    own = Progress(endless, clock)
    own.keep_guess("toy", "fetch", 1.0)
    assert own.kept("toy", "guesses", "fetch") and endless.is_symlink()
    assert "READAHEAD_PROGRESS" in own.notices[-1]


def test_export_and_reset(own: Progress, tmp_path: Path) -> None:
    own.keep_guess("toy", "fetch", 1.0)
    result = json.loads(own.export(tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["exported"] == "2026-11-21T06:30:00+00:00" and result["topics"]["toy"]["guesses"]["fetch"]
    with pytest.raises(DataError, match="cannot be written"):
        own.export(tmp_path / "no" / "such" / "folder.json")
    backup = own.reset()
    assert backup and json.loads(backup.read_text(encoding="utf-8"))["topics"]["toy"]
    assert own.read()["topics"] == {} and own.reset() is None


def test_under_papermill_no_file_is_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READAHEAD_PROGRESS", str(tmp_path / "mine.json"))
    monkeypatch.setenv("READAHEAD_RUN", "papermill")
    assert by_papermill()
    own = Progress.open(clock)
    own.keep_guess("toy", "fetch", 1.0)
    assert own.kept("toy", "guesses", "fetch") and own.reset() is None and list(tmp_path.iterdir()) == []
    monkeypatch.setenv("READAHEAD_RUN", "")
    assert not by_papermill()
    own = Progress.open(clock)
    own.keep_guess("toy", "fetch", 1.0)
    assert own.path == tmp_path / "mine.json" and own.path.exists()


def test_numbers_of_numpy_are_kept_as_numbers(own: Progress) -> None:
    import numpy as np

    own.keep("toy", "measured", "fetch", {"median": np.float32(0.5), "repeats": np.int64(5)})
    entry = Progress(own.path).kept("toy", "measured", "fetch")
    assert entry and (entry["median"], entry["repeats"]) == (0.5, 5)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no rename over an open file")
def test_no_reader_ever_sees_half_a_file(own: Progress) -> None:
    own.keep_guess("toy", "fetch", 1.0)
    assert own.path
    with own.path.open(encoding="utf-8") as old:
        own.keep_guess("toy", "fetch", 2.0)
        assert json.load(old)["topics"]["toy"]["guesses"]["fetch"]["guess"] == 1.0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_never_moved_nor_replaced(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "progress.json"
    place.mkdir() if kind == "folder" else os.mkfifo(place)
    own = Progress(place, clock)
    for _ in range(3):
        assert own.read()["topics"] == {}
    assert len(own.notices) == 1 and "no ordinary file" in own.notices[0]
    with pytest.raises(DataError, match="no ordinary file"):
        own.reset()
    own.keep_guess("toy", "fetch", 1.0)
    assert own.kept("toy", "guesses", "fetch")
    with pytest.raises(DataError, match="no ordinary file"):
        own.export(place)
    assert [found.name for found in tmp_path.iterdir()] == [place.name] and not place.is_file()
