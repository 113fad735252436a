"""The toy chapter as a learner goes through it: guess, reveal, wrong answer, hint, right answer, restart."""

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from toybox import CHAPTER

from readahead import panels
from readahead.chapters import chapter
from readahead.errors import BadValue
from readahead.experiments.steps import Frame, Steps
from readahead.measure import calibrate
from readahead.models.schedule import Costs
from readahead.panels.class_view import guesses_html, scored_guesses
from readahead.panels.lesson import Lesson, open_chapter
from readahead.panels.views import ExerciseView
from readahead.questions.progress import Progress


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("READAHEAD_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setenv("READAHEAD_RUN", "")
    return tmp_path / "progress.json"


def start(**more: Any) -> Lesson:
    return open_chapter(CHAPTER, size="tiny", **more)


def reveal(lesson: Lesson, name: str, guess: str | None = None) -> Any:
    """Ask, guess, and open the answer, as the buttons do."""
    lesson.predict(name)
    lesson.reveal(name)
    asked, answer = lesson.views["predict", name], lesson.views["reveal", name]
    if guess is not None:
        asked.field.value = guess
        asked.keep_button.click()
        answer.button.click()
    answer.background.join(30)
    return answer


def test_the_machine_card_comes_first(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start()
    assert "HTML object" in capsys.readouterr().out
    facts = json.loads(path.read_text(encoding="utf-8"))
    assert facts["machine"]["cores"] >= 1
    assert facts["topics"]["toy"]["settings"]["notebook"]["base"]["size"] == "tiny"


@pytest.mark.usefixtures("calibrated_as_ever")
def test_the_machine_card_waits_for_no_calibration(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path / "new"))
    start()
    assert not (tmp_path / "new").exists()
    assert "the first measurement finds out" in panels._engine_text()
    calibrate.engine("comments_narrow").keep(Costs(row_s=7e-9))
    assert "7 ns to decode a row (calibrated on this machine)" in panels._engine_text()


def test_nothing_is_shown_before_a_guess_is_kept(path: Path) -> None:
    answer = reveal(start(), "fetch")
    assert answer.button.disabled and "Nothing is shown here" in answer.body.value
    answer.open()
    answer.background.join(30)
    assert "svg" not in answer.body.value and "published" not in answer.body.value.lower()


def test_guess_and_reveal_say_how_far_off(path: Path) -> None:
    answer = reveal(start(), "fetch", "200 ms")
    shown = answer.body.value
    # 16 ropes of 1 ms and 10 ms of pouring are 25.3 ms; this engine takes 1.2 times as long
    assert "Your guess, 200 ms, was 6.6× high against the measurement." in shown
    assert "the model says 25.3 ms" in shown and "A. Farmer published 30 ms" in shown
    assert "role='img'" in shown and shown.count("<tr>") == 5
    entry = Progress(path).kept("toy", "guesses", "fetch")
    assert entry and entry["guess"] == 0.2 and entry["truth"] == pytest.approx(0.0304, rel=0.02)


def test_a_guess_is_kept_with_its_reason_and_both_stand_beside_ours(path: Path) -> None:
    lesson = start()
    lesson.predict("fetch")
    lesson.reveal("fetch")
    asked, answer = lesson.views["predict", "fetch"], lesson.views["reveal", "fetch"]
    assert asked.because.value == "" and asked.sure.value is None  # nothing is suggested
    asked.field.value, asked.because.value, asked.sure.value = "200 ms", "  $5 & a <rope>$ \\frac{ ", "sure"
    asked.keep_button.click()
    assert "rope" not in answer.body.value
    answer.button.click()
    answer.background.join(30)
    shown = answer.body.value
    assert "<strong>Your reason (sure).</strong> $5 &amp; a &lt;rope&gt;$ \\frac{</p>" in shown
    assert shown.index("Your reason") < shown.index("Why.") < shown.index("Every bucket pays the rope")
    again = start()
    reveal(again, "fetch")
    asked = again.views["predict", "fetch"]
    assert (asked.because.value, asked.sure.value) == ("$5 & a <rope>$ \\frac{", "sure")
    assert asked.because.disabled and asked.sure.disabled


def test_a_guess_from_before_reasons_were_asked_is_shown(path: Path) -> None:
    entry = {"guess": 0.2, "at": "2026-11-01T06:30:00+00:00"}
    old = {"format": 1, "versions": {}, "machine": {}, "topics": {"toy": {"guesses": {"fetch": entry}}}}
    path.write_text(json.dumps(old), encoding="utf-8")
    lesson = start()
    answer = reveal(lesson, "fetch")
    answer.open()
    answer.background.join(30)
    assert "Your guess, 200 ms, was" in answer.body.value and "no reason written" in answer.body.value
    assert lesson.progress.notices == []


def test_printed_ratios_stand_beside_the_same_ratios_here(path: Path) -> None:
    answer = reveal(start(), "longer_rope", "8x")
    in_sight, _, rest = answer.body.value.partition("<details>")
    here = re.search(r"120 / 30 ms: 4×</td><td[^>]*>([\d.]+)×", in_sight)
    assert here and float(here[1]) == pytest.approx(6.7, rel=0.1)  # what the round measured
    assert "rope 6" in in_sight and "rope 7" not in in_sight
    assert "2 more printed ratios" in rest and "rope 8</th>" in rest
    assert (
        "Ropes of 1850 were heavier. <em>Printed: A. Farmer, On Fetching Water (1850), on A stone well.</em>"
        in rest
    )


def test_after_a_restart_the_ratios_are_back_without_measuring(path: Path) -> None:
    before = reveal(start(), "longer_rope", "8x").body.value
    answer = reveal(start(), "longer_rope")
    cells = re.compile(r"<td[^>]*>([^<]*)</td>")
    assert not answer.background.started
    assert cells.findall(answer.body.value)[-16:] == cells.findall(before)[-16:]


def test_the_guess_stands_once_the_answer_is_shown(path: Path) -> None:
    lesson = start()
    reveal(lesson, "fetch", "200 ms")
    asked = lesson.views["predict", "fetch"]
    assert asked.keep_button.disabled and asked.field.disabled
    asked.keep("30 ms")
    assert (Progress(path).kept("toy", "guesses", "fetch") or {})["guess"] == 0.2


def test_slider_and_field_move_together(path: Path) -> None:
    lesson = start()
    lesson.predict("fetch")
    asked = lesson.views["predict", "fetch"]
    assert asked.field.value == ""  # no number is suggested, so that none sticks
    asked.slider.value = 0.1
    assert asked.field.value == "100 ms"
    asked.field.value = "3.14159 s"
    assert asked.slider.value == pytest.approx(3.14159) and asked.field.value == "3.14159 s"
    asked.field.value = "soon"
    asked.keep_button.click()
    assert "holds no number" in asked.widget.children[-1].value
    assert Progress(path).kept("toy", "guesses", "fetch") is None


def test_a_guess_among_words(path: Path) -> None:
    answer = reveal(start(), "which", "faster")
    assert "Your guess, faster, was not so against the measurement." in answer.body.value
    assert "<svg" not in answer.body.value


def test_a_round_that_is_not_measured_is_held_against_the_model(path: Path) -> None:
    answer = reveal(start(), "half", "100 kB")
    assert "was right on against the model" in answer.body.value
    assert answer.again_button not in answer.widget.children


def test_after_a_restart_everything_is_back_without_measuring(path: Path) -> None:
    first = start()
    reveal(first, "fetch", "200 ms")
    again = start(repeats=4)
    answer = reveal(again, "fetch")
    assert "was 6.6× high" in answer.body.value and "easured on 20" in answer.body.value
    assert not answer.background.started and answer.again_button in answer.widget.children
    answer.again_button.click()
    answer.background.join(30)
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
    answer = reveal(lesson, "fetch")
    assert answer.background.started and "<svg" in answer.body.value


def test_a_measurement_can_be_stopped_and_an_error_is_shown(path: Path) -> None:
    lesson = start(pause_s=5.0)
    lesson.predict("fetch")
    lesson.reveal("fetch")
    asked, answer = lesson.views["predict", "fetch"], lesson.views["reveal", "fetch"]
    asked.keep("1 s")
    answer.button.click()
    assert "model says" in answer.body.value and answer.background.busy
    answer.background.cancel_button.click()
    answer.background.join(30)
    assert "Nothing half-measured" in answer.background.widget.children[0].value
    answer.background.start(lambda: 1 / 0, print)
    answer.background.join(30)
    assert "ZeroDivisionError" in answer.background.widget.children[0].value


def test_an_exercise_from_untouched_to_right_and_back_after_a_restart(path: Path) -> None:
    lesson = start()
    lesson.exercise("half_bucket")
    view = lesson.views["exercise", "half_bucket"]
    view.check_button.click()
    assert "Not attempted." in view.verdict.value
    field = view.fields[0]
    field.value = "100 MB"
    view.check_button.click()
    assert "Wrong." in view.verdict.value and "How long is the rope?" in view.verdict.value
    for count in (1, 2, 3):
        view.hint_button.click()
        assert view.hints.value.count("<li>") == count
    assert view.hint_button.disabled
    field.value = "many"
    view.check_button.click()
    assert "Could not be checked." in view.verdict.value
    field.value = "0.1 MB"
    view.check_button.click()
    assert "Right." in view.verdict.value
    outcomes = [attempt["outcome"] for attempt in Progress(path).answers("toy", "half_bucket")]
    assert outcomes == ["Wrong", "Could not be checked", "Right"]
    again = start()
    again.exercise("half_bucket")
    view = again.views["exercise", "half_bucket"]
    assert view.answer == "0.1 MB" and "Right." in view.verdict.value and view.hints.value.count("<li>") == 3
    view.solution_button.click()
    assert "97.7 KiB" in view.solution.value and "Rope time" in view.solution.value


def open_drawn(path: Path, seed: int = 0) -> ExerciseView:
    known = chapter("fragments")
    asked = known.question("exercise", "small_reads")
    return ExerciseView(known.exercise("small_reads"), "fragments", Progress(path), None, asked, seed)  # type: ignore[arg-type]


def test_another_one_asks_with_other_numbers_and_forgets_no_answer(path: Path) -> None:
    view = open_drawn(path)
    assert view.widget and view.question.value == "" and view.again_button in view.widget.children[3].children
    view.fields[0].value = "7.6 %"
    view.check_button.click()
    assert "Right." in view.verdict.value
    assert "8.2 µs of every 108.2 µs" in view.solution.value  # the solution comes with the right answer
    view.hint_button.click()
    view.again_button.click()
    asked = view.question.value
    assert "With other numbers" in asked and "100 µs" not in asked and "500 MB/s" not in asked
    assert (view.verdict.value, view.solution.value, view.hints.value, view.fields[0].value) == ("",) * 4
    view.fields[0].value = "100 %"
    view.check_button.click()
    assert "each read still waits" in view.verdict.value and view.solution.value == ""
    view.fields[0].value = str(view.exercise.answer)
    view.check_button.click()
    assert "Right." in view.verdict.value and "yield_share(fragment_bytes=4096" in view.solution.value
    again, room = open_drawn(path), open_drawn(path, seed=1)
    assert again.widget and again.answer == "7.6 %" and again.question.value == ""
    assert room.widget and room.question.value == asked and room.answer == str(view.exercise.answer)
    assert asked in room.html() and "yield_share(" in room.html()
    view.again_button.click()
    assert view.question.value != asked and open_drawn(path, seed=2).html().startswith(view.question.value)


def test_a_seed_that_is_none_or_finds_no_numbers_is_told(path: Path) -> None:
    lesson = start()
    with pytest.raises(BadValue, match="the numbers of exercise 'rank' are not drawn"):
        lesson.exercise("rank", seed=7)
    lesson.exercise("rank")
    assert lesson.views["exercise", "rank"].widget
    for seed in ("7", 1.5, True):
        with pytest.raises(BadValue, match="must be a whole number"):
            open_drawn(path, seed=seed)  # type: ignore[arg-type]


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
    view = lesson.views["exercise", name]
    fill(view.fields)
    view.check_button.click()
    assert "✓ Right." in view.verdict.value
    again = start()
    again.exercise(name)
    assert again.views["exercise", name].answer == kept


def test_a_claim_tests_itself(path: Path) -> None:
    lesson = start()
    for name in ("rope_costs", "model_fits"):
        lesson.claim(name)
        lesson.views["claim", name].background.join(30)
    assert "Agrees." in lesson.views["claim", "rope_costs"].body.value
    shown = lesson.views["claim", "model_fits"].body.value
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
        assert lesson.views["predict", prediction.id].guess is None
    for claim in CHAPTER.claims:
        lesson.claim(claim.id)
    for exercise in CHAPTER.exercises:
        lesson.exercise(exercise.id)
    lesson.figure("yield")
    lesson.guesses()
    assert not any("widget" in vars(view) for view in lesson.views.values())
    assert not path.exists()


def test_sliders_are_where_they_were_left_unless_the_notebook_changed(path: Path) -> None:
    start().keep_sliders({"rope_s": 0.05, "size": "small"})
    assert start()._sliders()["rope_s"] == 0.05
    assert start(rope_s=0.02)._sliders() == {}
    facts = json.loads(path.read_text(encoding="utf-8"))
    facts["topics"]["toy"]["settings"]["sliders"]["values"] = {"no_such_knob": 1}
    path.write_text(json.dumps(facts), encoding="utf-8")
    assert start()._sliders() == {}


def test_what_stands_below_an_answer_waits_for_it(path: Path) -> None:
    lesson = start()
    lesson.predict("fetch")
    lesson.reveal("fetch")
    lesson.reveal("fetch")  # run twice
    lesson.claim("model_fits")
    lesson.figure("yield")
    for kind, name in (("claim", "model_fits"), ("figure", "yield")):
        assert "after your guess" in lesson.views[kind, name].body.value
    lesson.views["predict", "fetch"].keep("1 s")
    lesson.views["reveal", "fetch"].open()
    lesson.views["claim", "model_fits"].background.join(30)
    assert "Differs" in lesson.views["claim", "model_fits"].body.value
    lesson.views["figure", "yield"].background.join(30)
    assert "<svg" in lesson.views["figure", "yield"].body.value


def test_a_figure_that_measures_holds_nobody_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The click that opens the answer returns while the figure below it is still being measured: in JupyterLab
    # the same thread brings the learner's next letters.
    lesson, may_go_on = start(), threading.Event()
    paint = CHAPTER.figures["yield"]
    monkeypatch.setitem(CHAPTER.figures, "yield", lambda study: may_go_on.wait(10) and paint(study))
    answer = reveal(lesson, "fetch")
    lesson.figure("yield")
    lesson.views["predict", "fetch"].keep("1 s")
    answer.button.click()
    view = lesson.views["figure", "yield"]
    assert view.background.busy and "<svg" not in view.body.value
    may_go_on.set()
    view.background.join(30)
    assert "<svg" in view.body.value


def test_a_figure_that_fails_says_so_in_its_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(study: object) -> None:
        raise BadValue("The rope is cut. Splice it.")

    monkeypatch.setitem(CHAPTER.figures, "yield", broken)
    lesson = start()
    lesson.figure("yield")
    view = lesson.views["figure", "yield"]
    view.background.join(30)
    assert "The rope is cut" in view.background.widget.children[0].value


def test_the_asking_cell_may_be_run_again(path: Path) -> None:
    lesson = start()
    lesson.predict("fetch")
    lesson.reveal("fetch")
    lesson.predict("fetch")
    lesson.views["predict", "fetch"].keep("1 s")
    assert not lesson.views["reveal", "fetch"].button.disabled


def test_the_reason_is_shown_with_the_answer_and_never_before(path: Path) -> None:
    lesson = start()
    why = CHAPTER.prediction("fetch").because
    assert why
    answer = reveal(lesson, "fetch")
    assert why not in answer.body.value
    lesson.views["predict", "fetch"].keep("1 s")
    answer.button.click()
    answer.background.join(30)
    assert why in answer.body.value


def test_a_damaged_progress_file_is_told_of_and_the_lesson_begins(path: Path) -> None:
    path.write_text("{", encoding="utf-8")
    lesson = start()
    assert len(lesson.progress.notices) == 1 and lesson._noticed == 1
    reveal(lesson, "fetch", "200 ms")
    assert list(path.parent.glob("progress.damaged-*.json"))


def test_the_curve_over_all_guesses_says_whether_they_improve(path: Path) -> None:
    book = Progress(path)
    for number, factor in enumerate((20, 10, 8, 2, 1.5, 1.1)):
        book.keep_guess("toy", f"g{number}", float(factor), "", ("a guess", "sure")[number % 2])
        book.keep_reveal("toy", f"g{number}", 1.0)
    book.keep_guess("toy", "words", "slower")
    book.keep_reveal("toy", "words", 3.0)
    book.keep_guess("toy", "unseen", 3.0)
    assert list(scored_guesses([book.read()]).off.round(3)) == [20, 10, 8, 2, 1.5, 1.1]
    shown = guesses_html(book.read())
    assert "The first 3 guesses were typically off by 10×, the last 3 by 1.5×: nearer." in shown
    assert shown.count("<tr>") == 7 + 11  # six guesses; again by how sure, with two medians and the line
    assert "Within a factor of 2 of the truth were 1 of 3 at 'a guess', 2 of 3 at 'sure'." in shown
    assert shown.count("<svg") == 2
    assert "No guess has been scored yet" in guesses_html(Progress(None).read())


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


def test_steps_are_a_picture_to_play_and_without_a_reader_a_strip(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = [Frame(says=f"The rope is {n} m long.", lanes={"Rope": [(str(n), "work")]}) for n in range(9)]
    rope = Steps(title="A rope", words={"work": "in the hand"}, frames=frames)
    monkeypatch.setitem(CHAPTER.steps, "rope", lambda study: rope)
    shown: list[Any] = []
    monkeypatch.setattr("readahead.panels.lesson.display", shown.append)
    monkeypatch.setattr("readahead.panels.lesson.show", shown.append)
    lesson = start(reveal=True)  # a leader plays it too
    shown.clear()
    lesson.steps("rope")
    assert len(shown[0].plan["frames"]) == 9
    bundle = shown[0]._repr_mimebundle_()
    static = (bundle[0] if isinstance(bundle, tuple) else bundle)["text/html"]
    assert "The rope is 8 m long." in static
    monkeypatch.setenv("READAHEAD_RUN", "papermill")
    lesson.steps("rope")
    assert shown[1] == static
    assert static.count("<figure") == 6
    with pytest.raises(BadValue, match="no mechanism of chapter 'toy'. It has: rope"):
        lesson.steps("ropes")
