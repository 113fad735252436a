"""Shows what learners guessed, measured and got wrong: one's own guesses, and a class from a folder of result files.

Nobody's name is shown unless the leader asks for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from readahead import paths, units
from readahead.chapters import CONTENTS, chapter, place
from readahead.errors import BadValue, DataError
from readahead.experiments.figure import Axis, Line, Picture
from readahead.panels.chart import chart, drawing_html
from readahead.panels.markup import paragraphs, plain, show, table
from readahead.questions.answers import LEAST_AMOUNT
from readahead.questions.progress import Facts, read_result
from readahead.questions.question import SURE, Outcome

MOST_BYTES = 1024 * units.TiB
"""More memory than any laptop has: a file that says more is not believed."""
ENOUGH = 4
"""Guesses from which on the first half is compared with the second."""
NEAR = 2.0
"""The factor within which a guess counts as near."""
SIDES = ("too low", "near", "too high")


def scored_guesses(books: Iterable[Facts]) -> pd.DataFrame:
    """Return every guess that was held against something: learner (a number), topic, name, ratio, off, sure, revealed.

    `off` is how far off it was, as a factor from 1 (right on) upwards. Guesses among words are not counted: they have
    no distance.
    """
    rows = [
        (learner, topic, name, ratio, max(ratio, 1 / ratio), entry.get("sure", ""), entry.get("revealed", ""))
        for learner, book in enumerate(books)
        for topic, sections in book["topics"].items()
        for name, entry in sections.get("guesses", {}).items()
        if is_scored(entry) and (ratio := entry["guess"] / entry["truth"])
    ]
    return pd.DataFrame(rows, columns=["learner", "topic", "name", "ratio", "off", "sure", "revealed"])


def is_scored(entry: Facts) -> bool:
    """Return whether a kept guess is a number, and so is the value that it was held against."""
    guess, truth = entry["guess"], entry.get("truth") or 0
    return not isinstance(guess, str) and min(guess, truth) >= LEAST_AMOUNT


def side(entry: Facts) -> str:
    """Return in which group of its question a kept guess belongs: its word, or on which side of the truth it lay."""
    if not is_scored(entry):
        return str(entry["guess"]) if isinstance(entry["guess"], str) else "not held against anything"
    ratio = entry["guess"] / entry["truth"]
    return SIDES[int(ratio >= 1 / NEAR) + int(ratio > NEAR)]


def trend(offs: Sequence[float]) -> str:
    """Say whether the guesses got better: the median factor of the first half against the second."""
    half = len(offs) // 2 if len(offs) >= ENOUGH else len(offs)
    early, late = (float(np.median(part)) for part in (offs[:half], offs[-half:]))
    first, last = units.texts([early, late], "times", 2)
    if half == len(offs):
        return f"So far {half} scored, typically off by {first}. More will show whether they improve."
    how = "nearer" if late < early * 0.9 else "further off" if late > early * 1.1 else "as near as before"
    return f"The first {half} guesses were typically off by {first}, the last {half} by {last}: {how}."


def guesses_html(book: Facts) -> str:
    """Return sentence, chart and table of all scored guesses, in the order in which they were revealed."""
    found = scored_guesses([book]).sort_values("revealed", kind="stable")
    if found.empty:
        return paragraphs(
            "No guess has been scored yet. Keep one, look at its answer, then run this cell again."
        )
    sentence, count = trend(found.off.to_list()), len(found)
    lines = _dots("my guesses", range(1, count + 1), found.off), _right_on(max(2, count))
    picture = _off("Are my guesses getting better?", sentence, "guess number", (), *lines)
    numbered = enumerate(found.itertuples(), start=1)
    rows = [(f"{number}. {one.topic}: {one.name}", units.factor_text(one.ratio)) for number, one in numbered]
    told = paragraphs(sentence) + chart(picture) + table(("Guess", "Off by"), rows)
    return told + sureness_html(found)


def sureness_html(found: pd.DataFrame) -> str:
    """Return how sure the guesses were against how far off they lay, from columns sure and off; or nothing."""
    found = found[found.sure.isin(SURE)]
    if found.empty:
        return ""
    groups = [(step, found.off[found.sure == step]) for step in SURE]
    said = (f"{(off <= NEAR).sum()} of {len(off)} at {step!r}" for step, off in groups if len(off))
    sentence = f"Within a factor of {NEAR:g} of the truth were {', '.join(said)}."
    middles = [(place, off.median()) for place, (_, off) in enumerate(groups, start=1) if len(off)]
    each = _dots("each guess", found.sure.map(SURE.index) + 1, found.off)
    lines = each, Line(name="median", points=middles), _right_on(len(SURE))
    return drawing_html(_off("The surer, the nearer?", sentence, "how sure", SURE, *lines))


def _off(title: str, sentence: str, along: str, names: tuple[str, ...], *lines: Line) -> Picture:
    """Return a chart of how far guesses were off, along numbers or names."""
    x = Axis(label=along, kind="count", log=False, names=names)
    return Picture(title=title, sentence=sentence, x=x, y=Axis(label="off by", kind="times"), lines=lines)


def _dots(name: str, places: Iterable[float], offs: Iterable[float]) -> Line:
    return Line(name=name, points=list(zip(places, offs, strict=True)), source="guess", joined=False)


def _right_on(last: int) -> Line:
    return Line(name="right on", points=[(1, 1.0), (last, 1.0)], source="measured")


# -- a class ----------------------------------------------------------------------------------------
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


def right_in(attempts: Iterable[Sequence[Facts]]) -> int:
    """Return how many exercises were answered rightly at least once."""
    return sum(any(one.get("outcome") == Outcome.RIGHT.value for one in tries) for tries in attempts)


def machine_row(book: Facts) -> tuple[str, ...]:
    """Return a learner's processor, cores, memory, file system, system and disk, in words."""
    facts, memory = book["machine"], book["machine"].get("memory_bytes")
    known = isinstance(memory, (int, float)) and 0 < memory < MOST_BYTES
    words = {**facts, "memory_bytes": units.text(memory, "bytes") if known else "?"}
    names = ("cpu", "cores", "memory_bytes", "file_system", "system")
    return (*(str(words.get(name, "?")) for name in names), str(book.get("disk") or "not calibrated"))


def guesses_table(results: ClassResults) -> pd.DataFrame:
    """Return every scored guess, in the order of the book: by chapter, by learner, and as they were revealed."""
    found = scored_guesses(results.books.values())
    found["chapter"] = found.topic.map({row.topic: row.number for row in CONTENTS})
    return found.dropna(subset="chapter").sort_values(["chapter", "learner", "revealed"], kind="stable")


def reasons_table(results: ClassResults, topic: str) -> pd.DataFrame:
    """Return the reasons of a chapter's guesses, by question and side: how many guessed so, the reasons with how many
    gave each, and how many gave none."""
    opened, rows = chapter(topic), []
    for name in (asked.id for asked in opened.predictions):
        sections = (book["topics"].get(topic, {}) for book in results.books.values())
        kept = [entry for one in sections if (entry := one.get("guesses", {}).get(name))]
        met = {side(entry) for entry in kept}
        for group in (*(one for one in SIDES if one in met), *sorted(met.difference(SIDES))):
            told = [" ".join(entry.get("because", "").split()) for entry in kept if side(entry) == group]
            known = {reason.casefold(): reason for reason in reversed(told)}
            given = Counter(reason.casefold() for reason in told if reason).most_common()
            reasons = [(known[reason], count) for reason, count in given]
            rows.append((opened.question("predict", name), group, len(told), reasons, told.count("")))
    return pd.DataFrame(rows, columns=["question", "side", "guesses", "reasons", "none"])


def exercises_table(results: ClassResults) -> pd.DataFrame:
    """Return every exercise that somebody tried: how many tried it, how many were right, which ideas they met."""
    rows = []
    for opened in (chapter(row.topic) for row in CONTENTS):
        topic = opened.place.topic
        answers = [book["topics"].get(topic, {}).get("answers", {}) for book in results.books.values()]
        for name in (exercise.id for exercise in opened.exercises):
            tried = [mine[name] for mine in answers if mine.get(name)]
            if not tried:
                continue
            ideas = [{str(one.get("misconception") or "") for one in tries} - {""} for tries in tried]
            met = Counter(idea for mine in ideas for idea in mine).most_common()
            rows.append((topic, name, opened.question("exercise", name), len(tried), right_in(tried), met))
    return pd.DataFrame(rows, columns=["topic", "name", "question", "tried", "right", "misconceptions"])


class ClassView:
    """What can be shown of a class."""

    def __init__(self, results: ClassResults, *, names: bool = False) -> None:
        self.results, count = results, len(results.books)
        self._names = list(results.books) if names else [f"Learner {n}" for n in range(1, count + 1)]
        self._are_named = names
        said = f"**{count} result{'s' if count != 1 else ''}** read, {len(results.skipped)} files skipped."
        show(paragraphs(said) + "".join(map(plain, results.skipped)))

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
        names_of = self._names if self._are_named else [f"{found.learner.nunique()} learners"]
        each = {number: who == number for number in who.unique()}
        lines = [_dots(names_of[number], places[own], found.ratio[own]) for number, own in each.items()]
        high = int((found.ratio > 1).sum())
        told = f"{len(found)} guesses, {high} of them too high and {len(found) - high} too low or right on."
        picture = _off(f"Guesses in {title}", told, "question", names, *lines, _right_on(len(names)))
        show(drawing_html(replace(picture, y=Axis(label="guess / truth", kind="times"))))

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
        sentence = f"In {typical[0]} the room was typically off by {offs[0]}, in {typical[1]} by {offs[1]}."
        names = tuple(topic.replace("_", " ") for topic in topics)
        own = _dots("each learner's own", places, each.off)
        room = Line(name="median of the room", points=list(enumerate(middles, start=1)))
        show(drawing_html(_off("Does the room learn to guess?", sentence, "chapter", names, own, room)))

    def sureness(self) -> None:
        """Draw how sure the room was against how far off it lay."""
        show(sureness_html(guesses_table(self.results)) or paragraphs("Nobody has said how sure a guess is."))

    def reasons(self, topic: str) -> None:
        """Show why the room guessed as it did: the reasons of those too low, near and too high."""
        head, told = ("Guessed", "How many", "Their reasons", "No reason"), ""
        for question, part in reasons_table(self.results, topic).groupby("question", sort=False):
            every = part.itertuples()
            rows = [(one.side, str(one.guesses), _counted(one.reasons), str(one.none)) for one in every]
            told += paragraphs(question) + table(head, rows)
        show(told or paragraphs("Nobody has guessed in this chapter yet."))

    def exercises(self) -> None:
        """Show what was tried, what was right, and the misconception most met: what to talk about first on top."""
        found = exercises_table(self.results)
        rows = []
        for one in found.iloc[(found.right / found.tried).argsort(kind="stable")].itertuples():
            met = _counted(one.misconceptions[:2])
            rows.append((f"{one.topic}: {one.name}", one.question, f"{one.right} of {one.tried}", met))
        head = ("Exercise", "Question", "Right", "Misconceptions met")
        show(table(head, rows) if rows else paragraphs("No exercise has been tried yet."))

    def _beside(self, learners: pd.Series) -> pd.Series:
        """Return how far beside a place each learner's mark stands, so that thirty of them can be told apart."""
        return 0.5 * ((learners + 0.5) / len(self.results.books) - 0.5)


def _counted(met: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{idea} ({count})" for idea, count in met)


def open_class(folder: Path | str, *, names: bool = False) -> ClassView:
    """Read a folder of result files and return the view. Raises `DataError` for a folder without any."""
    return ClassView(read_results(folder), names=names)
