"""Where rows and index lie in DuckDB's own file, held to the file itself."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import duckdb
import numpy as np
import pytest

from readahead import paths
from readahead.chapters.lookups.workload import (
    EXPERIMENT,
    FEW,
    LARGE_BLOCK,
    LONG_RANGE,
    MANY,
    NEIGHBOURS,
    SCATTERED,
    SHORT_RANGE,
    SMALL_BLOCK,
    Lookup,
    LookupCosts,
    _here_costs,
    _lookup_costs,
    _range,
    _scan,
    lookup_calibration,
)
from readahead.datasets import expected, inspect, store
from readahead.datasets.recipe import Recipe
from readahead.devices import device
from readahead.experiments.experiment import EMULATED
from readahead.measure import calibrate
from readahead.measure.calibrate import Trial
from readahead.measure.sample import Sample
from readahead.models.schedule import JOINED_KEYS, Costs
from readahead.models.table_layout import VECTOR_ROWS
from readahead.storage.trace import Read
from readahead.units import KiB

RECIPE = Recipe(
    table="comments_narrow",
    size="tiny",
    format="native",
    row_group_rows=16_384,
    block_bytes=64 * KiB,
    index=True,
)
SHUFFLED = replace(RECIPE, order="shuffled")


def test_rows_and_index_share_no_block_and_fill_the_file() -> None:
    path, every = store.path(RECIPE), range(RECIPE.rows)
    rows = set().union(*map(expected.blocks_of, expected.segments(RECIPE)))
    index = expected.index_walk(RECIPE, every, len(every))
    assert len(index) > 1
    assert not rows & set(index)
    assert len(rows) + len(index) <= path.stat().st_size // RECIPE.block_bytes <= len(rows) + len(index) + 4


def test_the_blocks_of_all_rows_are_those_of_the_group() -> None:
    store.path(RECIPE)
    columns = expected.segments(RECIPE)[3]
    assert expected.blocks_of(columns, np.arange(RECIPE.row_group_rows)) == expected.blocks_of(columns)
    one = expected.blocks_of(columns, np.array([7]))
    assert one <= expected.blocks_of(columns)
    assert len(one) >= 1


def test_before_it_is_built_a_file_is_expected_to_be_much_like_it() -> None:
    other, every = replace(RECIPE, row_group_rows=14_336), range(RECIPE.rows)
    rows = set().union(*map(expected.blocks_of, expected.segments(other)))
    store.path(RECIPE)
    there, here = (expected.index_walk(recipe, every, len(every)) for recipe in (other, RECIPE))
    assert not rows & set(there)
    assert len(there) == pytest.approx(len(here), rel=0.15)


@pytest.mark.parametrize("recipe", [RECIPE, SHUFFLED], ids=["in order", "shuffled"])
def test_positions_are_the_engines_own(recipe: Recipe) -> None:
    path, keys = store.path(recipe), recipe.source.some_keys("tiny", 20, 3)
    places = inspect.positions(path, "id", keys)
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{path}' AS file (READ_ONLY)")
        listed = ", ".join(map(str, places))
        found = connection.execute(f"SELECT id FROM file.t WHERE rowid IN ({listed}) ORDER BY 1").fetchall()
    assert [key for (key,) in found] == keys
    assert (places == keys) == (recipe is RECIPE)


TAKES = LookupCosts(
    probe_s=1.2e-3,
    probe_key_s=7e-6,
    scan_s=0.7e-3,
    range_key_s=4e-6,
    dispatch_s=0.2e-3,
    row_s=9e-6,
    block_s=30e-6,
    block_byte_s=0.4e-9,
)
BASE = Costs()


def _passed_out(every_s: float) -> Trial:
    """Return a scan by a clock of ours, whose reads are passed out so far from each other."""
    case = _scan(RECIPE.table)
    case.build()
    reads = tuple(
        Read(offset=at, size_bytes=size, thread=0, submitted_s=n * every_s, due_s=1.0, done_s=1.0)
        for n, (at, size) in enumerate(case.scan().listed)
    )
    sample = Sample(seconds=(1.0,), cpu_s=(0.0,), reads=reads, bytes_read=0, where="a clock of ours")
    return Trial(case=case, sample=sample)


@pytest.mark.parametrize("here", [False, True], ids=["emulated", "this disk"])
def test_what_lookups_take_is_read_off_few_and_many_rows_in_small_and_large_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, here: bool
) -> None:
    trials = []
    for keys in (FEW, MANY):
        for block in (SMALL_BLOCK, LARGE_BLOCK):
            recipe = replace(RECIPE, block_bytes=block)
            case = Lookup(recipe=recipe, device=device("nvme"), keys=keys, step_rows=MANY)
            case.build()
            now_s, reads = (
                BASE.plan_s + TAKES.probe_s + keys * (BASE.plan_key_s + TAKES.probe_key_s),
                list[Read](),
            )
            for (
                offset,
                size,
            ) in case.scan().listed:  # by a clock of ours: 1 ms each, but in memory on this disk
                done_s = now_s + (0.0 if here else 0.001)
                reads.append(
                    Read(
                        offset=offset,
                        size_bytes=size,
                        thread=0,
                        submitted_s=now_s,
                        due_s=done_s,
                        done_s=done_s,
                    )
                )
                now_s = done_s + TAKES.block_s + block * TAKES.block_byte_s
            seconds = (now_s + keys * TAKES.row_s + BASE.close_s,)
            sample = Sample(
                seconds=seconds, cpu_s=(0.0,), reads=tuple(reads), bytes_read=0, where="a clock of ours"
            )
            trials.append(Trial(case=case, sample=sample))
    for keys in (LONG_RANGE, SHORT_RANGE):  # nothing but the first read counts
        case = _range(RECIPE.table, keys)
        begun_s = TAKES.scan_s + keys * TAKES.range_key_s
        asked_s = BASE.plan_s + keys * BASE.plan_key_s + begun_s
        read = Read(offset=0, size_bytes=1, thread=0, submitted_s=asked_s, due_s=1.0, done_s=1.0)
        sample = Sample(seconds=(1.0,), cpu_s=(0.0,), reads=(read,), bytes_read=1, where="a clock of ours")
        trials.append(Trial(case=case, sample=sample))
    trials.append(_passed_out(TAKES.dispatch_s))
    (tmp_path / "datasets").symlink_to(paths.cache_dir() / "datasets")
    monkeypatch.setenv("READAHEAD_CACHE", str(tmp_path))  # where nothing was calibrated yet
    if here:
        lookup_calibration(RECIPE.table, EMULATED).keep(TAKES)
    read_off = _here_costs if here else _lookup_costs
    assert asdict(read_off(RECIPE.table, trials)) == pytest.approx(asdict(TAKES), rel=1e-3)


@pytest.mark.parametrize(
    ("asked", "keys", "probes", "scans"),
    [(SCATTERED, 20, 1, 0), (SCATTERED, 30, 1, 1), (NEIGHBOURS, 30, 0, 1)],
)
def test_an_index_is_made_ready_for_before_the_first_read_and_a_scan_before_its_own(
    asked: str, keys: int, probes: int, scans: int
) -> None:
    settings = EXPERIMENT.settings(size="tiny", asked=asked, rows_per_lookup=keys, step_rows=25)
    own, any_query = LookupCosts(), Costs()
    with calibrate.typical_costs():
        costs = EXPERIMENT.costs(settings)
    assert costs.plan_s == pytest.approx(any_query.plan_s + probes * (own.probe_s + keys * own.probe_key_s))
    assert costs.open_s == pytest.approx(scans * own.scan_s)


@pytest.mark.parametrize(("asked", "keys", "joins"), [
    (SCATTERED, JOINED_KEYS - 1, False), (SCATTERED, JOINED_KEYS, True), (NEIGHBOURS, 300, False),
])  # fmt: skip
def test_duckdb_joins_keys_that_have_gaps_from_five_on(asked: str, keys: int, *, joins: bool) -> None:
    case = EXPERIMENT.case(
        EXPERIMENT.settings(size="tiny", asked=asked, rows_per_lookup=keys, stored="parquet")
    )
    case.build()
    (sql,) = case.query().texts(emulated=False)
    with duckdb.connect() as connection:
        plan = connection.execute(f"EXPLAIN (FORMAT json) {sql}").fetchall()[0][1]
    assert ("JOIN" in plan) == joins


@pytest.mark.parametrize("stored", ["native", "parquet"])
def test_a_range_of_keys_is_neither_joined_nor_held_against_row_groups_key_by_key(stored: str) -> None:
    settings = EXPERIMENT.settings(size="tiny", asked=NEIGHBOURS, rows_per_lookup=300, stored=stored)
    with calibrate.typical_costs():
        costs, any_query = EXPERIMENT.costs(settings), EXPERIMENT.engine(settings).costs()
        lookup = EXPERIMENT.costs({**settings, "asked": SCATTERED, "stored": "parquet"})
    assert lookup == any_query
    assert (costs.open_key_s, costs.prune_key_s) == (LookupCosts().range_key_s, 0.0)
    assert (costs.open_lookup_s, costs.close_lookup_s) == (0.0, 0.0)
    assert any_query.prune_key_s > 0


@pytest.mark.parametrize(("keys", "vectors"), [(2, 1), (4_096, 3)])
def test_of_a_range_of_keys_only_the_vectors_that_hold_them_are_decoded(keys: int, vectors: int) -> None:
    settings = EXPERIMENT.settings(size="tiny", asked=NEIGHBOURS, rows_per_lookup=keys, row_group_rows=65_536)
    EXPERIMENT.case(settings).build()
    case = EXPERIMENT.case(settings)
    first, last = (place // VECTOR_ROWS for place in (min(case.listed()), max(case.listed())))
    assert case.plan().rows.tolist() == [VECTOR_ROWS * (last - first + 1)] == [VECTOR_ROWS * vectors]
