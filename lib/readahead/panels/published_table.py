"""A table of published figures, as a DataFrame that is shown as it was printed."""

from __future__ import annotations

import html
from typing import Any, ClassVar

import pandas as pd

from readahead.errors import BadValue, did_you_mean
from readahead.experiments.run import with_plain_numbers
from readahead.published import Figure, figures

with_plain_numbers()


class PublishedTable(pd.DataFrame):  # type: ignore[misc]
    """A table of published figures; a part of it, or a sum, is a plain DataFrame again."""

    _metadata: ClassVar[list[str]] = ["printed", "source"]

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def _repr_html_(self) -> str:
        """Return the table as it was printed, and below it where it stands."""
        return f"{self.printed.to_html(na_rep='')}<p><small>{html.escape(self.source)}</small></p>"


def published_table(topic: str, table: str) -> PublishedTable:
    """Return the figures that stood in one table, a row for each x and a column for each series.

    Raises `BadValue` for a table that the topic does not have.
    """
    every = [one for one in figures(topic) if one.table]
    found = [one for one in every if one.table == table]
    if not found:
        known = ", ".join(dict.fromkeys(one.table for one in every)) or "none"
        meant = did_you_mean(table, (one.table for one in every))
        raise BadValue(f"{table!r} is no published table of {topic!r}. Its tables: {known}.{meant}")
    cells: dict[tuple[Any, str], Figure] = {}
    for one in found:  # two figures of one series at one x each have a column of their own
        series = one.name.rpartition(".")[0] or one.name
        cells[one.x_value, one.name if (one.x_value, series) in cells else series] = one
    rows, columns = (list(dict.fromkeys(cell[side] for cell in cells)) for side in (0, 1))
    if all(isinstance(row, float) and row.is_integer() for row in rows):
        rows = [int(row) for row in rows]
    index = pd.Index(rows, name=found[0].x_name)
    numbers = PublishedTable(index=index, columns=columns, dtype=float)
    printed = pd.DataFrame(index=index, columns=columns, dtype=object)
    for (row, column), one in cells.items():
        numbers.loc[row, column], printed.loc[row, column] = one.value, one.printed
    numbers.printed, numbers.source = printed, found[0].source
    return numbers
