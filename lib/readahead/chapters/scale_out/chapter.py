"""Scale-out: one query on more nodes, one of which may be slow or die, and joined to a table that all of them need."""

from __future__ import annotations

import functools
import itertools
from typing import Any

from readahead import devices, published
from readahead.chapters.scale_out import laws
from readahead.chapters.scale_out.cluster import LOCAL, NODE_THREADS
from readahead.chapters.scale_out.workload import ScaleOut
from readahead.experiments.claim import Sides
from readahead.experiments.experiment import Knob, Settings, knob, powers
from readahead.experiments.figure import Axis, Line, Picture, Traces, against_print
from readahead.experiments.round import Round, Source, Study, along
from readahead.measure.sample import Value
from readahead.questions.question import Computed
from readahead.units import GB, MB, GiB, KiB, MiB

_NETWORK = devices.device("object-store")
MOST_NODES = 4


def unjoined(settings: Settings) -> str:
    """Return why the knobs of a join do nothing, where nothing is joined."""
    return "Nothing is joined." if settings["join"] == "none" else ""


def unlimited(settings: Settings) -> str:
    """Return why the limit does nothing, where it does not decide."""
    return "" if settings["join"] == "limit" else "You chose how the join is done."


EXPERIMENT = ScaleOut(
    topic="scale_out",
    title="Scale-out: more nodes",
    knobs=(
        Knob(
            name="nodes", label="Nodes", kind="count", default=2, low=1, high=MOST_NODES,
            steps=tuple(range(1, MOST_NODES + 1)), help="DuckDB processes, each with a part of the table.",
        ),
        knob("latency_s", default=0.008, high=0.03),
        knob("queue_depth", default=1, folded=False, label="Outstanding"),
        Knob(
            name="slow_times", label="One slow node", kind="times", default=1.0, low=1.0, high=8.0,
            help="How many times as long the last node's device takes to answer.",
        ),
        Knob(
            name="copies", label="Copies", kind="choice", default="one", choices=("one", "two"),
            labels={"one": "one copy", "two": "a copy on the neighbour"},
            idle=lambda settings: "There is no neighbour." if settings["nodes"] == 1 else "",
        ),
        Knob(
            name="failing", label="Nodes are", kind="choice", default="alive", choices=("alive", "killed"),
            labels={"alive": "all alive", "killed": "one killed in the middle"},
            idle=lambda settings: "" if unjoined(settings) else "A worker is killed in a scan, not in a join.",
        ),
        Knob(
            name="join", label="Join", kind="choice", default="none", choices=("none", "limit", "pushed", "shuffled"),
            labels={"limit": "by the limit", "pushed": "pushed down"},
        ),
        Knob(
            name="small_bytes", label="Small side", kind="bytes", default=1 * MiB, low=16 * KiB, high=16 * MiB,
            steps=powers(16 * KiB, 16 * MiB), help="The table that is joined to the large one.",
            idle=unjoined,
        ),
        Knob(
            name="limit_bytes", label="Push-down limit", kind="bytes", default=512 * KiB, low=16 * KiB, high=2 * GiB,
            steps=powers(16 * KiB, 2 * GiB), folded=True, help="A small side up to here is sent to every node.",
            idle=lambda settings: unjoined(settings) or unlimited(settings),
        ),
        Knob(
            name="network_bytes_per_s", label="Network", kind="bytes_per_s", default=20 * MB, low=5 * MB,
            high=10 * GB, folded=True, help="Of each node's link, and of the coordinator's.", idle=unjoined,
        ),
        knob("row_group_rows", default=2_048, folded=True, high=131_072, steps=powers(2_048, 131_072)),
        knob("channels", default=128),
        knob("bandwidth_bytes_per_s", default=_NETWORK.bandwidth_bytes_per_s),
        knob("size", default="tiny"),
        Knob(
            name="scheduler", label="Cluster", kind="choice", default=LOCAL, choices=(LOCAL,), folded=True,
            labels={LOCAL: "this machine"}, pattern=r"[\w+-]+://.+",
            help="Two worker processes here, or the address of any other Dask scheduler, such as tcp://127.0.0.1:8786.",
        ),
    ),
    fixed={"device": _NETWORK.name, "threads": 1},
)  # fmt: skip

# -- what MariaDB printed: ten times of one server and two, as a product of factors --------------------------
Row = tuple[str, float, float]
"""A figure's name, what the model says, and what was printed."""
FITTED = 7
"""A base and six factors (sorted, redundant, two nodes cold, two nodes warm, cold, the anomaly), fitted to all ten."""


def printed(name: str, topic: str = "scale_out") -> float:
    """Return a figure of this chapter or another, in SI units."""
    return published.figure(topic, name).best


def totals() -> list[tuple[str, list[bool], float]]:
    """Return MariaDB's ten times: (name, whether each of the six factors is in it, seconds)."""
    found = []
    states, servers, orders = ("cold", "warm"), ("one node", "two nodes"), ("unsorted", "redundant", "sorted")
    for state, nodes, order in itertools.product(states, servers, orders):
        cold, two = state == "cold", nodes == "two nodes"
        if two or order != "redundant":
            odd = cold and two and order != "sorted"
            facts = [order == "sorted", order == "redundant", two and cold, two and not cold, cold, odd]
            seconds = printed(f"total_s.{state}.{order}", "scale_out" if two else "elimination")
            found.append((f"{nodes}, {state}, {order}", facts, seconds))
    return found


def residuals() -> list[Row]:
    """Return (figure, model, printed) for MariaDB's ten times, all of them fitted: three degrees of freedom.

    What stays unexplained has a factor of its own: unsorted data, cold, on two nodes (`anomaly`).
    """
    names, facts, seconds = zip(*totals(), strict=True)
    return list(zip(names, laws.product_s(facts, seconds, facts).tolist(), seconds, strict=True))


def anomaly() -> list[Row]:
    """Return (figure, model, printed) for the two odd times, from a product fitted to the other eight alone."""
    _, plain, fitted = zip(*[(name, row[:-1], s) for name, row, s in totals() if not row[-1]], strict=True)
    names, odd, seconds = zip(*[(name, row[:-1], s) for name, row, s in totals() if row[-1]], strict=True)
    return list(zip(names, laws.product_s(plain, fitted, odd).tolist(), seconds, strict=True))


# -- what is asked of model and measurement ----------------------------------------------------------------
NEAR: dict[str, Any] = {"nodes": 2, "latency_s": 0.0025}
"""The knobs of rounds that need no long query."""
SLOW = 3.0
JOINED: dict[str, Any] = {"nodes": 2, "latency_s": 0.001, "network_bytes_per_s": 10 * MB}
LARGE_SMALL, SMALL_SMALL = 3 * MiB, 64 * KiB
"""Two small sides: one that should be dealt out, one that should be pushed down."""
DEFAULT_REQUESTS, RAISED_REQUESTS = 20, 32


def speedup(see: Source, **changes: Any) -> Value:
    """Return how many times as fast two nodes are as one."""
    return see.seconds(**{**changes, "nodes": 1}) / see.seconds(**{**changes, "nodes": 2})


def outstanding(see: Source, requests: int) -> Value:
    """Return how long one node takes with so many requests outstanding."""
    return see.seconds(nodes=1, latency_s=0.02, queue_depth=requests)


def joined(see: Source, way: str, small_bytes: int) -> Value:
    """Return how long two nodes take for a join of which little time is reading."""
    return see.seconds(**JOINED, join=way, small_bytes=small_bytes)


ROUNDS = {
    "warm": Round(published=(published.figure("scale_out", "speedup.warm.unsorted"),), measures=False),
    "anomaly": Round(
        model=lambda study: anomaly()[0][1],
        measures=False,
        published=(published.figure("scale_out", "total_s.cold.unsorted"),),
    ),
    "two": Round(
        ask=speedup,
        published=[
            published.figure("scale_out", f"speedup.cold.{order}") for order in ("unsorted", "sorted")
        ],
    ),
    "requests": Round(ask=lambda see: outstanding(see, DEFAULT_REQUESTS) / outstanding(see, RAISED_REQUESTS)),
    "slow": Round(ask=lambda see: see.seconds(**NEAR, slow_times=SLOW) / see.seconds(**NEAR)),
    "copy": Round(ask=lambda see: see.seconds(**NEAR, copies="two") / see.seconds(**NEAR)),
    "killed": Round(
        ask=lambda see: see.seconds(nodes=2, copies="two", failing="killed") / see.seconds(nodes=2)
    ),
    "pushed": Round(
        ask=lambda see: joined(see, "pushed", LARGE_SMALL) / joined(see, "shuffled", LARGE_SMALL)
    ),
}


# -- figures -----------------------------------------------------------------------------------------------
def _laws(study: Study) -> Picture:
    """Draw what the law of scaling makes of two printed speed-ups and the measured ones."""
    counts = [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5]
    lines = [Line(name="twice the nodes, twice as fast", points=[(n, n) for n in counts], source="other")]
    for state in ("warm", "cold"):
        said = printed(f"speedup.{state}.unsorted")
        curve = laws.capacity(counts, laws.contention(said, 2), 0.0).tolist()
        lines += [
            Line(name=f"law through {state}, unsorted", points=list(zip(counts, curve, strict=True))),
            Line(name=f"MariaDB, {state}, unsorted", points=[(2.0, said)], source="published", joined=False),
        ]
    one, more = study.measured.seconds(nodes=1), sorted({2, study.base["nodes"]} - {1})
    seen = [(1.0, 1.0), *((float(n), (one / study.measured.seconds(nodes=n)).median) for n in more)]
    lines.append(Line(name="DuckDB on Dask", points=seen, source="measured", joined=False))
    return Picture(
        x=Axis(label="nodes", kind="count", log=False),
        y=Axis(label="speed-up", kind="times", log=False),
        lines=tuple(lines),
    )


def _caches(_study: Study) -> Picture:
    """Draw what a second cache does to a repeated query, by how much of the data one cache holds."""
    warmer = printed("total_s.cold.unsorted", "elimination") / printed("total_s.warm.unsorted", "elimination")
    said = printed("speedup.warm.unsorted")

    def gain(share: float) -> float:
        took = functools.partial(laws.cached_s, data_bytes=1.0, cache_bytes=share, device_bytes_per_s=1.0)
        return took(1, cache_bytes_per_s=warmer) / took(2, cache_bytes_per_s=warmer)

    shares = (0.02, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)
    return Picture(
        x=Axis(label="share of the data that one cache holds", kind="1", log=False),
        y=Axis(label="speed-up of two nodes", kind="times", log=False),
        lines=(
            Line(name="model", points=[(share, gain(share)) for share in shares]),
            Line(name="MariaDB, warm, unsorted", points=[(0.02, said), (1.2, said)], source="published"),
        ),
    )


def _outlier(_study: Study) -> Picture:
    """Draw each printed time against the product that was fitted to the eight without an anomaly."""
    odd = {name: (model, said) for name, model, said in anomaly()}
    plain = sorted((model, said) for name, model, said in residuals() if name not in odd)
    both = [value for pair in (*plain, *odd.values()) for value in pair]
    ends = [(end, end) for end in (min(both), max(both))]
    return Picture(
        x=Axis(label="model", kind="s"),
        y=Axis(label="printed", kind="s"),
        lines=(
            Line(name="as predicted", points=ends),
            Line(name="MariaDB", points=plain, source="published", joined=False),
            Line(name="unsorted, cold, two nodes", points=[*odd.values()], source="other", joined=False),
        ),
    )


def _joins(study: Study) -> Picture:
    """Draw both ways to join against the size of the small side, and the limit between them."""
    draw = functools.partial(along, study, "small_bytes", seconds=True, **JOINED)
    pushed = draw(seen=(SMALL_SMALL, LARGE_SMALL), label="pushed down", join="pushed")
    return Picture(
        x=Axis(label="small side", kind="bytes"),
        y=Axis(label="time", kind="s"),
        lines=(*pushed, *draw(seen=(LARGE_SMALL,), label="shuffled", join="shuffled")),
        marks={"large side / nodes²": laws.push_limit_bytes(EXPERIMENT.large_bytes(study.base), 2)},
    )


def _nodes(study: Study) -> Traces:
    """Draw the reads of both nodes, with one of them slow."""
    reads = study.sample(**NEAR, slow_times=SLOW).reads
    first, slow = ([read for read in reads if read.thread // NODE_THREADS == node] for node in (0, 1))
    return Traces(runs=(("first node", first), ("slow node", slow)))


FIGURES = {
    "laws": _laws,
    "caches": _caches,
    "outlier": _outlier,
    "joins": _joins,
    "nodes": _nodes,
    "printed": lambda _: against_print(residuals(), FITTED),
}


# -- answers of exercises, and the two sides of each claim ---------------------------------------------------
def _agreeing(study: Study) -> float:
    """Return the share of sums on which a disturbed query and an undisturbed one agree."""
    one = study.sample(nodes=2).answer
    other = study.sample(nodes=2, copies="two", failing="killed").answer
    return sum(a == b for a, b in zip(one, other, strict=True)) / len(one)


CLAIMS: dict[str, Sides] = {
    "nearly_two": Sides(
        left=lambda study: speedup(study.measured),
        right=lambda study: 1.8,
        when={"so_many_requests": lambda left, right, study: study.base["queue_depth"] > 2},
    ),
    "model_holds": Sides(
        left=lambda study: speedup(study.measured), right=lambda study: speedup(study.model)
    ),
    "slowest_rules": Sides(
        left=lambda study: study.measured.seconds(**NEAR, slow_times=SLOW),
        right=lambda study: study.measured.seconds(**{**NEAR, "latency_s": NEAR["latency_s"] * SLOW}),
    ),
    "survives": Sides(left=_agreeing, right=lambda study: 1.0),
    "small_pushed": Sides(
        left=lambda study: joined(study.measured, "pushed", SMALL_SMALL),
        right=lambda study: joined(study.measured, "shuffled", SMALL_SMALL),
    ),
}

ANSWERS: dict[str, Computed] = {
    "alpha": Computed(answer=lambda study: laws.contention(printed("speedup.cold.unsorted"), 2)),
    "load": Computed(
        answer=lambda study: printed("cpimport_s.mode1", "loading") / printed("cpimport_s.mode2", "loading")
    ),
    "limit": Computed(
        answer=lambda study: laws.push_limit_bytes(8 * GB, 2),
        matches={"a_small_side": lambda given: given < GiB / 4},
    ),
}
