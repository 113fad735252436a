"""Small charts: marks in order, words for those who cannot see them, nothing that breaks out of its text."""

import itertools
import math
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toybox import FIGURES, bench

from readahead.errors import BadValue
from readahead.experiments.figure import Axis, Line, Picture
from readahead.panels import paper, svg

values = st.floats(min_value=1e-9, max_value=1e15)


@given(st.lists(values, min_size=1, max_size=6), st.sampled_from(["s", "bytes", "times"]))
def test_marks_stand_in_the_order_of_their_values_inside_the_frame(numbers: list[float], kind: str) -> None:
    marks = [svg.Mark(name="m", source="measured", value=n, low=n / 2, high=n * 2) for n in numbers]
    root = ElementTree.fromstring(svg.strip(marks, kind, "Words."))
    places = [float(dot.attrib["cx"]) for dot in root.iter("{http://www.w3.org/2000/svg}circle")]
    assert all(210 <= place <= 720 for place in places)
    for one, first in zip(places, numbers, strict=True):
        for other, second in zip(places, numbers, strict=True):
            if first < second:
                assert one <= other


@given(values, st.floats(min_value=1.6, max_value=1e9))
def test_ticks_lie_inside_and_are_few_but_some(low: float, ratio: float) -> None:
    places = svg.ticks(low, low * ratio)
    assert len(places) <= 10 and all(low * 0.999 <= place <= low * ratio * 1.001 for place in places)
    if ratio >= 10:
        assert places


@given(st.floats(0, 1e6), st.floats(1e-3, 1e6))
def test_linear_ticks_are_even(low: float, width: float) -> None:
    places = svg.ticks(low, low + width, log=False)
    steps = [b - a for a, b in itertools.pairwise(places)]
    assert 2 <= len(places) <= 8 and all(math.isclose(step, steps[0], rel_tol=1e-3) for step in steps)


def test_a_chart_is_well_formed_and_speaks_its_sentence() -> None:
    picture = FIGURES["yield"](bench())
    root = ElementTree.fromstring(svg.chart(picture))
    assert root.attrib["aria-label"] == picture.sentence and root.attrib["role"] == "img"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))) == 1
    assert "half speed" in "".join(root.itertext())


@pytest.mark.parametrize("nasty", ["<script>x</script>", "a 'quote\" & more"])
def test_text_stays_text(nasty: str) -> None:
    marks = [svg.Mark(name=nasty, source="guess", value=1.0)]
    root = ElementTree.fromstring(svg.strip(marks, "s", nasty))
    assert root.attrib["aria-label"] == nasty
    for made in (
        paper.words(nasty),
        paper.table((nasty,), [(nasty,)], nasty),
        paper.box(nasty, nasty, "", "red"),
    ):
        assert "<script>" not in made


def test_every_colour_has_its_shape() -> None:
    assert set(svg.COLOURS) == set(svg.SHAPES)


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
    words = [
        node.text for node in ElementTree.fromstring(svg.chart(picture)).iter() if node.tag.endswith("text")
    ]
    assert {"hemp", "nylon & steel"} <= set(words)
    for nowhere in (0.4, 2.6):
        with pytest.raises(BadValue, match="Places run from 1 to 2"):
            drawn(nowhere)
