"""One query on several nodes, each with its own part of the table: what the model says, and how it is measured.

A node's device may be slow, its file may have a copy on the neighbour, its worker may be killed in the middle, and the
small side of a join crosses an emulated link.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from readahead.chapters.scale_out import cluster, laws
from readahead.chapters.scale_out.cluster import POLL_S, Columns, Part
from readahead.experiments.experiment import Settings
from readahead.experiments.table_experiment import TableExperiment
from readahead.measure.calibrate import Calibration
from readahead.measure.sample import Sample, this_machine
from readahead.models.estimate import Estimate
from readahead.models.schedule import Timeline
from readahead.running import turns

JOIN = "SELECT count(*), sum(score * reputation) FROM {table} JOIN small USING (user_id)"
QUERIES = {
    "none": cluster.SCAN,
    "pushed": JOIN,
    "shuffled": "SELECT user_id, score FROM {table} WHERE user_id IS NOT NULL",
}
JOIN_COLUMNS = ("score", "user_id")
"""The columns that the join reads."""
ROW_BYTES, KNOWN = 8, 0.98
"""Of either side of the join: two integers; and the share of comments whose author is known."""
MIDDLE = 0.5
"""When a node is killed, as a share of its predicted time."""
KILLS = 2
"""Most repeats of a query in which a worker is killed: each has to be started anew."""


def way(settings: Settings) -> str:
    """Return how the join is done: the limit decides if it is asked to."""
    if settings["join"] != "limit":
        return str(settings["join"])
    return "pushed" if settings["small_bytes"] <= settings["limit_bytes"] else "shuffled"


def small_side(settings: Settings) -> Columns | None:
    """Return the small side of the join, if there is one: users and their reputation."""
    users = np.arange(settings["small_bytes"] // ROW_BYTES, dtype=np.int32)
    return None if settings["join"] == "none" else {"user_id": users, "reputation": users % 100}


finished_s = attrgetter("finished_s")


class ScaleOut(TableExperiment):
    """The scan of a table whose parts lie on several nodes."""

    # -- who does what -------------------------------------------------------------------------------
    def parts(self, settings: Settings) -> list[Part]:
        """Return what each node is asked, and who has a copy of its file; the last node's device may be slow."""
        case, count, join = self.case(settings), settings["nodes"], way(settings)
        slow = case.device.but(latency_s=case.device.latency_s * settings["slow_times"])
        copied = settings["copies"] == "two" and count > 1
        return [
            Part(
                node=node,
                recipe=replace(case.recipe, part=node, parts=count),
                device=slow if node == count - 1 else case.device,
                engine=case.engine,
                columns=() if join == "none" else JOIN_COLUMNS,
                sql=QUERIES[join],
                copy_on=(node + 1) % count if copied else None,
            )
            for node in range(count)
        ]

    # -- the model -----------------------------------------------------------------------------------
    def model(self, settings: Settings) -> Estimate:
        """Return the terms of the slowest node, the links, and what goes on at the coordinator."""
        told, share = self._schedules(settings), 1.0
        slowest, join, count = max(told, key=finished_s), way(settings), settings["nodes"]
        costs = cluster.calibration(settings["scheduler"]).costs()
        terms = {"link": 0.0, "coordination": costs.asking_s(count, slowest.finished_s)}
        rate, small_bytes = settings["network_bytes_per_s"], settings["small_bytes"] // ROW_BYTES * ROW_BYTES
        if join == "pushed":
            terms["link"] = laws.pushed_s(small_bytes, count, link_bytes_per_s=rate)
            terms["coordination"] += small_bytes * costs.pushed_byte_s
        elif join == "shuffled":
            large_bytes = self.large_bytes(settings)
            workers = cluster.cluster(settings["scheduler"]).workers
            terms["link"] = laws.shuffled_s(small_bytes, large_bytes, count, link_bytes_per_s=rate)
            terms["coordination"] = costs.shuffling_s(count, workers, small_bytes + large_bytes)
        elif settings["failing"] == "killed" and (count == 1 or settings["copies"] == "one"):
            slowest, share = told[-1], MIDDLE  # there is no answer
            terms["noticing"] = POLL_S
        elif settings["failing"] == "killed":
            slowest, node_s = max(told[:-1], key=finished_s), list(map(finished_s, told))
            whole_s = laws.failover_s(node_s, after_s=MIDDLE * node_s[-1], notice_s=POLL_S / 2)
            terms["done again"] = whole_s - slowest.finished_s
        node = {name: share * spent_s for name, spent_s in slowest.estimate.terms_s.items()}
        every = {name: spent_s for name, spent_s in {**node, **terms}.items() if spent_s}
        return Estimate(terms_s=every, overlapped_s=slowest.estimate.overlapped_s if share == 1 else {})

    def _schedules(self, settings: Settings) -> list[Timeline]:
        """Return the schedule of each node's reads."""
        page_s = cluster.calibration(settings["scheduler"]).costs().stale_page_s
        costs = replace(self.costs(settings), stale_page_s=page_s)
        return [part.predict(costs) for part in self.parts(settings)]

    def counts(self, settings: Settings) -> dict[str, float]:
        """Return the reads and bytes of all nodes."""
        told = self._schedules(settings)
        return {"reads": sum(one.reads for one in told), "bytes_read": sum(one.bytes_read for one in told)}

    def large_bytes(self, settings: Settings) -> float:
        """Return the bytes of the join's large side in memory: the columns and rows that are dealt out."""
        return KNOWN * ROW_BYTES * self.case(settings).recipe.rows

    # -- the measurement -----------------------------------------------------------------------------
    def measure(self, settings: Settings, repeats: int = 3) -> Sample:
        """Run the query on the nodes. Raises `DataError` when a node dies whose part nobody else has."""
        self.ensure_calibrated(settings)
        at, parts = cluster.cluster(settings["scheduler"]), self.parts(settings)
        small: Any = small_side(settings)
        rate, shuffled = settings["network_bytes_per_s"], way(settings) == "shuffled"
        killed = settings["failing"] == "killed" and small is None
        if killed:
            parts[-1] = replace(parts[-1], dies_after_s=MIDDLE * self._schedules(settings)[-1].finished_s)
            repeats = min(repeats, KILLS)
        if small is not None and not shuffled:
            small = at.spread(small)  # the emulated link alone is waited for
        seconds, cpu_s = list[float](), list[float]()
        for _ in turns(repeats, f" on {len(parts)} nodes"):
            cluster.warm(at, parts, None if shuffled else small)
            start_s = time.perf_counter()
            if shuffled and small is not None:
                samples = cluster.join_shuffled(
                    at, parts, small, key="user_id", sql=JOIN, link_bytes_per_s=rate
                )
            else:
                samples = at.run(cluster.answer, parts, small, rate)
            answer = cluster.merged(samples)
            seconds.append(time.perf_counter() - start_s)
            cpu_s.append(sum(sample.cpu_s[0] for sample in samples))
        counted = ("bytes_read", "row_groups_scanned", "row_groups_total")
        told: dict[str, Any] = {name: sum(getattr(one, name) for one in samples) for name in counted}
        reads = [read for sample in samples for read in sample.reads]
        return replace(
            samples[0],
            **told,
            seconds=tuple(seconds),
            cpu_s=tuple(cpu_s),
            reads=tuple(sorted(reads, key=lambda read: read.submitted_s)),
            profile={"row_groups": told["row_groups_scanned"], "row_groups_total": told["row_groups_total"]},
            answer=answer,
            machine=this_machine(),
        )

    def calibrations(self, settings: Settings) -> Sequence[Calibration[Any]]:
        """Return the calibrations of the engine, and of the cluster."""
        return (*super().calibrations(settings), cluster.calibration(settings["scheduler"]))

    # -- knobs ---------------------------------------------------------------------------------------
    def follow(self, settings: Settings, changed: str) -> dict[str, Any]:
        """Keep a copy, and a neighbour to keep it, when a node is to be killed."""
        moved = super().follow(settings, changed)
        if changed == "failing" and moved["failing"] == "killed":
            moved |= {"copies": "two", "nodes": max(2, moved["nodes"]), "join": "none"}
        return moved
