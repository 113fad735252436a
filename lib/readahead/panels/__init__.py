"""What the learner sees and touches.

from readahead import panels
panels.explore(EXPERIMENT, latency_s=0.004)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from readahead import units
from readahead.chapters import CONTENTS
from readahead.devices import calibrated
from readahead.errors import require_repeats
from readahead.experiments.experiment import Experiment, Settings
from readahead.experiments.run import Run, write_down
from readahead.measure import calibrate
from readahead.measure.sample import FEW, this_machine
from readahead.models.schedule import warm_meanwhile
from readahead.panels.markup import show, table
from readahead.questions.progress import by_papermill


def explore(
    experiment: Experiment,
    address: str = "",
    *,
    measure: bool = True,
    repeats: int = FEW,
    on_settings: Callable[[Settings], None] | None = None,
    **settings: Any,
) -> Any:
    """Return the panel of an experiment, to be shown by the cell; where nobody watches, print it instead.

    There it measures `repeats` times. `address` is what stands below a panel, and gives every setting. A setting that
    is None is left to the experiment, or to the device that is given. Raises `BadValue` that names a setting which the
    experiment does not take.
    `on_settings` is told where the sliders rest.
    """
    from IPython import get_ipython

    from readahead.panels.state import settings_at

    settings = settings_at(experiment, address) if address else settings
    if by_papermill() or getattr(get_ipython(), "kernel", None) is None:
        run(experiment, measure=measure, repeats=repeats, **settings)
        return None
    warm_meanwhile()
    from readahead.panels.panel import Panel  # widgets take half a second to import: only who needs it pays

    return Panel(experiment, measure=measure, on_settings=on_settings, **settings).widget


def run(experiment: Experiment, *, measure: bool = True, repeats: int = FEW, **settings: Any) -> None:
    """Measure an experiment once, print what the panel would show, and write the result down.

    Raises `BadValue` that names a setting out of its range.
    """
    from readahead.panels.state import PanelState, first_knob, static_html

    require_repeats(repeats)
    now = experiment.turned(**settings)
    sample = experiment.measure(now, repeats=repeats) if measure else None
    runs = [] if sample is None else [Run(experiment, now, sample)]
    state = PanelState(experiment, now, first_knob(experiment, now), runs)
    topic = experiment.topic
    notebooks = (f"{row.number:02d}_{row.topic}" for row in CONTENTS if row.topic == topic)
    write_down(experiment, now, sample, next(notebooks, topic))
    show(static_html(state, is_open=True))


def machine_card() -> None:
    """Show the facts of this machine that belong to every number measured on it."""
    machine = this_machine()
    rows = [
        ("CPU", f"{machine.cpu}, {machine.cores} cores"),
        ("Memory", units.text(machine.memory_bytes, "bytes")),
        ("System", machine.system),
        ("File system", machine.file_system),
        ("Disk", disk_text()),
        ("Engine", _engine_text()),
        ("Versions", f"Readahead {machine.readahead}, DuckDB {machine.duckdb}, Python {machine.python}"),
    ]
    show(table(("This machine", "Value"), rows))


def disk_text() -> str:
    """Return this machine's disk in words, as calibration left it, or how to calibrate it."""
    if (own := calibrated()) is None:
        return "not calibrated yet: python -m readahead calibrate"
    seek = f", seek {units.text(own.seek_s, 's')}" if own.seek_s else ""
    return (
        f"{units.text(own.latency_s, 's')} a read{seek},"
        f" {units.text(own.bandwidth_bytes_per_s, 'bytes_per_s')}, {own.channels} in flight (calibrated)"
    )


def _engine_text() -> str:
    """Return what DuckDB itself takes: here, or usually, until the first measurement has calibrated this machine."""
    known = calibrate.engine("comments_narrow")
    costs, how = known.costs(), known.doubt or "calibrated on this machine"
    if known.kept() is None:
        how = "usual; the first measurement finds out what it is here"
    read, row = units.text(costs.dispatch_s, "s"), units.text(costs.row_s, "s")
    return f"{read} to hand out a read, {row} to decode a row ({how})"
