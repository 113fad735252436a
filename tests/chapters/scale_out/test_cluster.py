"""A real scheduler and real workers, started as processes of their own, one of which is really killed."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

import dask
import numpy as np
import psutil
import pytest

from readahead.chapters.scale_out.cluster import (
    LOCAL,
    NODE_THREADS,
    PUSHED_ROWS,
    SHUFFLED_ROWS,
    TYPICAL,
    Cluster,
    ClusterCosts,
    Part,
    _cluster_costs,
    _far_part,
    answer,
    blank,
    calibration,
    counted,
    join_shuffled,
    merged,
    size_of,
    table_parts,
    tasks,
    warm,
)
from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.errors import Cancelled, DataError
from readahead.measure.calibrate import KEYED, engine
from readahead.measure.run import EngineSettings, Query, run_emulated
from readahead.measure.sample import Sample
from readahead.running import listening

DEVICE = Device(name="far", latency_s=0.01, bandwidth_bytes_per_s=2e8, channels=32)
SUMS = "SELECT count(*), sum(id), sum(post_id), sum(score), sum(user_id) FROM {table}"
JOIN = "SELECT count(*), sum(score * reputation) FROM {table} JOIN small USING (user_id)"
DEAL = "SELECT user_id, score FROM {table} WHERE user_id IS NOT NULL"


def parts(count: int, sql: str = SUMS, *, copied: bool = False, device: Device = DEVICE) -> list[Part]:
    """Return the parts of the small table on so many nodes, with one read at a time."""
    return [
        Part(
            node=at,
            recipe=Recipe(table="comments_narrow", size="tiny", row_group_rows=2_048, part=at, parts=count),
            device=device,
            engine=EngineSettings(threads=1, queue_depth=1),
            sql=sql,
            copy_on=(at + 1) % count if copied else None,
        )
        for at in range(count)
    ]


def nodes_of(sample: Sample) -> set[int]:
    """Return which nodes read something."""
    return {read.thread // NODE_THREADS for read in sample.reads}


def whole() -> tuple[object, ...]:
    """Return what one DuckDB says of the whole table."""
    from readahead.datasets import store

    path = store.path(Recipe(table="comments_narrow", size="tiny", row_group_rows=2_048))
    instant = Device(name="now", latency_s=0.0, bandwidth_bytes_per_s=1e12, channels=64)
    return run_emulated(Query(sql=SUMS, path=path), instant, EngineSettings(threads=1), repeats=1).answer


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """Start a scheduler and two workers with their nannies, as processes of their own; end them after."""
    address = f"tcp://127.0.0.1:{free_port()}"
    dask = [sys.executable, "-m", "distributed.cli"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with_lib = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    port = address.rpartition(":")[2]
    commands = [
        [
            f"{dask[2]}.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            port,
            "--dashboard-address",
            ":0",
            "--no-show",
        ]
    ]
    commands += [
        [
            f"{dask[2]}.dask_worker",
            address,
            "--host",
            "127.0.0.1",
            "--nthreads",
            "4",
            "--no-dashboard",
            "--name",
            str(at),
        ]
        for at in range(2)
    ]
    started = [
        subprocess.Popen([sys.executable, "-m", *command], env=with_lib, **quiet) for command in commands
    ]
    try:
        yield address
    finally:
        for process in reversed(started):
            for one in [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]:
                one.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(scheduler: str) -> Iterator[Cluster]:
    """Return a user module at that scheduler, with both workers there."""
    own = Cluster(scheduler)
    end_s = time.monotonic() + 60
    own.open()
    while len(own.addresses) < 2 and time.monotonic() < end_s:
        time.sleep(0.1)
    yield own
    own.close()


def test_the_workers_are_other_processes(cluster: Cluster) -> None:
    seen = [cluster.submit(address, os.getpid)[1].result() for address in cluster.addresses]
    assert len({*seen, os.getpid()}) == 3


@pytest.mark.parametrize("count", [1, 2, 3])
def test_any_number_of_nodes_has_the_answer_of_one_engine(cluster: Cluster, count: int) -> None:
    warm(cluster, parts(count))
    samples = cluster.run(answer, parts(count))
    assert merged(samples) == whole()
    assert [nodes_of(sample) for sample in samples] == [{at} for at in range(count)]
    assert sum(sample.row_groups_total for sample in samples) == pytest.approx(128, abs=2)


def test_both_ways_to_join_agree(cluster: Cluster) -> None:
    users = np.arange(50_000, dtype=np.int32)
    small = {"user_id": users, "reputation": users % 100}
    there = cluster.open().spread(small)
    warm(cluster, parts(2, JOIN), there)
    pushed = merged(cluster.run(answer, parts(2, JOIN), there, 1e9))
    warm(cluster, parts(2, DEAL))
    samples = join_shuffled(cluster, parts(2, DEAL), small, key="user_id", sql=JOIN, link_bytes_per_s=1e9)
    assert pushed == merged(samples)
    assert int(pushed[0]) > 0


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_shuffle_sends_as_many_tasks_as_the_model_counts(
    cluster: Cluster, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[object] = []
    submit = cluster.submit

    def counted(address: str, call: Callable[..., object], *args: object) -> Any:
        sent.append(call)
        return submit(address, call, *args)

    monkeypatch.setattr(cluster, "submit", counted)
    small = {"user_id": np.arange(100, dtype=np.int32), "reputation": np.arange(100)}
    join_shuffled(cluster, parts(count, DEAL), small, key="user_id", sql=JOIN, link_bytes_per_s=1e9)
    assert len(sent) == count + tasks(count)  # the first of each node read what is dealt


def test_a_shuffle_takes_its_tasks_and_the_bytes_that_the_busiest_worker_joins() -> None:
    told = ClusterCosts(query_s=0.0, node_s=0.0, shuffle_s=0.1, task_s=0.01, byte_s=1e-6, pushed_byte_s=0.0)
    assert told.shuffling_s(1, 2, 1e6) == pytest.approx(0.1 + 3 * 0.01 + 1)
    assert told.shuffling_s(2, 2, 1e6) == pytest.approx(0.1 + 8 * 0.01 + 0.5)
    assert told.shuffling_s(4, 2, 1e6) == pytest.approx(0.1 + 24 * 0.01 + 0.5)  # two nodes on each worker


def test_what_a_cluster_takes_is_read_off_queries_and_shuffles_of_nothing_and_of_tables() -> None:
    each_s = {"query_s": 0.01, "node_s": 0.002, "shuffle_s": 0.04, "task_s": 0.003}
    told = ClusterCosts(**each_s, byte_s=1e-8, pushed_byte_s=2e-8, stale_page_s=3e-6)
    size_bytes = 2 * 2 * 4 * SHUFFLED_ROWS
    took_s = [told.asking_s(1), told.asking_s(4)]
    took_s += [told.shuffling_s(nodes, 2, asked) for nodes, asked in ((1, 0), (4, 0), (1, size_bytes))]
    took_s += [0.1 + 2e-8 * size_of(counted(rows)) for rows in PUSHED_ROWS]
    known = replace(engine(KEYED).costs(), stale_page_s=3e-6)
    took_s += [_far_part().predict(known).finished_s]
    [one] = table_parts(1)
    samples = [replace(blank(one), seconds=(times * each_s,)) for times in (1, 9, 1) for each_s in took_s]
    found = asdict(_cluster_costs(samples))
    assert found.pop("stale_page_s") == pytest.approx(3e-6, rel=0.05)  # a scan is not quite as much longer
    assert found == pytest.approx({name: getattr(told, name) for name in found})


def test_the_coordinator_answers_the_later_the_longer_it_has_waited() -> None:
    told = replace(TYPICAL, query_s=0.01, node_s=0.002, stale_page_s=2e-6)
    assert told.asking_s(3) == pytest.approx(0.01 + 3 * 0.002)
    assert told.asking_s(3, 0.018) == pytest.approx(0.01 + 3 * 0.002 + 500 * 1e-6)


def test_a_cluster_is_calibrated_by_asking_it(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("readahead.chapters.scale_out.cluster.cluster", lambda _: cluster)
    asked = calibration(cluster.scheduler)
    assert "/" not in asked.name
    told = asked.run(3)  # one turn that a busy machine disturbs shows no cost
    assert min(asdict(told).values()) >= 0
    assert told.asking_s(1) > 0
    assert told.shuffling_s(1, 2, 0) > 0
    assert told.pushed_byte_s > 0


def test_a_worker_killed_in_the_middle_changes_nothing_of_the_answer(cluster: Cluster) -> None:
    first, last = parts(2, copied=True)
    warm(cluster, [first, last])
    before = {cluster.submit(address, os.getpid)[1].result() for address in cluster.addresses}
    samples = cluster.run(answer, [first, replace(last, dies_after_s=0.2)])
    assert merged(samples) == whole()
    assert [nodes_of(sample) for sample in samples] == [{0}, {0}]
    assert sum(psutil.pid_exists(pid) for pid in before) == 1
    assert len(cluster.open().addresses) == 2


def test_without_a_copy_a_dead_node_is_an_error_that_says_so(cluster: Cluster) -> None:
    first, last = parts(2)
    warm(cluster, [first, last])
    with pytest.raises(DataError, match=r"Node 2 died .* nobody alive has a copy"):
        cluster.run(answer, [first, replace(last, dies_after_s=0.2)])
    warm(cluster, [first, last])
    assert merged(cluster.run(answer, [first, last])) == whole()


def test_a_death_that_would_come_after_the_answer_does_not_come(cluster: Cluster) -> None:
    first, last = parts(2, device=DEVICE.but(latency_s=0.001))
    warm(cluster, [first, last])
    before = cluster.addresses
    assert merged(cluster.run(answer, [first, replace(last, dies_after_s=2.0)])) == whole()
    time.sleep(2.0)
    assert cluster.addresses == before


def test_a_query_can_be_called_off(cluster: Cluster) -> None:
    slow = DEVICE.but(latency_s=0.5)
    warm(cluster, parts(2, device=slow))
    stop = threading.Event()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(Cancelled), listening(stop=stop):
        cluster.run(answer, parts(2, device=slow))
    assert merged(cluster.run(answer, parts(2))) == whole()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot stop a process")
def test_neither_a_worker_that_hangs_nor_a_scheduler_that_dies_is_waited_for(cluster: Cluster) -> None:
    slow = parts(2, device=DEVICE.but(latency_s=0.5))
    warm(cluster, slow)
    hanging = psutil.Process(cluster._client.run(os.getpid)[cluster.addresses[0]])
    stop = threading.Event()
    hanging.suspend()
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(Cancelled), listening(stop=stop):
        cluster.run(answer, slow)
    hanging.resume()
    found = psutil.Process().children()
    dying = next(one for one in found if any("dask_scheduler" in word for word in one.cmdline()))
    threading.Timer(0.3, dying.kill).start()
    with pytest.raises(DataError, match=r"scheduler of the cluster \(tcp:.*\) went away"):
        cluster.run(answer, slow)


def test_nobody_at_an_address_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "readahead.chapters.scale_out.cluster.START_S", 2.0
    )  # more is for machines that really start
    with pytest.raises(
        DataError, match=r"No Dask workers with Readahead .* were found at 'tcp://127.0.0.1:\d+'"
    ):
        Cluster(f"tcp://127.0.0.1:{free_port()}").open()


def test_a_local_cluster_leaves_no_process_behind() -> None:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with contextlib.closing(Cluster(LOCAL).open()) as own:
        assert len(own.addresses) == 2
        assert (
            own._client.cluster.scheduler.worker_ttl == 30
        )  # a worker that hangs is replaced, not waited for
        asked = own._client.run(dask.config.get, "distributed.worker.profile.enabled")
        assert list(asked.values()) == [
            False,
            False,
        ]  # Dask's profiler and DuckDB's threads can stop each other
        assert {child.pid for child in psutil.Process().children(recursive=True)} - before
    time.sleep(0.5)
    left = [c for c in psutil.Process().children(recursive=True) if c.pid not in before]
    assert [child for child in left if "spawn_main" in " ".join(child.cmdline())] == []
    own.close()
