"""The window where bets are taken. It asks a question with a unit and a scale, keeps the guess before
anything is revealed, and takes no second bet once the answer is known.
"""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as widgets

from readahead.errors import ReadaheadError
from readahead.panels import paper
from readahead.panels.job import in_words
from readahead.questions.prediction import Prediction
from readahead.questions.progress import Progress


def printed(prediction: Prediction, guess: float | str | None) -> str:
    """Return the scale and the guess as HTML, for readers without a kernel."""
    scale = (
        "One of: " + ", ".join(prediction.choices)
        if prediction.choices
        else f"On a scale from {prediction.text(prediction.low)} to {prediction.text(prediction.high)}"
    )
    yours = f" Your guess: {prediction.text(guess)}." if guess is not None else ""
    return paper.words(f"{scale}.{yours}")


class Ask:
    """Question, scale and field; `face` is what to display."""

    def __init__(self, prediction: Prediction, topic: str, progress: Progress) -> None:
        self.prediction, self._topic, self._progress = prediction, topic, progress
        self.on_kept: list[Callable[[], None]] = []
        """Called after a guess was kept."""
        self.keep = widgets.Button(description="Keep my guess", button_style="primary")
        self.keep.on_click(lambda _: self.store(self.answer))
        self._said = widgets.HTML()
        self.text: widgets.Text | None = None
        self.slider: widgets.FloatLogSlider | None = None
        self.pick: widgets.RadioButtons | None = None
        fields = self._picking() if prediction.choices else self._scale()
        self.face = widgets.VBox([*fields, self.keep, self._said])
        self._restore()

    @property
    def answer(self) -> str:
        """Return what stands in the field."""
        field = self.text or self.pick
        return str(field.value or "") if field is not None else ""

    def store(self, answer: object) -> None:
        """Keep a guess, or say what is wrong with it."""
        if answer in (None, ""):
            self._said.value = paper.words("Write a guess first. A rough one is worth more than none.")
            return
        try:
            guess = self.prediction.read(answer)
        except ReadaheadError as error:
            self._said.value = in_words(error)
            return
        if not self._progress.keep_guess(self._topic, self.prediction.id, guess):
            self._restore()
            return
        self._said.value = paper.words(
            f"Kept: **{self.prediction.text(guess)}**. Now see what happens, below."
        )
        for listener in self.on_kept:
            listener()

    def close(self) -> None:
        """Take no further bet, since the answer is being shown."""
        self._restore()

    def _picking(self) -> list[widgets.Widget]:
        self.pick = widgets.RadioButtons(options=self.prediction.choices, value=None)
        return [self.pick]

    def _scale(self) -> list[widgets.Widget]:
        import math

        asked = self.prediction
        low, high = math.log10(asked.low), math.log10(asked.high)
        self.slider = widgets.FloatLogSlider(
            value=10 ** ((low + high) / 2),
            min=low,
            max=high,
            step=0.02,
            readout=False,
            description="Slide",
            layout=widgets.Layout(width="24em"),
        )
        self.text = widgets.Text(
            description="My guess",
            placeholder="a number and its unit",
            continuous_update=False,
            layout=widgets.Layout(width="18em"),
        )
        self.slider.observe(self._slid, "value")
        self.text.observe(self._written, "value")
        ends = widgets.HTML(paper.words(f"from {asked.text(asked.low)} to {asked.text(asked.high)}"))
        return [widgets.HBox([self.slider, self.text, ends])]

    def _slid(self, change: dict[str, float]) -> None:
        from readahead import units

        assert self.text is not None
        said = units.text(change["new"], self.prediction.kind, digits=2)
        if self.text.value != said:
            self.text.value = said

    def _written(self, change: dict[str, str]) -> None:
        """Move the slider to what was written, without letting it write back a rounder number."""
        assert self.slider is not None and self.text is not None
        try:
            number = float(self.prediction.read(change["new"]))
        except ReadaheadError:
            return  # it is said when the guess is kept
        self.slider.unobserve(self._slid, "value")
        self.slider.value = min(max(number, self.prediction.low), self.prediction.high)
        self.slider.observe(self._slid, "value")

    def _restore(self) -> None:
        """Show what was kept earlier; close the window if it was revealed."""
        kept = self._progress.kept(self._topic, "guesses", self.prediction.id)
        if kept is None or "guess" not in kept:
            return
        said = self.prediction.text(kept["guess"])
        if self.pick is not None and kept["guess"] in self.prediction.choices:
            self.pick.value = kept["guess"]
        if self.text is not None:
            self.text.value = said
        if "revealed" in kept:
            for widget in (self.text, self.slider, self.pick, self.keep):
                if widget is not None:
                    widget.disabled = True
            self._said.value = paper.words(
                f"Your guess was **{said}**. It stands, since the answer was shown."
            )
        else:
            self._said.value = paper.words(f"Kept: **{said}**. You may change it until the answer is shown.")
