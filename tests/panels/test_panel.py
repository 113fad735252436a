"""The panel in use: knobs turned, plots read, from two threads at once."""

import re
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from readahead.errors import BadValue
from readahead.panels import plots
from readahead.panels.controls import places
from readahead.panels.panel import Panel
from readahead.panels.state import first_settings, panel_state, static_html
from readahead.panels.theme import CYCLE
from readahead.storage.trace import Read

from .toy import FERRY


@pytest.fixture
def panel() -> Iterator[Panel]:
    made = Panel(FERRY, measure=False)
    yield made
    made.close()


def wait(panel: Panel, count: int) -> None:
    """Wait until so many points are measured."""
    end = time.monotonic() + 60
    while len(panel.points) < count and time.monotonic() < end:
        time.sleep(0.01)
    assert len(panel.points) >= count, panel.background.errors.value


def plain(widget: Any) -> str:
    return re.sub("<[^>]+>", "", widget.value)


def test_a_turned_slider_moves_ring_sentence_and_readout(panel: Panel) -> None:
    before = panel.sentence.value
    handle = panel.controls["piece_bytes"]
    handle.slider.value = 0
    assert panel.settings["piece_bytes"] == 16_384 and handle.text.value == "16 KiB"
    assert panel.curve.figure.layout.xaxis.title.text == "Piece"
    assert panel.curve.figure.data[plots.HERE].x[0] == 16_384
    at = abs(panel.state.xs - 16_384).argmin()
    assert panel.curve.figure.data[plots.HERE].y[0] == pytest.approx(
        panel.curve.figure.data[plots.LINE].y[at], rel=0.05
    )
    assert panel.sentence.value != before and "Piece 16 KiB" in plain(panel.sentence)


def test_the_line_stands_still_while_its_own_knob_moves(panel: Panel) -> None:
    """Only the point where the knob stands is another one."""
    handle = panel.controls["latency_s"]
    seen, ends = [], []
    for place in (10, 60):
        handle.slider.value = place
        line = panel.curve.figure.data[plots.LINE]
        here = panel.settings["latency_s"]
        assert line.y[list(line.x).index(here)] == panel.state.y
        seen.append({x: y for x, y in zip(line.x, line.y, strict=True) if x != here})
        ends.append(panel.curve.figure.layout.yaxis.range)
    assert len(set(seen[0]) & set(seen[1])) >= 63
    assert all(seen[0][x] == seen[1][x] for x in set(seen[0]) & set(seen[1])) and ends[0] == ends[1]


def test_a_typed_value_is_taken_exactly(panel: Panel) -> None:
    panel.controls["latency_s"].text.value = "4.1 ms"
    assert panel.settings["latency_s"] == 0.0041
    assert panel.state.x == 0.0041


@pytest.mark.parametrize("typed", ["soon", "3 KiB", "9 s"])
def test_a_typed_value_that_is_none_is_told_and_changes_nothing(panel: Panel, typed: str) -> None:
    before = dict(panel.settings)
    panel.controls["latency_s"].text.value = typed
    assert "That did not work" in panel.background.errors.value and panel.settings == before


def test_a_menu_that_sets_other_knobs_does_not_loop(panel: Panel) -> None:
    calls: list[str] = []
    turn = panel.turn
    for handle in panel.controls.values():
        handle._turned = lambda name, value: (calls.append(name), turn(name, value))
    panel.controls["device"].menu.value = "bridge"
    assert calls == ["device"]
    assert panel.settings["latency_s"] == 1e-5 and panel.controls["latency_s"].text.value == "10 µs"
    assert panel.controls["latency_s"].slider.value == 0


def test_a_knob_without_effect_is_off_and_says_why(panel: Panel) -> None:
    handle = panel.controls["cars"]
    assert not handle.slider.disabled and handle.reason.value == ""
    panel.controls["device"].menu.value = "bridge"
    assert handle.slider.disabled and handle.text.disabled and "any number" in handle.reason.value
    panel.controls["device"].menu.value = "ferry"
    assert not handle.slider.disabled and handle.reason.value == ""


def test_a_slider_at_rest_is_measured_and_drawn_with_its_reads(panel: Panel) -> None:
    panel.auto.value = True
    panel.controls["piece_bytes"].slider.value = 4
    wait(panel, 1)
    panel.background.join(30)
    one = panel.points[0]
    assert one.settings["piece_bytes"] == 262_144 and len(one.sample.reads) == 4
    dots = panel.curve.figure.data[plots.MEASURED]
    assert list(dots.x) == [262_144] and dots.y[0] == pytest.approx(one.throughput.median)
    assert dots.error_y.array[0] >= 0 and dots.error_y.arrayminus[0] >= 0
    drawn = sum(int(np.isfinite(trace.x).sum()) for trace in panel.time.reads)
    assert drawn == 2 * 4
    assert max(panel.time.flight.y) == 1
    assert "4 reads, 1 MiB" in panel.time.figure.layout.annotations[1].text
    assert "DuckDB measured" in plain(panel.sentence)


def test_points_at_other_settings_fade_and_come_back(panel: Panel) -> None:
    panel.measure()
    wait(panel, 1)
    panel.controls["piece_bytes"].slider.value = 6  # its own axis: the point stays on the line
    assert len(panel.curve.figure.data[plots.MEASURED].x) == 1
    panel.controls["latency_s"].text.value = "2 ms"
    assert (
        len(panel.curve.figure.data[plots.MEASURED].x) == 0
        and len(panel.curve.figure.data[plots.FADED].x) == 1
    )
    panel.controls["piece_bytes"].text.value = "128 KiB"
    panel.controls["latency_s"].text.value = "1 ms"
    assert (
        len(panel.curve.figure.data[plots.MEASURED].x) == 1
        and len(panel.curve.figure.data[plots.FADED].x) == 0
    )


def test_published_points_are_stars_only_on_their_own_axis(panel: Panel) -> None:
    stars = panel.curve.figure.data[plots.PUBLISHED]
    assert list(stars.x) == [1e-3] and "B. Master, On Crossing (1907)" in stars.text[0]
    panel.controls["piece_bytes"].slider.value = 2
    assert len(stars.x) == 0


def test_the_terms_add_up_and_what_is_hidden_is_hatched(panel: Panel) -> None:
    bill = panel.time.terms
    model = [length for row, length in zip(bill.y, bill.x, strict=True) if row == "model"]
    assert sum(model) == pytest.approx(panel.state.estimate.seconds)
    hatched = [row for row, shape in zip(bill.y, bill.marker.pattern.shape, strict=True) if shape]
    assert hatched == ["meanwhile"]


def test_cancel_says_cancelled_and_keeps_nothing(panel: Panel) -> None:
    panel.controls["latency_s"].text.value = "50 ms"
    panel.measure()
    assert panel.background.busy and not panel.background.cancel_button.disabled
    panel.background.cancel_button.click()
    panel.background.join(30)
    assert (
        "cancelled" in panel.background.note.value
        and panel.background.cancel_button.disabled
        and not panel.points
    )


def test_of_two_measurements_the_newest_wins_and_no_thread_is_left(panel: Panel) -> None:
    panel.controls["latency_s"].text.value = "50 ms"
    panel.measure()
    panel.controls["latency_s"].text.value = "1 ms"
    panel.measure()
    wait(panel, 1)
    panel.background.join(30)
    assert [one.settings["latency_s"] for one in panel.points] == [1e-3]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("readahead")]


def test_an_error_of_the_measurement_is_shown_and_the_panel_lives(panel: Panel) -> None:
    panel.controls["latency_s"].text.value = "5 ms"
    panel.measure()
    panel.background.join(30)
    assert "the ferry sank" in panel.background.errors.value and "failed" in panel.background.note.value
    panel.controls["latency_s"].text.value = "1 ms"
    panel.measure()
    wait(panel, 1)
    panel.background.join(30)
    assert panel.background.errors.value == ""


def test_an_error_of_the_model_is_shown_and_the_knob_goes_back(panel: Panel) -> None:
    panel.controls["latency_s"].text.value = "13 ms"
    assert "is unlucky" in panel.background.errors.value
    assert panel.settings["latency_s"] == 1e-3 and panel.controls["latency_s"].text.value == "1 ms"
    panel.controls["latency_s"].text.value = "14 ms"
    assert panel.settings["latency_s"] == 0.014 and panel.background.errors.value == ""


def test_two_threads_may_turn_two_knobs_at_once(panel: Panel) -> None:
    def shake(name: str) -> None:
        handle = panel.controls[name]
        for turn in range(60):
            handle.slider.value = turn % (handle.slider.max + 1)

    hands = [threading.Thread(target=shake, args=(name,)) for name in ("latency_s", "piece_bytes", "cars")]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join(60)
    assert panel.background.errors.value == ""
    for name, handle in panel.controls.items():
        if name != "device":
            assert panel.settings[name] == handle._number(handle.places[handle.slider.value]), name
    assert panel.curve.figure.data[plots.HERE].x[0] == panel.settings[panel.x_name]


def test_thousands_of_reads_are_one_trace_a_colour(panel: Panel) -> None:
    reads = [
        Read(offset=n, size_bytes=1, thread=n % 40, submitted_s=n / 1e4, due_s=n / 1e4, done_s=(n + 5) / 1e4)
        for n in range(5_000)
    ]
    drawn = [plots.segments(reads, colour) for colour in range(len(CYCLE))]
    assert sum(int(np.isfinite(x).sum()) for x, _ in drawn) == 2 * len(reads)
    assert len(plots.thinned(reads * 10)) <= plots.MOST_READS


def test_there_are_two_figures_and_they_are_made_once(panel: Panel) -> None:
    before = (panel.curve.figure.model_id, panel.time.figure.model_id)
    panel.controls["latency_s"].slider.value = 3
    panel.controls["device"].menu.value = "bridge"
    assert (panel.curve.figure.model_id, panel.time.figure.model_id) == before


def test_without_a_kernel_there_is_a_printed_twin(panel: Panel) -> None:
    bundle = panel.widget._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert (
        "<svg" in data["text/html"]
        and "the model expects" in data["text/html"]
        and "<table" in data["text/html"]
    )
    assert static_html(panel_state(FERRY, FERRY.settings(), "latency_s")) == data["text/html"]


def test_sliders_stop_at_their_ends_and_at_round_values() -> None:
    for knob in FERRY.knobs[1:]:
        stops = places(knob)
        assert stops[0] == knob.low and stops[-1] == knob.high and np.all(np.diff(stops) > 0)
        assert all(len(knob.text(stop)) <= 9 for stop in stops)


def test_settings_begin_with_the_device_unless_a_number_is_given() -> None:
    assert first_settings(FERRY, device="bridge", latency_s=None)["latency_s"] == 1e-5
    assert first_settings(FERRY, device="bridge", latency_s=0.002)["latency_s"] == 0.002
    with pytest.raises(BadValue, match=r"latency_s=9 must be from 1e-05 to 0\.05"):
        first_settings(FERRY, latency_s=9)
    with pytest.raises(BadValue, match="'speed' is not a knob"):
        first_settings(FERRY, speed=9)


def test_the_numbers_are_written_when_they_are_unfolded(panel: Panel) -> None:
    panel._numbers_fold.selected_index = 0
    assert "1 ms" in plain(panel.numbers)
    panel.controls["latency_s"].text.value = "2 ms"
    assert "2 ms" in plain(panel.numbers)


def test_where_the_sliders_rest_is_told_once() -> None:
    told: list[float] = []
    panel = Panel(FERRY, measure=False, on_settings=lambda settings: told.append(settings["latency_s"]))
    for typed in ("2 ms", "3 ms", "4 ms"):
        panel.controls["latency_s"].text.value = typed
    end = time.monotonic() + 60
    while not told and time.monotonic() < end:
        time.sleep(0.01)
    panel.close()
    assert told == [0.004] and panel.points == []
