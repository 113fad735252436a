"""The patient ear: every spelling of one amount is the same amount."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead import units
from readahead.errors import BadValue
from readahead.questions.answers import read_amount


@pytest.mark.parametrize(
    ("words", "kind", "value"),
    [
        ("8 ms", "s", 0.008),
        ("8ms", "s", 0.008),
        ("8 milliseconds", "s", 0.008),
        ("0.008", "s", 0.008),
        ("8000 us", "s", 0.008),
        ("8,000 µs", "s", 0.008),
        ("8 000 μs", "s", 0.008),
        ("~8 MS", "s", 0.008),
        ("about 2 minutes", "s", 120),
        ("1e-3 s", "s", 0.001),
        ("0,5 s", "s", 0.5),
        ("1 MB", "bytes", 1e6),
        ("1,000,000 bytes", "bytes", 1e6),
        ("1e6 B", "bytes", 1e6),
        ("1 mb", "bytes", 1e6),
        ("64 KiB", "bytes", 65536),
        ("64K", "bytes", 65536),
        ("2^20 bytes", "bytes", 2**20),
        ("1_000 B", "bytes", 1000),
        ("90 MB/s", "bytes_per_s", 9e7),
        ("90 MBps", "bytes_per_s", 9e7),
        ("90 MB per second", "bytes_per_s", 9e7),
        ("90 mb/s", "bytes_per_s", 9e7),
        ("8 Mbit/s", "bytes_per_s", 1e6),
        ("3x", "times", 3),
        ("3×", "times", 3),
        ("3 times", "times", 3),
        ("300 %", "times", 3),
        ("3x slower", "times", 3),
        ("33 %", "1", 0.33),
        ("33", "1", 0.33),
        ("0.33", "1", 0.33),
        ("1/3", "1", 1 / 3),
        ("0,04 %", "1", 0.0004),
        ("35 row groups", "count", 35),
        ("35", "count", 35),
        ("3k rows", "rows", 3000),
        ("1 million rows", "rows", 1e6),
        ("1,048,576", "rows", 1048576),
        ("250 rows/s", "rows_per_s", 250),
        ("2.5 M rows/s", "rows_per_s", 2.5e6),
    ],
)
def test_each_spelling_is_read(words: str, kind: str, value: float) -> None:
    assert read_amount(words, kind, "s" if words == "0.008" else "") == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("words", "kind", "asked_for"),
    [
        ("", "s", "no number"),
        ("soon", "s", "no number"),
        ("8", "s", "no unit"),
        ("8 MB", "s", "'MB' is no unit"),
        ("90 Mb/s", "bytes_per_s", "bits or bytes"),
        ("90 MB", "bytes_per_s", "is no unit"),
        ("35 ms", "count", "else"),
        (None, "s", "not an amount"),
        (True, "s", "not an amount"),
        (math.nan, "s", "finite"),
        ("1/0", "1", "0 below"),
        ("9^9999", "count", "smaller"),
        ("1e400 B", "bytes", "proportion"),
        ("1e-320 B", "bytes", "proportion"),
        (10**400, "count", "proportion"),
        ("1 min", "count", "else"),
        ("64 KB", "rows", "else"),
    ],
)
def test_what_is_not_understood_is_asked_back(words: object, kind: str, asked_for: str) -> None:
    with pytest.raises(BadValue, match=asked_for):
        read_amount(words, kind)


@given(
    st.floats(min_value=1e-9, max_value=1e15, allow_nan=False),
    st.sampled_from(["s", "bytes", "bytes_per_s", "rows_per_s", "rows", "count", "times"]),
)
def test_whatever_the_house_writes_the_ear_understands(value: float, kind: str) -> None:
    assert read_amount(units.text(value, kind, digits=17), kind) == pytest.approx(value, rel=1e-9)
