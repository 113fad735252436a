"""A table cut into drawers, one for each room; and what else may happen in an office: a slow clerk, one who is called
away, a list that all of them need.

The bench of a query on several nodes. Each node is DuckDB over its own part on its own emulated device, in a worker of
a Dask cluster; the small side of a join crosses an emulated link.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np

from readahead.chapters.scale_out import coordinator
from readahead.chapters.scale_out import laws as arithmetic
from readahead.chapters.scale_out.cluster import POLL_S, Cluster, Strike, cluster
from readahead.chapters.scale_out.coordinator import Answer, Part
from readahead.chapters.scale_out.node import Columns, Module
from readahead.datasets.recipe import Recipe
from readahead.experiments.experiment import Settings
from readahead.experiments.scanning import Scanning
from readahead.measure import calibrate
from readahead.measure.case import Case
from readahead.measure.engine import EngineSettings
from readahead.measure.machine import this_machine
from readahead.measure.sample import Sample
from readahead.models.estimate import Estimate
from readahead.running import check, tell
from readahead.storage.trace import Read
from readahead.units import KiB, MiB

ONE_COPY, TWO_COPIES = "one copy", "a copy on the neighbour"
ALIVE, KILLED = "all alive", "one killed in the middle"
NO_JOIN, LIMITED, PUSHED, SHUFFLED = "none", "by the limit", "pushed down", "shuffled"
SUMS = (
    "SELECT count(*), sum(id), sum(epoch(creation_date)::BIGINT), sum(post_id), sum(score), sum(user_id)"
    " FROM {table}"
)
JOIN = "SELECT count(*), sum(score * reputation) FROM {table} JOIN small USING (user_id)"
DEAL = "SELECT user_id, score FROM {table} WHERE user_id IS NOT NULL"
JOINED = ("score", "user_id")
"""The columns that the join reads."""
ROW_BYTES, KNOWN = 8, 0.98
"""Of either side of the join: two integers; and the share of comments whose author is known."""
TYPICAL_S = 0.015
"""An empty question to all nodes and back, before a cluster was opened."""
SHUFFLE_ROUNDS = 2
"""Empty rounds for each node that dealing rows out takes beyond the first: each hands something to all others."""
MIDDLE = 0.5
"""When a node is killed, as a share of its predicted time."""
KILLS = 2
"""Most repeats of a query in which a worker is killed: each has to be started anew."""
NODE_THREADS = 1_000
"""Threads of a node's reads are numbered from its number times this."""


class Spreading(Scanning):
    """The common bench on several nodes."""

    # -- who does what -------------------------------------------------------------------------------
    def modules(self, settings: Settings) -> list[Module]:
        """Return the performance modules; the last one's device may be slow."""
        device, count = self.device(settings), settings["nodes"]
        engine = EngineSettings(threads=1, queue_depth=settings["queue_depth"])
        slow = device.but(latency_s=device.latency_s * settings["slow_times"])
        return [
            Module(number=at, device=slow if at == count - 1 else device, engine=engine)
            for at in range(count)
        ]

    def way(self, settings: Settings) -> str:
        """Return how the join is done: the limit decides if it is asked to."""
        if settings["join"] != LIMITED:
            return str(settings["join"])
        return PUSHED if settings["small_bytes"] <= settings["limit_bytes"] else SHUFFLED

    def parts(self, settings: Settings) -> list[Part]:
        """Return what each node is asked, and where the copy of its file is."""
        modules = self.modules(settings)
        sql = {NO_JOIN: SUMS, PUSHED: JOIN, SHUFFLED: DEAL}[self.way(settings)]
        copied = settings["copies"] == TWO_COPIES and len(modules) > 1
        return [
            Part(
                module=module,
                recipe=self.recipe(settings, at, len(modules)),
                sql=sql,
                copy_on=modules[(at + 1) % len(modules)] if copied else None,
            )
            for at, module in enumerate(modules)
        ]

    def recipe(self, settings: Settings, part: int, parts: int) -> Recipe:
        """Return one node's part of the table."""
        return Recipe(
            table="comments_narrow",
            size=settings["size"],
            row_group_rows=settings["row_group_rows"],
            part=part,
            parts=parts,
        )

    def case(self, settings: Settings) -> Case:
        """Return what the first node does."""
        return self.cases(settings)[0]

    def cases(self, settings: Settings) -> list[Case]:
        """Return what each node does, as if it were alone."""
        columns = () if self.way(settings) == NO_JOIN else JOINED
        return [
            Case(recipe=part.recipe, device=part.module.device, engine=part.module.engine, columns=columns)
            for part in self.parts(settings)
        ]

    def small(self, settings: Settings) -> Columns | None:
        """Return the small side: users and their reputation."""
        if self.way(settings) == NO_JOIN:
            return None
        users = np.arange(settings["small_bytes"] // ROW_BYTES, dtype=np.int32)
        return {"user_id": users, "reputation": users % 100}

    # -- the model -----------------------------------------------------------------------------------
    def node_s(self, settings: Settings) -> list[float]:
        """Return the predicted seconds of each node: the schedule of its file's reads."""
        costs = self.costs(settings)
        return [case.predict(costs).finished_s for case in self.cases(settings)]

    def coordination_s(self, settings: Settings) -> float:
        """Return what an empty question takes on this cluster, as timed when it was opened."""
        return cluster(settings["scheduler"]).coordination_s or TYPICAL_S

    def link_s(self, settings: Settings) -> float:
        """Return the seconds that a join's rows take on the links."""
        way, rate, nodes = self.way(settings), settings["network_bytes_per_s"], settings["nodes"]
        if way == NO_JOIN:
            return 0.0
        size = settings["small_bytes"] // ROW_BYTES * ROW_BYTES
        if way == PUSHED:
            return float(arithmetic.pushed_s(size, nodes, link_bytes_per_s=rate))
        return float(arithmetic.shuffled_s(size, self.large_bytes(settings), nodes, link_bytes_per_s=rate))

    def large_bytes(self, settings: Settings) -> float:
        """Return the bytes of the join's large side in memory: the columns and rows that are dealt out."""
        return KNOWN * ROW_BYTES * self.recipe(settings, 0, 1).rows

    def model(self, settings: Settings) -> Estimate:
        """Return the slowest node's time, the links', and what goes on at the user module."""
        node_s, together_s = self.node_s(settings), self.coordination_s(settings)
        terms = {"slowest node": max(node_s), "link": self.link_s(settings), "coordination": together_s}
        if self.way(settings) == SHUFFLED:
            terms["coordination"] += SHUFFLE_ROUNDS * settings["nodes"] * together_s
        if settings["failing"] == KILLED:
            after_s = self.strikes_after_s(settings)
            if settings["nodes"] == 1 or settings["copies"] == ONE_COPY:
                terms["slowest node"] = after_s + POLL_S  # until it is noticed: there is no answer
            else:
                whole_s = arithmetic.failover_s(node_s, 0.0, after_s=after_s, notice_s=POLL_S / 2)
                terms["done again"] = whole_s - max(node_s[:-1])
                terms["slowest node"] = max(node_s[:-1])
        return Estimate(terms_s={name: value for name, value in terms.items() if value})

    def strikes_after_s(self, settings: Settings) -> float:
        """Return when the last node is killed."""
        return MIDDLE * self.node_s(settings)[-1]

    # -- the measurement -----------------------------------------------------------------------------
    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the query on the nodes. Raises `DataError` when a node dies whose part nobody else has."""
        calibrate.engine("comments_narrow").ensure()
        at, parts, small = cluster(settings["scheduler"]), self.parts(settings), self.small(settings)
        killed = settings["failing"] == KILLED
        answers: list[Answer] = []
        repeats = min(repeats, KILLS) if killed else repeats
        for repeat in range(repeats):
            if repeat == 0 or killed:
                sent = small if self.way(settings) == PUSHED else None
                coordinator.warm(at, parts, sent)
            check()
            tell(repeat, repeats, f"run {repeat + 1} of {repeats} on {len(parts)} nodes")
            answers.append(self._once(at, parts, small, settings))
        tell(repeats, repeats, "done")
        return _sample(answers, settings)

    def _once(self, at: Cluster, parts: list[Part], small: Columns | None, settings: Settings) -> Answer:
        rate = settings["network_bytes_per_s"]
        if small is None:
            strike = None
            if settings["failing"] == KILLED:
                strike = Strike(module=parts[-1].module, after_s=self.strikes_after_s(settings))
            return coordinator.ask(at, parts, strike=strike)
        if self.way(settings) == PUSHED:
            return coordinator.join_pushed(at, parts, small, link_bytes_per_s=rate)
        return coordinator.join_shuffled(
            at, parts, small, key="user_id", join_sql=JOIN, link_bytes_per_s=rate
        )

    def draw(self, rng: random.Random) -> dict[str, Any]:
        """Return settings for an examination: one or two nodes, short queries, joined or not, none killed."""
        return self.settings(
            nodes=rng.choice((1, 2)),
            latency_s=rng.choice((0.005, 0.01, 0.02)),
            queue_depth=rng.choice((1, 2, 4, 8)),
            slow_times=rng.choice((1.0, 2.0)),
            join=rng.choice((NO_JOIN, NO_JOIN, PUSHED, SHUFFLED)),
            small_bytes=rng.choice((64 * KiB, 1 * MiB, 4 * MiB)),
        )

    def calibrate(self) -> None:
        """Calibrate the engine, and the cluster's empty rounds."""
        super().calibrate()
        cluster().open()

    # -- the rest ------------------------------------------------------------------------------------
    def work(self, settings: Settings) -> float:
        """Return the bytes of the whole table, on however many nodes."""
        whole = self.recipe(settings, 0, 1)
        return float(whole.rows * whole.source.bytes_per_row)

    def follow(self, settings: Settings, changed: str) -> dict[str, Any]:
        """Keep a copy, and a neighbour to keep it, when a node is to be killed."""
        moved = super().follow(settings, changed)
        if changed == "failing" and moved["failing"] == KILLED:
            moved |= {"copies": TWO_COPIES, "nodes": max(2, moved["nodes"]), "join": NO_JOIN}
        return moved

    def disabled(self, settings: Settings) -> dict[str, str]:
        """Say which knobs do nothing now, and why."""
        reasons = super().disabled(settings)
        if self.way(settings) == NO_JOIN:
            joins = ("small_bytes", "limit_bytes", "network_bytes_per_s")
            reasons |= dict.fromkeys(joins, "Nothing is joined.")
        else:
            reasons["failing"] = "A worker is killed in a scan, not in a join."
            if settings["join"] != LIMITED:
                reasons["limit_bytes"] = "You chose how the join is done."
        if settings["nodes"] == 1:
            reasons["copies"] = "There is no neighbour."
        return reasons


def _sample(answers: list[Answer], settings: Settings) -> Sample:
    """Gather the repeats. Reads of all nodes stand on one clock that starts with each node's own query."""
    slips = answers[-1].partials
    reads = [
        replace(read, thread=NODE_THREADS * node + read.thread)
        for node, slip in enumerate(slips)
        for read in slip.reads
    ]
    return Sample(
        seconds=tuple(answer.seconds for answer in answers),
        cpu_s=tuple(sum(slip.cpu_s for slip in answer.partials) for answer in answers),
        reads=tuple(sorted(reads, key=lambda read: read.submitted_s)),
        bytes_read=sum(read.size_bytes for read in reads),
        row_groups_scanned=sum(slip.row_groups_scanned for slip in slips),
        row_groups_total=sum(slip.row_groups_total for slip in slips),
        answer=answers[-1].rows,
        where="emulated device",
        machine=this_machine(),
        settings=dict(settings),
    )


def reads_of(sample: Sample, node: int) -> tuple[Read, ...]:
    """Return the reads of one node of a sample, counted from 0."""
    return tuple(read for read in sample.reads if read.thread // NODE_THREADS == node)
