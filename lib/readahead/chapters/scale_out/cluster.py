"""The rooms of an office, and the porter who knows who sits where. An errand goes to its room; when a clerk is called
away in the middle, it goes to the neighbour who has a copy of the drawer.

The office is a Dask cluster: by default two worker processes on this machine, else whatever scheduler is named. Every
node is pinned to a worker, because its files and its device are there. This file alone knows of Dask.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from readahead import __version__
from readahead.chapters.scale_out import node as nodes
from readahead.chapters.scale_out.node import Module
from readahead.devices import Device
from readahead.errors import DataError, ReadaheadError
from readahead.measure.engine import EngineSettings
from readahead.running import check, tell

LOCAL = "this machine"
"""The scheduler of a cluster that is started here, and ended with this process."""
WORKERS, THREADS = 2, 4
"""Processes of a local cluster, and how many nodes each can serve at once."""
POLL_S = 0.1
"""How often the counter looks whether a clerk is still there, or somebody cancelled."""
START_S = 60.0
"""How long to wait for workers."""
ROUNDS = 9
"""Empty questions with which a cluster is timed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """A function to run on one node, or on another that has a copy of what it needs."""

    call: Callable[..., Any]
    module: Module
    """Where; it is also the function's first argument."""
    args: tuple[Any, ...] = ()
    copy_on: Module | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Strike:
    """A worker to be killed in the middle of a query."""

    module: Module
    after_s: float


class Cluster:
    """A user module and the workers that it can put nodes on. Started by the first question, closed by `close`."""

    def __init__(self, scheduler: str = LOCAL, *, workers: int = WORKERS) -> None:
        self.scheduler = scheduler
        self._workers = workers if scheduler == LOCAL else 1  # the most that were ever there
        self._client: Any = None
        self._local: Any = None
        self._lock = threading.RLock()
        self._struck: set[tuple[str, str]] = set()
        self.coordination_s: float | None = None
        """An empty question to all nodes and back, as timed when the cluster was opened."""

    # -- coming and going ----------------------------------------------------------------------------
    def open(self) -> Self:
        """Start the workers or find them. Raises `DataError` if there are none, or they lack Readahead."""
        with self._lock:
            if self._client is not None and self._client.status != "running":
                self.close()  # the scheduler went away
            if self._client is None:
                tell(0, 1, "starting the cluster")
                try:
                    self._start()
                    self._greet()
                except BaseException:
                    self.close()
                    raise
        return self

    def _start(self) -> None:
        import distributed

        try:
            if self.scheduler == LOCAL:
                self._local = distributed.LocalCluster(
                    n_workers=self._workers,
                    threads_per_worker=THREADS,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address=None,
                    memory_limit=0,
                    silence_logs=logging.CRITICAL,
                )
            self._client = distributed.Client(
                self._local or self.scheduler, timeout=START_S / 4, set_as_default=False
            )
            self._client.wait_for_workers(self._workers, timeout=START_S / 4)
        except (OSError, TimeoutError, ValueError) as error:
            raise DataError(
                f"No Dask workers were found at {self.scheduler!r}: {type(error).__name__}: {error}. It must be"
                f" {LOCAL!r} or the address of a scheduler that has workers, such as tcp://127.0.0.1:8786."
                " Start both (docs/cluster.md), or leave the scheduler out."
            ) from error

    def _greet(self) -> None:
        """Ask every worker for its version of Readahead, and see how long an empty round takes."""
        try:
            versions = self._client.run(nodes.version)
        except Exception as error:  # whatever a worker says: it is not ready for our questions
            raise DataError(
                f"A worker at {self.scheduler!r} cannot import Readahead {__version__}: {error}. Install it there,"
                " or start the worker with PYTHONPATH set (docs/cluster.md)."
            ) from error
        if set(versions.values()) != {__version__}:
            raise DataError(
                f"Workers have Readahead {versions}; all must have {__version__}, as here. Install it there anew."
            )
        none, engine, took = (
            Device(name="none", latency_s=0.0, bandwidth_bytes_per_s=1e9),
            EngineSettings(),
            [],
        )
        modules = [Module(number=at, device=none, engine=engine) for at in range(len(versions))]
        for _ in range(ROUNDS):
            start_s = time.perf_counter()
            self.run([Errand(call=nodes.blank, module=module) for module in modules])
            took.append(time.perf_counter() - start_s)
        self.coordination_s = statistics.median(took)

    def close(self) -> None:
        """Send everybody home. Closing twice does nothing."""
        with self._lock:
            client, local, self._client, self._local = self._client, self._local, None, None
            self.coordination_s = None
            for part in (client, local):
                if part is not None:
                    with contextlib.suppress(Exception):
                        part.close(timeout=10)

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- what it is ----------------------------------------------------------------------------------
    @property
    def addresses(self) -> list[str]:
        """Return the workers that are alive, always in the same order."""
        known = self._client.scheduler_info(n_workers=-1)["workers"]
        self._workers = max(self._workers, len(known))
        return sorted(known, key=lambda address: (str(known[address]["name"]).zfill(8), address))

    def _processes(self) -> list[tuple[str, str]]:
        """Return (address, scratch folder) of each worker: no two processes have both in common."""
        known = self._client.scheduler_info(n_workers=-1)["workers"]
        return [(address, str(told["local_directory"])) for address, told in known.items()]

    def submit(self, call: Callable[..., Any], address: str, *args: Any) -> Any:
        """Send a call to one worker and return its future; futures among `args` are fetched from where they are."""
        return self._client.submit(call, *args, workers=[address], allow_other_workers=False, pure=False)

    # -- errands -------------------------------------------------------------------------------------
    def places(self, modules: Sequence[Module]) -> dict[int, str]:
        """Return which worker each module is on, by the module's number."""
        alive = self.alive()
        return {module.number: alive[module.number % len(alive)] for module in modules}

    def alive(self) -> list[str]:
        """Return the workers that are alive, of which there is one at least. Raises `DataError` for none."""
        if found := self.addresses or self.heal():
            return found
        raise DataError(
            f"The cluster at {self.scheduler!r} has 0 workers and needs at least 1. Start one (docs/cluster.md)."
        )

    def heal(self) -> list[str]:
        """Wait until who was told to die is dead, and a while until nannies start them anew; return all workers."""
        end_s = time.monotonic() + START_S / 4
        while self._struck & set(self._processes()) and time.monotonic() < end_s:
            time.sleep(POLL_S)
        self._struck.clear()
        with contextlib.suppress(TimeoutError):
            self._client.wait_for_workers(self._workers, timeout=START_S / 4)
        return self.addresses

    def run(self, errands: Sequence[Errand], *, strike: Strike | None = None) -> tuple[list[Any], list[str]]:
        """Run errands at once and return their results, and the nodes that died meanwhile.

        Raises `DataError` when a node dies and nobody has a copy of its part, `Cancelled` when told to stop.
        """
        modules = [m for e in errands for m in (e.module, e.copy_on) if m is not None]
        where = self.places([*modules, *([strike.module] if strike else [])])

        def send(errand: Errand, module: Module) -> Any:
            return self.submit(errand.call, where[module.number], module, *errand.args)

        sent = {number: (errand.module, send(errand, errand.module)) for number, errand in enumerate(errands)}
        lost: list[str] = []
        timer = threading.Timer(strike.after_s, self.kill, [where[strike.module.number]]) if strike else None
        try:
            if timer is not None:
                timer.start()
            while not self.some([future for _, future in sent.values()], every=True):
                check()
                alive = set(self.addresses)
                for number, (module, future) in list(sent.items()):
                    if where[module.number] not in alive and not future.done():
                        future.cancel(force=True)
                        lost.append(module.name)
                        heir = self._heir(errands[number], module, where, alive)
                        sent[number] = (heir, send(errands[number], heir))
        except ReadaheadError:
            self.hurry([future for _, future in sent.values()])
            raise
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()
        return [future.result() for _, future in sent.values()], lost

    def kill(self, address: str) -> None:
        """End a worker as a power cut would."""
        self._struck.update(process for process in self._processes() if process[0] == address)
        self._client.run(nodes.die, workers=[address], wait=False, on_error="ignore")

    @staticmethod
    def _heir(errand: Errand, dead: Module, where: dict[int, str], alive: set[str]) -> Module:
        """Return the neighbour who has a copy. Raises `DataError` if nobody has."""
        heir = errand.copy_on
        if heir is None or heir == dead or where[heir.number] not in alive:
            raise DataError(
                f"{dead.name} died in the middle of the query, and nobody alive has a copy of its part."
                " Keep a copy on a neighbour, or ask again when the node is back."
            )
        return heir

    def some(self, futures: Sequence[Any], *, every: bool = False) -> bool:
        """Wait a little for one of the futures, or all; return whether that came."""
        from distributed import wait

        if not futures:
            return False
        try:
            with self._client.as_current():
                wait(futures, timeout=POLL_S, return_when="ALL_COMPLETED" if every else "FIRST_COMPLETED")
        except TimeoutError:
            return False
        return True

    def wait(self, futures: Sequence[Any]) -> list[Any]:
        """Return the results of all futures. Raises `Cancelled` when told to stop, `DataError` when a worker dies."""
        began = set(self.addresses)
        try:
            while not self.some(futures, every=True):
                check()
                if dead := began - set(self.addresses):
                    raise DataError(f"Workers {sorted(dead)} died in the middle of a join. Ask again.")
        except ReadaheadError:
            self.hurry(futures)
            raise
        return [future.result() for future in futures]

    def hurry(self, futures: Sequence[Any]) -> None:
        """Call everything off: what waits is dropped, what runs is told to end."""
        self._client.cancel(list(futures), force=True)
        with contextlib.suppress(Exception):  # a worker that died meanwhile has nothing to call off
            self._client.run(nodes.hurry_all)


# -- one cluster for a whole bench -------------------------------------------------------------------
_open: dict[str, Cluster] = {}
_door = threading.Lock()


def cluster(scheduler: str = LOCAL) -> Cluster:
    """Return this process's cluster at a scheduler: one for all experiments, closed at the end of the process."""
    with _door:
        if scheduler not in _open:
            _open[scheduler] = Cluster(scheduler)
        return _open[scheduler]


@atexit.register
def close_all() -> None:
    """Close every cluster that `cluster` opened."""
    with _door:
        while _open:
            _open.popitem()[1].close()
