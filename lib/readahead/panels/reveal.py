"""The curtain. Behind it stand up to four marks on one log axis (your guess, the model, the measurement, what
was published), the sentence that says how far off you were, and the table. It opens for those who guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import ipywidgets as widgets

from readahead.errors import ReadaheadError
from readahead.experiments.round import Bench, Round
from readahead.measure.value import Value
from readahead.panels import paper
from readahead.panels.chart import Mark, strip
from readahead.panels.job import in_words
from readahead.panels.predict import Ask
from readahead.panels.waiting import Waiting
from readahead.published import Figure
from readahead.questions.prediction import Prediction
from readahead.questions.progress import Facts, Progress


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Everything that is known about one question."""

    prediction: Prediction
    guess: float | str | None
    modeled: Value | None
    measured: Value | None
    figures: Sequence[Figure] = ()
    measured_at: str = ""
    """When it was measured, if that was not just now."""

    @property
    def truth(self) -> tuple[str, float]:
        """Return what a guess is held against: the measurement, else the model, else the published."""
        if self.measured is not None:
            return "measured", self.measured.median
        if self.modeled is not None:
            return "modeled", self.modeled.median
        return "published", self.figures[0].value

    def sentence(self) -> str:
        """Say it all in one sentence or two."""
        asked, (source, truth) = self.prediction, self.truth
        parts = [f"{self._name('measured')} {self._said(self.measured)}"] if self.measured else []
        parts += [f"the model says {self._said(self.modeled)}"] if self.modeled else []
        parts += [
            f"{figure.author} published {asked.text(self._plain(figure.value))}" for figure in self.figures
        ]
        known = "; ".join(parts)
        known = known[0].upper() + known[1:] + "."
        if self.guess is None:
            return known
        verdict = asked.verdict(self.guess, truth)
        against = {"measured": "the measurement", "modeled": "the model", "published": "what was published"}[
            source
        ]
        you = f"Your guess, {asked.text(self.guess)}, was {verdict} against {against}."
        return f"{you} {known}"

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the table: who, value, how far your guess was from it."""
        rows = [("Your guess", self.prediction.text(self.guess), "")] if self.guess is not None else []
        for name, value in (("Model", self.modeled), (self._name("Measured"), self.measured)):
            if value is not None:
                rows.append((name.rstrip(":"), self._said(value), self._off(value.median)))
        for figure in self.figures:
            rows.append(
                (f"Published: {figure.author}, {figure.title}", figure.printed, self._off(figure.value))
            )
        return rows

    def marks(self) -> list[Mark]:
        """Return the marks for the strip."""
        found = []
        if isinstance(self.guess, float):
            found.append(Mark(name="Your guess", source="guess", value=self.guess))
        if self.modeled is not None:
            found.append(Mark(name="Model", source="modeled", value=self.modeled.median))
        if (seen := self.measured) is not None:
            found.append(
                Mark(name="Measured", source="measured", value=seen.median, low=seen.low, high=seen.high)
            )
        found += [Mark(name="Published", source="published", value=figure.value) for figure in self.figures]
        return found

    def html(self) -> str:
        """Return chart, sentence and table; the same with and without a kernel."""
        said = self.sentence()
        chart = "" if self.prediction.choices else strip(self.marks(), self.prediction.kind, said)
        warnings = self.measured.warnings if self.measured is not None else ()
        because = paper.words(f"**Why.** {self.prediction.because}") if self.prediction.because else ""
        head = ("Source", "Value", "Your guess against it")
        return paper.words(said) + chart + paper.table(head, self.rows()) + paper.listing(warnings) + because

    def _plain(self, number: float) -> float | str:
        return self.prediction.choice_of(number) if self.prediction.choice_of is not None else number

    def _said(self, value: Value) -> str:
        shown = self._plain(value.median)
        return shown if isinstance(shown, str) else value.text(self.prediction.kind)

    def _off(self, truth: float) -> str:
        return self.prediction.verdict(self.guess, truth) if self.guess is not None else ""

    def _name(self, word: str) -> str:
        return f"{word} on {self.measured_at[:10]}:" if self.measured_at else word


class Reveal:
    """Draws once there is a guess; model and published at once, the measurement when it is done."""

    def __init__(
        self, ask: Ask, turn: Round, bench: Bench, topic: str, progress: Progress, machine: Facts
    ) -> None:
        self._prediction, self._turn, self._bench = ask.prediction, turn, bench
        self._topic, self._progress, self._machine = topic, progress, machine
        self.on_opened: list[Callable[[], None]] = []
        """Called once, when it opens: what may be seen only after it."""
        self.is_open = False
        self.body = widgets.HTML()
        self.button = widgets.Button(description="Show the answer", button_style="primary")
        self.button.on_click(lambda _: self.open())
        self.again = widgets.Button(description="Measure again")
        self.again.on_click(lambda _: self._once_more())
        self.waiting: Waiting[Value | None] = Waiting(self._measure, self._measured)
        self.face = widgets.VBox([self.body, self.button, self.waiting.face])
        self.attend(ask)
        if (kept := self._guess_entry()) is not None and "revealed" in kept:
            self.open()

    def attend(self, ask: Ask) -> None:
        """Listen to this window from now on (the cell that asks may be run again)."""
        self._ask = ask
        ask.on_kept.append(self._ready)
        self._ready()

    def _guess_entry(self) -> Facts | None:
        kept = self._progress.kept(self._topic, "guesses", self._prediction.id)
        return kept if kept is not None and "guess" in kept else None

    def _once_more(self) -> None:
        if not self.waiting.busy:
            self._bench.forget()
            self.waiting.start()

    def _ready(self) -> None:
        has = self._guess_entry() is not None
        self.button.disabled = not has
        waits = "Your guess is kept." if has else "Nothing is shown here until your guess is kept, above."
        if not self.waiting.busy and self.button in self.face.children:
            self.body.value = paper.words(waits)

    def open(self) -> None:
        """Draw what is known now, and measure unless this machine has measured it before."""
        entry = self._guess_entry()
        if entry is None:
            self._ready()
            return
        self._progress.keep_reveal(self._topic, self._prediction.id)
        self._ask.close()
        self.face.children = [self.body, self.waiting.face, *([self.again] if self._turn.measures else [])]
        try:
            earlier = recall(self._progress, self._topic, self._prediction.id, self._machine, self._bench)
            if earlier is not None:
                self._show(earlier[0], earlier[1])
            elif self._turn.measures:
                self._show(None, final=False)
                self.waiting.start()
            else:
                self._show(None)
        except Exception as error:
            self.body.value = in_words(error)
        self.is_open = True
        waiting, self.on_opened = self.on_opened, []
        for show in waiting:
            show()

    def _measure(self) -> Value | None:
        return self._turn.measured_value(self._bench)

    def _measured(self, found: Value | None) -> None:
        if found is not None:
            remember(self._progress, self._topic, self._prediction.id, found, self._machine, self._bench)
        self._show(found)

    def _show(self, measured: Value | None, at: str = "", *, final: bool = True) -> None:
        """Draw what is known; when nothing more will come, keep the truth that the guess is scored by."""
        known = Answers(
            prediction=self._prediction,
            guess=(self._guess_entry() or {}).get("guess"),
            measured=measured,
            measured_at=at,
            modeled=self._turn.modeled_value(self._bench),
            figures=self._turn.figures,
        )
        if known.modeled is None and measured is None and not known.figures:
            self.body.value = paper.words("The answer has to be measured first.")
            return
        self.body.value = known.html()
        if final:
            self._progress.keep_reveal(self._topic, self._prediction.id, known.truth[1])


def answers(prediction: Prediction, turn: Round, bench: Bench, guess: float | str | None) -> Answers:
    """Return everything at once, measuring here and now: for a run without a learner."""
    return Answers(
        prediction=prediction,
        guess=guess,
        modeled=turn.modeled_value(bench),
        measured=turn.measured_value(bench),
        figures=turn.figures,
    )


def remember(progress: Progress, topic: str, name: str, found: Value, machine: Facts, bench: Bench) -> None:
    """Keep a measured value with the machine and the settings it belongs to."""
    entry = {
        "median": found.median,
        "low": found.low,
        "high": found.high,
        "repeats": found.repeats,
        "warnings": list(found.warnings),
        "machine": machine,
        "base": {k: str(v) for k, v in bench.base.items()},
    }
    progress.keep(topic, "measured", name, entry)


def recall(
    progress: Progress, topic: str, name: str, machine: Facts, bench: Bench
) -> tuple[Value, str] | None:
    """Return a value measured earlier and when, unless it is of another machine or other settings."""
    kept = progress.kept(topic, "measured", name)
    base = {key: str(value) for key, value in bench.base.items()}
    if kept is None or kept.get("machine") != machine or kept.get("base") != base:
        return None
    try:
        found = Value(
            median=kept["median"],
            low=kept["low"],
            high=kept["high"],
            repeats=kept["repeats"],
            warnings=tuple(kept.get("warnings", ())),
        )
        return found, str(kept["at"])
    except (KeyError, TypeError, ReadaheadError):
        return None  # somebody edited it: measure again
