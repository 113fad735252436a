"""The loading chapter: his times held to chance, writers held to the bounds."""

from __future__ import annotations

import numpy as np
import pytest

from readahead.chapters import chapter
from readahead.chapters.loading import laws
from readahead.chapters.loading.chapter import (
    EXPERIMENT,
    FIGURES,
    FITTED,
    ROUNDS,
    fitted_laws,
    five_s,
    residuals,
)
from readahead.chapters.loading.writers import DATABASE, EMULATED_FILES
from readahead.experiments.round import Bench
from readahead.panels.computed_view import drawing_html


@pytest.fixture(scope="module")
def bench() -> Bench:
    """Return a bench that measures each thing twice."""
    return Bench(EXPERIMENT, repeats=2)


def test_one_constant_predicts_all_of_his_times() -> None:
    errors = [abs(model / printed - 1) for _, model, printed in residuals()]
    assert len(errors) - FITTED == 6
    assert float(np.median(errors)) < 0.03 and max(errors) < 0.04
    assert (max(five_s()) - min(five_s())) / np.std(five_s(), ddof=1) < laws.expected_range(5) * 1.3


def test_model_and_measurement_load_the_same_rows(bench: Bench) -> None:
    sample = bench.sample(writers=3)
    assert sample.answer == (EXPERIMENT.rows(bench.settings()),)
    assert EXPERIMENT.model(bench.settings(target=DATABASE)).seconds > 0
    assert EXPERIMENT.disabled(bench.settings(target=DATABASE)).keys() == {"latency_s", "channels"}
    assert EXPERIMENT.disabled(bench.settings(target=EMULATED_FILES)) == {}


def test_the_law_is_fitted_to_every_repeat(bench: Bench) -> None:
    counts, rates, law, others = fitted_laws(bench)
    assert [len(repeats) for repeats in rates] == [2] * len(counts)
    assert law.alone > 0 and law.contention >= 0 and len(others) > 50


@pytest.mark.parametrize("name", ROUNDS)
def test_every_round_has_its_answer(name: str, bench: Bench) -> None:
    modeled, measured = ROUNDS[name].modeled_value(bench), ROUNDS[name].measured_value(bench)
    assert modeled is not None or measured is not None


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_says_in_words_what_it_shows(name: str, bench: Bench) -> None:
    picture = chapter("loading").figure(name)(bench)
    assert picture.sentence.endswith(".") and picture.rows


def test_what_was_written_is_called_so(bench: Bench) -> None:
    drawn = chapter("loading").figure("writes")(bench)
    assert drawn.what == "write" and "writes" in drawn.head
    shown = drawing_html(drawn)
    assert "128 writes" in shown or " writes</text>" in shown
    assert " reads" not in shown
