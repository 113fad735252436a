"""The study of the learner's own data: it tells from metadata what DuckDB then does, and leaves nothing behind."""

from __future__ import annotations

import threading
from pathlib import Path

import duckdb
import pytest

from readahead.chapters import chapter
from readahead.chapters.your_data import workload
from readahead.chapters.your_data.chapter import EXPERIMENT, ROUNDS, advised
from readahead.chapters.your_data.workload import OURS, REGROUPED, SORTED, TODAY
from readahead.datasets.build import literal
from readahead.errors import BadValue, Cancelled, DataError
from readahead.experiments.round import Study
from readahead.measure.calibrate import typical_costs
from readahead.models.schedule import Costs
from readahead.running import listening


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / 'a table\'s "own" data.parquet'
    with duckdb.connect() as connection:
        connection.execute(
            'COPY (SELECT i AS "the key", hash(i) % 100000 AS "a \'mess\'" FROM range(65536) r(i))'
            f" TO {literal(path)} (FORMAT parquet, ROW_GROUP_SIZE 4096)"
        )
    return path


def settings(path: Path, **more: object) -> dict:
    return EXPERIMENT.settings(path=str(path), device="nvme", **more)


def test_what_metadata_rules_out_is_what_duckdb_skips(file: Path) -> None:
    for column, groups in (("the key", 2), ("a 'mess'", 16)):
        asked = settings(file, by=column)
        plan = EXPERIMENT.plan(asked)
        sample = EXPERIMENT.measure(asked, repeats=1)
        assert plan.read_groups == pytest.approx(groups, abs=1)
        assert abs(len(sample.reads) - plan.count) <= 1
        assert sample.row_groups_total == 16


def test_a_sample_that_was_measured_has_costs_of_its_own_but_not_where_all_are_typical(file: Path) -> None:
    asked = settings(file, by="the key")
    with typical_costs():
        before_s = EXPERIMENT.model(asked).seconds
    seen = EXPERIMENT.survey(asked)
    dear = dict.fromkeys((True, False), Costs(row_s=1e-3))
    workload._costs[seen.asked, seen.by, asked["selectivity"]] = dear
    assert EXPERIMENT.model(asked).seconds > 2 * before_s
    with typical_costs():
        assert EXPERIMENT.model(asked).seconds == before_s


def test_every_layout_gives_the_same_answer(file: Path) -> None:
    study = Study(EXPERIMENT, repeats=1, path=str(file), by="a 'mess'", device="nvme")
    asked = ({"layout": TODAY}, advised(study.base, REGROUPED), advised(study.base, SORTED))
    answers = {study.sample(**changes).answer for changes in asked}
    assert len(answers) == 1


def test_sorting_by_the_filter_reads_fewer_groups(file: Path) -> None:
    mess = settings(file, by="a 'mess'", row_group_rows=4_096)
    lies = EXPERIMENT.plan({**mess, "layout": REGROUPED})
    ordered = EXPERIMENT.plan({**mess, "layout": SORTED})
    assert ordered.read_groups < lies.read_groups


def test_nothing_is_left_and_the_original_is_as_it_was(file: Path) -> None:
    before = (file.read_bytes(), file.stat().st_mtime_ns)
    EXPERIMENT.measure(settings(file, by="the key", layout=SORTED), repeats=1)
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    assert list(file.parent.iterdir()) == [file]


def test_a_measurement_that_is_stopped_leaves_nothing(file: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled), listening(stop=stop):
        EXPERIMENT.measure(settings(file, by="the key"))
    assert list(file.parent.iterdir()) == [file]


def test_what_is_not_there_is_said(file: Path) -> None:
    with pytest.raises(DataError, match="is not there"):
        EXPERIMENT.model(EXPERIMENT.settings(path="/no/such/file.parquet"))
    with pytest.raises(BadValue, match="'no such' must be one of: the key"):
        EXPERIMENT.model(settings(file, by="no such"))
    with pytest.raises(BadValue, match="path=3 must be one of: ours. A Parquet file"):
        EXPERIMENT.settings(path=3)


def test_a_list_is_never_the_column_that_is_chosen(tmp_path: Path) -> None:
    path = tmp_path / "lists.parquet"
    with duckdb.connect() as connection:
        sql = "SELECT [i] AS l, map {'k': i} AS m, i AS n FROM range(9000) r(i)"
        connection.execute(f"COPY ({sql}) TO {literal(path)} (FORMAT parquet)")
    assert EXPERIMENT.survey(settings(path)).by == "n"
    with pytest.raises(BadValue, match="by='l' must have one value a row"):
        EXPERIMENT.model(settings(path, by="l"))


def test_without_a_column_to_sort_by_that_layout_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "nulls.parquet"
    with duckdb.connect() as connection:
        sql = "SELECT NULL::INT AS n FROM range(9000)"
        connection.execute(f"COPY ({sql}) TO {literal(path)} (FORMAT parquet)")
    for ask in (EXPERIMENT.model, EXPERIMENT.measure):
        with pytest.raises(BadValue, match="layout='sorted' must have a column to sort by"):
            ask(settings(path, layout=SORTED))
    assert EXPERIMENT.measure(settings(path, layout=REGROUPED), repeats=1).answer


def test_every_round_and_figure_has_its_answer() -> None:
    study = Study(EXPERIMENT, repeats=1, size="tiny", device="nvme")
    for asked in ROUNDS.values():
        modeled, measured = asked.modeled_value(study), asked.measured_value(study)
        assert modeled is not None and modeled.median > 0
        assert measured is not None and measured.median > 0
    for name in chapter("your_data").figures:
        drawing = chapter("your_data").figure(name)(study)
        assert drawing.rows and "{" not in drawing.sentence


def test_what_was_written_in_a_notebook_before_there_were_keys_is_still_taken() -> None:
    old = EXPERIMENT.settings(path="our table", layout="sorted by the filter")
    assert (old["path"], old["layout"]) == (OURS, SORTED)
