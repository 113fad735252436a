"""Reads a folder of learners' result files, and shows what a class guessed, measured and got wrong.

Nobody's name is shown unless the leader asks for it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from readahead import paths, units
from readahead.chapters import CONTENTS, chapter, is_written, place
from readahead.errors import BadValue, DataError
from readahead.experiments.figure import Axis, Line, Picture
from readahead.panels.computed_view import drawing_html
from readahead.panels.guesses import scored_guesses
from readahead.panels.markup import bullets, paragraphs, show, table
from readahead.questions.progress import Facts, read_result
from readahead.questions.question import Outcome

MOST_BYTES = 1024 * units.TiB
"""More memory than any laptop has: a file that says more is not believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassResults:
    """All results that could be read, by the names of their files, and why the others could not."""

    books: dict[str, Facts]
    skipped: tuple[str, ...]


def read_results(folder: Path | str) -> ClassResults:
    """Return the results of a folder, in the order of their names; broken and foreign files are named and skipped.

    Raises `DataError` for a folder that is not there, or holds no result at all.
    """
    path = paths.expanded(folder)
    if not path.is_dir():
        raise DataError(f"{path} is not a folder. Give the one in which the learners' result files lie.")
    books, skipped = {}, []
    for file in sorted(path.glob("*.json")):
        try:
            books[file.stem] = read_result(file)
        except DataError as error:
            skipped.append(str(error))
    if not books:
        why = f" Skipped: {' '.join(skipped)}" if skipped else ""
        raise DataError(f"{path} holds no result file (.json) of this workbook.{why}")
    return ClassResults(books=books, skipped=tuple(skipped))


def machine_row(book: Facts) -> tuple[str, ...]:
    """Return a learner's processor, cores, memory, file system, system and disk, in words."""
    facts, memory = book["machine"], book["machine"].get("memory_bytes")
    known = isinstance(memory, (int, float)) and 0 < memory < MOST_BYTES
    words = {**facts, "memory_bytes": units.text(memory, "bytes") if known else "?"}
    names = ("cpu", "cores", "memory_bytes", "file_system", "system")
    return (*(str(words.get(name, "?")) for name in names), str(book.get("disk") or "not calibrated"))


def guesses_table(results: ClassResults) -> pd.DataFrame:
    """Return every scored guess, in the order of the book: learner (a number), topic, name, ratio, off (a factor)."""
    rows = [
        (number, one.topic, one.name, one.guess / one.truth, one.off)
        for row in CONTENTS
        for number, book in enumerate(results.books.values())
        for one in scored_guesses(book)
        if one.topic == row.topic
    ]
    return pd.DataFrame(rows, columns=["learner", "topic", "name", "ratio", "off"])


def exercises_table(results: ClassResults) -> pd.DataFrame:
    """Return every exercise that somebody tried: how many tried it, how many were right, which ideas they met."""
    rows = []
    for row in CONTENTS:
        if not is_written(row.topic) or row.topic == "start_here":
            continue
        opened = chapter(row.topic)
        for name in (exercise.id for exercise in opened.exercises):
            tried = [tries for book in results.books.values() if (tries := _attempts(book, row.topic, name))]
            if not tried:
                continue
            ideas = [{str(one.get("misconception") or "") for one in tries} - {""} for tries in tried]
            right = sum(any(one.get("outcome") == Outcome.RIGHT.value for one in tries) for tries in tried)
            met = Counter(idea for mine in ideas for idea in mine).most_common()
            rows.append((row.topic, name, opened.question("exercise", name), len(tried), right, met))
    return pd.DataFrame(rows, columns=["topic", "name", "question", "tried", "right", "misconceptions"])


def _attempts(book: Facts, topic: str, name: str) -> list[Facts]:
    """Return one learner's attempts at an exercise; what is no attempt is passed over."""
    tries = book["topics"].get(topic, {}).get("answers", {}).get(name, [])
    return [one for one in tries if isinstance(one, dict)] if isinstance(tries, list) else []


class ClassView:
    """What can be shown of a class."""

    def __init__(self, results: ClassResults, *, names: bool = False) -> None:
        self.results, count = results, len(results.books)
        self._names = list(results.books) if names else [f"Learner {n}" for n in range(1, count + 1)]
        self._are_named = names
        said = f"**{count} result{'s' if count != 1 else ''}** read, {len(results.skipped)} files skipped."
        show(paragraphs(said) + bullets(results.skipped))

    def devices(self) -> None:
        """Show the machines of the class."""
        head = ("Learner", "Processor", "Cores", "Memory", "File system", "System", "Disk")
        books = zip(self._names, self.results.books.values(), strict=True)
        show(table(head, [(name, *machine_row(book)) for name, book in books]))

    def guesses(self, topic: str) -> None:
        """Draw every guess of a chapter against the truth that its learner saw. Raises `BadValue` if there is none."""
        title, names = place(topic).title, tuple(asked.id for asked in chapter(topic).predictions)
        found = guesses_table(self.results)
        found = found[(found.topic == topic) & found.name.isin(names)]
        if found.empty:
            raise BadValue(f"Nobody in this room has a scored guess in {topic!r}. Choose another chapter.")
        places = found.name.map(names.index) + 1 + self._beside(found.learner)
        who = found.learner if self._are_named else 0 * found.learner
        lines = [
            Line(
                name=self._names[number] if self._are_named else f"{found.learner.nunique()} learners",
                points=list(zip(places[who == number], found.ratio[who == number], strict=True)),
                source="guess",
                joined=False,
            )
            for number in who.unique()
        ]
        truth = Line(name="right on", source="measured", points=[(1, 1.0), (len(names), 1.0)])
        high = int((found.ratio > 1).sum())
        picture = Picture(
            title=f"Guesses in {title}",
            sentence=f"{len(found)} guesses, {high} of them too high and {len(found) - high} too low or right on.",
            x=Axis(label="question", kind="count", log=False, names=names),
            y=Axis(label="guess / truth", kind="times"),
            lines=(*lines, truth),
            marks={},
        )
        show(drawing_html(picture))

    def calibration(self) -> None:
        """Draw how far the guesses were off, chapter by chapter, and each learner's own beside it."""
        found = guesses_table(self.results)
        if found.empty:
            show(paragraphs("No guess has been scored yet."))
            return
        middles = found.groupby("topic", sort=False).off.median()
        each = found.groupby(["topic", "learner"], sort=False).off.median().reset_index()
        topics = list(middles.index)
        places = each.topic.map(topics.index) + 1 + self._beside(each.learner)
        typical = [f"{place(topic).title!r}" for topic in (topics[0], topics[-1])]
        offs = [units.text(off, "times") for off in (middles.iloc[0], middles.iloc[-1])]
        picture = Picture(
            title="Does the room learn to guess?",
            sentence=f"In {typical[0]} the room was typically off by {offs[0]}, in {typical[1]} by {offs[1]}.",
            x=Axis(
                label="chapter",
                kind="count",
                log=False,
                names=tuple(topic.replace("_", " ") for topic in topics),
            ),
            y=Axis(label="median factor off", kind="times"),
            lines=(
                Line(
                    name="each learner's own",
                    points=list(zip(places, each.off, strict=True)),
                    source="guess",
                    joined=False,
                ),
                Line(name="median of the room", points=list(enumerate(middles, start=1)), source="modeled"),
            ),
            marks={},
        )
        show(drawing_html(picture))

    def exercises(self) -> None:
        """Show what was tried, what was right, and the misconception most met: what to talk about first on top."""
        found = exercises_table(self.results)
        rows = []
        for one in found.iloc[(found.right / found.tried).argsort(kind="stable")].itertuples():
            met = ", ".join(f"{idea} ({count})" for idea, count in one.misconceptions[:2])
            rows.append((f"{one.topic}: {one.name}", one.question, f"{one.right} of {one.tried}", met))
        head = ("Exercise", "Question", "Right", "Misconceptions met")
        show(table(head, rows) if rows else paragraphs("No exercise has been tried yet."))

    def _beside(self, learners: pd.Series) -> pd.Series:
        """Return how far beside a place each learner's mark stands, so that thirty of them can be told apart."""
        return 0.5 * ((learners + 0.5) / len(self.results.books) - 0.5)


def open_class(folder: Path | str, *, names: bool = False) -> ClassView:
    """Read a folder of result files and return the view. Raises `DataError` for a folder without any."""
    return ClassView(read_results(folder), names=names)
