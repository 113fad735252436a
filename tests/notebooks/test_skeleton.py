"""Every notebook passes the inspector, and the inspector sees what is broken on purpose."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from skeleton import BLOCKS, NUMBERED, OPTIONAL, inspect, source
from toybox import CHAPTER

from readahead import paths
from readahead.chapters import CONTENTS, chapter
from readahead.commands.run import defaults
from readahead.panels.published_table import published_table

NOTEBOOKS = sorted(paths.NOTEBOOKS.glob("[0-9][0-9]_*.ipynb"))
TOY = json.loads((Path(__file__).parents[1] / "toybox" / "90_toy.ipynb").read_text(encoding="utf-8"))
ALLOWED = ("readahead", "toybox")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_every_notebook_has_the_skeleton(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert inspect(notebook) == []


@pytest.mark.parametrize("row", CONTENTS, ids=lambda row: row.topic)
def test_a_notebook_uses_all_that_its_chapter_offers(row: Any) -> None:
    notebook = json.loads((paths.NOTEBOOKS / row.notebook).read_text(encoding="utf-8"))
    assert unused(notebook, chapter(row.topic)) == set()


@pytest.mark.parametrize("row", CONTENTS, ids=lambda row: row.topic)
def test_every_published_table_that_a_notebook_shows_is_there(row: Any) -> None:
    text = (paths.NOTEBOOKS / row.notebook).read_text(encoding="utf-8").replace('\\"', '"')
    for table, topic in re.findall(r'lesson\.published\("(\w+)"(?:, topic="(\w+)")?\)', text):
        assert len(published_table(topic or row.topic, table)) > 0


def unused(notebook: dict[str, Any], known: Any) -> set[tuple[str, str]]:
    """Return what a chapter offers and its notebook does not call, or calls without being offered."""
    offered = {("predict", item.id) for item in known.predictions}
    offered |= {("claim", item.id) for item in known.claims}
    offered |= {("exercise", item.id) for item in known.exercises}
    offered |= {("figure", name) for name in known.figures} | {("steps", name) for name in known.steps}
    code = "\n".join(source(cell) for cell in notebook["cells"] if cell["cell_type"] == "code")
    called = set(re.findall(r"lesson\.(predict|claim|exercise|figure|steps)\(\s*[\"'](\w+)[\"']", code))
    return offered ^ called


def test_the_toy_notebook_is_faultless() -> None:
    assert inspect(TOY, imports=ALLOWED) == []
    assert unused(TOY, CHAPTER) == {("predict", "which"), ("claim", "rope_costs")}


# -- broken on purpose -----------------------------------------------------------------------------
def put(number: int, text: str) -> Callable[[dict[str, Any]], None]:
    return lambda notebook: notebook["cells"][number].update(source=text)


def add(number: int, text: str) -> Callable[[dict[str, Any]], None]:
    return lambda notebook: notebook["cells"][number].update(source=source(notebook["cells"][number]) + text)


def drop(*numbers: int) -> Callable[[dict[str, Any]], None]:
    def break_it(notebook: dict[str, Any]) -> None:
        notebook["cells"] = [cell for n, cell in enumerate(notebook["cells"]) if n not in numbers]

    return break_it


def swap(one: int, other: int) -> Callable[[dict[str, Any]], None]:
    def break_it(notebook: dict[str, Any]) -> None:
        cells = notebook["cells"]
        cells[one], cells[other] = cells[other], cells[one]

    return break_it


def move(number: int, to: int) -> Callable[[dict[str, Any]], None]:
    return lambda notebook: notebook["cells"].insert(to, notebook["cells"].pop(number))


def at(text: str) -> int:
    """Return the number of the first cell of the toy notebook that holds `text`."""
    return next(number for number, cell in enumerate(TOY["cells"]) if text in source(cell))


YOURS = next(n for n, cell in enumerate(TOY["cells"]) if "yours" in cell["metadata"].get("tags", []))
ASK, SHOW, SAY = at('predict("fetch")'), at('reveal("fetch")'), at('reveal("fetch")') + 1
ROUND_3 = range(at("## Round 3"), at("## Exercises"))
LAST = at('exercise("rank")')
BROKEN: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    "no title": ("blocks", drop(0)),
    "no question": ("title", put(0, "# The well\n\nAbout buckets.")),
    "no objectives": ("blocks", drop(1)),
    "one objective": ("objectives", put(1, "## Objectives\n\n- Predict a time.")),
    "vague verb": ("objectives", add(1, "\n- Understand buckets.")),
    "no parameters": ("blocks", drop(2)),
    "parameters not tagged": ("blocks", lambda notebook: notebook["cells"][2]["metadata"].clear()),
    "derived parameter": ("parameters", add(2, "\ntwice = 2 * rope_s")),
    "called parameter": ("parameters", add(2, "\nhome = str(1)")),
    "no reveal parameter": ("parameters", put(2, 'size = "tiny"')),
    "two parameter cells": ("parameters", lambda nb: nb["cells"][3]["metadata"].update(tags=["parameters"])),
    "no machine card": ("blocks", put(3, "lesson = None")),
    "card before parameters": ("blocks", swap(2, 3)),
    "two rounds": ("rounds", drop(*ROUND_3)),
    "reveal before predict": ("rounds", swap(ASK, SHOW)),
    "predict and reveal in one cell": ("rounds", put(ASK, 'lesson.predict("fetch"); lesson.reveal("fetch")')),
    "no question above the call": ("questions", drop(ASK - 1)),
    "a question without its label": ("questions", put(ASK - 1, "How long does it take?")),
    "no prediction": ("rounds", drop(ASK)),
    "no reveal": ("rounds", drop(SHOW)),
    "nothing that leads on": ("rounds", drop(SAY, YOURS - 1)),
    "rounds misnumbered": ("rounds", put(at("## Round 2"), "## Round 4: a longer rope")),
    "one exercise": (
        "exercises",
        drop(*(n for n, cell in enumerate(TOY["cells"]) if ".exercise(" in source(cell) and n < LAST)),
    ),
    "an exercise before the reveal": (
        "exercises",
        move(at('exercise("half_bucket")'), at('predict("half")')),
    ),
    "no lines of one's own in a round": ("yours", drop(YOURS)),
    "nothing said to try": ("yours", drop(YOURS - 1)),
    "a question above one's own lines": ("yours", put(YOURS - 1, "**Predict.** How long?")),
    "a table of print, retyped": (
        "retyped",
        add(
            SAY,
            "\n\n> **A. Farmer, On Fetching Water (1850)**: ropes.\n>\n> | rope | m |\n> |---|---|\n> | old | 3 |",
        ),
    ),
    "pandas in another cell": ("imports", add(ASK, "\nimport pandas as pd")),
    "another library in one's own lines": ("imports", add(YOURS, "\nimport numpy as np")),
    "px in another cell": ("figures with words", add(ASK, "\npx.line(lesson)")),
    "a loop in one's own lines": ("thin code", add(YOURS, "\nx = [n for n in (1, 2)]")),
    "exercises before rounds": ("blocks", swap(at("## Exercises"), at("## Round 1"))),
    "no key points": ("blocks", drop(at("## Key points"))),
    "empty key points": ("key points", put(at("## Key points"), "## Key points\n\nThat was it.")),
    "no next": ("blocks", drop(at("## Next"))),
    "def": ("thin code", add(ASK, "\ndef f():\n    return 1")),
    "class": ("thin code", add(ASK, "\nclass C:\n    pass")),
    "lambda": ("thin code", add(ASK, "\nf = lambda x: x")),
    "loop": ("thin code", put(ASK, 'for name in ("fetch",):\n    lesson.predict(name)')),
    "comprehension": ("thin code", add(ASK, "\nx = [n for n in (1, 2)]")),
    "magic": ("thin code", add(ASK, "\n%timeit 1")),
    "shell": ("thin code", add(ASK, "\n!ls")),
    "no Python": ("thin code", add(ASK, "\nwhat now")),
    "plotly": ("imports", add(ASK, "\nimport plotly.graph_objects as go")),
    "from matplotlib": ("imports", add(ASK, "\nfrom matplotlib import pyplot")),
    "bare display": ("figures with words", add(ASK, "\ndisplay(lesson)")),
    "print": ("figures with words", add(ASK, "\nprint(lesson)")),
    "nine lines": ("short cells", put(ASK, "\n".join(f"x{n} = {n}" for n in range(9)))),
    "output": (
        "no outputs",
        lambda nb: nb["cells"][ASK].update(outputs=[{"output_type": "stream", "text": "8 ms"}]),
    ),
    "execution count": ("no outputs", lambda nb: nb["cells"][ASK].update(execution_count=3)),
    "widget state": ("no outputs", lambda nb: nb["metadata"].update(widgets={"state": {"a": 1}})),
    "raw cell": ("cell kinds", lambda nb: nb["cells"][SAY].update(cell_type="raw")),
    "large": ("small file", add(SAY, "word " * 20_000)),
    "time in prose": ("no number in prose", add(SAY, " It takes 25 ms.")),
    "rate in prose": ("no number in prose", add(SAY, " You will see 90 MB/s.")),
    "factor in prose": ("no number in prose", add(SAY, " It is 2x faster.")),
    "twice in prose": ("no number in prose", add(SAY, " It is twice as fast.")),
    "quote without source": ("no number in prose", add(SAY, "\n\n> Somebody said 30 ms.")),
    "quote with a name only": ("no number in prose", add(SAY, "\n\n> **A. Farmer** said 30 ms.")),
    "number after a good quote": ("no number in prose", add(4, " So it takes 30 ms.")),
    "table without source": (
        "no number in prose",
        add(SAY, "\n\n| rope | time |\n|---|---|\n| old | 30 ms |"),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_caught_by_its_own_rule(name: str) -> None:
    rule, break_it = BROKEN[name]
    notebook = copy.deepcopy(TOY)
    break_it(notebook)
    faults = inspect(notebook, imports=ALLOWED)
    assert rule in {fault.rule for fault in faults}, faults


def test_each_missing_block_is_named() -> None:
    empty = {"cells": [], "metadata": {}}
    assert {fault.says for fault in inspect(empty)} == {
        *(f"No block {block!r}." for block in BLOCKS if block not in OPTIONAL),
        "0 exercises; at least two.",
    }


@pytest.mark.parametrize(
    "words",
    [
        "8 ms",
        "0.5 s",
        "10 µs",
        "3 seconds",
        "1,000 IOPS",
        "90 MB/s",
        "2 GB/s",
        "250 rows/s",
        "250 rows a second",
        "2x faster",
        "3 times slower",
        "40 % faster",
        "12.9 s.",
        "5 minutes",
        "twice as fast",
    ],
)
def test_numbers_of_machines_are_seen(words: str) -> None:
    assert NUMBERED.search(f"It shows {words}, mostly.") or NUMBERED.search(f"It shows {words}")


@pytest.mark.parametrize(
    "words",
    [
        "512 KB fragments",
        "122,880 rows",
        "part 50 shows",
        "8 disks",
        "33 % of it",
        "4 knobs",
        "in 2010",
        "TPC-H Q1",
        "ten times the rope",
        "10 times more row groups",
        "row group 3 is skipped",
    ],
)
def test_sizes_counts_and_years_are_free(words: str) -> None:
    assert not NUMBERED.search(words)


@pytest.mark.parametrize("author", ["> **N. Neugebauer, Columnstore IO (2014)**", "> **Given**"])
def test_a_quote_with_its_source_may_hold_numbers(author: str) -> None:
    notebook = copy.deepcopy(TOY)
    add(SAY, f"\n\n{author}: a seek of 10 ms.")(notebook)
    assert inspect(notebook, imports=ALLOWED) == []


def test_what_is_given_may_be_a_table() -> None:
    notebook = copy.deepcopy(TOY)
    add(SAY, "\n\n> **Given**\n>\n> | rope | rate |\n> |---|---|\n> | old | 90 MB/s |")(notebook)
    assert inspect(notebook, imports=ALLOWED) == []


def test_a_notebook_without_its_own_block_of_exercises_is_faultless() -> None:
    notebook = copy.deepcopy(TOY)
    drop(at("## Exercises"))(notebook)
    assert inspect(notebook, imports=ALLOWED) == []


def test_ones_own_lines_may_draw_print_and_use_pandas() -> None:
    notebook = copy.deepcopy(TOY)
    add(YOURS, "\nimport pandas as pd\nimport plotly.express as px\npx.line(run.reads)\nprint(1)")(notebook)
    assert inspect(notebook, imports=ALLOWED) == []


def test_all_notebooks_open_at_the_same_size_which_is_that_of_their_givens() -> None:
    size = {path.name: defaults(path)["size"] for path in NOTEBOOKS}
    assert set(size.values()) == {"tiny"}
    own_disk = "own machine's disk, at size small"  # a longer run, and the question says so
    words = {path.name: path.read_text(encoding="utf-8").replace(own_disk, "") for path in NOTEBOOKS}
    said = {name: set(re.findall(r"at size (\w+)", text)) - {"tiny"} for name, text in words.items()}
    assert {name: sizes for name, sizes in said.items() if sizes} == {}
