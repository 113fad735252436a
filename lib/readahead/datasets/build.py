"""The kitchen: a recipe goes in, a file comes out, with DuckDB doing all the work.

Rows are written in order and by one thread where the order matters, so that the same recipe gives the same bytes.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import duckdb

from readahead.datasets.recipe import Recipe
from readahead.datasets.tables import rows_sql
from readahead.errors import DataError

LOADED = "generated.t"
"""Where the rows of a generated table wait while they are laid out."""


def literal(text: Path | str) -> str:
    """Return text as an SQL string literal."""
    return "'" + str(text).replace("'", "''") + "'"


def select(recipe: Recipe) -> str:
    """Return the query whose rows the file holds, in order; lineitem's were loaded by `_load_generated`."""
    source = LOADED if recipe.source.scale_factor else f"({rows_sql(recipe.table, recipe.rows)})"
    if recipe.order == "key":
        return f"SELECT * FROM {source}"
    by = f"hash({recipe.source.key})" if recipe.order == "shuffled" else recipe.order
    return f"SELECT * FROM {source} ORDER BY {by}, {recipe.source.key}"


def copy_sql(recipe: Recipe, target: Path) -> str:
    """Return the bare statement that writes a Parquet recipe."""
    options = [
        "FORMAT parquet",
        f"ROW_GROUP_SIZE {recipe.effective_row_group_rows}",
        f"COMPRESSION {recipe.compression}",
    ]
    if recipe.dictionary_bytes is not None:
        options.append(f"STRING_DICTIONARY_PAGE_SIZE_LIMIT {recipe.dictionary_bytes}")
    return f"COPY ({select(recipe)}) TO {literal(target)} ({', '.join(options)})"


def native_sql(recipe: Recipe, target: Path) -> list[str]:
    """Return the statements that write a native recipe, as table `t`."""
    groups = recipe.effective_row_group_rows
    statements = [
        f"ATTACH {literal(target)} AS file (BLOCK_SIZE {recipe.block_bytes}, ROW_GROUP_SIZE {groups})",
        f"CREATE TABLE file.t AS {select(recipe)}",
    ]
    if recipe.index:
        statements.append(f"CREATE UNIQUE INDEX key_index ON file.t ({recipe.source.key})")
    return [*statements, "CHECKPOINT file", "DETACH file"]


def write(connection: duckdb.DuckDBPyConnection, recipe: Recipe, target: Path) -> None:
    """Write the recipe's file at `target`. Raises what DuckDB raises; the caller cleans up."""
    connection.execute("SET threads = 1; SET preserve_insertion_order = true")
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f"{target.name}.made-") as folder:
        if recipe.source.scale_factor:
            _load_generated(connection, recipe, Path(folder))
        if recipe.format == "parquet":
            connection.execute(copy_sql(recipe, target))
        else:
            for statement in native_sql(recipe, target):
                connection.execute(statement)
        if recipe.source.scale_factor:
            connection.execute("DETACH generated")


def _load_generated(connection: duckdb.DuckDBPyConnection, recipe: Recipe, folder: Path) -> None:
    """Let TPC-H's generator write its rows and load them into a table on disk, from which any layout is made.

    Copied straight from the generator's file, its own row groups would show through in ours.
    """
    tool = Path(sysconfig.get_path("scripts")) / (
        "tpchgen-cli.exe" if sys.platform == "win32" else "tpchgen-cli"
    )
    scale = str((recipe.source.scale_factor or {})[recipe.size])
    command = [str(tool), "parquet", "-s", scale, f"--tables={recipe.table}", f"--output-dir={folder}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise DataError(f"The TPC-H generator {tool} is missing. Run make lab or make test again.") from error
    made = folder / f"{recipe.table}.parquet"
    if done.returncode != 0 or not made.exists():
        raise DataError(
            f"The TPC-H generator failed: {done.stderr.strip()[-300:]}. Check the free disk space."
        )
    connection.execute(f"ATTACH {literal(folder / 'generated.duckdb')} AS generated")
    connection.execute(f"CREATE TABLE {LOADED} AS SELECT * FROM read_parquet({literal(made)})")
