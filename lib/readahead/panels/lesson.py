"""What a chapter's notebook calls, one line at a time.

    from readahead.panels.lesson import open_chapter
    lesson = open_chapter("fragments", reveal=reveal, size=size)

    lesson.predict("half_speed")    lesson.reveal("half_speed")     lesson.claim("eight_heads_help")
    lesson.exercise("hole")         lesson.figure("yield")          lesson.explore()
    lesson.run(queue_depth=8)       lesson.sweep("queue_depth", [1, 8, 64])
    lesson.laws.yield_share(…)      lesson.published("rates")

With `reveal=True`, or when nobody watches (READAHEAD_RUN=papermill), everything is open and printed as plain
HTML, and the learner's progress file is not written.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pandas as pd
from IPython import display as ipython
from tqdm.auto import tqdm

from readahead import panels
from readahead.chapters import Chapter, chapter
from readahead.errors import BadValue, ReadaheadError, require_repeats
from readahead.experiments.round import Study
from readahead.experiments.run import Run, sweep
from readahead.measure.sample import FEW
from readahead.models.schedule import warm_meanwhile
from readahead.panels import card
from readahead.panels.computed_view import ClaimView, FigureView
from readahead.panels.exercise_view import ExerciseView
from readahead.panels.guesses import guesses_html
from readahead.panels.markup import box, paragraphs, show
from readahead.panels.prediction_view import PredictionView
from readahead.panels.published_table import PublishedTable, published_table
from readahead.panels.reveal_view import RevealView
from readahead.panels.theme import COLOURS
from readahead.questions.progress import Progress, by_papermill
from readahead.running import Event, listening

display: Callable[[Any], None] = ipython.display


class Lesson:
    """An open chapter, with this notebook's settings and this learner's progress."""

    def __init__(self, opened: Chapter, study: Study, progress: Progress, *, is_open: bool) -> None:
        warm_meanwhile()
        self.chapter, self.study, self.progress = opened, study, progress
        self.is_open = is_open
        """Whether everything is shown without a guess."""
        self.views: dict[tuple[str, str], Any] = {}
        """What was shown, by (kind, name)."""
        self._topic = opened.place.topic
        self._machine = card.facts()
        self._noticed = 0
        self._last = ""
        """The prediction revealed last; what comes below it in the notebook waits for it too."""

    def predict(self, name: str) -> None:
        """Ask for a guess. Raises `BadValue` for a name that is no prediction of this chapter."""
        view = self._prediction(name)
        self._show("predict", name, view)
        if not self.is_open and ("reveal", name) in self.views:
            self.views["reveal", name].follow(view)

    def reveal(self, name: str) -> None:
        """Show guess, model, measured and published on one axis, once a guess is kept."""
        asked, earlier = self._prediction(name), self.views.get(("reveal", name))
        view = RevealView(
            self.views.get(("predict", name), asked), self.chapter.rounds[name], self.study, self._machine
        )
        if earlier is not None:  # the cell was run again
            view.on_opened = earlier.on_opened
        self._last = name
        self._show("reveal", name, view)
        if not self.is_open:
            view.start()

    def claim(self, name: str) -> None:
        """Test a claim on this run, and say what became of it."""
        view = ClaimView(self.chapter.claim(name), self.study)
        self._show("claim", name, view)
        if not self.is_open:
            self._start_when_revealed(view)

    def exercise(self, name: str) -> None:
        """Set an exercise, with check, hints and solution."""
        self._show(
            "exercise",
            name,
            ExerciseView(self.chapter.exercise(name), self._topic, self.progress, self.study),
        )

    def figure(self, name: str) -> None:
        """Draw one of the chapter's figures, with its sentence and its table."""
        view = FigureView(self.chapter.figure(name), self.study, is_open=self.is_open)
        self._show("figure", name, view)
        if not self.is_open:
            self._start_when_revealed(view)

    def guesses(self) -> None:
        """Show whether the learner's guesses are getting better, over all chapters."""
        self.say_notices()
        show(guesses_html(self.progress.read()))

    def explore(self, **settings: Any) -> Any:
        """Show the panel of this chapter's experiment, its sliders where the learner left them.

        They are where the notebook says if the notebook's own settings were changed since.
        """
        given = {**self.study.base, **self._sliders(), **settings}
        return panels.explore(self.chapter.experiment, on_settings=self.keep_sliders, **given)

    # -- the learner's own lines ---------------------------------------------------------------------
    def run(self, **knobs: Any) -> Run:
        """Run the query with some knobs changed from the notebook's, and return what was seen: a `Run`.

        Raises `BadValue` for a knob that is none, and for a value that it does not take.
        """
        settings = self.study.settings(**knobs)
        with self._told_of():
            return Run(self.chapter.experiment, settings, self.study.sample(**knobs))

    def sweep(self, knob: str, values: Iterable[float], **knobs: Any) -> pd.DataFrame:
        """Run the query at several values of one knob, and return a table of modeled, measured and published."""
        with self._told_of():
            return sweep(self.study, knob, values, **knobs)

    @property
    def laws(self) -> Any:
        """Return the chapter's laws: a module of short functions, to be called and read."""
        return importlib.import_module(f"readahead.chapters.{self._topic}.laws")

    def published(self, table: str) -> PublishedTable:
        """Return a published table of this chapter: a DataFrame in SI units, shown as it was printed, with its source.

        Raises `BadValue` for a name that is none, with the names there are.
        """
        return published_table(self._topic, table)

    @contextmanager
    def _told_of(self) -> Iterator[None]:
        """Show a progress bar while the block measures; nobody watches a run without a learner."""
        with tqdm(total=1, leave=False, disable=self.is_open, bar_format="{desc} {bar} {elapsed}") as bar:

            def on_event(event: Event) -> None:
                bar.total, bar.n = max(1, event.total), event.done
                bar.set_description(event.note)

            with listening(on_event):
                yield

    def keep_sliders(self, settings: Mapping[str, Any]) -> None:
        """Keep where the sliders stand; they are there again after a restart."""
        if not self.is_open:
            entry = {"values": dict(settings), "base": _texts(self.study.base)}
            self.progress.keep(self._topic, "settings", "sliders", entry)

    def say_notices(self) -> None:
        """Show what the progress file has to say since the last time (damaged, cannot be written)."""
        new, self._noticed = self.progress.notices[self._noticed :], len(self.progress.notices)
        for notice in new:
            show(box("!", "About your progress file.", paragraphs(notice), COLOURS["guess"]))

    # -- inside ------------------------------------------------------------------------------------
    def _sliders(self) -> dict[str, Any]:
        kept = self.progress.kept(self._topic, "settings", "sliders")
        if self.is_open or kept is None or kept.get("base") != _texts(self.study.base):
            return {}
        try:
            return self.study.settings(**kept["values"])
        except (KeyError, TypeError, ReadaheadError):
            return {}  # a knob was renamed or its range moved since

    def _prediction(self, name: str) -> PredictionView:
        return PredictionView(self.chapter.prediction(name), self._topic, self.progress)

    def _show(self, kind: str, name: str, view: Any) -> None:
        """Display a view: as widgets, or on paper where everything is open."""
        self.views[kind, name] = view
        self.say_notices()
        if self.is_open:
            text = view.html()
            show(text, self._told(name, view) if kind == "claim" else None)
        else:
            display(view.widget)

    def _told(self, name: str, view: ClaimView) -> dict[str, Any]:
        """Return what a program that reads the executed notebook is told of a claim."""
        found, says = view.finding, self.chapter.question("claim", name)
        assert found is not None
        return {"readahead": {"claim": name, "says": says, "verdict": found.verdict, "seen": found.says}}

    def _start_when_revealed(self, view: ClaimView | FigureView) -> None:
        """Start a view now, or when the answer above it is shown: it would give the answer away."""
        above = self.views.get(("reveal", self._last))
        if above is None or above.is_open:
            view.start()
        else:
            view.wait()
            above.on_opened.append(view.start)


def _texts(settings: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in settings.items()}


def _repeats() -> int:
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
    study = Study(opened.experiment, repeats=_repeats() if repeats is None else repeats, **settings)
    is_open = reveal or by_papermill()
    lesson = Lesson(opened, study, progress or Progress.open(), is_open=is_open)
    if not is_open:
        lesson.progress.keep_machine(card.facts())
        lesson.progress.keep(opened.place.topic, "settings", "notebook", {"base": dict(study.base)})
    lesson.progress.read()  # so that a damaged file is told of now
    lesson.say_notices()
    show(card.html())
    return lesson
