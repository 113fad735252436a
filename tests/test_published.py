"""Published figures are read as they were written, and a damaged file says where."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from readahead import paths, published
from readahead.errors import BadValue, DataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the real files, to damage."""
    return Path(shutil.copytree(paths.DATA / "published", tmp_path / "published"))


def damage(folder: Path, topic: str, old: str, new: str) -> None:
    path = folder / f"{topic}.csv"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_figure_is_found_by_name_with_its_source() -> None:
    one = published.figure("lookups", "disk_8k_rows_per_s.n25")
    assert (one.value, one.unit, one.x_name, one.x_value) == (226, "rows_per_s", "rows per query", 25)
    assert one.source == "Joe Chang, IO Cost Structure (2010)"


def test_a_misprint_keeps_what_was_printed_beside_what_is_right() -> None:
    one = published.figure("cache_tiers", "block_cache_bytes.dedicated")
    assert (one.value, one.corrected, one.best) == (2335 * 2**30, 2355 * 2**30, 2355 * 2**30)
    right = published.figure("cache_tiers", "block_cache_bytes.one_node")
    assert right.corrected is None and right.best == right.value


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    with pytest.raises(BadValue, match=r"disk_8k_rows_per_s\.n25\b"):
        published.figure("lookups", "disk_8k_rows_per_s.n24")
    with pytest.raises(BadValue, match="must be one of: cache_tiers, elimination"):
        published.figures("your_data")


def test_a_series_comes_in_the_order_of_the_page() -> None:
    points = published.series("io_cpu", "cpu_per_page_s.memory")
    assert [x for x, _, _ in points] == [1, 2, 5, 10, 20, 40, 80, 158, 323]
    assert points[0][1] == 0.94e-6 and points[-1][1] == 16.91e-6
    assert points[-1][2].name == "cpu_per_page_s.memory.r323"
    with pytest.raises(BadValue, match="'cpu_per_leaf' is no series of 'io_cpu'"):
        published.series("io_cpu", "cpu_per_leaf")


def test_a_missing_file_says_how_to_get_it_back(folder: Path) -> None:
    (folder / "lookups.csv").unlink()
    with pytest.raises(BadValue, match=r"'lookups' must be one of: cache_tiers.*Restore"):
        published.figures("lookups", folder)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0.01,s,10ms", "ten,s,10ms", "Line 8 of .*column 'value': 'ten'"),
        ("0.01,s,10ms", "nan,s,10ms", "Line 8 of .*column 'value': 'nan'"),
        ("0.01,s,10ms", "0.01,minutes,10ms", "Line 8 of .*column 'unit': 'minutes' must be one of: s, bytes"),
        ("seek_s,", "gap_pages,", "Line 8 of .*column 'name': 'gap_pages' is there twice"),
        ("0.01,s,10ms", "0.01,10ms", "Line 8 of .*has 14 cells"),
        ("name,value", "name,worth", "Line 1 of .*'value' is missing|Line 1 of .*'worth'"),
    ],
)
def test_a_damaged_row_names_line_and_column(folder: Path, old: str, new: str, said: str) -> None:
    damage(folder, "fragments", old, new)
    with pytest.raises(DataError, match=said):
        published.figures("fragments", folder)


def test_a_mended_file_is_read_again(folder: Path) -> None:
    assert published.figure("fragments", "seek_s", folder).value == 0.01
    damage(folder, "fragments", "0.01,s,10ms", "0.0100,s,10.0ms")
    assert published.figure("fragments", "seek_s", folder).printed == "10.0ms"


def test_text_that_is_not_utf_8_is_named(folder: Path) -> None:
    (folder / "fragments.csv").write_bytes(b"name\xff")
    with pytest.raises(DataError, match="cannot be read: 'utf-8' codec"):
        published.figures("fragments", folder)
