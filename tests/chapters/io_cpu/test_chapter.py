"""The CPU cost of I/O: the fitted costs agree with Chang's figures, and DuckDB is really asked."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from readahead.chapters import chapter
from readahead.chapters.io_cpu import page_costs
from readahead.chapters.io_cpu.chapter import (
    EXPERIMENT,
    FIGURES,
    ROUNDS,
    TIGHT,
    cores,
    more_a_page,
    on_bandwidth,
)
from readahead.chapters.io_cpu.workload import EVERY, QUERY_1, SUM
from readahead.errors import Cancelled
from readahead.experiments.round import Study
from readahead.running import listening
from readahead.storage import page_cache
from readahead.units import GB, MB


@pytest.fixture(scope="module")
def study() -> Study:
    """Return a study that measures each thing twice."""
    return Study(EXPERIMENT, repeats=2)


def test_his_two_columns_are_predicted_within_three_per_cent_in_the_median() -> None:
    errors = {one.figure.name: one.error for one in page_costs.in_print().residuals if one.role == "foretold"}
    scans = [error for name, error in errors.items() if "aggregate" not in name]
    assert len(scans) == 18 and len(errors) == 27
    assert float(np.median(scans)) <= 0.03
    assert max(error for name, error in errors.items() if name != "cpu_per_page_s.aggregate.r323") <= 0.2


def test_what_is_said_of_a_page_is_fitted_to_the_other_pages() -> None:
    rest = tuple(count for count in page_costs.ROWS if count != 40)
    without = page_costs.fit(rest, page_costs.column("memory", rest), page_costs.column("disk", rest))
    told = {one.figure.name: one.model for one in page_costs.in_print().residuals}
    assert told["cpu_per_page_s.disk.r40"] == float(without.cpu_s(40, loaded=True))
    assert without != page_costs.fitted(*page_costs.SCAN)


def test_an_eviction_is_paid_for_by_the_pages_that_are_read() -> None:
    evicting_s = page_costs.evicting_s()
    page_s = 0.94e-6 + 0.9 * (5.28e-6 - 0.94e-6 + evicting_s)  # forwards again
    assert page_s == pytest.approx(8e-6)
    assert 3e-6 < evicting_s < 4e-6  # "just over 3"


def test_the_densest_aggregate_stays_unexplained() -> None:
    modeled, [printed] = ROUNDS["rows323"].law(None).result, ROUNDS["rows323"].published  # type: ignore[misc, arg-type]
    assert modeled < 0.8 * printed.value  # the chapter says so; a fit that hides it would be found here
    rows = page_costs.ROWS[:-1]
    eight = page_costs.fitted("aggregate", rows=rows).cpu_s(rows) / page_costs.column("aggregate", rows)
    assert all(abs(ratio - 1) < 0.05 for ratio in eight)


def test_a_report_reads_only_its_columns(study: Study) -> None:
    read = {report: study.sample(report=report).bytes_read for report in (EVERY, QUERY_1, SUM)}
    assert read[SUM] < read[QUERY_1] < read[EVERY]
    settings = study.settings(report=QUERY_1)
    assert EXPERIMENT.work(settings) == pytest.approx(read[QUERY_1], rel=0.1)
    assert study.sample(report=QUERY_1).answer[-2:] == ("A", "F")  # grouped and ordered by its flags


def test_model_and_reads_belong_to_the_same_query(study: Study) -> None:
    for report in (EVERY, QUERY_1, SUM):
        case = EXPERIMENT.case(study.settings(report=report))
        assert len(study.sample(report=report).reads) == len(case.plan().listed)


def test_the_curve_has_a_slope_and_a_roof(study: Study) -> None:
    wide = np.array([10 * MB, 20 * MB, 10 * GB, 20 * GB])
    slow, twice, fast, faster = EXPERIMENT.curve(
        study.settings(report=QUERY_1), "bandwidth_bytes_per_s", wide
    )
    assert twice / slow > 1.8
    assert faster / fast < 1.05
    assert (
        study.model.seconds(**on_bandwidth(10 * MB)).median
        > study.model.seconds(**on_bandwidth(5 * GB)).median
    )


@pytest.mark.parametrize("name", ROUNDS)
def test_every_round_has_its_sources(name: str, study: Study) -> None:
    if name.endswith("here") and not page_cache.can_evict():
        pytest.skip("this system cannot empty its page cache")
    modeled, measured = ROUNDS[name].modeled_value(study), ROUNDS[name].measured_value(study)
    assert modeled is not None or measured is not None or ROUNDS[name].published
    for value in (modeled, measured):
        assert value is None or value.median >= 0


@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_says_in_words_what_it_shows(name: str, study: Study) -> None:
    picture = chapter("io_cpu").figure(name)(study)
    assert picture.sentence.endswith(".") and picture.rows


def test_the_price_of_eviction_can_be_cancelled() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled), listening(stop=stop):
        more_a_page(cold=False, memory_bytes=TIGHT)


def test_there_is_a_core_to_work_on() -> None:
    assert cores() >= 1
