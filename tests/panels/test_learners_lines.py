"""What a learner may write: a run, a sweep, a law, a published table. Wrong names are answered with the right ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from toybox import CHAPTER

from readahead.errors import BadValue
from readahead.panels.lesson import open_chapter, published_table
from readahead.published import figures, topics
from readahead.questions.progress import Progress


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


def test_what_is_counted_along_a_published_table_is_whole() -> None:
    assert list(published_table("lookups", "chang_lookup_rates").index[:3]) == [10, 20, 25]
    assert "25.0" not in published_table("lookups", "chang_lookup_rates")._repr_html_()
