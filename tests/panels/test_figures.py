"""A trace on paper: every read is there, on one clock, and what cannot be drawn is refused."""

from __future__ import annotations

import re

import pytest

from readahead.errors import BadValue
from readahead.experiments.figure import Traces
from readahead.experiments.residuals import against_print
from readahead.panels import proof, seismograph
from readahead.panels.picture import painted
from readahead.storage.trace import Read


def reads(count: int, each_s: float, apart_s: float) -> tuple[Read, ...]:
    """Return reads of 1,000 bytes, one row, each begun `apart_s` after the one before."""
    return tuple(
        Read(
            offset=1_000 * n, size_bytes=1_000, thread=n % 3, submitted_s=n * apart_s,
            due_s=n * apart_s + each_s, done_s=n * apart_s + each_s,
        )
        for n in range(count)
    )  # fmt: skip


TWO = Traces(
    title="Two runs",
    sentence="One after the other, and side by side.",
    runs=(("alone", reads(10, 0.009, 0.01)), ("together", reads(10, 0.0095, 0.001))),
)


def test_every_read_is_a_dash_and_both_runs_have_one_clock() -> None:
    drawn = seismograph.chart(TWO)
    ends = [
        [float(end) for end in re.findall(r"M[\d.]+ [\d.]+H([\d.]+)(?=[M'])", run)]
        for run in drawn.split("together:")
    ]
    assert [len(run) for run in ends] == [10, 10]
    assert max(ends[1]) < 0.5 * max(ends[0])  # the second run is over in a fifth of the time


def test_the_table_says_what_the_picture_shows() -> None:
    alone, together = TWO.rows
    assert alone[:2] == ("alone", "10") and together[:2] == ("together", "10")
    assert TWO.head.index("most in flight") == 4
    assert (alone[4], together[4]) == ("1", "10")
    assert TWO.sentence in painted(TWO) and "together" in painted(TWO, is_open=True)


def test_a_long_trace_is_thinned_in_the_picture_and_whole_in_the_table() -> None:
    many = Traces(title="Many", sentence="Many reads.", runs=(("many", reads(5_000, 0.01, 0.001)),))
    assert seismograph.chart(many).count("H") < 3 * seismograph.MOST
    assert many.rows[0][1] == "5,000"


def test_a_run_without_a_trace_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadValue, match="emulated device"):
        Traces(title="None", sentence="Nothing.", runs=(("here", ()),))


def test_the_proof_has_a_dot_and_a_percentage_for_every_figure() -> None:
    rows = [("half", 0.5, 1.0), ("exact", 3.0, 3.0), ("near", 1.05, 1.0)]
    told = against_print(rows, fitted=1)
    drawn = proof.chart(told)
    assert drawn.count("<circle") == 3
    assert "-50.0 %" in drawn and "+0.0 %" in drawn and "+5.0 %" in drawn
    assert "2 degrees of freedom" in told.sentence and "half" in told.sentence
    assert told.rows[0] == ("half", "1", "0.5", "0.500")
    with pytest.raises(BadValue, match="above 0"):
        against_print([("none", 0.0, 1.0)], fitted=0)
