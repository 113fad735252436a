"""The counter of the office. It takes a question, sends it to every room, waits for the slowest slip and adds the slips
up; it never sees the files.

That is a user module: it plans, has performance modules work at the same time, and merges what they send. A join
whose small side is small goes to every room as a copy; otherwise both sides are dealt out by their key.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from readahead.chapters.scale_out import node as nodes
from readahead.chapters.scale_out.cluster import Cluster, Errand, Strike
from readahead.chapters.scale_out.node import Columns, Module, Partial
from readahead.datasets.recipe import Recipe
from readahead.running import check, tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one node is asked: a query over its file, and who has a copy of that file."""

    module: Module
    recipe: Recipe
    sql: str
    copy_on: Module | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the counter hands out, and what it took."""

    rows: tuple[Any, ...]
    """The sums of all slips."""
    seconds: float
    partials: tuple[Partial, ...]
    lost: tuple[str, ...] = field(default=())
    """Nodes that died meanwhile."""
    sent_bytes: int = 0
    """Bytes that crossed the emulated links."""


def warm(cluster: Cluster, parts: Sequence[Part], small: Columns | None = None) -> None:
    """Let each node, and each that has a copy, build its file and warm its engine."""
    cluster.open()
    tell(0, 1, "the nodes get ready")
    pairs = [(module, part) for part in parts for module in (part.module, part.copy_on) if module is not None]
    cluster.heal()
    cluster.run([Errand(call=nodes.warm, module=m, args=(p.recipe, p.sql, small)) for m, p in pairs])


def ask(cluster: Cluster, parts: Sequence[Part], *, strike: Strike | None = None) -> Answer:
    """Put a query to all nodes at once and add up their slips.

    Raises `DataError` when a node dies and nobody has a copy of its part, `Cancelled` when told to stop.
    """
    errands = [
        Errand(call=nodes.answer, module=part.module, args=(part.recipe, part.sql), copy_on=part.copy_on)
        for part in parts
    ]
    check()
    start_s = time.perf_counter()
    slips, lost = cluster.run(errands, strike=strike)
    rows = nodes.added([slip.rows for slip in slips])
    took_s = time.perf_counter() - start_s
    return Answer(rows=rows, seconds=took_s, partials=tuple(slips), lost=tuple(lost))


def join_pushed(
    cluster: Cluster, parts: Sequence[Part], small: Columns, *, link_bytes_per_s: float
) -> Answer:
    """Send the whole small side to each node, one after the other over the user module's one link; add up."""
    size = nodes.size_of(small)
    check()
    start_s = time.perf_counter()
    errands = [
        Errand(
            call=nodes.answer,
            module=part.module,
            args=(part.recipe, part.sql, small, (turn + 1) * size / link_bytes_per_s),
        )
        for turn, part in enumerate(parts)
    ]
    slips, _ = cluster.run(errands)
    rows = nodes.added([slip.rows for slip in slips])
    took_s = time.perf_counter() - start_s
    return Answer(rows=rows, seconds=took_s, partials=tuple(slips), sent_bytes=size * len(parts))


def join_shuffled(
    cluster: Cluster,
    parts: Sequence[Part],
    small: Columns,
    *,
    key: str,
    join_sql: str,
    link_bytes_per_s: float,
) -> Answer:
    """Deal both sides out by their key, so that rows which belong together meet on one node.

    The user module's link takes the small side once; what the nodes send one another crosses all their links at the
    same time. The hands really go from worker to worker.
    """
    count = len(parts)
    shares = [
        {name: column[small[key] % count == at] for name, column in small.items()} for at in range(count)
    ]
    check()
    start_s = time.perf_counter()
    where = cluster.places([part.module for part in parts])
    at_home = [(part, where[part.module.number]) for part in parts]
    dealt = [
        cluster.submit(nodes.deal, home, part.module, part.recipe, part.sql, key, count)
        for part, home in at_home
    ]
    slips = [cluster.submit(_first, home, one) for (_, home), one in zip(at_home, dealt, strict=True)]
    partials = cluster.wait(slips)
    wait_s = (nodes.size_of(small) + max(slip.sent_bytes for slip in partials)) / link_bytes_per_s
    met = []
    for at, (_, home) in enumerate(at_home):
        hands = [
            cluster.submit(_hand, other, one, at) for (_, other), one in zip(at_home, dealt, strict=True)
        ]
        met.append(cluster.submit(nodes.meet, home, shares[at], hands, join_sql, wait_s))
    rows = nodes.added(cluster.wait(met))
    took_s = time.perf_counter() - start_s
    sent = nodes.size_of(small) + sum(slip.sent_bytes for slip in partials)
    return Answer(rows=rows, seconds=took_s, partials=tuple(partials), sent_bytes=sent)


def _first(pair: tuple[Any, Any]) -> Any:
    return pair[0]


def _hand(pair: tuple[Any, Sequence[Any]], at: int) -> Any:
    return pair[1][at]
