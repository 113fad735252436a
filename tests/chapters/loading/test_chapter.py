"""The loading chapter: his times held to chance, writers held to the bounds."""

from __future__ import annotations

import numpy as np
import pytest

from readahead.chapters import chapter
from readahead.chapters.loading import laws
from readahead.chapters.loading.chapter import (
    COUNTS,
    EXPERIMENT,
    FIGURES,
    ROUNDS,
    fit_writers,
    in_print,
    missed,
    peak_between,
    writers_rates,
)
from readahead.chapters.loading.workload import DATABASE, EMULATED_FILES
from readahead.experiments.round import Study
from readahead.panels.chart import drawing_html


@pytest.fixture(scope="module")
def study() -> Study:
    """Return a study that measures each thing twice."""
    return Study(EXPERIMENT, repeats=2)


def test_one_constant_predicts_all_of_his_times() -> None:
    errors = [one.error for one in in_print().residuals if one.figure.name.startswith("elapsed_s.")]
    assert len(errors) == 6
    assert float(np.median(errors)) < 0.03 and max(errors) < 0.04


def test_model_and_measurement_load_the_same_rows(study: Study) -> None:
    sample = study.sample(writers=3)
    assert sample.answer == (EXPERIMENT.rows(study.settings()),)
    assert EXPERIMENT.model(study.settings(target=DATABASE)).seconds > 0
    assert EXPERIMENT.disabled(study.settings(target=DATABASE)).keys() == {"latency_s", "channels"}
    assert EXPERIMENT.disabled(study.settings(target=EMULATED_FILES)) == {}


def test_the_law_is_fitted_to_every_repeat(study: Study) -> None:
    counts, rates = COUNTS, writers_rates(study)
    law, others = fit_writers(counts, rates)
    assert [len(repeats) for repeats in rates] == [2] * len(counts)
    assert law.alone > 0 and law.contention >= 0 and len(others) > 50


def rates_of(*thousands: float) -> list[list[float]]:
    """Return five repeats for each count of writers, one per cent apart."""
    return [[1e3 * one * (1 + by / 100) for by in (-2, -1, 0, 1, 2)] for one in thousands]


def test_a_peak_is_known_no_closer_than_the_counts_that_were_measured() -> None:
    counts = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    rates = rates_of(180, 330, 502, 459, 380, 280)
    law, others = fit_writers(counts, rates)
    low, high = peak_between(counts, others)
    assert low <= 4 and high >= 8  # nothing was measured between
    worst, share = missed(counts, rates, law)
    assert share == pytest.approx(abs(float(law(worst)) / np.median(rates[counts.index(worst)]) - 1))
    assert share > 0.02  # the curve misses 502 at 4, and the figure says so


def test_a_curve_that_never_falls_has_its_peak_at_any_number_above() -> None:
    counts = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    _, others = fit_writers(counts, rates_of(*(100 * n / (1 + 0.1 * (n - 1)) for n in counts)))
    assert peak_between(counts, others)[1] == float("inf")


@pytest.mark.parametrize(
    ("seconds", "settled"),
    [
        ((1.0, 1.04, 0.97, 1.02, 1.0, 1.01, 0.98, 1.03, 0.99, 1.0), False),
        ((*[1.0, 1.01] * 2, 1.0, *[1.3, 1.31] * 2, 1.3), True),
    ],
)
def test_the_halves_of_ten_runs_differ_where_something_changed_between_them(seconds, settled) -> None:  # type: ignore[no-untyped-def]
    first, second = list(seconds[:5]), list(seconds[5:])
    assert (abs(laws.difference(first, second)) > laws.half_width(first, second)) == settled


@pytest.mark.parametrize("name", ROUNDS)
def test_every_round_has_its_answer(name: str, study: Study) -> None:
    modeled, measured = ROUNDS[name].modeled_value(study), ROUNDS[name].measured_value(study)
    assert modeled is not None or measured is not None


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_says_in_words_what_it_shows(name: str, study: Study) -> None:
    picture = chapter("loading").figure(name)(study)
    assert picture.sentence.endswith(".") and picture.rows


def test_what_was_written_is_called_so(study: Study) -> None:
    drawn = chapter("loading").figure("writes")(study)
    assert drawn.what == "write" and "writes" in drawn.head
    shown = drawing_html(drawn)
    assert "128 writes" in shown or " writes</text>" in shown
    assert " reads" not in shown
