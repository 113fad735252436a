"""One room, two rooms, four. The same query on more nodes, with a slow one among them, with one that dies, and with a
list that all of them need; and what ten printed times say of two servers."""

from __future__ import annotations

from typing import Any

from readahead import devices, published
from readahead.chapters.scale_out import laws as arithmetic
from readahead.chapters.scale_out.cluster import LOCAL
from readahead.chapters.scale_out.factors import (
    FITTED,
    anomaly,
    caches,
    outlier,
    printed,
    proof,
    residuals,
)
from readahead.chapters.scale_out.workload import (
    ALIVE,
    KILLED,
    LIMITED,
    NO_JOIN,
    ONE_COPY,
    PUSHED,
    SHUFFLED,
    TWO_COPIES,
    Spreading,
    reads_of,
)
from readahead.errors import BadValue
from readahead.experiments.experiment import Knob
from readahead.experiments.figure import Axis, Line, Picture, Traces
from readahead.experiments.knobs import knob, powers
from readahead.experiments.round import Bench, Round, Witness
from readahead.measure.value import Value
from readahead.models.scalability import capacity
from readahead.units import GB, MB, GiB, KiB, MiB

_NETWORK = devices.device("object-store")
MOST_NODES = 4


class Address(Knob):
    """A choice that also takes the address of a scheduler."""

    def check(self, value: Any) -> Any:
        """Return this machine or an address as it is given. Raises `BadValue` for anything else."""
        if value in self.choices or (isinstance(value, str) and "://" in value):
            return value
        raise BadValue(
            f"{self.name}={value!r} must be {LOCAL!r} or a scheduler's address. Give one such as"
            " tcp://127.0.0.1:8786, as dask scheduler prints it."
        )


EXPERIMENT = Spreading(
    topic="scale_out",
    title="Scale-out: more nodes",
    knobs=(
        Knob(
            name="nodes", label="Nodes", kind="count", default=2, low=1, high=MOST_NODES,
            steps=tuple(range(1, MOST_NODES + 1)), help="Performance modules, each with a part of the table.",
        ),
        knob("latency_s", default=0.008, high=0.03),
        knob("queue_depth", default=1, folded=False, label="Outstanding"),
        Knob(
            name="slow_times", label="One slow node", kind="times", default=1.0, low=1.0, high=8.0,
            help="How many times as long the last node's device takes to answer.",
        ),
        Knob(name="copies", label="Copies", kind="choice", default=ONE_COPY, choices=(ONE_COPY, TWO_COPIES)),
        Knob(name="failing", label="Nodes are", kind="choice", default=ALIVE, choices=(ALIVE, KILLED)),
        Knob(name="join", label="Join", kind="choice", default=NO_JOIN, choices=(NO_JOIN, LIMITED, PUSHED, SHUFFLED)),
        Knob(
            name="small_bytes", label="Small side", kind="bytes", default=1 * MiB, low=16 * KiB, high=16 * MiB,
            steps=powers(16 * KiB, 16 * MiB), help="The table that is joined to the large one.",
        ),
        Knob(
            name="limit_bytes", label="Push-down limit", kind="bytes", default=512 * KiB, low=16 * KiB, high=2 * GiB,
            steps=powers(16 * KiB, 2 * GiB), folded=True, help="A small side up to here is sent to every node.",
        ),
        Knob(
            name="network_bytes_per_s", label="Network", kind="bytes_per_s", default=20 * MB, low=5 * MB,
            high=10 * GB, folded=True, help="Of each node's link, and of the user module's.",
        ),
        knob("row_group_rows", default=2_048, folded=True, high=131_072, steps=powers(2_048, 131_072)),
        knob("channels", default=128),
        knob("bandwidth_bytes_per_s", default=_NETWORK.bandwidth_bytes_per_s),
        knob("size", default="tiny"),
        Address(
            name="scheduler", label="Cluster", kind="choice", default=LOCAL, choices=(LOCAL,), folded=True,
            help="Two worker processes here; a notebook's parameter names any other Dask scheduler.",
        ),
    ),
    fixed={"device": _NETWORK.name, "threads": 1},
)  # fmt: skip

NEAR: dict[str, Any] = {"nodes": 2, "latency_s": 0.0025}
"""The knobs of rounds that need no long query."""
SLOW = 3.0
JOINED: dict[str, Any] = {"nodes": 2, "latency_s": 0.001, "network_bytes_per_s": 10 * MB}
LARGE_SMALL, SMALL_SMALL = 3 * MiB, 64 * KiB
"""Two small sides: one that should be dealt out, one that should be pushed down."""
DEFAULT_REQUESTS, RAISED_REQUESTS = 20, 32


def speedup(see: Witness, **changes: Any) -> Value:
    """Return how many times as fast two nodes are as one."""
    return see.seconds(**{**changes, "nodes": 1}) / see.seconds(**{**changes, "nodes": 2})


def outstanding(requests: int) -> dict[str, Any]:
    """Return the knobs of the round on outstanding requests."""
    return {"nodes": 1, "latency_s": 0.02, "queue_depth": requests}


ROUNDS = {
    "warm": Round(published=(published.figure("scale_out", "speedup.warm.unsorted"),), measures=False),
    "anomaly": Round(
        model=lambda bench: anomaly()[0][1],
        measures=False,
        published=(published.figure("scale_out", "total_s.cold.unsorted"),),
    ),
    "two": Round(
        ask=speedup,
        published=(
            published.figure("scale_out", "speedup.cold.unsorted"),
            published.figure("scale_out", "speedup.cold.sorted"),
        ),
    ),
    "requests": Round(
        ask=lambda see: (
            see.seconds(**outstanding(DEFAULT_REQUESTS)) / see.seconds(**outstanding(RAISED_REQUESTS))
        ),
    ),
    "slow": Round(ask=lambda see: see.seconds(**NEAR, slow_times=SLOW) / see.seconds(**NEAR)),
    "copy": Round(
        ask=lambda see: see.seconds(**NEAR, copies=TWO_COPIES) / see.seconds(**NEAR),
    ),
    "killed": Round(
        ask=lambda see: see.seconds(nodes=2, copies=TWO_COPIES, failing=KILLED) / see.seconds(nodes=2),
    ),
    "pushed": Round(
        ask=lambda see: (
            see.seconds(**JOINED, join=PUSHED, small_bytes=LARGE_SMALL)
            / see.seconds(**JOINED, join=SHUFFLED, small_bytes=LARGE_SMALL)
        ),
    ),
}


def _laws(bench: Bench) -> Picture:
    """Draw what the law of scaling makes of two printed speed-ups and the measured ones."""
    counts = [1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5]
    lines = [Line(name="twice the nodes, twice as fast", points=[(n, n) for n in counts], source="other")]
    for name, label in (("speedup.warm.unsorted", "warm"), ("speedup.cold.unsorted", "cold")):
        said = printed(name)
        alpha = arithmetic.contention(said, 2)
        told = capacity(counts, alpha, 0.0).tolist()
        lines.append(Line(name=f"law through {label}, unsorted", points=list(zip(counts, told, strict=True))))
        lines.append(
            Line(name=f"MariaDB, {label}, unsorted", points=[(2.0, said)], source="published", joined=False)
        )
    one = bench.measured.seconds(nodes=1)
    more = sorted({2, bench.base["nodes"]} - {1})
    seen = [(1.0, 1.0), *((float(n), (one / bench.measured.seconds(nodes=n)).median) for n in more)]
    lines.append(Line(name="DuckDB on Dask", points=seen, source="measured", joined=False))
    return Picture(
        title="Above the line and below it",
        sentence="Cold, two of MariaDB's servers stay below twice the speed of one; warm, they are above it, and the"
        " law needs a negative contention to follow.",
        x=Axis(label="nodes", kind="count", log=False),
        y=Axis(label="speed-up", kind="times", log=False),
        lines=tuple(lines),
        marks={},
    )


def _joins(bench: Bench) -> Picture:
    """Draw both ways to join against the size of the small side, and the limit between them."""
    sizes = [float(16 * KiB * 4**n) for n in range(6)]
    lines = []
    for way, seen in ((PUSHED, (SMALL_SMALL, LARGE_SMALL)), (SHUFFLED, (LARGE_SMALL,))):
        told = [(s, bench.model.seconds(**JOINED, join=way, small_bytes=int(s)).median) for s in sizes]
        lines.append(Line(name=f"model, {way}", points=told))
        took = [(float(s), bench.measured.seconds(**JOINED, join=way, small_bytes=s).median) for s in seen]
        lines.append(Line(name=f"DuckDB, {way}", points=took, source="measured", joined=False))
    limit = arithmetic.push_limit_bytes(EXPERIMENT.large_bytes(bench.base), 2)
    return Picture(
        title="To all, or dealt out",
        sentence="A small side that is sent whole to each node costs the link as often as there are nodes; past the"
        " limit it is cheaper to deal both sides out.",
        x=Axis(label="small side", kind="bytes"),
        y=Axis(label="time", kind="s"),
        lines=tuple(lines),
        marks={"large side / nodes²": limit},
    )


def _nodes(bench: Bench) -> Traces:
    """Draw the reads of both nodes, with one of them slow."""
    sample = bench.sample(**NEAR, slow_times=SLOW)
    return Traces(
        title="One waits for the other",
        sentence="Both nodes have as much to read; the query ends when the slow one has read its last.",
        runs=(("first node", reads_of(sample, 0)), ("slow node", reads_of(sample, 1))),
    )


FIGURES = {
    "laws": _laws,
    "caches": caches,
    "outlier": outlier,
    "joins": _joins,
    "nodes": _nodes,
    "printed": proof,
}

__all__ = ["EXPERIMENT", "FIGURES", "FITTED", "ROUNDS", "anomaly", "printed", "residuals"]
