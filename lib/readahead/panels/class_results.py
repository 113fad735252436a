"""A pile of exercise books on the leader's desk. Every book is read for what the whole room can learn: on which
machines it sat, how far its guesses lay, which questions it answered, and which misconception it shared.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from readahead import paths, units
from readahead.chapters import CONTENTS, chapter, is_written
from readahead.errors import DataError
from readahead.panels.scored_guesses import Shot, shots
from readahead.questions.exercise import Outcome
from readahead.questions.progress import Facts, read_result

MOST_BYTES = 1024 * units.TiB
"""More memory than any laptop in the room has: a file that says more is not believed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """One learner's book. The name is that of the file."""

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
    def shots(self) -> list[Shot]:
        """Return the scored guesses."""
        return shots(self.book)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """All books that could be read, and why the others could not."""

    learners: tuple[Learner, ...]
    skipped: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a room made of one exercise."""

    topic: str
    name: str
    question: str
    tried: int
    right: int
    misconceptions: tuple[tuple[str, int], ...]
    """(name, how many learners met it), the most frequent first."""


def read_room(folder: Path | str) -> Room:
    """Return the books of a folder, in the order of their names; broken and foreign files are named and skipped.

    Raises `DataError` for a folder that is not there, or holds no book at all.
    """
    place = paths.expanded(folder)
    if not place.is_dir():
        raise DataError(f"{place} is not a folder. Give the one in which the learners' result files lie.")
    learners, skipped = [], []
    for path in sorted(place.glob("*.json")):
        try:
            learners.append(Learner(name=path.stem, book=read_result(path)))
        except DataError as error:
            skipped.append(str(error))
    if not learners:
        why = f" Skipped: {' '.join(skipped)}" if skipped else ""
        raise DataError(f"{place} holds no result file (.json) of this workbook.{why}")
    return Room(learners=tuple(learners), skipped=tuple(skipped))


def answered(room: Room) -> list[Answered]:
    """Return every exercise that somebody tried, in the order of the book."""
    found = []
    for place in CONTENTS:
        if not is_written(place.topic) or place.topic == "start_here":
            continue
        known = chapter(place.topic)
        for exercise in known.exercises:
            attempts = [_attempts(learner.book, place.topic, exercise.id) for learner in room.learners]
            tried = [tries for tries in attempts if tries]
            if not tried:
                continue
            met = Counter(
                idea
                for tries in tried
                for idea in {str(one.get("misconception") or "") for one in tries}
                if idea
            )
            right = sum(any(one.get("outcome") == Outcome.RIGHT.value for one in tries) for tries in tried)
            found.append(
                Answered(
                    topic=place.topic, name=exercise.id, tried=len(tried), right=right,
                    question=known.question("exercise", exercise.id), misconceptions=tuple(met.most_common()),
                )
            )  # fmt: skip
    return found


def calibration(room: Room) -> list[tuple[str, float, list[float]]]:
    """Return (topic, median factor by which the room's guesses were off, each learner's own), in the order of the book.

    A learner without a scored guess in a topic has no factor there.
    """
    found = []
    for place in CONTENTS:
        offs = [
            [shot.off for shot in learner.shots if shot.topic == place.topic] for learner in room.learners
        ]
        guessed = [off for off in offs if off]
        if guessed:
            found.append(
                (
                    place.topic,
                    float(np.median([off for one in guessed for off in one])),
                    [float(np.median(one)) for one in guessed],
                )
            )
    return found


def _attempts(book: Facts, topic: str, name: str) -> list[Facts]:
    """Return one learner's attempts at an exercise; what is no attempt is passed over."""
    tries = book["topics"].get(topic, {}).get("answers", {}).get(name, [])
    return [one for one in tries if isinstance(one, dict)] if isinstance(tries, list) else []
