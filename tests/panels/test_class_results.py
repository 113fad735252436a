"""A folder of result files: some are broken, one is somebody's shopping list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from readahead.errors import DataError
from readahead.panels.class_view import (
    exercises_table,
    guesses_html,
    guesses_table,
    machine_row,
    read_results,
    reasons_table,
    sureness_html,
)
from readahead.questions.progress import Progress

OLD = """{"format": 1, "versions": {"readahead": "0.1.0", "python": "3.11.2"}, "machine": {"cpu": "a cpu"}, "topics":
 {"fragments": {"guesses": {"yield": {"guess": 0.2, "at": "2026-11-01T06:30:00+00:00",
 "revealed": "2026-11-01T06:31:00+00:00", "truth": 0.1},
 "half_speed": {"guess": 1e6, "at": "2026-11-01T06:32:00+00:00"}}}}}"""
"""As it was written before a guess had a reason."""


def book(folder: Path, name: str, guess: float, *answers: tuple[str, str]) -> Path:
    """Write the result of a learner who guessed one yield, and tried an exercise."""
    own = Progress(folder / f".{name}.progress")
    own.keep_machine(
        {"cpu": "a cpu", "cores": 4, "memory_bytes": 8 * 2**30, "system": "Linux", "file_system": "ext4"}
    )
    own.keep_guess("fragments", "yield", guess)
    own.keep_reveal("fragments", "yield", 0.4)
    for outcome, idea in answers:
        own.keep_answer("fragments", "hole", "?", outcome, idea)
    return own.export(folder / f"{name}.json", {"disk": "a disk"})


@pytest.fixture
def pile(tmp_path: Path) -> Path:
    """Write three books and three files that are none."""
    book(tmp_path, "ada", 0.8, ("Wrong", "a hole is never worth reading"), ("Right", ""))
    book(tmp_path, "ben", 0.1, ("Wrong", "a hole is never worth reading"))
    book(tmp_path, "o'neil ü", 0.4)
    (tmp_path / "torn.json").write_text('{"format": 1, "topics": {"fra', encoding="utf-8")
    (tmp_path / "shopping.json").write_text(json.dumps(["milk"]), encoding="utf-8")
    (tmp_path / "photo.json").write_bytes(b"\x89PNG\xff\xfe")
    return tmp_path


def test_good_books_are_read_and_the_others_named(pile: Path) -> None:
    results = read_results(pile)
    assert list(results.books) == ["ada", "ben", "o'neil ü"]
    assert len(results.skipped) == 3
    assert all("is not a result of this workbook" in why and "--export" in why for why in results.skipped)
    assert {why.split(".json")[0] for why in results.skipped} == {"torn", "shopping", "photo"}
    assert machine_row(results.books["ada"]) == ("a cpu", "4", "8 GiB", "ext4", "Linux", "a disk")


def test_guesses_stand_with_their_factor_and_a_misconception_is_counted_once_a_learner(pile: Path) -> None:
    results = read_results(pile)
    guesses = guesses_table(results)
    assert set(guesses.topic) == {"fragments"} and list(guesses.learner) == [0, 1, 2]
    assert list(guesses.off) == pytest.approx([2.0, 4.0, 1.0])
    assert list(guesses.ratio) == pytest.approx([2.0, 0.25, 1.0])
    [hole] = exercises_table(results).itertuples()
    assert (hole.name, hole.tried, hole.right) == ("hole", 2, 1)
    assert hole.misconceptions == [("a hole is never worth reading", 2)]


@pytest.mark.parametrize("entry", ["guess", "truth"])
@pytest.mark.parametrize("amount", ["1e308", "-1e308", "1e-320", "NaN", "-Infinity"])
def test_amounts_that_nothing_has_spoil_nobody_s_chart(pile: Path, entry: str, amount: str) -> None:
    text = (pile / "ada.json").read_text(encoding="utf-8")
    old = {"guess": '"guess": 0.8', "truth": '"truth": 0.4'}[entry]
    assert text.count(old) == 1
    (pile / "mad.json").write_text(text.replace(old, f'"{entry}": {amount}'), encoding="utf-8")
    found = guesses_table(read_results(pile))
    assert list(found.off) == pytest.approx([2.0, 4.0, 1.0])


def test_reasons_are_grouped_by_the_side_of_the_truth_and_empty_ones_counted(pile: Path) -> None:
    for name, guess, because, sure in (
        ("cy", 0.9, "The arm  moves.", "sure"),
        ("di", 0.8, "the arm moves.", "a guess"),
        ("ed", 0.5, "", "sure"),
    ):
        own = Progress(pile / f".{name}.progress")
        own.keep_guess("fragments", "yield", guess, because, sure)
        own.keep_reveal("fragments", "yield", 0.3)
        own.export(pile / f"{name}.json")
    results = read_results(pile)
    found = reasons_table(results, "fragments").set_index("side")
    assert found.reasons["too high"] == [("The arm moves.", 2)] and found.none["too high"] == 0
    assert list(found.index) == ["too low", "near", "too high"] and list(found.guesses) == [1, 3, 2]
    assert found.none["near"] == 3  # ada and o'neil wrote no reason, and ed an empty one
    told = sureness_html(guesses_table(results))
    assert "1 of 2 at 'sure'" in told
    assert "fairly sure" not in told.split("<svg")[0]  # nobody was


def test_a_result_from_before_reasons_were_asked_is_read(tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text(OLD, encoding="utf-8")
    results = read_results(tmp_path)
    assert list(guesses_table(results).off) == [2.0] and sureness_html(guesses_table(results)) == ""
    told = reasons_table(results, "fragments")
    assert list(told.side) == ["near", "not held against anything"] and list(told.none) == [1, 1]
    assert "typically off by 2×" in guesses_html(results.books["old"])


def test_an_empty_folder_and_none_at_all_say_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no result file"):
        read_results(tmp_path)
    with pytest.raises(DataError, match="not a folder"):
        read_results(tmp_path / "nowhere")
