"""Asks for a guess, and keeps it before the answer is shown; once it was shown, the guess stands."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import ipywidgets as widgets

from readahead import units
from readahead.errors import ReadaheadError
from readahead.panels.background import button
from readahead.panels.markup import error_box, paragraphs
from readahead.questions.progress import Progress
from readahead.questions.question import Prediction

STEP = 0.02
"""Of the slider, as a power of ten."""


class PredictionView:
    """The scale and the field of one prediction; its question stands in the notebook."""

    def __init__(self, prediction: Prediction, topic: str, progress: Progress) -> None:
        self.prediction, self.topic, self.progress = prediction, topic, progress
        self.on_kept: list[Callable[[], None]] = []
        """Called after a guess was kept."""

    @property
    def guess(self) -> float | str | None:
        """Return the guess that is kept, or None."""
        guess = (self.progress.kept(self.topic, "guesses", self.prediction.id) or {}).get("guess")
        return guess if isinstance(guess, (int, float, str)) else None

    @property
    def is_revealed(self) -> bool:
        """Return whether the answer was shown, now or in an earlier session."""
        return "revealed" in (self.progress.kept(self.topic, "guesses", self.prediction.id) or {})

    def html(self) -> str:
        """Return the scale and the guess, for readers without a kernel."""
        asked = self.prediction
        scale = f"On a scale from {asked.text(asked.low)} to {asked.text(asked.high)}"
        if asked.choices:
            scale = f"One of: {', '.join(asked.choices)}"
        yours = f" Your guess: {asked.text(self.guess)}." if self.guess is not None else ""
        return paragraphs(f"{scale}.{yours}")

    @cached_property
    def widget(self) -> Any:
        """Return what is displayed: the field, the button, and what became of the guess."""
        asked = self.prediction
        self.message = widgets.HTML()
        self.keep_button = button(
            "Keep my guess", lambda: self.keep(self.field.value), button_style="primary"
        )
        self.slider: Any = None
        if asked.choices:
            self.field: Any = widgets.RadioButtons(options=asked.choices, value=None)
            row = [self.field]
        else:
            row = self._scale()
        self._restore()
        return widgets.VBox([widgets.HBox(row), self.keep_button, self.message])

    def _scale(self) -> list[Any]:
        """Return the slider along the scale, the field, and the ends. The slider suggests no number."""
        asked = self.prediction
        low, high = math.log10(asked.low), math.log10(asked.high)
        middle = low + STEP * round((high - low) / 2 / STEP)
        scale = {"value": 10**middle, "min": low, "max": high, "step": STEP}
        wide, narrow = widgets.Layout(width="24em"), widgets.Layout(width="18em")
        self.slider = widgets.FloatLogSlider(**scale, readout=False, description="Slide", layout=wide)
        self.field = widgets.Text(
            description="My guess",
            placeholder="a number and its unit",
            continuous_update=False,
            layout=narrow,
        )
        self.slider.observe(self._slid, "value")
        self.field.observe(self._typed, "value")
        ends = widgets.HTML(paragraphs(f"from {asked.text(asked.low)} to {asked.text(asked.high)}"))
        return [self.slider, self.field, ends]

    # -- what the learner does ---------------------------------------------------------------------
    def keep(self, answer: object) -> None:
        """Keep a guess, or say what is wrong with it."""
        if answer in (None, ""):
            self.message.value = paragraphs("Write a guess first. A rough one is worth more than none.")
            return
        try:
            guess = self.prediction.read(answer)
        except ReadaheadError as error:
            self.message.value = error_box(error)
            return
        if not self.progress.keep_guess(self.topic, self.prediction.id, guess):
            self._restore()
            return
        text = self.prediction.text(guess)
        self.message.value = paragraphs(f"Kept: **{text}**. Now see what happens, below.")
        for listener in self.on_kept:
            listener()

    def close(self) -> None:
        """Take no other guess, since the answer is being shown."""
        if "widget" in vars(self):
            self._restore()

    def _restore(self) -> None:
        """Show the guess that is kept; take no other once the answer was shown."""
        guess, asked = self.guess, self.prediction
        if guess is None:
            return
        text = asked.text(guess)
        if not asked.choices or guess in asked.choices:
            self.field.value = text
        said = f"Kept: **{text}**. You may change it until the answer is shown."
        if self.is_revealed:
            for widget in (self.field, self.keep_button, *([self.slider] if self.slider else [])):
                widget.disabled = True
            said = f"Your guess was **{text}**. It stands, since the answer was shown."
        self.message.value = paragraphs(said)

    def _slid(self, change: dict[str, float]) -> None:
        if math.isclose(change["new"], change["old"], rel_tol=1e-6):
            return  # the browser rounds what it is given and sends it back: nobody has touched the slider
        text = units.text(change["new"], self.prediction.kind, digits=2)
        if self.field.value != text:
            self.field.value = text

    def _typed(self, change: dict[str, str]) -> None:
        """Move the slider to what was typed, without letting it write back a rounder number."""
        try:
            number = float(self.prediction.read(change["new"]))
        except ReadaheadError:
            return  # it is said when the guess is kept
        self.slider.unobserve(self._slid, "value")
        self.slider.value = min(max(number, self.prediction.low), self.prediction.high)
        self.slider.observe(self._slid, "value")
