"""The first notebook: its law says what the model says, and what its questions give is what the file has."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from readahead.chapters import chapter
from readahead.chapters.start_here import laws
from readahead.chapters.start_here.chapter import DRIVE, EXPERIMENT, IN_PIECES, SMALL_GROUPS, STORE
from readahead.experiments.round import Study
from readahead.units import MB, KiB

MADE_UP = {"latency_s": 0.004, "bandwidth_bytes_per_s": 100e6}


@pytest.fixture(scope="module")
def study() -> Study:
    """Return the study at the size for which the questions give their numbers, with the files built."""
    found = Study(EXPERIMENT, repeats=1, size="tiny")
    for changes in (STORE, SMALL_GROUPS):
        EXPERIMENT.case(found.settings(**changes)).build()
    return found


def test_the_bar_by_hand_is_what_the_law_says() -> None:
    terms = laws.terms_s(reads=16, in_flight=8, size_bytes=16e6, **MADE_UP)
    assert terms == pytest.approx({"latency": 0.008, "transfer": 0.02, "seek": 0})
    query = {"open_s": 0.005, "reads": 16, "in_flight": 8, "size_bytes": 16e6, **MADE_UP}
    assert laws.query_s(cpu_s=0.02, **query) == pytest.approx(0.033)
    assert laws.query_s(cpu_s=0.05, **query) == pytest.approx(0.055)


@given(st.integers(1, 100), st.integers(1, 64))
def test_full_waves_are_reads_by_in_flight_and_bytes_by_bandwidth(waves: int, in_flight: int) -> None:
    reads, size_bytes = waves * in_flight, 1e6 * waves * in_flight
    terms = laws.terms_s(reads=reads, in_flight=in_flight, size_bytes=size_bytes, **MADE_UP)
    assert terms["latency"] == pytest.approx(reads / in_flight * MADE_UP["latency_s"])
    together = in_flight * MADE_UP["bandwidth_bytes_per_s"]
    assert terms["transfer"] == pytest.approx(size_bytes / together)


@given(st.integers(1, 10_000))
def test_a_lookup_reads_at_least_one_row_group_and_at_most_all(rows: int) -> None:
    assert laws.lookup_bytes(18e6, row_groups=18, rows=rows) * (1 + 1e-12) >= 1e6
    assert laws.lookup_bytes(18e6, row_groups=18, rows=rows) <= 18e6


@pytest.mark.parametrize(
    "changes", [STORE, DRIVE, SMALL_GROUPS, IN_PIECES], ids=["store", "drive", "small", "pieces"]
)
def test_the_law_comes_near_the_schedule(study: Study, changes: dict) -> None:
    modeled = EXPERIMENT.model(study.settings(**changes)).seconds
    assert EXPERIMENT.law(study.settings(**changes)).result == pytest.approx(modeled, rel=0.2)


@pytest.mark.parametrize(
    ("name", "changes"), [("drive", DRIVE), ("small_groups", SMALL_GROUPS), ("pieces", IN_PIECES)]
)
def test_what_a_question_gives_is_what_the_file_has(study: Study, name: str, changes: dict) -> None:
    question = " ".join(chapter("start_here").question("predict", name).split())
    law = EXPERIMENT.law(study.settings(**changes)).arguments
    if found := re.search(r"(\d+) reads", question.replace("one read", "")):
        assert int(found[1]) == law["reads"]
        assert "eight in flight" in question and law["in_flight"] == 8
    if found := re.search(r"([\d.]+) MB (?:in|at)", question):
        assert float(found[1]) == pytest.approx(law["size_bytes"] / MB, rel=0.01)
    if found := re.search(r"reads of ([\d.]+) MB", question):
        assert float(found[1]) == pytest.approx(law["size_bytes"] / law["reads"] / MB, rel=0.02)
    assert f"{law['bandwidth_bytes_per_s'] / MB:.0f} MB/s" in question
    opening = re.search(r"[Oo]pening (?:the file )?takes (?:some )?(\d+) ms", question)
    assert opening is not None
    case = EXPERIMENT.case(study.settings(**changes))
    footers_s = len(case.plan().footer) * (case.device.latency_s + case.device.seek_s)
    assert 0 < float(opening[1]) / 1000 - footers_s < 0.01  # the rest is the engine's own


def test_the_pieces_of_the_question_are_those_of_the_round() -> None:
    question = chapter("start_here").question("predict", "pieces")
    assert "262,144" in question and IN_PIECES["fragment_bytes"] == 256 * KiB
    assert "3.51 ms" in question


def test_ten_rows_lie_in_as_many_row_groups_as_the_question_says(study: Study) -> None:
    question = chapter("start_here").question("predict", "ten_rows")
    law = chapter("start_here").rounds["ten_rows"].law
    assert law is not None
    told = law(study).arguments
    assert f"{told['row_groups']} row groups" in question
    assert f"{told['size_bytes'] / 2**20:.1f} MiB" in question
