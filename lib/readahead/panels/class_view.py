"""Reads a folder of learners' result files, and shows what a class guessed, measured and got wrong.

Nobody's name is shown unless the leader asks for it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from readahead import paths, units
from readahead.chapters import CONTENTS, chapter, is_written, place
from readahead.errors import BadValue, DataError
from readahead.experiments.figure import Axis, Line, Picture
from readahead.panels.computed_view import drawing_html
from readahead.panels.guesses import ScoredGuess, scored_guesses
from readahead.panels.markup import bullets, paragraphs, show, table
from readahead.questions.exercise import Outcome
from readahead.questions.progress import Facts, read_result

MOST_BYTES = 1024 * units.TiB
"""More memory than any laptop has: a file that says more is not believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """One learner's result. The name is that of the file."""

    name: str
    book: Facts

    @property
    def machine(self) -> tuple[str, ...]:
        """Return processor, cores, memory, file system, system and disk, in words."""
        facts, disk = self.book["machine"], self.book.get("disk")
        memory = facts.get("memory_bytes")
        known = isinstance(memory, (int, float)) and 0 < memory < MOST_BYTES
        said = units.text(memory, "bytes") if known else "?"
        plain = (str(facts.get(name, "?")) for name in ("cpu", "cores"))
        rest = (str(facts.get(name, "?")) for name in ("file_system", "system"))
        return (*plain, said, *rest, str(disk or "not calibrated"))

    @property
    def guesses(self) -> list[ScoredGuess]:
        """Return the scored guesses."""
        return scored_guesses(self.book)

    def attempts(self, topic: str, name: str) -> list[Facts]:
        """Return the attempts at an exercise; what is no attempt is passed over."""
        tries = self.book["topics"].get(topic, {}).get("answers", {}).get(name, [])
        return [one for one in tries if isinstance(one, dict)] if isinstance(tries, list) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassResults:
    """All results that could be read, and why the others could not."""

    learners: tuple[Learner, ...]
    skipped: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExerciseResult:
    """What a class made of one exercise."""

    topic: str
    name: str
    question: str
    tried: int
    right: int
    misconceptions: tuple[tuple[str, int], ...]
    """(name, how many learners met it), the most frequent first."""


def read_results(folder: Path | str) -> ClassResults:
    """Return the results of a folder, in the order of their names; broken and foreign files are named and skipped.

    Raises `DataError` for a folder that is not there, or holds no result at all.
    """
    path = paths.expanded(folder)
    if not path.is_dir():
        raise DataError(f"{path} is not a folder. Give the one in which the learners' result files lie.")
    learners, skipped = [], []
    for file in sorted(path.glob("*.json")):
        try:
            learners.append(Learner(name=file.stem, book=read_result(file)))
        except DataError as error:
            skipped.append(str(error))
    if not learners:
        why = f" Skipped: {' '.join(skipped)}" if skipped else ""
        raise DataError(f"{path} holds no result file (.json) of this workbook.{why}")
    return ClassResults(learners=tuple(learners), skipped=tuple(skipped))


def exercise_results(results: ClassResults) -> list[ExerciseResult]:
    """Return every exercise that somebody tried, in the order of the book."""
    found = []
    for row in CONTENTS:
        if not is_written(row.topic) or row.topic == "start_here":
            continue
        known = chapter(row.topic)
        for name in (exercise.id for exercise in known.exercises):
            tried = [tries for one in results.learners if (tries := one.attempts(row.topic, name))]
            if not tried:
                continue
            ideas = [{str(one.get("misconception") or "") for one in tries} - {""} for tries in tried]
            right = sum(any(one.get("outcome") == Outcome.RIGHT.value for one in tries) for tries in tried)
            found.append(
                ExerciseResult(
                    topic=row.topic,
                    name=name,
                    question=known.question("exercise", name),
                    tried=len(tried),
                    right=right,
                    misconceptions=tuple(Counter(idea for met in ideas for idea in met).most_common()),
                )
            )
    return found


def calibration(results: ClassResults) -> list[tuple[str, float, list[float]]]:
    """Return (topic, median factor by which all guesses were off, each learner's own), in the order of the book.

    A learner without a scored guess in a topic has no factor there.
    """
    found = []
    for row in CONTENTS:
        offs = [[one.off for one in who.guesses if one.topic == row.topic] for who in results.learners]
        guessed = [off for off in offs if off]
        if guessed:
            middle = float(np.median([off for one in guessed for off in one]))
            found.append((row.topic, middle, [float(np.median(one)) for one in guessed]))
    return found


class ClassView:
    """What can be shown of a class."""

    def __init__(self, results: ClassResults, *, names: bool = False) -> None:
        self.results, self._names = results, names
        count = len(results.learners)
        said = f"**{count} result{'s' if count != 1 else ''}** read, {len(results.skipped)} files skipped."
        show(paragraphs(said) + bullets(results.skipped))

    def devices(self) -> None:
        """Show the machines of the class."""
        head = ("Learner", "Processor", "Cores", "Memory", "File system", "System", "Disk")
        learners = enumerate(self.results.learners)
        show(table(head, [(self._name(number), *learner.machine) for number, learner in learners]))

    def guesses(self, topic: str) -> None:
        """Draw every guess of a chapter against the truth that its learner saw. Raises `BadValue` if there is none."""
        place(topic)
        names = tuple(asked.id for asked in chapter(topic).predictions)
        lines = []
        for number, learner in enumerate(self.results.learners):
            points = [
                (self._beside(1 + names.index(one.name), number), one.guess / one.truth)
                for one in learner.guesses
                if one.topic == topic and one.name in names
            ]
            if points:
                lines.append(Line(name=self._name(number), points=points, source="guess", joined=False))
        if not lines:
            raise BadValue(f"Nobody in this room has a scored guess in {topic!r}. Choose another chapter.")
        everybody = [point for line in lines for point in line.points]
        whole = Line(name=f"{len(lines)} learners", source="guess", joined=False, points=everybody)
        truth = Line(name="right on", source="measured", points=[(1, 1.0), (len(names), 1.0)])
        high = sum(y > 1 for _, y in everybody)
        picture = Picture(
            title=f"Guesses in {place(topic).title}",
            sentence=f"{len(everybody)} guesses, {high} of them too high and {len(everybody) - high} too low or"
            " right on.",
            x=Axis(label="question", kind="count", log=False, names=names),
            y=Axis(label="guess / truth", kind="times"),
            lines=(*lines, truth) if self._names else (whole, truth),
            marks={},
        )
        show(drawing_html(picture))

    def calibration(self) -> None:
        """Draw how far the guesses were off, chapter by chapter, and each learner's own beside it."""
        found = calibration(self.results)
        if not found:
            show(paragraphs("No guess has been scored yet."))
            return
        first, last = found[0], found[-1]
        middle = [(float(number), off) for number, (_, off, _) in enumerate(found, start=1)]
        each = [
            (self._beside(number, learner), off)
            for number, (_, _, offs) in enumerate(found, start=1)
            for learner, off in enumerate(offs)
        ]
        topics = tuple(topic.replace("_", " ") for topic, _, _ in found)
        picture = Picture(
            title="Does the room learn to guess?",
            sentence=f"In {place(first[0]).title!r} the room was typically off by {units.text(first[1], 'times')},"
            f" in {place(last[0]).title!r} by {units.text(last[1], 'times')}.",
            x=Axis(label="chapter", kind="count", log=False, names=topics),
            y=Axis(label="median factor off", kind="times"),
            lines=(
                Line(name="median of the room", points=middle, source="modeled"),
                Line(name="each learner's own", points=each, source="guess", joined=False),
            ),
            marks={},
        )
        show(drawing_html(picture))

    def exercises(self) -> None:
        """Show what was tried, what was right, and the misconception most met: what to talk about first on top."""
        rows = []
        for one in sorted(exercise_results(self.results), key=lambda one: one.right / one.tried):
            met = ", ".join(f"{idea} ({count})" for idea, count in one.misconceptions[:2])
            rows.append((f"{one.topic}: {one.name}", one.question, f"{one.right} of {one.tried}", met))
        head = ("Exercise", "Question", "Right", "Misconceptions met")
        show(table(head, rows) if rows else paragraphs("No exercise has been tried yet."))

    # -- inside ------------------------------------------------------------------------------------
    def _beside(self, place: int, number: int) -> float:
        """Return where a learner's mark stands: a little beside the place, so that thirty of them can be told apart."""
        return place + 0.5 * ((number + 0.5) / len(self.results.learners) - 0.5)

    def _name(self, number: int) -> str:
        return self.results.learners[number].name if self._names else f"Learner {number + 1}"


def open_class(folder: Path | str, *, names: bool = False) -> ClassView:
    """Read a folder of result files and return the view. Raises `DataError` for a folder without any."""
    return ClassView(read_results(folder), names=names)
