"""One run of an experiment, to look at: its query, its times, its reads, and what DuckDB itself says of it."""

from __future__ import annotations

import html
import json
import math
import operator
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from readahead import paths, units
from readahead.errors import BadValue, DataError
from readahead.experiments.experiment import Experiment, Settings
from readahead.measure.run import set_statements
from readahead.measure.sample import Sample, Value, exactly, this_machine, value
from readahead.models.estimate import Estimate
from readahead.running import quietly, tell
from readahead.storage.emulated import PROTOCOL, REMOTE_PROTOCOL
from readahead.storage.trace import Read

if TYPE_CHECKING:
    import pandas as pd

    from readahead.experiments.round import Study


class Run:
    """A sample at some settings, beside the model's estimate at the same settings."""

    def __init__(self, experiment: Experiment, settings: Settings, sample: Sample) -> None:
        self.experiment = experiment
        self.settings = dict(settings)
        """The value of every knob."""
        self.sample = sample
        """The raw seconds of every repeat, the machine, the answer."""
        self.sql = sample.sql
        """The query as DuckDB got it."""
        self.engine = sample.engine
        """DuckDB's settings, by name."""
        self.profile = sample.profile
        """What DuckDB says of its own last run: bytes read, row groups scanned, processor time, operators."""

    @cached_property
    def seconds(self) -> Value:
        """Return the time: the median of the repeats with its interval and warnings."""
        return value(self.sample)

    @cached_property
    def throughput(self) -> Value:
        """Return work / time, in bytes or rows a second."""
        return exactly(self.experiment.work(self.settings)) / self.seconds

    @property
    def estimate(self) -> Estimate:
        """Return what the model says, as named terms."""
        return self.experiment.model(self.settings)

    @property
    def counts(self) -> Mapping[str, float]:
        """Return how many reads, bytes and row groups the model expects, as far as it does."""
        return self.experiment.counts(self.settings)

    @property
    def reads(self) -> pd.DataFrame:
        """Return the reads of the last run: offset, size_bytes, thread, and when each was submitted, due and done, in
        seconds from the start of the query. Empty where the system gives no trace.
        """
        pd = with_plain_numbers()
        columns = [field.name for field in fields(Read)]
        return pd.DataFrame([asdict(read) for read in self.sample.reads], columns=columns).round(6)

    def _repr_html_(self) -> str:
        """Return a compact card: what Jupyter shows for a run that ends a cell."""
        unit, read = self.experiment.unit(self.settings), self.sample.reads
        moved = sum(one.size_bytes for one in read) if self.sample.wrote else self.sample.bytes_read
        what = ("written", "writes") if self.sample.wrote else ("read", "reads")
        rows = [
            ("measured", f"{self.seconds.text('s')}, {self.throughput.text(unit)}"),
            ("model", str(self.estimate)),
            (what[0], f"{units.text(moved, 'bytes')} in {len(read)} {what[1]}"),
            ("query", self.sql if len(self.sql) < 200 else f"{self.sql[:200]} …"),
        ]
        left = "text-align:left;vertical-align:top"
        lines = (
            f"<tr><th style='{left}'>{name}</th><td style='{left}'>{html.escape(text)}</td></tr>"
            for name, text in rows
            if text
        )
        return f"<table>{''.join(lines)}</table>"

    def __repr__(self) -> str:
        """Return the same in one line."""
        return f"Run({self.seconds.text('s')}; model {units.text(self.estimate.seconds, 's')})"

    @property
    def script(self) -> str:
        """Return the same query as lines for a plain DuckDB without this workbook, on this machine's own disk."""
        statements = [*set_statements(self.engine), *self.sample.setup, self.sql]
        text = "\n".join(f"{statement};" for statement in statements)
        return re.sub(f"'(?:{PROTOCOL}|{REMOTE_PROTOCOL})://", "'", text)


def with_plain_numbers() -> Any:
    """Return pandas, which is imported here at the earliest, told to write numbers without an exponent."""
    import pandas as pd

    pd.set_option("display.float_format", lambda number: units.text(number, "", 4))
    return pd


def sweep(
    study: Study, knob: str, values: Iterable[float], *, measure: bool = True, **changes: Any
) -> pd.DataFrame:
    """Return a row for each value of one knob: modeled, measured and its interval, and what was published there.

    Throughputs in the experiment's unit, which stands in `attrs["unit"]`; without `measure` none yet. Raises `BadValue`
    as the panel does, and `Cancelled` when asked to stop.
    """
    pd = with_plain_numbers()
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise BadValue(
            f"values={values!r} must be several values of {knob}. Give a list, such as [1, 10, 100]."
        )
    experiment, rows = study.experiment, []
    settings = [
        study.settings(**{**changes, knob: value}) for value in values
    ]  # all are checked before any is run
    for number, one in enumerate(settings if measure else ()):
        tell(number, len(settings), f"{experiment.knob(knob).label}: {experiment.knob(knob).text(one[knob])}")
        with quietly():
            seen = Run(experiment, one, study.sample(**one)).throughput
        printed = {x: y for x, y, _ in experiment.published(one, knob)}
        modeled = experiment.throughput(one, experiment.model(one).seconds)
        rows.append((one[knob], modeled, seen.median, seen.low, seen.high, printed.get(one[knob], math.nan)))
    tell(len(settings), len(settings), "done")
    rows = rows or [(one[knob], *[math.nan] * 5) for one in settings]
    table = pd.DataFrame(rows, columns=[knob, "modeled", "measured", "low", "high", "published"])
    table.attrs["unit"] = experiment.unit(study.settings(**changes))
    return table


_MEASURED = (
    "seconds", "median_s", "cpu_s", "bytes_read", "max_in_flight", "row_groups_scanned", "row_groups_total", "where",
    "time_scale",
)  # fmt: skip
_written: list[Path] = []
"""The files of this process."""


def write_down(experiment: Experiment, settings: Settings, sample: Sample | None, name: str) -> Path | None:
    """Write a measurement beside its prediction as JSON, for a machine to read, and return the file's path.

    It is named after notebook `name`, in the folder that READAHEAD_OUT names; a second one of the same run gets a
    number. None where no folder is named. Raises `DataError` if the folder cannot be written.
    """
    folder = os.environ.get("READAHEAD_OUT")
    if not folder:
        return None
    number = len(_written) + 1
    path = Path(folder) / (f"{name}.json" if number == 1 else f"{name}.{number}.json")
    told = json.dumps(_facts(experiment, settings, sample), default=operator.methodcaller("item"))
    found = json.loads(told, parse_constant=lambda _: None)  # JSON has no infinity
    try:
        paths.write_whole(path, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    except OSError as error:
        raise DataError(
            f"The result {path} cannot be written: {error}. Give a folder that can be."
        ) from error
    _written.append(path)
    return path


def _facts(experiment: Experiment, settings: Settings, sample: Sample | None) -> dict[str, Any]:
    """Return everything as plain values: seconds, bytes, and the throughput in `throughput_unit`."""
    estimate, work = experiment.model(settings), experiment.work(settings)
    measured = None
    if sample is not None:
        measured = {name: getattr(sample, name) for name in _MEASURED} | {
            "interval_s": sample.interval_s(),
            "throughput": work / sample.median_s,
            "reads": len(sample.reads),
            "warnings": sample.warnings(),
        }
    return {
        "topic": experiment.topic,
        "settings": dict(settings),
        "throughput_unit": experiment.unit(settings),
        "work": work,
        "modeled": {
            "seconds": estimate.seconds,
            "throughput": work / estimate.seconds,
            "terms_s": dict(estimate.terms_s),
            "overlapped_s": dict(estimate.overlapped_s),
            "bottleneck": estimate.bottleneck,
        },
        "measured": measured,
        "machine": asdict(this_machine()),
    }
