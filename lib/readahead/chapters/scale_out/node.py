"""A clerk at a desk with a drawer of files. A question comes in, the clerk goes through that drawer alone and hands
back a slip with sums on it, never the files.

That is a performance module: DuckDB over its own part of a table on its own device, kept ready in one process so that
a query finds it warm. Nothing here knows of other nodes; `cluster` puts them to work and adds up their slips.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import numpy as np

from readahead import __version__
from readahead.datasets import store
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.errors import Cancelled
from readahead.measure.engine import EngineSettings, engine, profile
from readahead.measure.run import Query
from readahead.storage.clock import RealClock
from readahead.storage.emulated import EmulatedFileSystem
from readahead.storage.trace import Read

Columns = Mapping[str, np.ndarray]
"""A small table in memory, by column."""
Rows = tuple[tuple[Any, ...], ...]
USUAL_READS = 64
MOST_READY = 8
"""Nodes kept ready in one process; the oldest is closed for the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One performance module: its number, its device, its engine."""

    number: int
    device: Device
    engine: EngineSettings

    @property
    def name(self) -> str:
        """Return the module as people count: from 1."""
        return f"node {self.number + 1}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Partial:
    """The slip that a node hands back: aggregates of its part, and what they took."""

    module: str
    rows: Rows
    seconds: float
    cpu_s: float
    reads: tuple[Read, ...]
    """Times from the moment at which this node began."""
    row_groups_scanned: int = 0
    row_groups_total: int = 0
    sent_bytes: int = 0
    """Bytes of rows that this node hands to others."""


class Node:
    """A performance module at work in this process. It answers one question at a time."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.filesystem = EmulatedFileSystem(module.device)
        self._stack = ExitStack()
        self.connection = self._stack.enter_context(engine(module.engine, self.filesystem))
        self._turn = threading.Lock()
        self._warm: set[tuple[Recipe, str]] = set()

    def warm(self, recipe: Recipe, sql: str, small: Columns | None = None) -> None:
        """Build the part's file if it is not there, and run the query once without delays."""
        with self._turn:
            path = store.path(recipe)
            if (recipe, sql) not in self._warm:
                with self.filesystem.instant():
                    self._execute(Query(sql=sql, path=path), small, rows_too=True)
                self._warm.add((recipe, sql))

    def ask(
        self, recipe: Recipe, sql: str, small: Columns | None = None, *, rows_too: bool = False
    ) -> tuple[Partial, Columns]:
        """Return the slip of a query over a part; with `rows_too` its rows as columns, and none on the slip.

        `sql` says `{table}` for the part and `small` for a table that was sent along. Raises `Cancelled` when
        somebody hurried meanwhile.
        """
        query = Query(sql=sql, path=store.path(recipe))
        with self._turn:
            self.filesystem.fresh()
            cpu_s, start_s = time.process_time(), time.perf_counter()
            rows, columns = self._execute(query, small, rows_too=rows_too)
            seconds, cpu_s = time.perf_counter() - start_s, time.process_time() - cpu_s
            seen = profile(self.connection)
            reads = self.filesystem.trace.reads(start_s=start_s)
            slip = Partial(
                module=self.module.name,
                rows=rows,
                seconds=seconds,
                cpu_s=max(0.0, cpu_s - self.filesystem.spun_s),
                reads=tuple(read for read in reads if read.submitted_s >= 0),
                row_groups_scanned=seen.row_groups_scanned,
                row_groups_total=seen.row_groups_total,
            )
        return slip, columns

    def _execute(self, query: Query, small: Columns | None, *, rows_too: bool) -> tuple[Rows, Columns]:
        """Run the query: a few rows as values, many as columns."""
        if small is not None:
            self.connection.register("small", dict(small))
        try:
            told = self.connection.execute(query.text(emulated=True))
            if rows_too:
                return (), dict(told.fetchnumpy())
            return tuple(told.fetchall()), {}
        except duckdb.InterruptException as error:
            raise Cancelled(f"The query was cancelled on {self.module.name}. Ask again.") from error
        finally:
            if small is not None:
                self.connection.unregister("small")

    def hurry(self) -> None:
        """Let a cancelled query end now."""
        self.filesystem.hurry()
        self.connection.interrupt()

    def close(self) -> None:
        """Take the engine down."""
        self._stack.close()


# -- the nodes of this process -----------------------------------------------------------------------
_ready: dict[str, Node] = {}
_door = threading.Lock()


def node(module: Module) -> Node:
    """Return this process's node for `module`, kept from the last query if it is the same."""
    key = repr(module)
    with _door:
        if key not in _ready:
            while len(_ready) >= MOST_READY:
                _ready.pop(next(iter(_ready))).close()
            _ready[key] = Node(module)
        return _ready[key]


def hurry_all() -> None:
    """End every query of this process soon, and start afresh afterwards."""
    with _door:
        for one in _ready.values():
            one.hurry()
        _ready.clear()


# -- what a node is told to do -----------------------------------------------------------------------
def version() -> str:
    """Return which Readahead this worker has."""
    return __version__


async def die() -> None:
    """End this worker as a power cut would; awaited, so that nobody waits for its answer."""
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def warm(module: Module, recipe: Recipe, sql: str, small: Columns | None = None) -> None:
    """Get a node ready for a query."""
    node(module).warm(recipe, sql, small)


def blank(module: Module) -> Partial:
    """Return an empty slip as long as a usual one: what a question and its answer take without any work."""
    read = Read(offset=0, size_bytes=1, thread=0, submitted_s=0.0, due_s=0.0, done_s=0.0)
    return Partial(module=module.name, rows=((0,) * 6,), seconds=0.0, cpu_s=0.0, reads=(read,) * USUAL_READS)


def answer(
    module: Module, recipe: Recipe, sql: str, small: Columns | None = None, wait_s: float = 0.0
) -> Partial:
    """Return a node's slip for a query, after the `wait_s` that its table `small` takes on an emulated link."""
    cross(wait_s)
    slip, _ = node(module).ask(recipe, sql, small)
    return slip


def deal(module: Module, recipe: Recipe, sql: str, key: str, nodes: int) -> tuple[Partial, list[Columns]]:
    """Read rows of a part and deal them out by their key: one hand for each of `nodes`."""
    slip, columns = node(module).ask(recipe, sql, rows_too=True)
    to = np.asarray(columns[key]) % nodes
    hands: list[Columns] = [
        {name: np.asarray(column)[to == at] for name, column in columns.items()} for at in range(nodes)
    ]
    sent = sum(size_of(hand) for at, hand in enumerate(hands) if at != module.number)
    return replace(slip, sent_bytes=sent), hands


def meet(small: Columns, hands: Sequence[Columns], sql: str, wait_s: float) -> Rows:
    """Join the hands that were dealt to one node with its share of the small side; `{table}` stands for the hands."""
    cross(wait_s)
    large = {name: np.concatenate([np.asarray(hand[name]) for hand in hands]) for name in hands[0]}
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.register("large", large)
        connection.register("small", dict(small))
        return tuple(connection.execute(sql.replace("{table}", "large")).fetchall())


def cross(seconds: float) -> None:
    """Let the time pass that bytes take on an emulated link."""
    if seconds > 0:
        clock = RealClock()
        clock.wait_until(clock.now_s() + seconds)


def size_of(columns: Columns) -> int:
    """Return the bytes of a table in memory."""
    return sum(int(np.asarray(column).nbytes) for column in columns.values())


def added(slips: Sequence[Sequence[Sequence[Any]]]) -> tuple[Any, ...]:
    """Return the sums of the slips' only rows, column by column: what the user module does with partial aggregates.

    Sums and counts add up; an average does not, and must be sent as both. A column that is NULL in every slip stays so.
    """
    rows = [row for slip in slips for row in slip]
    known = [[value for value in column if value is not None] for column in zip(*rows, strict=True)]
    return tuple(sum(column) if column else None for column in known)
