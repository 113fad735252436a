"""What the learner sees and touches.

from readahead import panels
panels.explore(EXPERIMENT, latency_s=0.004)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from readahead.experiments.experiment import Experiment, Settings
from readahead.measure.sample import FEW
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
    from readahead.panels.panel import Panel  # plotly takes a second to import: only who needs it pays

    return Panel(experiment, measure=measure, on_settings=on_settings, **settings).face


def run(experiment: Experiment, *, measure: bool = True, repeats: int = FEW, **settings: Any) -> None:
    """Measure an experiment once, print chart, sentence and tables, and write the result down."""
    from readahead.panels.unwatched import printed

    printed(experiment, measure=measure, repeats=repeats, **settings)


def machine_card() -> None:
    """Show the facts of this machine that belong to every number measured on it."""
    from IPython import display as ipython

    from readahead.panels import card

    show: Any = ipython.display
    page: Any = ipython.HTML
    show(page(card.html()))


def _live() -> bool:
    """Return whether there is a kernel that a front end may be listening to."""
    from IPython.core.getipython import get_ipython

    shell: Any = get_ipython()
    return getattr(shell, "kernel", None) is not None
