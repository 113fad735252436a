"""The model of one chapter against measurements: its knobs drawn at random, the model first and then DuckDB."""

from __future__ import annotations

import random
from collections.abc import Iterator

from readahead.experiments.experiment import Experiment
from readahead.measure.validate import DEVICE_BOUND, LONGEST_S, Row, control_s
from readahead.running import tell


def examine(experiment: Experiment, *, seed: int, configs: int, repeats: int = 3) -> Iterator[Row]:
    """Calibrate the engine, then yield one row a setting. Raises `Cancelled` when asked to stop."""
    experiment.calibrate()
    rng, done = random.Random(seed), 0
    while done < configs:
        settings = experiment.draw(rng)
        if experiment.model(settings).seconds > LONGEST_S:
            continue
        said = ", ".join(
            f"{knob.label.lower()} {knob.text(settings[knob.name])}"
            for knob in experiment.knobs
            if experiment.in_sight(knob)
        )
        tell(done, configs, said)
        steady_s = control_s()
        sample = experiment.measure(settings, repeats=repeats)
        estimate = experiment.model(settings)  # the file is built now, so the model knows its exact reads
        terms = {**estimate.terms_s}
        cpu_s = terms.pop("cpu", 0.0) + estimate.overlapped_s.get("cpu", 0.0)
        yield Row(
            case=", ".join(filter(None, (said, experiment.remark(settings, sample)))),
            modeled_s=estimate.seconds,
            measured_s=sample.median_s,
            seconds=sample.seconds,
            device_bound=sum(terms.values()) - terms.get("open", 0.0) > DEVICE_BOUND * cpu_s,
            reads_modeled=None,
            reads_measured=len(sample.reads),
            bytes_modeled=None,
            bytes_measured=sample.bytes_read,
            groups_modeled=experiment.groups_read(settings),
            groups_measured=sample.row_groups_scanned,
            control_s=steady_s,
        )
        done += 1
