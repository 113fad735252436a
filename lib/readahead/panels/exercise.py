"""A desk in the exam hall, with the examiner sitting on it. Question, a field that suits the answer,
and three buttons: Check, Hint (each says a little more), Solution (open to whoever asks). All that
is answered is kept.
"""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from readahead.experiments.round import Bench
from readahead.panels import paper, theme
from readahead.panels.job import in_words
from readahead.questions.answers import Amount, Choice, Order, Several
from readahead.questions.exercise import Exercise, Outcome, Verdict
from readahead.questions.progress import Facts, Progress

MARKS = {
    Outcome.RIGHT: ("✓", theme.COLOURS["measured"]),
    Outcome.WRONG: ("✗", theme.COLOURS["guess"]),
    Outcome.RAISED: ("!", theme.COLOURS["other"]),
    Outcome.NOT_ATTEMPTED: ("○", theme.COLOURS["other"]),
}


def said(verdict: Verdict) -> str:
    """Return a verdict as a box: mark, word, reason, and the hint for the idea that was recognised."""
    mark, colour = MARKS[verdict.outcome]
    idea = f"Perhaps the idea behind it is: *{verdict.misconception}*." if verdict.misconception else ""
    body = "".join(paper.words(part) for part in (verdict.why, idea, verdict.hint) if part)
    return paper.box(mark, f"{verdict.outcome.value}.", body, colour)


def printed(exercise: Exercise) -> str:
    """Return choices, hints and solution as HTML, all open, for readers without a kernel."""
    options = getattr(exercise.shape, "options", ())
    hints = paper.folded("Hints", paper.listing(exercise.hints), is_open=True)
    solution = paper.folded("Solution", paper.words(exercise.solution), is_open=True)
    return paper.listing(options) + hints + solution


class Desk:
    """One exercise; `face` is what to display."""

    def __init__(self, exercise: Exercise, topic: str, progress: Progress, bench: Bench) -> None:
        self.exercise, self._topic, self._progress, self._bench = exercise, topic, progress, bench
        self._fields = self._make_fields()
        self.check = widgets.Button(description="Check", button_style="primary")
        self.hint = widgets.Button(description="Hint")
        self.solve = widgets.Button(description="Solution")
        self.check.on_click(lambda _: self.examine(self.answer))
        self.hint.on_click(lambda _: self.one_more_hint())
        self.solve.on_click(lambda _: self.show_solution())
        self.verdict, self.hints, self.solution = widgets.HTML(), widgets.HTML(), widgets.HTML()
        asks = widgets.HTML(paper.words(f"*{exercise.shape.asks}.*"))
        buttons = widgets.HBox([self.check, self.hint, self.solve])
        self.face = widgets.VBox([asks, *self._fields, buttons, self.verdict, self.hints, self.solution])
        self._restore()

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
        shape, fields = self.exercise.shape, self._fields
        if isinstance(shape, Several):
            return [field.description for field in fields if field.value]
        if isinstance(shape, Order):
            return [field.value for field in fields if field.value]
        return fields[0].value or ""

    def _fill(self, answer: Any) -> None:
        """Put an earlier answer back into the field, as far as it still fits."""
        shape, fields = self.exercise.shape, self._fields
        if isinstance(shape, (Several, Order)):
            try:
                read: Any = shape.read(answer)
            except ValueError:
                return
            for place, field in enumerate(fields):
                field.value = field.description in read if isinstance(shape, Several) else read[place]
        elif not isinstance(shape, Choice) or answer in shape.options:
            fields[0].value = answer if isinstance(answer, str) else str(answer)

    # -- the three buttons -------------------------------------------------------------------------
    def examine(self, answer: Any) -> Verdict:
        """Check an answer, show what the examiner says, and keep both."""
        found = self.exercise.check(answer, self._bench)
        self.verdict.value = said(found)
        if found.outcome is not Outcome.NOT_ATTEMPTED:
            plain = sorted(answer) if isinstance(answer, (set, frozenset)) else answer
            self._progress.keep_answer(
                self._topic,
                self.exercise.id,
                plain,
                found.outcome.value,
                found.misconception,
                found.why,
            )
        return found

    def one_more_hint(self) -> None:
        """Show the next hint of the ladder."""
        count = min(self._hints_seen() + 1, len(self.exercise.hints))
        self._progress.keep(self._topic, "hints", self.exercise.id, {"seen": count})
        self._show_hints(count)

    def show_solution(self) -> None:
        """Show how it is done, or fold it away again."""
        try:
            right = self.exercise.shape.text(self.exercise.right_answer(self._bench))
            text = paper.words(f"**Solution.** {right}.\n\n{self.exercise.solution}")
        except Exception as error:
            text = in_words(error)
        self.solution.value = "" if self.solution.value else text
        self.solve.description = "Hide solution" if self.solution.value else "Solution"

    def _hints_seen(self) -> int:
        kept = self._progress.kept(self._topic, "hints", self.exercise.id) or {}
        count = kept.get("seen", 0)
        return count if isinstance(count, int) else 0

    def _show_hints(self, count: int) -> None:
        shown = self.exercise.hints[:count]
        self.hints.value = paper.listing([f"Hint {n}: {hint}" for n, hint in enumerate(shown, start=1)])
        left = len(self.exercise.hints) - count
        self.hint.disabled = left <= 0
        self.hint.description = (
            f"Hint ({left} left)" if count and left > 0 else "Hint" if left > 0 else "No more"
        )

    def _restore(self) -> None:
        if seen := self._hints_seen():
            self._show_hints(seen)
        attempts = self._progress.answers(self._topic, self.exercise.id)
        if attempts and isinstance(attempts[-1], dict):
            self._fill(attempts[-1].get("answer", ""))
            self.verdict.value = self._again(attempts[-1])

    def _again(self, attempt: Facts) -> str:
        """Return what was said of an earlier attempt, without examining it again."""
        words = {outcome.value: outcome for outcome in Outcome}
        outcome = words.get(str(attempt.get("outcome")))
        if outcome is None:
            return ""
        idea = str(attempt.get("misconception", ""))
        hint = next((known.hint for known in self.exercise.misconceptions if known.name == idea), "")
        why = str(attempt.get("says", ""))
        return said(Verdict(outcome=outcome, why=why, misconception=idea if hint else "", hint=hint))
