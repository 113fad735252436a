"""One query on more nodes, one of which may be slow or die, and joined to a table that all of them need."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

from readahead import published, units
from readahead.chapters.scale_out import laws
from readahead.chapters.scale_out.cluster import NODE_THREADS, POLL_S
from readahead.chapters.scale_out.workload import MIDDLE, ScaleOut
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import Settings
from readahead.experiments.figure import Picture, Traces, curve, dots
from readahead.experiments.knobs import experiment
from readahead.experiments.residual import Tally, tally
from readahead.experiments.round import Applied, Round, Source, Study, along, compared
from readahead.experiments.steps import Frame, listed, scanned, states
from readahead.measure.sample import Value
from readahead.models.schedule import Window
from readahead.published import Figure
from readahead.questions.question import Computed
from readahead.units import MB, KiB, MiB

EXPERIMENT = experiment(
    ScaleOut, __file__, "Scale-out: more nodes", fixed={"device": "object-store", "threads": 1}
)

# -- what MariaDB printed: ten times of one server and two, as a product of factors --------------------------
NOT_FITTED = ("2 nodes, cold, unsorted", "2 nodes, cold, redundant")
"""Of the ten times; one time and five factors are fitted to the eight others."""


figure, printed = partial(published.figure, "scale_out"), partial(published.best, "scale_out")


def totals() -> dict[str, Figure]:
    """Return MariaDB's ten times by their load, such as '2 nodes, cold, unsorted'."""
    return {
        ", ".join((nodes, *time.name.split(".")[1:])): time
        for nodes, topic in (("1 node", "elimination"), ("2 nodes", "scale_out"))
        for time in published.figures(topic)
        if time.name.startswith("total_s.")
    }


def facts(name: str) -> list[bool]:
    """Return whether each of the five factors is in a time."""
    two, cold = name.startswith("2"), "cold" in name
    return [name.endswith(", sorted"), "redundant" in name, two and cold, two and not cold, cold]


def product(name: str, without: str = "") -> Applied:
    """Return the product for one of the ten times, fitted to the eight that agree, or to all but one of these."""
    fitted = {one: time.value for one, time in totals().items() if one not in (*NOT_FITTED, without)}
    rows = [facts(one) for one in fitted]
    return Applied(laws.product_s, facts=rows, seconds=list(fitted.values()), asked=facts(name))


def in_print() -> Tally:
    """Return MariaDB's times beside the product of factors, each foretold by the product fitted to the others.

    The sorted times and one of the redundant are foretold in the chapters on elimination and on cache tiers; a figure
    counts once, so here they only take part in the fit.
    """
    models = {}
    for name, told in totals().items():
        elsewhere = name.endswith((", sorted", "warm, redundant"))
        topic = "" if name.startswith("2") else "elimination:"
        models[f"{topic}{told.name}"] = product(name, "" if elsewhere else name).result
    return tally(__file__, models)


# -- what is asked of model and measurement ----------------------------------------------------------------
ONE, TWO = {"nodes": 1}, {"nodes": 2}
NEAR: dict[str, Any] = {"nodes": 2, "latency_s": 0.0025}
"""The knobs of rounds that need no long query."""
SLOW = 3.0
ONE_SLOW = {**NEAR, "slow_times": SLOW}
DISTURBED: dict[str, Any] = {"nodes": 2, "copies": "two", "failing": "killed"}
JOINED: dict[str, Any] = {"nodes": 2, "latency_s": 0.001, "network_bytes_per_s": 10 * MB}
LARGE_SMALL, SMALL_SMALL = 3 * MiB, 64 * KiB
"""Two small sides: one that should be dealt out, one that should be pushed down."""


def speedup(see: Source) -> Value:
    """Return how many times as fast two nodes are as one."""
    return see.seconds(**ONE) / see.seconds(**TWO)


def outstanding(requests: int) -> dict[str, Any]:
    """Return the knobs of one far node with so many requests outstanding."""
    return {"nodes": 1, "latency_s": 0.02, "queue_depth": requests}


def joined(way: str, small_bytes: int) -> dict[str, Any]:
    """Return the knobs of a join by two nodes of which little time is reading."""
    return {**JOINED, "join": way, "small_bytes": small_bytes}


# -- the law of each round ---------------------------------------------------------------------------------
def _waits(study: Study, **changes: Any) -> int:
    """Return how often the slowest node waits for its device in a row: reads lie on all nodes alike."""
    settings = study.settings(**changes)
    plans = [part.plan() for part in EXPERIMENT.parts(settings)]
    data, at_once = sum(len(plan.spans) for plan in plans), len(plans) * int(settings["queue_depth"])
    return len(plans[0].footer) + math.ceil(data / at_once)


def _node_gain(study: Study, before: Settings, after: Settings) -> Applied:
    """Return the law of a query that waits less often, or for a node that answers so many times as slowly."""
    waits, wait_s = _waits(study, **after), study.settings(**after)["latency_s"]
    return Applied(
        laws.node_gain,
        before=_waits(study, **before) * before.get("slow_times", 1.0),
        after=waits,
        wait_s=wait_s,
        once_s=study.model.estimate(**after).seconds - waits * wait_s,
    )


def _killed_law(study: Study, _: Settings, undisturbed: Settings) -> Applied:
    undisturbed_s = study.model.seconds(**undisturbed).median
    return Applied(laws.failover_s, node_s=[1, 1], after_s=MIDDLE, notice_s=POLL_S / 2 / undisturbed_s)


def _pushed_law(study: Study, pushed: Settings, _: Settings) -> Applied:
    large_bytes = EXPERIMENT.large_bytes(study.settings(**pushed))
    return Applied(laws.push_gain, small_bytes=LARGE_SMALL, large_bytes=large_bytes, nodes=pushed["nodes"])


ROUNDS = {
    "warm": Round(published=(figure("speedup.warm.unsorted"),)),
    "anomaly": Round(
        law=lambda _: product("2 nodes, cold, unsorted"), published=(figure("total_s.cold.unsorted"),)
    ),
    "two": compared(
        ONE, TWO, law=_node_gain, published=(figure("speedup.cold.unsorted"), figure("speedup.cold.sorted"))
    ),
    "requests": compared(outstanding(20), outstanding(32), law=_node_gain),
    "slow": compared(ONE_SLOW, NEAR, law=_node_gain),
    "copy": compared({**NEAR, "copies": "two"}, NEAR, law=_node_gain),
    "killed": compared(DISTURBED, TWO, law=_killed_law),
    "pushed": compared(joined("pushed", LARGE_SMALL), joined("shuffled", LARGE_SMALL), law=_pushed_law),
}


# -- figures -----------------------------------------------------------------------------------------------
def _laws(study: Study) -> Picture:
    counts = [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5]
    lines = [curve("twice the nodes, twice as fast", counts, counts, "other")]
    for state in ("warm", "cold"):
        said = printed(f"speedup.{state}.unsorted")
        law = laws.capacity(counts, laws.contention(said, 2), 0.0)
        lines += [
            curve(f"law through {state}, unsorted", counts, law),
            dots(f"MariaDB, {state}, unsorted", [(2.0, said)], "published"),
        ]
    one = study.measured.seconds(nodes=1)
    seen = [(float(n), (one / study.measured.seconds(nodes=n)).median) for n in {1, 2, study.base["nodes"]}]
    lines.append(dots("DuckDB on Dask", seen))
    return Picture(lines=tuple(lines))


def _caches(_study: Study) -> Picture:
    first_s, last_s = (published.best("cache_tiers", f"repeat_s.q1_1_{end}") for end in ("first", "last"))
    faster, said = first_s / last_s, printed("speedup.warm.unsorted")

    def gain(share: float) -> float:
        took = partial(laws.cached_s, data_bytes=1.0, cache_bytes=share, device_bytes_per_s=1.0)
        return took(1, cache_bytes_per_s=faster) / took(2, cache_bytes_per_s=faster)

    shares = (0.02, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)
    level = curve("MariaDB, warm, unsorted", (shares[0], shares[-1]), (said, said), "published")
    return Picture(
        values={"faster": faster}, lines=(curve("model", shares, [gain(share) for share in shares]), level)
    )


def _joins(study: Study) -> Picture:
    draw = partial(along, study, "small_bytes", seconds=True, **JOINED)
    pushed = draw(seen=(SMALL_SMALL, LARGE_SMALL), label="pushed down", join="pushed")
    return Picture(
        lines=(*pushed, *draw(seen=(LARGE_SMALL,), label="shuffled", join="shuffled")),
        marks={"large side / nodes²": laws.push_limit_bytes(EXPERIMENT.large_bytes(study.base), 2)},
    )


def _nodes(study: Study) -> Traces:
    reads = study.sample(**ONE_SLOW).reads
    first, slow = ([read for read in reads if read.thread // NODE_THREADS == node] for node in (0, 1))
    return Traces(runs=(("first node", first), ("slow node", slow)))


FIGURES = {
    "laws": _laws,
    "caches": _caches,
    "joins": _joins,
    "nodes": _nodes,
}


# -- answers of exercises, and the two sides of each claim ---------------------------------------------------
CLAIMS: dict[str, Sides] = {
    "nearly_two": Sides(
        left=lambda study: speedup(study.measured),
        right=lambda study: 1.8,
        when={"so_many_requests": lambda left, right, study: study.base["queue_depth"] > 2},
    ),
    "model_holds": Sides(
        left=lambda study: speedup(study.measured), right=lambda study: speedup(study.model)
    ),
    "slowest_rules": Sides(left=ONE_SLOW, right={**NEAR, "latency_s": NEAR["latency_s"] * SLOW}),
    "survives": Sides(
        left=lambda study: float(study.sample(**DISTURBED).answer == study.sample(nodes=2).answer),
        right=lambda study: 1.0,
    ),
    "small_pushed": Sides(left=joined("pushed", SMALL_SMALL), right=joined("shuffled", SMALL_SMALL)),
}

ANSWERS: dict[str, Computed] = {
    "alpha": Computed(answer=lambda study: laws.contention(printed("speedup.cold.unsorted"), 2)),
    "load": Computed(
        answer=lambda _: printed("loading:cpimport_s.mode1") / printed("loading:cpimport_s.mode2")
    ),
    "limit": Computed(
        law=lambda given: Applied(laws.push_limit_bytes, large_bytes=given["large_bytes"], nodes=2),
        wrong={"the_large_side": lambda given: given["large_bytes"]},
    ),
}


def _parts(study: Study) -> Iterator[Frame]:
    """Return three nodes that read their parts from devices of their own, as the schedule of each has it."""
    drive, one = EXPERIMENT.device(study.base), Window(slots=1, depth=1, threads=1)
    parts = [scanned(drive, reads, 40_000, one).reads_s.round(7) for reads in (3, 3, 5)]
    for now_s in sorted({time_s for part in parts for time_s in part.ravel().tolist()}):
        there = [number for number, part in enumerate(parts, 1) if part[-1, 1] <= now_s]
        says = f"After {units.text(now_s, 's')}: the coordinator has the sums of {len(there)} of {len(parts)} nodes."
        if len(there) == len(parts):
            says += " It adds them up, and answers."
        elif there:
            says += f" Nodes {listed(there)} have nothing left to do, and the query is not over."
        lanes = {f"Node {number}": states(part, now_s) for number, part in enumerate(parts, 1)}
        lanes["Coordinator"] = [
            (f"sum of node {number}", "done" if number in there else "wait")
            for number in range(1, len(parts) + 1)
        ]
        yield Frame(says=says, lanes=lanes)


STEPS = {"parts": _parts}
