"""A case is predicted and measured from the same numbers. The reads are exact, to the byte."""

from __future__ import annotations

import hashlib
import itertools
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import duckdb
import pytest

from readahead.datasets.recipe import Recipe
from readahead.devices import Device
from readahead.errors import Cancelled, DataError
from readahead.measure.case import Case
from readahead.measure.run import (
    TASKS,
    EngineSettings,
    Query,
    Stopwatch,
    engine,
    once,
    one_engine,
    run_emulated,
    run_local,
)
from readahead.models.reads import FOOTER_GUESS_HIGH, FOOTER_GUESS_LOW
from readahead.models.schedule import Costs
from readahead.running import Event, listening
from readahead.storage import emulated
from readahead.storage.emulated import EmulatedFileSystem

QUICK = Device(name="quick", latency_s=0.0005, bandwidth_bytes_per_s=1e10, channels=64)
COLUMNS = ("id", "creation_date", "post_id", "score", "user_id")


@pytest.fixture
def case(narrow: Recipe) -> Case:
    """Return a scan of the small file on a quick device."""
    return Case(recipe=narrow, device=QUICK, engine=EngineSettings(threads=1, queue_depth=8))


def _spans(case: Case) -> list[tuple[int, int]]:
    return sorted(case.plan().listed)


@pytest.mark.parametrize("columns", [c for k in (1, 2, 3, 5) for c in itertools.combinations(COLUMNS, k)])
def test_the_reads_of_any_columns_are_predicted_to_the_byte(case: Case, columns: tuple[str, ...]) -> None:
    some = replace(case, columns=columns, select=", ".join(f"sum(hash({name}))" for name in columns))
    sample = some.measure(repeats=1)
    assert sorted((r.offset, r.size_bytes) for r in sample.reads) == _spans(some)


@pytest.mark.parametrize("table", ["comments_narrow", "comments", "lineitem"])
@pytest.mark.parametrize("rows", [2_048, 122_880])
@pytest.mark.parametrize("keys", [0, 1, 2, 40])
def test_the_reads_of_scans_and_lookups_are_predicted_to_the_byte(table: str, rows: int, keys: int) -> None:
    case = Case(recipe=Recipe(table=table, size="tiny", row_group_rows=rows), device=QUICK, keys=keys)
    sample = case.measure(repeats=1)
    assert sorted((r.offset, r.size_bytes) for r in sample.reads) == _spans(case)
    touched = case.touched()
    if touched is not None:
        assert sample.row_groups_scanned == touched.sum()


@pytest.mark.parametrize(
    ("table", "rows", "depth"),
    [("comments_narrow", 2_048, 16), ("comments_narrow", 8_192, 4), ("comments", 16_384, 4)],
)
def test_one_key_of_a_shuffled_table_is_a_filter(table: str, rows: int, depth: int) -> None:
    """Every reader of a row group in which no row has passed reads the key's column first from then on."""
    recipe = Recipe(table=table, size="tiny", row_group_rows=rows, order="shuffled")
    case = Case(recipe=recipe, device=QUICK, keys=1, seed=3, engine=EngineSettings(queue_depth=depth))
    sample = case.measure(repeats=1)
    assert sorted((r.offset, r.size_bytes) for r in sample.reads) == _spans(case)
    assert case.plan().late.sum() == 1 and case.plan().moved_bytes == 0


@pytest.mark.parametrize(("order", "without"), [("key", 0), ("shuffled", 15)])
def test_of_a_lookup_of_one_key_all_columns_of_one_vector_are_decoded(order: str, without: int) -> None:
    """A row group of a shuffled table is not ruled out; where it has no row of the key, nothing but keys is decoded.

    Two keys apart are no filter.
    """
    recipe = Recipe(table="comments_narrow", size="tiny", row_group_rows=16_384, order=order)
    case = Case(recipe=recipe, device=QUICK, keys=1, seed=3)
    case.build()
    plan, columns = case.plan(), len(recipe.source.columns)
    assert [rows for rows in plan.passed_rows.tolist() if rows] == [14_336]
    assert sorted(plan.rows) == [16_384 // columns] * without + [16_384] * (16 - without)
    apart = replace(case, keys=2).plan()
    assert len(apart.passed_rows) == 0 and set(apart.rows) == {16_384}


@pytest.mark.parametrize("keys", [0, 12])
def test_the_engines_own_logs_agree_with_our_trace(case: Case, keys: int) -> None:
    """DuckDB logs each read-ahead task, and for a filtered scan how each row group is fetched."""
    asked = replace(case, keys=keys, columns=("id", "score"), select="sum(hash(id)), sum(hash(score))")
    asked.build()
    filesystem = EmulatedFileSystem(QUICK)
    with engine(asked.engine, filesystem) as connection:
        connection.execute("CALL enable_logging(level = 'trace')")
        connection.execute(asked.query().texts(emulated=True)[0]).fetchall()
        connection.execute("CALL disable_logging()")
        logged = connection.execute("SELECT type, message FROM duckdb_logs()").fetchall()
    plan = asked.plan()
    tasks = [message for kind, message in logged if kind == "AsyncTaskSchedule" and "READ_AHEAD" in message]
    given = sum(int(message.split("'task_count': ")[1].rstrip("}")) for message in tasks)
    assert given == len(plan.spans)
    assert len(filesystem.trace) == len(plan.footer) + given
    read = [message for kind, message in logged if kind == "PhysicalOperator" and "ReadRowGroup" in message]
    assert len(read) == plan.read_groups
    fetched = [message for kind, message in logged if kind == "ParquetPrefetch"]
    assert len(fetched) == (len(read) if keys else 0)


def test_a_lookup_finds_the_same_rows_as_duckdb_alone(case: Case) -> None:
    lookup = replace(case, keys=25)
    sample = lookup.measure(repeats=1)
    path = lookup.build()
    (alone,) = duckdb.sql(lookup.query().sql.replace("{table}", f"read_parquet('{path}')")).fetchall()
    assert sample.answer == alone


@pytest.mark.parametrize("threads", [1, 2, 4, 8])
@pytest.mark.parametrize("depth", [1, 4, 16])
def test_reads_in_flight_are_as_many_as_asked_for_with_any_number_of_workers(
    case: Case, depth: int, threads: int
) -> None:
    """Row groups are, too: each is one read here. A worker reads for itself beside what is read ahead.

    A read takes longer than a busy machine takes to ask for as many as are to be under way.
    """
    engine = EngineSettings(threads=threads, queue_depth=depth)
    slow = replace(case, device=QUICK.but(latency_s=0.025 * depth), engine=engine)
    assert slow.measure(repeats=1).max_in_flight == depth == slow.window.slots == slow.window.depth
    timeline = slow.predict(Costs())
    began, ended = timeline.reads_s.T
    assert max(int(((began <= at) & (at < ended)).sum()) for at in began) == depth


FEWER_THREADS = """
import re, resource, sys
from pathlib import Path

import duckdb
from readahead.measure.run import EngineSettings, engine, one_engine

shared = one_engine()  # kept, or it would end at once
if "shared" in sys.argv:
    shared.__enter__()
with engine(EngineSettings(queue_depth=8)):
    pass
now_bytes = 1024 * int(re.search(r"VmSize:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
resource.setrlimit(resource.RLIMIT_AS, (now_bytes + 300 * 2**20,) * 2)
with engine(EngineSettings(queue_depth=128)) as connection:
    print(connection.execute("SELECT current_setting('async_threads')").fetchall())
"""


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux limits a process's address space"
)
@pytest.mark.parametrize("whose", ["own", "shared"])
def test_threads_that_the_system_refuses_are_told_and_never_measured_with(whose: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", FEWER_THREADS, whose], capture_output=True, text=True, check=False
    )
    last = run.stderr.strip().splitlines()[-1]
    assert run.returncode == 1 and not run.stdout
    assert re.search(r"DataError: DuckDB could start \d+ of the 128 threads that queue depth 128 needs", last)
    assert "choose a smaller queue depth" in last


def test_measurements_that_share_an_engine_are_those_of_engines_of_their_own(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its own depth and tables; where more is set, an engine is started still, and the shared one is not."""
    case = replace(case, device=QUICK.but(latency_s=0.1))
    shallow = replace(case, engine=EngineSettings(threads=1, queue_depth=2))
    limited = replace(case, engine=replace(case.engine, more={"memory_limit": "1GB"}))
    tables = Query(
        sql="SELECT count(*) FROM t, {table}",
        path=case.build(),
        setup=("CREATE TEMP TABLE t AS SELECT 1 AS i",),
    )
    runs = [
        partial(case.measure, repeats=1),
        partial(shallow.measure, repeats=1),
        *[partial(run_emulated, tables, QUICK, case.engine, repeats=1)] * 2,
    ]
    own = [run() for run in runs]
    started, connect = list[None](), duckdb.connect
    monkeypatch.setattr(duckdb, "connect", lambda: (started.append(None), connect())[1])
    with one_engine():
        limited.measure(repeats=1)
        assert len(started) == 1  # its own, with none beside it
        shared = [run() for run in runs]
    assert len(started) == 2
    for one, other in zip(own, shared, strict=True):
        assert one.answer == other.answer and one.engine == other.engine
        assert sorted((r.offset, r.size_bytes) for r in one.reads) == sorted(
            (r.offset, r.size_bytes) for r in other.reads
        )
    assert [one.max_in_flight for one in shared[:2]] == [8, 2]


@pytest.mark.parametrize("form", ["parquet", "native"])
def test_no_place_of_a_native_file_has_to_be_cleared(case: Case, form: str) -> None:
    asked = replace(case, recipe=replace(case.recipe, format=form), device=QUICK.but(latency_s=0.1))
    free_s, clear_s = (asked.predict(Costs(clear_s=each_s)).finished_s for each_s in (0.0, 1e-3))
    assert clear_s >= free_s
    assert (clear_s == free_s) == (form == "native")


def test_a_slower_device_takes_longer_and_the_model_says_so_too(case: Case) -> None:
    slow = replace(case, device=QUICK.but(latency_s=0.03), engine=EngineSettings(threads=1, queue_depth=2))
    sample = slow.measure(repeats=1)
    assert sample.seconds[0] >= 0.03 * len(sample.reads) / 2  # two in flight: no run can be shorter
    assert slow.predict(Costs()).finished_s > case.predict(Costs()).finished_s


def test_slow_motion_is_divided_out_and_told(case: Case) -> None:
    device = QUICK.but(latency_s=0.004, channels=1)
    plain = replace(case, device=device).measure(repeats=1)
    slow = replace(case, device=device, time_scale=3.0).measure(repeats=1)
    assert slow.time_scale == 3.0
    assert slow.reads[-1].due_s - slow.reads[0].submitted_s >= 0.004 * len(slow.reads)
    assert len(slow.reads) == len(plain.reads)


def test_the_news_tells_of_every_run(case: Case) -> None:
    news: list[Event] = []
    with listening(news.append):
        case.measure(repeats=2)
    assert [event.done for event in news] == [0, 1, 2]
    assert news[-1].note == "done"


def test_a_cancelled_measurement_ends_and_leaves_no_thread(case: Case) -> None:
    before, stop = set(threading.enumerate()), threading.Event()
    endless = replace(case, device=QUICK.but(latency_s=50.0, channels=1))
    threading.Timer(0.3, stop.set).start()
    with pytest.raises(Cancelled, match="Nothing of it was kept|Press Measure"), listening(stop=stop):
        endless.measure(repeats=1)
    left = [t for t in threading.enumerate() if t not in before and t.name.startswith("readahead")]
    assert left == []


def test_a_measurement_that_is_cancelled_before_it_begins_runs_nothing(case: Case) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled), listening(stop=stop):
        case.measure()


def test_a_damaged_file_is_told_in_words(tmp_path: Path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 this is no parquet file PAR1")
    with pytest.raises(DataError, match="DuckDB could not run the query on .*broken.parquet"):
        run_emulated(Query(sql="SELECT count(*) FROM {table}", path=path), QUICK, EngineSettings())


def test_a_device_that_fails_is_told_in_one_line(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_fd: int) -> Callable[[int, int], bytes]:
        def read(_size: int, _offset: int) -> bytes:
            raise OSError(5, "Input/output error")

        return read

    monkeypatch.setattr(emulated, "pread_for", failing)
    with pytest.raises(DataError, match=r"Input/output error\. Check the disk") as told:
        case.measure()
    assert "Traceback" not in str(told.value) and "\n" not in str(told.value)


def test_too_little_memory_is_told_with_the_limit(case: Case) -> None:
    poor = replace(case, engine=EngineSettings(threads=1, more={"memory_limit": "256KiB"}))
    with pytest.raises(
        DataError, match="memory_limit=256KiB must hold .* Give more memory, or smaller row groups"
    ):
        poor.measure()


def test_a_native_file_is_read_through_the_device_too() -> None:
    recipe = Recipe(table="comments_narrow", size="tiny", format="native", row_group_rows=16_384)
    case = Case(recipe=recipe, device=QUICK)
    path = case.build()
    sample = run_emulated(
        Query(sql="SELECT sum(post_id) FROM {table}", path=path), QUICK, EngineSettings(), repeats=2
    )
    assert len(sample.reads) > 1
    assert (
        sample.answer
        == run_local(
            Query(sql="SELECT sum(post_id) FROM {table}", path=path), EngineSettings(), cold=False, repeats=1
        ).answer
    )


def test_this_machines_own_disk_gives_the_same_answer(case: Case) -> None:
    warm = case.measure_here(cold=False, repeats=2)
    assert warm.where == "this disk, warm"
    assert warm.answer == case.measure(repeats=1).answer
    assert warm.bytes_read >= case.plan().data_bytes


def test_the_footer_is_asked_for_first(case: Case) -> None:
    sample = case.measure(repeats=1)
    footer = case.plan().footer.tolist()
    assert [[r.offset, r.size_bytes] for r in sample.reads[: len(footer)]] == footer
    assert FOOTER_GUESS_LOW <= sample.reads[0].size_bytes <= FOOTER_GUESS_HIGH


@pytest.mark.parametrize("native", [False, True], ids=["parquet", "native"])
def test_only_repeats_are_delayed_and_each_comes_after_an_undelayed_run(
    case: Case, monkeypatch: pytest.MonkeyPatch, native: bool
) -> None:
    """A native file is attached without delays too: that is no part of the query, and its code would go cold."""
    asked = replace(case, recipe=replace(case.recipe, format="native")) if native else case
    delayed, runs = list[bool](), list[bool]()
    wait_until, fresh = EmulatedFileSystem.wait_until, EmulatedFileSystem.fresh

    def waits(device: EmulatedFileSystem, due_s: float) -> None:
        delayed.append(device._waiting)
        wait_until(device, due_s)

    def begins(device: EmulatedFileSystem) -> None:
        runs.append(any(delayed))
        delayed.clear()
        fresh(device)

    monkeypatch.setattr(EmulatedFileSystem, "wait_until", waits)
    monkeypatch.setattr(EmulatedFileSystem, "fresh", begins)
    asked.build()
    sample = run_emulated(asked.query(), QUICK, asked.engine, repeats=3, warm_ups=None)
    assert len(sample.seconds) == 3 and all(delayed)
    assert runs[-6:] == [False, False, True, False, True, False]  # what was delayed before each begins


class _Busy:
    """A connection beside whose queries a thread works that outlives them."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.worker = threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha256", b"", b"", 500_000))
        self.worked_on: dict[str, bool] = {}
        """Whether the thread was still at work when a statement came."""

    def execute(self, sql: str) -> duckdb.DuckDBPyConnection:
        if sql.startswith("SELECT"):
            self.worker.start()
        self.worked_on[sql] = self.worker.is_alive()
        return self.connection.execute(sql)

    def get_profiling_information(self, **more: str) -> str:
        assert self.worker.is_alive()  # the query has ended, and the thread has not
        return self.connection.get_profiling_information(**more)


@pytest.mark.skipif(not TASKS.is_dir(), reason="this system does not say which threads sleep")
def test_a_native_file_is_detached_only_when_all_other_threads_sleep(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB 2.0.0 crashes where one of its threads lets go of a block after that. A busy machine is slow."""
    monkeypatch.setattr("readahead.measure.run.PATIENCE_S", 60.0)
    asked = replace(case, recipe=replace(case.recipe, format="native"))
    asked.build()
    filesystem = EmulatedFileSystem(QUICK)
    with engine(asked.engine, filesystem) as connection:
        busy = _Busy(connection)
        once(busy, asked.query(), Stopwatch(filesystem))  # type: ignore[arg-type]
    assert busy.worked_on.pop("DETACH file") is False and any(busy.worked_on.values())


def test_what_is_undelayed_within_what_is_undelayed_stays_so() -> None:
    device = EmulatedFileSystem(QUICK)
    with device.instant():
        with device.instant():
            pass
        assert not device._waiting
    assert device._waiting
