"""Writes the first rows of a table anew, with other row groups or in another order. The table itself is only read."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
from filelock import FileLock

from readahead import paths, units
from readahead.datasets import store
from readahead.datasets.build import IN_ORDER, literal
from readahead.datasets.locate import SAMPLE
from readahead.datasets.metadata import attach, escaped, identifier
from readahead.datasets.survey import Survey
from readahead.errors import Cancelled, DataError
from readahead.models.table_layout import VECTOR_ROWS
from readahead.running import check, interrupts
from readahead.units import MiB

MOST_BYTES = 64 * MiB
MOST_ROWS = 2_000_000
MEMORY = "1GB"
IN_USE = "in-use.lock"
"""Held in a sample's folder by whoever works in it."""


def sample_rows(survey: Survey) -> int:
    """Return how many rows a sample has: at most `MOST_ROWS`, of at most `MOST_BYTES`."""
    width = sum(width for _, width in survey.table.widths)
    return int(max(1, min(survey.table.rows, MOST_ROWS, MOST_BYTES / max(width, 1e-9))))


@contextmanager
def folder_beside(survey: Survey) -> Iterator[Path]:
    """Make a folder for a sample beside the original, or in the cache where that cannot be; remove it afterwards.

    What others left there who were killed is removed too. Raises `DataError` if there is no room.
    """
    parent = survey.found.files[0].parent
    if glob.has_magic(str(parent)) or not os.access(parent, os.W_OK):
        parent = paths.work_dir()
    need = 4 * MOST_BYTES
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for left in parent.glob(f"{SAMPLE}*/{IN_USE}"):
            store.remove_if_left(left.parent, FileLock(left))
        free = shutil.disk_usage(parent).free
        if free < need:
            raise DataError(
                f"{parent} has {units.text(free, 'bytes')} free, and a sample needs up to {units.text(need, 'bytes')}."
                " Make room, or advise without --verify."
            )
        folder = Path(tempfile.mkdtemp(prefix=SAMPLE, dir=parent))
        lock = FileLock(folder / IN_USE).acquire()
    except OSError as error:
        raise DataError(
            f"No sample can be written to {parent}: {error.strerror}. Make room there."
        ) from error
    try:
        with lock:
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write(survey: Survey, target: Path, *, group_rows: int, in_order: bool, rows: int = 0) -> Path:
    """Write the sample as one Parquet file with such row groups, sorted by the filter's column or as it lies.

    Raises `Cancelled` when asked to stop, `DataError` if DuckDB cannot read or write it.
    """
    group_rows = max(VECTOR_ROWS, -(-group_rows // VECTOR_ROWS) * VECTOR_ROWS)
    order = f" ORDER BY {column(survey)}" if in_order else ""
    check()
    with duckdb.connect() as connection, interrupts(connection.interrupt):
        try:
            connection.execute(IN_ORDER)
            connection.execute(f"SET memory_limit = '{MEMORY}'")
            connection.execute(f"SET temp_directory = {literal(target.parent / 'spill')}")
            source = _source(connection, survey)
            connection.execute(
                f"COPY (SELECT * FROM (SELECT * FROM {source} LIMIT {int(rows) or sample_rows(survey)}){order})"
                f" TO {literal(target)} (FORMAT parquet, ROW_GROUP_SIZE {group_rows})"
            )
        except duckdb.InterruptException as error:
            raise Cancelled("The sample was not written to its end and is removed. Start again.") from error
        except duckdb.Error as error:
            first = str(error).splitlines()[0].rstrip(".")
            raise DataError(
                f"No sample of {survey.asked} can be written: {first}. Advise without --verify."
            ) from error
    return target


def _source(connection: duckdb.DuckDBPyConnection, survey: Survey) -> str:
    if survey.found.kind == "parquet":
        return f"read_parquet([{', '.join(literal(escaped(file)) for file in survey.found.files)}])"
    attach(connection, survey.found.files[0])
    return f"file.{identifier(survey.schema_name)}.{identifier(survey.table_name)}"


def column(survey: Survey) -> str:
    """Return the column that is filtered by, or a field of one, as SQL."""
    return ".".join(identifier(part) for part in survey.named(survey.by).path)
