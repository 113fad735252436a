"""Shows an exercise, a claim, a figure or the steps of a mechanism; the question stands in the notebook."""

from __future__ import annotations

import html
from collections.abc import Callable
from functools import cached_property
from typing import Any

import ipywidgets as widgets
import numpy as np

from readahead.experiments.claim import AGREES, DIFFERS, NOISY, Claim, Finding
from readahead.experiments.round import Study
from readahead.experiments.steps import Steps
from readahead.panels.background import AT_THE_LEFT, HERE, Background, PrintedWidget, button, prose, script
from readahead.panels.markup import COLOURS, box, bullets, error_box, folded, paragraphs
from readahead.panels.predictions import law_fold
from readahead.questions.answers import Amount, Choice, Order, Several, units_of
from readahead.questions.progress import Facts, Progress
from readahead.questions.question import Exercise, Outcome, Verdict

_OUTCOMES = {
    Outcome.RIGHT: ("✓", COLOURS["measured"]),
    Outcome.WRONG: ("✗", COLOURS["guess"]),
    Outcome.RAISED: ("!", COLOURS["other"]),
    Outcome.NOT_ATTEMPTED: ("○", COLOURS["other"]),
}
_VERDICTS = {
    AGREES: ("✓", "Agrees.", COLOURS["measured"]),
    DIFFERS: ("≠", "Differs, likely because:", COLOURS["guess"]),
    NOISY: ("?", "Too noisy to say. Do this:", COLOURS["other"]),
}
SHOWN = 6
"""Frames of the strip; of more, the first, the last, and some evenly between."""
WIDTH = 340
"""Of a frame of the strip, in pixels: two stand side by side on a page, one on a telephone."""
_LOOKS = {
    "free": f"1.5px dashed {COLOURS['other']}",
    "wait": f"1.5px solid {COLOURS['other']}",
    "work": f"1.5px solid {COLOURS['modeled']};background:{COLOURS['modeled']}59;font-weight:bold",
    "done": f"1.5px solid {COLOURS['measured']};background:{COLOURS['measured']}33",
    "gone": f"1.5px dashed {COLOURS['guess']};text-decoration:line-through",
}


# -- what has to be computed first, perhaps measured -----------------------------------------------
class ComputedView:
    """What is computed in the background once it is started, and shown then, such as a figure with its table."""

    def __init__(self, html: Callable[[], str]) -> None:
        self.html = html
        """Computes it here and now, and returns it as HTML."""

    @cached_property
    def widget(self) -> Any:
        """Return what is displayed."""
        self.body, self.background = prose(), Background()
        return widgets.VBox([self.body, self.background.widget])

    def wait(self) -> None:
        """Say why nothing is shown yet."""
        self.body.value = paragraphs("This is shown after your guess, above.")

    def start(self) -> None:
        """Compute and show it. Nobody waits: sliders and buttons stay free."""
        if not self.background.started:
            self.body.value = ""
        self.background.start(self.html, lambda text: setattr(self.body, "value", text))


class ClaimView(ComputedView):
    """What this run says of a claim."""

    def __init__(self, claim: Claim, study: Study) -> None:
        super().__init__(self._tested)
        self._claim, self._study = claim, study
        self.finding: Finding | None = None
        """What became of the claim, once it was tested."""

    def _tested(self) -> str:
        """Test the claim and return what became of it."""
        self.finding = finding = self._claim.on(self._study)
        mark, title, colour = _VERDICTS[finding.verdict]
        seen, reasons = paragraphs(finding.says.split(". ", 1)[-1]), bullets(finding.reasons)
        body = seen + reasons if finding.verdict == AGREES else reasons + seen
        return box(mark, title, body, colour)

    def start(self) -> None:
        """Test the claim, and offer to test it again."""
        again = button("Test again", self._test_again)
        self.widget.children = [self.body, self.background.widget, again]
        super().start()

    def _test_again(self) -> None:
        if not self.background.busy:
            self._study.forget()
            super().start()


# -- an exercise ------------------------------------------------------------------------------------
def verdict_box(verdict: Verdict) -> str:
    """Return a verdict as a box: mark, word, reason, and the hint for the idea that was recognised."""
    mark, colour = _OUTCOMES[verdict.outcome]
    idea = f"Perhaps the idea behind it is: *{verdict.misconception}*." if verdict.misconception else ""
    body = paragraphs(f"{verdict.why}\n\n{idea}\n\n{verdict.hint}")
    return box(mark, f"{verdict.outcome.value}.", body, colour)


class ExerciseView:
    """The field, the buttons and the help of one exercise; its question stands in the notebook.

    With a seed other than 0 its numbers are other ones, and the question with them stands here.
    """

    def __init__(
        self, exercise: Exercise, topic: str, progress: Progress, study: Study, question: str, seed: int
    ) -> None:
        self._of_notebook, self._question = exercise, question
        self._topic, self._progress, self._study = topic, progress, study
        self._set(seed)

    def _set(self, seed: int) -> None:
        self.seed = seed
        self.exercise = self._of_notebook.with_seed(seed) if seed else self._of_notebook

    def _asked_anew(self) -> str:
        """Return the question with the numbers of the seed; nothing where the notebook asks it."""
        asked = f"**With other numbers** ({self.seed}). {self.exercise.said(self._question)}"
        return paragraphs(asked) if self.seed else ""

    @property
    def facts(self) -> Facts:
        """Return what a page without a kernel needs in order to check an answer."""
        asked, shape = self.exercise, self.exercise.shape

        def read(answer: Any) -> Any:
            found = shape.read(answer(self._study) if callable(answer) else answer)
            return sorted(found) if isinstance(found, frozenset) else found

        told = {
            "kind": type(shape).__name__,
            "right": read(asked.answer),
            "ideas": [(read(idea.example), paragraphs(idea.hint)) for idea in asked.misconceptions],
        }
        if isinstance(shape, Amount):
            return {**told, "units": units_of(shape.kind, shape.word), "tolerance": shape.tolerance}
        return {**told, "asks": shape.asks, "options": getattr(shape, "options", ())}

    def html(self) -> str:
        """Return choices, hints and solution, all open, for readers without a kernel."""
        options = getattr(self.exercise.shape, "options", ())
        hints = folded("Hints", bullets(self.exercise.hints), is_open=True)
        solution = self._solution() if self.seed else paragraphs(self.exercise.solution)
        return self._asked_anew() + bullets(options) + hints + folded("Solution", solution, is_open=True)

    @cached_property
    def widget(self) -> Any:
        """Return what is displayed, with what was answered earlier."""
        self.fields = self._make_fields()
        self.question, self.verdict, self.hints, self.solution = (prose() for _ in range(4))
        self.check_button = button("Check", self.check, button_style="primary")
        self.hint_button = button("Hint", self.one_more_hint)
        self.solution_button = button("Solution", self.show_solution)
        self.again_button = button("Another one", lambda: self.ask_anew(self.seed + 1))
        again = [self.again_button] if self.exercise.numbers else []
        self.question.value = self._asked_anew()
        self._restore()
        asks = prose(paragraphs(f"*{self.exercise.shape.asks}.*"))
        buttons = widgets.HBox([self.check_button, self.hint_button, self.solution_button, *again])
        shown = [self.question, asks, *self.fields, buttons, self.verdict, self.hints, self.solution]
        return widgets.VBox(shown)

    # -- the field ---------------------------------------------------------------------------------
    def _make_fields(self) -> list[Any]:
        shape = self.exercise.shape
        wide = widgets.Layout(width="auto")
        if isinstance(shape, Choice):
            return [widgets.RadioButtons(options=shape.options, value=None, layout=wide)]
        if isinstance(shape, Several):
            plain = {"indent": False, "layout": wide}
            return [widgets.Checkbox(description=option, **plain) for option in shape.options]
        if isinstance(shape, Order):
            places = range(1, len(shape.options) + 1)
            names = [("choose …", ""), *((option, option) for option in shape.options)]
            look = {"style": AT_THE_LEFT, "layout": widgets.Layout(width="max-content")}
            return [
                widgets.Dropdown(options=names, value="", description=f"{place}.", **look) for place in places
            ]
        hint = "a number and its unit" if "unit" in shape.asks else "a number"
        if isinstance(shape, Amount) and shape.word:
            hint = f"in {shape.word}"
        return [widgets.Text(description="Answer", placeholder=hint, style=AT_THE_LEFT)]

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

    # -- the buttons -------------------------------------------------------------------------
    def check(self) -> None:
        """Check what stands in the field, show what came of it, and keep both."""
        found = self.exercise.check(self.answer, self._study)
        self.verdict.value = verdict_box(found)
        if found.outcome is not Outcome.NOT_ATTEMPTED:
            kept = (self.answer, found.outcome.value, found.misconception, found.why)
            self._progress.keep_answer(self._topic, self.exercise.id, *kept, self.seed)
        if found.right and not self.solution.value:
            self.show_solution()

    def ask_anew(self, seed: int) -> None:
        """Ask the same with the numbers of a seed. Only an `Amount` has such numbers."""
        self._set(seed)
        self.question.value, self.fields[0].value = self._asked_anew(), ""
        self.verdict.value = self.solution.value = ""
        self.solution_button.description = "Solution"
        self._show_hints(self._hints_seen())

    def one_more_hint(self) -> None:
        """Show the next hint of the ladder."""
        count = min(self._hints_seen() + 1, len(self.exercise.hints))
        self._progress.keep(self._topic, "hints", self.exercise.id, {"seen": count, "seed": self.seed})
        self._show_hints(count)

    def show_solution(self) -> None:
        """Show how it is done, or fold it away again."""
        try:
            text = self._solution()
        except Exception as error:
            text = error_box(error)
        self.solution.value = "" if self.solution.value else text
        self.solution_button.description = "Hide solution" if self.solution.value else "Solution"

    def _solution(self) -> str:
        asked = self.exercise
        right = asked.shape.text(asked.right_answer(self._study))
        law = law_fold(asked.law, asked.shape.kind) if asked.law and isinstance(asked.shape, Amount) else ""
        return paragraphs(f"**Solution.** {right}.\n\n{asked.solution}") + law

    def _hints_seen(self) -> int:
        kept = self._progress.kept(self._topic, "hints", self.exercise.id) or {}
        count = kept.get("seen", 0)
        return count if isinstance(count, int) and kept.get("seed", 0) == self.seed else 0

    def _show_hints(self, count: int) -> None:
        shown = self.exercise.hints[:count]
        self.hints.value = bullets([f"Hint {n}: {hint}" for n, hint in enumerate(shown, start=1)])
        left = len(self.exercise.hints) - count
        self.hint_button.disabled = left <= 0
        self.hint_button.description = (f"Hint ({left} left)" if count else "Hint") if left > 0 else "No more"

    # -- what was kept -----------------------------------------------------------------------------
    def _restore(self) -> None:
        if seen := self._hints_seen():
            self._show_hints(seen)
        tried = self._progress.answers(self._topic, self.exercise.id)
        attempts = [one for one in tried if one.get("seed", 0) == self.seed]
        if not attempts:
            return
        last = attempts[-1]
        self._fill(last.get("answer", ""))
        idea, why = str(last.get("misconception", "")), str(last.get("says", ""))
        hint = next((known.hint for known in self.exercise.misconceptions if known.name == idea), "")
        for outcome in Outcome:
            if outcome.value == last.get("outcome"):  # as it was said then, not checked again
                told = Verdict(outcome=outcome, why=why, misconception=idea if hint else "", hint=hint)
                self.verdict.value = verdict_box(told)


# -- a mechanism, step by step -----------------------------------------------------------------------
class StepsWidget(PrintedWidget):
    """A picture to play, step through and scrub. It has all frames at once: no kernel is asked again."""

    _esm = script(HERE / "steps.js")


def steps_widget(steps: Steps) -> StepsWidget:
    """Return the picture to step through; for readers without a kernel it is the strip."""
    frames = [
        {
            "says": frame.says,
            "told": steps.told(frame),
            "lanes": [[name, *boxes] for name, boxes in frame.lanes.items()],
        }
        for frame in steps.frames
    ]
    made = StepsWidget(plan={"title": steps.title, "words": dict(steps.words), "frames": frames})
    made.twin = lambda: steps_html(steps)
    return made


def steps_html(steps: Steps) -> str:
    """Return some frames as HTML, each a drawing with its sentence below."""
    told = "".join(
        f"<figure style='flex:1 1 300px;max-width:{WIDTH}px;margin:.4em 0'>"
        f"{_frame_html(steps, at)}<figcaption>{at + 1}. {html.escape(steps.frames[at].says)}</figcaption></figure>"
        for at in np.linspace(0, len(steps.frames) - 1, min(SHOWN, len(steps.frames))).round().astype(int)
    )
    key = "".join(
        f"<span style='margin-right:1em;white-space:nowrap'>{_box('', tone)} {html.escape(word)}</span>"
        for tone, word in steps.words.items()
    )
    return (
        f"{paragraphs(f'**{steps.title}**')}<div style='font-size:90%'>{key}</div>"
        f"<div style='display:flex;flex-wrap:wrap;gap:0 24px'>{told}</div>"
    )


def _frame_html(steps: Steps, at: int) -> str:
    """Return one frame; what changed since the one before has a thick edge."""
    frame, before = steps.frames[at], steps.frames[max(0, at - 1)]
    lanes = ""
    for name, boxes in frame.lanes.items():
        were = before.lanes.get(name, ())
        row = (_box(*one, is_new=one not in were[number : number + 1]) for number, one in enumerate(boxes))
        lanes += f"<div>{html.escape(name)}</div><div>{''.join(row)}</div>"
    return f"<div role='img' aria-label='{html.escape(steps.told(frame), quote=True)}'>{lanes}</div>"


def _box(text: str, tone: str, *, is_new: bool = False) -> str:
    edge = ";border-width:3.5px;padding:0 3px" if is_new else ";padding:2px 5px"
    return (
        "<span style='display:inline-block;box-sizing:border-box;min-width:22px;height:24px;margin:1px 2px;"
        "font-size:12px;line-height:17px;text-align:center;vertical-align:middle;border-radius:3px;"
        f"print-color-adjust:exact;border:{_LOOKS[tone]}{edge}'>{html.escape(text)}</span>"
    )
