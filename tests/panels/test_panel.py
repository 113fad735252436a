"""The panel in use, as the browser sees it: messages in, state out, from two threads at once."""

import dataclasses
import html
import random
import re
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from readahead.chapters import CONTENTS
from readahead.errors import BadValue
from readahead.experiments.experiment import Experiment
from readahead.experiments.run import Run
from readahead.models.estimate import Estimate
from readahead.panels.chart import CYCLE
from readahead.panels.panel import Panel, places
from readahead.panels.state import (
    MOST_READS,
    TERMS,
    PanelState,
    address,
    numbers_html,
    reads,
    sentence,
    settings_at,
    static_html,
    term_key,
)
from readahead.storage.trace import Read
from tools.draws import turned

from .toy import FERRY

EVERY = [import_module(f"readahead.chapters.{place.topic}.chapter").EXPERIMENT for place in CONTENTS]


@pytest.fixture
def panel() -> Iterator[Panel]:
    made = Panel(FERRY, measure=False)
    yield made
    made.close()


def test_what_cannot_be_drawn_changes_nothing(panel: Panel) -> None:
    turn(panel, "device", choice="bridge")  # which the cars do not matter to
    before = panel.state
    turn(panel, "cars", choice="none")
    assert "did not work" in panel.widget.error
    assert panel.state is before and panel.settings == before.settings


def wait(panel: Panel, count: int) -> None:
    """Wait until so many points are measured."""
    end = time.monotonic() + 60
    while len(panel.runs) < count and time.monotonic() < end:
        time.sleep(0.01)
    assert len(panel.runs) >= count, panel.widget.error


def turn(panel: Panel, name: str, **how: Any) -> None:
    """Send what the browser sends when a knob is turned: its `stop`, its `text` or its `choice`."""
    panel.widget._handle_custom_msg({"turn": name, **how, "id": f"{name} {how}"}, [])
    assert panel.widget.answered == f"{name} {how}"


def floats(sent: bytes) -> np.ndarray:
    return np.frombuffer(sent, "<f4")


def marks(panel: Panel, kind: str) -> list[dict[str, Any]]:
    return [mark for mark in panel.widget.marks if mark["kind"] == kind]


@pytest.fixture
def messages(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The states that are sent to the browser from now on, one a message."""
    sent: list[dict[str, Any]] = []
    send = panel.widget.send_state

    def sending(key: Any = None) -> None:
        sent.append(panel.widget.get_state(key=key))
        send(key)

    monkeypatch.setattr(type(panel.widget), "send_state", lambda _, key=None: sending(key))
    return sent


def test_a_turned_slider_moves_ring_sentence_and_readout(panel: Panel) -> None:
    before = panel.widget.now["sentence"]
    turn(panel, "piece_bytes", stop=0)
    assert panel.settings["piece_bytes"] == 16_384 and panel.widget.knobs["piece_bytes"]["text"] == "16 KiB"
    assert panel.widget.axes["x"]["label"] == "Piece" and panel.widget.now["x"] == 16_384
    assert panel.widget.now["y"] == panel.state.y
    assert panel.widget.now["sentence"] != before and "Piece 16 KiB" in panel.widget.now["sentence"]


def test_the_line_stands_still_while_its_own_knob_moves(panel: Panel) -> None:
    """The present value, which lies on the line, is not part of what is sent of it."""
    seen, ends = [], []
    for stop in (10, 60):
        turn(panel, "latency_s", stop=stop)
        assert panel.state.y == panel.state.ys[list(panel.state.xs).index(panel.settings["latency_s"])]
        seen.append(panel.widget.line)
        ends.append(panel.widget.axes["y"])
    assert seen[0] == seen[1] and ends[0] == ends[1]
    assert np.allclose(floats(seen[0]["x"]), panel.state.xs[panel.state.xs != panel.state.x], rtol=1e-6)
    assert np.allclose(floats(seen[0]["y"]), panel.state.ys[panel.state.xs != panel.state.x], rtol=1e-6)
    assert len(seen[0]["texts"]) == len(floats(seen[0]["x"])) >= 63


def test_a_curve_whose_own_knob_is_turned_is_not_modeled_again_unless_the_model_is_another(
    panel: Panel, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn(panel, "latency_s", stop=10)
    asked, slower, model = [0], [1.0], type(FERRY).model

    def counted(experiment: Any, settings: Any) -> Estimate:
        asked[0] += 1
        terms_s = model(experiment, settings).terms_s
        return Estimate(terms_s={name: slower[0] * term_s for name, term_s in terms_s.items()})

    monkeypatch.setattr(type(FERRY), "model", counted)
    before = panel.state
    turn(panel, "latency_s", stop=60)
    assert asked[0] < 10
    at = dict(zip(panel.state.xs, panel.state.ys, strict=True))
    for x, y in zip(before.xs, before.ys, strict=True):
        assert x == before.x or at[x] == y
    slower[0] = 2.0  # as after a calibration
    turn(panel, "latency_s", stop=61)
    assert asked[0] > 60
    at = dict(zip(panel.state.xs, panel.state.ys, strict=True))
    assert at[before.xs[0]] == pytest.approx(before.ys[0] / 2)
    asked[0] = 0
    turn(panel, "piece_bytes", stop=5)
    turn(panel, "latency_s", stop=61)
    assert asked[0] > 120


def test_a_step_is_answered_by_one_message_with_only_what_changed(
    panel: Panel, messages: list[dict[str, Any]]
) -> None:
    turn(panel, "latency_s", stop=60)
    messages.clear()
    turn(panel, "latency_s", stop=61)
    assert [set(state) for state in messages] == [{"answered", "axes", "knobs", "now"}]
    turn(panel, "latency_s", text="soon")
    assert [set(state) for state in messages[1:]] == [{"answered", "error"}]


def test_a_typed_value_is_taken_exactly(panel: Panel) -> None:
    turn(panel, "latency_s", text="4.1 ms")
    assert panel.settings["latency_s"] == 0.0041
    assert panel.state.x == 0.0041


@pytest.mark.parametrize("typed", ["soon", "3 KiB", "9 s"])
def test_a_typed_value_that_is_none_is_told_and_changes_nothing(panel: Panel, typed: str) -> None:
    before = dict(panel.settings)
    turn(panel, "latency_s", text=typed)
    assert "That did not work" in panel.widget.error and panel.settings == before


@pytest.mark.parametrize(
    "said", [{"turn": "speed", "stop": 1}, {"turn": "cars", "stop": 999}, {"turn": "cars"}]
)
def test_a_message_that_makes_no_sense_is_told_and_changes_nothing(
    panel: Panel, said: dict[str, Any]
) -> None:
    before = dict(panel.settings)
    panel.widget._handle_custom_msg(said, [])
    assert "That did not work" in panel.widget.error and panel.settings == before


def test_a_menu_sets_other_knobs(panel: Panel) -> None:
    turn(panel, "device", choice="bridge")
    assert panel.settings["latency_s"] == 1e-5
    assert panel.widget.knobs["latency_s"] == {"stop": 0, "text": "10 µs", "why": "", "off": False}


def test_a_knob_without_effect_is_off_and_says_why(panel: Panel) -> None:
    assert panel.widget.knobs["cars"] == {"stop": 7, "text": "8", "why": "", "off": False}
    turn(panel, "device", choice="bridge")
    assert panel.widget.knobs["cars"]["off"] and "any number" in panel.widget.knobs["cars"]["why"]
    turn(panel, "device", choice="ferry")
    assert panel.widget.knobs["cars"] == {"stop": 7, "text": "8", "why": "", "off": False}


def test_a_slider_at_rest_is_measured_and_drawn_with_its_reads(panel: Panel) -> None:
    panel.heard({"auto": True})
    turn(panel, "piece_bytes", stop=4)
    wait(panel, 1)
    panel.background.join(30)
    one, (dot,) = panel.runs[0], marks(panel, "measured")
    assert one.settings["piece_bytes"] == 262_144 and len(one.sample.reads) == 4
    assert dot["x"] == 262_144 and dot["y"] == one.throughput.median
    assert dot["low"] <= dot["y"] <= dot["high"]
    drawn = panel.widget.reads
    assert drawn["count"] == 4 and drawn["deepest"] == 1
    asked, done, place, _ = floats(drawn["dashes"]).reshape(4, 4)
    assert np.all(done > asked) and sorted(place) == [131_072, 393_216, 655_360, 917_504]
    assert "4 reads, 1 MiB" in panel.widget.now["reads_heading"]
    assert "DuckDB measured" in panel.widget.now["sentence"]
    turn(panel, "latency_s", text="3 ms")
    assert "DuckDB read before" in panel.widget.now["reads_heading"] and panel.widget.reads is drawn


def test_points_at_other_settings_fade_and_come_back(panel: Panel) -> None:
    panel.measure()
    wait(panel, 1)
    turn(panel, "piece_bytes", stop=6)  # its own axis: the point stays on the line
    assert len(marks(panel, "measured")) == 1
    turn(panel, "latency_s", text="2 ms")
    assert not marks(panel, "measured") and len(marks(panel, "faded")) == 1
    turn(panel, "piece_bytes", text="128 KiB")
    turn(panel, "latency_s", text="1 ms")
    assert len(marks(panel, "measured")) == 1 and not marks(panel, "faded")


def test_published_points_are_shown_only_on_their_own_axis(panel: Panel) -> None:
    (star,) = marks(panel, "published")
    assert star["x"] == 1e-3 and "B. Master, On Crossing (1907)" in star["text"]
    turn(panel, "piece_bytes", stop=2)
    assert not marks(panel, "published")


def test_the_terms_add_up_and_what_is_hidden_stands_in_its_own_row(panel: Panel) -> None:
    terms = panel.widget.now["terms"]
    model = [term["length"] for term in terms if term["row"] == "model"]
    assert sum(model) == pytest.approx(panel.state.estimate.seconds)
    assert [term["name"] for term in terms if term["row"] == "meanwhile"] == ["cpu"]


def test_cancel_says_cancelled_and_keeps_nothing(panel: Panel) -> None:
    turn(panel, "latency_s", text="50 ms")
    panel.heard({"turn": "measure", "do": "measure"})  # as panel.js sends it
    assert panel.background.busy and panel.widget.status["share"] is not None
    panel.heard({"do": "cancel"})
    panel.background.join(30)
    assert panel.widget.status == {"note": "cancelled", "share": None} and not panel.runs


def test_of_two_measurements_the_newest_wins_and_no_thread_is_left(panel: Panel) -> None:
    turn(panel, "latency_s", text="50 ms")
    panel.measure()
    turn(panel, "latency_s", text="1 ms")
    panel.measure()
    wait(panel, 1)
    panel.background.join(30)
    assert [one.settings["latency_s"] for one in panel.runs] == [1e-3]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("readahead")]


def test_an_error_of_the_measurement_is_shown_and_the_panel_lives(panel: Panel) -> None:
    turn(panel, "latency_s", text="5 ms")
    panel.measure()
    panel.background.join(30)
    assert "the ferry sank" in panel.widget.error and panel.widget.status["note"] == "failed"
    turn(panel, "latency_s", text="1 ms")
    panel.measure()
    wait(panel, 1)
    panel.background.join(30)
    assert panel.widget.error == ""


def test_an_error_of_the_model_is_shown_and_the_knob_goes_back(panel: Panel) -> None:
    turn(panel, "latency_s", text="13 ms")
    assert "is unlucky" in panel.widget.error
    assert panel.settings["latency_s"] == 1e-3 and panel.widget.knobs["latency_s"]["text"] == "1 ms"
    turn(panel, "latency_s", text="14 ms")
    assert panel.settings["latency_s"] == 0.014 and panel.widget.error == ""


def test_two_threads_may_turn_two_knobs_at_once(panel: Panel) -> None:
    stops = {knob["name"]: knob["stops"] for knob in panel.widget.plan["knobs"] if "stops" in knob}

    def shake(name: str) -> None:
        for step in range(60):
            panel.heard({"turn": name, "stop": step % len(stops[name])})

    hands = [threading.Thread(target=shake, args=(name,)) for name in stops]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join(60)
    assert panel.widget.error == ""
    for name, places_of in stops.items():
        last = 59 % len(places_of)
        assert panel.widget.knobs[name]["stop"] == last and panel.settings[name] == places_of[last]
    assert panel.widget.now["x"] == panel.settings[panel.x_name]


def test_of_thousands_of_reads_not_all_are_sent() -> None:
    found = [
        Read(offset=n, size_bytes=1, thread=n % 40, submitted_s=n / 1e4, due_s=n / 1e4, done_s=(n + 5) / 1e4)
        for n in range(50_000)
    ]
    sent = reads(found)
    assert 1_000 < sent["count"] <= MOST_READS and len(sent["dashes"]) == 16 * sent["count"]
    assert set(floats(sent["dashes"])[-sent["count"] :]) <= set(range(len(CYCLE)))
    assert len(sent["flight"]) <= 8 * MOST_READS and sent["deepest"] == 5
    assert reads([]) == {}


def test_a_saved_widget_is_small(panel: Panel) -> None:
    panel.measure()
    wait(panel, 1)
    assert len(repr(panel.widget.get_state())) < 100_000


def test_every_colour_that_is_named_is_in_the_style_sheet_for_both_pages(panel: Panel) -> None:
    style = str(panel.widget._css)
    names = [*TERMS, *(f"c{n}" for n in range(len(CYCLE))), "modeled", "measured", "published"]
    assert {name: style.count(f"--ra-{name}: #") for name in names} == dict.fromkeys(names, 2)
    assert term_key("seek") == "seek" and term_key("a new one").startswith("c")


def test_without_a_kernel_there_is_a_printed_twin(panel: Panel) -> None:
    bundle = panel.widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert (
        "<svg" in data["text/html"]
        and "the model expects" in data["text/html"]
        and "<table" in data["text/html"]
    )
    assert static_html(PanelState(FERRY, FERRY.settings(), "latency_s")) == data["text/html"]


def test_the_printed_twin_says_of_which_settings_it_is() -> None:
    settings = FERRY.settings(latency_s=0.002)
    place = re.match('<div data-panel="([^"]+)">', static_html(PanelState(FERRY, settings, "latency_s")))
    assert place is not None and settings_at(FERRY, html.unescape(place[1])) == settings


def test_sliders_stop_at_their_ends_and_at_round_values() -> None:
    for knob in FERRY.knobs[1:]:
        stops = places(knob)
        assert stops[0] == knob.low and stops[-1] == knob.high and np.all(np.diff(stops) > 0)
        assert all(len(knob.text(stop)) <= 9 for stop in stops)


def test_settings_begin_with_the_device_unless_a_number_is_given() -> None:
    assert FERRY.turned(device="bridge", latency_s=None)["latency_s"] == 1e-5
    assert FERRY.turned(device="bridge", latency_s=0.002)["latency_s"] == 0.002
    with pytest.raises(BadValue, match=r"latency_s=9 must be from 1e-05 to 0\.05"):
        FERRY.turned(latency_s=9)
    with pytest.raises(BadValue, match="'speed' is not a knob"):
        FERRY.turned(speed=9)


def test_the_numbers_are_written_when_they_are_unfolded(panel: Panel) -> None:
    turn(panel, "latency_s", text="2 ms")
    assert panel.widget.numbers == ""
    panel.heard({"unfolded": True})
    assert "<td" in panel.widget.numbers and "2 ms" in panel.widget.numbers
    turn(panel, "latency_s", text="3 ms")
    assert "3 ms" in panel.widget.numbers


def test_a_run_that_wrote_is_not_shown_as_one_that_read(panel: Panel) -> None:
    panel.measure()
    wait(panel, 1)
    (run,) = panel.runs
    wrote = dataclasses.replace(
        run.sample, wrote=True, bytes_read=0, row_groups_scanned=0, row_groups_total=0
    )
    runs = [Run(FERRY, run.settings, wrote)]
    shown = numbers_html(PanelState(FERRY, panel.settings, "latency_s", runs))
    assert "1 MiB written" in shown and "8 writes (1 in flight)" in shown and "0 of 0" not in shown


def test_where_the_sliders_rest_is_told_once() -> None:
    told: list[float] = []
    panel = Panel(FERRY, measure=False, on_settings=lambda settings: told.append(settings["latency_s"]))
    for typed in ("2 ms", "3 ms", "4 ms"):
        turn(panel, "latency_s", text=typed)
    end = time.monotonic() + 60
    while not told and time.monotonic() < end:
        time.sleep(0.01)
    panel.close()
    assert told == [0.004] and panel.runs == []


def _luminance(colour: str) -> float:
    parts = (int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5))
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_marks_and_words_stand_out_from_a_light_and_a_dark_page(panel: Panel) -> None:
    """Marks by 3 to 1 and words by 4.5 to 1, as WCAG 2 asks (1.4.3 and 1.4.11)."""
    style = str(panel.widget._css)
    light, dark = (
        dict(re.findall(r"--ra-(\w+): (#\w{6})", part)) for part in style.split("[data-jp-theme-light")[:2]
    )
    for colours, paper in ((light, "#ffffff"), (dark, "#111111")):
        for name, colour in colours.items():
            low, high = sorted((_luminance(colour), _luminance(paper)))
            if name != "grid":
                assert (high + 0.05) / (low + 0.05) >= (4.5 if name in ("ink", "soft") else 3), (
                    name,
                    colour,
                    paper,
                )


def test_two_settings_are_compared_in_words_and_on_the_chart(panel: Panel) -> None:
    panel.heard({"turn": "pin", "do": "pin"})
    assert panel.widget.pinned["words"].startswith("A is pinned here.")
    turn(panel, "latency_s", text="4 ms")
    told = panel.widget.pinned
    assert "From A to B: Crossing 1 ms → 4 ms." in told["words"]
    assert "The model: 9.05 ms → 33 ms, B takes 3.65× as long." in told["words"]
    assert "DuckDB has not measured A and B yet." in told["words"]
    assert told["x"] == 1e-3 and told["y"] == pytest.approx(1_048_576 / 9.048576e-3)
    panel.measure()
    wait(panel, 1)
    turn(panel, "piece_bytes", stop=6)  # another axis: the line of A is drawn along it as well
    assert panel.widget.pinned["x"] == 131_072
    assert len(floats(panel.widget.pinned["line"]["x"])) >= 64
    assert "Piece 128 KiB → 1 MiB" in panel.widget.pinned["words"]
    panel.heard({"turn": "swap", "do": "swap"})
    assert panel.widget.error == ""
    assert panel.settings == FERRY.settings() and panel.pinned is not None
    assert panel.pinned.settings["piece_bytes"] == 1_048_576 and panel.widget.now["x"] == 131_072
    panel.heard({"turn": "pin", "do": "pin"})
    assert panel.widget.pinned == {} and panel.pinned is None


def test_measurements_of_both_settings_are_compared(panel: Panel) -> None:
    panel.measure()
    wait(panel, 1)
    panel.heard({"turn": "pin", "do": "pin"})
    turn(panel, "latency_s", text="3 ms")
    panel.measure()
    wait(panel, 2)
    panel.background.join(30)
    said = r"DuckDB: [\d.]+ ms → [\d.]+ ms, (B takes [\d.]+× as long|no difference that can be told)\."
    assert re.search(said, panel.widget.pinned["words"])  # which of them is the machine's to say


@pytest.mark.parametrize("experiment", EVERY, ids=lambda one: one.topic)
def test_settings_come_back_from_their_address(experiment: Experiment) -> None:
    rng = random.Random(experiment.topic)
    for _ in range(20):
        settings = {
            knob.name: turned(knob, rng) for knob in experiment.knobs if knob.choices or knob.kind != "choice"
        }
        settings = experiment.settings(**settings)
        assert settings_at(experiment, address(experiment, settings)) == settings


def test_an_address_opens_the_panel_there_and_a_wrong_one_is_told(panel: Panel) -> None:
    turn(panel, "device", choice="bridge")
    turn(panel, "piece_bytes", text="48 KiB")
    text = panel.widget.now["address"]
    assert text == "ferry?device=bridge&latency_s=1e-05&piece_bytes=49152"
    assert settings_at(FERRY, f" {text} ") == panel.settings
    for wrong, told in (
        ("lookups?size=1", "not an address of 'ferry'"),
        ("ferry?wind=3", "'wind' is not a knob"),
        ("ferry?cars=many", "cars='many' must be a number"),
        ("ferry?cars=99", "cars=99.0 must be"),
    ):
        with pytest.raises(BadValue, match=told):
            settings_at(FERRY, wrong)


@pytest.mark.parametrize(
    ("took_s", "says"),
    [(0.010, "too fast to tell on this machine"), (0.100, "the time that the model says")],
)
def test_below_twenty_milliseconds_the_sentence_does_not_judge_the_model(took_s: float, says: str) -> None:
    settings = FERRY.turned(device="bridge")
    sample = dataclasses.replace(FERRY.measure(settings), seconds=(took_s,) * 3)
    state = PanelState(FERRY, settings, "piece_bytes", [Run(FERRY, settings, sample)])
    assert state.estimate.seconds < took_s / 2 and re.search(says, sentence(state))
