"""The tables of the leader's guide: agendas added up from the minutes of their questions, a sketch for the board, for
each guess what is expected and what is guessed instead, for each exercise what is answered wrongly and what to say.
Made from the chapters themselves, so that nothing is forgotten.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import nbformat

from readahead import chapters as house
from readahead import paths, published, units
from readahead.chapters import CONTENTS, Chapter, place
from readahead.devices import COLUMNS, device
from readahead.questions import words
from readahead.questions.question import GUESS_MINUTES, Prediction
from tools.expected import PLACES, expected

chapter = functools.cache(house.chapter)
"""Opens a chapter once: its words are read from the same files each time."""


@functools.cache
def entries(topic: str) -> dict[str, Any]:
    """Return what stands in the questions.yaml of a chapter; here, its agendas and its board."""
    return words.load(house.questions_file(topic))


FIGURE_MINUTES = 2
OPENING_MINUTES, CLOSING_MINUTES, BREAK_MINUTES, INTRODUCTION_MINUTES = 10, 5, 10, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of so many minutes. What it takes from a chapter stands in the chapter's questions.yaml."""

    key: str
    minutes: int
    title: str
    breaks: int = 0
    meal_minutes: int = 0

    @property
    def items(self) -> list[Item]:
        """Return what is taken from each chapter, in their order."""
        return [
            Item(
                topic=topic,
                guesses=tuple(told.get("guesses", ())),
                figures=tuple(told.get("figures", ())),
                exercises=tuple(told.get("exercises", ())),
                panel_minutes=told.get("panel_minutes", 0),
            )
            for topic in written()
            if (told := entries(topic)["agendas"].get(self.key))
        ]

    @property
    def rows(self) -> list[tuple[int, str, str]]:
        """Return what happens, one thing after the other: minutes, what, with. The meal is in the middle."""
        items = self.items
        rows = [(item.minutes, item.title, item.contents) for item in items]
        if self.meal_minutes:
            rows.insert((len(rows) + 1) // 2, (self.meal_minutes, "a meal", "outside the room"))
        if self.breaks:
            count = f"{self.breaks} breaks" if self.breaks > 1 else "a break"
            rows.append((BREAK_MINUTES * self.breaks, f"{count}, after a chapter", ""))
        welcome = "welcome; everybody has the start notebook open"
        closing = "are our guesses getting better?"
        return [
            (OPENING_MINUTES, welcome, "`doctor` was run before"),
            *rows,
            (CLOSING_MINUTES, closing, "`class_view.ipynb`"),
        ]

    @property
    def planned(self) -> int:
        """Return the minutes that are spoken for."""
        return sum(minutes for minutes, _, _ in self.rows)

    @property
    def spare(self) -> list[tuple[int, str]]:
        """Return what to leave out when late, with its minutes: the last exercises first, a chapter in the end."""
        items = self.items
        found = [
            (chapter(item.topic).exercise(name).shape.minutes, f"exercise *{name}* of {item.title}")
            for item in reversed(items)
            for name in reversed(item.exercises)
        ]
        found += [
            (item.panel_minutes, f"the panel of {item.title}")
            for item in reversed(items)
            if item.panel_minutes
        ]
        last = items[-1]
        left = last.minutes - sum(number for number, what in found if last.title in what)
        return [*found, (left, f"the rest of {last.title}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What is taken from a chapter."""

    topic: str
    guesses: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    exercises: tuple[str, ...] = ()
    panel_minutes: int = 0
    """With the panel, everybody by themselves."""

    @property
    def minutes(self) -> int:
        """Return how long it takes, with a word of introduction."""
        total = INTRODUCTION_MINUTES + self.panel_minutes
        total += GUESS_MINUTES * len(self.guesses) + FIGURE_MINUTES * len(self.figures)
        return total + sum(chapter(self.topic).exercise(name).shape.minutes for name in self.exercises)

    @property
    def title(self) -> str:
        """Return the chapter with its notebook."""
        spot = place(self.topic)
        return f"{spot.title} (`{spot.notebook}`)"

    @property
    def contents(self) -> str:
        """Return what is taken, in words."""
        parts = [f"guess *{name}*" for name in self.guesses]
        parts += [f"figure *{name}*" for name in self.figures]
        parts += [f"exercise *{name}*" for name in self.exercises]
        return ", ".join(parts + [f"{self.panel_minutes} minutes of the panel"] * bool(self.panel_minutes))


SESSIONS = (
    Session(key="hour", minutes=60, title="One idea: what a trip costs"),
    Session(key="half_day", minutes=180, title="From the arm of a disk to the window of an engine", breaks=2),
    Session(key="day", minutes=360, title="The whole way of a byte, in a day", breaks=3, meal_minutes=50),
)


def written() -> list[str]:
    """Return the topics that have questions, in the order of the chapters."""
    return [row.topic for row in CONTENTS]


def agendas() -> str:
    """Return every agenda as a table with its minutes added up, and what to leave out when late."""
    parts = []
    for agenda in SESSIONS:
        parts += [f"### {agenda.minutes} minutes: {agenda.title}", ""]
        parts += ["| minutes | what | with |", "|---:|---|---|"]
        parts += [f"| {number} | {what} | {contents} |" for number, what, contents in agenda.rows]
        parts += [f"| **{agenda.planned}** | of {agenda.minutes} | |", ""]
        parts += ["Late? Leave out, in this order:", ""]
        gained = 0
        for number, what in agenda.spare:
            gained += number
            parts.append(f"- {what}: {number} minutes, {gained} in all")
        parts.append("")
    return "\n".join(parts)


# -- guesses, exercises, boards --------------------------------------------------------------------
def _guess(known: Chapter, asked: Prediction) -> list[str]:
    """Return what is expected of a guess, the wrong ones, and the debrief."""
    found, figures = expected()[known.place.topic, asked.id], known.rounds[asked.id].published
    if len(found.answers) > 1:
        answer = "; ".join(f"{text} ({one.name})" for one, text in zip(PLACES, found.answers, strict=True))
    else:
        answer = "".join(found.answers) or "no model; it is measured in the room, or only printed"
    printed = dict.fromkeys(figure.printed for figure in figures)
    parts = [f"**{asked.id}**. Expected: {answer}." + (f" Printed: {'; '.join(printed)}." if printed else "")]
    parts.append("")
    for idea, wrong in zip(asked.leader.get("wrong", ()), found.wrong, strict=True):
        parts.append(f"- *{wrong}*: {' '.join(idea['idea'].split())}")
    if "debrief" in asked.leader:
        parts.append(f"- To end with: {' '.join(asked.leader['debrief'].split())}")
    return [*parts, ""]


def _chapter(known: Chapter) -> list[str]:
    where = f"`notebooks/{known.place.notebook}`, about {known.minutes} minutes in full."
    parts = [f"### {known.place.title}", "", where, ""]
    if board := entries(known.place.topic)["board"]:
        says = " ".join(board["says"].split())
        parts += ["On the board:", "", "```text", board["sketch"].rstrip("\n"), "```", "", says, ""]
    parts += ["#### Guesses", ""]
    for asked in known.predictions:
        parts += _guess(known, asked)
    parts += ["#### Exercises", ""] if known.exercises else []
    for exercise in known.exercises:
        question = " ".join(known.question("exercise", exercise.id).split())
        parts += [f"**{exercise.id}** ({exercise.shape.minutes} min). {question}", ""]
        parts += [f"- *{idea.name}*: {idea.hint}" for idea in exercise.misconceptions]
        parts += [f"- Solution: {exercise.solution}", ""]
    return parts


def places() -> str:
    """Return the machines that expected answers are of."""
    parts = ["| in the guide | its own disk | latency | cores | page cache |", "|---|---|---:|---:|---|"]
    titles = {row["name"]: row["title"] for row in published.rows(paths.DATA / "devices.csv", COLUMNS)}
    for one in PLACES:
        can = "can be emptied" if one.has_cold_runs else "cannot be emptied: its own disk is measured warm"
        latency = units.text(device(one.disk).latency_s, "s")
        parts.append(f"| {one.name} | {titles[one.disk]} | {latency} | {one.cores} | {can} |")
    return "\n".join(parts)


def questions() -> str:
    """Return every chapter with its board, its guesses and its exercises."""
    return "\n".join(line for topic in written() for line in _chapter(chapter(topic)))


def chapters() -> str:
    """Return the table of the chapters: question, knobs in sight, whose figures, and minutes."""
    parts = ["| chapter | what it asks | knobs | figures of | minutes |", "|---|---|---|---|---:|"]
    for row in CONTENTS:
        first = nbformat.read(paths.NOTEBOOKS / row.notebook, as_version=4).cells[0].source
        question = " ".join(first.split("\n\n", 1)[1].split()).replace("**", "")
        question = question[: question.rindex("?") + 1]
        opened = chapter(row.topic)
        knobs = ", ".join(
            knob.label.lower()
            for knob in opened.experiment.knobs
            if not knob.folded and knob.kind != "choice"
        )
        known = published.figures(row.topic) if row.topic in published.topics() else ()
        authors = ", ".join(dict.fromkeys(figure.author for figure in known))
        authors = authors or ("all of them" if row.number == 0 else "your own")
        parts.append(
            f"| [{row.number:02} {row.title}](notebooks/{row.notebook}) | {question} | {knobs}"
            f" | {authors} | {opened.minutes} |"
        )
    return "\n".join(parts)
