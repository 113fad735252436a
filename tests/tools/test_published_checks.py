"""The proof-reader can add, and refuses what is no sum."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from readahead import paths
from readahead.errors import BadValue, DataError
from tools.published_checks import Check, checks, work_out


def test_a_sum_is_worked_out_over_figures_of_any_topic() -> None:
    assert work_out("fragment_pages * read_ahead:page_bytes", "fragments") == 512 * 1024
    assert work_out("floor(page_space_bytes / entry_bytes.bigint) - 2 ** 3", "index_pages") == 614
    assert work_out("-(1.5e3 + 1)", "fragments") == -1501


def test_an_exclamation_mark_asks_for_the_corrected_value() -> None:
    assert work_out("table_rows", "read_ahead") == 20_000_000
    assert work_out("table_rows!", "read_ahead") == 2_000_000


@pytest.mark.parametrize("bad", ["seek_time_s * 2", "__import__('os')", "1 / 0", "seek_s +", "[1]", "max(1)"])
def test_what_is_no_sum_is_refused(bad: str) -> None:
    with pytest.raises(BadValue):
        work_out(bad, "fragments")


@pytest.mark.parametrize(
    ("left", "relation", "tolerance", "agrees"),
    [(1.05, "=", 0.06, True), (1.05, "=", 0.04, False), (0.95, "=", 0.04, False), (1.05, "<=", 0.04, False),
     (1.05, "<=", 0.06, True), (0.5, "<=", 0, True), (0.5, ">=", 0.4, False), (2, ">=", 0, True)],
)  # fmt: skip
def test_a_relation_holds_within_its_tolerance(
    left: float, relation: str, tolerance: float, agrees: bool
) -> None:
    check = Check(
        topic="fragments",
        left="",
        relation=relation,
        right="",
        tolerance=tolerance,
        verdict="agrees",
        why="",
        left_value=left,
        right_value=1.0,
    )
    assert check.agrees == agrees


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("fragments,seek_s,=,1,a little,agrees,", "column 'tolerance': 'a little'"),
        ("fragments,seek_s,~,1,0,agrees,", "relation='~'"),
        ("fragments,seek_s,=,1,0,perhaps,", "verdict='perhaps'"),
        ("fragments,seek_time,=,1,0,agrees,", "'seek_time' is not a published figure"),
    ],
)
def test_a_bad_line_of_sums_is_named(tmp_path: Path, row: str, said: str) -> None:
    folder = Path(shutil.copytree(paths.DATA / "published", tmp_path / "published"))
    (folder / "checks.csv").write_text(f"topic,left,relation,right,tolerance,verdict,why\n{row}\n")
    with pytest.raises(DataError, match=f"Line 2 of .*{said}"):
        checks(folder)
