"""The panel without a kernel: printed, and written down."""

import json
from pathlib import Path

import pytest
from toybox import CHAPTER

from readahead import panels
from readahead.errors import BadValue, DataError
from readahead.experiments import run
from readahead.panels.lesson import open_chapter

from .toy import FERRY


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    pages: list[str] = []
    monkeypatch.setattr(panels, "show", pages.append)
    monkeypatch.setattr(run, "_written", [])
    return pages


def test_it_prints_chart_sentence_and_table_and_writes_the_result(
    tmp_path: Path, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_OUT", str(tmp_path))
    monkeypatch.setenv("READAHEAD_RUN", "papermill")
    assert panels.explore(FERRY, latency_s=0.002, piece_bytes=None) is None
    assert "<svg" in shown[0] and "DuckDB measured" in shown[0] and "<details open" in shown[0]
    found = json.loads((tmp_path / "ferry.json").read_text(encoding="utf-8"))
    assert found["settings"]["latency_s"] == 0.002 and found["settings"]["piece_bytes"] == 131_072
    assert found["modeled"]["bottleneck"] == "latency"
    assert found["modeled"]["seconds"] == pytest.approx(sum(found["modeled"]["terms_s"].values()))
    measured = found["measured"]
    assert len(measured["seconds"]) == 5 and measured["reads"] == 8 and measured["bytes_read"] == 1_048_576
    low, high = measured["interval_s"]
    assert low <= measured["median_s"] <= high
    assert found["machine"]["cores"] >= 1 and isinstance(measured["warnings"], list)
    panels.run(FERRY, measure=False)
    assert json.loads((tmp_path / "ferry.2.json").read_text(encoding="utf-8"))["measured"] is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ferry.2.json", "ferry.json"]


def test_a_lesson_s_panel_measures_as_often_as_the_lesson(
    tmp_path: Path, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_OUT", str(tmp_path))
    monkeypatch.setenv("READAHEAD_RUN", "papermill")
    monkeypatch.setenv("READAHEAD_REPEATS", "2")
    open_chapter(CHAPTER, reveal=True).explore()
    assert len(json.loads((tmp_path / "toy.json").read_text(encoding="utf-8"))["measured"]["seconds"]) == 2


def test_nothing_is_written_without_a_folder(shown: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("READAHEAD_OUT", raising=False)
    panels.run(FERRY, measure=False)
    assert len(shown) == 1 and run._written == []


def test_a_folder_that_cannot_be_written_is_told(
    tmp_path: Path, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_OUT", str(tmp_path / "missing"))
    with pytest.raises(DataError, match="Give a folder that can be"):
        panels.run(FERRY, measure=False)


def test_a_value_out_of_range_names_the_parameter(shown: list[str]) -> None:
    with pytest.raises(BadValue, match="latency_s=1 must be from"):
        panels.run(FERRY, latency_s=1)
    assert shown == []


def test_an_address_gives_every_setting(
    tmp_path: Path, shown: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("READAHEAD_OUT", str(tmp_path))
    panels.explore(FERRY, "ferry?latency_s=0.003", measure=False, latency_s=0.002, cars=3)
    told = json.loads((tmp_path / "ferry.json").read_text(encoding="utf-8"))["settings"]
    assert told["latency_s"] == 0.003 and told["cars"] == 8
