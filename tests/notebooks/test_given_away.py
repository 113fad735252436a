"""No answer stands above its question in any of its usual spellings, even for who opens all reveals and solutions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from skeleton import source
from test_open_questions import BUILT, GIVEN, LAWS

from readahead import paths, units
from readahead.chapters import CONTENTS, Chapter, chapter
from readahead.experiments.round import Study
from readahead.panels.published_table import published_table

SETTINGS = {topic: settings for topic, (settings, _) in LAWS.items()} | {"row_groups": {"size": "tiny"}}
OTHER_UNITS = {
    "bytes": {"TB": 1e12, "GB": 1e9, "MB": 1e6, "KB": 1e3, "kB": 1e3},
    "1": {"": 1.0},
    "s": {"minutes?": 60.0},
}
"""Units besides our own, as a pattern and in SI."""
WORDS = {
    "s": "s(?:ec(?:onds?)?)?",
    "ms": "m(?:illi)?s(?:econds?)?",
    "µs": "(?:µ|μ|u|micro)s(?:econds?)?",
    "%": "%|per ?cent",
    "×": "×|x|times|-fold",
    "rows/s": "rows(?:/| a | per )s(?:econd)?",
}
"""How our own units are written besides."""
ALLOWED = {
    ("io_cpu", "load_here", "4.3"): "what Chang found is given, and asked is what it costs here",
    ("io_cpu", "load_here", "4.6"): "it is the answer to the round's first question",
    ("io_cpu", "knee", "360"): "Chang's range is given, and asked is what a core of this machine does",
    ("io_cpu", "knee", "1.5"): "the same",
}
"""Numbers that stand above a question all the same, and why."""


def spellings(value: float, kind: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Return the usual ways to write an answer, as its digits and a pattern; none of a number such as 1, 2 or 100."""
    scales = {WORDS.get(word, re.escape(word)): size for word, size in units.SCALES[kind].items()}
    for word, size in (scales | OTHER_UNITS.get(kind, {})).items():
        if not 0.1 <= value / size < 100_000:
            continue
        for digits in (2, 3, 4):
            number = units.text(value / size, "", digits)
            if len(re.sub(r"\D", "", number).strip("0")) > 1:
                digits_of_it = re.escape(number).replace(",", ",?")
                unit = rf"\s?(?:{word})(?!\w)" if word else r"(?![\w%]|[.,]\d)"
                yield number, re.compile(rf"(?<![\w.,]){digits_of_it}0*{unit}")


def before(opened: Chapter) -> Iterator[tuple[str, str]]:
    """Return (prediction, all that stands above its guess): words, code, tables of print, reasons, hints, solutions."""
    cells = json.loads((paths.NOTEBOOKS / opened.place.notebook).read_text(encoding="utf-8"))["cells"]
    above: list[str] = []
    for cell in cells:
        text = source(cell)
        above.append(text)
        for call, name in re.findall(
            r'lesson\.(\w+)\(\s*"(\w+)"', text if cell["cell_type"] == "code" else ""
        ):
            if call == "predict":
                yield name, "\n".join(above)
            elif call == "reveal":
                above.append(opened.prediction(name).because)
            elif call == "exercise":
                above += [*opened.exercise(name).hints, opened.exercise(name).solution]
            elif call == "published":
                topic = re.search(r'topic="(\w+)"', text)
                table = published_table(topic[1] if topic else opened.place.topic, name)
                above.append(table.printed.to_string())


@pytest.mark.parametrize("place", CONTENTS, ids=lambda place: place.topic)
def test_no_answer_stands_above_its_question(place) -> None:  # type: ignore[no-untyped-def]
    opened = chapter(place.topic)
    study = Study(opened.experiment, repeats=1, **SETTINGS[place.topic])
    for knobs in BUILT.get(place.topic, ()):
        opened.experiment.case(study.settings(**knobs)).build()
    found, asked = [], set()
    allowed = {key for key in ALLOWED if key[0] == place.topic}
    for name, above in before(opened):
        asked.add(name)
        one = opened.rounds[name]
        modeled = one.modeled_value(study)
        for value in [*([modeled.median] if modeled else []), *(figure.value for figure in one.published)]:
            for number, pattern in spellings(value, opened.prediction(name).kind):
                hit = pattern.search(above)
                if hit and (place.topic, name, number) in ALLOWED:
                    allowed.discard((place.topic, name, number))
                elif hit:
                    found.append(f"{name}: {number}: …{above[max(0, hit.start() - 60) : hit.end() + 20]}…")
    assert (found, allowed) == ([], set())
    assert asked == {one.id for one in opened.predictions}


def test_what_is_given_is_checked_of_every_question() -> None:
    every = {(place.notebook, one.id) for place in CONTENTS for one in chapter(place.topic).predictions}
    assert every == set(GIVEN)


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (0.346, "1", "it keeps 35 % of it"),
        (0.346, "1", "it keeps 34.6 per cent"),
        (0.346, "1", "a share of 0.35"),
        (990_000, "bytes", "at 990 KB each"),
        (1.44, "times", "1.4 times as fast"),
        (1_608, "count", "there are 1608 pages"),
        (1_608, "count", "there are 1,608 pages"),
        (282.0, "s", "it took 282 seconds"),
        (282.0, "s", "nearly 4.7 minutes"),
        (0.0245, "s", "it took 24.5 ms"),
        (234.0, "rows_per_s", "some 230 rows a second"),
    ],
)
def test_every_usual_spelling_is_seen(value: float, kind: str, words: str) -> None:
    assert any(pattern.search(words) for _, pattern in spellings(value, kind))


@pytest.mark.parametrize("words", ["1.34 % more", "34,880 reads", "35 reads", "part 35", "2.34 times"])
def test_another_number_is_not_taken_for_the_answer(words: str) -> None:
    assert not any(pattern.search(words) for _, pattern in spellings(0.346, "1"))
