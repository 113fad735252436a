"""The published figures against their own pages: every row whole, every value what the page prints, every
sum as its verdict says. This reader of printed text is a second one on purpose: no product code made the
values, and none checks them here.
"""

from __future__ import annotations

import math
import re
from collections import Counter

import pytest

from readahead import published
from readahead.chapters import CONTENTS
from readahead.published import Figure
from tools.published_checks import Check, checks

EVERY = [(topic, one) for topic in published.topics() for one in published.figures(topic)]
SUMS = checks()
WORTH = {"decimal": lambda n: 1000**n, "binary": lambda n: 1024**n, "mixed": lambda n: 1024 * 1000 ** (n - 1)}
"""What the n-th of K, M, G, T is worth."""

TIMES = {"ms": 1e-3, "s": 1, "second": 1, "seconds": 1, "cpu-sec": 1} | dict.fromkeys(
    ("cpu-microseconds", "cpu-micro-sec", "micro sec"), 1e-6
)
RATES = {
    "rows_per_s": ("rows per sec",),
    "reads_per_s": ("physical disk reads per sec", "iops"),
    "pages_per_s": ("readahead pages/sec", "page reads/sec"),
}
SMALL = {"zero": 0, "one": 1, "once": 1, "two": 2, "twice": 2, "three": 3}
NUMBER = re.compile(r"\d[\d.,]*(?:/\d+)?|\b(?:" + "|".join(SMALL) + r")\b", re.IGNORECASE)
BYTES = re.compile(r"([kmgt])? ?(?:b|bytes)?(/s|/sec|/second|/cpu-sec)?", re.IGNORECASE)


def numbers(printed: str) -> list[float]:
    """Every number of a printed text: 12,900 · 36.585.420 · 0,04 · 1/3 · two."""
    found = []
    for text in NUMBER.findall(printed):
        text = text.rstrip(".,").lower()
        if text in SMALL:
            found.append(float(SMALL[text]))
        elif "/" in text:
            above, below = text.split("/")
            found.append(int(above) / int(below))
        elif re.fullmatch(r"\d+,\d{1,2}", text):
            found.append(float(text.replace(",", ".")))
        else:
            text = text.replace(",", "")
            found.append(float(text.replace(".", "") if text.count(".") > 1 else text))
    return found


def unit_words(printed: str) -> str:
    """What stands after the last number, brackets opened, small words dropped."""
    tail = NUMBER.split(printed)[-1]
    left = re.sub(r"[\[\]()+]|\bof throughput\b|\bethernet\b|\bper read\b|/read\b", " ", tail.lower())
    return " ".join(left.split())


def readings(one: Figure) -> list[float]:
    """Every value that the printed text can stand for, in the unit that the row claims."""
    if match := re.fullmatch(r"(\d+) minutes (\d+) seconds", one.printed):
        return [60.0 * int(match[1]) + int(match[2])] if one.unit == "s" else []
    found, words = numbers(one.printed), unit_words(one.printed)
    if one.unit == "s":
        factors = [TIMES[words]] if words in TIMES else []
    elif one.unit in ("bytes", "bytes_per_s"):
        factors = byte_factors(one, words)
    elif one.unit == "hz":
        factors = {"ghz": [1e9], "k rpm": [1000 / 60]}.get(words, [])
    elif one.unit == "1":
        factors = [0.01] if "%" in one.printed else [1.0]
    elif one.unit in RATES:
        thousand = 1000 if words.startswith("k ") else 1
        factors = [thousand] if words.removeprefix("k ") in RATES[one.unit] else []
    else:
        scale = {"k": 1e3, "million": 1e6}.get(words.split(" ")[0] if words else "", 1.0)
        belongs = {"rows": r"row|^$", "pages": r"page|^$", "count": r"^(?!.*(sec|bytes|%))"}[one.unit]
        factors = [scale] if re.search(belongs, words) else []
    return [number * factor for number in found for factor in factors]


def byte_factors(one: Figure, words: str) -> list[float]:
    """What the unit of a printed size or rate stands for, by the meaning that the row gives to K, M and G."""
    special = {"million bytes/sec": ("bytes_per_s", 1e6), "gpbs": ("bytes_per_s", 1e9 / 8), "x": ("", 0)}
    if words in special:
        unit, factor = special[words]
        return [factor] if unit == one.unit else []
    if "char(" in one.printed:
        return [1.0]
    match = BYTES.fullmatch(words)
    per_second = bool(match and match[2]) or "ethernet" in one.printed or "throughput" in one.printed
    if match is None or per_second != (one.unit == "bytes_per_s"):
        return []
    power = " kmgt".index(match[1] or " ")
    return [WORTH[one.prefix](power)] if power else [1.0]


@pytest.mark.parametrize(("topic", "one"), EVERY, ids=lambda part: getattr(part, "name", part))
def test_a_figure_is_whole_and_is_what_the_page_prints(topic: str, one: Figure) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)*", one.name)
    assert all((one.printed, one.system, one.device, one.author, one.title))
    assert re.fullmatch(r"(\d{4}(-\d\d(-\d\d)?)?)?", one.date)
    assert (one.x_name == "") == (one.x_value is None)
    assert one.value >= 0
    read = readings(one)
    assert any(math.isclose(one.value, value, rel_tol=1e-9, abs_tol=1e-12) for value in read), (
        f"{topic}: {one.name} is {one.value!r} {one.unit}, but {one.printed!r} reads {read}"
    )


@pytest.mark.parametrize(("topic", "one"), EVERY, ids=lambda part: getattr(part, "name", part))
def test_k_m_and_g_have_a_meaning_just_where_they_stand(topic: str, one: Figure) -> None:
    text = f"{one.printed} ".lower().replace("[bytes]", "b")
    sized = one.unit in ("bytes", "bytes_per_s") and "gpbs" not in text and "million" not in text
    lettered = sized and re.search(r"\d\s*\[?[kmgt](b|->|/|\s)", text) is not None
    assert (one.prefix in WORTH) == lettered, f"{topic}: {one.name}"


def test_a_misprint_says_why_and_fails_a_sum_that_its_correction_passes() -> None:
    for topic, one in EVERY:
        if one.corrected is None:
            continue
        assert one.note and one.corrected != one.value
        name = re.compile(rf"(?<![\w.:]){re.escape(one.name)}(?![\w.])(!?)")
        seen = {
            (match[1], check.agrees)
            for check in SUMS
            if check.topic == topic
            for match in name.finditer(f"{check.left} {check.right}")
        }
        assert ("", False) in seen, f"No sum of checks.csv shows that {one.name} is misprinted"
        assert ("!", True) in seen, f"No sum of checks.csv shows that {one.corrected} is right for {one.name}"


@pytest.mark.parametrize("check", SUMS, ids=lambda check: f"{check.topic}: {check.left} {check.relation}")
def test_a_sum_says_what_its_verdict_says(check: Check) -> None:
    found = f"{check.left_value:g} {check.relation} {check.right_value:g} within {check.tolerance:.1%}"
    assert check.agrees == (check.verdict == "agrees"), (
        f"{check.left} {check.relation} {check.right}: {found}"
    )
    assert check.why or check.agrees, "A sum that disagrees says why"


def test_every_table_is_as_long_as_on_the_page() -> None:
    rows = Counter((topic, one.table) for topic, one in EVERY if one.table)
    due = {
        ("io_cpu", "chang_scan_cpu"): 9 * 3,
        ("lookups", "chang_lookup_cpu"): 11 * 4,
        ("lookups", "chang_lookup_rates"): 11 * 5,
        ("read_ahead", "shea_elapsed"): 2,
        ("read_ahead", "shea_counters"): 7,
        ("row_groups", "neugebauer_statistics"): 4 * 9,
        ("elimination", "mariadb_ssb_cold"): 2,
        ("elimination", "mariadb_ssb_warm"): 2,
        ("scale_out", "mariadb_ssb"): 3 * 4,
        ("index_pages", "randal_modes"): 4,
        ("loading", "randal_network"): 6,
    }
    assert {key: rows[key] for key in due} == due


def test_every_file_of_figures_belongs_to_a_chapter() -> None:
    assert set(published.topics()) <= {place.topic for place in CONTENTS}


def test_this_reader_is_no_yes_man() -> None:
    one = published.figure("row_groups", "elapsed_s.narrow_rowstore")
    changed = {field: getattr(one, field) for field in Figure.__slots__}
    for printed, right in (("31899 ms", True), ("31899 s", False), ("3189 ms", False), ("31899", False)):
        read = readings(Figure(**{**changed, "printed": printed}))
        assert (one.value in read) == right, printed
