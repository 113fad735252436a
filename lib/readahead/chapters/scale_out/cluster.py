"""A cluster: what a node does in its worker's process, and the coordinator that asks all nodes and merges the answers.

A node is DuckDB over its own part of a table on an emulated device of its own. A query goes to all nodes at once, and
the coordinator adds their partial aggregates up. MariaDB ColumnStore calls the coordinator a user module and the nodes
performance modules. The cluster is one of Dask, by default of two worker processes on this machine; this file alone
knows of Dask. Every node is bound to a worker, because its file and its device are there.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import logging
import operator
import os
import re
import signal
import statistics
import threading
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from typing import Any, Self

import duckdb
import numpy as np

from readahead import __version__
from readahead.datasets.recipe import Recipe
from readahead.devices import device
from readahead.errors import Cancelled, DataError, ReadaheadError
from readahead.measure import calibrate
from readahead.measure.calibrate import Calibration
from readahead.measure.case import Case
from readahead.measure.run import Query, Stopwatch, engine, once
from readahead.measure.sample import Sample
from readahead.models import schedule
from readahead.running import check, tell
from readahead.storage.emulated import EmulatedFileSystem
from readahead.storage.trace import Read

LOCAL = "local"
"""The scheduler of a cluster that is started here, and ended with this process."""
LOCAL_WORKERS: dict[str, Any] = {
    "n_workers": 2,
    "threads_per_worker": 4,  # so many nodes can each of them serve at once
    "processes": True,
    "host": "127.0.0.1",
    "dashboard_address": "127.0.0.1:0",  # a free port: 8787 may be taken
    "memory_limit": 0,
    "silence_logs": logging.CRITICAL,
}
CONFIG = {"distributed.worker.profile.enabled": False, "distributed.scheduler.worker-ttl": "30 s"}
"""Of a cluster that is started here. Dask's profiler walks over all threads a hundred times a second; Python 3.11 may
stand still over that when one of DuckDB's threads begins or ends at that moment. A worker that is silent for 30 s
counts as dead and is started anew; Dask's own limit, which holds on other schedulers, is five minutes."""
POLL_S = 0.1
"""How often the coordinator looks whether all workers are still there, or somebody cancelled."""
START_S = 30.0
"""How long to wait for workers, and for a scheduler that does not answer."""
Sent = tuple[str, Any]
"""The worker's address, and the future of what it was asked."""
STOP_S = 5.0
"""How long to wait until all workers have ended what is called off."""
MANY_NODES, SHUFFLED_ROWS = 4, 2**19
SHUFFLED = "SELECT count(*), sum(large.value - small.value) FROM {table} JOIN small USING (key)"
"""A cluster is calibrated with one node and with so many, and with so many rows on either side of such a join."""
PUSHED_ROWS = 2**14, 2**19
PUSHED = "SELECT count(*), sum(score * value) FROM {table} JOIN small ON user_id = key"
"""And with so few and so many rows of a small side that a node joins to its part."""
ASKED = "SELECT count(*), sum(score), sum(user_id) FROM {table}"
"""What is asked to time a query besides its nodes."""
SCAN = (
    "SELECT count(*), sum(id), sum(epoch(creation_date)::BIGINT), sum(post_id), sum(score), sum(user_id)"
    " FROM {table}"
)
FAR_S = 20e-3
"""What is asked of a node, and the latency of its device, to see what stale pages take it."""
WAITING_PAGES = 500
"""Pages of 4 KiB that the coordinator uses after it has waited for its nodes. On one machine, where a page took 1.2 us
longer after 36 ms, a query to one node took 22, 25 and 25 ms besides it, where that took 0.11, 0.39 and 0.4 s."""
Columns = Mapping[str, np.ndarray]
"""A table in memory, by column."""
NODE_THREADS = 1_000
"""Threads of a node's reads are numbered from its number times this."""
MOST_READY = 8
"""Nodes kept ready in one process; the oldest is closed for the next."""


# -- a node, in its worker's process -----------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Case):
    """What one node is asked: a query over its part of the table."""

    node: int
    """Which node, counted from 0."""
    sql: str = ""
    """`{table}` stands for the part, and `small` for a table that is sent along."""
    copy_on: int | None = None
    """The node that has a copy of the part."""
    dies_after_s: float | None = None
    """When the node's process is killed, in the middle of the query."""

    def query(self) -> Query:
        """Return the query; its file is built if it is not there."""
        return Query(sql=self.sql, path=self.build())

    def on(self, other: Part) -> Part:
        """Return this part as the node of another does it, from its copy and on its device."""
        return replace(self, node=other.node, device=other.device, copy_on=None, dies_after_s=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    """A node's engine at work in this process. It answers one query at a time."""

    filesystem: EmulatedFileSystem
    connection: duckdb.DuckDBPyConnection
    open: contextlib.ExitStack
    turn: threading.Lock = field(default_factory=threading.Lock)


_running: dict[str, _Running] = {}
_lock = threading.Lock()


def _started(part: Part) -> _Running:
    """Return this process's engine for the node of a part, kept from the last query."""
    key = repr((part.node, part.device, part.engine))
    with _lock:
        if key not in _running:
            while len(_running) >= MOST_READY:
                _running.pop(next(iter(_running))).open.close()
            stack, filesystem = contextlib.ExitStack(), EmulatedFileSystem(part.device)
            connection = stack.enter_context(engine(part.engine, filesystem))
            _running[key] = _Running(filesystem=filesystem, connection=connection, open=stack)
        return _running[key]


def _run(
    part: Part, small: Columns | None, fetch: Callable[[Any], Any], *, delayed: bool = True
) -> tuple[Any, Sample]:
    """Run a part's query on its node; return what `fetch` makes of the result, and what was seen."""
    running = _started(part)
    with running.turn, contextlib.nullcontext() if delayed else running.filesystem.instant():
        if small is not None:
            running.connection.register("small", dict(small))
        try:
            watch = Stopwatch(running.filesystem)
            found, sample = once(running.connection, part.query(), watch, fetch)
        except duckdb.InterruptException as error:
            raise Cancelled(f"The query was cancelled on node {part.node + 1}. Ask again.") from error
    reads = tuple(replace(read, thread=NODE_THREADS * part.node + read.thread) for read in sample.reads)
    return found, replace(sample, reads=reads, engine=part.engine.values())


def warm_up(part: Part, small: Columns | None = None) -> None:
    """Build the part's file if it is not there, and run the query once without delays."""
    _run(part, small, duckdb.DuckDBPyConnection.fetchnumpy, delayed=False)


def answer(part: Part, small: Columns | None = None, link_bytes_per_s: float = np.inf) -> Sample:
    """Return the sample of a part's query, whose answer is a partial aggregate: the sums of this part.

    A table `small` goes to all nodes over the one link of the coordinator: to this node after those before it.
    """
    kill = (os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))  # as a power cut would
    death = threading.Timer(part.dies_after_s or 0.0, os.kill, kill)
    if part.dies_after_s is not None:
        death.start()
    try:
        time.sleep((part.node + 1) * size_of(small or {}) / link_bytes_per_s)
        [sums], seen = _run(part, small, duckdb.DuckDBPyConnection.fetchall)
        return replace(seen, answer=sums)
    finally:
        death.cancel()


def deal(part: Part, key: str, nodes: int, made_up: int = 0) -> list[Any]:
    """Read a part's rows, or make some up, and deal them out by their key: return what it took, then each node's."""
    fetch = duckdb.DuckDBPyConnection.fetchnumpy
    columns, seen = (counted(made_up), blank(part)) if made_up else _run(part, None, fetch)
    to = np.asarray(columns[key]) % nodes
    shares = [{name: np.asarray(column)[to == at] for name, column in columns.items()} for at in range(nodes)]
    return [seen, *shares]


def meet(
    small: Columns, shares: Sequence[Columns], node: int, sql: str, small_bytes: int, link_bytes_per_s: float
) -> tuple[Any, ...]:
    """Join the rows that were dealt to a node with its share of the small side; `{table}` stands for the rows.

    The coordinator's link takes the whole small side; what the nodes send one another crosses all their links at once.
    """
    from_others = sum(size_of(share) for at, share in enumerate(shares) if at != node)
    time.sleep((small_bytes + from_others) / link_bytes_per_s)
    large = {name: np.concatenate([np.asarray(share[name]) for share in shares]) for name in shares[0]}
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("large", large)
        connection.register("small", dict(small))
        [sums] = connection.execute(sql.replace("{table}", "large")).fetchall()
        return tuple(sums)


def counted(rows: int) -> Columns:
    """Return a table of so many made-up rows."""
    return dict.fromkeys(("key", "value"), np.arange(rows, dtype=np.int32))


def table_parts(nodes: int, sql: str = "") -> list[Part]:
    """Return the parts of a small table on so many nodes, each asked the same."""
    table, columns = Recipe(table="comments_narrow", size="tiny", row_group_rows=2_048), ("score", "user_id")
    return [
        Part(
            node=at,
            recipe=replace(table, part=at, parts=nodes),
            device=device("nvme"),
            columns=columns,
            sql=sql,
        )
        for at in range(nodes)
    ]


def blank(part: Part) -> Sample:
    """Return a sample as long as a usual one without any work; its answer is this worker's version of Readahead."""
    read = Read(offset=0, size_bytes=1, thread=part.node, submitted_s=0.0, due_s=0.0, done_s=0.0)
    reads, sums = (read,) * 64, (__version__,) * 6
    return Sample(seconds=(0.0,), cpu_s=(0.0,), reads=reads, bytes_read=0, where="nowhere", answer=sums)


def stop_all() -> None:
    """End every query of this process soon, and start with new engines afterwards."""
    with _lock:
        for running in _running.values():
            running.filesystem.hurry()
            running.connection.interrupt()
        _running.clear()


def size_of(columns: Columns) -> int:
    """Return the bytes of a table in memory."""
    return sum(int(np.asarray(column).nbytes) for column in columns.values())


# -- the coordinator ---------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCosts:
    """What a cluster takes besides devices and links, in seconds."""

    query_s: float
    """A query to a node and back, besides its nodes."""
    node_s: float
    """The same, for each of its nodes."""
    shuffle_s: float
    """A join of nothing by shuffle, besides its tasks."""
    task_s: float
    """The same, for each of its `tasks`."""
    byte_s: float
    """A join by shuffle, for each byte of both sides that one worker joins."""
    pushed_byte_s: float
    """A join to a small side that is sent whole, for each byte of it: each node makes a hash table of its own."""
    stale_page_s: float = 0.0
    """`Costs.stale_page_s` of a node and of the coordinator: in a process that does little else they are staler."""

    def asking_s(self, nodes: int, waited_s: float = 0.0) -> float:
        """Return the seconds to ask so many nodes and to have their answers, after so long a wait for them."""
        return (
            self.query_s + nodes * self.node_s + WAITING_PAGES * self.stale_page_s * schedule.stale(waited_s)
        )

    def shuffling_s(self, nodes: int, workers: int, size_bytes: float) -> float:
        """Return the seconds of a shuffle on so many nodes, whose workers join this much together."""
        return self.shuffle_s + tasks(nodes) * self.task_s + size_bytes / min(nodes, workers) * self.byte_s


def tasks(nodes: int) -> int:
    """Return how many tasks a shuffle has: each node hands over its sample and a share for each, and each joins."""
    return nodes * (1 + nodes) + nodes


TYPICAL = ClusterCosts(
    query_s=9e-3, node_s=3e-3, shuffle_s=0.036, task_s=2.6e-3, byte_s=5.5e-9, pushed_byte_s=9e-9
)
"""As calibrated with two workers on a machine of 2 cores."""


class Cluster:
    """A coordinator and the workers that it can put nodes on. Started by `open`, ended by `close`."""

    def __init__(self, scheduler: str = LOCAL) -> None:
        self.scheduler = scheduler
        self.workers = LOCAL_WORKERS["n_workers"] if scheduler == LOCAL else 1
        """How many were there last."""
        self._client: Any = None
        self._lock = threading.RLock()

    # -- the workers ---------------------------------------------------------------------------------
    def open(self) -> Self:
        """Start the workers or find them, and wait a while for those that died: their nannies start them anew.

        Raises `DataError` if there are none, or they lack Readahead.
        """
        import dask
        import distributed

        with self._lock:
            if self._client is not None and self._client.status != "running":
                self.close()  # the scheduler went away
            new = self._client is None
            try:
                if new:
                    tell(0, 1, "starting the cluster")
                    at, options = (None, LOCAL_WORKERS) if self.scheduler == LOCAL else (self.scheduler, {})
                    with dask.config.set(CONFIG):  # what the workers start with
                        self._client = distributed.Client(
                            at, timeout=START_S, set_as_default=False, **options
                        )
                self._client.wait_for_workers(1, timeout=START_S)
                with contextlib.suppress(TimeoutError):
                    self._client.wait_for_workers(self.workers, timeout=START_S)
                self.workers = len(self.addresses)  # who has not come by now is not waited for again
                if new:
                    self._require_same_version()
            except Cancelled:
                raise
            except Exception as error:
                self.close()
                raise DataError(
                    f"No Dask workers with Readahead {__version__} were found at {self.scheduler!r}:"
                    f" {type(error).__name__}: {str(error).rstrip('.')}. It must be {LOCAL!r} or the address of a"
                    " scheduler that has workers, such as tcp://127.0.0.1:8786. Start both where the same Readahead is"
                    " installed, or with PYTHONPATH set (docs/cluster.md), or leave the scheduler out."
                ) from error
        return self

    def _require_same_version(self) -> None:
        """Raise `ValueError` if a worker has another Readahead."""
        samples = self.run(blank, table_parts(len(self.addresses)))
        if found := {sample.answer[0] for sample in samples} - {__version__}:
            raise ValueError(f"workers have Readahead {found}")

    def close(self) -> None:
        """End the workers that were started here, and let go of others. Closing twice does nothing."""
        with self._lock:
            client, self._client = self._client, None
            if client is not None:
                # it prints what it cancels
                logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
                with contextlib.suppress(Exception):
                    client.close(timeout=10)

    @property
    def addresses(self) -> list[str]:
        """Return the workers that are alive, always in the same order."""
        # not `scheduler_info`: what it returns is replaced by totals, without any worker, every few seconds
        ask = self._client.scheduler.identity
        known = self._client.sync(ask, n_workers=-1, callback_timeout=START_S)["workers"]
        self.workers = max(self.workers, len(known))
        return sorted(known, key=lambda address: (str(known[address]["name"]).zfill(8), address))

    def homes(self, count: int) -> list[str]:
        """Return the worker of each of so many nodes. Raises `DataError` if none is left."""
        alive = self.addresses or self.open().addresses
        return [alive[node % len(alive)] for node in range(count)]

    # -- calls ---------------------------------------------------------------------------------------
    def submit(self, address: str, call: Callable[..., Any], *args: Any) -> Sent:
        """Send a call to one worker; futures among `args` are fetched from where they are."""
        future = self._client.submit(call, *args, workers=[address], allow_other_workers=False, pure=False)
        return address, future

    def spread(self, columns: Columns) -> Any:
        """Put a table on all workers before a clock runs; return what stands for it among the arguments of `run`."""
        # a name of its own: by a hash, letting go of an equal table would take this one away
        [there] = self.open()._client.scatter([dict(columns)], broadcast=True, hash=False)
        return there

    def run(self, call: Callable[..., Any], parts: Sequence[Part], *args: Any) -> list[Any]:
        """Run `call(part, *args)` for all parts at once, each on its own node, and return the results.

        A part whose worker dies is done again by the node that has a copy. Raises `DataError` when nobody has one,
        `Cancelled` when told to stop.
        """
        homes = self.homes(len(parts))

        def send(part: Part) -> Sent:
            return self.submit(homes[part.node], call, part, *args)

        def again(at: int) -> Sent:
            copy_on = parts[at].copy_on
            if copy_on is None or homes[copy_on] not in self.addresses:
                raise DataError(
                    f"Node {parts[at].node + 1} died in the middle of the query, and nobody alive has a copy of its"
                    " part. Keep a copy on a neighbour, or ask again when the node is back."
                )
            return send(parts[at].on(parts[copy_on]))

        return self.results([send(part) for part in parts], again)

    def results(self, calls: Sequence[Sent], again: Callable[[int], Sent] | None = None) -> list[Any]:
        """Return the results of calls. `again` sends one whose worker died to another.

        What still runs is told to end when a worker dies and there is no `again` (`DataError`), or when told to stop.
        Raises `DataError` too if the scheduler goes away, or does not answer for half a minute.
        """
        from distributed import wait

        sent = list(calls)
        try:
            while waiting := [at for at, (_, future) in enumerate(sent) if not future.done()]:
                check()
                alive = self.addresses
                for at in waiting:
                    if sent[at][0] not in alive:
                        sent[at][1].cancel(force=True)
                        if again is None:
                            raise DataError(f"Worker {sent[at][0]} died in the middle of a join. Ask again.")
                        sent[at] = again(at)
                with contextlib.suppress(TimeoutError), self._client.as_current():
                    wait([sent[at][1] for at in waiting], timeout=POLL_S)
            return [future.result() for _, future in sent]
        except ReadaheadError:
            with contextlib.suppress(Exception):  # a worker that died or hangs has nothing to call off
                self._client.cancel([future for _, future in sent], force=True)
                self._client.sync(self._client._run, stop_all, callback_timeout=STOP_S)
            raise
        except (OSError, CancelledError) as error:
            raise DataError(
                f"The scheduler of the cluster ({self.scheduler}) went away or does not answer:"
                f" {type(error).__name__}. What it ran is lost; ask again once it is back."
            ) from error


@functools.cache
def cluster(scheduler: str) -> Cluster:
    """Return this process's cluster at a scheduler: one for all experiments, closed at the end of the process."""
    found = Cluster(scheduler)
    atexit.register(found.close)
    return found


# -- calibration -------------------------------------------------------------------------------------
@functools.cache
def calibration(scheduler: str) -> Calibration[ClusterCosts]:
    """Return the calibration of the cluster at a scheduler: queries and joins of next to nothing, and of tables."""

    def cases() -> list[Callable[[], Sample]]:
        at = cluster(scheduler).open()
        shuffle = functools.partial(join_shuffled, at, key="key", sql=SHUFFLED)
        asked = [table_parts(nodes, ASKED) for nodes in (1, MANY_NODES)]
        [part] = table_parts(1, PUSHED)
        smalls = [at.spread(counted(rows)) for rows in PUSHED_ROWS]
        far = _far_part()
        for parts, small in [
            *((each, None) for each in (*asked, [far])),
            *(([part], small) for small in smalls),
        ]:
            warm(at, parts, small)
        timed = [
            functools.partial(shuffle, table_parts(nodes), counted(rows), made_up=rows)
            for nodes, rows in ((1, 8), (MANY_NODES, 8), (1, SHUFFLED_ROWS))
        ] + [functools.partial(at.run, answer, [part], small) for small in smalls]
        return [
            *(functools.partial(_besides_nodes, at, parts) for parts in asked),
            *(functools.partial(_timed, call) for call in timed),
            lambda: at.run(answer, [far])[0],
        ]

    return Calibration(
        name=f"cluster-{re.sub(r'[^A-Za-z0-9.]+', '-', scheduler)}",
        kind=ClusterCosts,
        cases=cases,
        read_off=_cluster_costs,
        typical=lambda: TYPICAL,
        turns=4,
    )


def _besides_nodes(at: Cluster, parts: Sequence[Part]) -> Sample:
    """Return the sample of a query to nodes, besides what the slowest of them takes."""
    seen = list[Sample]()
    took_s = _timed(lambda: seen.extend(at.run(answer, parts))).median_s - max(one.median_s for one in seen)
    return replace(seen[0], seconds=(took_s,), cpu_s=(took_s,))


def _timed(call: Callable[[], Any]) -> Sample:
    """Return the sample of a call that goes to workers. All its time is the processor's."""
    took_s = timeit.timeit(call, number=1)
    return replace(blank(table_parts(1)[0]), seconds=(took_s,), cpu_s=(took_s,))


def _cluster_costs(samples: Sequence[Sample]) -> ClusterCosts:
    """Read the costs off the samples of the eight cases of `calibration`, each taken several times in turn."""
    few_bytes, many_bytes = (size_of(counted(rows)) for rows in PUSHED_ROWS)
    ask_s, ask_many_s, join_s, join_many_s, join_much_s, pushed_s, pushed_much_s, far_s = (
        statistics.median(sample.median_s for sample in samples[at::8]) for at in range(8)
    )
    node_s = max(0.0, ask_many_s - ask_s) / (MANY_NODES - 1)
    task_s = max(0.0, join_many_s - join_s) / (tasks(MANY_NODES) - tasks(1))
    return ClusterCosts(
        query_s=max(0.0, ask_s - node_s),
        node_s=node_s,
        shuffle_s=max(0.0, join_s - tasks(1) * task_s),
        task_s=task_s,
        byte_s=max(0.0, join_much_s - join_s) / (2 * size_of(counted(SHUFFLED_ROWS))),
        pushed_byte_s=max(0.0, pushed_much_s - pushed_s) / (many_bytes - few_bytes),
        stale_page_s=_stale_page_s(far_s),
    )


def _far_part() -> Part:
    part = table_parts(MANY_NODES, SCAN)[0]
    return replace(part, columns=(), device=part.device.but(latency_s=FAR_S))


def _stale_page_s(far_s: float) -> float:
    """Return the price of a stale page at which the model takes as long as a node that had to wait."""
    known = calibrate.engine(calibrate.KEYED).costs()
    warm_s, stale_s = (
        _far_part().predict(replace(known, stale_page_s=page_s)).finished_s for page_s in (0.0, 1e-6)
    )
    return 1e-6 * max(0.0, far_s - warm_s) / (stale_s - warm_s)


# -- queries -----------------------------------------------------------------------------------------
def warm(at: Cluster, parts: Sequence[Part], small: Columns | None = None) -> None:
    """Let each node, and each that has a copy, build its file and warm its engine."""
    at.open()
    tell(0, 1, "the nodes get ready")
    copies = [part.on(parts[part.copy_on]) for part in parts if part.copy_on is not None]
    at.run(warm_up, [*parts, *copies], small)


def join_shuffled(
    at: Cluster, parts: Sequence[Part], small: Columns, *, key: str, sql: str, link_bytes_per_s: float = np.inf,
    made_up: int = 0,
) -> list[Sample]:  # fmt: skip
    """Deal both sides of a join out by their key, from worker to worker, so that rows which belong together meet."""
    count, homes = len(parts), at.homes(len(parts))
    dealt = [
        at.submit(home, deal, part, key, count, made_up) for home, part in zip(homes, parts, strict=True)
    ]

    def item(of: int, number: int) -> Sent:
        return at.submit(homes[of], operator.getitem, dealt[of][1], number)

    size, calls = size_of(small), [item(of, 0) for of in range(count)]
    for to, home in enumerate(homes):
        share = {name: column[small[key] % count == to] for name, column in small.items()}
        rows = [item(of, to + 1)[1] for of in range(count)]
        calls.append(at.submit(home, meet, share, rows, to, sql, size, link_bytes_per_s))
    found = at.results(calls)
    return [replace(sample, answer=sums) for sample, sums in zip(found[:count], found[count:], strict=True)]


def merged(samples: Sequence[Sample]) -> tuple[Any, ...]:
    """Return the sums of the samples' partial aggregates, column by column.

    Sums and counts add up; an average does not, and must be sent as both. A column that is NULL in all stays so.
    """
    columns = zip(*(sample.answer for sample in samples), strict=True)
    known = [[value for value in column if value is not None] for column in columns]
    return tuple(sum(column) if column else None for column in known)
