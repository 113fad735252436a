"""What `python -m tools.validate --chapter` asks: settings of a chapter at size tiny, at random, and their words."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from readahead.chapters.cache_tiers.workload import CachedQueries
from readahead.chapters.fragments.workload import READERS
from readahead.chapters.index_pages.workload import INDEX_WAYS
from readahead.chapters.loading.workload import EMULATED_FILES
from readahead.chapters.lookups.workload import (
    ANY_CHANNEL,
    NATIVE,
    NEIGHBOURS,
    OWN_DISK,
    PARQUET,
    SCATTERED,
    SHUFFLED,
    SORTED,
    UNSORTED,
    Lookups,
)
from readahead.chapters.read_ahead.workload import OFF, ReadAhead
from readahead.experiments.experiment import Experiment, Knob, Settings
from readahead.measure.sample import Sample, this_machine
from readahead.units import KiB, MiB

Draw = Callable[[Any, random.Random], dict[str, Any]]


def turned(knob: Knob, rng: random.Random) -> Any:
    """Return a value of a knob at random: one of the steps, else evenly on a log scale."""
    if knob.kind == "choice":
        return rng.choice(knob.choices)
    if knob.steps:
        return knob.check(rng.choice(knob.steps))
    return knob.nearest(math.exp(rng.uniform(math.log(knob.low), math.log(knob.high))))


def in_sight(knob: Knob) -> bool:
    """Return whether a knob is turned and named: it is not folded away, or it is the queue depth."""
    return not knob.folded or knob.name == "queue_depth"


def describe(experiment: Experiment, settings: Settings) -> str:
    """Return the knobs in sight with their values, in one line."""
    seen = (knob for knob in experiment.knobs if in_sight(knob))
    return ", ".join(f"{knob.label.lower()} {knob.text(settings[knob.name])}" for knob in seen)


def remark(experiment: Experiment, settings: Settings, sample: Sample) -> str:
    """Return what else to print beside the times: of a cache, the hit ratios seen, replayed, and in the long run."""
    if not isinstance(experiment, CachedQueries):
        return ""
    seen, case = 1 - sample.bytes_read / experiment.work(settings), experiment.case(settings)
    return f"hits {seen:.1%} (LRU {1 - case.shares()[2]:.1%}, long run {case.law().result:.1%})"


def unprofiled_bytes(experiment: Experiment, settings: Settings) -> float:
    """Return the bytes that DuckDB's own count leaves out: blocks of an index.

    Of its own file without read-ahead it leaves some out, nobody knows which: infinite, so that it is not asked.
    """
    if isinstance(experiment, ReadAhead):
        return math.inf if (settings["stored"], settings["read_ahead"]) == (NATIVE, OFF) else 0.0
    if not isinstance(experiment, Lookups):
        return 0.0
    case = experiment.case(settings)
    return float(case.plan().footer[:, 1].sum()) if case.recipe.index else 0.0


def draw(experiment: Experiment, rng: random.Random) -> dict[str, Any]:
    """Return settings with the knobs in sight turned; a topic whose knobs need care has a draw of its own."""
    own: Draw = _OWN.get(experiment.topic, _usual)
    return own(experiment, rng)


def _usual(of: Experiment, rng: random.Random) -> dict[str, Any]:
    drawn = {knob.name: turned(knob, rng) for knob in of.knobs if knob.kind != "choice" and in_sight(knob)}
    return of.settings(**smallest(of), **drawn)


def smallest(of: Experiment) -> dict[str, Any]:
    """Return the knob that makes the tables as small as they come, if there is one."""
    return {"size": "tiny"} if any(knob.name == "size" for knob in of.knobs) else {}


def _also(of: Experiment, rng: random.Random, *names: str) -> dict[str, Any]:
    return {name: turned(of.knob(name), rng) for name in names}


def _cache_tiers(of: Experiment, rng: random.Random) -> dict[str, Any]:
    """Turn everything that decides what is found where."""
    drawn = {knob.name: turned(knob, rng) for knob in of.knobs if in_sight(knob)}
    enough = 2 * 262_144 // drawn["row_group_rows"]  # so many that most row groups are asked for
    return of.settings(size="tiny", queries=enough, **drawn)


def _elimination(of: Experiment, rng: random.Random) -> dict[str, Any]:
    also = _also(of, rng, "flight", "load", "disorder")
    drawn = _usual(of, rng)
    return {**drawn, **also, "row_group_rows": min(drawn["row_group_rows"], 32_768)}


def _fragments(of: Experiment, rng: random.Random) -> dict[str, Any]:
    """Draw a scan or plain readers, as often one as the other."""
    chosen = _usual(of, rng)
    if rng.random() < 0.5:
        return chosen
    return {**chosen, "workload": READERS, **_also(of, rng, "readers", "channels")}


def _index_pages(of: Experiment, rng: random.Random) -> dict[str, Any]:
    """Draw an index inspected one of its ways, which is what the model is held to."""
    drawn = _usual(of, rng)
    return drawn | {"way": rng.choice(tuple(INDEX_WAYS)), "latency_s": rng.uniform(0.001, 0.01)}


def _io_cpu(of: Experiment, rng: random.Random) -> dict[str, Any]:
    """Draw no more workers than this machine has cores."""
    workers = rng.randint(1, this_machine().cores)
    return {**_usual(of, rng), **_also(of, rng, "report"), "threads": workers}


def _loading(of: Experiment, rng: random.Random) -> dict[str, Any]:
    """Draw a load onto an emulated device, no batch so large that only the processor counts."""
    return {**_usual(of, rng), "target": EMULATED_FILES, "channels": rng.choice((1, 4, 16, 64))}


def _lookups(of: Experiment, rng: random.Random) -> dict[str, Any]:
    """Draw lookups whose reads take long enough to be timed."""
    return of.settings(
        size="tiny",
        stored=rng.choice((NATIVE, NATIVE, PARQUET)),
        rows_per_lookup=rng.choice((1, 2, 5, 10, 25, 26, 50, 100, 300, 1_000)),
        step_rows=rng.choice((10, 25, 25, 100)),
        latency_s=math.exp(rng.uniform(math.log(0.001), math.log(0.015))),
        channels=rng.choice((1, 2, 4, 8, 16, 32, 64)),
        queue_depth=rng.choice((1, 2, 4, 8, 16, 32)),
        placed=rng.choice((OWN_DISK, ANY_CHANNEL)),
        asked=rng.choice((SCATTERED, SCATTERED, UNSORTED, NEIGHBOURS)),
        table_order=rng.choice((SORTED, SORTED, SORTED, SHUFFLED)),
        row_group_rows=rng.choice((2_048, 8_192, 16_384, 65_536)),
        block_bytes=rng.choice((16, 32, 64, 256)) * KiB,
        key_draw=rng.randint(1, 1_000),
    )


def _read_ahead(of: Experiment, rng: random.Random) -> dict[str, Any]:
    """Draw scans and queries that end early, of both formats, with read-ahead, without it, and by threads alone."""
    return {**_usual(of, rng), **_also(of, rng, "read_ahead", "stored", "query")}


def _scale_out(of: Experiment, rng: random.Random) -> dict[str, Any]:
    """Draw one or two nodes, short queries, joined or not, none killed."""
    return of.settings(
        nodes=rng.choice((1, 2)),
        latency_s=rng.choice((0.005, 0.01, 0.02)),
        queue_depth=rng.choice((1, 2, 4, 8)),
        slow_times=rng.choice((1.0, 2.0)),
        join=rng.choice(("none", "none", "pushed", "shuffled")),
        small_bytes=rng.choice((64 * KiB, 1 * MiB, 4 * MiB)),
    )


_OWN: dict[str, Draw] = {
    "cache_tiers": _cache_tiers,
    "elimination": _elimination,
    "fragments": _fragments,
    "index_pages": _index_pages,
    "io_cpu": _io_cpu,
    "loading": _loading,
    "lookups": _lookups,
    "read_ahead": _read_ahead,
    "scale_out": _scale_out,
}
