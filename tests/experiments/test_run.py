"""A run can be taken in hand: its query, its settings, its reads as a table, and three accounts of what was read."""

from __future__ import annotations

import duckdb
import pytest

from readahead.chapters.start_here.chapter import EXPERIMENT
from readahead.experiments.round import Study
from readahead.experiments.run import Run
from readahead.panels.predictions import accounts, folds


@pytest.fixture(scope="module")
def run() -> Run:
    """Return one run of a scan on a quick device."""
    study = Study(EXPERIMENT, repeats=2, size="tiny", row_group_rows=8_192, device="nvme", latency_s=1e-4)
    with study.noting() as noted:
        study.sample()
    [found] = study.runs(noted)
    return found


def test_the_reads_are_a_table_that_adds_up(run: Run) -> None:
    reads = run.reads
    assert list(reads.columns)[:3] == ["offset", "size_bytes", "thread"]
    assert reads.size_bytes.sum() == run.profile["bytes_read"] == run.counts["bytes_read"]
    assert len(reads) == run.counts["reads"]
    assert (reads.due_s >= reads.submitted_s).all()


def test_the_script_is_the_same_query_for_a_plain_duckdb(run: Run) -> None:
    connection = duckdb.connect()
    *_, row = [connection.execute(line) for line in run.script.split(";\n")]
    assert tuple(row.fetchall()[0]) == run.sample.answer
    assert "dev://" in run.sql and "dev://" not in run.script


def test_time_and_throughput_are_values_with_intervals(run: Run) -> None:
    assert run.seconds.repeats == 2 and run.seconds.low <= run.seconds.median <= run.seconds.high
    work = EXPERIMENT.work(run.settings)
    assert run.throughput.median == pytest.approx(work / run.seconds.median)
    assert run.estimate.seconds > 0


def test_the_three_accounts_agree_and_stand_side_by_side(run: Run) -> None:
    rows = {row[0]: row[1:] for row in accounts(run)}
    assert len(set(rows["bytes read"])) == 1 and rows["bytes read"][0]
    assert rows["reads"][0] == "not told" and rows["reads"][1] == rows["reads"][2]


def test_what_stands_folded_names_the_knobs_that_differ(run: Run) -> None:
    text = folds([run], {**run.settings, "row_group_rows": 122_880})
    assert "row group 8,192 rows" in text and "The reads" in text and "The law" not in text
    assert folds([], {}) == ""
