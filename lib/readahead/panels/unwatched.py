"""The bench without a hand on it: measured once, printed, and written down for a machine to read."""

from __future__ import annotations

from typing import Any

from IPython import display as ipython

from readahead.chapters import CONTENTS
from readahead.errors import require_repeats
from readahead.experiments.experiment import Experiment
from readahead.measure import result
from readahead.measure.sample import FEW
from readahead.panels import static
from readahead.panels.view import dot, first_knob, look, opening


def printed(experiment: Experiment, *, measure: bool = True, repeats: int = FEW, **settings: Any) -> None:
    """Print what the panel would show, numbers open. Raises `BadValue` that names a setting out of its range."""
    require_repeats(repeats)
    now = opening(experiment, **settings)
    sample = experiment.measure(now, repeats=repeats) if measure else None
    dots = [] if sample is None else [dot(experiment, now, sample)]
    view = look(experiment, now, first_knob(experiment, now), dots)
    found = result.facts(
        topic=experiment.topic, settings=now, estimate=view.estimate, sample=sample,
        throughput_unit=view.unit, work=experiment.work(now),
    )  # fmt: skip
    result.write(found, _notebook(experiment.topic))
    show: Any = ipython.display
    page: Any = ipython.HTML
    show(page(static.twin(view, is_open=True)))


def _notebook(topic: str) -> str:
    """Return the name of a topic's notebook, without its ending."""
    return next((f"{row.number:02d}_{row.topic}" for row in CONTENTS if row.topic == topic), topic)
