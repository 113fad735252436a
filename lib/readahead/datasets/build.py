"""The kitchen: a recipe goes in, a file comes out, with DuckDB doing all the work.

One thread writes, in order, so that every row group but the last is full. A Parquet file comes out the same to
the byte each time; a native file has the same rows in the same groups, but DuckDB gives each a new identity.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import duckdb

from readahead.datasets.recipe import Recipe
from readahead.datasets.star import MADE_FROM, lineorder_sql
from readahead.datasets.tables import rows_sql
from readahead.datasets.work import Work
from readahead.errors import DataError

IN_ORDER = "SET threads = 1; SET preserve_insertion_order = true; SET enable_progress_bar = false"
"""What a connection is told that writes a file, so that the same rows give the same bytes, silently."""


def literal(text: Path | str) -> str:
    """Return text as an SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


def select(recipe: Recipe, generated: Path | None = None) -> str:
    """Return the query whose rows the file holds, in order.

    `generated` is the file of TPC-H's generator. Its row groups do not end where ours do, and copied as it lies
    they would show through; a sort makes them even, and its own order is that of the sort.
    """
    unique = ", ".join(recipe.source.unique)
    source = f"({rows_sql(recipe.table, recipe.rows, recipe.first_row)})"
    if generated and recipe.source.made_from:
        lineitem, orders = (literal(generated.with_name(f"{name}.parquet")) for name in MADE_FROM)
        source = f"({lineorder_sql(lineitem, orders)})"
    elif generated:
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
    options = [
        "FORMAT parquet",
        f"ROW_GROUP_SIZE {recipe.effective_row_group_rows}",
        f"COMPRESSION {recipe.compression}",
    ]
    if recipe.dictionary_values is not None:
        options.append(f"DICTIONARY_SIZE_LIMIT {recipe.dictionary_values}")
    return f"COPY ({select(recipe, generated)}) TO {literal(target)} ({', '.join(options)})"


def native_sql(recipe: Recipe, target: Path, generated: Path | None = None) -> list[str]:
    """Return the statements that write a native recipe, as table `t`."""
    groups = recipe.effective_row_group_rows
    statements = [
        f"ATTACH {literal(target)} AS file (BLOCK_SIZE {recipe.block_bytes}, ROW_GROUP_SIZE {groups})",
        f"CREATE TABLE file.t AS {select(recipe, generated)}",
    ]
    if recipe.index:
        statements.append(f"CREATE UNIQUE INDEX key_index ON file.t ({recipe.source.key})")
    return [*statements, "CHECKPOINT file", "DETACH file"]


def build(recipe: Recipe, folder: Path, work: Work) -> Path:
    """Write the recipe's file inside `folder`, which may hold other things meanwhile, check it, and return its path.

    Raises `Cancelled`, `DataError` if the file is not what the recipe says, and what the disk and DuckDB raise.
    """
    target = folder / recipe.file_name
    generated = _generate(recipe, folder, work) if recipe.source.scale_factor else None
    if recipe.format == "parquet":
        statements = [copy_sql(recipe, target, generated)]
    else:
        statements = native_sql(recipe, target, generated)
    note = f"building {recipe.table} ({recipe.size}), row groups of {recipe.effective_row_group_rows:,}"
    with duckdb.connect() as connection:
        connection.execute(IN_ORDER)
        connection.execute(f"SET temp_directory = {literal(folder / 'spill')}")
        for statement in statements:
            work.query(connection, statement, note)
        _check(connection, recipe, target, work)
    return target


def _generate(recipe: Recipe, folder: Path, work: Work) -> Path:
    """Let TPC-H's generator write the table, or those it is made from, into `folder` and return the first file."""
    tool = Path(sysconfig.get_path("scripts")) / (
        "tpchgen-cli.exe" if sys.platform == "win32" else "tpchgen-cli"
    )
    if not tool.exists():
        raise DataError(f"The TPC-H generator {tool} is missing. Run make lab or make test again.")
    names = recipe.source.made_from or (recipe.table,)
    scale = str((recipe.source.scale_factor or {})[recipe.size])
    command = [
        str(tool),
        "parquet",
        "-s",
        scale,
        "-q",
        f"--tables={','.join(names)}",
        f"--output-dir={folder}",
    ]
    work.program(command, folder / "generator.log", f"generating {recipe.table} at scale factor {scale}")
    return folder / f"{names[0]}.parquet"


def _check(connection: duckdb.DuckDBPyConnection, recipe: Recipe, target: Path, work: Work) -> None:
    """Ask the file itself whether it holds the rows, the keys and the row groups of the recipe."""
    note, key, name = "checking", recipe.source.key, literal(target)
    table, groups = (
        f"read_parquet({name})",
        (f"SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata({name})"),
    )
    if recipe.format == "native":
        work.query(connection, f"ATTACH {name} AS made (READ_ONLY)", note)
        table, groups = (
            "made.t",
            (
                "SELECT row_group_id, sum(count) FROM pragma_storage_info('made.t')"
                f" WHERE column_name = '{key}' AND segment_type <> 'VALIDITY' GROUP BY row_group_id"
            ),
        )
    rows, keys = work.query(connection, f"SELECT count(*), sum({key}) FROM {table}", note)[0]
    many, largest = work.query(connection, f"SELECT count(*), max(n) FROM ({groups}) g(id, n)", note)[0]
    found = (rows, keys if key == "id" else None, many, largest)
    middle = 2 * recipe.first_row + recipe.rows - 1
    sum_of_keys = recipe.rows * middle // 2 if key == "id" else None
    want = (recipe.rows, sum_of_keys, recipe.row_groups, min(recipe.rows, recipe.effective_row_group_rows))
    if found != want:
        raise DataError(
            f"{target.name} came out with (rows, sum of keys, row groups, rows of the largest) {found}, not {want}."
            " Nothing of it was kept: try again, and report it if it stays so."
        )
