"""Trying on shoes. The closed form sorts the shelf at a glance, the exact schedule is asked about the pairs that may
fit, and of two that fit alike the one most like the old pair is taken.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from readahead.devices import Device
from readahead.models.scan import Layout, scan_times
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

TRIED = 8
"""Row-group sizes that the closed form hands on to the schedule."""
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

    The closed form of the scan chooses `TRIED` candidates and those with one group for each read in flight join them;
    the schedule times them and the neighbours of the fastest. Of sizes that are alike the one nearest to today's wins.
    """
    grid = sizes(table)
    share = min(1.0, workload.selectivity) if by_filter and not workload.keys else 1.0
    rows = max(1.0, table.rows * share)
    wide = table.wanted_bytes / max(1, table.rows)
    flat = Layout(rows=rows, row_group_rows=np.minimum(np.array(grid, float), rows), bytes_per_row=wide)
    if workload.keys and by_filter:
        flat = replace(flat, keys=float(workload.keys))
    guess = scan_times(device, flat, at, costs).seconds
    places = {int(n) for n in np.argsort(guess)[:TRIED]} | set(range(0, len(grid), max(1, len(grid) // 16)))
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
