"""What the learner sees and touches.

from readahead import panels
panels.explore(EXPERIMENT, latency_s=0.004)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from readahead.chapters import CONTENTS
from readahead.errors import require_repeats
from readahead.experiments.experiment import Experiment, Settings
from readahead.experiments.run import write_down
from readahead.measure.sample import FEW
from readahead.models.schedule import warm_meanwhile
from readahead.panels.markup import show
from readahead.questions.progress import by_papermill


def explore(
    experiment: Experiment,
    *,
    measure: bool = True,
    on_settings: Callable[[Settings], None] | None = None,
    **settings: Any,
) -> Any:
    """Return the panel of an experiment, to be shown by the cell; where nobody watches, print it instead.

    A setting that is None is left to the experiment, or to the device that is given. Raises `BadValue` that
    names a setting which the experiment does not take. `on_settings` is told where the sliders rest.
    """
    if by_papermill() or not _live():
        run(experiment, measure=measure, **settings)
        return None
    warm_meanwhile()
    from readahead.panels.panel import Panel  # widgets take half a second to import: only who needs it pays

    return Panel(experiment, measure=measure, on_settings=on_settings, **settings).widget


def run(experiment: Experiment, *, measure: bool = True, repeats: int = FEW, **settings: Any) -> None:
    """Measure an experiment once, print what the panel would show, and write the result down.

    Raises `BadValue` that names a setting out of its range.
    """
    from readahead.panels.state import first_knob, measured_point, panel_state, static_html

    require_repeats(repeats)
    now = experiment.turned(**settings)
    sample = experiment.measure(now, repeats=repeats) if measure else None
    points = [] if sample is None else [measured_point(experiment, now, sample)]
    state = panel_state(experiment, now, first_knob(experiment, now), points)
    topic = experiment.topic
    notebooks = (f"{row.number:02d}_{row.topic}" for row in CONTENTS if row.topic == topic)
    write_down(experiment, now, sample, next(notebooks, topic))
    show(static_html(state, is_open=True))


def machine_card() -> None:
    """Show the facts of this machine that belong to every number measured on it."""
    from readahead.panels import card

    show(card.html())


def _live() -> bool:
    """Return whether there is a kernel that a front end may be listening to."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    return getattr(shell, "kernel", None) is not None
