"""The tables of the leader's guide: agendas added up from the minutes of their questions, and for each question what
learners answer wrongly and what to say to them. Made from the chapters themselves, so that none is forgotten.
"""

from __future__ import annotations

from dataclasses import dataclass

import nbformat

from readahead import paths, published
from readahead.chapters import CONTENTS, Chapter, chapter, place
from readahead.questions.question import GUESS_MINUTES

OPENING_MINUTES, CLOSING_MINUTES, BREAK_MINUTES, INTRODUCTION_MINUTES = 10, 5, 10, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of so many minutes. What it takes from a chapter stands in the chapter's questions.yaml."""

    key: str
    minutes: int
    title: str
    breaks: int = 0

    @property
    def items(self) -> list[Item]:
        """Return what is taken from each chapter, in their order."""
        return [
            Item(
                topic=topic,
                guesses=tuple(told.get("guesses", ())),
                exercises=tuple(told.get("exercises", ())),
                panel_minutes=told.get("panel_minutes", 0),
            )
            for topic in written()
            if (told := chapter(topic).agendas.get(self.key))
        ]

    @property
    def planned(self) -> int:
        """Return the minutes that are spoken for."""
        around = OPENING_MINUTES + CLOSING_MINUTES + BREAK_MINUTES * self.breaks
        return around + sum(item.minutes for item in self.items)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What is taken from a chapter."""

    topic: str
    guesses: tuple[str, ...] = ()
    exercises: tuple[str, ...] = ()
    panel_minutes: int = 0
    """With the panel, everybody by themselves."""

    @property
    def minutes(self) -> int:
        """Return how long it takes, with a word of introduction."""
        total = INTRODUCTION_MINUTES + self.panel_minutes + GUESS_MINUTES * len(self.guesses)
        return total + sum(chapter(self.topic).exercise(name).shape.minutes for name in self.exercises)


SESSIONS = (
    Session(key="hour", minutes=60, title="One idea: what a trip costs"),
    Session(key="half_day", minutes=180, title="From the arm of a disk to the window of an engine", breaks=2),
    Session(key="day", minutes=360, title="The whole way of a byte, in a day", breaks=4),
)


def written() -> list[str]:
    """Return the topics that have questions, in the order of the chapters."""
    return [row.topic for row in CONTENTS]


def agendas() -> str:
    """Return every agenda as a table with its minutes added up."""
    parts = []
    for agenda in SESSIONS:
        parts += [
            f"### {agenda.minutes} minutes: {agenda.title}",
            "",
            "| minutes | what | with |",
            "|---:|---|---|",
        ]
        parts.append(
            f"| {OPENING_MINUTES} | welcome; everybody has the start notebook open | `doctor` was run before"
            " |"
        )
        for item in agenda.items:
            spot = place(item.topic)
            asked = [f"guess *{name}*" for name in item.guesses] + [
                f"exercise *{name}*" for name in item.exercises
            ]
            played = [f"{item.panel_minutes} minutes of the panel"] if item.panel_minutes else []
            parts.append(
                f"| {item.minutes} | {spot.title} (`{spot.notebook}`) | {', '.join(asked + played)} |"
            )
        if agenda.breaks:
            count = f"{agenda.breaks} breaks" if agenda.breaks > 1 else "a break"
            parts.append(f"| {BREAK_MINUTES * agenda.breaks} | {count}, after a chapter | |")
        parts.append(f"| {CLOSING_MINUTES} | are our guesses getting better? | `class_view.ipynb` |")
        parts += [f"| **{agenda.planned}** | of {agenda.minutes} | |", ""]
    return "\n".join(parts)


def _chapter(known: Chapter) -> list[str]:
    where = f"`notebooks/{known.place.notebook}`, about {known.minutes} minutes in full."
    parts = [f"### {known.place.title}", "", where, ""]
    for exercise in known.exercises:
        question = " ".join(known.question("exercise", exercise.id).split())
        parts += [f"**{exercise.id}** ({exercise.shape.minutes} min). {question}", ""]
        parts += [f"- *{idea.name}*: {idea.hint}" for idea in exercise.misconceptions]
        parts += [f"- Solution: {exercise.solution}", ""]
    return parts


def questions() -> str:
    """Return every exercise with its minutes, its misconceptions and what to say, and its solution."""
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
