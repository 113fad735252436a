"""Shows the answer to a prediction beside the guess: model, measurement and what was published, on one axis.

It is shown to those who guessed: model and published at once, the measurement when it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import ipywidgets as widgets

from readahead.errors import ReadaheadError
from readahead.experiments.round import Round, Study
from readahead.measure.sample import Value
from readahead.panels.background import Background, button
from readahead.panels.chart import Mark, strip
from readahead.panels.markup import bullets, error_box, paragraphs, table
from readahead.panels.prediction_view import PredictionView
from readahead.panels.science import folds
from readahead.published import Figure
from readahead.questions.progress import Facts
from readahead.questions.question import Prediction


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What one source answers."""

    mark: Mark
    says: str
    """As a part of the sentence."""
    name: str
    text: str
    """Name and value in the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Everything that is known about one prediction."""

    prediction: Prediction
    guess: float | str | None
    modeled: Value | None
    measured: Value | None
    figures: Sequence[Figure] = ()
    measured_at: str = ""
    """When it was measured, if that was not just now."""

    @property
    def sources(self) -> list[Source]:
        """Return who answers. A guess is held against the first: measurement, else model, else print."""
        found = []
        if (seen := self.measured) is not None:
            mark = Mark(name="Measured", source="measured", value=seen.median, low=seen.low, high=seen.high)
            when, text = f" on {self.measured_at[:10]}" if self.measured_at else "", self._text(seen)
            says = f"measured{when}{':' if when else ''} {text}"
            found.append(Source(mark=mark, says=says, name=f"Measured{when}", text=text))
        if self.modeled is not None:
            mark, text = (
                Mark(name="Model", source="modeled", value=self.modeled.median),
                self._text(self.modeled),
            )
            found.append(Source(mark=mark, says=f"the model says {text}", name="Model", text=text))
        for figure in self.figures:
            mark = Mark(name="Published", source="published", value=figure.value)
            says = f"{figure.author} published {self.prediction.text(self._choice(figure.value))}"
            name = f"Published: {figure.author}, {figure.title}"
            found.append(Source(mark=mark, says=says, name=name, text=figure.printed))
        return found

    def sentence(self) -> str:
        """Say it all in one sentence or two."""
        sources, asked = self.sources, self.prediction
        known = "; ".join(source.says for source in sources)
        known = f"{known[0].upper()}{known[1:]}."
        if self.guess is None:
            return known
        held = sources[0].mark
        whom = {"measured": "the measurement", "modeled": "the model", "published": "what was published"}
        verdict = asked.verdict(self.guess, held.value)
        return f"Your guess, {asked.text(self.guess)}, was {verdict} against {whom[held.source]}. {known}"

    def html(self) -> str:
        """Return sentence, chart, table and reason."""
        if not self.sources:
            return paragraphs("The answer has to be measured first.")
        asked, guess, sentence = self.prediction, self.guess, self.sentence()
        ordered = sorted(self.sources, key=lambda source: source.name != "Model")  # the model first
        marks, rows = [source.mark for source in ordered], []
        if isinstance(guess, float):
            marks.insert(0, Mark(name="Your guess", source="guess", value=guess))
        if guess is not None:
            rows.append(("Your guess", asked.text(guess), ""))
        for source in ordered:
            off = asked.verdict(guess, source.mark.value) if guess is not None else ""
            rows.append((source.name, source.text, off))
        return (
            paragraphs(sentence)
            + ("" if asked.choices else strip(marks, asked.kind, sentence))
            + table(("Source", "Value", "Your guess against it"), rows)
            + bullets(self.measured.warnings if self.measured is not None else ())
            + (paragraphs(f"**Why.** {asked.because}") if asked.because else "")
        )

    def _choice(self, number: float) -> float | str:
        """Return the word that a number stands for, where the guess is among words."""
        return self.prediction.choice_of(number) if self.prediction.choice_of is not None else number

    def _text(self, value: Value) -> str:
        shown = self._choice(value.median)
        return shown if isinstance(shown, str) else value.text(self.prediction.kind)


class RevealView:
    """The answer to one prediction."""

    def __init__(self, asked: PredictionView, turn: Round, study: Study, machine: Facts) -> None:
        self._asked, self._turn, self._study, self._machine = asked, turn, study, machine
        self.on_opened: list[Callable[[], None]] = []
        """Called once, when the answer is shown: what may be seen only after it."""
        self.is_open = False

    def html(self) -> str:
        """Return the answer at once, measuring here and now: for a run without a learner."""
        measured, noted = self._ask()
        return self._known(measured).html() + self._folds(noted)

    @cached_property
    def widget(self) -> Any:
        """Return what is displayed; before the guess it says what it waits for."""
        self.body, self.background = widgets.HTML(), Background()
        self.button = button("Show the answer", self.open, button_style="primary")
        self.again_button = button("Measure again", self._measure_again)
        return widgets.VBox([self.body, self.button, self.background.widget])

    # -- what the learner does ---------------------------------------------------------------------
    def start(self) -> None:
        """Wait for the guess; show the answer if it was shown in an earlier session."""
        self.follow(self._asked)
        if self._asked.is_revealed:
            self.open()

    def follow(self, asked: PredictionView) -> None:
        """Wait for the guess of this view from now on: the cell that asks may be run again."""
        self._asked = asked
        asked.on_kept.append(self._ready)
        self._ready()

    def open(self) -> None:
        """Show what is known now, and measure unless this machine has measured it before."""
        if self._asked.guess is None:
            self._ready()
            return
        self.is_open = True
        self._keep_reveal(None)
        self._asked.close()
        again = [self.again_button] if self._turn.measures else []
        self.widget.children = [self.body, self.background.widget, *again]
        try:
            earlier = self._recall()
            if earlier is not None:
                self._show(*earlier)
            elif self._turn.measures:
                self.body.value = self._known(None).html()
                self._measure()
            else:
                self._show(None)
        except Exception as error:
            self.body.value = error_box(error)
        listeners, self.on_opened = self.on_opened, []
        for listener in listeners:
            listener()

    def _ready(self) -> None:
        """Say whether the answer may be shown."""
        if self.is_open:
            return
        has_guess = self._asked.guess is not None
        self.button.disabled = not has_guess
        self.body.value = paragraphs(
            "Your guess is kept." if has_guess else "Nothing is shown here until your guess is kept, above."
        )

    # -- what is known -----------------------------------------------------------------------------
    def _known(self, measured: Value | None, at: str = "") -> Answers:
        return Answers(
            prediction=self._asked.prediction,
            guess=self._asked.guess,
            measured=measured,
            measured_at=at,
            modeled=self._turn.modeled_value(self._study),
            figures=self._turn.figures,
        )

    def _ask(self) -> tuple[Value | None, dict[str, Any]]:
        """Measure, and note the settings of every sample that it took."""
        with self._study.noting() as noted:
            return self._turn.measured_value(self._study), noted

    def _folds(self, noted: Mapping[str, Any]) -> str:
        """Return the law, the query and the reads below the answer."""
        law = self._turn.law(self._study) if self._turn.law is not None else None
        return folds(law, self._study.runs(noted), self._study.base, self._asked.prediction.kind)

    def _show(self, measured: Value | None, at: str = "", noted: Mapping[str, Any] | None = None) -> None:
        """Show everything that will ever be known, and keep the truth that the guess is scored by."""
        known = self._known(measured, at)
        self.body.value = known.html() + self._folds(noted or {})
        if known.sources:
            self._keep_reveal(known.sources[0].mark.value)

    def _measure(self) -> None:
        self.background.start(self._ask, self._measured)

    def _measured(self, told: tuple[Value | None, dict[str, Any]]) -> None:
        found, noted = told
        if found is not None:
            self._remember(found)
        self._show(found, noted=noted)

    def _measure_again(self) -> None:
        if not self.background.busy:
            self._study.forget()
            self._measure()

    # -- what is kept ------------------------------------------------------------------------------
    def _keep_reveal(self, truth: float | None) -> None:
        self._asked.progress.keep_reveal(self._asked.topic, self._asked.prediction.id, truth)

    def _of(self) -> Facts:
        """Return what a measured value belongs to: this machine and these settings."""
        return {"machine": self._machine, "base": {name: str(v) for name, v in self._study.base.items()}}

    def _remember(self, found: Value) -> None:
        """Keep a measured value with the machine and the settings it belongs to."""
        entry = {**asdict(found), **self._of()}
        self._asked.progress.keep(self._asked.topic, "measured", self._asked.prediction.id, entry)

    def _recall(self) -> tuple[Value, str] | None:
        """Return a value measured earlier and when, unless it is of another machine or other settings."""
        kept = self._asked.progress.kept(self._asked.topic, "measured", self._asked.prediction.id)
        if kept is None or any(kept.get(name) != fact for name, fact in self._of().items()):
            return None
        try:
            names = ("median", "low", "high", "repeats")
            found = Value(**{name: kept[name] for name in names}, warnings=tuple(kept.get("warnings", ())))
            return found, str(kept["at"])
        except (KeyError, TypeError, ReadaheadError):
            return None  # somebody edited it: measure again
