"""The teacher's desk: what a chapter's notebook calls, one line at a time.

    from readahead.panels.lesson import open_chapter
    lesson = open_chapter("fragments", reveal=reveal, size=size)

    lesson.predict("half_speed")    lesson.reveal("half_speed")     lesson.claim("eight_heads_help")
    lesson.exercise("hole")         lesson.figure("yield")          lesson.explore()

With `reveal=True`, or when nobody watches (READAHEAD_RUN=papermill), everything is open and printed as plain
HTML, and the learner's progress file is not written.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets
from IPython import display as ipython

from readahead.chapters import Chapter, chapter
from readahead.errors import BadValue, ReadaheadError, require_repeats
from readahead.experiments.round import Bench
from readahead.measure.sample import FEW
from readahead.panels import calibration_curve, card, claims, paper, picture, theme
from readahead.panels import exercise as desk
from readahead.panels import predict as asking
from readahead.panels import reveal as curtain
from readahead.questions.progress import Progress, by_papermill

display: Callable[..., Any] = ipython.display
HTML: Callable[..., Any] = ipython.HTML


class Lesson:
    """An open chapter, with this notebook's settings and this learner's progress."""

    def __init__(self, opened: Chapter, bench: Bench, progress: Progress, *, is_open: bool) -> None:
        self.chapter, self.bench, self.progress = opened, bench, progress
        self.is_open = is_open
        """Whether everything is shown without a guess."""
        self.faces: dict[tuple[str, str], Any] = {}
        """What was put on the desk, by (kind, name)."""
        self._topic = opened.place.topic
        self._machine = card.facts()
        self._noticed = 0
        self._last = ""
        """The prediction revealed last; what comes below it in the notebook waits for it too."""

    def predict(self, name: str) -> None:
        """Ask for a guess. Raises `BadValue` for a name that is no prediction of this chapter."""
        asked = self.chapter.prediction(name)
        if self.is_open:
            self._print(asking.printed(asked, self._guess(name)))
            return
        ask = self._ask(name)
        if ("reveal", name) in self.faces:
            self.faces["reveal", name].attend(ask)
        self._show("predict", name, ask)

    def reveal(self, name: str) -> None:
        """Show guess, model, measured and published on one axis, once a guess is kept."""
        asked, turn = self.chapter.prediction(name), self.chapter.rounds[name]
        if self.is_open:
            found = curtain.answers(asked, turn, self.bench, self._guess(name))
            self.faces["reveal", name] = found
            self._print(found.html())
            return
        ask = self.faces.get(("predict", name)) or self._ask(name)
        earlier = self.faces.get(("reveal", name))
        drawn = curtain.Reveal(ask, turn, self.bench, self._topic, self.progress, self._machine)
        if earlier is not None and not drawn.is_open:  # the cell was run again
            drawn.on_opened = earlier.on_opened
        self._last = name
        self._show("reveal", name, drawn)

    def claim(self, name: str) -> None:
        """State a claim, test it on this run, and say what became of it."""
        stated = self.chapter.claim(name)
        if self.is_open:
            found = stated.on(self.bench)
            self.faces["claim", name] = found
            told = {
                "claim": name,
                "says": self.chapter.question("claim", name),
                "verdict": found.verdict,
                "seen": found.says,
            }
            self._print(claims.printed(found), told)
            return
        self._behind("claim", name, lambda: claims.Pinned(stated, self.bench))

    def exercise(self, name: str) -> None:
        """Set an exercise, with check, hints and solution."""
        asked = self.chapter.exercise(name)
        if self.is_open:
            self._print(desk.printed(asked))
            return
        self._show("exercise", name, desk.Desk(asked, self._topic, self.progress, self.bench))

    def figure(self, name: str) -> None:
        """Draw one of the chapter's figures, with its sentence and its table."""
        paint = self.chapter.figure(name)
        if self.is_open:
            self._print(picture.painted(paint(self.bench), is_open=True))
            return
        self._behind("figure", name, lambda: picture.Hung(paint, self.bench))

    def guesses(self) -> None:
        """Show whether the learner's guesses are getting better, over all chapters."""
        self._print(calibration_curve.html(self.progress.read()))

    def explore(self, **settings: Any) -> Any:
        """Show the panel of this chapter's experiment, its sliders where the learner left them.

        They are where the notebook says if the notebook's own settings were changed since.
        """
        panels: Any = importlib.import_module("readahead.panels")
        given = {**self.bench.base, **self._sliders(), **settings}
        return panels.explore(self.chapter.experiment, on_settings=self.keep_sliders, **given)

    def keep_sliders(self, settings: Mapping[str, Any]) -> None:
        """Keep where the sliders stand; they are there again after a restart."""
        if not self.is_open:
            entry = {"values": dict(settings), "base": _words(self.bench.base)}
            self.progress.keep(self._topic, "settings", "sliders", entry)

    def _sliders(self) -> dict[str, Any]:
        kept = self.progress.kept(self._topic, "settings", "sliders")
        if self.is_open or kept is None or kept.get("base") != _words(self.bench.base):
            return {}
        try:
            return self.bench.settings(**kept["values"])
        except (KeyError, TypeError, ReadaheadError):
            return {}  # a knob was renamed or its range moved since

    # -- inside ------------------------------------------------------------------------------------
    def _ask(self, name: str) -> asking.Ask:
        return asking.Ask(self.chapter.prediction(name), self._topic, self.progress)

    def _guess(self, name: str) -> float | str | None:
        kept = self.progress.kept(self._topic, "guesses", name) or {}
        guess = kept.get("guess")
        return guess if isinstance(guess, (float, str)) else None

    def _show(self, kind: str, name: str, thing: Any) -> None:
        self.faces[kind, name] = thing
        self.say_notices()
        display(thing.face)

    def _behind(self, kind: str, name: str, make: Callable[[], Any]) -> None:
        """Show something at once, or when the curtain above it has opened: it would give the answer away."""
        curtain_above = self.faces.get(("reveal", self._last))
        if curtain_above is None or curtain_above.is_open:
            self._show(kind, name, make())
            return
        waits = Printed(paper.words("This is shown after your guess, above."))
        self._show(kind, name, waits)

        def show() -> None:
            made = make()
            self.faces[kind, name] = made
            waits.face.children = [made.face]

        curtain_above.on_opened.append(show)

    def _print(self, text: str, told: Mapping[str, str] | None = None) -> None:
        """Print; `told` goes into the output's metadata, for a program that reads the executed copy."""
        self.say_notices()
        display(HTML(text), metadata={"readahead": dict(told)} if told else None)

    def say_notices(self) -> None:
        """Print what the progress file has to say since the last time (damaged, cannot be written)."""
        new, self._noticed = self.progress.notices[self._noticed :], len(self.progress.notices)
        for notice in new:
            display(
                HTML(paper.box("!", "About your progress file.", paper.words(notice), theme.COLOURS["guess"]))
            )


class Printed:
    """Something on paper, as a face."""

    def __init__(self, text: str) -> None:
        self.body = widgets.HTML(text)
        self.face = widgets.VBox([self.body])


def _words(settings: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in settings.items()}


def _often() -> int:
    """Return how often READAHEAD_REPEATS has everything measured; without it, so often that a claim is believed."""
    said = os.environ.get("READAHEAD_REPEATS") or str(FEW)
    try:
        return require_repeats(int(said))
    except ValueError as error:
        raise BadValue(f"READAHEAD_REPEATS={said!r} must be a whole number from 1 to 100.") from error


def open_chapter(
    topic: str | Chapter,
    *,
    reveal: bool = False,
    repeats: int | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> Lesson:
    """Open a chapter: show the machine card and return the lesson.

    `settings` are knobs of its experiment, such as `size`. Everything is measured `repeats` times; where nobody says,
    as often as READAHEAD_REPEATS does (with fewer than five no claim is believed). Raises `BadValue` for an unknown
    topic or knob, and for a value that a knob does not take.
    """
    opened = topic if isinstance(topic, Chapter) else chapter(topic)
    often = _often() if repeats is None else repeats
    bench = Bench(opened.experiment, repeats=often, **settings)
    is_open = reveal or by_papermill()
    lesson = Lesson(opened, bench, progress or Progress.open(), is_open=is_open)
    if not is_open:
        lesson.progress.keep_machine(card.facts())
        lesson.progress.keep(opened.place.topic, "settings", "notebook", {"base": dict(bench.base)})
    lesson.progress.read()  # so that a damaged file is told of now
    lesson.say_notices()
    display(HTML(card.html()))
    return lesson
