"""A round puts one question (how long? how many times slower?) to the model and to the measurement, and lays the
published answer beside theirs.

A topic's experiment file offers `ROUNDS`, a mapping of prediction ids to `Round`s. Most are one line:

    ROUNDS = {"slower": compared({"latency_s": 0.03}, {"latency_s": 1e-4})}

`see` is a `Source`: asked of the model it computes, asked of the measurement it runs DuckDB. Each
measurement is made once for a set of settings and kept, so that claims and figures ask for free.
"""

from __future__ import annotations

import dis
import inspect
import re
import textwrap
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import numpy as np

from readahead.errors import BadValue, require_repeats
from readahead.experiments.experiment import Experiment, Settings
from readahead.experiments.figure import Line, Traces, curve, dots
from readahead.experiments.run import Run
from readahead.measure import calibrate
from readahead.measure.sample import FEW, Sample, Value, exactly, value
from readahead.models.estimate import Estimate
from readahead.published import Figure, Ratio

LINE = 90
"""Letters of a law's arguments beyond which each has a line of its own."""


class Applied:
    """A law: a function of a chapter's `laws.py` and the arguments of this run.

    What a learner is shown is read from the function itself. Its docstring has a first line with the plain fact, a line
    `.. math::` with the formula, a paragraph that begins with `where` and says what each symbol stands for, and one
    that begins with `Source:`.
    """

    def __init__(self, function: Callable[..., Any], **arguments: Any) -> None:
        self.function = function
        self.arguments = arguments

    @property
    def result(self) -> float:
        """Return what the function computes; an argument that is itself an applied law is computed first."""
        given = {
            name: value.result if isinstance(value, Applied) else value
            for name, value in self.arguments.items()
        }
        return float(self.function(**given))

    @property
    def call(self) -> str:
        """Return the call as a learner can type it: `distinct(row_groups=128, keys=100)`."""
        given = [f"{name}={_plain(value)}" for name, value in self.arguments.items()]
        line = ", ".join(given)
        if len(line) > LINE:
            line = "\n" + textwrap.indent(",\n".join(given), "    ") + ",\n"
        return f"{self.function.__name__}({line})"

    @property
    def imports(self) -> str:
        """Return the lines that make the functions of the call known where this workbook is installed."""
        return "\n".join(f"from {one.__module__} import {one.__name__}" for one in self._functions())

    @property
    def source(self) -> str:
        """Return the functions of the call and all that they use, which run without this workbook."""
        return alone(self._functions())

    def _functions(self) -> list[Callable[..., Any]]:
        """Return the function, and those of the laws among its arguments."""
        inner = [value._functions() for value in self.arguments.values() if isinstance(value, Applied)]
        return list(dict.fromkeys([self.function, *(one for some in inner for one in some)]))

    @property
    def fact(self) -> str:
        """Return the first line of the docstring, as a statement: without the `Return` that it begins with."""
        said = self._paragraphs()[0].removeprefix("Return ")
        return f"{said[0].upper()}{said[1:]}"

    @property
    def formula(self) -> str:
        """Return the formula in LaTeX, or nothing if the docstring has none."""
        found = re.search(r"^\.\. math:: *(.+)$", inspect.getdoc(self.function) or "", re.MULTILINE)
        return found[1].strip() if found else ""

    @property
    def symbols(self) -> str:
        """Return what the symbols stand for, or nothing."""
        return next((one for one in self._paragraphs() if one.startswith("where ")), "")

    @property
    def cited(self) -> str:
        """Return where the formula comes from, or nothing."""
        return next((one[8:] for one in self._paragraphs() if one.startswith("Source: ")), "")

    def _paragraphs(self) -> list[str]:
        text = inspect.getdoc(self.function) or ""
        return [" ".join(part.split()) for part in text.split("\n\n")]


def _plain(value: Any) -> str:
    """Return a number as Python reads it, with as many digits as matter; a law as its call."""
    if isinstance(value, Applied):
        return value.call
    if isinstance(value, float):
        return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:.6g}")
    return repr(value)


def alone(functions: Sequence[Callable[..., Any]]) -> str:
    """Return Python that runs by itself: functions, those of ours that they call, their constants and imports."""
    imports = dict.fromkeys(["from __future__ import annotations"])
    constants: dict[str, None] = {}
    sources: dict[Callable[..., Any], str] = {}
    waiting = list(functions)
    while waiting:
        function = inspect.unwrap(waiting.pop(0))
        if function in sources:
            continue
        sources[function] = inspect.getsource(function).rstrip()
        known = function.__globals__
        for name in _names(compile(f"{next(iter(imports))}\n{sources[function]}", "", "exec")):
            found = known.get(name)
            home = getattr(found, "__module__", "") or ""
            if name not in known:
                continue  # a builtin
            if inspect.ismodule(found):
                imports[f"import {found.__name__}" + (f" as {name}" if name != found.__name__ else "")] = None
            elif inspect.isclass(found) or home == "readahead.errors":
                imports[f"from {home} import {name}"] = None
            elif callable(found):
                waiting.append(found)
            else:
                constants[f"{name} = {_plain(found)}"] = None
    return "\n\n\n".join(
        part for part in ("\n".join(imports), "\n".join(constants), *sources.values()) if part
    )


def _names(lines: CodeType) -> Iterator[str]:
    """Return the names that lines of Python look up outside of themselves."""
    for step in dis.get_instructions(lines):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
        elif isinstance(step.argval, CodeType):
            yield from _names(step.argval)


class Source:
    """A source of truth: the model, which computes, or the measurement, which runs DuckDB on this machine."""

    def __init__(self, study: Study, seconds: Callable[..., Value]) -> None:
        self.study = study
        self.seconds = seconds
        """Returns the time of the query with some knobs changed from the study's settings, with its interval."""

    def estimate(self, **changes: Any) -> Estimate:
        """Return the modeled time as named terms, whichever source is asked."""
        return self.study.experiment.model(self.study.settings(**changes))

    def throughput(self, **changes: Any) -> Value:
        """Return work / time, in the unit of the experiment (bytes or rows a second)."""
        work = self.study.experiment.work(self.study.settings(**changes))
        return exactly(work) / self.seconds(**changes)


class Study:
    """One chapter's experiment with this notebook's settings, and everything measured on it so far."""

    def __init__(self, experiment: Experiment, *, repeats: int = FEW, **base: Any) -> None:
        self.experiment = experiment
        self.repeats = require_repeats(repeats)
        self.base = experiment.turned(**base)
        self.model = Source(self, lambda **changes: experiment.predicted(self.settings(**changes)))
        self.measured = Source(self, lambda **changes: value(self.sample(**changes)))
        self._samples: dict[str, Sample] = {}
        self._controls_s: dict[str, tuple[float, float]] = {}
        """The control runs before and after each sample."""
        self._taken: dict[str, float] = {}
        """What other programs took of the cores meanwhile, as a share."""
        self._lock = threading.RLock()
        self._noted: list[dict[str, dict[str, Any]]] = []

    def settings(self, **changes: Any) -> dict[str, Any]:
        """Return the value of every knob with some turned. Raises `BadValue` as the experiment does."""
        return self.experiment.turned(self.base, **changes)

    def sample(self, **changes: Any) -> Sample:
        """Return the sample at these settings, measured once. Raises `Cancelled` when told to stop."""
        return self.repeated(self.repeats, **changes)

    def glance(self, **changes: Any) -> Sample:
        """Return a sample at these settings for what does not vary from run to run, as counts and reads.

        It is the usual one if that was measured already, and a single run if not.
        """
        with self._lock:
            known = self._samples.get(_key(self.repeats, self.settings(**changes)))
        return known or self.repeated(1, **changes)

    def repeated(self, repeats: int, **changes: Any) -> Sample:
        """Return a sample of so many repeats, measured once and kept apart from the usual one."""
        settings = self.settings(**changes)
        key = _key(repeats, settings)
        with self._lock:
            for noted in self._noted:
                noted[key] = settings
            if key not in self._samples:
                before_s, others = calibrate.control_s(), calibrate.OtherPrograms()
                self._samples[key] = self.experiment.measure(settings, repeats=repeats)
                self._taken[key] = others.share()
                self._controls_s[key] = (before_s, calibrate.control_s())
            return self._samples[key]

    @contextmanager
    def noting(self) -> Iterator[dict[str, dict[str, Any]]]:
        """While the block runs, note the settings of each sample that is asked for, in order."""
        noted: dict[str, dict[str, Any]] = {}
        self._noted.append(noted)
        try:
            yield noted
        finally:
            self._noted.remove(noted)

    def disturbed(self, noted: Mapping[str, Mapping[str, Any]]) -> float:
        """Return how far control runs beside the noted samples strayed, or what other programs took if that is more.

        Both are shares, and medians over the samples.
        """
        took_s = [one_s for key in noted for one_s in self._controls_s.get(key, ())]
        taken = [self._taken[key] for key in noted if key in self._taken]
        return max(float(np.median(shares or [0.0])) for shares in ([*map(calibrate.strayed, took_s)], taken))

    def runs(self, noted: Mapping[str, Mapping[str, Any]]) -> list[Run]:
        """Return the runs that were noted, as far as they are still kept."""
        kept = [(settings, self._samples.get(key)) for key, settings in noted.items()]
        return [Run(self.experiment, settings, sample) for settings, sample in kept if sample is not None]

    def forget(self) -> None:
        """Measure anew from now on."""
        with self._lock:
            self._samples.clear()


def _key(repeats: int, settings: Settings) -> str:
    return f"{repeats} × {sorted(settings.items())!r}"


def traces(study: Study, *, runs: Mapping[str, Mapping[str, Any]]) -> Traces:
    """Return the reads of a few runs as one figure: `runs` gives each run's name, and its knobs to change."""
    samples = {name: study.glance(**changes) for name, changes in runs.items()}
    seen = tuple((name, sample.reads) for name, sample in samples.items())
    what = "write" if any(sample.wrote for sample in samples.values()) else "read"
    return Traces(runs=seen, what=what)


def along(
    study: Study,
    knob: str,
    *,
    seen: Sequence[float] = (),
    label: str = "",
    by: str = "DuckDB",
    seconds: bool = False,
    **changes: Any,
) -> tuple[Line, ...]:
    """Return the model's line along one knob, and the points at the values `seen` of it as measured by DuckDB.

    Both are throughputs in the experiment's unit, or `seconds`. The line goes through 64 values and those seen. `label`
    tells lines of one figure apart.
    """
    settings, experiment = study.settings(**changes), study.experiment
    at = experiment.knob(knob)
    xs = sorted({at.nearest(x) for x in (*at.grid(64), *seen)})
    if seconds:
        ys = [experiment.model({**settings, knob: x}).seconds for x in xs]
    else:
        ys = experiment.curve(settings, knob, xs).tolist()
    told = f", {label}" if label else ""
    lines = [curve(f"model{told}", xs, ys)]
    if seen:
        ask = study.measured.seconds if seconds else study.measured.throughput
        points = ((float(x), ask(**{**changes, knob: at.nearest(x)}).median) for x in seen)
        lines.append(dots(by + told, points))
    return tuple(lines)


Question = Callable[[Any], Value | float]
"""What is asked of a source (a `Round`'s `ask`) or of the whole study (its `model` and `measured`)."""


Analogue = Callable[[Study, Ratio], Value | float]
"""Returns of DuckDB what a printed ratio tells of another system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Where the answers to one prediction come from."""

    ask: Question | None = None
    """Put to both sources in turn."""
    model: Question | None = None
    """Instead of `ask`, where the model is asked something else; gets the study."""
    measured: Question | None = None
    """Instead of `ask`, where the measurement is asked something else; gets the study."""
    published: Sequence[Figure] = ()
    """Figures in the prediction's own unit."""
    beside: Sequence[Ratio] = ()
    """Printed ratios that have an analogue in DuckDB; from `data/published/beside.csv`."""
    analogues: Mapping[str, Analogue] = field(default_factory=dict)
    """Where that is not what the round itself measures: what is, by the name that the file gives it."""
    law: Callable[[Study], Applied] | None = None
    """The law that the answer comes from, with this run's numbers put in; gets the study. It is the model where that is
    not asked otherwise."""
    model_also: str = "follows each read from when it is asked for to when it is there"
    """What the model does besides, for where its number is another than that of the law."""

    def __post_init__(self) -> None:
        sources = (self.ask, self.model, self.law, self.measured)
        if all(source is None for source in sources) and not self.published:
            raise BadValue("This round has no source. Give ask=, model=, law=, measured= or published=.")

    @property
    def measures(self) -> bool:
        """Return whether anything is measured: nothing is of a published machine that is not here."""
        return self.ask is not None or self.measured is not None

    def modeled_value(self, study: Study) -> Value | None:
        """Return what the model says, or None if it was not asked."""
        if self.model is not None:
            return value(self.model(study))
        if self.ask is not None:
            return value(self.ask(study.model))
        return exactly(self.law(study).result) if self.law is not None else None

    def measured_value(self, study: Study) -> Value | None:
        """Return what DuckDB did, or None if it cannot be measured. Raises `Cancelled` when stopped."""
        if self.measured is not None:
            return value(self.measured(study))
        return value(self.ask(study.measured)) if self.ask is not None else None

    def ratios(self, study: Study, measured: Value | None) -> list[float]:
        """Return DuckDB's ratios, each beside a printed one. Raises `Cancelled` when stopped."""
        asked = (self.analogues[one.asked](study, one) if one.asked else measured for one in self.beside)
        return [value(found).median for found in asked if found is not None]


Changes = Settings | Callable[[Study], Settings]
"""The knobs to change, or a function of the study that returns them."""


def compared(
    one: Changes,
    other: Changes,
    law: Callable[[Study, Settings, Settings], Applied] | None = None,
    **more: Any,
) -> Round:
    """Return the round that asks how many times as long a query takes with some knobs changed as with others.

    `law` gets the study and both.
    """

    def both(study: Study) -> list[Settings]:
        return [side(study) if callable(side) else side for side in (one, other)]

    def ask(see: Source) -> Value:
        one_s, other_s = (see.seconds(**changes) for changes in both(see.study))
        return one_s / other_s

    return Round(ask=ask, law=(lambda study: law(study, *both(study))) if law else None, **more)
