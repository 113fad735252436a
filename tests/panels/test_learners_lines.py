"""What a learner may write: a run, a sweep, a law, a published table. Wrong names are answered with the right ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from toybox import CHAPTER

from readahead import panels
from readahead.errors import BadValue
from readahead.panels.lesson import Laws, open_chapter
from readahead.panels.published_table import published_table
from readahead.published import figures, topics
from readahead.questions.progress import Progress
from readahead.running import Event, listening


def test_a_number_that_ends_a_cell_has_four_digits(tmp_path: Path) -> None:
    shell = InteractiveShell.instance()
    try:
        open_chapter("fragments", reveal=True, progress=Progress(tmp_path / "p.json"), size="tiny")
        said = shell.display_formatter.format((0.1 + 0.2, np.float64(1 / 3), 1.2e9, float("nan"), True, 5))
    finally:
        InteractiveShell.clear_instance()
    assert said[0]["text/plain"] == "(0.3, 0.3333, 1200000000, nan, True, 5)"


def test_an_error_of_ours_is_shown_as_its_message_alone(capsys: pytest.CaptureFixture[str]) -> None:
    shell = InteractiveShell.instance()
    try:
        shell.run_cell("from readahead.panels.class_view import open_class\nopen_class('no such folder')")
    finally:
        InteractiveShell.clear_instance()
    said = capsys.readouterr().out
    assert "DataError: no such folder is not a folder. Give" in said and "class_view.py" not in said


def test_a_kernel_that_opens_a_lesson_does_not_import_pandas() -> None:
    lines = "import sys, readahead.panels.lesson; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", lines], check=False).returncode == 0


@pytest.fixture
def lesson(tmp_path: Path):  # type: ignore[no-untyped-def]
    return open_chapter(
        CHAPTER, reveal=True, progress=Progress(tmp_path / "p.json"), size="tiny", wobble=0.02
    )


def test_a_run_is_shown_as_a_card_and_measured_once(lesson) -> None:  # type: ignore[no-untyped-def]
    run = lesson.run(rope_s=0.01)
    assert run.settings["rope_s"] == 0.01 and run.seconds.repeats == 5
    assert "model" in run._repr_html_() and repr(run).startswith("Run(")
    assert lesson.run(rope_s=0.01).sample is run.sample
    assert len(lesson.run(rope_s=0.01, repeats=3).sample.seconds) == 3


def test_a_sweep_is_a_table_of_modeled_and_measured(lesson) -> None:  # type: ignore[no-untyped-def]
    table = lesson.sweep("rope_s", [1e-4, 1e-3, 1e-2], bucket_bytes=8_192)
    assert list(table.columns) == ["rope_s", "modeled", "measured", "low", "high", "published"]
    assert table.attrs["unit"] == "bytes_per_s"
    assert (table.low <= table.measured).all() and (table.measured <= table.high).all()
    assert table.modeled.is_monotonic_decreasing


@pytest.mark.parametrize(
    "ask",
    [lambda lesson: lesson.run(ropes=1), lambda lesson: lesson.sweep("ropes", [1])],
)
def test_a_misspelt_knob_names_the_nearest(lesson, ask) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadValue, match=r"'ropes' is not a knob of 'toy'.*Did you mean rope_s\?"):
        ask(lesson)


def test_a_wrong_value_is_the_panels_sentence_and_nothing_is_run(lesson) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadValue, match="rope_s=5 must be"):
        lesson.sweep("rope_s", [1e-3, 5])
    assert not lesson.study._samples


@pytest.mark.parametrize("wrong", ["fast", True, [1e-3], "1e-3"], ids=repr)
def test_a_wrong_type_is_the_same_sentence_as_on_the_panel(lesson, wrong: object) -> None:  # type: ignore[no-untyped-def]
    said = []
    for ask in (
        lambda: lesson.run(rope_s=wrong),
        lambda: lesson.sweep("rope_s", [wrong]),
        lambda: panels.run(CHAPTER.experiment, measure=False, rope_s=wrong),
    ):
        with pytest.raises(BadValue) as error:
            ask()
        said.append(str(error.value))
    assert said[0] == said[1] == said[2] and said[0].startswith(f"rope_s={wrong!r} must be")


def test_a_sweep_of_one_bare_value_is_told_what_to_give(lesson) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadValue, match=r"values=0.001 must be several values of rope_s. Give a list"):
        lesson.sweep("rope_s", 1e-3)


def test_a_misspelt_law_names_the_nearest_and_tab_shows_the_laws() -> None:
    laws = Laws("fragments")
    assert laws.half_speed_bytes(seek_s=0.01, bandwidth_bytes_per_s=1e8) == 1e6
    with pytest.raises(
        AttributeError, match=r"'yeild_share' is no law here.*half_speed_bytes.*Did you mean yield_share\?"
    ):
        _ = laws.yeild_share
    assert "half_speed_bytes" in dir(laws) and "require_range" not in dir(Laws("io_cpu"))


def test_a_sweep_below_a_hidden_answer_waits_until_it_is_shown(tmp_path: Path) -> None:
    lesson = open_chapter(CHAPTER, reveal=False, progress=Progress(tmp_path / "p.json"), size="tiny")
    lesson.predict("fetch")
    lesson.reveal("fetch")
    table = lesson.sweep("rope_s", [1e-4, 1e-3])
    assert not lesson.study._samples
    assert list(table.rope_s) == [1e-4, 1e-3] and table.drop(columns="rope_s").isna().all(axis=None)
    with pytest.raises(BadValue, match="rope_s=5 must be"):
        lesson.sweep("rope_s", [5])
    lesson.views["predict", "fetch"].keep("20 ms")
    lesson.views["reveal", "fetch"].open()
    assert lesson.sweep("rope_s", [1e-4]).measured.notna().all()


def test_an_interrupted_sweep_leaves_the_lesson_usable(tmp_path: Path) -> None:
    lesson = open_chapter("start_here", reveal=True, progress=Progress(tmp_path / "p.json"), size="tiny")
    before = lesson.run(device="object-store")  # the file is there and the machine calibrated
    pressed = []

    def press_stop(event: Event) -> None:
        if not pressed and event.note.startswith("run 2"):
            pressed.append(event)
            os.kill(os.getpid(), signal.SIGINT)

    told_of = lesson._told_of
    lesson._told_of = lambda: listening(press_stop)  # beside the progress bar, which only draws
    with pytest.raises(KeyboardInterrupt):
        lesson.run(device="object-store", row_group_rows=8_192)
    lesson._told_of = told_of
    assert pressed and len(lesson.study._samples) == 1
    again = lesson.run(device="object-store", row_group_rows=8_192)
    assert again.seconds.median > before.seconds.median and again.seconds.repeats == 5


@pytest.mark.parametrize("topic", topics())
def test_every_published_table_holds_all_its_figures(topic: str) -> None:
    for name in dict.fromkeys(one.table for one in figures(topic) if one.table):
        told = published_table(topic, name)
        mine = [one for one in figures(topic) if one.table == name]
        assert told.notna().to_numpy().sum() == len(mine)
        assert sorted(told.to_numpy()[told.notna()]) == sorted(one.value for one in mine)
        assert {one.printed for one in mine} <= set(told.printed.to_numpy().ravel())
        assert mine[0].author in told._repr_html_()


def test_a_part_of_a_published_table_is_a_plain_one() -> None:
    told = published_table("lookups", "chang_lookup_cpu")
    assert type(told.head(2)).__name__ == "DataFrame"
    with pytest.raises(BadValue, match="'rates' is no published table of 'lookups'. Its tables: chang_"):
        published_table("lookups", "rates")
    with pytest.raises(BadValue, match=r"Did you mean chang_lookup_rates\?"):
        published_table("lookups", "chang_lookup_rate")


def test_tables_are_written_without_exponents_and_with_four_digits(lesson) -> None:  # type: ignore[no-untyped-def]
    table = lesson.sweep("rope_s", [0.01]).assign(x=1.234567e9, y=1.234567e-4)[["x", "y"]]
    assert table.to_string(index=False).split() == ["x", "y", "1,235,000,000", "0.0001235"]


def test_what_is_counted_along_a_published_table_is_whole() -> None:
    assert list(published_table("lookups", "chang_lookup_rates").index[:3]) == [10, 20, 25]
    assert "25.0" not in published_table("lookups", "chang_lookup_rates")._repr_html_()
