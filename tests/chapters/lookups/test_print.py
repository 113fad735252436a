"""Chang's tables against the law that was fitted to them, and the fit against its neighbours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from readahead.chapters.lookups import chapter
from readahead.chapters.lookups.chapter import (
    FITTED,
    RATES,
    ROWS,
    columns,
    in_print,
    printed,
    query_s,
    told_from_others,
)


def errors() -> dict[str, float]:
    """Return the relative error of every figure that could have failed."""
    return {one.figure.name: one.error for one in in_print().residuals if one.role == "foretold"}


def rate_misses(fit: Mapping[str, float]) -> float:
    """Return the sum of squared log errors of the disks' rates, which the fit makes least."""
    return sum(
        float(np.log(columns(rows, fit)[column] / printed(f"{column}.n{rows}"))) ** 2
        for column in RATES
        for rows in ROWS
    )


def test_the_rates_are_met_and_what_is_not_is_named() -> None:
    rates = [error for name, error in errors().items() if name.rpartition(".")[0] in RATES]
    assert len(rates) == 44
    assert float(np.median(rates)) <= 0.06
    assert max(rates) <= 0.22


def test_a_rate_that_is_missed_counts_once() -> None:
    told = {one.figure.name: one for one in in_print().residuals}
    for page in ("8k", "64k"):
        rows, reads = told[f"disk_{page}_rows_per_s.n1000"], told[f"disk_{page}_reads_per_s.n1000"]
        assert rows.error > 0.1 > reads.error and rows.base == 1
        assert reads.base == rows.figure.value


def test_a_figure_is_foretold_from_the_other_rows_of_the_tables() -> None:
    column = [printed(f"cpu_per_read_s.64k.n{rows}") for rows in ROWS]
    for n, rows in enumerate(ROWS):  # a constant that was fitted to the other ten is their mean
        rest = np.log([seen for m, seen in enumerate(column) if m != n])
        assert told_from_others()[f"cpu_per_read_s.64k.n{rows}"] == pytest.approx(
            float(np.exp(rest.mean())), rel=1e-3
        )


def test_the_text_is_met_too() -> None:
    told = [one.error for one in in_print().residuals if one.figure.name.startswith("read_l")]
    assert len(told) == 2
    told += [abs(query_s(rows, "8k") / printed(f"duration_s.n{rows}") - 1) for rows in (25, 26)]
    for rows in (25, 26):
        law = columns(rows)["cpu_per_row_s.disk_8k"]
        told.append(abs(rows * law / printed(f"query_cpu_s.n{rows}") - 1))
    assert max(told) <= 0.1


def test_many_more_figures_than_numbers_were_fitted() -> None:
    assert len(errors()) > 3 * in_print().parameters


@pytest.mark.parametrize("name", ["gain", "leap"])
@pytest.mark.parametrize("by", [0.9, 1.1])
def test_no_neighbour_fits_better(name: str, by: float) -> None:
    assert rate_misses({**FITTED, name: FITTED[name] * by}) > rate_misses(FITTED)


@pytest.mark.parametrize("name", ["service_s.8k", "service_s.64k"])
@pytest.mark.parametrize("by", [0.95, 1.05])
def test_no_other_service_time_fits_better(name: str, by: float) -> None:
    assert rate_misses({**FITTED, name: FITTED[name] * by}) > rate_misses(FITTED)


def test_one_row_more_is_four_times_as_fast() -> None:
    below, above = (columns(rows)["disk_8k_rows_per_s"] for rows in (25, 26))
    assert 3.5 < above / below < 5
    assert chapter.mean_latency_s(26) > 2 * FITTED["service_s.8k"]
