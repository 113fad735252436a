"""A knob takes what it can be, says what it cannot, and finds the nearest of what is computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from readahead.chapters import CONTENTS, chapter
from readahead.chapters.start_here.chapter import EXPERIMENT
from readahead.devices import device
from readahead.errors import BadValue, DataError
from readahead.experiments.experiment import Knob
from readahead.experiments.knobs import knobs_of

WRITTEN = [place.topic for place in CONTENTS]


@pytest.mark.parametrize("name", ["queue_depth", "row_group_rows", "fragment_bytes"])
def test_what_counts_things_is_never_cut_silently(name: str) -> None:
    depth = EXPERIMENT.knob(name)
    with pytest.raises(BadValue, match=rf"{name}={depth.low + 0.7:g} must be whole. Give \d+ or \d+\."):
        depth.check(depth.low + 0.7)
    assert depth.check(depth.low + 1.0) == depth.low + 1 and isinstance(depth.check(depth.low + 1.0), int)


def test_the_nearest_value_is_whole_and_within_the_range() -> None:
    depth = EXPERIMENT.knob("queue_depth")
    assert [depth.nearest(value) for value in (0.2, 2.4, 2.7, 500.0)] == [1, 2, 3, 128]
    assert EXPERIMENT.knob("latency_s").nearest(0.0012) == 0.0012


@pytest.mark.parametrize("topic", WRITTEN)
def test_a_curve_along_every_number_takes_any_values_of_its_range(topic: str) -> None:
    experiment = chapter(topic).experiment
    sizes = {"size": "tiny"} if any(one.name == "size" for one in experiment.knobs) else {}
    settings = experiment.settings(**sizes)
    numbers: list[Knob] = [one for one in experiment.knobs if one.kind != "choice" and one.low > 0]
    for one in numbers:
        values = one.grid(12)
        assert np.isfinite(experiment.curve(settings, one.name, values)).all(), one.name


@pytest.mark.parametrize(
    ("told", "fault"),
    [
        ("seek_s: {default: fast}", r", seek_s: .*'fast'"),
        ("depth: {label: Depth, kind: miles, default: 1 mile}", r", depth: .*miles"),
        ("channels: {high: 3, width: 2}", r", channels: .*width"),
        ("- channels", ", the file: "),
        ("{", " cannot be read: "),
    ],
)
def test_a_fault_in_a_file_of_knobs_names_the_file_and_the_knob(
    tmp_path: Path, told: str, fault: str
) -> None:
    (tmp_path / "knobs.yaml").write_text(told, encoding="utf-8")
    with pytest.raises(DataError, match=rf"(?s)knobs\.yaml{fault}.* Mend it"):
        knobs_of(str(tmp_path / "chapter.py"))


def test_a_knob_of_a_file_says_when_it_does_nothing_and_takes_units_and_devices(tmp_path: Path) -> None:
    told = """
        latency_s: {default: nvme}
        block_bytes:
          label: Block
          kind: bytes
          default: 64 KiB
          range: [16 KiB, 128 KiB]
          steps: [doublings, 96 KiB]
          idle:
            - {when: {stored: [parquet, csv]}, says: No blocks.}
            - {unless: {where: here}, says: Not here.}
    """
    (tmp_path / "knobs.yaml").write_text(told, encoding="utf-8")
    latency, block = knobs_of(str(tmp_path / "chapter.py"))
    assert latency.default == device("nvme").latency_s and latency.label == "Device latency"
    assert (block.default, block.steps) == (65_536, (16_384, 32_768, 65_536, 98_304, 131_072))
    assert block.idle is not None
    said = [
        block.idle({"stored": stored, "where": where})
        for stored, where in (("csv", "here"), ("own", "there"))
    ]
    assert said == ["No blocks.", "Not here."] and block.idle({"stored": "own", "where": "here"}) == ""
