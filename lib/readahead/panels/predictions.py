"""Asks for a guess, and shows the answer beside it: model, measurement and what was published, on one axis.

The guess is kept before the answer is shown, and stands from then on. Model and published come at once, the measurement
when it is done. Below it lie folded the law with this run's numbers, the query with DuckDB's account, and the reads.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as widgets
import traitlets

from readahead import units
from readahead.errors import ReadaheadError
from readahead.experiments.figure import Traces
from readahead.experiments.round import Applied, Round, Study
from readahead.experiments.run import Run
from readahead.measure.sample import Value, exactly, this_machine
from readahead.panels.background import AT_THE_LEFT, Background, button, prose
from readahead.panels.chart import chart, strip
from readahead.panels.markup import PARAGRAPH, bullets, code, error_box, folded, formula, paragraphs, table
from readahead.published import Ratio
from readahead.questions.answers import units_of
from readahead.questions.progress import Facts, Progress
from readahead.questions.question import SURE, Prediction

MOST_RUNS = 3
"""Runs that are shown of one answer; of more, the first ones."""
MOST_SQL = 600
"""Letters of a query that are shown; of more, the beginning and the end."""
MOST_RATIOS = 6
"""Printed ratios that are in sight; of more, the others are folded."""
_WHOM = {"measured": "the measurement", "modeled": "the model", "published": "what was published"}
_COPY = (
    "<button type='button' onclick='navigator.clipboard.writeText(this.parentElement.querySelector(\"pre\").innerText)'"
    " title='Copy the lines below'>Copy</button>"
)


class Scale(anywidget.AnyWidget):
    """A log scale to slide along. The sliders of ipywidgets have no name that a screen reader could say."""

    _esm = Path(__file__).with_name("scale.js")
    label = traitlets.Unicode().tag(sync=True)
    low = traitlets.Float().tag(sync=True)
    high = traitlets.Float().tag(sync=True)
    value = traitlets.Float().tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    """The value in words; nothing until somebody has touched it."""
    disabled = traitlets.Bool().tag(sync=True)


class PredictionView:
    """The scale and the field of one prediction; its question stands in the notebook."""

    def __init__(self, prediction: Prediction, topic: str, progress: Progress) -> None:
        self.prediction, self.topic, self.progress = prediction, topic, progress
        self.on_kept: Callable[[], None] = lambda: None
        """Called after a guess was kept."""

    @property
    def kept(self) -> Facts:
        """Return what is kept of the guess: itself, why, how sure, when; nothing before there is one."""
        return self.progress.kept(self.topic, "guesses", self.prediction.id) or {}

    @property
    def guess(self) -> float | str | None:
        """Return the guess that is kept, or None."""
        return self.kept.get("guess")

    @property
    def is_revealed(self) -> bool:
        """Return whether the answer was shown, now or in an earlier session."""
        return "revealed" in self.kept

    @property
    def facts(self) -> Facts:
        """Return what a page without a kernel needs in order to take a guess."""
        asked = self.prediction
        return {"choices": asked.choices, "units": units_of(asked.kind, asked.word), "sure": SURE}

    def html(self) -> str:
        """Return the scale and the guess, for readers without a kernel."""
        asked = self.prediction
        scale = f"On a scale from {asked.text(asked.low)} to {asked.text(asked.high)}"
        if asked.choices:
            scale = f"One of: {', '.join(asked.choices)}"
        yours = f" Your guess: {asked.text(self.guess)}." if self.guess is not None else ""
        return paragraphs(f"{scale}. Then one line of why, and how sure: {', '.join(SURE)}.{yours}")

    @cached_property
    def widget(self) -> Any:
        """Return what is displayed: the field, the button, and what became of the guess."""
        asked = self.prediction
        self.message = prose()
        self.because = widgets.Text(
            description="Because",
            placeholder="one line of why",
            layout=widgets.Layout(width="40em"),
            style=AT_THE_LEFT,
        )
        self.sure = widgets.RadioButtons(
            description="How sure", options=SURE, value=None, orientation="horizontal"
        )

        def keep() -> None:
            self.keep(self.field.value, self.because.value.strip(), self.sure.value or "")

        self.keep_button = button("Keep my guess", keep, button_style="primary")
        self.slider: Any = None
        if asked.choices:
            self.field: Any = widgets.RadioButtons(options=asked.choices, value=None)
            row = [self.field]
        else:
            row = self._scale()
        self._restore()
        return widgets.VBox([widgets.HBox(row), self.because, self.sure, self.keep_button, self.message])

    def _scale(self) -> list[Any]:
        """Return the slider along the scale, the field, and the ends. The slider suggests no number."""
        asked, narrow = self.prediction, widgets.Layout(width="18em")
        ends = f"from {asked.text(asked.low)} to {asked.text(asked.high)}"
        middle = math.sqrt(asked.low * asked.high)
        self.slider = Scale(label=f"Slide {ends}", low=asked.low, high=asked.high, value=middle)
        self.field = widgets.Text(
            description="My guess",
            placeholder="a number and its unit",
            continuous_update=False,
            layout=narrow,
        )
        self.slider.observe(self._slid, "value")
        self.field.observe(self._typed, "value")
        return [self.slider, self.field, prose(paragraphs(ends))]

    # -- what the learner does ---------------------------------------------------------------------
    def keep(self, answer: object, because: str = "", sure: str = "") -> None:
        """Keep a guess with its reason and how sure it is, both of which may be empty; or say what is wrong with it."""
        if answer in (None, ""):
            self.message.value = paragraphs("Write a guess first. A rough one is worth more than none.")
            return
        try:
            guess = self.prediction.read(answer)
        except ReadaheadError as error:
            self.message.value = error_box(error)
            return
        if not self.progress.keep_guess(self.topic, self.prediction.id, guess, because, sure):
            self._restore()
            return
        text = self.prediction.text(guess)
        self.message.value = paragraphs(f"Kept: **{text}**. Now see what happens, below.")
        self.on_kept()

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
        self.because.value, sure = self.kept.get("because", ""), self.kept.get("sure")
        self.sure.value = sure if sure in SURE else None
        said = f"Kept: **{text}**. You may change it until the answer is shown."
        if self.is_revealed:
            for widget in (self.field, self.because, self.sure, self.keep_button, self.slider):
                if widget is not None:
                    widget.disabled = True
            said = f"Your guess was **{text}**. It stands, since the answer was shown."
        self.message.value = paragraphs(said)

    def _slid(self, change: dict[str, float]) -> None:
        self.slider.text = units.text(change["new"], self.prediction.kind, digits=2)
        self.field.value = self.slider.text

    def _typed(self, change: dict[str, str]) -> None:
        """Move the slider to what was typed, without letting it write back a rounder number."""
        if change["new"] == self.slider.text:
            return  # the slider wrote it
        try:
            number = float(self.prediction.read(change["new"]))
        except ReadaheadError:
            return  # it is said when the guess is kept
        self.slider.unobserve(self._slid, "value")
        self.slider.value = min(max(number, self.prediction.low), self.prediction.high)
        self.slider.text = self.prediction.text(number)
        self.slider.observe(self._slid, "value")


# -- the answer -------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What one source answers."""

    by: str
    """measured, modeled or published."""
    value: Value
    name: str
    text: str
    """Name and value in the table."""
    says: str
    """As a part of the sentence."""


class RevealView:
    """The answer to one prediction."""

    def __init__(self, asked: PredictionView, turn: Round, study: Study) -> None:
        self._asked, self._turn, self._study = asked, turn, study
        asked.on_kept = self._ready
        self.on_opened: list[Callable[[], None]] = []
        """Called once, when the answer is shown: what may be seen only after it."""
        self.is_open = False
        self._ratios: list[float] = []
        self.facts: Facts = {}
        """What a page without a kernel holds a guess against."""

    def html(self) -> str:
        """Return the answer at once, measuring here and now: for a run without a learner."""
        measured, noted = self._ask()
        sources, asked = self._sources(measured), self._asked.prediction
        if sources:
            truth = sources[0].value.median
            self.facts = {"truth": truth, "word": asked.choice(truth), "whom": _WHOM[sources[0].by]}
        return self._answer(sources, measured) + self._folds(noted)

    @cached_property
    def widget(self) -> Any:
        """Return what is displayed; before the guess it says what it waits for."""
        self.body, self.background = prose(), Background()
        self.button = button("Show the answer", self.open, button_style="primary")
        self.again_button = button("Measure again", self._measure_again)
        return widgets.VBox([self.body, self.button, self.background.widget])

    # -- what the learner does ---------------------------------------------------------------------
    def start(self) -> None:
        """Wait for the guess; show the answer if it was shown in an earlier session."""
        self._ready()
        if self._asked.is_revealed:
            self.open()

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
                self.body.value = self._answer(self._sources(None), None)
                self.background.start(self._ask, self._measured)
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
    def _sources(self, measured: Value | None, at: str = "") -> list[Source]:
        """Return who answers. A guess is held against the first: measurement, else model, else print."""
        asked, modeled = self._asked.prediction, self._turn.modeled_value(self._study)

        def source(by: str, value: Value, name: str, says: str, printed: str = "") -> Source:
            told = asked.choice(value.median) or value.text(asked.kind)
            return Source(by=by, value=value, name=name, text=printed or told, says=f"{says} {told}")

        found = []
        if measured is not None:
            when = f" on {at[:10]}" if at else ""
            found.append(source("measured", measured, f"Measured{when}", f"measured{when}{':' * bool(when)}"))
        if modeled is not None:
            found.append(source("modeled", modeled, "Model", "the model says"))
        for one in self._turn.published:
            name = f"Published: {one.author}, {one.title}"
            says = f"{one.author} published"
            found.append(source("published", exactly(one.value), name, says, one.printed))
        return found

    def _answer(self, sources: Sequence[Source], measured: Value | None) -> str:
        """Return sentence, chart, table and reason."""
        asked, guess = self._asked.prediction, self._asked.guess
        if not sources:
            return paragraphs("The answer has to be measured first.")

        def verdict(source: Source) -> str:
            return "" if guess is None else asked.verdict(guess, source.value.median)

        sentence = "; ".join(source.says for source in sources)
        sentence = f"{sentence[0].upper()}{sentence[1:]}."
        if guess is not None:
            held = f"{verdict(sources[0])} against {_WHOM[sources[0].by]}"
            sentence = f"Your guess, {asked.text(guess)}, was {held}. {sentence}"
        ordered = sorted(sources, key=lambda source: source.by != "modeled")  # the model first
        marks = [(source.name.partition(":")[0], source.by, source.value) for source in ordered]
        rows: list[tuple[str, ...]] = [(source.name, source.text) for source in ordered]
        if guess is not None:
            rows = [(source.name, source.text, verdict(source)) for source in ordered]
            rows.insert(0, ("Your guess", asked.text(guess), ""))
        if isinstance(guess, float):
            marks.insert(0, ("Your guess", "guess", exactly(guess)))
        # Counts, and arithmetic on what is printed, do not depend on what this machine was calibrated to.
        doubts = self._study.experiment.doubts(self._study.base) if self._turn.ask is not None else ()
        return (
            paragraphs(sentence)
            + ("" if asked.choices else strip(marks, asked.kind, sentence))
            + table(("Source", "Value", "Your guess against it")[: 2 if guess is None else 3], rows)
            + bullets((*(measured.warnings if measured is not None else ()), *doubts))
            + beside(self._asked.kept, paragraphs(f"**Why.** {asked.because}") if asked.because else "")
            + ratios(self._turn.beside, self._ratios, asked.differs)
        )

    def _ask(self) -> tuple[Value | None, dict[str, Any]]:
        """Measure, and note the settings of every sample that it took."""
        with self._study.noting() as noted:
            found = self._turn.measured_value(self._study)
            self._ratios = self._turn.ratios(self._study, found)
            return found, noted

    def _folds(self, noted: Mapping[str, Any]) -> str:
        """Return the law, the query and the reads below the answer."""
        kind, law = self._asked.prediction.kind, ""
        if self._turn.law is not None:
            applied, modeled = self._turn.law(self._study), self._turn.modeled_value(self._study)
            alone = units.text(applied.result, kind)
            model = units.text(modeled.median, kind) if modeled else alone
            apart = f"The law alone gives {alone}; the model, which {self._turn.model_also}, says {model}."
            law = law_fold(applied, kind, apart if model != alone else "")
        return law + folds(self._study.runs(noted), self._study.base)

    def _show(self, measured: Value | None, at: str = "", noted: Mapping[str, Any] | None = None) -> None:
        """Show everything that will ever be known, and keep the truth that the guess is scored by."""
        sources = self._sources(measured, at)
        self.body.value = self._answer(sources, measured) + self._folds(noted or {})
        if sources:
            self._keep_reveal(sources[0].value.median)

    def _measured(self, told: tuple[Value | None, dict[str, Any]]) -> None:
        found, noted = told
        if found is not None:
            entry = {**asdict(found), **self._of(), "beside": self._ratios}
            self._asked.progress.keep(self._asked.topic, "measured", self._asked.prediction.id, entry)
        self._show(found, noted=noted)

    def _measure_again(self) -> None:
        if not self.background.busy:
            self._study.forget()
            self.background.start(self._ask, self._measured)

    # -- what is kept ------------------------------------------------------------------------------
    def _keep_reveal(self, truth: float | None) -> None:
        self._asked.progress.keep_reveal(self._asked.topic, self._asked.prediction.id, truth)

    def _of(self) -> Facts:
        """Return what a measured value belongs to: this machine and these settings."""
        base = {name: str(value) for name, value in self._study.base.items()}
        return {"machine": asdict(this_machine()), "base": base}

    def _recall(self) -> tuple[Value, str] | None:
        """Return a value measured earlier and when, unless it is of another machine or other settings."""
        kept = self._asked.progress.kept(self._asked.topic, "measured", self._asked.prediction.id)
        if kept is None or any(kept.get(name) != fact for name, fact in self._of().items()):
            return None
        try:
            names = ("median", "low", "high", "repeats")
            found = Value(**{name: kept[name] for name in names}, warnings=tuple(kept.get("warnings", ())))
            self._ratios = [float(ratio) for ratio in kept.get("beside", ())]
            return found, str(kept["at"])
        except (KeyError, TypeError, ValueError, ReadaheadError):
            return None  # somebody edited it: measure again


def beside(kept: Facts, ours: str) -> str:
    """Return the learner's reason beside ours, which is HTML; before a guess ours alone."""
    if not kept:
        return ours
    sure = f" ({html.escape(kept['sure'])})" if kept.get("sure") else ""
    reason = html.escape(kept.get("because") or "no reason written")
    yours = f"<p style='{PARAGRAPH}'><strong>Your reason{sure}.</strong> {reason}</p>"
    parts = f"<div style='flex:1 1 14em'>{yours}</div><div style='flex:2 1 28em'>{ours}</div>"
    return f"<div style='display:flex;flex-wrap:wrap;gap:0 2em'>{parts}</div>"


def ratios(beside: Sequence[Ratio], measured: Sequence[float], differs: str) -> str:
    """Return printed ratios beside DuckDB's, what makes them differ, and whose they are."""
    if not beside:
        return ""
    rows = [
        (
            one.says,
            f"{one.printed}: {units.text(one.value, 'times')}",
            "" if here is None else units.text(here, "times"),
        )
        for one, here in zip_longest(beside, measured[: len(beside)])
    ]
    head = ("Ratio", "Printed", "Here")
    more = f"{len(rows) - MOST_RATIOS} more printed ratios"
    rest = folded(more, table(head, rows[MOST_RATIOS:])) if len(rows) > MOST_RATIOS else ""
    whose = dict.fromkeys(f"{one.figure.source}, on {one.figure.system}" for one in beside)
    return table(head, rows[:MOST_RATIOS]) + rest + paragraphs(f"{differs} *Printed: {'; '.join(whose)}.*")


# -- what lies folded below it ----------------------------------------------------------------------
def folds(runs: Sequence[Run], base: Mapping[str, Any]) -> str:
    """Return the folds of the runs of one answer: those that there is something to say of."""
    shown = [run for run in runs if run.sql][:MOST_RUNS]
    query = folded("The query", "".join(_query(run, base) for run in shown)) if shown else ""
    read = tuple((_name(run, base), run.sample.reads) for run in shown if run.sample.reads)
    if not read:
        return query
    what = "write" if any(run.sample.wrote for run in shown) else "read"
    sentence = f"Each {what} of the last run, from when it was asked for to when it was there."
    return query + folded("The reads", chart(Traces(sentence=sentence, runs=read, what=what)))


def law_fold(law: Applied, kind: str, apart: str = "") -> str:
    """Return the law: formula, symbols, source, the call with this run's numbers, its result, and the functions.

    `kind` is that of the answer, and `apart` how the result differs from it.
    """
    result = f"{law.imports}\n\n{law.call}\n# {law.result:.6g}: {units.text(law.result, kind)}"
    place = paragraphs("These lines can stand in place of the import above.")
    own = folded("The function", place + code(law.source))
    cited = f"\n\nSource: {law.cited}" if law.cited else ""
    words = paragraphs(law.symbols + cited)
    said = paragraphs(law.fact) + formula(law.formula) + words + code(result) + paragraphs(apart)
    return folded("The law", said + own)


def _name(run: Run, base: Mapping[str, Any]) -> str:
    """Return the knobs in which a run differs from the notebook's settings, in words."""
    said = (
        f"{knob.label.lower()} {knob.text(run.settings[knob.name])}"
        for knob in run.experiment.knobs
        if base.get(knob.name) != run.settings[knob.name]
    )
    return ", ".join(said) or "as the notebook has it"


def _query(run: Run, base: Mapping[str, Any]) -> str:
    """Return one query, its settings, and what DuckDB, our trace and the model say of it."""
    settings = "\n".join(f"SET {name} = {value};" for name, value in run.engine.items())
    script = f"<div>{_COPY}{code(run.script)}</div>"
    sql = run.sql if len(run.sql) <= MOST_SQL else f"{run.sql[: MOST_SQL // 2]} … {run.sql[-MOST_SQL // 2 :]}"
    return (
        paragraphs(f"**{_name(run, base)}**")
        + code(f"{settings}\n{sql};")
        + table(("What", "DuckDB's profile", "our trace", "the model"), accounts(run))
        + folded("The same for a plain DuckDB", script)
    )


def accounts(run: Run) -> list[tuple[str, ...]]:
    """Return the rows of the table: what is counted, by DuckDB, by our trace, and by the model."""
    profile, counts, traced = run.profile, run.counts, run.sample.reads
    moved, theirs = sum(read.size_bytes for read in traced), profile.get("bytes_read") or None
    rows: list[tuple[str, ...]] = []
    for name, kind, engine, ours, expected, band in (
        ("bytes read", "bytes", theirs, moved, counts.get("bytes_read"), "moved_bytes"),
        ("reads", "count", None, len(traced), counts.get("reads"), "more_reads"),
        ("row groups", "count", profile.get("row_groups"), None, counts.get("row_groups"), ""),
        ("processor time", "s", profile.get("cpu_s"), None, None, ""),
    ):
        told = (engine, ours or None, expected)
        if any(value is not None for value in told):
            texts = ["not told" if value is None else units.text(value, kind) for value in told]
            if counts.get(band):
                texts[-1] += f", give or take {units.text(counts[band], kind)}"
            if engine is not None and ours and engine < ours:
                texts[0] += ", which leaves some out"
            rows.append((name, *texts))
    return rows
