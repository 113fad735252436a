"""Sets an exercise: a field that suits the answer, and buttons for Check, Hint and Solution. All attempts are kept."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import ipywidgets as widgets

from readahead.experiments.round import Study
from readahead.panels.background import button
from readahead.panels.markup import box, bullets, error_box, folded, paragraphs
from readahead.panels.theme import COLOURS
from readahead.questions.answers import Amount, Choice, Order, Several
from readahead.questions.progress import Facts, Progress
from readahead.questions.question import Exercise, Outcome, Verdict

_MARKS = {
    Outcome.RIGHT: ("✓", COLOURS["measured"]),
    Outcome.WRONG: ("✗", COLOURS["guess"]),
    Outcome.RAISED: ("!", COLOURS["other"]),
    Outcome.NOT_ATTEMPTED: ("○", COLOURS["other"]),
}


def verdict_box(verdict: Verdict) -> str:
    """Return a verdict as a box: mark, word, reason, and the hint for the idea that was recognised."""
    mark, colour = _MARKS[verdict.outcome]
    idea = f"Perhaps the idea behind it is: *{verdict.misconception}*." if verdict.misconception else ""
    body = "".join(paragraphs(part) for part in (verdict.why, idea, verdict.hint) if part)
    return box(mark, f"{verdict.outcome.value}.", body, colour)


class ExerciseView:
    """The field, the buttons and the help of one exercise; its question stands in the notebook."""

    def __init__(self, exercise: Exercise, topic: str, progress: Progress, study: Study) -> None:
        self.exercise, self._topic, self._progress, self._study = exercise, topic, progress, study

    def html(self) -> str:
        """Return choices, hints and solution, all open, for readers without a kernel."""
        options = getattr(self.exercise.shape, "options", ())
        hints = folded("Hints", bullets(self.exercise.hints), is_open=True)
        solution = folded("Solution", paragraphs(self.exercise.solution), is_open=True)
        return bullets(options) + hints + solution

    @cached_property
    def widget(self) -> Any:
        """Return what is displayed, with what was answered earlier."""
        self.fields = self._make_fields()
        self.verdict, self.hints, self.solution = widgets.HTML(), widgets.HTML(), widgets.HTML()
        self.check_button = button("Check", self.check, button_style="primary")
        self.hint_button = button("Hint", self.one_more_hint)
        self.solution_button = button("Solution", self.show_solution)
        self._restore()
        asks = widgets.HTML(paragraphs(f"*{self.exercise.shape.asks}.*"))
        buttons = widgets.HBox([self.check_button, self.hint_button, self.solution_button])
        return widgets.VBox([asks, *self.fields, buttons, self.verdict, self.hints, self.solution])

    # -- the field ---------------------------------------------------------------------------------
    def _make_fields(self) -> list[Any]:
        shape = self.exercise.shape
        wide = widgets.Layout(width="auto")
        if isinstance(shape, Choice):
            return [widgets.RadioButtons(options=shape.options, value=None, layout=wide)]
        if isinstance(shape, Several):
            return [
                widgets.Checkbox(description=option, indent=False, layout=wide) for option in shape.options
            ]
        if isinstance(shape, Order):
            places = range(1, len(shape.options) + 1)
            names = [("choose …", ""), *((option, option) for option in shape.options)]
            return [widgets.Dropdown(options=names, value="", description=f"{place}.") for place in places]
        hint = f"in {shape.word}" if isinstance(shape, Amount) and shape.word else "a number and its unit"
        return [widgets.Text(description="Answer", placeholder=hint)]

    @property
    def answer(self) -> Any:
        """Return what stands in the field, as it can be kept; empty if nothing does."""
        shape = self.exercise.shape
        if isinstance(shape, Several):
            return [field.description for field in self.fields if field.value]
        if isinstance(shape, Order):
            return [field.value for field in self.fields if field.value]
        return self.fields[0].value or ""

    def _fill(self, answer: Any) -> None:
        """Put an earlier answer back into the field, as far as it still fits."""
        shape = self.exercise.shape
        if isinstance(shape, (Several, Order)):
            try:
                read: Any = shape.read(answer)
            except ValueError:
                return
            for place, field in enumerate(self.fields):
                field.value = field.description in read if isinstance(shape, Several) else read[place]
        elif not isinstance(shape, Choice) or answer in shape.options:
            self.fields[0].value = answer if isinstance(answer, str) else str(answer)

    # -- the three buttons -------------------------------------------------------------------------
    def check(self) -> None:
        """Check what stands in the field, show what came of it, and keep both."""
        found = self.exercise.check(self.answer, self._study)
        self.verdict.value = verdict_box(found)
        if found.outcome is not Outcome.NOT_ATTEMPTED:
            kept = (self.answer, found.outcome.value, found.misconception, found.why)
            self._progress.keep_answer(self._topic, self.exercise.id, *kept)

    def one_more_hint(self) -> None:
        """Show the next hint of the ladder."""
        count = min(self._hints_seen() + 1, len(self.exercise.hints))
        self._progress.keep(self._topic, "hints", self.exercise.id, {"seen": count})
        self._show_hints(count)

    def show_solution(self) -> None:
        """Show how it is done, or fold it away again."""
        try:
            right = self.exercise.shape.text(self.exercise.right_answer(self._study))
            text = paragraphs(f"**Solution.** {right}.\n\n{self.exercise.solution}")
        except Exception as error:
            text = error_box(error)
        self.solution.value = "" if self.solution.value else text
        self.solution_button.description = "Hide solution" if self.solution.value else "Solution"

    def _hints_seen(self) -> int:
        kept = self._progress.kept(self._topic, "hints", self.exercise.id) or {}
        count = kept.get("seen", 0)
        return count if isinstance(count, int) else 0

    def _show_hints(self, count: int) -> None:
        shown = self.exercise.hints[:count]
        self.hints.value = bullets([f"Hint {n}: {hint}" for n, hint in enumerate(shown, start=1)])
        left = len(self.exercise.hints) - count
        self.hint_button.disabled = left <= 0
        self.hint_button.description = f"Hint ({left} left)" if left > 0 else "No more"

    # -- what was kept -----------------------------------------------------------------------------
    def _restore(self) -> None:
        if seen := self._hints_seen():
            self._show_hints(seen)
        attempts = self._progress.answers(self._topic, self.exercise.id)
        if attempts and isinstance(attempts[-1], dict):
            self._fill(attempts[-1].get("answer", ""))
            self.verdict.value = self._said_of(attempts[-1])

    def _said_of(self, attempt: Facts) -> str:
        """Return what was said of an earlier attempt, without checking it again."""
        outcome = next((known for known in Outcome if known.value == attempt.get("outcome")), None)
        if outcome is None:
            return ""
        idea = str(attempt.get("misconception", ""))
        hint = next((known.hint for known in self.exercise.misconceptions if known.name == idea), "")
        why = str(attempt.get("says", ""))
        return verdict_box(Verdict(outcome=outcome, why=why, misconception=idea if hint else "", hint=hint))
