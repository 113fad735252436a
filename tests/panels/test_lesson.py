"""The toy chapter worked as a learner works it: guess, reveal, wrong answer, hint, right answer, restart."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from toybox import CHAPTER

from readahead.errors import BadValue
from readahead.panels.calibration_curve import html as curve_html
from readahead.panels.calibration_curve import shots
from readahead.panels.lesson import Lesson, open_chapter
from readahead.questions.progress import Progress


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("READAHEAD_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setenv("READAHEAD_RUN", "")
    return tmp_path / "progress.json"


def start(**more: Any) -> Lesson:
    return open_chapter(CHAPTER, size="tiny", **more)


def reveal(lesson: Lesson, name: str, guess: str | None = None) -> Any:
    """Ask, guess, and open the curtain, as the buttons do."""
    lesson.predict(name)
    lesson.reveal(name)
    asked, curtain = lesson.faces["predict", name], lesson.faces["reveal", name]
    if guess is not None:
        field = asked.text or asked.pick
        field.value = guess
        asked.keep.click()
        curtain.button.click()
    curtain.waiting.join(30)
    return curtain


def test_the_machine_card_comes_first(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start()
    assert "HTML object" in capsys.readouterr().out
    facts = json.loads(path.read_text(encoding="utf-8"))
    assert facts["machine"]["cores"] >= 1
    assert facts["topics"]["toy"]["settings"]["notebook"]["base"]["size"] == "tiny"


def test_nothing_is_shown_before_a_guess_is_kept(path: Path) -> None:
    curtain = reveal(start(), "fetch")
    assert curtain.button.disabled and "Nothing is shown here" in curtain.body.value
    curtain.open()
    curtain.waiting.join(30)
    assert "svg" not in curtain.body.value and "published" not in curtain.body.value.lower()


def test_guess_and_reveal_say_how_far_off(path: Path) -> None:
    curtain = reveal(start(), "fetch", "200 ms")
    shown = curtain.body.value
    # 16 ropes of 1 ms and 10 ms of pouring are 25.3 ms; this engine takes 1.2 times as long
    assert "Your guess, 200 ms, was 6.6× high against the measurement." in shown
    assert "the model says 25.3 ms" in shown and "A. Farmer published 30 ms" in shown
    assert "role='img'" in shown and shown.count("<tr>") == 5
    entry = Progress(path).kept("toy", "guesses", "fetch")
    assert entry and entry["guess"] == 0.2 and entry["truth"] == pytest.approx(0.0304, rel=0.02)


def test_the_guess_stands_once_the_answer_is_shown(path: Path) -> None:
    lesson = start()
    reveal(lesson, "fetch", "200 ms")
    asked = lesson.faces["predict", "fetch"]
    assert asked.keep.disabled and asked.text.disabled
    asked.store("30 ms")
    assert (Progress(path).kept("toy", "guesses", "fetch") or {})["guess"] == 0.2


def test_slider_and_field_move_together(path: Path) -> None:
    lesson = start()
    lesson.predict("fetch")
    asked = lesson.faces["predict", "fetch"]
    assert asked.answer == ""  # no number is suggested, so that none sticks
    asked.slider.value = 0.1
    assert asked.text.value == "100 ms"
    asked.text.value = "3.14159 s"
    assert asked.slider.value == pytest.approx(3.14159) and asked.text.value == "3.14159 s"
    asked.text.value = "soon"
    asked.keep.click()
    assert "holds no number" in asked.face.children[-1].value
    assert Progress(path).kept("toy", "guesses", "fetch") is None


def test_a_bet_among_words(path: Path) -> None:
    curtain = reveal(start(), "which", "faster")
    assert "Your guess, faster, was not so against the measurement." in curtain.body.value
    assert "<svg" not in curtain.body.value


def test_a_round_that_is_not_measured_is_held_against_the_model(path: Path) -> None:
    curtain = reveal(start(), "half", "100 kB")
    assert "was right on against the model" in curtain.body.value
    assert curtain.again not in curtain.face.children


def test_after_a_restart_everything_is_back_without_measuring(path: Path) -> None:
    first = start()
    reveal(first, "fetch", "200 ms")
    again = start(repeats=4)
    curtain = reveal(again, "fetch")
    assert "was 6.6× high" in curtain.body.value and "easured on 20" in curtain.body.value
    assert not curtain.waiting.begun and curtain.again in curtain.face.children
    curtain.again.click()
    curtain.waiting.join(30)
    assert (Progress(path).kept("toy", "measured", "fetch") or {})["repeats"] == 4


@pytest.mark.parametrize("change", ["machine", "settings", "damage"])
def test_values_of_another_machine_or_other_settings_are_measured_anew(path: Path, change: str) -> None:
    reveal(start(), "fetch", "200 ms")
    facts = json.loads(path.read_text(encoding="utf-8"))
    kept = facts["topics"]["toy"]["measured"]["fetch"]
    if change == "machine":
        kept["machine"]["cpu"] = "Another CPU"
    if change == "damage":
        del kept["median"]
    path.write_text(json.dumps(facts), encoding="utf-8")
    lesson = start(rope_s=2e-3) if change == "settings" else start()
    curtain = reveal(lesson, "fetch")
    assert curtain.waiting.begun and "<svg" in curtain.body.value


def test_a_measurement_can_be_stopped_and_an_error_is_shown(path: Path) -> None:
    lesson = start(pause_s=5.0)
    lesson.predict("fetch")
    lesson.reveal("fetch")
    asked, curtain = lesson.faces["predict", "fetch"], lesson.faces["reveal", "fetch"]
    asked.store("1 s")
    curtain.button.click()
    assert "model says" in curtain.body.value and curtain.waiting.busy
    curtain.waiting.cancel.click()
    curtain.waiting.join(30)
    assert "Nothing half-measured" in curtain.waiting.face.children[0].value
    curtain.waiting._work = lambda: 1 / 0
    curtain.waiting.start()
    curtain.waiting.join(30)
    assert "ZeroDivisionError" in curtain.waiting.face.children[0].value


def test_an_exercise_from_untouched_to_right_and_back_after_a_restart(path: Path) -> None:
    lesson = start()
    lesson.exercise("half_bucket")
    desk = lesson.faces["exercise", "half_bucket"]
    desk.check.click()
    assert "Not attempted." in desk.verdict.value
    field = desk._fields[0]
    field.value = "100 MB"
    desk.check.click()
    assert "Wrong." in desk.verdict.value and "How long is the rope?" in desk.verdict.value
    for count in (1, 2, 3):
        desk.hint.click()
        assert desk.hints.value.count("<li>") == count
    assert desk.hint.disabled
    field.value = "many"
    desk.check.click()
    assert "Could not be checked." in desk.verdict.value
    field.value = "0.1 MB"
    desk.check.click()
    assert "Right." in desk.verdict.value
    outcomes = [attempt["outcome"] for attempt in Progress(path).answers("toy", "half_bucket")]
    assert outcomes == ["Wrong", "Could not be checked", "Right"]
    again = start()
    again.exercise("half_bucket")
    desk = again.faces["exercise", "half_bucket"]
    assert desk.answer == "0.1 MB" and "Right." in desk.verdict.value and desk.hints.value.count("<li>") == 3
    desk.solve.click()
    assert "97.7 KiB" in desk.solution.value and "Rope time" in desk.solution.value


@pytest.mark.parametrize(
    ("name", "fill", "kept"),
    [
        ("bottleneck", lambda fields: setattr(fields[0], "value", "Rope"), "Rope"),
        (
            "what_helps",
            lambda fields: [setattr(field, "value", True) for field in fields[:2]],
            ["a shorter rope", "a larger bucket"],
        ),
        (
            "rank",
            lambda fields: [
                setattr(f, "value", v)
                for f, v in zip(fields, ("a barrel", "a bucket", "a thimble"), strict=True)
            ],
            ["a barrel", "a bucket", "a thimble"],
        ),
    ],
)
def test_every_kind_of_field_takes_and_restores_an_answer(
    path: Path, name: str, fill: Any, kept: Any
) -> None:
    lesson = start()
    lesson.exercise(name)
    desk = lesson.faces["exercise", name]
    fill(desk._fields)
    desk.check.click()
    assert "✓ Right." in desk.verdict.value
    again = start()
    again.exercise(name)
    assert again.faces["exercise", name].answer == kept


def test_a_claim_tests_itself(path: Path) -> None:
    lesson = start()
    for name in ("rope_costs", "model_fits"):
        lesson.claim(name)
        lesson.faces["claim", name].waiting.join(30)
    assert "Agrees." in lesson.faces["claim", "rope_costs"].body.value
    shown = lesson.faces["claim", "model_fits"].body.value
    assert "Differs, likely because:" in shown and "farmer rests" in shown and "frayed" not in shown


def test_a_name_that_is_none_is_answered_with_those_that_are(path: Path) -> None:
    lesson = start()
    for call in (lesson.predict, lesson.reveal, lesson.claim, lesson.exercise, lesson.figure):
        with pytest.raises(BadValue, match="It has: "):
            call("nothing")


@pytest.mark.parametrize("reason", ["reveal", "papermill"])
def test_with_nobody_to_ask_everything_is_open_and_nothing_is_written(
    path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    if reason == "papermill":
        monkeypatch.setenv("READAHEAD_RUN", "papermill")
    lesson = start(reveal=reason == "reveal")
    for prediction in CHAPTER.predictions:
        lesson.predict(prediction.id)
        lesson.reveal(prediction.id)
        assert lesson.faces["reveal", prediction.id].guess is None
    for claim in CHAPTER.claims:
        lesson.claim(claim.id)
    for exercise in CHAPTER.exercises:
        lesson.exercise(exercise.id)
    lesson.figure("yield")
    lesson.guesses()
    assert not path.exists()


def test_sliders_are_where_they_were_left_unless_the_notebook_changed(path: Path) -> None:
    start().keep_sliders({"rope_s": 0.05, "size": "small"})
    assert start()._sliders()["rope_s"] == 0.05
    assert start(rope_s=0.02)._sliders() == {}
    facts = json.loads(path.read_text(encoding="utf-8"))
    facts["topics"]["toy"]["settings"]["sliders"]["values"] = {"no_such_knob": 1}
    path.write_text(json.dumps(facts), encoding="utf-8")
    assert start()._sliders() == {}


def test_what_stands_below_a_closed_curtain_waits_for_it(path: Path) -> None:
    lesson = start()
    lesson.predict("fetch")
    lesson.reveal("fetch")
    lesson.reveal("fetch")  # run twice
    lesson.claim("model_fits")
    lesson.figure("yield")
    for kind, name in (("claim", "model_fits"), ("figure", "yield")):
        assert "after your guess" in lesson.faces[kind, name].body.value
    lesson.faces["predict", "fetch"].store("1 s")
    lesson.faces["reveal", "fetch"].open()
    lesson.faces["claim", "model_fits"].waiting.join(30)
    assert "Differs" in lesson.faces["claim", "model_fits"].body.value
    lesson.faces["figure", "yield"].waiting.join(30)
    assert "<svg" in lesson.faces["figure", "yield"].body.value


def test_a_figure_that_measures_holds_nobody_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The click that opens the curtain returns while the figure below it is still being measured: in JupyterLab
    # the same thread brings the learner's next letters.
    lesson, may_go_on = start(), threading.Event()
    paint = CHAPTER.figures["yield"]
    monkeypatch.setitem(CHAPTER.figures, "yield", lambda bench: may_go_on.wait(10) and paint(bench))
    curtain = reveal(lesson, "fetch")
    lesson.figure("yield")
    lesson.faces["predict", "fetch"].store("1 s")
    curtain.button.click()
    hung = lesson.faces["figure", "yield"]
    assert hung.waiting.busy and "<svg" not in hung.body.value
    may_go_on.set()
    hung.waiting.join(30)
    assert "<svg" in hung.body.value


def test_a_figure_that_fails_says_so_in_its_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(bench: object) -> None:
        raise BadValue("The rope is cut. Splice it.")

    monkeypatch.setitem(CHAPTER.figures, "yield", broken)
    lesson = start()
    lesson.figure("yield")
    hung = lesson.faces["figure", "yield"]
    hung.waiting.join(30)
    assert "The rope is cut" in hung.waiting.face.children[0].value


def test_the_asking_cell_may_be_run_again(path: Path) -> None:
    lesson = start()
    lesson.predict("fetch")
    lesson.reveal("fetch")
    lesson.predict("fetch")
    lesson.faces["predict", "fetch"].store("1 s")
    assert not lesson.faces["reveal", "fetch"].button.disabled


def test_the_reason_is_shown_with_the_answer_and_never_before(path: Path) -> None:
    lesson = start()
    why = CHAPTER.prediction("fetch").because
    assert why
    curtain = reveal(lesson, "fetch")
    assert why not in curtain.body.value
    lesson.faces["predict", "fetch"].store("1 s")
    curtain.button.click()
    curtain.waiting.join(30)
    assert why in curtain.body.value


def test_a_damaged_progress_file_is_told_of_and_the_lesson_begins(path: Path) -> None:
    path.write_text("{", encoding="utf-8")
    lesson = start()
    assert len(lesson.progress.notices) == 1 and lesson._noticed == 1
    reveal(lesson, "fetch", "200 ms")
    assert list(path.parent.glob("progress.damaged-*.json"))


def test_the_curve_over_all_guesses_says_whether_they_improve(path: Path) -> None:
    book = Progress(path)
    for number, factor in enumerate((20, 10, 8, 2, 1.5, 1.1)):
        book.keep_guess("toy", f"g{number}", float(factor))
        book.keep_reveal("toy", f"g{number}", 1.0)
    book.keep_guess("toy", "words", "slower")
    book.keep_reveal("toy", "words", 3.0)
    book.keep_guess("toy", "unseen", 3.0)
    assert [round(hit.off, 3) for hit in shots(book.read())] == [20, 10, 8, 2, 1.5, 1.1]
    shown = curve_html(book.read())
    assert "The first 3 guesses were typically off by 10×, the last 3 by 1.5×: nearer." in shown
    assert "<svg" in shown and shown.count("<tr>") == 7
    assert "No guess has been scored yet" in curve_html(Progress(None).read())


@pytest.mark.parametrize("said", ["x", "0", "-3", "5.5", "1e9", "101"])
def test_a_wrong_number_of_repeats_is_told_by_its_name(
    said: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_REPEATS", said)
    with pytest.raises(BadValue, match=f"READAHEAD_REPEATS='{said}' must be a whole number from 1 to 100"):
        open_chapter(CHAPTER)
    for repeats in (0, -1, 1.5, "3", True):
        with pytest.raises(BadValue, match="must be a whole number from 1 to 100"):
            open_chapter(CHAPTER, repeats=repeats)  # type: ignore[arg-type]
