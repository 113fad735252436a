"""What a chapter's notebook calls, one line at a time.

    from readahead.panels.lesson import open_chapter
    lesson = open_chapter("fragments", reveal=reveal, size=size)

    lesson.predict("half_speed")    lesson.reveal("half_speed")     lesson.claim("eight_heads_help")
    lesson.exercise("hole")         lesson.figure("yield")          lesson.steps("arm")
    lesson.explore()
    lesson.run(queue_depth=8)       lesson.sweep("queue_depth", [1, 8, 64])
    lesson.laws.yield_share(…)      lesson.published("rates")       lesson.calibrate()

With `reveal=True`, or when nobody watches (READAHEAD_RUN=papermill), everything is open and printed as plain
HTML, and the learner's progress file is not written.
"""

from __future__ import annotations

import html
import importlib
import inspect
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from IPython import display as ipython
from IPython import get_ipython
from tqdm.auto import tqdm

from readahead import panels, units
from readahead.chapters import Chapter, chapter
from readahead.errors import BadValue, ReadaheadError, did_you_mean, require_repeats
from readahead.experiments.round import Study
from readahead.experiments.run import Run, sweep
from readahead.measure.sample import FEW, this_machine
from readahead.models.schedule import warm_meanwhile
from readahead.panels.chart import drawing_html
from readahead.panels.markup import COLOURS, box, paragraphs, plain, show, table
from readahead.panels.predictions import PredictionView, RevealView
from readahead.panels.views import ClaimView, ComputedView, ExerciseView, steps_html, steps_widget
from readahead.questions.progress import Progress, by_papermill
from readahead.running import Event, alone, listening

if TYPE_CHECKING:
    import pandas as pd

    from readahead.panels.published_table import PublishedTable

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
        self._noticed = 0
        self._last = ""
        """The prediction revealed last; what comes below it in the notebook waits for it too."""

    def predict(self, name: str) -> None:
        """Ask for a guess. Raises `BadValue` for a name that is no prediction of this chapter."""
        self._show("predict", name, self._prediction(name))

    def reveal(self, name: str) -> None:
        """Show guess, model, measured and published on one axis, once a guess is kept."""
        asked, self._last = self._prediction(name), name
        view = self.views.get(("reveal", name)) or RevealView(asked, self.chapter.rounds[name], self.study)
        self._show("reveal", name, view)

    def claim(self, name: str) -> None:
        """Test a claim on this run, and say what became of it."""
        self._show("claim", name, ClaimView(self.chapter.claim(name), self.study))

    def exercise(self, name: str, *, seed: int = 0) -> None:
        """Set an exercise, with check, hints and solution.

        Where its numbers can be drawn, a whole number `seed` other than 0 draws the same ones for everybody. Raises
        `BadValue` for another seed, and where they cannot.
        """
        exercise, asked = self.chapter.exercise(name), self.chapter.question("exercise", name)
        view = ExerciseView(exercise, self._topic, self.progress, self.study, asked, seed)
        self._show("exercise", name, view)

    def figure(self, name: str) -> None:
        """Draw one of the chapter's figures, with its sentence and its table."""
        paint = self.chapter.figure(name)
        self._show("figure", name, ComputedView(lambda: drawing_html(paint(self.study))))

    def steps(self, name: str) -> None:
        """Show one of the chapter's mechanisms step by step; where nobody watches, some of its steps."""
        made = self.chapter.mechanism(name)(self.study)
        self.views["steps", name] = made
        if by_papermill():
            show(steps_html(made))
        else:
            display(steps_widget(made))

    def guesses(self) -> None:
        """Show whether the learner's guesses are getting better, over all chapters."""
        from readahead.panels.class_view import guesses_html  # it brings pandas, half a second

        self.say_notices()
        show(guesses_html(self.progress.read()))

    def explore(self, address: str = "", **settings: Any) -> Any:
        """Show the panel of this chapter's experiment, its sliders where the learner left them.

        They are where the notebook says if the notebook's own settings were changed since, and where `address` says if
        one is given: a text that stands below the panel of a neighbour.
        """
        given = {**self.study.base, **self._sliders(), **settings}
        often, keep = self.study.repeats, self.keep_sliders
        return panels.explore(self.chapter.experiment, address, repeats=often, on_settings=keep, **given)

    # -- the learner's own lines ---------------------------------------------------------------------
    def run(self, *, repeats: int | None = None, **knobs: Any) -> Run:
        """Run the query with some knobs changed from the notebook's, and return what was seen: a `Run`.

        It is run `repeats` times; where nobody says, as often as everything in the chapter. Raises `BadValue` for a
        knob that is none, and for a value that it does not take.
        """
        study = self.study
        settings = study.settings(**knobs)
        often = study.repeats if repeats is None else require_repeats(repeats)
        with self._told_of():
            return Run(self.chapter.experiment, settings, study.repeated(often, **knobs))

    def sweep(self, knob: str, values: Iterable[float], **knobs: Any) -> pd.DataFrame:
        """Run the query at several values of one knob, and return a table of modeled, measured and published.

        The table stays empty while the answer above it is not shown, so that all cells can be run without a wait.
        """
        may = self._may_be_shown()
        if not may:
            why = "Not run yet: it takes a while, and would give the answer above away."
            show(paragraphs(f"{why} Show that answer first, then run this cell again."))
        with self._told_of():
            return sweep(self.study, knob, values, measure=may, **knobs)

    def _may_be_shown(self) -> bool:
        """Return whether the answer to the prediction above is shown already, or there is none."""
        above = self.views.get(("reveal", self._last))
        return self.is_open or above is None or above.is_open

    def calibrate(self) -> None:
        """Calibrate anew what this chapter's model takes from this machine. Close other programs first."""
        experiment, settings = self.chapter.experiment, self.study.base
        with self._told_of():
            experiment.calibrate(settings)
        steady = "The machine kept steady meanwhile. Run the cells above again to see what changed."
        show(paragraphs(" ".join(experiment.doubts(settings)) or f"Calibrated. {steady}"))

    @property
    def laws(self) -> Laws:
        """Return the chapter's laws: short functions, to be called and read."""
        return Laws(self._topic)

    def published(self, table: str, *, topic: str = "") -> PublishedTable:
        """Return a published table: a DataFrame in SI units, shown as it was printed, with its source.

        It is one of this chapter, or of another `topic`. Raises `BadValue` for a name that is none, with the names
        there are.
        """
        from readahead.panels.published_table import published_table

        return published_table(topic or self._topic, table)

    @contextmanager
    def _told_of(self) -> Iterator[None]:
        """Show a progress bar while the block measures; nobody watches a run without a learner."""
        with tqdm(total=1, leave=False, disable=self.is_open, bar_format="{desc} {bar} {elapsed}") as bar:

            def on_event(event: Event) -> None:
                bar.total, bar.n = max(1, event.total), event.done
                bar.set_description(event.note)

            with listening(on_event), alone():
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
            show(box("!", "About your progress file.", plain(notice), COLOURS["guess"]))

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
        """Return the view that asks; it is the same one when its cell is run again."""
        view = PredictionView(self.chapter.prediction(name), self._topic, self.progress)
        kept: PredictionView = self.views.setdefault(("predict", name), view)
        return kept

    def _show(self, kind: str, name: str, view: Any) -> None:
        """Display a view: as widgets, or on paper where everything is open."""
        self.views[kind, name] = view
        self.say_notices()
        if self.is_open:
            text, facts = view.html(), html.escape(json.dumps(getattr(view, "facts", {})))
            shown = f"<div data-{kind}='{name}' data-facts=\"{facts}\">{text}</div>"
            told = None
            if kind == "claim":  # for a program that reads the executed notebook
                says, found = self.chapter.question("claim", name), view.finding
                told = {"claim": name, "says": says, "verdict": found.verdict, "seen": found.says}
            show(shown, told and {"readahead": told})
            return
        display(view.widget)
        if kind in ("claim", "figure") and not self._may_be_shown():
            view.wait()  # it would give the answer above it away
            self.views["reveal", self._last].on_opened.append(view.start)
        elif kind in ("reveal", "claim", "figure"):
            view.start()


class Laws(SimpleNamespace):
    """The functions of a chapter's `laws.py`."""

    def __init__(self, topic: str) -> None:
        laws = importlib.import_module(f"readahead.chapters.{topic}.laws")
        functions = inspect.getmembers(laws, inspect.isfunction)
        super().__init__(**{name: one for name, one in functions if one.__module__ != "readahead.errors"})

    def __getattr__(self, name: str) -> Any:
        """Raise `AttributeError` for a name that is no law, with the nearest that is one."""
        known = ", ".join(vars(self))
        raise AttributeError(f"{name!r} is no law here. The laws: {known}.{did_you_mean(name, vars(self))}")


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
        lesson.progress.keep_machine(asdict(this_machine()))
        lesson.progress.keep(opened.place.topic, "settings", "notebook", {"base": dict(study.base)})
    lesson.progress.read()  # so that a damaged file is told of now
    lesson.say_notices()
    panels.machine_card()
    if shell := get_ipython():
        for kind in (float, np.float64):
            shell.display_formatter.formatters["text/plain"].for_type(kind, _write_number)
    return lesson


def _write_number(number: float, printer: Any, *_: Any) -> None:
    """Write a number that ends a cell with four digits that mean something, and without an exponent."""
    printer.text(units.text(float(number), "", 4).replace(",", ""))


# -- what a lesson shows ------------------------------------------------------------------------------
def letter(lesson: Lesson) -> None:
    """Show the advisor's report on the table, the device and the filter that a lesson was opened with.

    Raises `BadValue` for a lesson of another chapter, `DataError` for a table that cannot be read.
    """
    from readahead.advisor import advice
    from readahead.chapters.your_data.workload import YourData

    experiment, settings = lesson.study.experiment, lesson.study.base
    if not isinstance(experiment, YourData):
        raise BadValue(f"lesson={experiment.topic!r} must be the lesson of 'your_data'. Open that chapter.")
    seen = experiment.survey(settings)
    share = settings["selectivity"] if seen.by else 1.0
    device, depth = experiment.device(settings), settings["queue_depth"]
    told = advice.advise(seen, advice.case_of(seen, device, selectivity=share, queue_depth=depth))
    ways = [("as it lies", "", told.today.seconds, told.today.bottleneck)]
    ways += [(one.says, f"{one.gain:.2f} ×", one.seconds, one.bottleneck) for one in told.options]
    rows = [
        (name, gain, units.text(seconds, "s"), advice.speed(told, seconds), bottleneck)
        for name, gain, seconds, bottleneck in ways
    ]
    show(
        plain(f"What lies at {Path(seen.asked).name}.")
        + table(("What", "Seen"), advice.findings(seen))
        + paragraphs(
            f"**On {told.case.device.name}.** The bottleneck is {advice.REMEDY[told.today.bottleneck]}."
        )
        + table(("Change", "gain", "time", "throughput", "bottleneck then"), rows)
    )
