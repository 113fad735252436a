"""Static charts: marks in order, words for those who cannot see them, nothing that breaks out of its text."""

from __future__ import annotations

import itertools
import math
import re
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toybox import FIGURES, study

from readahead import units
from readahead.errors import BadValue
from readahead.experiments.figure import Axis, Line, Picture, Traces
from readahead.experiments.residual import Residual, Tally
from readahead.measure.sample import Value, exactly
from readahead.panels import markup
from readahead.panels.chart import (
    CYCLE,
    MARKS,
    MOST_DASHES,
    MOST_STEPS,
    WIDTH,
    apart,
    chart,
    drawing_html,
    strip,
    tick_texts,
    ticks,
)
from readahead.panels.markup import COLOURS
from readahead.published import Figure
from readahead.storage.trace import Read

SVG, LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
values = st.floats(min_value=1e-9, max_value=1e15)


def uses(root: ElementTree.Element, source: str) -> list[tuple[float, float]]:
    """Return the places of all marks in the colour of a source."""
    ink = COLOURS[source].lower()
    found = [use for use in root.iter(f"{SVG}use") if ink in use.attrib["style"]]
    return [(float(use.attrib["x"]), float(use.attrib["y"])) for use in found]


def strokes(root: ElementTree.Element, colour: str) -> list[str]:
    """Return the paths that are drawn in a colour."""
    ink = f"stroke: {colour.lower()}"
    return [path.attrib["d"] for path in root.iter(f"{SVG}path") if ink in path.attrib.get("style", "")]


def texts(root: ElementTree.Element) -> list[str]:
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def test_no_share_is_drawn_beyond_the_whole_unless_one_is() -> None:
    def ticks_of(most: float) -> list[str]:
        marks = [("Model", "modeled", exactly(most)), ("Print", "published", exactly(0.9))]
        return texts(ElementTree.fromstring(strip(marks, "1", "Words.")))

    places = [text for text in ticks_of(1.0) if ":" not in text]
    assert max(float(text.removesuffix(" %")) for text in places) == 100
    assert "150 %" in ticks_of(1.3)


@settings(max_examples=15)
@given(st.lists(values, min_size=1, max_size=6), st.sampled_from(["s", "bytes", "times"]))
def test_marks_stand_in_the_order_of_their_values_inside_the_frame(numbers: list[float], kind: str) -> None:
    marks = [("m", "measured", Value(median=n, low=n / 2, high=n * 2)) for n in numbers]
    root = ElementTree.fromstring(strip(marks, kind, "Words."))
    places = [x for x, _ in sorted(uses(root, "measured"), key=lambda place: place[1])]
    assert len(places) == len(numbers) and all(0 <= place <= WIDTH for place in places)
    for one, first in zip(places, numbers, strict=True):
        for other, second in zip(places, numbers, strict=True):
            if first < second:
                assert one <= other
    assert [f"m: {units.text(n, kind)}" for n in numbers] == [t for t in texts(root) if t.startswith("m: ")]


@given(values, st.floats(min_value=1.6, max_value=1e9), st.sampled_from(["", "bytes", "count"]))
def test_ticks_lie_inside_and_are_few_but_some(low: float, ratio: float, kind: str) -> None:
    places = ticks(low, low * ratio, kind=kind)
    assert len(places) <= 12 and all(low * 0.999 <= place <= low * ratio * 1.001 for place in places)
    if ratio >= 10:
        assert len(places) > 1


@given(st.floats(0, 1e6), st.floats(1e-3, 1e6))
def test_linear_ticks_are_even(low: float, width: float) -> None:
    places = ticks(low, low + width, log=False)
    steps = [b - a for a, b in itertools.pairwise(places)]
    assert 2 <= len(places) <= 8 and all(math.isclose(step, steps[0], rel_tol=1e-3) for step in steps)


def test_words_along_a_log_axis_do_not_touch() -> None:
    places = [175.0, 200.0, 225.0, 250.0, 275.0, 300.0, 325.0, 350.0]
    words = [f"{place:.0f} rows/s" for place in places]
    kept = apart(places, words, (160.0, 360.0))
    assert kept[0] == words[0] and "" in kept and len([word for word in kept if word]) >= 4
    assert apart([1.0, 10.0, 100.0], ["1", "10", "100"], (1.0, 100.0)) == ["1", "10", "100"]


def test_ticks_of_bytes_are_powers_of_two_and_even_ones_share_a_unit() -> None:
    assert all(math.log2(place).is_integer() for place in ticks(5_000, 5e7, kind="bytes"))
    assert tick_texts([0.0, 0.5, 1.0, 1.5], "s", log=False) == ["0", "0.5 s", "1 s", "1.5 s"]
    assert tick_texts([0.5, 1.0], "s", log=True) == ["500 ms", "1 s"]


def test_a_picture_is_well_formed_and_speaks_its_sentence() -> None:
    picture = FIGURES["yield"](study())
    drawn = chart(picture)
    root = ElementTree.fromstring(drawn)
    assert root.attrib["aria-label"] == picture.sentence and root.attrib["role"] == "img"
    assert root.attrib["width"] == "100%" and root.attrib["viewBox"].startswith(f"0 0 {WIDTH} ")
    assert root.findtext(f"{SVG}title") == picture.sentence
    assert len(strokes(root, COLOURS["modeled"])) == 2  # the line, and its piece among the names
    assert {"half speed", *(line.name for line in picture.lines)} <= set(texts(root))
    assert "currentColor" in drawn and "#010203" not in drawn and "<style" not in drawn
    assert drawn == chart(picture) and len(drawn) < 20_000


def test_charts_drawn_in_many_threads_are_the_same_as_alone() -> None:
    picture = FIGURES["yield"](study())
    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(lambda _: chart(picture), range(8))) == {chart(picture)}


@pytest.mark.parametrize("nasty", ["<script>x</script>", "a 'quote\" & more", "$x$ and $y^2$", "王小明"])
def test_text_stays_text(nasty: str, recwarn: pytest.WarningsRecorder) -> None:
    marks = [(nasty, "guess", exactly(1.0))]
    root = ElementTree.fromstring(strip(marks, "s", nasty))
    assert root.attrib["aria-label"] == nasty and f"{nasty}: 1 s" in texts(root) and not recwarn.list
    for made in (
        markup.paragraphs(nasty),
        markup.table((nasty,), [(nasty,)]),
        markup.box(nasty, nasty, "", "red"),
    ):
        assert "<script>" not in made


def test_every_source_has_a_mark_of_its_own() -> None:
    assert set(COLOURS) == set(MARKS)
    marks = [(source, source, exactly(1.0)) for source in ("guess", "modeled", "measured", "published")]
    drawn = ElementTree.fromstring(strip(marks, "s", "Four."))
    assert len({use.attrib[LINK] for use in drawn.iter(f"{SVG}use") if "#" in use.attrib["style"]}) == 4


def test_two_series_of_one_source_have_different_marks() -> None:
    series = [Line(name=n, points=[(1, 1), (2, 2)], source="published", joined=False) for n in ("a", "b")]
    axis = Axis(label="size", kind="count")
    drawn = chart(Picture(title="Two", sentence="Two.", x=axis, y=axis, lines=tuple(series), marks={}))
    root = ElementTree.fromstring(drawn)
    ink = COLOURS["published"].lower()
    assert len({use.attrib[LINK] for use in root.iter(f"{SVG}use") if ink in use.attrib["style"]}) == 2


def test_places_with_names_carry_them_on_the_axis_and_in_the_table() -> None:
    def drawn(place: float) -> Picture:
        return Picture(
            title="Ropes",
            sentence="Two ropes.",
            x=Axis(label="rope", kind="count", log=False, names=("hemp", "nylon & steel")),
            y=Axis(label="length", kind="count"),
            lines=(Line(name="ours", points=[(1.2, 3.0), (place, 4.0)]),),
            marks={},
        )

    picture = drawn(1.8)
    assert [row[1] for row in picture.rows] == ["hemp", "nylon & steel"]
    assert {"hemp", "nylon & steel"} <= set(texts(ElementTree.fromstring(chart(picture))))
    for nowhere in (0.4, 2.6):
        with pytest.raises(BadValue, match="Places run from 1 to 2"):
            drawn(nowhere)


def reads(count: int, each_s: float, apart_s: float) -> tuple[Read, ...]:
    """Return reads of 1,000 bytes, one row, each begun `apart_s` after the one before."""
    return tuple(
        Read(
            offset=1_000 * n, size_bytes=1_000, thread=n % 3, submitted_s=n * apart_s,
            due_s=n * apart_s + each_s, done_s=n * apart_s + each_s,
        )
        for n in range(count)
    )  # fmt: skip


def dashes(root: ElementTree.Element) -> list[tuple[float, float]]:
    """Return the ends of every dash."""
    found = [path for colour in CYCLE for path in strokes(root, colour)]
    return [
        (float(a), float(b))
        for path in found
        for a, b in re.findall(r"M ([\d.]+) [\d.]+ L ([\d.]+) [\d.]+", path)
    ]


TWO = Traces(
    title="Two runs",
    sentence="One after the other, and side by side.",
    runs=(("alone", reads(10, 0.009, 0.01)), ("together", reads(10, 0.0095, 0.001))),
)


def test_every_read_is_a_dash_and_both_runs_have_one_clock() -> None:
    root = ElementTree.fromstring(chart(TWO))
    assert len(dashes(root)) == 20 and {"alone: 10 reads", "together: 10 reads"} <= set(texts(root))
    first = dashes(ElementTree.fromstring(chart(Traces(title="One", sentence="One.", runs=TWO.runs[:1]))))
    assert max(dashes(root))[1] == pytest.approx(max(end for _, end in first), abs=8)
    late = [end for start, end in dashes(root) if start > 0.5 * WIDTH]
    assert len(late) == 5  # the second run is over in a fifth of the time


def test_the_table_says_what_the_traces_show() -> None:
    alone, together = TWO.rows
    assert alone[:2] == ("alone", "10") and together[:2] == ("together", "10")
    assert TWO.head.index("most in flight") == 4
    assert (alone[4], together[4]) == ("1", "10")
    assert TWO.sentence in drawing_html(TWO) and "together" in drawing_html(TWO)


def test_a_long_trace_is_thinned_in_the_chart_and_whole_in_the_table() -> None:
    many = Traces(title="Many", sentence="Many reads.", runs=(("many", reads(5_000, 0.01, 0.001)),))
    drawn = chart(many)
    assert MOST_DASHES / 2 < len(dashes(ElementTree.fromstring(drawn))) <= MOST_DASHES
    assert drawn.count("L") < 2 * MOST_DASHES + 4 * MOST_STEPS and len(drawn) < 60_000
    assert many.rows[0][1] == "5,000" and " in flight" in drawn


def test_a_run_that_found_everything_in_memory_is_an_empty_strip() -> None:
    some = Traces(title="Two", sentence="The second reads nothing.", runs=(*TWO.runs[:1], ("again", ())))
    root = ElementTree.fromstring(chart(some))
    assert len(dashes(root)) == 10 and "again: 0 reads" in texts(root)
    assert some.rows[1] == ("again", "0", "0 B", "", "0", "0", "") and len(some.rows[1]) == len(some.head)


def test_runs_without_a_trace_are_refused_with_what_to_do() -> None:
    with pytest.raises(BadValue, match="emulated device"):
        Traces(title="None", sentence="Nothing.", runs=(("here", ()),))


def told(name: str, model: float, printed: float, role: str = "foretold", **more: str | float) -> Residual:
    """A comparison with a figure that nobody printed."""
    facts = dict.fromkeys(("system", "device", "date", "author", "title"), "")
    figure = Figure(name=name, value=printed, unit="s", printed=str(printed), **facts)
    return Residual(figure, model, role, **more)  # type: ignore[arg-type]


def test_residuals_have_a_dot_and_a_percentage_for_every_figure_but_for_arithmetic() -> None:
    rows = [
        told("half", 0.5, 1.0),
        told("exact", 3.0, 3.0, "fitted"),
        told("near", 1.05, 1.0, "assumed", why="that it is near"),
    ]
    sums = (told("sum", 2.0, 1.0).figure,)
    proof = Tally(residuals=tuple(rows), identities=sums, fitted=("one", "two"))
    root = ElementTree.fromstring(chart(proof))
    by_row = sorted(uses(root, "modeled"), key=lambda place: place[1])
    assert len(by_row) == 3 and by_row[0][0] < by_row[1][0] < by_row[2][0]
    assert {"−50.0 %", "+0.0 %", "+5.0 %", "half", "exact (fitted)", "near (assumed)"} <= set(texts(root))
    assert "One printed figure" in proof.sentence and "50.0 %" in proof.sentence and "half" in proof.sentence
    assert "1 computed from" in proof.sentence and "sum" not in texts(root)
    assert proof.rows[0] == ("half", "1 s", "500 ms", "0.500", "foretold", "")
    with pytest.raises(BadValue, match="above 0"):
        told("none", 0.0, 1.0)


def test_a_formula_in_a_sentence_is_drawn_and_two_prices_are_not() -> None:
    told = markup.paragraphs("It is $\\frac{f}{s + f}$ of **all**, and $m$ too.")
    assert (
        told.count("<math") == 2 and "<mfrac>" in told and "<strong>all</strong>" in told and "$" not in told
    )
    for plain in ("$0.003 over $0.0000458.", "$300 / 100,000 = $0.003", "it costs $5", "$5$4"):
        assert "<math" not in markup.paragraphs(plain) and plain in markup.paragraphs(plain)
    assert "<script" not in markup.paragraphs("$<script>x</script>$")


def test_numbers_against_print_are_written_out() -> None:
    assert Tally(residuals=(told("pages", 21_334.0, 20_000.0),)).rows[0][1:3] == (
        "20,000 s",
        "21,300 s",
    )
