"""The file that is built is what the recipe says, each time the same."""

from __future__ import annotations

import hashlib
import os
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psutil
import pytest

from readahead.datasets import build as builder
from readahead.datasets import store
from readahead.datasets.build import build, literal
from readahead.datasets.recipe import Recipe
from readahead.errors import Cancelled, DataError
from readahead.running import Event, listening


def made(folder: Path, **card: Any) -> tuple[Recipe, Path]:
    recipe = Recipe(**{"table": "comments_narrow", "size": "tiny", **card})
    folder.mkdir(exist_ok=True)
    return recipe, build(recipe, folder, recipe.usual and store.path(recipe.usual))


def ask(sql: str, path: Path) -> list[Any]:
    with duckdb.connect() as connection:
        if path.suffix == ".duckdb":
            connection.execute(f"ATTACH {literal(path)} AS file (READ_ONLY)")
        return connection.execute(sql.replace("{file}", literal(path))).fetchall()


@pytest.mark.parametrize(
    "card",
    [
        {"row_group_rows": 10_000},
        {"order": "shuffled"},
        {"order": "score", "compression": "zstd"},
        {"table": "comments"},
        {"table": "lineitem"},
        {"table": "lineorder"},
        {"table": "lineorder", "order": "lo_orderdate", "disorder": 0.1},
    ],
)
def test_the_same_card_gives_the_same_bytes(tmp_path: Path, card: dict[str, Any]) -> None:
    digests = {hashlib.sha256(made(tmp_path / n, **card)[1].read_bytes()).hexdigest() for n in "ab"}
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        *(("comments_narrow", rows) for rows in (2_048, 5_000, 122_880, 1_048_576)),
        *(("lineitem", rows) for rows in (5_000, 1_048_576)),
        ("lineorder", 2_048),
    ],
)
def test_every_row_group_but_the_last_is_full(tmp_path: Path, table: str, rows: int) -> None:
    recipe, path = made(tmp_path, table=table, row_group_rows=rows)
    groups = ask(
        "SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata({file}) ORDER BY 1", path
    )
    full, rest = divmod(recipe.rows, recipe.effective_row_group_rows)
    assert [n for _, n in groups] == [recipe.effective_row_group_rows] * full + [rest] * (rest > 0)


@pytest.mark.parametrize("table", ["comments_narrow", "lineitem"])
def test_each_key_that_can_be_looked_up_is_there_and_no_other(tmp_path: Path, table: str) -> None:
    recipe, path = made(tmp_path, table=table, row_group_rows=122_880)
    source = recipe.source
    there = ask(f"SELECT DISTINCT {source.key} FROM {{file}} ORDER BY 1", path)
    assert [key for (key,) in there] == source.nth_key(np.arange(source.key_count("tiny"))).tolist()


def test_a_native_file_has_its_blocks_its_row_groups_and_its_index(tmp_path: Path) -> None:
    recipe, path = made(
        tmp_path, format="native", block_bytes=16_384, row_group_rows=16_384, index=True, order="shuffled"
    )
    rows = ask(
        "SELECT sum(count) FROM pragma_storage_info('file.t') WHERE column_name = 'id'"
        " AND segment_type <> 'VALIDITY' GROUP BY row_group_id",
        path,
    )
    assert rows == [(16_384,)] * recipe.row_groups
    assert ask("SELECT is_unique FROM duckdb_indexes()", path) == [(True,)]
    assert ask("SELECT block_size FROM pragma_database_size() WHERE database_name = 'file'", path) == [
        (16_384,)
    ]


def test_orders_change_the_order_and_nothing_else(tmp_path: Path) -> None:
    whole = "SELECT count(*), bit_xor(hash(id, creation_date, post_id, score, user_id)) FROM {file}"
    ids = "SELECT list(id) FROM (SELECT id FROM {file} LIMIT 5)"
    paths = {order: made(tmp_path, order=order)[1] for order in ("key", "shuffled", "post_id")}
    assert len({ask(whole, path)[0] for path in paths.values()}) == 1
    assert ask(ids, paths["key"]) == [([0, 1, 2, 3, 4],)]
    assert ask(ids, paths["shuffled"]) != ask(ids, paths["key"])
    posts = [row[0] for row in ask("SELECT post_id FROM {file}", paths["post_id"])]
    assert posts == sorted(posts)


def test_order_lines_lie_by_year_by_date_and_nearly_by_date(tmp_path: Path) -> None:
    sums, farthest = set(), {}
    for name, card in {
        "key": {}, "year": {"order": "year"}, "date": {"order": "lo_orderdate"},
        "nearly": {"order": "lo_orderdate", "disorder": 0.1},
    }.items():  # fmt: skip
        _, path = made(tmp_path, table="lineorder", row_group_rows=4_096, **card)
        sums |= set(
            ask(
                "SELECT count(*), sum(lo_revenue), bit_xor(hash(lo_orderkey, lo_orderdate)) FROM {file}", path
            )
        )
        dates = [row[0] for row in ask("SELECT lo_orderdate FROM {file}", path)]
        ranked = sorted(range(len(dates)), key=dates.__getitem__)
        farthest[name] = max(abs(at - rank) for rank, at in enumerate(ranked)) / len(dates)
        if name == "year":
            years = [date // 10_000 for date in dates]
            assert years == sorted(years) and dates != sorted(dates)
    assert len(sums) == 1
    assert farthest["date"] == 0 and 0.05 < farthest["nearly"] <= 0.1 and farthest["key"] > 0.9


def test_the_generator_runs_once_for_all_layouts_of_its_table(cache: Path) -> None:
    notes: list[str] = []
    with listening(lambda event: notes.append(event.note)):
        paths = [
            store.path(Recipe(table="lineorder", size="tiny", **card))
            for card in ({"row_group_rows": 2_048}, {"order": "year"}, {"format": "native"}, {})
        ]
    assert sum(note != before and "generating" in note for before, note in pairwise(["", *notes])) == 1
    rows = "SELECT count(*), bit_xor(hash(COLUMNS(*))) FROM "
    found = [ask(rows + ("file.t" if path.suffix == ".duckdb" else "{file}"), path) for path in paths]
    assert found[0][0][0] > 290_000 and all(one == found[0] for one in found)


def test_comments_look_like_comments(tmp_path: Path) -> None:
    _, path = made(tmp_path, table="comments")
    mean, longest, distinct = ask(
        "SELECT avg(length(text)), max(length(text)), count(DISTINCT text) FROM {file}", path
    )[0]
    assert 100 <= mean <= 200
    assert longest == 700
    assert distinct > 0.99 * 262_144
    packed, plain = ask(
        "SELECT sum(total_compressed_size), sum(total_uncompressed_size) FROM parquet_metadata({file})"
        " WHERE path_in_schema = 'text'",
        path,
    )[0]
    assert 1.8 <= plain / packed <= 3.5
    assert ask(
        "SELECT median(score), count(*) = count(user_id), count(*) = count(score) FROM {file}", path
    ) == [(0, False, True)]
    later = "creation_date > lag(creation_date, 1000) OVER (ORDER BY id)"
    assert ask(f"SELECT bool_and(later) FROM (SELECT {later} AS later FROM {{file}})", path) == [(True,)]


def test_the_guess_of_the_size_is_near(tmp_path: Path) -> None:
    for table in ("comments_narrow", "comments", "lineitem"):
        recipe, path = made(tmp_path, table=table)
        assert path.stat().st_size == pytest.approx(recipe.estimated_bytes, rel=0.25)
        assert path.stat().st_size < recipe.build_bytes


def test_a_file_that_is_not_as_asked_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(Recipe(table="comments_narrow").source.rows, "tiny", 262_144)
    recipe = Recipe(table="comments_narrow", size="tiny")

    def grow(event: Event) -> None:
        """Make the table one row longer once it has been written."""
        if event.note == "checking":
            recipe.source.rows["tiny"] = 262_145

    with pytest.raises(DataError, match="came out with .*262144.* not .*262145"), listening(grow):
        build(recipe, tmp_path)


@pytest.mark.parametrize("card", [{}, {"format": "native"}, {"order": "shuffled"}], ids=str)
def test_no_other_thread_writes_for_a_build_that_may_be_cancelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, card: dict[str, Any]
) -> None:
    """The two could wait for each other for ever: one in a hundred cancelled writes did."""
    seen, run = set(), builder.run_statement

    def spied(connection: duckdb.DuckDBPyConnection, *args: Any, **more: Any) -> Any:
        seen.update(connection.sql("SELECT current_setting('async_threads')").fetchall())
        return run(connection, *args, **more)

    monkeypatch.setattr(builder, "run_statement", spied)
    made(tmp_path, **card)
    assert seen == {(0,)}


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no groups of processes")
def test_a_generator_that_has_not_begun_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = "import pathlib, sys, time; time.sleep(5); pathlib.Path(sys.argv[1]).touch()"
    monkeypatch.setattr(builder, "_WATCHER", late)
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(Cancelled), listening(stop=stop):
        builder.run_program([tmp_path / "begun"], "generating", rows=1)
    assert not (tmp_path / "begun").exists()


def test_without_groups_of_processes_a_cancelled_generator_ends_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "killpg", raising=False)
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(Cancelled), listening(stop=stop):
        builder.run_program(
            [sys.executable, "-c", "import time; time.sleep(600)", tmp_path], "generating", rows=1
        )
    running = (one.info["cmdline"] or [] for one in psutil.process_iter(["cmdline"]))
    assert not any(str(tmp_path) in words for words in running)
