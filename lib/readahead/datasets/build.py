"""Writes the file of a recipe with DuckDB, and checks what the file then holds.

One thread writes, in order, so that every row group but the last is full. A Parquet file comes out the same to the
byte each time; a native file has the same rows in the same groups, but DuckDB gives each a new identity.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import duckdb

from readahead.datasets.recipe import Recipe
from readahead.datasets.tables import comments_sql, lineorder_sql
from readahead.errors import DataError
from readahead.running import check, tell

ONE_THREAD = "SET threads = 1; SET async_threads = 0"
"""What a connection is told that writes a file which somebody may cancel: in DuckDB 2.0 a thread that writes for a
query, and the query that gives up, can wait for each other for ever."""
IN_ORDER = f"{ONE_THREAD}; SET preserve_insertion_order = true; SET enable_progress_bar = false"
"""What a connection is told that builds a table, so that the same rows give the same bytes, silently."""


def literal(text: Path | str) -> str:
    """Return text as an SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


@contextlib.contextmanager
def explained(what: str, advice: str) -> Iterator[None]:
    """Say what failed if DuckDB raises inside the block, its own first line, and what to do. Raises `DataError`, or
    `Cancelled` if it was asked to stop.
    """
    try:
        yield
    except duckdb.Error as error:
        check()
        first = str(error).splitlines()[0].rstrip(".")
        raise DataError(f"{what}: {first}. {advice}") from error


def select(recipe: Recipe, generated: Path | None = None) -> str:
    """Return the query whose rows the file holds, in order.

    `generated` is the file of TPC-H's generator, or the table in its usual layout. Its row groups do not end where ours
    do, and copied as it lies they would show through; a sort makes them even, and its own order is that of the sort.
    """
    unique = ", ".join(recipe.source.unique)
    if generated is None:
        source = f"({comments_sql(recipe.table, recipe.rows, recipe.first_row)})"
    elif recipe.source.made_from and recipe.usual is None:
        files = [literal(generated.with_name(f"{name}.parquet")) for name in recipe.source.made_from]
        source = f"({lineorder_sql(*files)})"
    else:
        source = f"read_parquet({literal(generated)})"
    by = {"key": unique if generated else "", "shuffled": f"hash({unique}), {unique}"}
    named = recipe.source.orders.get(recipe.order, f"{recipe.order} NULLS LAST")
    order = by.get(recipe.effective_order, f"{named}, {unique}")
    if recipe.disorder:
        late = f"hash({unique}) % 1000003 / 1000003.0 * {recipe.disorder * recipe.rows}"
        order = f"row_number() OVER (ORDER BY {order}) + {late}, {unique}"
    return f"SELECT {', '.join(recipe.columns)} FROM {source}{f' ORDER BY {order}' if order else ''}"


def copy_sql(recipe: Recipe, target: Path, generated: Path | None = None) -> str:
    """Return the bare statement that writes a Parquet recipe, which a benchmark can run by itself."""
    options = f"ROW_GROUP_SIZE {recipe.effective_row_group_rows}, COMPRESSION {recipe.compression}"
    if recipe.dictionary_values is not None:
        options += f", DICTIONARY_SIZE_LIMIT {recipe.dictionary_values}"
    return f"COPY ({select(recipe, generated)}) TO {literal(target)} (FORMAT parquet, {options})"


def build(recipe: Recipe, folder: Path, usual: Path | None = None) -> Path:
    """Write the recipe's file inside `folder`, which may hold other things meanwhile, check it, and return its path.

    `usual` is the file of `recipe.usual`, where that is built already. Raises `Cancelled`, `DataError` if the file is
    not what the recipe says, and what the disk and DuckDB raise.
    """
    target = folder / recipe.file_name
    generated = usual
    if recipe.usual is not None:
        generated = usual or build(recipe.usual, folder)
    elif recipe.source.scale_factor:
        generated = _generate(recipe, folder)
    if recipe.format == "native":
        options = f"BLOCK_SIZE {recipe.block_bytes}, ROW_GROUP_SIZE {recipe.effective_row_group_rows}"
        index = f"CREATE UNIQUE INDEX key_index ON file.t ({recipe.source.key})"
        statements = [
            f"ATTACH {literal(target)} AS file ({options})",
            f"CREATE TABLE file.t AS {select(recipe, generated)}",
            *([index] if recipe.index else []),
            "CHECKPOINT file",
            "DETACH file",
        ]
    else:
        statements = [copy_sql(recipe, target, generated)]
    note = f"building {recipe.table} ({recipe.size}), row groups of {recipe.effective_row_group_rows:,}"
    with duckdb.connect() as connection:
        connection.execute(IN_ORDER)
        connection.execute(f"SET temp_directory = {literal(folder / 'spill')}")
        for statement in statements:
            run_statement(connection, statement, note, rows=recipe.rows)
        _check(connection, recipe, target)
    return target


def _generate(recipe: Recipe, folder: Path) -> Path:
    """Let TPC-H's generator write the table, or those it is made from, into `folder` and return the first file."""
    tool = _generator()
    names = recipe.source.made_from or (recipe.table,)
    scale = recipe.source.scale_factor[recipe.size]
    options = [f"--scale-factor={scale}", f"--tables={','.join(names)}", f"--output-dir={folder}"]
    note = f"generating {recipe.table} at scale factor {scale}"
    run_program([tool, "parquet", "-q", *options], note, rows=recipe.rows)
    return folder / f"{names[0]}.parquet"


def _generator() -> Path:
    """Return the program of the package tpchgen-cli, which pip keeps elsewhere for an environment than for a user."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("tpchgen-cli") or ():
            tool = Path(str(file.locate())).resolve()
            if file.stem == "tpchgen-cli" and tool.is_file():
                return tool
    raise DataError(
        "The TPC-H generator, the package tpchgen-cli, is missing. Install the workbook's packages again."
    )


def _check(connection: duckdb.DuckDBPyConnection, recipe: Recipe, target: Path) -> None:
    """Ask the file itself whether it holds the rows, the keys and the row groups of the recipe."""
    key, name = recipe.source.key, literal(target)
    if recipe.format == "native":
        connection.execute(f"ATTACH {name} AS made (READ_ONLY)")
        table = "made.t"
        groups = (
            "SELECT row_group_id, sum(count) FROM pragma_storage_info('made.t')"
            f" WHERE column_name = '{key}' AND segment_type <> 'VALIDITY' GROUP BY row_group_id"
        )
    else:
        table = f"read_parquet({name})"
        groups = f"SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata({name})"
    found = run_statement(
        connection,
        f"SELECT (SELECT count(*) FROM {table}), (SELECT sum({key}) FROM {table}), count(*), max(n)"
        f" FROM ({groups}) g(id, n)",
        "checking",
        rows=recipe.rows,
    )[0]
    first, last = recipe.first_row, recipe.first_row + recipe.rows - 1
    want = (
        recipe.rows,
        recipe.rows * (first + last) // 2 if key == "id" else found[1],
        recipe.row_groups,
        min(recipe.rows, recipe.effective_row_group_rows),
    )
    if found != want:
        raise DataError(
            f"{target.name} came out with (rows, sum of keys, row groups, rows of the largest) {found}, not {want}."
            " Nothing of it was kept: try again, and report it if it stays so."
        )


# -- work that tells how far it is and ends as soon as it is asked to stop ---------------------------------
POLL_S = 0.05
"""How long an order to stop may go unheard."""


def run_statement(
    connection: duckdb.DuckDBPyConnection, sql: str, note: str, *, rows: int
) -> list[tuple[object, ...]]:
    """Run one statement about so many rows and return what it answers. Raises what DuckDB raises, or `Cancelled`."""
    check()
    tell(0, rows, note)
    told = 0
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="readahead-build") as pool:
        answer = pool.submit(lambda: connection.execute(sql).fetchall())
        try:
            while not wait([answer], timeout=POLL_S).done:
                check()
                done = round(rows * max(0.0, min(connection.query_progress() / 100, 1.0)))
                if done > told:
                    told = done
                    tell(done, rows, note)
        finally:
            while not wait([answer], timeout=POLL_S).done:
                connection.interrupt()  # again and again: one that comes before the query has begun is lost
        return answer.result()


_WATCHER = """
import os, subprocess, sys, threading
program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, restore_signals=False)
threading.Thread(target=lambda: (os.read(0, 1), program.kill()), daemon=True).start()
os._exit(program.wait() % 256)
"""
"""Runs a program and kills it when nobody holds the other end of its own standard input any more."""


def run_program(command: Sequence[str | Path], note: str, *, rows: int) -> None:
    """Run another program to its end. Raises `Cancelled`, or OSError with the program's last words.

    It is run by a small process that ends it as soon as this one is gone, however it went.
    """
    check()
    tell(0, rows, note)
    reading, held = os.pipe()
    whole = [sys.executable, "-I", "-S", "-c", _WATCHER, *map(str, command)]
    group = 0 if hasattr(os, "killpg") else None
    with subprocess.Popen(
        whole, stdin=reading, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, restore_signals=False,
        process_group=group,
    ) as process:  # fmt: skip
        os.close(reading)
        try:
            said = None
            while said is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    said = process.communicate(timeout=POLL_S)[0].decode(errors="replace").strip()[-300:]
                check()
        except BaseException:
            if group is not None:  # at once: on a busy machine the small process itself takes long to begin
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            os.close(held)
            process.wait()
        if process.returncode != 0:
            name = Path(command[0]).name
            raise OSError(f"{name} ended with code {process.returncode}: {said or 'it said nothing'}")
