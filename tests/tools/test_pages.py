"""The made pages are what the code would make, the agendas keep their time and open what they show, and nothing of the
print is left out."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from readahead import paths, published
from readahead.chapters import place
from readahead.errors import BadValue
from readahead.experiments.round import Study
from readahead.panels import background, lesson
from readahead.questions.progress import Progress
from tools import expected, leaders_guide, pages
from tools.leaders_guide import chapter


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_a_page_is_up_to_date(page) -> None:  # type: ignore[no-untyped-def]
    assert page.read_text(encoding="utf-8") == pages.made(page), "Run: make pages"


def test_every_printed_figure_stands_on_the_page() -> None:
    text = (paths.ROOT / "docs" / "published.md").read_text(encoding="utf-8")
    lost = [
        f.name for topic in published.topics() for f in published.figures(topic) if f"`{f.name}`" not in text
    ]
    assert lost == []


def test_every_exercise_has_its_minutes_and_its_wrong_ideas() -> None:
    text = leaders_guide.questions()
    for topic in leaders_guide.written():
        for exercise in chapter(topic).exercises:
            assert f"**{exercise.id}** ({exercise.shape.minutes} min)" in text
            assert all(f"*{idea.name}*: {idea.hint}" in text for idea in exercise.misconceptions)


def test_every_guess_has_its_usual_wrong_ones_and_a_debrief() -> None:
    text, found = leaders_guide.questions(), expected.expected()
    for topic in leaders_guide.written():
        for asked in chapter(topic).predictions:
            told = found[topic, asked.id]
            assert asked.leader, f"{topic}, predictions.{asked.id}: leader is missing"
            assert not set(told.answers[:1]) & set(told.wrong), asked.id
            for guess, idea in zip(told.wrong, asked.leader["wrong"], strict=True):
                assert f"- *{guess}*: {' '.join(idea['idea'].split())}" in text
            assert f"- To end with: {' '.join(asked.leader['debrief'].split())}" in text


@pytest.mark.parametrize("topic", leaders_guide.written())
def test_a_wrong_idea_that_is_computed_comes_to_another_answer(topic: str, tmp_path: Path) -> None:
    known, close = chapter(topic), {}
    with expected.at(expected.PLACES[0], str(tmp_path)):
        opened = expected.study(known, expected.PLACES[0])
        for asked in known.predictions:
            law = known.rounds[asked.id].law
            for changes in [idea["changes"] for idea in asked.leader["wrong"] if "changes" in idea]:
                assert law is not None
                factor = expected.law_with(known, asked.id, opened, changes) / law(opened).result
                if 0.9 < factor < 1.1:
                    close[asked.id] = changes, factor
    assert close == {}


def test_a_guess_that_changes_what_its_law_does_not_take_says_so() -> None:
    known, opened = chapter("fragments"), expected.study(chapter("fragments"), expected.PLACES[0])
    with pytest.raises(
        BadValue, match="fragments, guess 'yield', leader: 'seek' is no argument of yield_share"
    ):
        expected.law_with(known, "yield", opened, {"seek": 1})
    loading = chapter("loading")
    with pytest.raises(BadValue, match="guess 'spread', leader: there is no law"):
        expected.law_with(loading, "spread", expected.study(loading, expected.PLACES[0]), {"runs": 1})


def test_what_a_leader_expects_does_not_depend_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, place_ = chapter("row_groups"), expected.PLACES[1]

    def near(cache: str) -> float:
        with expected.at(place_, str(tmp_path / cache)):
            value = known.rounds["near"].modeled_value(expected.study(known, place_))
        assert value is not None
        return value.median

    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(64)), raising=False)
    many = near("somewhere")
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0}, raising=False)
    assert near("elsewhere") == many


@pytest.mark.parametrize("topic", leaders_guide.written())
def test_a_board_can_be_drawn_in_a_minute(topic: str) -> None:
    board = leaders_guide.entries(topic)["board"]
    lines = board["sketch"].splitlines()
    assert 4 <= len(lines) <= 13
    assert max(map(len, lines)) <= 72
    for point in ("A", "B"):
        assert re.search(rf"\b{point}\b", board["sketch"]) and re.search(rf"\b{point}\b", board["says"])


# -- agendas ---------------------------------------------------------------------------------------
def calls(notebook: str) -> list[tuple[int, str, str]]:
    """Return the calls of a notebook that ask or show something, in order: number of the round, call, name."""
    found, part = [], 0
    for cell in nbformat.read(paths.NOTEBOOKS / notebook, as_version=4).cells:
        part += len(re.findall(r"^## ", cell.source, re.MULTILINE)) if cell.cell_type == "markdown" else 0
        if cell.cell_type == "code":
            asked = re.findall(
                r'^lesson\.(predict|reveal|figure|exercise)\("(\w+)"', cell.source, re.MULTILINE
            )
            found += [(part, call, name) for call, name in asked]
    return found


def stays_closed(item: leaders_guide.Item, progress: Progress) -> list[str]:
    """Return what a leader cannot show who runs the notebook, and then guesses and opens what the agenda says."""
    known, spot = chapter(item.topic), place(item.topic)
    opened = lesson.Lesson(known, Study(known.experiment, size="tiny"), progress, is_open=False)
    every, rounds = calls(spot.notebook), set()
    for part, call, name in every:
        getattr(opened, call)(name)
        if call == "reveal" and name in item.guesses:
            asked, answer = opened.views["predict", name], opened.views["reveal", name]
            choices = asked.prediction.choices
            asked.keep(choices[0] if choices else asked.prediction.low * 2)
            answer.open()
            assert answer.is_open
            rounds.add(part)
    faults = []
    for part, call, name in every:
        if call == "figure" and name in item.figures and not opened.views[call, name].background.started:
            faults.append(f"figure {name} waits for a guess that is not in the agenda")
        if call == "exercise" and name in item.exercises and part not in rounds:
            faults.append(f"exercise {name} belongs to a round of which nothing is guessed")
    for kind, names in (("predict", item.guesses), ("figure", item.figures), ("exercise", item.exercises)):
        there = [name for _, call, name in every if call == kind]
        faults += [f"{kind} {name} is not in the notebook" for name in names if name not in there]
        order = [there.index(name) for name in names if name in there]
        faults += [f"{kind} stands in another order in the notebook" for a, b in pairwise(order) if a > b]
    return faults


@pytest.fixture
def progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Progress:
    """Return a leader's own progress, in a kernel where nothing is displayed and nothing measured."""
    monkeypatch.setenv("READAHEAD_RUN", "")
    monkeypatch.setattr(lesson, "display", lambda shown: None)

    def start(self: background.Worker, work: object, done: object) -> None:
        self.started += 1

    monkeypatch.setattr(background.Worker, "start", start)
    return Progress(tmp_path / "progress.json")


@pytest.mark.parametrize("agenda", leaders_guide.SESSIONS, ids=lambda agenda: agenda.key)
def test_an_agenda_opens_what_it_shows(agenda: leaders_guide.Session, progress: Progress) -> None:
    assert {item.topic: faults for item in agenda.items if (faults := stays_closed(item, progress))} == {}


@pytest.mark.parametrize(
    ("taken", "fault"),
    [
        ({"guesses": ("yield",), "figures": ("yield",)}, "figure yield waits for a guess"),
        ({"guesses": ("yield",), "exercises": ("hole",)}, "exercise hole belongs to a round of which"),
        ({"guesses": ("rebuild", "yield")}, "predict stands in another order"),
        ({"guesses": ("yields",)}, "predict yields is not in the notebook"),
    ],
)
def test_a_closed_curtain_is_found(taken: dict, fault: str, progress: Progress) -> None:
    faults = stays_closed(leaders_guide.Item(topic="fragments", **taken), progress)
    assert len(faults) == 1 and fault in faults[0]


@pytest.mark.parametrize("agenda", leaders_guide.SESSIONS, ids=lambda agenda: agenda.key)
def test_an_agenda_keeps_its_time(agenda: leaders_guide.Session) -> None:
    assert 0.85 * agenda.minutes <= agenda.planned <= agenda.minutes
    text = leaders_guide.agendas().split(f"### {agenda.minutes} minutes")[1].split("###")[0]
    rows = [int(number) for number in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)]
    assert sum(rows) == agenda.planned and f"| **{agenda.planned}** | of {agenda.minutes} |" in text
    assert (agenda.minutes < 240) or (45 <= agenda.meal_minutes <= 60 and agenda.meal_minutes in rows)


@pytest.mark.parametrize("agenda", leaders_guide.SESSIONS, ids=lambda agenda: agenda.key)
def test_what_is_left_out_when_late_is_in_the_agenda(agenda: leaders_guide.Session) -> None:
    exercises = [name for item in agenda.items for name in item.exercises]
    told = [found[1] for _, what in agenda.spare if (found := re.match(r"exercise \*(\w+)\*", what))]
    assert told == exercises[::-1]
    last = agenda.items[-1]
    gained = sum(number for number, what in agenda.spare if last.title in what)
    assert gained == last.minutes


def run(*arguments: str) -> Result:
    """Call `make pages` with options."""
    return CliRunner().invoke(pages.pages, arguments)


BEGUN, ENDED = pages.BEGIN.format("chapters"), pages.END.format("chapters")


@pytest.mark.parametrize(
    "text", [f"{BEGUN} and the rest", f"the rest {ENDED}", "", f"{ENDED}{BEGUN}", f"{BEGUN}{ENDED}" * 2]
)
def test_a_page_that_lost_a_mark_is_left_as_it_is(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    monkeypatch.setattr(pages, "PAGES", {page: {"chapters": lambda: "new"}})
    ended = run()
    assert ended.exit_code == 1
    assert "once each" in ended.output
    assert page.read_text(encoding="utf-8") == text
    page.unlink()
    ended = run("--check")
    assert ended.exit_code == 1
    assert "cannot be read" in ended.output


def test_a_stale_page_is_told_of_by_the_exit_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before {BEGUN} old {ENDED} after", encoding="utf-8")
    monkeypatch.setattr(pages, "PAGES", {page: {"chapters": lambda: "new"}})
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    assert run("--check").exit_code == 1
    assert run().exit_code == run("--check").exit_code == 0
    assert page.read_text(encoding="utf-8") == f"before {BEGUN}\n\nnew\n\n{ENDED} after"
