"""One question, two witnesses, and every measurement only once."""

import math
import threading
from types import SimpleNamespace

import pytest
from toybox import EXPERIMENT, ROUNDS, SLOWER_HERE, study

from readahead.errors import BadValue, Cancelled
from readahead.experiments.experiment import DEVICE_OFF, OWN_OFF, Settings
from readahead.experiments.figure import Axis, Line, Picture, captioned
from readahead.experiments.round import Round, Study, along
from readahead.models.estimate import Estimate
from readahead.running import Event, listening


def test_both_sources_answer_the_same_question() -> None:
    here = study(wobble=0.0)
    modeled, measured = ROUNDS["fetch"].modeled_value(here), ROUNDS["fetch"].measured_value(here)
    assert modeled and measured
    assert measured.median == pytest.approx(SLOWER_HERE * modeled.median)
    assert (modeled.repeats, measured.repeats) == (0, 5)


def test_a_ratio_cancels_what_both_sides_share() -> None:
    here = study(wobble=0.0)
    modeled, measured = (
        ROUNDS["longer_rope"].modeled_value(here),
        ROUNDS["longer_rope"].measured_value(here),
    )
    assert modeled and measured and modeled.median == pytest.approx(measured.median)


def test_throughput_is_work_over_time_with_its_interval_turned_over() -> None:
    here = study(wobble=0.3)
    seconds, rate = here.measured.seconds(), here.measured.throughput()
    assert (rate.low, rate.median, rate.high) == pytest.approx(
        (1e6 / seconds.high, 1e6 / seconds.median, 1e6 / seconds.low)
    )


def test_a_time_of_a_model_calibrated_in_a_crowd_is_never_below_nothing() -> None:
    class Crowded(type(EXPERIMENT)):  # type: ignore[misc]
        def model(self, settings: Settings) -> Estimate:
            return Estimate(terms_s={"cpu": 1.0, "device": 0.5})

        def calibrations(self, settings: Settings) -> list[SimpleNamespace]:
            return [SimpleNamespace(off=1.25)]  # its control run took more than twice the usual

    crowded = Crowded(topic="well", title="Well", knobs=EXPERIMENT.knobs)
    told = Study(crowded, repeats=1).model.seconds()
    off, waits_s = math.hypot(1.25, OWN_OFF), 0.5 * DEVICE_OFF
    assert (told.low, told.median, told.high) == pytest.approx(
        (0.5 - waits_s + 1 / (1 + off), 1.5, 0.5 + waits_s + 1 + off)
    )
    assert (told / told).low > 0


def test_a_round_without_a_measurement_has_none() -> None:
    assert ROUNDS["half"].measured_value(study()) is None
    assert ROUNDS["half"].modeled_value(study(rope_s=1e-2)).median == 1e6  # type: ignore[union-attr]


def test_the_same_settings_are_measured_once_until_forgotten() -> None:
    here, news = study(), list[Event]()
    with listening(news.append):
        first = here.sample(rope_s=1e-3)
        assert len(news) == 5 and here.sample() is first
        here.forget()
        assert here.sample() is not first and len(news) == 10


def test_news_and_stop_belong_to_the_thread_that_asked() -> None:
    here, stop, ends = study(pause_s=0.01), threading.Event(), list[str]()
    stop.set()

    def asks() -> None:
        try:
            with listening(stop=stop):
                here.sample()
        except Cancelled:
            ends.append("cancelled")

    thread = threading.Thread(target=asks)
    thread.start()
    thread.join()
    assert ends == ["cancelled"] and len(here.sample().seconds) == 5


def test_an_unknown_knob_or_value_is_refused_at_once() -> None:
    with pytest.raises(BadValue, match="'rope' is not a knob of 'toy'"):
        study(rope=1)
    with pytest.raises(BadValue, match="Rope goes from"):
        study(rope_s=99.0)


def test_a_round_needs_a_source() -> None:
    with pytest.raises(BadValue, match="no source"):
        Round()


def test_a_picture_without_words_or_with_impossible_points_is_refused() -> None:
    axis = Axis(label="x", kind="s")
    for sentence, points in (("It rises.", []), ("It rises.", [(0.0, 1.0)])):
        with pytest.raises(BadValue):
            Picture(
                title="t", sentence=sentence, x=axis, y=axis, lines=(Line(name="l", points=points),), marks={}
            )


def test_the_table_of_a_picture_holds_a_line_from_end_to_end_and_every_mark() -> None:
    axis = Axis(label="x", kind="count")
    model = Line(name="model", points=[(float(x), float(x)) for x in range(1, 81)])
    seen = Line(name="seen", points=[(27.0, 5.0)], source="measured", joined=False)
    rows = Picture(x=axis, y=axis, lines=(model, seen)).rows
    places = [int(x) for name, x, _ in rows if name == "model"]
    assert places[0] == 1 and places[-1] == 80 and 27 in places and len(places) <= 20
    assert rows[-1] == ("seen", "27", "5")


def test_the_words_of_a_figure_are_put_in_with_its_numbers() -> None:
    axis = Axis(label="x", kind="s")
    drawn = Picture(x=axis, y=axis, lines=(Line(name="l", points=[(1.0, 1.0)]),), values={"rows": 25_000})
    words = {"title": "A figure", "sentence": "It has {rows:,} rows."}
    assert captioned(drawn, words).sentence == "It has 25,000 rows."
    with pytest.raises(BadValue, match="asks for 'bytes', and the figure has rows"):
        captioned(drawn, {**words, "sentence": "It has {bytes}."})
    with pytest.raises(BadValue, match="A figure needs its sentence"):
        captioned(drawn, {})


def test_a_line_along_a_knob_is_the_model_and_its_points_are_measured() -> None:
    here = study(size="tiny")
    model, seen = along(here, "rope_s", seen=(1e-4, 1e-2), label="bucket")
    assert (model.name, seen.name, seen.source) == ("model, bucket", "DuckDB, bucket", "measured")
    assert len(model.points) == 66 and [x for x, _ in seen.points] == [1e-4, 1e-2]
    assert seen.points[0][1] == here.measured.throughput(rope_s=1e-4).median
    times = along(here, "rope_s", seconds=True)[0].points
    assert times[0][1] == pytest.approx(here.model.seconds(rope_s=times[0][0]).median)
