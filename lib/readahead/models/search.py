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
    """Return the row-group size that the schedule likes best, in rows, and its seconds.

    The schedule times every eighth size and those with one group for each read in flight, then the neighbours of the
    fastest until none of them is faster. Of sizes that are alike the one nearest to today's wins.
    """
    grid = sizes(table)
    share = min(1.0, workload.selectivity) if by_filter and not workload.keys else 1.0
    rows = max(1.0, table.rows * share)
    places = set(range(0, len(grid), 8))
    for waves in (1, 2, 3, 4):
        aim = rows / (waves * min(at.slots, max(1, device.channels)))
        near = int(np.searchsorted(grid, aim))
        places |= {min(len(grid) - 1, max(0, near + step)) for step in (-1, 0, 1)}
    told: dict[int, float] = {}

    def took(place: int) -> float:
        if place not in told:
            plan = packed(table, workload, grid[place], by_filter=by_filter)
            told[place] = seconds(plan, device, at, costs)
        return told[place]

    for place in places:
        took(place)
    for _ in range(4):
        top = sorted(told, key=told.__getitem__)[:3]
        for place in [p + step for p in top for step in (-2, -1, 1, 2) if 0 <= p + step < len(grid)]:
            took(place)
    least = min(told.values())
    alike = [place for place, time_s in told.items() if time_s <= least * (1 + ALIKE)]
    usual = max(1, table.usual_rows)
    chosen = min(alike, key=lambda place: abs(np.log(grid[place] / usual)))
    return grid[chosen], told[chosen]
