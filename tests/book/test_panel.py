"""The panel without a kernel: what the page answers is what the model says."""

from __future__ import annotations

import html
import json
import math
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "panels"))

import toy

from readahead import units
from readahead.book import pages
from readahead.book.table import Table, any_machine, edges, grid, stops
from readahead.chapters import chapter
from readahead.devices import THIS_MACHINE
from readahead.experiments.experiment import Experiment, Settings
from readahead.measure.calibrate import Calibration
from readahead.panels.state import PanelState, address, sentence, settings_at

SHORT = 1_200
"""Evaluations of the model for the table of a test."""
ANSWERS = Path(pages.__file__).with_name("panel_model.js")
HEARD = """
const said = JSON.parse(require("fs").readFileSync(0, "utf8")), model = new TableModel(said.table);
const now = () => ({...model.get("now"), compared: model.get("pinned").words ?? "", knobs: model.get("knobs"),
  axes: model.get("axes"), line: Array.from(model.get("line").y)});
let seed = 7;
const any = (row) => row[(seed = (seed * 16807) % 2147483647) % row.length];
const told = [now()];
for (let turn = 0; turn < said.turns; turn++) {
  const [name, knob] = any(Object.entries(model.get("knobs")).filter(([_, one]) => !one.off));
  const menu = model.get("plan").knobs.find((one) => one.name === name).choices;
  model.send(menu ? {turn: name, choice: any(menu)[0]} : {turn: name, stop: any(knob.stops.map((_, n) => n))});
  if (turn === said.turns >> 1) model.send({do: "pin"});
  told.push(now());
}
console.log(JSON.stringify(told));
"""


def node(program: str, given: Any) -> Any:
    """Return what a program says after panel_model.js, as JSON."""
    if shutil.which("node") is None:
        pytest.skip("Node.js is not installed; the browser test looks at the same.")
    text = f"{ANSWERS.read_text(encoding='utf-8')}\n{program}"
    done = subprocess.run(
        ["node", "-e", text], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def made(topic: str, **given: Any) -> tuple[Experiment, Settings, Table]:
    experiment = chapter(topic).experiment
    base = experiment.settings(**given)
    with any_machine():
        return experiment, base, Table(experiment, base, SHORT)


def expected(experiment: Experiment, settings: Settings, along: str) -> PanelState:
    """Return what the notebook's panel says there."""
    with any_machine():
        return PanelState(experiment, settings, along)


NUMBER = re.compile(r"[\d,]*\.?\d+")


def same(one: str, other: str) -> bool:
    """Return whether two sentences say the same; a float32 may round the last digit the other way."""
    said, told = ([float(found.replace(",", "")) for found in NUMBER.findall(text)] for text in (one, other))
    return NUMBER.sub("", one) == NUMBER.sub("", other) and said == pytest.approx(told, rel=0.02)


@pytest.mark.parametrize("topic", ["loading", "fragments", "lookups"])
def test_after_any_turns_the_page_says_what_the_model_says(topic: str) -> None:
    experiment, base, table = made(topic, size="tiny")
    told = node(HEARD, {"table": table.told, "turns": 60})
    assert told[0]["address"] == address(experiment, base)
    blocks = set()
    for now in told:
        settings = settings_at(experiment, now["address"])
        state = expected(experiment, settings, now["knob"])
        assert now["x"] == state.x
        assert now["y"] == pytest.approx(state.y, rel=1e-3)
        assert sum(term["length"] for term in now["terms"] if term["row"] == "model") == pytest.approx(
            state.estimate.seconds, rel=1e-3
        )
        assert same(now["sentence"].partition(" Along ")[0], sentence(state).partition(" Along ")[0])
        idle = experiment.disabled(settings)
        assert {name: knob["why"] for name, knob in now["knobs"].items() if name in idle} == {
            name: why for name, why in idle.items() if name in now["knobs"]
        }
        assert now["axes"]["y"]["low"] <= min(now["line"]) and max(now["line"]) <= now["axes"]["y"]["high"]
        blocks.add(tuple(settings[name] for name in table.grid.menus))
    assert len(blocks) > 1 and len({now["knob"] for now in told}) > 1
    assert any(" → " in now["compared"] and "The model: " in now["compared"] for now in told)


def test_numbers_are_written_as_in_the_notebook() -> None:
    rng, given = random.Random(5), []
    for kind in units.SCALES:
        given += [(10 ** rng.uniform(-9, 13), kind, rng.choice((2, 3))) for _ in range(120)]
        given += [(float(rng.randrange(1, 10_000)), kind, 3) for _ in range(30)]
        given += [(rng.randrange(1, 9_000) / 8, kind, rng.choice((2, 3))) for _ in range(60)]  # ties
        given += [(number, kind, 3) for number in (0, 999.6, 1000, 1024, 0.9996e-3, 10_000, -3.2e6)]
    written = node(
        'const said = JSON.parse(require("fs").readFileSync(0, "utf8")), text = writer(said.scales);'
        "console.log(JSON.stringify(said.given.map((one) => text(...one))))",
        {"scales": units.SCALES, "given": given},
    )
    assert len(given) > 1_000
    assert written == [units.text(*one) for one in given]


def test_sliders_stop_at_their_ends_and_where_the_notebook_has_them() -> None:
    for topic in ("start_here", "index_pages", "elimination"):
        experiment = chapter(topic).experiment
        base = experiment.settings()
        found = grid(experiment, base, SHORT)
        assert next(iter(found.blocks.values())) == base
        assert THIS_MACHINE not in {key for keys in found.menus.values() for key in keys}
        for block, settings in found.blocks.items():
            for knob, row in zip(found.sliders(block), found.stops(block), strict=True):
                assert {knob.low, knob.high, settings[knob.name]} <= set(row)
    assert len(stops(toy.FERRY.knob("latency_s"), 6)) == 6
    assert found.evaluations <= SHORT or len(found.counts) == 1


def test_a_slider_stops_on_both_sides_of_a_step() -> None:
    lookups = chapter("lookups").experiment
    base = lookups.settings(size="tiny")
    with any_machine():
        assert edges(lookups, base, lookups.knob("rows_per_lookup")) == [25, 26]
        assert edges(lookups, base, lookups.knob("latency_s")) == []


def test_a_curve_has_places_where_it_bends_and_its_error_is_told() -> None:
    experiment = chapter("loading").experiment
    with any_machine():
        table = Table(experiment, experiment.settings(size="tiny"))
    assert len(table.errors) >= 200
    assert table.errors[int(0.98 * len(table.errors))] <= 0.02
    assert 0 < table.errors[-1] < math.inf
    line = table.told["blocks"][0]["lines"][0]
    assert set(table.told["blocks"][0]["stops"][0]) < set(line["x"])


@pytest.mark.usefixtures("calibrated_as_ever")
def test_the_machine_that_makes_a_book_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = chapter("fragments").experiment
    settings = experiment.settings(size="tiny")

    def calibrated_here(self: Any) -> Any:
        raise AssertionError("The costs of this machine were asked for.")

    monkeypatch.setattr(Calibration, "kept", calibrated_here)
    with any_machine():
        assert experiment.model(settings).seconds > 0
    with pytest.raises(AssertionError):
        experiment.model(settings)


def test_a_page_keeps_the_printed_twin_and_gets_the_moving_panel(tmp_path: Path) -> None:
    twin = '<div data-panel="loading?writers=8&amp;size=tiny"><p>The twin.</p></div>'
    page = pages.moving(f"<p>Before.</p>{twin}<p>After.</p>")
    assert "<p>The twin.</p></div><p>After.</p>" in page
    assert "Modeled only, no DuckDB here." in page and "98 in 100" in page
    told = re.search(r"<script type='application/json'>(.*?)</script>", page, re.DOTALL)
    assert told is not None
    assert json.loads(html.unescape(told[1]))["blocks"][0]["own"]["writers"] == 8
    assert pages.moving("<p>No panel.</p>") == "<p>No panel.</p>"


@pytest.mark.parametrize("name", ["panel.js", "book.js"])
def test_a_script_is_one_that_a_page_of_a_folder_may_load(name: str, tmp_path: Path) -> None:
    text, file = pages.assets()[name], tmp_path / name
    assert not re.search(r"^\s*(export|import)\b|\bfetch\(|https?://(?!www\.w3\.org/)", text, re.MULTILINE)
    file.write_text(text, encoding="utf-8")
    if shutil.which("node"):
        done = subprocess.run(["node", "--check", str(file)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_the_panel_takes_the_colours_of_the_page_and_leaves_paper_to_its_twin() -> None:
    files = pages.assets()
    assert "prefers-color-scheme" in files["panel.js"] and "@media print" in files["panel.css"]
