"""A knob takes what it can be, says what it cannot, and finds the nearest of what is computed."""

from __future__ import annotations

import numpy as np
import pytest

from readahead.chapters import CONTENTS, chapter, is_written
from readahead.errors import BadValue
from readahead.experiments.experiment import Knob, knob

WRITTEN = [place.topic for place in CONTENTS if is_written(place.topic)]


@pytest.mark.parametrize("name", ["queue_depth", "row_group_rows", "fragment_bytes"])
def test_what_counts_things_is_never_cut_silently(name: str) -> None:
    depth = knob(name)
    with pytest.raises(BadValue, match=rf"{name}={depth.low + 0.7:g} must be whole. Give \d+ or \d+\."):
        depth.check(depth.low + 0.7)
    assert depth.check(depth.low + 1.0) == depth.low + 1 and isinstance(depth.check(depth.low + 1.0), int)


def test_the_nearest_value_is_whole_and_within_the_range() -> None:
    depth = knob("queue_depth")
    assert [depth.nearest(value) for value in (0.2, 2.4, 2.7, 500.0)] == [1, 2, 3, 128]
    assert knob("latency_s").nearest(0.0012) == 0.0012


@pytest.mark.parametrize("topic", WRITTEN)
def test_a_curve_along_every_number_takes_any_values_of_its_range(topic: str) -> None:
    experiment = chapter(topic).experiment
    sizes = {"size": "tiny"} if any(one.name == "size" for one in experiment.knobs) else {}
    settings = experiment.settings(**sizes)
    numbers: list[Knob] = [one for one in experiment.knobs if one.kind != "choice" and one.low > 0]
    for one in numbers:
        values = one.grid(12)
        assert np.isfinite(experiment.curve(settings, one.name, values)).all(), one.name
