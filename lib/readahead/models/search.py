"""The row-group size with which a query is fastest, searched on the schedule; of two that are alike the one nearer to
today's is taken.
"""

from __future__ import annotations

import numpy as np

from readahead.devices import Device
from readahead.models.schedule import Costs, Window
from readahead.models.table_layout import (
    LARGEST_ROWS,
    MOST_GROUPS,
    VECTOR_ROWS,
    Table,
    Workload,
    packed,
    seconds,
)

ALIKE = 0.01
"""Two times nearer than this are the same: the size nearer to today's is then recommended."""


def sizes(table: Table, points: int = 160) -> list[int]:
    """Return the row-group sizes worth a thought, in whole vectors, evenly on a log scale."""
    rows = table.rows
    low = max(VECTOR_ROWS, rows / MOST_GROUPS)
    high = max(low, min(LARGEST_ROWS, rows + VECTOR_ROWS))
    found = np.ceil(np.geomspace(low, high, points) / VECTOR_ROWS).astype(int) * VECTOR_ROWS
    return sorted(set(found.tolist()))


def best_rows(
    table: Table,
    workload: Workload,
    device: Device,
    at: Window,
    costs: Costs,
    *,
    by_filter: bool | None = None,
) -> tuple[int, float]:
    """Return the row-group size with which the schedule ends first, in rows, and its seconds.

    Every one of `sizes` is timed. Of those that are alike the one nearest to today's is taken.
    """
    told = {
        rows: seconds(packed(table, workload, rows, by_filter=by_filter), device, at, costs)
        for rows in sizes(table)
    }
    least = min(told.values())
    alike = [rows for rows, time_s in told.items() if time_s <= least * (1 + ALIKE)]
    chosen = min(alike, key=lambda rows: abs(np.log(rows / max(1, table.usual_rows))))
    return chosen, told[chosen]
