"""Advice keeps its laws: no option is slower than today, what is named is in the file, and brute force agrees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from readahead.advisor import advice, verify
from readahead.datasets.build import literal
from readahead.datasets.survey import Survey, ranks, survey
from readahead.devices import device
from readahead.errors import BadValue
from readahead.measure import sample_run
from readahead.models import table_layout
from readahead.models.table_layout import Workload
from tools.bench import advisor as bench


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    path = tmp_path_factory.mktemp("advice") / "t.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT i AS id, (hash(i) % 100000)::INT AS mess, DATE '2020-01-01' + (i // 1000)::INT AS day,"
            " 'word ' || lpad((i // 7)::VARCHAR, 9, '0') AS word FROM range(262144) r(i))"
            f" TO {literal(path)} (FORMAT parquet, ROW_GROUP_SIZE 4096)"
        )
    return survey(str(path), by="mess")


def test_the_order_of_a_column_is_seen_whatever_its_type(seen: Survey) -> None:
    skipped = {name: table_layout.skippable(found, 0.1) for name, found in seen.orders.items()}
    assert skipped["mess"] < 0.05
    assert all(skipped[name] == pytest.approx(0.9, abs=0.05) for name in ("id", "day", "word"))


@pytest.mark.parametrize("name", ["nvme", "object-store", "usb-disk"])
def test_what_is_offered_gains_and_comes_ranked(seen: Survey, name: str) -> None:
    told = advice.advise(seen, advice.case_of(seen, device(name), selectivity=0.1))
    gains = [option.gain for option in told.options]
    assert gains == sorted(gains, reverse=True) and all(gain >= advice.LEAST_GAIN for gain in gains)
    assert any(option.layout.in_order for option in told.options)
    assert told.today.bottleneck in advice.REMEDY


def test_the_letter_says_what_was_seen(seen: Survey) -> None:
    told = advice.advise(seen, advice.case_of(seen, device("object-store")))
    text = "\n".join(advice.letter(seen, [told]))
    for words in (
        "64 of 4,096 rows",
        "Order of mess",
        "Footer",
        "dictionary",
        "object-store",
        "bottleneck latency",
    ):
        assert words in text


def test_advice_on_a_filter_needs_a_column(seen: Survey) -> None:
    plain = survey(seen.asked)
    with pytest.raises(BadValue, match="--by COLUMN"):
        advice.case_of(plain, device("nvme"), selectivity=0.5)
    with pytest.raises(BadValue, match="selectivity=0"):
        advice.case_of(seen, device("nvme"), selectivity=0.0)


def test_the_advised_row_group_is_near_the_best_in_nearly_all_of_the_grid() -> None:
    """A part of the bench's grid, tried more coarsely."""
    cases = list(bench.grid().values())
    assert len(cases) >= 60
    few = cases[::5]
    good = sum(bench.off_by(case, tried=120) <= bench.NEAR for case in few)
    assert good >= 0.95 * len(few) - 1


def test_a_range_is_as_long_as_its_share_of_the_rows() -> None:
    ends = [(0, "0", "9"), (1, "10", "15"), (1, "16", "19"), (2, "20", "1000000")]
    found = ranks(ends, [100, 100, 200])
    assert found[0][0] == 0.0 and found[2][1] == pytest.approx(1.0)
    assert found[1][1] == pytest.approx(0.5, abs=0.01)
    assert len(ranks([(0, "a", None)], [5])) == 0


def test_what_a_filter_keeps_grows_with_its_share() -> None:
    ranges = table_layout.sorted_ranges([100] * 50)
    kept = [sum(table_layout.kept(ranges, Workload(selectivity=s))) for s in (0.01, 0.1, 0.5, 1.0)]
    assert kept == sorted(kept) and kept[-1] == 50 and kept[1] in (5, 6)


def test_a_promise_is_measured_on_a_sample_that_goes_away(seen: Survey) -> None:
    told = advice.advise(seen, advice.case_of(seen, device("object-store"), selectivity=0.1))
    folder = seen.found.files[0].parent
    proof = verify.verify(seen, told, repeats=1)
    assert proof.same_answer and proof.promised > 2
    lies, changed = proof.measured
    assert lies.row_groups_scanned == lies.row_groups_total
    assert changed.row_groups_scanned < 0.2 * changed.row_groups_total
    assert 4 * changed.bytes_read < lies.bytes_read
    assert list(folder.iterdir()) == [seen.found.files[0]]
    assert any("prediction" in line for line in proof.lines())


def test_a_sample_in_use_is_left_alone_and_counts_as_nobodys_data(seen: Survey) -> None:
    folder = seen.found.files[0].parent
    with sample_run.folder_beside(seen) as mine:
        (mine / "sample.parquet").write_bytes(seen.found.files[0].read_bytes())
        with sample_run.folder_beside(seen) as other:
            assert mine.is_dir() and other != mine
        assert (mine / "sample.parquet").exists()
        assert survey(str(folder)).found.total_files == 1
    assert list(folder.iterdir()) == [seen.found.files[0]]


def test_a_sample_whose_process_was_killed_is_swept_up_by_the_next(seen: Survey) -> None:
    folder = seen.found.files[0].parent
    code = (
        "import os, sys; from readahead.datasets.survey import survey; from readahead.measure import sample_run;"
        "held = sample_run.folder_beside(survey(sys.argv[1])); place = held.__enter__();"
        "(place / 'sample.parquet').write_bytes(b'half'); os._exit(1)"
    )
    subprocess.run([sys.executable, "-c", code, seen.asked], check=False)
    [left] = folder.glob(".readahead-*")
    (folder / ".readahead-notes").mkdir()  # no sample of ours: nothing in it was ever locked
    assert survey(str(folder)).found.total_files == 1
    with sample_run.folder_beside(seen):
        assert not left.exists()
    (folder / ".readahead-notes").rmdir()
    assert list(folder.iterdir()) == [seen.found.files[0]]


def test_a_file_of_a_thousand_row_groups_is_advised_on_in_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "tall.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT i FROM range({1000 * 2048}) r(i)) TO {literal(path)} (FORMAT parquet, ROW_GROUP_SIZE 2048)"
        )
    tall = survey(str(path))
    assert len(tall.group_bytes) == 1000
    assert advice.advise(tall, advice.case_of(tall, device("object-store"))).options[0].gain > 2


def test_a_sample_that_its_bytes_cut_short_has_as_many_rows_in_both_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first rows are wider than the rest, so a sample of the sample would be shorter."""
    path = tmp_path / "wide at first.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT i AS id, CASE WHEN i < 20000 THEN md5(i::VARCHAR) || md5('b' || i) ELSE 'x' END AS s"
            f" FROM range(60000) r(i)) TO {literal(path)} (FORMAT parquet, ROW_GROUP_SIZE 4096)"
        )
    monkeypatch.setattr(sample_run, "MOST_BYTES", 500_000)
    seen = survey(str(path))
    told = advice.advise(seen, advice.case_of(seen, device("nvme")))
    proof = verify.verify(seen, told, repeats=1)
    assert proof.rows < 60_000
    assert proof.same_answer
    assert [sample.answer[1] for sample in proof.measured] == [proof.rows, proof.rows]
