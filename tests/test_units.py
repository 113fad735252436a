"""Numbers become words and come back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead import units
from readahead.errors import BadValue

KINDS = st.sampled_from(["s", "bytes", "bytes_per_s", "rows_per_s", "1"])


@given(st.floats(1e-9, 1e15), KINDS)
def test_what_is_written_with_all_digits_is_read_back(value: float, kind: str) -> None:
    assert units.parse(units.text(value, kind, digits=17), kind) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (0.0041, "s", "4.1 ms"), (20e-6, "s", "20 µs"), (65_536, "bytes", "64 KiB"), (2e8, "bytes_per_s", "200 MB/s"),
        (122_880, "rows", "122,880 rows"), (0.0034, "1", "0.34 %"), (0, "bytes", "0 TiB"), (3, "count", "3"),
    ],
)  # fmt: skip
def test_words_are_those_of_the_field(value: float, kind: str, words: str) -> None:
    assert units.text(value, kind) == words


def test_a_row_of_numbers_shares_one_word() -> None:
    assert units.texts([0.0009, 0.0041, 0.012], "s") == ["0.9 ms", "4.1 ms", "12 ms"]


@pytest.mark.parametrize(("words", "kind", "value"), [("1 MB", "bytes", 1e6), ("1 MiB", "bytes", 2**20)])
def test_decimal_and_binary_are_both_read(words: str, kind: str, value: float) -> None:
    assert units.parse(words, kind) == value


@pytest.mark.parametrize("words", ["fast", "3 apples", "", "ms"])
def test_what_is_no_quantity_is_refused_in_words(words: str) -> None:
    with pytest.raises(BadValue, match="is not a quantity. Give a number and one of"):
        units.parse(words, "s")
