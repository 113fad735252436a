"""The common study: knobs become cases, curves pass through their points, refusals name the knob."""

from __future__ import annotations

import numpy as np
import pytest

from readahead.chapters.start_here.chapter import EXPERIMENT
from readahead.errors import BadValue
from readahead.experiments.round import Study
from readahead.experiments.table_experiment import TableExperiment

NUMBERS = [knob.name for knob in EXPERIMENT.knobs if knob.kind != "choice" and knob.name != "time_scale"]


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("query", ["scan", "lookup"])
@pytest.mark.parametrize("device", ["object-store", "textbook-disk", "sas-15k-x8"])
def test_the_curve_passes_through_the_model(name: str, query: str, device: str) -> None:
    """At the ends and in the middle of every knob the curve says what the model says of that one setting."""
    settings = EXPERIMENT.follow(EXPERIMENT.settings(device=device, query=query, size="full"), "device")
    knob = EXPERIMENT.knob(name)
    values = np.array([knob.low, knob.nearest(np.sqrt(knob.low * knob.high)), knob.high], float)
    curve = EXPERIMENT.curve(settings, name, values)
    for value, throughput in zip(values, curve, strict=True):
        point = {**settings, name: knob.check(value)}
        assert throughput == EXPERIMENT.throughput(point, EXPERIMENT.model(point).seconds)


def test_both_ends_of_every_knob_can_be_modeled() -> None:
    for knob in EXPERIMENT.knobs:
        for value in knob.choices or (knob.low, knob.high):
            settings = EXPERIMENT.settings(**{knob.name: value})
            assert 0 < EXPERIMENT.model(settings).seconds < 1e6


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"latency_s": 1.0},
            "latency_s=1.0 must be from 2e-05 to 0.05. Device latency goes from 20 µs to 50 ms",
        ),
        ({"row_group_rows": 10}, "row_group_rows=10 must be from 2048"),
        ({"device": "floppy"}, "device='floppy' must be one of"),
        ({"colour": 3}, "'colour' is not a knob of 'start_here'. It has: device"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_knob_and_range(given: dict, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        EXPERIMENT.settings(**given)


def test_a_study_turns_knobs_as_the_panel_does() -> None:
    study = Study(EXPERIMENT, size="tiny")
    near = study.settings(device="nvme", channels=4)
    assert (near["latency_s"], near["channels"], near["size"]) == (45e-6, 4, "tiny")
    for rows in (EXPERIMENT.knob("rows_per_lookup").default, 7):
        assert study.settings(rows_per_lookup=rows)["query"] == "lookup"
    assert study.settings(**{**study.base, "rows_per_lookup": 7}) == {**study.base, "rows_per_lookup": 7}


def test_the_device_menu_moves_the_sliders_and_a_slider_moves_only_itself() -> None:
    start = EXPERIMENT.settings()
    moved = EXPERIMENT.follow({**start, "device": "textbook-disk"}, "device")
    assert (moved["latency_s"], moved["channels"], moved["seek_s"]) == (0.0001, 1, 0.0099)
    assert EXPERIMENT.follow({**start, "latency_s": 0.02}, "latency_s") == {**start, "latency_s": 0.02}
    assert EXPERIMENT.follow(start, "rows_per_lookup")["query"] == "lookup"


def test_a_knob_that_does_nothing_says_why() -> None:
    here = EXPERIMENT.settings(where="this disk, warm")
    assert "this machine's own disk" in EXPERIMENT.disabled(here)["latency_s"]
    assert "no head to move" in EXPERIMENT.disabled(EXPERIMENT.settings(device="nvme"))["seek_s"]
    assert "seek_s" not in EXPERIMENT.disabled(EXPERIMENT.settings(device="sas-15k"))


def test_a_device_never_moves_faster_on_one_channel_than_on_its_link() -> None:
    thin = EXPERIMENT.device(EXPERIMENT.settings(bandwidth_bytes_per_s=1e6))
    assert thin.channel_bandwidth_bytes_per_s <= thin.bandwidth_bytes_per_s


def test_a_topic_without_a_knob_fixes_its_setting() -> None:
    study = TableExperiment(
        topic="t", title="T", knobs=EXPERIMENT.knobs[2:4], fixed={"device": "sas-15k", "size": "tiny"}
    )
    case = study.case(study.settings())
    assert (case.device.name, case.recipe.size) == ("sas-15k", "tiny")


def test_a_measured_point_of_the_start_notebook() -> None:
    settings = EXPERIMENT.settings(size="tiny", latency_s=0.001)
    sample = EXPERIMENT.measure(settings, repeats=1)
    assert sample.row_groups_total == EXPERIMENT.case(settings).recipe.row_groups
    assert EXPERIMENT.throughput(settings, sample.median_s) > 0


def test_there_is_no_curve_along_words() -> None:
    with pytest.raises(BadValue, match="'device' is not a number"):
        EXPERIMENT.curve(EXPERIMENT.settings(), "device", np.array([1.0]))
