"""The same rows in row groups of one size or another, as Parquet or in DuckDB's own format, compressed or not.

Of a native file the model knows only what it knows of Parquet: that is what the comparison is for.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from readahead.chapters.row_groups import columnstore
from readahead.chapters.row_groups.laws import Column, chunk_bytes
from readahead.datasets import inspect, store
from readahead.datasets.recipe import Recipe
from readahead.experiments.experiment import Settings
from readahead.experiments.knobs import experiment
from readahead.experiments.table_experiment import TableExperiment
from readahead.paths import read_yaml
from readahead.published import Figure, figure

NEAR, FAR = "nvme", "object-store"


class RowGroups(TableExperiment):
    """A scan, with the published points of Neugebauer's drive."""

    def published(self, settings: Settings, name: str) -> Sequence[tuple[float, float, Figure]]:
        """Return Neugebauer's two columnstores on his USB disk, by their rows in a group."""
        if name != "row_group_rows" or self.value(settings, "device") != "usb-disk":
            return ()
        wide = self.value(settings, "dataset") == "comments"
        elapsed = figure("row_groups", f"elapsed_s.{'wide' if wide else 'narrow'}_columnstore")
        size_bytes = (
            columnstore.printed("bytes.wide_columnstore") if wide else columnstore.row_store_bytes("narrow")
        )
        groups = columnstore.wide_groups() if wide else columnstore.full_groups()
        return ((columnstore.printed("table_rows") / groups, size_bytes / elapsed.value, elapsed),)


EXPERIMENT = experiment(RowGroups, __file__, "Row groups: how many rows belong together?")


# -- TPC-H's order lines with and without dictionaries: by arithmetic, and as DuckDB writes them ----------------
USUAL_ROWS = 122_880
NONE, ANY = 1, 1_000_000
"""The dictionary limits at the ends: no column of the table has just one value, and none has a million."""


@functools.cache
def columns(size: str = "tiny") -> tuple[Column, ...]:
    """Return lineitem's columns as TPC-H's specification (4.2.3) has them, at a size's scale factor."""
    recipe = Recipe(table="lineitem", size=size)
    scale, new = recipe.source.scale_factor[size], 8.0 * recipe.rows

    def column(name: str, values: float = new, values_a_scale: float = 0.0, **fields: Any) -> Column:
        return Column(name=name, values=values_a_scale * scale or values, **fields)

    told = read_yaml(Path(__file__).with_name("columns.yaml"))
    return tuple(column(name, **fields) for name, fields in told.items())


def modeled_bytes(most_values: int | None, group_rows: int = USUAL_ROWS) -> float:
    """Return the uncompressed length of the order lines in row groups of `group_rows` rows, by arithmetic."""
    full, rest = divmod(Recipe(table="lineitem", size="tiny").rows, group_rows)
    groups = [(full, group_rows)] * bool(full) + [(1, rest)] * bool(rest)
    return sum(count * chunk_bytes(c, rows, most_values) for count, rows in groups for c in columns())


def written_bytes(most_values: int | None, group_rows: int = USUAL_ROWS) -> float:
    """Return the length as DuckDB wrote them: the column chunks of a file that is built for it."""
    recipe = Recipe(
        table="lineitem",
        size="tiny",
        row_group_rows=group_rows,
        compression="uncompressed",
        dictionary_values=most_values,
    )
    return float(sum(group.size_bytes for group in inspect.shape(store.path(recipe)).row_groups))
