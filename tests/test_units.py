"""Numbers become words."""

from __future__ import annotations

import pytest

from readahead import units


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (0.0041, "s", "4.1 ms"), (20e-6, "s", "20 µs"), (65_536, "bytes", "64 KiB"), (2e8, "bytes_per_s", "200 MB/s"),
        (122_880, "rows", "122,880 rows"), (0.0034, "1", "0.34 %"), (3, "count", "3"),
        (1_005, "rows_per_s", "1,005 rows/s"), (24_512, "rows_per_s", "24.5 k rows/s"),
    ],
)  # fmt: skip
def test_words_are_those_of_the_field(value: float, kind: str, words: str) -> None:
    assert units.text(value, kind) == words


def test_nothing_is_said_in_the_unit_itself() -> None:
    assert [units.text(0, kind) for kind in ("bytes", "bytes_per_s", "rows_per_s", "s", "1", "count")] == [
        "0 B", "0 B/s", "0 rows/s", "0 s", "0 %", "0",
    ]  # fmt: skip


def test_a_row_of_numbers_shares_one_word() -> None:
    assert units.texts([0.0009, 0.0041, 0.012], "s") == ["0.9 ms", "4.1 ms", "12 ms"]


@pytest.mark.parametrize(
    ("kind", "word"), [("s", "s"), ("bytes", "B"), ("bytes_per_s", "B/s"), ("count", ""), ("1", "")]
)
def test_a_bare_number_has_its_word(kind: str, word: str) -> None:
    assert units.base_word(kind) == word
